"""Insiders: what contributors know beforehand, and which of them have to be considered.

Imports: core, rules.
"""

from __future__ import annotations

from tacita.core.attacker import Insider, Outsider

__all__ = ["Insider", "Outsider"]
