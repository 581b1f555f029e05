"""A case that was saved as a project and opened again is the same case: it asks the same, also after an edit,
and everything that was said of it can be changed as before.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import tacita as tc
from tacita.app.work.case import Attackers, Case, Decision, Kind, Wish
from tacita.app.work.opening import case_from_path
from tacita.app.work.parcels import save
from tacita.errors import InputError, TacitaError
from tacita.rules import parse_rule
from tacita.tables.editing import with_values

DECISIONS = st.one_of(
    st.sampled_from([Decision(kind) for kind in Kind]),
    st.sampled_from([Decision(Kind.PUBLISH, exempt=True), Decision(Kind.HIDE, exempt=True)]),
    st.builds(
        Decision,
        st.just(Kind.SENSITIVE),
        lower=st.sampled_from([None, 0, 1]),
        upper=st.sampled_from([1, Fraction(5, 2), 3]),
        sliding=st.sampled_from([None, 2]),
    ),
)
RULES = ((), ("threshold(3)",), ("threshold(4)", "zeros"), ('marked([["Total", "Total"]], upper=2)',))
EVERYONE = (Attackers(), Attackers(upper=1000), Attackers(lower=-5), Attackers(within=(1.0, 2.5)))
WISHES = (
    None,
    Wish(seed=7),
    Wish("rounding", {"base": 5}, 3, 60.0, ("xlsx", "html"), "results"),
    Wish("intervals", {}, 0, None, ("csv",)),
)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Counts or amounts, with marks that a file states in percent or as amounts, rules, and decisions."""
    inner = np.array(draw(st.lists(st.integers(0, 12), min_size=6, max_size=6))).reshape(2, 3)
    table = tc.Table.from_array(inner, names=("row", "column"), counts=draw(st.booleans()))
    cells = st.integers(0, len(table) - 1)
    stated = tc.Levels.none(len(table))
    for protection in draw(st.lists(st.sampled_from([15, 20, 20, (10, 50)]), max_size=2)):
        some = draw(st.lists(cells, min_size=1, max_size=3))
        stated |= tc.Marked(some, protection=protection).levels(table)
    if draw(st.booleans()):
        stated |= tc.Marked(draw(st.lists(cells, max_size=2)), lower=0, upper=2).levels(table)
    cost = draw(st.sampled_from(["value", "unit"]))
    case = Case.of(tc.Problem(table, stated, cost=cost), "x")
    return replace(
        case,
        rules=draw(st.sampled_from(RULES)),
        decisions=draw(st.dictionaries(cells, DECISIONS, max_size=4)),
        attackers=draw(st.sampled_from(EVERYONE)),
        waived=draw(st.sampled_from([(), ("Mill & Sons",)])),
        cost=draw(st.sampled_from([None, "log", "distance"])),
        wish=draw(st.sampled_from(WISHES)),
    )


def asked(case: Case) -> Any:
    """The question of a case; that there is none is an answer too."""
    try:
        problem = case.problem
    except InputError:
        return "refused"
    levels, outsider = problem.levels, problem.outsider
    columns = (levels.sensitive, levels.lower, levels.upper, levels.sliding, outsider.lower, outsider.upper)
    cells = (*columns, problem.cost, problem.must_publish, problem.must_hide, problem.exempt)
    return [column.tolist() for column in cells], case.table.units.tolist(), problem.attackers


def said(case: Case) -> dict[str, Any]:
    """What a user has said, in parts."""
    return {
        "rules": [parse_rule(text) for text in case.rules],
        "decisions": dict(case.decisions),
        "attackers": case.attackers,
        "waived": case.waived,
        "cost": case.cost,
        "wish": case.wish or Wish(),
    }


def edited(case: Case, cell: int, value: int) -> Case:
    units = np.array([value * case.table.unit])
    return case.with_table(with_values(case.table, np.array([cell]), units))


def saved_and_opened(case: Case, folder: Path) -> Case:
    assert save(case, folder, "project", passing=folder / "session").notes == ()
    return case_from_path(folder)


@given(cases(), st.integers(0, 5), st.integers(0, 40))
@settings(max_examples=60, deadline=None)
def test_a_saved_case_is_the_same_case(case: Case, which: int, value: int) -> None:
    try:
        _ = case.problem
    except TacitaError:
        assume(False)
    cell = int(np.flatnonzero(~case.table.structure.is_total)[which])
    with tempfile.TemporaryDirectory() as folder:
        once = saved_and_opened(case, Path(folder) / "once")
        twice = saved_and_opened(once, Path(folder) / "twice")
    for again in (once, twice):
        assert said(again) == said(case)
        assert asked(again) == asked(case)
        assert asked(edited(again, cell, value)) == asked(edited(case, cell, value))
