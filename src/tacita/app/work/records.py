"""Records that are to become a table: what their file offers, what is chosen of it, and the case it makes.

The specification of the case says what is chosen. So an export refers to records that stay where they are,
and one that was handed over ends as its table.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tacita.app.work.open_case import Case
from tacita.app.work.opening import NO_OPTIONS, group_by_dimension, is_classification, open_specification
from tacita.app.work.paths import expand_path, hide_folders
from tacita.app.work.tree_draft import TreeDraft
from tacita.core.errors import InputError, TacitaError
from tacita.core.hierarchy import Hierarchy
from tacita.core.tables.read_options import ReadOptions
from tacita.core.words import list_names
from tacita.formats.hierarchy import read_hierarchy
from tacita.formats.records import find_records
from tacita.formats.workbook import WORKBOOKS, Sheets, is_workbook, list_sheets
from tacita.specification.sections import Source
from tacita.specification.specification import Specification
from tacita.storage.atomic import write_text
from tacita.tabulation.address import locate
from tacita.tabulation.overview import Overview, find_groupings, list_codes, survey_records
from tacita.tabulation.records import CSV, PARQUET

ENDINGS = (*CSV, *PARQUET, *WORKBOOKS)
"""What a file of records may be called."""
USUAL_LARGEST = 5
"""Contributions kept per cell: rules look at two or three, and waivers step over some."""
CONTRIBUTORS = {"respondent": "Respondent", "holding": "Holding or group"}
"""The fields of the form for records on the page Start that say who contributes."""
CONTRIBUTORS_HELP = {
    "respondent": "Firm or person whose records are added up",
    "holding": "Only if respondents act in groups, too",
}
"""What these fields mean, on a line below each."""


@dataclass(frozen=True)
class Choice:
    """What makes the table: columns by their roles, as :func:`tacita.tabulate` takes them.

    ``classified``: whether the classifications beside the records are used. ``trees``: those that the user
    made in the page, by column.
    """

    by: tuple[str, ...] = ()
    value: str | None = None
    respondent: str | None = None
    holding: str | None = None
    weight: str | None = None
    where: str | None = None
    largest: int = USUAL_LARGEST
    decimals: int | None = None
    classified: bool = True
    trees: Mapping[str, Hierarchy] = field(default_factory=dict)


@dataclass(frozen=True)
class RecordsFile:
    """A file of records that was looked through.

    Attributes
    ----------
    classifications
        Files of classifications, by the column that each is called after.
    decimal
        The decimal sign of its numbers, if it was chosen.
    sheet, sheets
        Of a workbook: the one that was looked through, and those that hold anything.
    private
        The session's folder of the file, if it was handed over and is no file of the user's.
    choice
        What was chosen so far.
    """

    path: Path
    seen: Overview
    classifications: Mapping[str, Sequence[Path]] = field(default_factory=dict)
    decimal: str | None = None
    sheet: str | None = None
    sheets: Sheets | None = None
    private: Path | None = None
    choice: Choice = field(default_factory=Choice)

    @property
    def is_text(self) -> bool:
        """Whether numbers stand in the user's file as text, with a decimal sign to ask for."""
        return self.path.name.lower().endswith(CSV)

    def are_of(self, case: Case) -> bool:
        """Return whether the user's table was made from these records."""
        source = case.specification.table
        return (
            source is not None
            and source.microdata is not None
            and self.path == Path(locate(case.specification.folder, source.microdata))
            and self.sheet == source.sheet
        )

    def list_codes(self, *columns: str) -> list[tuple[str, ...]]:
        """Return the different codes of a column of the records, or combinations of several columns."""
        return list_codes(find_records(self.path, self.sheet), columns, self.decimal)

    def draft_tree(self, column: str) -> TreeDraft:
        """Return the classification of a column of the records that the user begins to edit: the one made
        before, the one in the file beside them, or all codes directly under the total.
        """
        codes = [code for (code,) in self.list_codes(column) if code]
        if not codes:
            raise InputError(
                "no record has a code in this column", place=column, remedy="Choose another one."
            )
        if (made := self.choice.trees.get(column)) is not None:
            return TreeDraft(made, codes, of_records=True)
        files = self.classifications.get(column, ()) if self.choice.classified else ()
        tree = read_hierarchy(files[0]) if len(files) == 1 else Hierarchy.flat(codes)
        return TreeDraft(tree, codes, of_records=True)

    def list_groupings(self, column: str) -> list[str]:
        """Return the other columns of the records that could hold groups of the codes in one; none where the
        user gave the dimension a name of its own.
        """
        if column not in self.seen.names:
            return []
        return find_groupings(find_records(self.path, self.sheet), column, self.decimal)

    def find_tree_of_columns(self, column: str, above: str) -> Hierarchy:
        """Return the classification of a column of the records by another one, which holds the groups.

        Codes whose records name no group are left out.

        Raises
        ------
        InputError
            Records of the same code have different groups.
        """
        import pyarrow as pa

        groups: dict[str, list[str]] = {}
        for group, code in self.list_codes(above, column):
            if code:
                groups.setdefault(code, []).append(group)
        for code, found in groups.items():
            if len(found) > 1:
                named = [group for group in found if group] + ["no group"] * ("" in found)
                raise InputError(
                    f"{column} {code!r} occurs with {list_names(named)}, so {above} does not group the codes "
                    f"of {column}",
                    remedy="Choose another column.",
                )
        pairs = [(group, code) for code, (group,) in groups.items() if group]
        frame = pa.table({above: [pair[0] for pair in pairs], column: [pair[1] for pair in pairs]})
        return Hierarchy.from_columns(frame, [above, column])

    def with_decimal(self, decimal: str | None) -> RecordsFile:
        """Return the user's file of records, surveyed with another decimal sign; None: as found."""
        return replace(
            self, decimal=decimal, seen=survey_records(find_records(self.path, self.sheet), decimal)
        )

    def with_sheet(self, sheet: str) -> RecordsFile:
        """Return the records of another sheet of the user's workbook, of which nothing is chosen yet."""
        reading = ReadOptions(decimal=self.decimal, sheet=sheet)
        if self.private is None:
            return find_records_at(self.path, reading)
        return find_records_among(sorted(self.private.iterdir()), reading)


def find_records_at(path: str | os.PathLike[str], reading: ReadOptions = NO_OPTIONS) -> RecordsFile:
    """Return the records of a file for the page Start, with classifications beside it, named by column."""
    path = expand_path(path).absolute()
    found, sheets = _survey_file(path, reading)
    near = [file for file in sorted(path.parent.iterdir()) if file.suffix.lower() in (".csv", ".hrc")]
    trees = {
        name: fitting
        for name, files in group_by_dimension(path, near).items()
        if name in found.names and (fitting := [f for f in files if f != path and is_classification(f)])
    }
    sheet, choice = _find_sheet(sheets, reading), Choice(respondent=found.identity)
    return RecordsFile(path, found, trees, reading.decimal, sheet, sheets, choice=choice)


def find_records_of(case: Case, at_hand: RecordsFile | None) -> RecordsFile | None:
    """Return the records in one file that the user's table was made from, those at hand if it is they; None
    where it was not.
    """
    source = case.specification.table
    if source is None or source.microdata is None:
        return None
    if at_hand is not None and at_hand.are_of(case):
        return at_hand
    path = Path(locate(case.specification.folder, source.microdata))
    if not path.name.lower().endswith(ENDINGS) or not path.is_file():
        return None
    return find_records_at(path, ReadOptions(decimal=source.decimal, sheet=source.sheet))


def find_records_among(paths: Sequence[Path], reading: ReadOptions = NO_OPTIONS) -> RecordsFile:
    """Return uploaded records for the page Start, in a folder of their own, with classifications called
    like columns.
    """
    classifications = [path for path in paths if is_classification(path)]
    others = [path for path in paths if path not in classifications]
    if len(others) != 1:
        names = ", ".join(path.name for path in others)
        raise InputError(
            names or "no records among the files",
            remedy="choose one file of records, with the classifications of its columns",
        )
    path = others[0]
    with hide_folders(path.parent):
        found, sheets = _survey_file(path, reading)
    trees = group_by_dimension(path, classifications)
    if strange := [files[0].name for name, files in trees.items() if name not in found.names]:
        raise InputError(
            f"the classification {strange[0]} is called like none of the columns {', '.join(found.names)}",
            place=path.name,
            remedy="rename the file",
        )
    sheet, choice = _find_sheet(sheets, reading), Choice(respondent=found.identity)
    return RecordsFile(path, found, trees, reading.decimal, sheet, sheets, path.parent, choice)


def find_records_in_text(text: str, folder: Path, reading: ReadOptions = NO_OPTIONS) -> RecordsFile:
    """Return records pasted on the page Start, which are put into a folder of their own in ``folder``."""
    place = Path(tempfile.mkdtemp(prefix="pasted-", dir=folder))
    try:
        return find_records_among([write_text(place / "pasted.tsv", text)], reading)
    except TacitaError:
        shutil.rmtree(place)
        raise


def tabulate_records(records: RecordsFile, choice: Choice) -> Case:
    """Return the case that the app tabulates from records by the user's choice of columns.

    Raises
    ------
    InputError
        Nothing is chosen, or the records do not suit the choice; the message says where.
    """
    if not choice.by:
        raise InputError(
            "none is chosen",
            place="Columns that make the table",
            remedy="choose at least one, such as a region or a branch",
        )
    files = records.classifications if choice.classified else {}
    trees = {name: near for name, near in files.items() if name not in choice.trees}
    source = Source(
        microdata=str(records.path),
        by={name: tuple(file.name for file in trees[name]) if name in trees else "" for name in choice.by},
        value=choice.value,
        respondent=choice.respondent,
        holding=choice.holding,
        weight=choice.weight,
        where=choice.where,
        largest=choice.largest,
        decimals=choice.decimals,
        decimal=records.decimal,
        sheet=records.sheet,
    )
    hierarchies = {file.name: str(file) for name in choice.by for file in trees.get(name, ())}
    specification = Specification(source, hierarchies=hierarchies)
    for name in choice.by:
        if name in choice.trees:
            specification = specification.classified(name, choice.trees[name])
    with hide_folders(records.private):
        return open_specification(specification, records.path.stem)


def _survey_file(path: Path, reading: ReadOptions) -> tuple[Overview, Sheets | None]:
    """Return an overview of the columns in the user's file of records, and of a workbook its sheets."""
    if not path.name.lower().endswith(ENDINGS):
        raise InputError(
            f"records are read from {' '.join(ENDINGS)}", place=path, remedy="save them in one of these"
        )
    if not path.is_file():
        raise InputError("there is no such file", place=path, remedy="Check the path.")
    seen = survey_records(find_records(path, reading.sheet), reading.decimal)
    return seen, list_sheets(path) if is_workbook(path) else None


def _find_sheet(sheets: Sheets | None, reading: ReadOptions) -> str | None:
    """Return the sheet of the user's workbook that was read: the one specified, or the one proposed."""
    return reading.sheet or (None if sheets is None else sheets.proposed)
