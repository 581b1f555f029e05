"""The grid of the app: a spreadsheet for 100,000 cells, drawn by modules of our own without a build step."""

from __future__ import annotations

from tacita.app.sheet.content import Change, Content, Entry, Flag, Flags, Selection
from tacita.app.sheet.sheet import Sheet

__all__ = ["Change", "Content", "Entry", "Flag", "Flags", "Selection", "Sheet"]
