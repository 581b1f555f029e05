"""Classifications: trees of codes, and the ways they are written down."""

from __future__ import annotations

from tacita.core.hierarchy.digits import Digits
from tacita.core.hierarchy.links import DEFAULT_TOTAL
from tacita.core.hierarchy.tree import Hierarchy

__all__ = ["DEFAULT_TOTAL", "Digits", "Hierarchy"]
