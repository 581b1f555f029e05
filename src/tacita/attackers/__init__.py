"""Who might attack, and what they know beforehand."""

from __future__ import annotations

from tacita.attackers.attacker import Insider, Outsider

__all__ = ["Insider", "Outsider"]
