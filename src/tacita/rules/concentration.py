"""Rules that look at the largest contributions: dominance, p%, (p,q) and linear sensitivity measures.

They are one family. With contributions ``x_1 >= x_2 >= ...`` to a cell of total ``X``, weights
``w_1 >= .. >= w_m >= 0`` and ``c > 0``, a cell is sensitive iff

    S = w_1 x_1 + .. + w_m x_m - c X > 0        (strict)

and its upper protection level is ``UPL = S / c``: the smallest amount ``u`` such that the cell would be safe
if its total were ``X + u`` with the same large contributions, since ``w x - c (X + u) <= 0`` iff
``u >= S / c``. ``LPL = UPL`` by symmetry, capped at the value. Where contributions can be negative, ``x`` and
``X`` are made of absolute values.

The contributor in first place is the one who is protected; those after it stand for the others who might
attack together.

*Waivers.* Contributors who have consented need no protection: the largest one who has not takes the first
place, the others follow in order. A cell where nobody is left to protect is safe. If the largest one who has
not consented is too small to be among the stored contributions, its largest possible contribution is taken;
tabulate with a larger ``largest=`` to know it.

*Insiders.* An attacker who put ``s`` into the cell attacks the largest other contributor ``x_t``, with the
largest others as partners where the measure has places for them. They have ``s`` to subtract in any case, so
that

    UPL = (w_1 x_t + max(w_2, c) s + w_3 y_1 + w_4 y_2 + .. - c X) / c

with ``y`` the remaining contributions; for p% this is ``p/100 x_t - (X - x_t - s)``. There is no
requirement for cells where this is not positive.

*Shadow.* Where the table has a shadow variable, ``x`` and ``X`` are contributions to that one, and levels
keep their proportion to the total: a cell of value ``a`` has ``UPL = |a| S / (c X)``. It holds against
insiders as it does against everyone, as no insider who follows the rule needs more.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tacita.core import exact
from tacita.core.arithmetic import (
    Number,
    add_scaled,
    ceil_to_unit,
    format_parameter,
    refuse_share,
    require_integer,
    require_number,
    to_fraction,
    to_integer_ratio,
)
from tacita.core.errors import RuleError
from tacita.core.exact import Cells, Mask, Units
from tacita.core.levels import Levels
from tacita.core.tables.contributions import Contributions
from tacita.core.tables.table import Table
from tacita.core.words import pluralize
from tacita.rules.protection import build_levels, compute_percentages
from tacita.rules.rule import (
    HOLDING,
    RESPONDENT,
    ContributorRule,
    Inside,
    OwnLevels,
    Rule,
    find_contributions,
    list_parts,
    require_contributions,
)


@dataclass(frozen=True, kw_only=True)
class Concentration(ContributorRule):
    """A linear sensitivity measure; see the head of this file."""

    @abstractmethod
    def measure(self) -> tuple[tuple[Fraction, ...], Fraction]:
        """Return the weights and the cell weight of the sensitivity rule: ``(w_1, .., w_m), c``."""

    @abstractmethod
    def explain_numbers(self, first: str, rest: str, largest: str, total: str) -> str:
        """Return why a cell is sensitive.

        The numbers are ``x_1``, ``X - x_1 - .. - x_m``, ``x_1 + .. + x_m`` and ``X``.
        """

    def require_table(self, table: Table) -> None:
        self._contributions(table)

    def levels(self, table: Table) -> Levels:
        contributions = self._contributions(table)
        *weights, c = self._integer_measure()
        m = len(weights)
        excess = add_scaled([*contributions.values.T[:m], contributions.sums], [*weights, -c])
        waived = self.find_waived(contributions)
        if waived.any():
            # A waiver puts a smaller contribution first, so S can only fall: other cells are decided.
            open_cells = np.flatnonzero(waived[:, 0] & (excess > 0))
            excess = excess.copy()
            excess[open_cells] = self._excess_with_waivers(contributions, open_cells, waived)
        hit = np.asarray(excess > 0)
        upper = np.zeros(len(table), dtype=np.int64)
        if table.shadow is None:
            upper[hit] = ceil_to_unit(excess[hit], c, table.unit)
        else:
            # In Python integers, since a product of two values may need more than 63 bits.
            total = np.maximum(contributions.sums[hit], 1).astype(object)
            amount = excess[hit].astype(object) * np.abs(table.units[hit])
            upper[hit] = ceil_to_unit(amount, c * total, table.unit)

        def explain(cell: int) -> str:
            return self._explain(table, contributions, cell)

        return build_levels(table, self.text, hit, upper, self.protection, explain)

    def levels_against(self, table: Table, inside: Inside) -> OwnLevels:
        if inside.by != self.by or table.shadow is not None:
            return super().levels_against(table, inside)
        contributions = self._contributions(table)
        *weights, c = self._integer_measure()
        cells = inside.cells
        allowed = ~inside.mine & ~self.find_waived(contributions)[cells]
        target, others = _split_target(contributions, cells, allowed, inside.mine, len(weights))
        own = max(c, weights[1]) if len(weights) > 1 else c
        partners = list(others.T[: len(weights) - 2]) if len(weights) > 2 else []
        excess = add_scaled(
            [target, inside.known, *partners, contributions.sums[cells]], [weights[0], own, *weights[2:], -c]
        )
        hit = np.asarray(excess > 0) & (target > 0) & self.levels(table).sensitive[cells]
        lower = upper = np.where(hit, ceil_to_unit(excess, c, table.unit), 0)
        if self.protection is not None:
            lower, upper = (
                np.where(hit, level[cells], 0) for level in compute_percentages(table, self.protection)
            )
        return lower, upper, np.zeros_like(upper)

    def _integer_measure(self) -> list[int]:
        weights, c = self.measure()
        return to_integer_ratio([*weights, c])

    def _contributions(self, table: Table) -> Contributions:
        contributions, needed = require_contributions(table, self.by, self.text), len(self.measure()[0])
        if contributions.depth < needed:
            raise RuleError(
                f"{self.text} looks at {pluralize(needed, 'largest contribution')} of each cell, the table "
                f"holds {contributions.depth}",
                remedy=f"tabulate with the {needed} largest",
            )
        return contributions

    def _excess_with_waivers(self, contributions: Contributions, cells: Cells, waived: Mask) -> NDArray[Any]:
        *weights, c = self._integer_measure()
        nobody = np.zeros((cells.size, contributions.depth), dtype=bool)
        target, others = _split_target(contributions, cells, ~waived[cells], nobody, len(weights))
        partners = list(others.T[: len(weights) - 1])
        excess = add_scaled([target, *partners, contributions.sums[cells]], [*weights, -c])
        return np.where(target > 0, excess, 0)

    def _explain(self, table: Table, contributions: Contributions, cell: int) -> str:
        m, at = len(self.measure()[0]), np.array([cell])
        first, total = int(contributions.values[cell, 0]), int(contributions.sums[cell])
        largest = int(contributions.values[cell, :m].sum())
        consent = ""
        waived = self.find_waived(contributions)
        if waived[cell, 0]:
            allowed = ~waived[at]
            target, others = _split_target(contributions, at, allowed, np.zeros_like(allowed), m)
            first, largest = int(target[0]), int(target[0] + others[0, : m - 1].sum())
            consent = "; x_1 is the largest who has not consented"
        decimals = table.decimals if table.shadow is None else table.shadow.decimals
        numbers = (exact.to_text(n, decimals) for n in (first, total - largest, largest, total))
        of = "" if table.shadow is None else f"; amounts are of {table.shadow.name}"
        return self.explain_numbers(*numbers) + consent + of


def _split_target(
    contributions: Contributions, cells: Cells, allowed: Mask, mine: Mask, places: int
) -> tuple[Units, Units]:
    """Return the largest contribution to protect, of those ``allowed`` marks, and others' without ``mine``.

    What lies beyond the stored contributions is taken as large as it can be: each at most the smallest stored
    one, together at most what is left of the total.
    """
    values = contributions.values[cells]
    left = contributions.sums[cells] - values.sum(axis=1)
    unseen = np.zeros((cells.size, places), dtype=np.int64)
    for r in range(places):
        unseen[:, r] = np.minimum(values[:, -1], left)
        left = left - unseen[:, r]
    everyone = np.hstack([values, unseen])
    candidates = np.hstack([np.where(allowed, values, 0), unseen])
    rows, at = np.arange(cells.size), candidates.argmax(axis=1)
    target = candidates[rows, at]
    others = np.hstack([np.where(mine, 0, values), everyone[:, values.shape[1] :]])
    others[rows, at] = np.where(target > 0, 0, others[rows, at])
    return target, -np.sort(-others, axis=1)


@dataclass(frozen=True)
class Dominance(Concentration):
    """``x_1 + .. + x_n > k/100 X``: the ``n`` largest hold more than ``k`` percent (strict).

        UPL = 100/k (x_1 + .. + x_n) - X

    See :class:`ContributorRule` for ``by``, ``protection`` and ``waivers``.
    """

    does: ClassVar[str] = "Sensitive: cells of which the n largest contributors hold more than k percent."
    usual: ClassVar[str] = (
        "Usual for amounts in offices that have long had it; p-percent compares contributors more directly."
    )
    example: ClassVar[str] = "dominance(1, 75)"

    n: int = field(metadata={"help": "how many of the largest contributors"})
    k: Number = field(metadata={"help": "percentage of the cell that they may hold"})

    def __post_init__(self) -> None:
        super().__post_init__()
        require_integer(self.text, "n", self.n)
        require_number(self.text, "k", self.k, 0, 100)
        refuse_share(self.text, "k", self.k)
        if self.n > self.k:
            k = format_parameter(self.k)
            raise RuleError(
                f"the {self.n} largest may hold no more than {k} %",
                place=self.text,
                remedy=f"n comes first, then the percentage k; did you mean ({k}, {self.n})?",
            )

    @property
    def text(self) -> str:
        return f"({self.n},{format_parameter(self.k)}) dominance{self._suffix()}"

    def measure(self) -> tuple[tuple[Fraction, ...], Fraction]:
        return (Fraction(1),) * self.n, to_fraction(self.k) / 100

    def explain_numbers(self, first: str, rest: str, largest: str, total: str) -> str:
        return f"the {self.n} largest hold {largest} of {total}, more than {format_parameter(self.k)} %"


@dataclass(frozen=True)
class PPercent(Concentration):
    """``X - x_1 - x_2 < p/100 x_1``: the second largest knows the largest to within ``p`` percent (strict).

        UPL = p/100 x_1 - (X - x_1 - x_2)

    With a coalition of ``n`` attackers ``x_2 + .. + x_{n+1}`` takes the place of ``x_2``. See
    :class:`ContributorRule` for ``by``, ``protection`` and ``waivers``.
    """

    does: ClassVar[str] = (
        "Sensitive: cells where the second largest contributor can estimate the largest to within p percent."
    )
    usual: ClassVar[str] = "Usual for turnover and other amounts, with p between 5 and 20."
    example: ClassVar[str] = "p-percent(10)"

    p: Number = field(metadata={"help": "percentage to which the largest may not be known"})
    n: int = field(default=1, metadata={"help": "contributors who attack together"})

    def __post_init__(self) -> None:
        super().__post_init__()
        require_number(self.text, "p", self.p, 0)
        refuse_share(self.text, "p", self.p, f"linear([{float(1 + to_fraction(self.p) / 100):.15g}, 1])")
        require_integer(self.text, "n", self.n)

    @property
    def text(self) -> str:
        coalition = f", {self.n} attackers" if self.n != 1 else ""
        return f"p% ({format_parameter(self.p)}{coalition}){self._suffix()}"

    def measure(self) -> tuple[tuple[Fraction, ...], Fraction]:
        return (1 + to_fraction(self.p) / 100, *[Fraction(1)] * self.n), Fraction(1)

    def explain_numbers(self, first: str, rest: str, largest: str, total: str) -> str:
        share = f"{format_parameter(self.p)} % of x_1 = {first}"
        return f"the {self.n + 1} largest leave {rest} of {total}, less than {share}"


@dataclass(frozen=True)
class PQ(Concentration):
    """``q/100 (X - x_1 - x_2) < p/100 x_1``, with ``p < q <= 100``: who knows each contribution to within
    ``q`` percent beforehand learns the largest to within ``p`` percent (strict).

        UPL = p/q x_1 - (X - x_1 - x_2)

    ``q = 100`` is the p% rule. See :class:`ContributorRule` for ``by``, ``protection`` and ``waivers``.
    """

    does: ClassVar[str] = (
        "Sensitive: cells where who knows every contribution to within q percent learns the largest to "
        "within p percent."
    )
    usual: ClassVar[str] = "For amounts that readers can guess roughly beforehand."
    example: ClassVar[str] = "pq(10, 50)"

    p: Number = field(metadata={"help": "percentage to which the largest may not be known"})
    q: Number = field(metadata={"help": "percentage to which everyone knows each contribution before"})

    def __post_init__(self) -> None:
        super().__post_init__()
        require_number(self.text, "p", self.p, 0)
        require_number(self.text, "q", self.q, 0, 100)
        refuse_share(self.text, "p", self.p)
        if not self.p < self.q:
            fault = "p must be smaller than q; who knows more beforehand learns nothing new"
            raise RuleError(fault, place=self.text)

    @property
    def text(self) -> str:
        return f"pq ({format_parameter(self.p)},{format_parameter(self.q)}){self._suffix()}"

    def measure(self) -> tuple[tuple[Fraction, ...], Fraction]:
        return (1 + to_fraction(self.p) / to_fraction(self.q), Fraction(1)), Fraction(1)

    def explain_numbers(self, first: str, rest: str, largest: str, total: str) -> str:
        return (
            f"the 2 largest leave {rest} of {total}; {format_parameter(self.q)} % of that is less than "
            f"{format_parameter(self.p)} % of x_1 = {first}"
        )


@dataclass(frozen=True)
class LinearSensitivity(Concentration):
    """``w_1 x_1 + .. + w_m x_m - c X > 0``: any subadditive linear measure, ``w_1 >= .. >= w_m >= 0`` and
    ``c > 0`` (strict).

        UPL = S / c

    Weights that do not increase make the measure subadditive: the union of two safe cells is safe.
    ``weights=(1.1, 1)`` with ``cell_weight=1`` is the p% rule with p = 10. See :class:`ContributorRule` for
    ``by``, ``protection`` and ``waivers``.
    """

    does: ClassVar[str] = (
        "Sensitive: cells whose largest contributions, weighted, exceed the weighted value of the cell."
    )
    usual: ClassVar[str] = "For a rule of the office's own; p-percent, pq and dominance are of this kind."
    example: ClassVar[str] = "linear([1.1, 1])"

    weights: Sequence[Number] = field(
        metadata={"help": "weights of the largest contributions, none above the one before"}
    )
    cell_weight: Number = field(default=1, metadata={"help": "weight of the value of the cell"})

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", tuple(self.weights))
        super().__post_init__()
        require_number(self.text, "cell_weight", self.cell_weight, 0)
        falling = all(a >= b for a, b in zip(self.weights, self.weights[1:], strict=False))
        if not self.weights or not falling or self.weights[-1] < 0:
            raise RuleError(
                "weights must be one or more numbers, none negative and none larger than the one before, or "
                "merging two safe cells could make an unsafe one",
                place=self.text,
            )

    @property
    def text(self) -> str:
        weights = ", ".join(map(format_parameter, self.weights))
        return f"linear ({weights}; {format_parameter(self.cell_weight)}){self._suffix()}"

    def measure(self) -> tuple[tuple[Fraction, ...], Fraction]:
        return tuple(map(to_fraction, self.weights)), to_fraction(self.cell_weight)

    def explain_numbers(self, first: str, rest: str, largest: str, total: str) -> str:
        more = f"more than {format_parameter(self.cell_weight)} x {total}"
        return f"the {len(self.weights)} largest, {largest} in all, weigh {more}"


def find_unheeded_holdings(rule: Rule, table: Table) -> tuple[str, ...]:
    """Return a warning where a table names holdings, and its rules on amounts look at respondents alone."""
    looks_at = {part.by for part in list_parts(rule) if isinstance(part, Concentration)}
    if find_contributions(table, HOLDING) is None or looks_at != {RESPONDENT}:
        return ()
    return (
        "the records name holdings, and no rule on amounts looks at them, so that a holding with the largest "
        "contributions of a cell is not seen: add by=holding, as in p-percent(10, by=holding)",
    )
