"""Who might attack, and what they know beforehand.

Imports: core, rules.
"""

from __future__ import annotations

from tacita.core.attacker import Insider, Outsider

__all__ = ["Insider", "Outsider"]
