"""A protected crosstab of records in one call: tabulated, protected, audited, laid out as a frame.

The frame is made of the release alone, which holds no true value that it hides. Cells that nobody contributes
to are zero, as everybody knows; cells that show no number are missing, or have a mark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from inspect import signature
from itertools import product
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from tacita.attackers.insiders import AttackerLike
from tacita.auditing.audit import Audit, audit
from tacita.core import exact
from tacita.core.errors import InputError, ReleaseError, did_you_mean, issue_warnings
from tacita.core.exact import Cells
from tacita.core.hierarchy import Hierarchy
from tacita.core.release import Mark, Release
from tacita.core.run import Run
from tacita.core.tables.dimension import Dimension
from tacita.methods.method import Method, make_method
from tacita.problem.problem import Problem
from tacita.rules import Rule
from tacita.tabulation.leaves import Trees
from tacita.tabulation.tabulate import tabulate

if TYPE_CHECKING:
    import pandas as pd

JOINT = " | "
"""Between the codes of several column variables, where a frame has plain names of columns."""
USUAL_LARGEST = 5
"""Contributions kept per cell, which the usual rules look at."""


@dataclass(frozen=True, eq=False)
class Crosstab:
    """A protected crosstab: the frame, and the audit that proves it safe.

    Attributes
    ----------
    frame
        A frame of the kind that the records came in: pandas with the codes in its index and columns, polars
        or Arrow with the codes of the rows in columns.
    release
        What readers get of each cell.
    audit
        The verdict, with the problem and, for internal use, the true table: ``audit.problem.table``.
    """

    frame: Any
    release: Release
    audit: Audit = field(repr=False)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What to know before the crosstab is published, such as what its options tell readers."""
        return () if self.release.outcome is None else self.release.outcome.remarks

    def __str__(self) -> str:
        return "\n".join([str(self.frame), self.audit.verdict, *self.remarks])

    def _repr_html_(self) -> str:
        """Return the published frame as HTML for notebooks, with the verdict below."""
        shown = getattr(self.frame, "_repr_html_", None)
        table = str(shown()) if shown is not None else f"<pre>{escape(str(self.frame))}</pre>"
        notes = "".join(f"<p>{escape(note)}</p>" for note in (self.audit.verdict, *self.remarks))
        return f"<div>{table}{notes}</div>"


def crosstab(
    frame: Any,
    index: str | Sequence[str],
    columns: str | Sequence[str] = (),
    values: str | None = None,
    *,
    rule: Rule | str,
    aggfunc: Literal["sum", "count"] | None = None,
    margins: bool = True,
    respondent: str | None = None,
    holding: str | None = None,
    weight: str | None = None,
    hierarchies: Mapping[str, Trees] | None = None,
    attackers: AttackerLike | Sequence[AttackerLike] | None = None,
    cost: str = "value",
    method: Method | str = "suppression",
    mark: str | None = None,
    run: Run | None = None,
    **options: Any,
) -> Crosstab:
    """Return a protected crosstab of records as a frame, with its audit; never one that is not safe.

    Parameters
    ----------
    frame
        Records: a pandas, polars or arrow frame, or whatever else :func:`tabulate` takes.
    index, columns
        Columns of codes that make the rows and the columns, one or several each. Categorical ones keep the
        order of their categories.
    values
        Column of values to sum. Without it records are counted, or respondents if ``respondent`` is given.
    rule
        What is sensitive, as a rule or in its written form, such as ``"p-percent(10) | frequency(3)"``.
    aggfunc
        ``"sum"`` or ``"count"``; by default a sum where ``values`` are given. A mean is no cell of a table
        that adds up: make a crosstab of the sum and one of the count, and divide what both of them show.
    margins
        Whether totals are shown. Cells are protected against readers who know them in any case.
    respondent, holding, weight
        Columns of who made a record, the group they belong to, and sampling weights.
    hierarchies
        Classifications of some columns of codes, whose totals are then shown too.
    attackers, cost
        As for :class:`Problem`.
    method
        A method, or its name.
    mark
        The text of cells that show no number, such as ``"x"``; intervals are written as such. Then all
        cells are text. None: such cells are missing, those with an interval too.
    run
        Time limit, progress, seed.
    options
        Further options of :func:`tabulate`: ``where``, ``levels``, ``recode``, ``request``, ``shadow`` ...

    Raises
    ------
    ReleaseError
        The audit does not prove the release safe.
    InfeasibleError
        No release of this method protects the table.
    StoppedError
        The time limit of the run ended before there was a release.
    InputError
        Columns, values or options are wrong.

    Examples
    --------
    >>> import pyarrow as pa
    >>> records = pa.table({"region": ["N"] * 5 + ["S"] * 9, "sex": list("fmmmm") + list("fffffmmmm")})
    >>> crosstab(records, "region", "sex", rule="threshold(3)", mark="x").frame.to_pylist()[0]
    {'region': 'N', 'f': 'x', 'm': 'x', 'Total': '5'}
    """
    _refuse_series(frame, index, columns)
    _refuse_unknown_options(options)
    rows, across = _list_names("index", index), _list_names("columns", columns)
    _refuse_arguments(rows, across, values, aggfunc)
    given = {**_list_categories(frame, [*rows, *across]), **(hierarchies or {})}
    given = {name: given.get(name) for name in (*rows, *across)}
    if strange := [name for name in hierarchies or {} if name not in given]:
        hint = did_you_mean(strange[0], list(given))
        fault = f"'{strange[0]}'{hint} is none of the columns {', '.join(given)}"
        raise InputError(fault, place="hierarchies")
    table = tabulate(
        frame,
        given,
        values if aggfunc != "count" else None,
        respondent,
        holding,
        weight,
        **{"largest": USUAL_LARGEST, **options},
    )
    problem = Problem(table, rule, attackers, cost)
    chosen = make_method(method) if isinstance(method, str) else method
    release = chosen.protect(problem, run)
    checked = audit(problem, release)
    if not checked.safe:
        raise ReleaseError(
            f"the release of {chosen.name} is not proven safe: {checked.verdict}",
            remedy="Choose another method, or give the run more time.",
        )
    laid = _lay_out(release, len(rows), margins)
    made = Crosstab(_make_frame(frame, release, laid, rows, across, mark), release, checked)
    issue_warnings(made.remarks)
    return made


def _refuse_series(*given: Any) -> None:
    """Refuse series in place of the frame or of names of its columns, as pandas.crosstab takes them."""
    import narwhals as nw

    if any(
        isinstance(nw.from_native(each, allow_series=True, pass_through=True), nw.Series) for each in given
    ):
        raise InputError(
            "a series is given, where a frame and names of its columns are needed",
            place="crosstab",
            remedy="Give the frame first, then the names of the columns that make rows and columns.",
        )


def _refuse_unknown_options(options: Mapping[str, Any]) -> None:
    """Refuse options of a crosstab that neither it nor tabulate has, with the nearest name."""
    own = {*signature(crosstab).parameters, *signature(tabulate).parameters}
    if strange := [name for name in options if name not in own]:
        raise InputError(
            f"there is no option '{strange[0]}'{did_you_mean(strange[0], sorted(own))}",
            place="crosstab",
            remedy="A crosstab takes its own options and those of tabulate.",
        )


def _list_names(option: str, given: str | Sequence[str]) -> list[str]:
    names = [given] if isinstance(given, str) else list(given)
    if not all(isinstance(name, str) for name in names):
        raise InputError(f"{option} are names of columns of the frame", place=option)
    return names


def _list_categories(frame: Any, names: Sequence[str]) -> dict[str, Trees]:
    """Return flat classifications of the columns of a frame that are categorical, in the order of theirs."""
    import narwhals as nw

    read = nw.from_native(frame, eager_only=True, pass_through=True)
    if not isinstance(read, nw.DataFrame):
        return {}
    found = dict[str, Trees]()
    for name in set(names) & set(read.columns):
        kind = read.schema[name]
        if isinstance(kind, nw.Enum):
            categories = list(kind.categories)
        elif kind == nw.Categorical and read.implementation.is_pandas():
            categories = frame[name].cat.categories.tolist()
        else:
            continue
        used = set(read[name].unique().to_list())
        found[name] = Hierarchy.flat([code for code in categories if code in used])
    return found


def _refuse_arguments(
    rows: Sequence[str], across: Sequence[str], values: str | None, aggfunc: str | None
) -> None:
    if not rows:
        raise InputError("which columns make the rows?", place="index", remedy="name at least one")
    if len({*rows, *across}) < len(rows) + len(across):
        raise InputError("a column makes rows or columns of the crosstab, and only once", place="index")
    if aggfunc == "mean":
        raise InputError(
            "a mean is no cell of an additive table: with its count it tells the sum",
            place="aggfunc",
            remedy="make one crosstab of the sum and one of the count, and divide what both of them show",
        )
    if aggfunc not in (None, "sum", "count"):
        raise InputError(f"'{aggfunc}' cells cannot be protected", place="aggfunc", remedy="use sum or count")
    if aggfunc == "sum" and values is None:
        raise InputError("which column is summed?", place="values", remedy="name it")


@dataclass(frozen=True, eq=False)
class _Layout:
    """The rows and columns of a crosstab by their codes, and the cell at each place; -1: nobody is there."""

    rows: list[tuple[str, ...]]
    columns: list[tuple[str, ...]]
    cells: Cells


def _lay_out(release: Release, down: int, margins: bool) -> _Layout:
    """Return where the cells of a release stand in a crosstab whose first dimensions go down."""
    dimensions = release.structure.dimensions
    rows = list(product(*(_list_codes(each, margins) for each in dimensions[:down])))
    columns = list(product(*(_list_codes(each, margins) for each in dimensions[down:])))
    places = np.array(
        [
            [
                int(each.representative[each.index(code)])
                for each, code in zip(dimensions, (*row, *column), strict=True)
            ]
            for row in rows
            for column in columns
        ],
        dtype=np.int32,
    )
    cells = release.structure.locate(places).reshape(len(rows), len(columns))
    # Combinations of codes that nobody has are no rows and no columns.
    stay, beside = np.asarray((cells >= 0).any(axis=1)), np.asarray((cells >= 0).any(axis=0))
    return _Layout(
        [rows[k] for k in np.flatnonzero(stay)],
        [columns[k] for k in np.flatnonzero(beside)],
        cells[stay][:, beside],
    )


def _list_codes(dimension: Dimension, margins: bool) -> list[str]:
    """Return the codes along one side of a crosstab: totals last, or none at all."""
    if not margins:
        parts = {code for tree in dimension.trees for code in tree.codes if tree.children(code)}
        return [code for code in dimension.codes if code not in parts]
    totals = dict.fromkeys(tree.total for tree in dimension.trees)
    return [*(code for code in dimension.codes if code not in totals), *totals]


def _make_frame(
    source: Any, release: Release, laid: _Layout, rows: list[str], across: list[str], mark: str | None
) -> Any:
    """Return the crosstab as a frame of the kind that the records came in."""
    entries = _read_entries(release, laid.cells, mark)
    kind = type(source).__module__.partition(".")[0]
    integer = release.decimals == 0
    if kind == "pandas":
        return _make_pandas(laid, entries, rows, across).astype(
            "object" if mark is not None else "Int64" if integer else "float64"
        )
    import pyarrow as pa

    heads = [JOINT.join(column) if across else "value" for column in laid.columns]
    if taken := sorted({*heads} & {*rows}):
        raise InputError(f"'{taken[0]}' is a code and the name of a column", remedy="Rename one of them.")
    codes = {name: [row[k] for row in laid.rows] for k, name in enumerate(rows)}
    shown = pa.string() if mark is not None else pa.int64() if integer else pa.float64()
    numbers = {head: pa.array(entries[:, k].tolist(), shown) for k, head in enumerate(heads)}
    table = pa.table({**codes, **numbers})
    if kind == "polars":
        import polars as pl

        return pl.from_arrow(table)
    return table


def _make_pandas(
    laid: _Layout, entries: NDArray[np.object_], rows: list[str], across: list[str]
) -> pd.DataFrame:
    import pandas as pd

    def label(codes: list[tuple[str, ...]], names: list[str]) -> Any:
        if len(names) == 1:
            return pd.Index([code for (code,) in codes], name=names[0])
        return pd.MultiIndex.from_tuples(codes, names=names)

    columns = label(laid.columns, across) if across else pd.Index(["value"])
    return pd.DataFrame(entries, index=label(laid.rows, rows), columns=columns)


def _read_entries(release: Release, cells: Cells, mark: str | None) -> NDArray[np.object_]:
    """Return what each place of a crosstab shows: numbers, nothing for hidden cells, or all as text."""
    entries = np.empty(cells.shape, dtype=object)
    for place, cell in np.ndenumerate(cells):
        entries[place] = _read_entry(release, int(cell), mark)
    return entries


def _read_entry(release: Release, cell: int, mark: str | None) -> int | float | str | None:
    if cell < 0:
        return 0 if mark is None else "0"
    if release.shown[cell]:
        text = exact.to_text(int(release.value[cell]), release.decimals)
        return text if mark is not None else float(text) if release.decimals else int(text)
    if mark is None:
        return None
    if release.marks[cell] == Mark.INTERVAL:
        low, high = (exact.to_text(int(end[cell]), release.decimals) for end in (release.low, release.high))
        return f"[{low}, {high}]"
    return mark
