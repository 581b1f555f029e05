"""A builder of models: methods add variables, windows, rows and loss for the cells they are given.

Several methods may use one builder, each for its own cells: a mixture. Every cell gets a window ``a_i -
D_i(x) .. a_i + U_i(x)``, possibly a switch that suppresses it, and possibly a published number ``v_i = a_i +
moved_i(x)``. Published numbers add up,

    M (v - a) = 0    in every equation all of whose cells show a number of a rounded or perturbed part;

in the other equations readers have windows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacita.core.errors import InfeasibleError
from tacita.core.exact import Cells, Floats, Mask, Units
from tacita.core.release import Mark
from tacita.engine.attack.requirements import Requirements, list_outsider_requirements
from tacita.engine.model import NO_SWITCH, Affine, Model
from tacita.methods.intervals.drawn_ends import draw_extensions
from tacita.methods.options.distances import Draws
from tacita.methods.options.per_cell import choose_scale, find_largest_level
from tacita.methods.protection.known_sums import KnownSum
from tacita.problem.problem import Problem
from tacita.solvers.network import Network

NO_VARIABLE = -1
FINE = 10**6
"""Ends of intervals are scaled so that no level exceeds this."""


@dataclass(frozen=True, eq=False)
class ReleaseModel:
    """A model, and how its solution becomes a release.

    Attributes
    ----------
    marks
        The mark of a cell whose window has a width and whose switch is off.
    radius
        Announced radius of published numbers, in units; zero elsewhere.
    moved
        ``v - a`` in units.
    end_above, end_below
        Variables of the upper and the lower end of an interval.
    scale
        Units per unit of those variables: a power of ten of a step that keeps levels below ``FINE``.
    network
        Whether the table is a network, where integer windows have integer moves.
    remarks, assumption
        What the options of the methods mean for readers, and what protection rests on besides the windows.
    sums
        Sums of cells that readers know more of than the windows imply.
    extension
        Share of its reach by which each end above and below is moved further out after the solution.
    drawn
        Whether random distances are part of the model.
    """

    model: Model
    marks: NDArray[np.uint8]
    radius: Units
    moved: Affine
    end_above: Cells
    end_below: Cells
    scale: int
    network: bool
    remarks: tuple[str, ...] = ()
    sums: tuple[KnownSum, ...] = ()
    assumption: str = ""
    drawn: bool = False
    extension: Floats | None = None

    @property
    def intervals(self) -> Cells:
        """The cells that the method's model may publish as an interval."""
        return np.flatnonzero((self.end_above != NO_VARIABLE) | (self.end_below != NO_VARIABLE))


class AffineEntries:
    """Coefficients of affine functions, collected one after the other."""

    def __init__(self) -> None:
        self._rows: list[Cells] = []
        self._columns: list[Cells] = []
        self._values: list[Floats] = []

    def add(self, rows: Cells, columns: Cells, values: ArrayLike) -> None:
        self._rows.append(rows)
        self._columns.append(columns)
        self._values.append(np.broadcast_to(np.asarray(values, dtype=np.float64), rows.shape))

    def affine(self, base: Floats, n_variables: int) -> Affine:
        from scipy.sparse import csr_array

        nothing: list[Cells] = [np.zeros(0, dtype=np.int64)]
        rows, columns = np.concatenate(self._rows + nothing), np.concatenate(self._columns + nothing)
        values = np.concatenate([*self._values, np.zeros(0)])
        return Affine(base, csr_array((values, (rows, columns)), shape=(base.size, n_variables)))


class ModelBuilder:
    """Collects variables, windows, rows and loss of one problem."""

    def __init__(self, problem: Problem, draws: Draws | None = None) -> None:
        n = len(problem.table)
        self.problem, self.constant, self.size = problem, 0.0, 0
        self.draws, self.drawn = draws or Draws(), False
        self.scale = choose_scale(problem, find_largest_level(problem), FINE)
        self.switch = np.full(n, NO_SWITCH, dtype=np.int64)
        self._cost: list[Floats] = []
        self._bounds: list[tuple[Floats, Floats]] = []
        self._integer: list[Mask] = []
        self._rows, self._row_bounds, self._n_rows = AffineEntries(), list[tuple[Floats, Floats]](), 0
        self._above, self._below, self._moved = AffineEntries(), AffineEntries(), AffineEntries()
        self._bases = np.zeros((3, n))
        self._shown = np.zeros(n, dtype=bool)
        self._marks = np.zeros(n, dtype=np.uint8)
        self._radius = np.zeros(n, dtype=np.int64)
        self._ends = np.full((2, n), NO_VARIABLE, dtype=np.int64)
        self._requirements = [list_outsider_requirements(problem)]
        self._remarks: dict[str, None] = {}
        self._assumptions = dict[str, None]()
        self._sums: list[KnownSum] = []
        self._extension = np.zeros((2, n))

    @cached_property
    def network(self) -> bool:
        """Whether the equations of the table that a method protects are a network."""
        return Network.of(self.problem.table.equations.matrix.tocsc()) is not None

    def add_variables(
        self,
        count: int,
        cost: ArrayLike,
        upper: ArrayLike = 1.0,
        lower: ArrayLike = 0.0,
        integer: bool = True,
    ) -> Cells:
        """Add variables to a method's model; return their positions."""
        self._cost.append(_broadcast(cost, count))
        self._bounds.append((_broadcast(lower, count), _broadcast(upper, count)))
        self._integer.append(np.full(count, integer))
        self.size += count
        return np.arange(self.size - count, self.size)

    def add_rows(
        self, terms: Sequence[tuple[Cells, ArrayLike]], lower: ArrayLike = -np.inf, upper: ArrayLike = np.inf
    ) -> None:
        """Add rows ``lower <= sum coefficient * variable <= upper`` to a method's model, one per place."""
        count = terms[0][0].size
        rows = np.arange(self._n_rows, self._n_rows + count)
        for columns, coefficients in terms:
            self._rows.add(rows, columns, coefficients)
        self._row_bounds.append((_broadcast(lower, count), _broadcast(upper, count)))
        self._n_rows += count

    def limit_sum(self, columns: Cells, least: float, most: float) -> None:
        """Add one row ``least <= sum of variables <= most`` to a method's model."""
        self._rows.add(np.full(columns.size, self._n_rows), columns, 1.0)
        self._row_bounds.append((np.array([least]), np.array([most])))
        self._n_rows += 1

    def add_switches(self, cells: Cells, switches: Cells) -> None:
        """Make binary variables of a method's model the switches that suppress some cells."""
        self.switch[cells] = switches

    def add_intervals(self, cells: Cells, above: Cells, below: Cells) -> None:
        """Let a method publish cells as intervals whose ends are variables in ``scale`` units."""
        self._marks[cells] = Mark.INTERVAL
        self._ends[0, cells], self._ends[1, cells] = above, below
        self._above.add(cells, above, self.scale)
        self._below.add(cells, below, self.scale)

    def show_numbers(self, cells: Cells, mark: Mark, radius: Units, moved: ArrayLike = 0.0) -> None:
        """Let a method publish numbers ``a + moved`` with a radius; see also :meth:`move_numbers`."""
        self._marks[cells], self._radius[cells], self._shown[cells] = mark, radius, True
        self._bases[0, cells] = radius + np.asarray(moved)
        self._bases[1, cells] = radius - np.asarray(moved)
        self._bases[2, cells] = moved

    def move_numbers(self, cells: Cells, columns: Cells, units: ArrayLike) -> None:
        """Move the numbers that a method publishes, and their windows, by ``units`` times a variable."""
        amount = np.asarray(units, dtype=np.float64)
        self._above.add(cells, columns, amount)
        self._below.add(cells, columns, -amount)
        self._moved.add(cells, columns, amount)

    def close_windows(self, cells: Cells) -> None:
        """Remove the windows of numbers that a method publishes; :meth:`open_windows` adds them again."""
        self._bases[:2, cells] = 0.0

    def open_windows(self, cells: Cells, columns: Cells, radius: Units) -> None:
        """Add windows of a radius to cells of a method's model where a variable is 1."""
        self._above.add(cells, columns, radius)
        self._below.add(cells, columns, radius)

    def add_requirements(self, requirements: Requirements) -> None:
        """Add protection requirements to a method's model, such as some that a variable switches on."""
        self._requirements.append(requirements)

    def add_remark(self, text: str, assumption: str = "") -> None:
        """Add a method's remark to the outcome, once, and an assumption that protection rests on."""
        self._remarks[text] = None
        self._assumptions |= dict.fromkeys(filter(None, [assumption]))

    def extend_ends(self, cells: Cells) -> None:
        """Let the ends of a method's intervals of some cells be moved further out by random amounts."""
        self._extension[:, cells] = draw_extensions(self.draws, len(self.problem.table))[:, cells]

    def add_known_sum(self, known: KnownSum) -> None:
        """Add a sum of cells that readers of a method's release know better than windows imply."""
        self._sums.append(known)

    def build(self) -> ReleaseModel:
        """Return the method's model for the engine, with the equations of published numbers."""
        closed = (self.switch == NO_SWITCH) & (self._ends == NO_VARIABLE).all(axis=0) & (self._radius == 0)
        refuse_published_secrets(self.problem, closed)
        moved = self._moved.affine(self._bases[2], self.size)
        self._add_equations(moved)
        rows = self._rows.affine(np.zeros(self._n_rows), self.size).matrix
        nothing = np.zeros(0)
        lower, upper = (np.concatenate([*(b[k] for b in self._bounds), nothing]) for k in (0, 1))
        row_lower, row_upper = (np.concatenate([*(b[k] for b in self._row_bounds), nothing]) for k in (0, 1))
        model = Model(
            cost=np.concatenate([*self._cost, nothing]),
            lower=lower,
            upper=upper,
            rows=rows,
            row_lower=row_lower,
            row_upper=row_upper,
            integer=np.concatenate([*self._integer, np.zeros(0, dtype=bool)]),
            problem=self.problem,
            above=self._above.affine(self._bases[0], self.size),
            below=self._below.affine(self._bases[1], self.size),
            switch=self.switch,
            requirements=Requirements.join(self._requirements),
            constant=self.constant,
        )
        return ReleaseModel(
            model,
            self._marks,
            self._radius,
            moved,
            self._ends[0],
            self._ends[1],
            self.scale,
            self.network,
            tuple(self._remarks),
            tuple(self._sums),
            "; ".join(self._assumptions),
            self.drawn,
            self._extension if self._extension.any() else None,
        )

    def _add_equations(self, moved: Affine) -> None:
        from scipy.sparse import csr_array

        equations = self.problem.table.equations
        others = np.bincount(equations.row_of_entry, ~self._shown[equations.cells], len(equations))
        numbers = csr_array(equations.matrix[np.flatnonzero(others == 0)].astype(np.float64))
        rows, rest = csr_array(numbers @ moved.matrix), -(numbers @ moved.base)
        rows.eliminate_zeros()
        lengths = np.diff(rows.indptr)
        kept = np.flatnonzero((lengths > 0) | (rest != 0))
        of_entry = np.repeat(np.arange(lengths.size), lengths)
        # Rows are divided by the greatest common divisor of their coefficients, for solvers.
        divisor = np.zeros(lengths.size, dtype=np.int64)
        np.gcd.at(divisor, of_entry, np.abs(rows.data).astype(np.int64))
        divisor = np.maximum(divisor, 1)
        place = np.full(lengths.size, -1)
        place[kept] = self._n_rows + np.arange(kept.size)
        self._rows.add(place[of_entry], rows.indices.astype(np.int64), rows.data / divisor[of_entry])
        even = rest[kept] / divisor[kept]
        self._row_bounds.append((even, even))
        self._n_rows += kept.size


def refuse_published_secrets(problem: Problem, open_cells: Mask) -> None:
    """Raise an error if a method would publish, as it is, a cell that must be hidden."""
    if (wrong := np.flatnonzero(problem.must_hide & open_cells)).size:
        raise InfeasibleError(
            "must be hidden, but the method publishes it as it is",
            place=problem.table.structure.names(wrong),
            remedy="choose other options or another method for it",
        )


class PartialMethod(Protocol):
    """A method that can be applied to some of the cells."""

    def add_to_model(self, builder: ModelBuilder, cells: Mask) -> None:
        """Add the method's variables, windows, rows and loss for some cells to a model."""


def build_alone(method: PartialMethod, problem: Problem, draws: Draws | None = None) -> ReleaseModel:
    """Return the engine's model of one protection method that has all cells."""
    builder = ModelBuilder(problem, draws)
    method.add_to_model(builder, np.ones(len(problem.table), dtype=bool))
    return builder.build()


def _broadcast(value: ArrayLike, count: int) -> Floats:
    return np.broadcast_to(np.asarray(value, dtype=np.float64), count).copy()
