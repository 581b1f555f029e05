"""What is to be said of a published workbook: what was left out, and which texts are to be looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tacita.core.errors import ReleaseError
from tacita.core.words import pluralize
from tacita.publication.same_layout.telling_texts import HiddenValues, Telling

MOST_NAMED = 8
"""Fields of a sheet that a note names."""
LONGEST = 40
"""Characters that a note repeats of a text."""
READERS_SEE = (
    "readers see titles, footnotes and colours, which the audit does not judge: check that they say nothing "
    "of hidden cells"
)


@dataclass
class Remarks:
    """What was left out of the published workbook, by the names of fields; and texts to look at."""

    hidden: HiddenValues
    numbers: list[str] = field(default_factory=list)
    formulas: list[str] = field(default_factory=list)
    beside: list[str] = field(default_factory=list)
    doubtful: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)

    def tells(self, text: str, name: str, *, code: bool = False) -> bool:
        """Return whether a text tells the value of a hidden cell; note it by name if it may by chance."""
        telling = self.hidden.judge(text, code=code)
        if telling == Telling.PERHAPS:
            line = " ".join(text.split())
            short = line if len(line) <= LONGEST else f"{line[:LONGEST]} …"
            self.doubtful.append(f"{name} ('{short}')")
        return telling == Telling.VALUE

    def refuse_telling(self, text: str, name: str, place: object, *, code: bool = False) -> None:
        """Refuse a text that tells the value of a hidden cell, by name; note one that may by chance."""
        if self.tells(text, name, code=code):
            raise ReleaseError(
                f"the text of {name} holds the value of a hidden cell, so every reader would know it",
                place=place,
                remedy="take the number out of the text, or write a workbook of its own",
                options=["layout=new"],
            )

    def list_notes(self) -> tuple[str, ...]:
        """Return all notes on a published workbook, in the order in which people read them."""
        notes = [
            f"left out of the sheet, {what}: {name_fields(fields)}"
            for fields, what in (
                (self.numbers, "as numbers outside of the table"),
                (self.formulas, "as formulas outside of the table"),
                (self.beside, "as beside the table's codes and values"),
            )
            if fields
        ]
        if self.doubtful:
            named = name_fields(list(dict.fromkeys(self.doubtful)))
            notes.append(
                f"a number in the text of {named} is also that of a hidden cell, or near it, perhaps by "
                "chance: check that the text does not speak of it"
            )
        return (*notes, *dict.fromkeys(self.others), READERS_SEE)


def name_fields(names: Sequence[str]) -> str:
    """Return the names of fields in a sheet as one text, at most a few of them."""
    rest = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {pluralize(rest, 'more field')}" if rest > 0 else "")
