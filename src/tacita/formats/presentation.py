"""How a release looks to its readers where it is laid out as tables are printed: its title and its marks."""

from __future__ import annotations

from dataclasses import dataclass

from tacita.core.errors import InputError
from tacita.core.release import Mark, Release
from tacita.formats.headings import COLUMNS, ROWS
from tacita.formats.published_cells import DASHES, parse_published

LONGEST_MARK = 20
USUAL_MARK = "x"
HIDDEN = "hidden"
"""What a mark means, in legends."""


@dataclass(frozen=True)
class Presentation:
    """The title of a published table, and what stands in place of a suppressed number.

    All suppressed cells have one mark: two would tell which cells a rule hits, and intervals and rounded
    numbers show what they are themselves.
    """

    mark: str = USUAL_MARK
    title: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", " ".join(self.title.split()))
        check_mark(self.mark)

    def name(self, release: Release) -> str:
        """Return the title of a published table: the given one, or the names of its dimensions; what stands
        for a name where there is none says nothing to readers, and is left out beside others.
        """
        names = [d.name for d in release.structure.dimensions]
        named = [name for name in names if name not in (ROWS, COLUMNS)]
        return self.title or " by ".join(named or names) or "Cells"


def check_mark(mark: str) -> str:
    """Return the mark of suppressed cells if readers cannot take it for a number; refuse it otherwise.

    >>> check_mark("*")
    '*'
    """
    said = parse_published([mark])
    if not mark.strip() or mark != mark.strip() or len(mark) > LONGEST_MARK or not mark.isprintable():
        fault = f"a mark is a sign or a short word of at most {LONGEST_MARK} letters, not {mark!r}"
    elif mark in DASHES:
        fault = f"'{mark}' is how many offices write zero"
    elif said.beside[0] or (said.marks[0] != Mark.SUPPRESSED and not said.unreadable[0]):
        fault = f"'{mark}' says something of the value"
    elif any(sign.isdecimal() for sign in mark):
        fault = f"'{mark}' holds a digit, which readers may take for a value"
    else:
        return mark
    raise InputError(fault, remedy="choose another mark for suppressed cells, such as x, * or c")


USUAL_PRESENTATION = Presentation()


def list_meanings(release: Release, presentation: Presentation, near: str) -> list[tuple[str, str]]:
    """Return what the signs of a published table mean, those that it has; ``near`` of inexact numbers."""
    meanings = {
        Mark.SUPPRESSED: (presentation.mark, HIDDEN),
        Mark.INTERVAL: ("[4...10]", "the value lies between 4 and 10"),
        Mark.ROUNDED: ("rounded", near),
        Mark.ADJUSTED: ("adjusted", near),
    }
    return [meaning for mark, meaning in meanings.items() if (release.marks == mark).any()]
