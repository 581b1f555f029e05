"""Classifications: trees of codes, and the ways they are written down."""

from __future__ import annotations

from tacita.hierarchy.tree import DEFAULT_TOTAL, Hierarchy

__all__ = ["DEFAULT_TOTAL", "Hierarchy"]
