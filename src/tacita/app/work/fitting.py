"""What is left of a case of which something does not fit its table: everything else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from tacita.app.work.open_case import Case, Kind
from tacita.core.errors import TacitaError
from tacita.specification.specification import Attackers
from tacita.specification.statement import Statement

Without = Callable[[Case], Case]


def fitting(case: Case) -> tuple[Case, tuple[str, ...]]:
    """Return the case without as little as possible of what does not fit its table, and a note that names it;
    the case itself where everything fits.
    """
    trouble = _trouble(case)
    if trouble is None:
        return case, ()
    parts = list(_parts(case))
    gone: list[int] = []
    for k in range(len(parts)):
        gone.append(k)
        if _trouble(_less(case, parts, gone)) is None:
            break
    # Whatever was taken before the one that was to blame comes back, if it fits.
    for k in gone[:-1]:
        others = [j for j in gone if j != k]
        if _trouble(_less(case, parts, others)) is None:
            gone = others
    named = ", ".join(parts[k][0] for k in gone)
    return _less(case, parts, gone), (f"written without what does not fit the table: {named} ({trouble})",)


def _parts(case: Case) -> Iterator[tuple[str, Without]]:
    """Yield what a case can do without, by name: rules last that fit the table by themselves, as what is at
    odds with them protects less.
    """
    alone = Case(case.name, Statement.of(case.table))
    unfit = [rule for rule in case.rules if _trouble(alone.with_rules([rule])) is not None]
    for rule in unfit:
        yield f"rule {rule}", partial(_without_rule, rule)
    yield from _without_decisions(case, Kind.PUBLISH)
    known, usual, cost = case.attackers, Attackers(), case.specification.cost.by
    insiders = {name: getattr(usual, name) for name in ("kinds", "coalitions", "holding_coalitions")}
    bounds = {name: getattr(usual, name) for name in ("lower", "upper", "within")}
    if any(getattr(known, name) != value for name, value in insiders.items()):
        yield "insiders", lambda c: c.specify(attackers=insiders)
    if cost is not None:
        yield f"cost {cost}", lambda c: c.specify(cost={"by": None})
    if any(getattr(known, name) != value for name, value in bounds.items()):
        yield "bounds", lambda c: c.specify(attackers=bounds)
    if case.published:
        yield "releases that are already published", lambda c: c.with_published(())
    for kind in (Kind.HIDE, Kind.SAFE, Kind.SENSITIVE):
        yield from _without_decisions(case, kind)
    yield (
        "levels, bounds, costs and insiders of the file",
        lambda c: replace(c, data=replace(Statement.of(c.table), published=c.published)),
    )
    for rule in case.rules:
        if rule not in unfit:
            yield f"rule {rule}", partial(_without_rule, rule)


def _without_rule(rule: str, case: Case) -> Case:
    return case.with_rules(other for other in case.rules if other != rule)


def _without_decisions(case: Case, kind: Kind) -> Iterator[tuple[str, Without]]:
    if cells := case.decided(kind):
        yield f"'{kind.value}' of {case.table.structure.names(cells)}", lambda c: c.decide(cells, None)


def _less(case: Case, parts: list[tuple[str, Without]], gone: list[int]) -> Case:
    for k in gone:
        case = parts[k][1](case)
    return case


def _trouble(case: Case) -> str | None:
    try:
        _ = case.problem
    except TacitaError as error:
        return str(error)
    return None
