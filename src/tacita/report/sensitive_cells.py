"""The sensitive cells of an audited release, one by one, each against its worst attacker.

For cell ``p`` with value ``a`` the row holds LPL, UPL, SPL, what the attacker knew beforehand, the interval
``[low, high]`` that they deduce, and the verdict over all attackers. Against an insider the interval is the
part of it that the audit needed: an end that meets its level may lie farther out. All of it is internal.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf, isfinite, isnan, nan

import numpy as np

from tacita.auditing.audit import Audit
from tacita.auditing.block_tasks import EXACT, UNPROVEN, UNSAFE, Answers, describe_bits
from tacita.auditing.deduce import Deduction
from tacita.core.exact import UNBOUNDED, Cells, Mask
from tacita.report.interval_picture import draw_interval


@dataclass(frozen=True)
class SensitiveCell:
    """A sensitive cell against its worst attacker; numbers are plain, levels are amounts."""

    cell: int
    name: str
    value: float
    lower: float
    upper: float
    sliding: float
    low: float
    high: float
    known: tuple[float, float]
    attacker: str
    bits: int

    @property
    def verdict(self) -> str:
        return describe_bits(self.bits)

    @property
    def picture(self) -> str:
        """The SVG picture of this cell's deduced interval and its levels, for reports."""
        return draw_interval(
            self.low, self.high, self.value, self.lower, self.upper, self.known, self.sliding
        )

    @property
    def room(self) -> tuple[float, float]:
        """How far the deduced interval reaches below and above the value, over how far it must: at least 1
        each if the cell is protected; infinite where no distance is required, NaN if it is not computed.
        """
        below = _divide(self.value - self.low, max(self.lower, 0.0))
        return below, _divide(self.high - self.value, max(self.upper, 0.0))

    @property
    def relative_picture(self) -> str:
        """The SVG picture of the interval for reports, as multiples of the required distance: the value and
        its levels are not in it.
        """
        unit = max(self.lower, self.upper, self.sliding) or 1.0
        below, above = (_format_multiple(times) for times in self.room)
        return draw_interval(
            (self.low - self.value) / unit,
            (self.high - self.value) / unit,
            0.0,
            self.lower / unit,
            self.upper / unit,
            ((self.known[0] - self.value) / unit, (self.known[1] - self.value) / unit),
            self.sliding / unit,
            text=f"{self.name}: {self.verdict}; below {below}, above {above}",
        )

    @property
    def room_texts(self) -> tuple[str, str]:
        """The room below and above as words for reports: ``3.2 × required``."""
        below, above = self.room
        return _format_multiple(below), _format_multiple(above)


def _divide(reach: float, required: float) -> float:
    return reach / required if required else (nan if isnan(reach) else inf)


def _format_multiple(times: float) -> str:
    if isnan(times):
        return "not computed"
    return f"{times:.3g} × required" if isfinite(times) else "as far as required"


class SensitiveCells:
    """The sensitive cells of an audit, computed when they are used.

    Parameters
    ----------
    audit
        The verdicts.
    intervals
        What the outsider deduces for sensitive cells that are hidden.
    """

    def __init__(self, audit: Audit, intervals: Deduction) -> None:
        self._audit, self._intervals = audit, intervals
        self._place = {cell: k for k, cell in enumerate(intervals.cells.tolist())}
        self._order = {cell: k for k, cell in enumerate(audit.problem.sensitive.tolist())}

    @property
    def cells(self) -> Cells:
        """The positions of all sensitive cells that the report lists, in the order of the table."""
        return self._audit.problem.sensitive

    @property
    def unsafe(self) -> Mask:
        """A mask of the sensitive cells in the report that the audit did not prove safe."""
        return np.asarray(self._audit.worst != 0)

    @cached_property
    def _accused(self) -> dict[int, tuple[Answers, int]]:
        """For each unsafe cell in the report, the answers on its worst attacker, and its place in them."""
        found: dict[int, tuple[Answers, int]] = {}
        for answers in self._audit.answers:
            for t in np.flatnonzero(answers.bits).tolist():
                cell = int(answers.cells[t])
                known = found.get(cell)
                if known is None or _rank_severity(int(answers.bits[t])) > _rank_severity(
                    int(known[0].bits[known[1]])
                ):
                    found[cell] = answers, t
        return found

    def __len__(self) -> int:
        return int(self.cells.size)

    def build_row(self, cell: int) -> SensitiveCell:
        """Return the report's row on a sensitive cell: levels, interval, worst attacker, verdict."""
        problem = self._audit.problem
        table, levels = problem.table, problem.levels
        unit = 10.0**table.decimals
        need = [int(level[cell]) for level in (levels.lower, levels.upper, levels.sliding)]
        insider, attacker = None, problem.outsider.name
        low, high = self._find_outsider_interval(cell)
        if cell in self._accused and (accused := self._accused[cell][0]).insider is not None:
            t, insider, attacker = self._accused[cell][1], accused.insider, accused.attacker
            own, own_levels = insider.own_targets()
            if (own == cell).any():
                need = own_levels[:, own == cell][:, 0].tolist()
            value = float(table.values[cell])
            low, high = value - float(accused.below[t]) / unit, value + float(accused.above[t]) / unit
        before, after = problem.bounds_at(insider, np.array([cell]))
        known = (
            -inf if before[0] <= -UNBOUNDED else float(before[0]) / unit,
            inf if after[0] >= UNBOUNDED else float(after[0]) / unit,
        )
        lower, upper, sliding = (level / unit for level in need)
        return SensitiveCell(
            cell,
            table.name(cell),
            float(table.values[cell]),
            lower,
            upper,
            sliding,
            low,
            high,
            known,
            attacker,
            int(self._audit.worst[self._order[cell]]),
        )

    def _find_outsider_interval(self, cell: int) -> tuple[float, float]:
        """Return the outsider's interval for a report: one value if published, NaN if not computed."""
        if (place := self._place.get(cell)) is not None:
            return float(self._intervals.low[place]), float(self._intervals.high[place])
        if self._audit.release.hidden[cell]:
            return nan, nan
        value = float(self._audit.problem.table.values[cell])
        return value, value


def _rank_severity(bits: int) -> int:
    return 4 * bool(bits & EXACT) + 2 * bool(bits & UNSAFE) + bool(bits & UNPROVEN)
