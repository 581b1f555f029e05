"""The problem that methods solve and the audit judges: a table with its levels, attackers and costs.

Before anything is solved the problem itself is checked. For each attacker ``k`` and each sensitive cell ``p``

    lower_kp <= a_p - LPL,    a_p + UPL <= upper_kp,    upper_kp - lower_kp >= SPL,

since no release takes from attackers what they knew before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import ArrayLike

from tacita.attackers.considered import Considered
from tacita.attackers.insider_list import InsiderList
from tacita.attackers.insiders import AttackerLike, find_insiders, find_outsider, list_attackers
from tacita.core import exact
from tacita.core.attacker import Insider, Outsider, refuse_negative
from tacita.core.errors import BoundsError, InputError, LevelsError, and_others, issue_warnings
from tacita.core.exact import UNBOUNDED, Cells, Floats, Mask, Units, freeze
from tacita.core.levels import Levels
from tacita.core.notebook import show_cells
from tacita.core.release import Release
from tacita.core.run import LOG, Run
from tacita.core.tables.cell_selection import CellList, read_cells
from tacita.core.tables.table import Table
from tacita.core.windows import intersect_windows, note_unshared
from tacita.core.words import pluralize
from tacita.problem.costs import find_costs
from tacita.rules import Rule, parse_rule
from tacita.rules.concentration import find_unheeded_holdings
from tacita.rules.marks import find_unheeded_requests
from tacita.rules.protection import cap_levels, find_doubtful_percentages

LEVELS = ("lower protection level", "upper protection level", "sliding protection level")


@dataclass(frozen=True, eq=False, init=False)
class Problem:
    """A table with its levels, its attackers and its costs; immutable.

    Parameters
    ----------
    table
        The table to protect.
    rule
        A rule (or several joined with ``|``), its written form such as ``"threshold(3)"``, or levels.
    attackers
        ``"outsider"``, ``"respondents"``, ``"holdings"``, an :class:`Outsider`, :class:`Coalition` s,
        :class:`Insider` s, or a list of these. An outsider is always among them. Unless one of the three
        words says otherwise, so is everyone whom the table knows to contribute, respondents and holdings:
        ``"outsider"`` leaves them out.
    cost
        What hiding or changing a cell costs: ``"value"``, ``"unit"`` (1 each), ``"log"`` (log(1 + value)),
        ``"percent"`` (of all that is not a total), ``"count"``, ``"distance"`` (1 for sensitive cells, 2 for
        those in a sum with one, and so on), the name of a column, or one number per cell.
    must_publish, must_hide
        Cells that a method must leave as they are, or must hide: by mask, by codes or by position (see
        :mod:`tacita.core.tables.cell_selection`).
    already_published
        Releases of this table, or of tables that share cells with it, that readers may have: everyone knows
        what they say (see :mod:`tacita.core.windows`).

    Attributes
    ----------
    outsider
        What everyone knows, ``already_published`` included.
    outsider_beforehand
        What everyone would know without ``already_published``.
    exempt
        Cells that a rule or a mark hits, and that are not sensitive as they were declared safe by hand.
    considered
        How many attackers of each kind are considered; ``insiders`` lacks those whom another one implies.
    given_attackers
        The attackers as they were given, without the outsider's bounds.
    warnings
        Warnings of the table, of the rule and of the attackers. All but the table's are issued as
        :class:`TacitaWarning` too.
    """

    table: Table
    levels: Levels
    outsider: Outsider
    insiders: InsiderList
    considered: Considered
    given_attackers: tuple[AttackerLike, ...]
    cost: Floats
    must_publish: Mask
    must_hide: Mask
    exempt: Mask
    rule: Rule | None
    already_published: tuple[Release, ...]
    outsider_beforehand: Outsider
    warnings: tuple[str, ...]

    def __init__(
        self,
        table: Table,
        rule: Rule | Levels | str,
        attackers: AttackerLike | Sequence[AttackerLike] | None = None,
        cost: str | ArrayLike = "value",
        must_publish: CellList = (),
        must_hide: CellList = (),
        already_published: Release | Iterable[Release] = (),
    ) -> None:
        rule = _read_rule(table, rule)
        own_rule = None if isinstance(rule, Levels) else rule
        if isinstance(rule, Levels):
            _refuse_broken_levels(table, rule)
        # Levels are not capped at what an earlier release leaves possible: it must not lower them silently.
        given = list_attackers(attackers)
        outsider = _add_structural_zeros(table, find_outsider(table, given))
        earlier = (already_published,) if isinstance(already_published, Release) else tuple(already_published)
        levels = (
            cap_levels(rule, table, outsider)
            if isinstance(rule, Levels)
            else rule.required_levels(table, outsider)
        )
        _refuse_broken_levels(table, levels)
        insiders, considered = find_insiders(table, own_rule, levels, outsider, given)
        own_warnings = (*considered.warnings, *find_doubtful_percentages(levels, table, outsider))
        exempt = np.zeros(len(table), dtype=bool)
        if own_rule is not None:
            unheeded = (*find_unheeded_requests(own_rule, table), *find_unheeded_holdings(own_rule, table))
            own_warnings = (*own_rule.warnings(table), *unheeded, *own_warnings)
            exempt = own_rule.exempt_cells(table)
        self._set(
            table=table,
            levels=levels,
            outsider=_add_releases(table, outsider, earlier),
            insiders=insiders,
            considered=considered,
            given_attackers=tuple(a for a in given if not isinstance(a, Outsider)),
            cost=freeze(find_costs(table, cost, levels.sensitive)),
            must_publish=freeze(read_cells(table, must_publish, "must_publish")),
            must_hide=freeze(read_cells(table, must_hide, "must_hide")),
            exempt=freeze(exempt),
            rule=own_rule,
            already_published=earlier,
            outsider_beforehand=outsider,
            warnings=(*table.warnings, *own_warnings),
        )
        issue_warnings(own_warnings)

    def __repr__(self) -> str:
        sensitive = pluralize(len(self.levels), "sensitive cell")
        return f"Problem({self.table!r}, {sensitive}, against {self.considered.text})"

    def _repr_html_(self) -> str:
        """Return the problem's true table as HTML for notebooks; sensitive cells have a star."""
        title, shown = f"{self!r}; * is sensitive", self.table
        return show_cells(shown.structure, shown.text, title, self.levels.sensitive)

    @property
    def sensitive(self) -> Cells:
        """The positions of the sensitive cells in the problem's table."""
        return self.levels.cells

    @property
    def attackers(self) -> tuple[str, ...]:
        """The names of the attackers of the problem, the outsider first."""
        return (self.outsider.name, *self.insiders.names)

    @property
    def published_notes(self) -> tuple[str, ...]:
        """Notes on earlier releases that also list cells which the problem's table does not have."""
        return tuple(note_unshared(self.table, self.already_published))

    def with_published(self, releases: Iterable[Release]) -> Problem:
        """Return the same problem for readers who have further releases."""
        earlier = (*self.already_published, *releases)
        outsider = _add_releases(self.table, self.outsider_beforehand, earlier)
        return self._replace(outsider=outsider, already_published=earlier)

    def with_warnings(self, warnings: Iterable[str]) -> Problem:
        """Return the same problem with further warnings, of whoever posed it; they are issued."""
        further = tuple(warnings)
        issue_warnings(further)
        return self._replace(warnings=(*self.warnings, *further)) if further else self

    def with_hidden(self, cells: Mask) -> Problem:
        """Return the same problem in which these cells must be hidden, too."""
        return self._replace(must_hide=freeze(self.must_hide | cells))

    def with_everyone_knowing(self, lower: Units, upper: Units) -> Problem:
        """Return the same problem in which everyone also knows that cells lie within these bounds.

        Raises
        ------
        LevelsError, BoundsError
            The bounds are false, or narrower than levels.
        """
        low, high = np.maximum(self.outsider.lower, lower), np.minimum(self.outsider.upper, upper)
        return self._replace(outsider=replace(self.outsider, lower=low, upper=high))

    def _replace(self, **changed: object) -> Problem:
        """Return the same problem with other fields, checked."""
        problem = object.__new__(Problem)
        problem._set(**{field.name: getattr(self, field.name) for field in fields(self)} | changed)
        return problem

    def _set(self, **values: object) -> None:
        """Set the fields of a new problem and refuse those that contradict each other."""
        for name, value in values.items():
            object.__setattr__(self, name, value)
        self._check()

    def requirements(self) -> Iterator[AttackerLevels]:
        """Yield the protection levels that hold against each attacker of the problem, the outsider first."""
        yield self.against_everyone()
        for insider in self.insiders:
            yield self.against(insider, self.sensitive)

    def against_everyone(self) -> AttackerLevels:
        """Return the protection levels that hold against the outsider, with their cells."""
        at, levels = self.sensitive, self.levels
        each = levels.lower[at], levels.upper[at], levels.sliding[at]
        return AttackerLevels(self.outsider.name, None, at, *each)

    def against(self, insider: Insider, sensitive: Cells) -> AttackerLevels:
        """Return the protection levels that hold against an insider: their own, and unless they have only
        these, the problem's in ``sensitive`` cells.
        """
        own, own_levels = insider.own_targets()
        common = np.zeros(0, dtype=np.int64)
        if insider.targets is None or insider.also_others:
            not_common = np.concatenate([own, insider.cells[insider.knows_exactly()]])
            common = sensitive[~np.isin(sensitive, not_common)]
        attacked = own_levels.any(axis=0)
        cells = np.concatenate([own[attacked], common])
        order = np.argsort(cells, kind="stable")
        problem_levels = (self.levels.lower, self.levels.upper, self.levels.sliding)
        lower, upper, sliding = (
            np.concatenate([theirs[attacked], everyones[common]])[order]
            for theirs, everyones in zip(own_levels, problem_levels, strict=True)
        )
        return AttackerLevels(insider.name, insider, cells[order], lower, upper, sliding)

    def bounds_at(self, insider: Insider | None, cells: Cells) -> tuple[Units, Units]:
        """Return the lower and upper bounds that an attacker knows of some cells beforehand, in units."""
        low, high = self.outsider.lower[cells].copy(), self.outsider.upper[cells].copy()
        if insider is not None and insider.cells.size:
            at = np.minimum(np.searchsorted(insider.cells, cells), insider.cells.size - 1)
            own = insider.cells[at] == cells
            low[own] = np.maximum(low[own], insider.lower[at[own]])
            high[own] = np.minimum(high[own], insider.upper[at[own]])
        return low, high

    def _check(self) -> None:
        """Refuse a problem whose lists, bounds and levels contradict each other or the table."""
        table, names = self.table, self.table.structure.names
        if (wrong := np.flatnonzero(self.must_publish & self.levels.sensitive)).size:
            fault, remedy = "sensitive, yet must be published", "take it off one of the two lists"
            raise InputError(fault, place=names(wrong), remedy=remedy, cell=int(wrong[0]))
        if (wrong := np.flatnonzero(self.must_publish & self.must_hide)).size:
            fault = "must be published and must be hidden"
            raise InputError(fault, place=names(wrong), remedy="choose one", cell=int(wrong[0]))
        _refuse_false_bounds(table, self.outsider_beforehand)
        self._check_insiders()
        insiders, levels = self.insiders, self.levels
        each, at = np.array([levels.lower, levels.upper, levels.sliding]), self.sensitive
        self._check_levels(np.full(at.size, -1), at, each[:, at])
        # Where insiders know nothing and have no levels of their own they are like the outsider.
        common = np.flatnonzero(levels.sensitive[insiders.cells] & insiders.others[insiders.owner])
        common = common[~insiders.is_spared(insiders.owner[common], insiders.cells[common])]
        at = insiders.cells[common]
        self._check_levels(
            np.concatenate([insiders.target_owner, insiders.owner[common]]),
            np.concatenate([insiders.targets, at]),
            np.hstack([insiders.levels, each[:, at]]),
        )

    def _check_insiders(self) -> None:
        """Refuse insiders with unknown cells, levels of cells that are not sensitive, or untrue bounds."""
        table, insiders = self.table, self.insiders
        for cells, owner in ((insiders.cells, insiders.owner), (insiders.targets, insiders.target_owner)):
            if (wrong := np.flatnonzero((cells < 0) | (cells >= len(table)))).size:
                raise InputError(
                    f"there is no cell number {cells[wrong[0]]}",
                    place=insiders.names[int(owner[wrong[0]])],
                    remedy=f"cells are numbered 0 to {len(table) - 1}",
                )
        stray = insiders.levels.any(axis=0) & ~self.levels.sensitive[insiders.targets]
        if (wrong := np.flatnonzero(stray)).size:
            k = int(insiders.target_owner[wrong[0]])
            names = table.structure.names(insiders.targets[wrong[insiders.target_owner[wrong] == k]])
            raise InputError(
                f"{insiders.names[k]} has levels of their own for {names}, which no rule calls sensitive",
                remedy="mark the cell as sensitive too",
            )
        value = table.units[insiders.cells]
        if (wrong := np.flatnonzero((insiders.lower > value) | (insiders.upper < value))).size:
            k = int(insiders.owner[wrong[0]])
            theirs = insiders.cells[wrong[insiders.owner[wrong] == k]]
            raise _false_bounds_error(table, insiders.names[k], theirs, InputError)

    def _check_levels(self, who: Cells, cells: Cells, levels: Units) -> None:
        """Refuse levels (rows LPL, UPL, SPL) that insiders, or the outsider (-1), can rule out beforehand."""
        table = self.table
        rooms = self._find_room(who, cells, self.outsider)
        for what, level, room in zip(LEVELS, levels, rooms, strict=True):
            if (wrong := np.flatnonzero(level > room)).size:
                p = int(wrong[0])
                alike = and_others(int((who[wrong] == who[p]).sum()), "cell")
                wanted = exact.to_text(int(level[p]), table.decimals)
                name = self.outsider.name if who[p] < 0 else self.insiders.names[int(who[p])]
                cell = int(cells[p])
                place = f"({table.name(cell)})"
                fault = f"the {what} of {wanted} cannot be met against {name}"
                before = self._find_room(who, cells, self.outsider_beforehand)[LEVELS.index(what)]
                if level[p] <= before[p]:
                    raise LevelsError(
                        f"{fault} any more: what was published earlier lies closer to the value{alike}",
                        place=place,
                        remedy="Exempt the cell, lower its level, or withdraw the earlier release.",
                        options=["published"],
                        cell=cell,
                    )
                raise LevelsError(
                    f"{fault}, whose own bounds lie closer to the value{alike}",
                    place=place,
                    remedy="Lower the level (it can be capped at what the bounds allow), or widen the "
                    "attacker's bounds.",
                    options=["lower"],
                    cell=cell,
                )

    def _find_room(self, who: Cells, cells: Cells, everyone: Outsider) -> tuple[Units, Units, Units]:
        """Return how far insiders' bounds, or the outsider's (-1), lie below and above the values of cells,
        and the sum of both, in units.
        """
        low, high, value = everyone.lower[cells], everyone.upper[cells], self.table.units[cells]
        known = self.insiders.find(who, cells)
        own = np.flatnonzero(known >= 0)
        low[own] = np.maximum(low[own], self.insiders.lower[known[own]])
        high[own] = np.minimum(high[own], self.insiders.upper[known[own]])
        below = np.where(low <= -UNBOUNDED, UNBOUNDED, value - np.maximum(low, -UNBOUNDED + 1))
        above = np.where(high >= UNBOUNDED, UNBOUNDED, high - value)
        return below, above, np.minimum(below, UNBOUNDED // 2) + np.minimum(above, UNBOUNDED // 2)


@dataclass(frozen=True, eq=False)
class AttackerLevels:
    """The levels that hold against one attacker in their target cells, in units; ``insider`` is None for the
    outsider.
    """

    attacker: str
    insider: Insider | None
    cells: Cells
    lower: Units
    upper: Units
    sliding: Units


def start_run(problem: object, run: object) -> Run:
    """Return the run to work on a problem with, the given one or a new one, with its clock started.

    Raises
    ------
    InputError
        ``problem`` is no :class:`Problem`, or ``run`` no :class:`Run`.
    """
    if not isinstance(problem, Problem):
        remedy = (
            "state what is sensitive first: Problem(table, Threshold(3))"
            if isinstance(problem, Table)
            else "give the problem first, then the rest"
        )
        raise InputError(f"a problem is needed, not a {type(problem).__name__}", remedy=remedy)
    if run is None:
        run = Run()
    if not isinstance(run, Run):
        number = isinstance(run, int | float) and not isinstance(run, bool)
        example = (
            f"Run(time_limit={run}) for so many seconds" if number else "Run(time_limit=60), for example"
        )
        raise InputError(f"a run is needed, not {run!r}", remedy=f"write {example}")
    LOG.info("begin with %r", problem)
    return run.begin()


def _read_rule(table: object, rule: object) -> Rule | Levels:
    """Return the rule or levels given for a problem; refuse what is neither, and a table that is none."""
    if not isinstance(table, Table):
        remedy = "make one with Table.from_array, Table.from_frame, tabulate or read_case"
        raise InputError(f"a problem needs a Table, not a {type(table).__name__}", remedy=remedy)
    if isinstance(rule, str):
        return parse_rule(rule)
    if not isinstance(rule, Rule | Levels):
        remedy = "give one such as Threshold(3) or PPercent(10), its written form 'threshold(3)', or Levels"
        if isinstance(rule, list | tuple):
            remedy = "join several with |, as in PPercent(10) | Threshold(3)"
        raise InputError(f"a problem needs a rule, not a {type(rule).__name__}", remedy=remedy)
    return rule


def _refuse_false_bounds(table: Table, everyone: Outsider) -> None:
    """Raise a BoundsError if a value of the problem's table is outside the bounds that everyone knows.

    Negative cells get an error of their own: those who have them seldom gave bounds.
    """
    # Wider bounds would not help structural zeros, whose upper bound is 0 too.
    negative = np.flatnonzero((table.units < 0) & (everyone.lower == 0) & (everyone.upper > 0))
    if negative.size:
        refuse_negative(table, int(negative[np.argmin(table.units[negative])]))
    wrong = (everyone.lower > table.units) | (everyone.upper < table.units)
    if wrong.any():
        raise _false_bounds_error(table, everyone.name, np.flatnonzero(wrong), BoundsError)


def _false_bounds_error(table: Table, who: str, cells: Cells, kind: type[InputError]) -> InputError:
    fault = f"{who} is assumed to know bounds that are not true of {table.structure.names(cells)}"
    return kind(fault, remedy="widen the bounds so that they contain the value")


def _refuse_broken_levels(table: Table, levels: Levels) -> None:
    """Raise a LevelsError for levels of another shape than the table, negative, huge, or without a cell."""
    columns = (levels.sensitive, levels.lower, levels.upper, levels.sliding)
    if any(column.shape != (len(table),) for column in columns):
        raise LevelsError(f"levels are needed for each cell of the table, {len(table):,} in all")
    each = np.array(columns[1:])
    negative, huge = (each < 0).any(axis=0), (each >= UNBOUNDED // 2).any(axis=0)
    neither = "a sensitive cell needs a level above zero, and levels need a sensitive cell"
    for wrong, fault, remedy in (
        (negative, "a protection level is negative", "use 0 or more"),
        (huge, "a protection level is larger than any value can be", "lower it"),
        (levels.sensitive != each.any(axis=0), neither, "Levels.of sees to both"),
    ):
        if wrong.any():
            place = table.structure.names(np.flatnonzero(wrong))
            raise LevelsError(fault, place=place, remedy=remedy)


def _add_structural_zeros(table: Table, outsider: Outsider) -> Outsider:
    """Return the problem's outsider with bounds of 0 for structural zeros, whatever bounds are given."""
    if outsider.lower.shape != (len(table),) or outsider.upper.shape != (len(table),):
        raise InputError(
            f"{outsider.name} needs a lower and an upper bound for each cell, {len(table):,} in all"
        )
    if table.structural is None:
        return outsider
    low, high = (np.where(table.structural, 0, bound) for bound in (outsider.lower, outsider.upper))
    return replace(outsider, lower=low, upper=high)


def _add_releases(table: Table, outsider: Outsider, earlier: Sequence[Release]) -> Outsider:
    """Return the problem's outsider with bounds narrowed to what was published earlier."""
    if not earlier:
        return outsider
    low, high = intersect_windows(table, earlier)
    return replace(outsider, lower=np.maximum(outsider.lower, low), upper=np.minimum(outsider.upper, high))
