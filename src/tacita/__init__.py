"""Tacita protects statistical tables before publication: every method on one table model, every result audited."""

from __future__ import annotations

__version__ = "0.1.0"
