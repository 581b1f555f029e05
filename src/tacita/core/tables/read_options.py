"""The options of reading a table, for Python, project files, the command line and the web app."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeAlias

from tacita.core.errors import SpecificationError
from tacita.core.words import pluralize

Totals: TypeAlias = Literal["auto", "given", "compute"]
UndeclaredSums: TypeAlias = Literal["refuse", "warn", "ignore"]
Order: TypeAlias = Literal["safe", "input"]


def _help(text: str) -> dict[str, str]:
    return {"help": text}


@dataclass(frozen=True)
class ReadOptions:
    """How a table with one row per cell is read: its columns, its classifications, its numbers and totals.

    Attributes
    ----------
    by
        The columns of codes; None: recognised by their names. Per column a :class:`~tacita.Hierarchy`,
        several of them, the code of the total, or None: then the classification is flat and its total is
        recognised if it has a usual name such as ``Total``. A :class:`~tacita.Found` stands for the
        classification that sums among the codes make, :class:`~tacita.Digits` for the one that they spell.
    hierarchies
        Classifications by dimension, as hierarchies, digits or paths of their files, where ``by`` gives none.
        Other dimensions stay as they are.
    total
        Codes of totals by dimension; or one code, for every dimension that has it.
    levels
        Per dimension how many levels of its classification are shown below the total.
    recode
        Per dimension what codes become, as a mapping or the path of a file: see
        :mod:`tacita.core.hierarchy.recoding` and :mod:`tacita.formats.recodings`.
    found
        Dimensions whose classification is the one that sums among their codes make.
    value
        The column of values. Without it the table is one of counts, given by ``count``.
    count, holding_count
        Columns with the number of respondents and of holdings per cell.
    status
        The column of status letters; see :mod:`tacita.formats.marks`.
    structural
        A column that is true for cells which can only be zero.
    largest
        Columns with the largest contributions per cell, in order; of microdata, how many are stored.
    shadow
        The column of another variable by which rules judge the cells: the totals that ``largest`` belong to;
        of microdata a column of amounts.
    columns
        Further columns to keep, such as a cost.
    totals
        ``"given"``: the rows are all the cells. ``"compute"``: the rows are leaf cells and are summed up.
        ``"auto"``: given as soon as one row has the code of a total.
    only
        Codes by column: rows that have others are left out, and the columns are no dimensions.
    structure
        The path of an SDMX structure file, with the code lists of the dimensions of an SDMX-CSV file.
    decimals
        Decimals that count; as many as the values need by default.
    counts
        Whether everyone knows that cells are integers. Default: for tables of counts, and for integer,
        non-negative values that come without a column of counts or contributions, or equal their counts.
    repair
        Compute wrong totals anew; the table's notes say which.
    undeclared_sums
        ``"refuse"``, ``"warn"`` of or ``"ignore"`` codes whose numbers are sums of other codes' without a
        classification that says so (see :mod:`tacita.core.tables.undeclared_sums`), or follow from them
        otherwise.
    order
        ``"safe"``: codes stand as in the input, unless they are sorted by values there, which tells of
        hidden ones; then by code (see :mod:`tacita.core.tables.code_order`). ``"input"``: always as in it.
    name
        What the table is called where there are several; None: like its file.
    decimal
        The decimal sign of numbers in text; None: a point in files, in pasted text what the numbers show.
        Where nothing tells whether ``1.204`` is in thousands, the input is refused with the question.
    delimiter, encoding, sheet
        How to read the file. A workbook's sheet is the first that holds anything, if none is named.
    metadata
        The path of a ``.rda`` file of τ-ARGUS that describes a file without a header; None: the one of the
        same name beside it, if there is one. See :mod:`tacita.formats.argus`.
    apriori
        The path of a ``.hst`` file of τ-ARGUS with decisions on single cells, which are applied last.
    """

    by: Any = field(
        default=None, metadata=_help("Columns of codes. Other columns without a part are then left aside.")
    )
    hierarchies: Mapping[str, Any] = field(
        default_factory=dict, metadata=_help("Classifications by dimension.")
    )
    total: Mapping[str, str] | str | None = field(
        default=None, metadata=_help("Code of the total of a dimension.")
    )
    levels: Mapping[str, int] = field(
        default_factory=dict, metadata=_help("Levels of a dimension that are shown below its total.")
    )
    recode: Mapping[str, Any] = field(
        default_factory=dict, metadata=_help("What codes of a dimension become.")
    )
    found: Sequence[str] = field(
        default=(), metadata=_help("Dimensions whose classification is found in the numbers.")
    )
    value: str | None = field(default=None, metadata=_help("Column of values."))
    count: str | None = field(default=None, metadata=_help("Column of respondents per cell."))
    holding_count: str | None = field(default=None, metadata=_help("Column of holdings per cell."))
    status: str | None = field(default=None, metadata=_help("Column of status letters."))
    structural: str | None = field(
        default=None, metadata=_help("Column that is true for cells which can only be zero.")
    )
    largest: int | Sequence[str] | None = field(
        default=None, metadata=_help("Columns of the largest contributions, in order.")
    )
    shadow: str | None = field(
        default=None, metadata=_help("Column of another variable, by which rules judge the cells.")
    )
    columns: Sequence[str] = field(default=(), metadata=_help("Further columns to keep."))
    totals: Totals = field(
        default="auto", metadata=_help("Whether the rows hold the totals: auto, given, compute.")
    )
    only: Mapping[str, str] = field(
        default_factory=dict, metadata=_help("Read only rows with this code in a column.")
    )
    structure: Any = field(
        default=None, metadata=_help("SDMX structure file (.xml, .json) with the code lists of dimensions.")
    )
    decimals: int | None = field(default=None, metadata=_help("Decimals that count."))
    counts: bool | None = field(
        default=None,
        metadata=_help("Whether everyone knows that cells are integers. Default: recognised by the values."),
    )
    repair: bool = field(default=False, metadata=_help("Compute wrong totals anew, and say which."))
    undeclared_sums: UndeclaredSums = field(
        default="refuse",
        metadata=_help("Codes whose numbers are sums of others', or follow from them, undeclared."),
    )
    order: Order = field(
        default="safe",
        metadata=_help("Order of codes: safe (by code if the input is sorted by values), or input."),
    )
    name: str | None = field(default=None, metadata=_help("What the table is called."))
    decimal: str | None = field(default=None, metadata=_help("Decimal sign of numbers in text files."))
    delimiter: str | None = field(default=None, metadata=_help("Sign between the columns of a text file."))
    encoding: str | None = field(default=None, metadata=_help("Encoding of a text file."))
    sheet: str | None = field(
        default=None, metadata=_help("Sheet of a workbook. Default: the first that holds anything.")
    )
    metadata: str | None = field(
        default=None,
        metadata=_help(
            "File of τ-ARGUS metadata (.rda) for data without a header. Default: the one of the same name "
            "beside the data."
        ),
    )
    apriori: str | None = field(
        default=None, metadata=_help("File of τ-ARGUS (.hst) with decisions on single cells.")
    )

    def __post_init__(self) -> None:
        for name in ("by", "found", "largest", "columns"):
            if isinstance(listed := getattr(self, name), list):
                object.__setattr__(self, name, tuple(listed))
        if self.decimal not in (None, ".", ","):
            raise SpecificationError(
                f"'{self.decimal}' is no decimal sign",
                place="decimal",
                options=["decimal"],
                remedy="choose the point or the comma",
            )
        if self.decimals is not None:
            from tacita.core.exact import MOST_DECIMALS

            if not 0 <= self.decimals <= MOST_DECIMALS:
                raise SpecificationError(
                    pluralize(self.decimals, "decimal"),
                    place="decimals",
                    remedy=f"give a number from 0 to {MOST_DECIMALS}",
                    options=["decimals"],
                )

    @property
    def given(self) -> dict[str, Any]:
        """The options of reading a table that are not at their defaults, by name."""
        usual = ReadOptions()
        values = {each.name: getattr(self, each.name) for each in fields(ReadOptions)}
        return {name: value for name, value in values.items() if value != getattr(usual, name)}

    @property
    def dimensions(self) -> list[str] | None:
        """The names of the columns of codes; None if they are to be recognised."""
        return None if self.by is None else list(self.by)
