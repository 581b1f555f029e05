"""The table an office wants to publish, with everything that must stay internal.

``a`` are the cell values and ``M a = b`` the equations of its structure, both exact integers of the last
decimal place. A :class:`Table` is checked when it is made: it adds up, or it is refused with the worst
equations by name.

Three things that look like "no number" are different:

* an *empty* cell is not listed; nobody contributed, everybody knows, its value is zero;
* a *structural zero* is listed with value zero and can be nothing else, so every attacker knows it;
* a *zero* is listed like any other value: contributions that sum up to zero.

A *missing* value (the office itself does not know it) is never stored: it is computed from the equations or
refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacita.core import exact
from tacita.core.errors import InputError
from tacita.core.exact import LARGEST, Floats, Mask, Units, freeze, freeze_fields
from tacita.core.tables.additivity import refuse_unless_additive
from tacita.core.tables.contributions import Contributions, Shadow
from tacita.core.tables.equations import Equations
from tacita.core.tables.frames import Framed, list_rows, make_arrow_table, numbers_to_arrow, read_frame
from tacita.core.tables.structure import Structure
from tacita.core.words import pluralize

if TYPE_CHECKING:
    import pyarrow as pa

    from tacita.core.levels import Levels
    from tacita.core.tables.columns import Spec
    from tacita.core.tables.read_options import Order, Totals, UndeclaredSums


@dataclass(frozen=True, eq=False)
class Table(Framed):
    """Cell values on a structure.

    Attributes
    ----------
    units, decimals
        ``a * 10**decimals`` as integers.
    integer
        Every attacker knows that cells are integers (counts).
    count, holding_count
        Respondents and holdings per cell.
    population
        Weighted number of respondents per cell (a sample with weights).
    contributions, holdings
        The largest contributions per cell by respondent and by holding.
    shadow
        Contributions to another variable by which rules judge the cells; None: to the value itself.
    structural
        Cells that can only be zero.
    columns
        Further columns per cell, such as a cost.
    notes
        What was changed in the input or left out, in sentences.
    warnings
        What in the input may be a mistake, in sentences.
    title
        What stands above the table in its file.
    """

    structure: Structure
    units: Units
    decimals: int = 0
    integer: bool = False
    count: Units | None = None
    population: Floats | None = None
    contributions: Contributions | None = None
    holding_count: Units | None = None
    holdings: Contributions | None = None
    shadow: Shadow | None = None
    structural: Mask | None = None
    columns: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    value_name: str = "value"
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    title: str = ""

    def __post_init__(self) -> None:
        freeze_fields(self, "units")
        if self.units.size != len(self.structure):
            raise InputError(
                f"{pluralize(self.units.size, 'value')} for {pluralize(len(self.structure), 'cell')}"
            )
        if (
            self.structural is not None
            and (wrong := np.flatnonzero(self.structural & (self.units != 0))).size
        ):
            raise InputError(
                f"structural zeros with a value: {self.structure.names(wrong)}",
                remedy="Unmark them or set them to 0.",
            )
        if (wrong := np.flatnonzero(np.abs(self.units) > LARGEST)).size:
            raise InputError(
                f"values that do not fit into 53 bits with {pluralize(self.decimals, 'decimal')}: "
                f"{self.structure.names(wrong)}",
                remedy="Use fewer decimals or a larger unit.",
            )
        if (wrong := np.flatnonzero(self.units % self.unit)).size:
            raise InputError(
                f"counts that are no integers: {self.structure.names(wrong)}",
                remedy="Correct them, or say that they are amounts.",
            )
        refuse_unless_additive(self.structure, self.units, self.decimals)

    def __len__(self) -> int:
        return len(self.structure)

    def __repr__(self) -> str:
        kind = "counts" if self.integer else pluralize(self.decimals, "decimal")
        return f"Table({pluralize(len(self), 'cell')}, {pluralize(len(self.equations), 'equation')}, {kind})"

    def _repr_html_(self) -> str:
        """Return the table with its true values as HTML for notebooks."""
        from tacita.core.notebook import show_cells

        return show_cells(self.structure, self.text, repr(self))

    @property
    def equations(self) -> Equations:
        return self.structure.equations

    @cached_property
    def values(self) -> Floats:
        """Cell values as floats, for display and for solvers."""
        return freeze(exact.to_floats(self.units, self.decimals))

    @property
    def unit(self) -> int:
        """The smallest step between two values of a cell that a reader thinks possible, in units."""
        return 10**self.decimals if self.integer else 1

    def name(self, cell: int) -> str:
        return self.structure.name(cell)

    def text(self, cell: int) -> str:
        """Return the value of a cell as plain text."""
        return exact.to_text(int(self.units[cell]), self.decimals)

    def find(self, /, *codes: str, **by_name: str) -> int:
        """Return the position of a cell by its codes; see :meth:`Structure.find`."""
        return self.structure.find(*codes, **by_name)

    def with_decimals(self, decimals: int) -> Table:
        """Return the same table with its values counted in a finer last decimal place."""
        if decimals == self.decimals:
            return self
        finer = decimals - self.decimals
        return replace(
            self,
            structure=replace(self.structure, equations=self.equations.scaled(10**finer)),
            units=exact.rescale(self.units, self.decimals, decimals),
            decimals=decimals,
            contributions=self.contributions and self.contributions.with_finer_units(finer),
            holdings=self.holdings and self.holdings.with_finer_units(finer),
        )

    def to_arrow(self, part: int | str = 0, levels: Levels | None = None) -> pa.Table:
        """Return an Arrow table of the cells with their true values: codes, value, counts, further columns.

        Parameters
        ----------
        part
            Which of several linked tables, by number or name. Rows stand in the order of the table given.
        levels
            Adds ``status`` (``u`` for sensitive cells, else ``s``) and the levels ``lpl``, ``upl``, ``spl``.
        """
        import pyarrow as pa

        names, codes, cells = list_rows(self.structure, part)
        columns: dict[str, Any] = {self.value_name: numbers_to_arrow(self.units[cells], self.decimals)}
        further = {"count": self.count, "holding_count": self.holding_count, **self.columns}
        for key, column in further.items():
            if column is not None and key not in names:
                columns.setdefault(key, pa.array(column[cells]))
        if levels is not None:
            columns["status"] = pa.array(np.array(["s", "u"])[levels.sensitive[cells].astype(np.int64)])
            for key, level in (("lpl", levels.lower), ("upl", levels.upper), ("spl", levels.sliding)):
                columns[key] = numbers_to_arrow(level[cells], self.decimals)
        return make_arrow_table(dict(zip(names, codes, strict=True)), columns)

    @classmethod
    def from_array(
        cls,
        values: ArrayLike,
        *,
        totals: bool = False,
        names: Sequence[str] | None = None,
        codes: Sequence[Sequence[str]] | None = None,
        decimals: int | None = None,
        counts: bool | None = None,
        repair: bool = False,
        undeclared_sums: UndeclaredSums = "warn",
    ) -> Table:
        """Return the table of an array of any number of dimensions.

        Parameters
        ----------
        values
            Numbers; with ``totals`` the last position along each axis is the total, otherwise totals are
            computed. NaN is a missing value: it is computed from totals or refused.
        names, codes
            Dimension names and codes per axis (without the code of the total, which is ``Total``).
        decimals
            Decimals that count; as many as the values need by default.
        counts
            Whether cells are counts (integers, and everyone knows it). Default: yes if all are integers and
            not negative.
        repair
            Compute wrong totals anew.
        undeclared_sums
            As for :meth:`from_frame`.
        """
        from tacita.core.tables.constructors import table_from_array
        from tacita.core.tables.read_options import ReadOptions

        read = ReadOptions(
            totals="given" if totals else "compute",
            decimals=decimals,
            counts=counts,
            repair=repair,
            undeclared_sums=undeclared_sums,
        )
        return table_from_array(values, names, codes, read)

    @classmethod
    def from_equations(
        cls,
        values: Mapping[str, float] | ArrayLike,
        equations: Iterable[Mapping[str | int, int] | tuple[Any, Any]],
        *,
        decimals: int | None = None,
        counts: bool | None = None,
    ) -> Table:
        """Return a general table: cells without dimensions, and the equations between them.

        Parameters
        ----------
        values
            The value of each cell by its label, or in order; then labels are ``"0"``, ``"1"``, and so on.
        equations
            Each ``(total, parts)``, a cell that is the sum of others; ``{cell: coefficient}``, a weighted sum
            that is zero; or ``({cell: coefficient}, constant)``. A cell is its label (text) or its position
            (an integer). Coefficients are integers.
        decimals, counts
            As for :meth:`from_array`.
        """
        from tacita.core.tables.constructors import table_from_equations

        return table_from_equations(values, equations, decimals, counts)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        by: Mapping[str, Spec] | Sequence[str],
        *,
        value: str | None = None,
        across: str | None = None,
        count: str | None = None,
        totals: Totals = "auto",
        decimals: int | None = None,
        counts: bool | None = None,
        repair: bool = False,
        structural: str | None = None,
        largest: Sequence[str] = (),
        shadow: str | None = None,
        holding_count: str | None = None,
        columns: Sequence[str] = (),
        name: str = "table",
        decimal: str = ".",
        undeclared_sums: UndeclaredSums = "warn",
        order: Order = "input",
    ) -> Table:
        """Return the table of a frame: long, with one row per cell, or wide, with one column per code.

        Parameters
        ----------
        frame
            pandas, polars, Arrow or DuckDB. In pandas codes may stand in the index, and a series with such
            an index will do. Categories keep their order, in polars those of an Enum.
        by, value, count, totals, decimals, counts, repair, structural, largest, shadow, columns
            The columns, and how to read them; see :class:`~tacita.ReadOptions`. Dimensions may be levels of
            the index or of the columns as well; ``value`` names the values of a wide frame.
        across
            The dimension whose codes are the names of the columns of a wide frame. Columns of a pandas frame
            whose levels have names of dimensions need none.
        name
            What the table is called where there are several.
        decimal
            The decimal sign of numbers that are given as text.
        undeclared_sums
            ``"warn"`` of, ``"refuse"`` or ``"ignore"`` codes whose numbers are sums of other codes' without a
            classification that says so (see :mod:`tacita.core.tables.undeclared_sums`), or follow from them.
        order
            ``"input"``: codes stand as in the frame, with a warning if they are sorted by values; ``"safe"``:
            by code in this case.
        """
        from tacita.core.tables.columns import Columns, table_from_columns
        from tacita.core.tables.read_options import ReadOptions

        single = (column for column in (count, structural, shadow, holding_count) if column is not None)
        data, value = read_frame(frame, list(by), value, [*single, *largest, *columns], across)
        read = ReadOptions(
            by,
            value=value,
            count=count,
            totals=totals,
            decimals=decimals,
            counts=counts,
            repair=repair,
            structural=structural,
            largest=largest,
            shadow=shadow,
            holding_count=holding_count,
            columns=columns,
            name=name,
            undeclared_sums=undeclared_sums,
            order=order,
        )
        return table_from_columns(Columns(data, decimal=decimal), read)
