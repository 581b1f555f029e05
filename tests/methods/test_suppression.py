"""Suppression by its definition: forced and frozen cells, limits, conditional levels, starts, whole numbers,
and what is said where nothing protects.
"""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from random import Random

import numpy as np
import pytest
from budget import examples
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.cli import main
from tacita.core.errors import InfeasibleError, InputError, StoppedError
from tacita.core.levels import Levels
from tacita.core.run import Event, Run
from tacita.engine.search.explicit_model import solve_explicit_model
from tacita.methods import make_method
from tacita.methods.suppression.suppression import Suppression, complete_pattern
from tacita.problem.problem import Problem
from tacita.solvers.network import Network
from tacita.testing import check_method, hard_problem, hard_problems

FIGURE_1 = [[20, 50, 10, 80], [8, 19, 22, 49], [17, 32, 12, 61], [45, 101, 44, 190]]
TABLE = tc.Table.from_array(
    FIGURE_1,
    totals=True,
    names=["activity", "region"],
    codes=[["I", "II", "III"], ["A", "B", "C"]],
    counts=False,
)
II_C = TABLE.find("II", "C")
FRACTIONS = (
    *("TTT", "TT2", "T1T", "T11", "T12", "T21", "T22", "1TT", "1T1"),
    *("11T", "112", "121", "122", "2T1", "2T2", "211", "212"),
)
"""Cells of a 2x2x2 table that, hidden alone, move together in one way only: T12 by two, the others by one."""


def cells(*names: str) -> list[int]:
    return [TABLE.find(*name.split(",")) for name in names]


def figure_1(lower: int = 10, upper: int = 12, **about) -> tc.Problem:
    return tc.Problem(TABLE, tc.Marked([("II", "C")], lower=lower, upper=upper), **about)


def hidden(release: tc.Release) -> set[tuple[str, ...]]:
    return {release.structure.key(int(cell)) for cell in np.flatnonzero(release.changed)}


# ---------------------------------------------------------------------- forced, frozen, limited


def test_cells_that_must_be_hidden_are_and_count() -> None:
    release = check_method(Suppression(), figure_1(must_hide=cells("I,A")))
    assert hidden(release) >= {("I", "A"), ("II", "C")}
    assert release.outcome.loss == 20 + 85


def test_cells_that_must_be_published_are() -> None:
    release = check_method(Suppression(), figure_1(must_publish=cells("II,A", "II,B")))
    assert hidden(release) == {("II", "C"), ("II", "Total"), ("III", "C"), ("III", "Total")}


def test_totals_are_published_unless_sensitive_or_asked_for() -> None:
    rule = tc.Marked([("II", "Total"), ("III", "Total")], lower=5, upper=5)
    problem = tc.Problem(TABLE, rule, must_hide=cells("Total,B"))
    release = check_method(Suppression(margins=False), problem)
    totals = {("II", "Total"), ("III", "Total"), ("Total", "B")}
    assert {key for key in hidden(release) if "Total" in key} == totals


def test_what_everyone_knows_is_not_hidden() -> None:
    low, high = np.zeros(16), np.full(16, 1000)
    known = cells("II,B", "III,B")
    low[known] = high[known] = np.ravel(FIGURE_1)[known]
    release = check_method(Suppression(), figure_1(attackers=tc.Outsider.of(TABLE, low, high), cost="unit"))
    assert not hidden(release) & {("II", "B"), ("III", "B")}


def test_nothing_sensitive_hides_nothing() -> None:
    release = Suppression().protect(tc.Problem(TABLE, Levels.none(len(TABLE))))
    assert not release.changed.any()
    assert (release.outcome.loss, bool(release.outcome.status)) == (0, True)


def test_options_come_from_text() -> None:
    made = make_method("suppression", {"margins": "no", "at_most": "7", "conditional": "2.5"})
    assert made == Suppression(margins=False, at_most=7, conditional=2.5)


# ---------------------------------------------------------------------- conditional levels


@pytest.mark.slow
@pytest.mark.parametrize("percent", [20.0, 80.0, 160.0, 300.0])
def test_every_hidden_cell_stays_uncertain(percent: float) -> None:
    problem = figure_1()
    release = check_method(Suppression(conditional=percent), problem)
    deduced = tc.deduce(problem, release)
    for cell in np.flatnonzero(release.changed & ~problem.levels.sensitive).tolist():
        least, most = deduced.of(cell)
        assert most - least >= percent / 100 * TABLE.values[cell]


@pytest.mark.slow
def test_a_conditional_level_costs_only_where_it_binds() -> None:
    losses = [
        Suppression(conditional=percent).protect(figure_1()).outcome.loss
        for percent in (None, 100.0, 160.0, 200.0)
    ]
    assert losses[:2] == [85, 85]
    assert losses == sorted(losses)
    assert losses[-1] > 85


def test_sensitive_cells_carry_conditional_levels_too() -> None:
    """A problem in which the cheapest pattern needs moves through cells that are hidden in any case."""
    problem = hard_problem(Random(160), "flat")
    method = Suppression(conditional=100.0)
    assert method.protect(problem).outcome.loss == solve_explicit_model(method.model(problem)).loss


def conditional_column(**level_of: float) -> tc.Table:
    """Salazar's table with a column of amounts per cell, zero where none is given."""
    amounts = np.zeros(16)
    for name, level in level_of.items():
        amounts[cells(name.replace("_", ","))] = level
    return replace(TABLE, columns={"own": amounts})


@pytest.mark.slow
def test_conditional_amounts_hold_on_their_side() -> None:
    problem = figure_1()
    method = Suppression(conditional_upper=15, conditional_lower=4, conditional_sliding=30)
    release = check_method(method, problem)
    deduced = tc.deduce(problem, release)
    for cell in np.flatnonzero(release.changed & ~problem.levels.sensitive).tolist():
        least, most = deduced.of(cell)
        value = TABLE.values[cell]
        assert most - value >= 15
        assert value - least >= 4
        assert most - least >= 30
    assert release.outcome.loss == solve_explicit_model(method.model(problem)).loss > 85


def test_conditional_amounts_can_differ_from_cell_to_cell() -> None:
    """III,C = 12 can fall by 12 at most: with a lower level of 13 it stays published, with 12 it may go."""
    rule = tc.Marked([("II", "C")], lower=10, upper=12)
    without = Suppression().protect(figure_1(must_publish=cells("III,C"))).outcome.loss
    assert without > 85
    for level, expected in ((12, 85), (13, without)):
        problem = tc.Problem(conditional_column(III_C=level), rule)
        release = check_method(Suppression(conditional_lower="own"), problem)
        assert release.outcome.loss == expected
        assert (("III", "C") in hidden(release)) == (level == 12)


def test_a_conditional_amount_that_a_cell_cannot_have_is_named() -> None:
    problem = figure_1(must_hide=cells("III,C"))
    with pytest.raises(InfeasibleError, match=r"region=C.*must be hidden and, by 'conditional'"):
        Suppression(conditional_lower=13).protect(problem)


@pytest.mark.parametrize("percent", [0.0, -1.0, float("inf"), float("nan")])
def test_a_percentage_is_above_zero(percent: float) -> None:
    with pytest.raises(InputError, match="conditional"):
        Suppression(conditional=percent).protect(figure_1())


# ---------------------------------------------------------------------- Cox's heuristic


@given(problem=hard_problems(), apart=st.booleans())
def test_the_heuristic_protects_networks_and_never_beats_the_optimum(problem: Problem, apart: bool) -> None:
    method = Suppression(search="network-apart" if apart else "network")
    if Network.of(problem.table.equations.matrix.tocsc()) is None:
        with pytest.raises(InputError, match="networks"):
            method.protect(problem)
        return
    try:
        release = method.protect(problem)
    except InfeasibleError:
        return
    assert tc.audit(problem, release).safe
    best = Suppression().protect(problem).outcome
    assert release.outcome.bound <= best.loss <= release.outcome.loss + 1e-6 * max(1.0, best.loss)


# ---------------------------------------------------------------------- where to begin


@pytest.mark.parametrize("start", [[], ["II,C"], ["I,A", "III,B"], ["II,B", "II,C", "III,B", "III,C"]])
def test_a_start_is_completed_and_leads_to_the_optimum(start: list[str]) -> None:
    mask = np.zeros(16, dtype=bool)
    mask[cells(*start)] = True
    problem = figure_1()
    first = complete_pattern(Suppression().model(problem), mask, Run())
    assert tc.audit(problem, tc.Release.suppress(TABLE, first > 0.5)).safe
    assert Suppression().protect(problem, start=mask).outcome.loss == 85
    assert Suppression().protect(problem, start=tc.Release.suppress(TABLE, mask)).outcome.loss == 85


def test_a_start_hides_nothing_that_must_be_published() -> None:
    everything = np.ones(16, dtype=bool)
    problem = figure_1(must_publish=cells("II,A"))
    first = complete_pattern(Suppression(margins=False).model(problem), everything, Run())
    assert first[II_C]
    assert not first[cells("II,A", "Total,C", "II,Total")].any()


def test_a_start_of_another_table_is_refused() -> None:
    other = tc.Release.suppress(tc.Table.from_array(FIGURE_1, totals=True), np.array([1]))
    with pytest.raises(InputError, match="other cells"):
        Suppression().protect(figure_1(), start=other)
    with pytest.raises(InputError, match="4 truth values for 16 cells"):
        Suppression().protect(figure_1(), start=np.zeros(4, dtype=bool))


def test_time_is_over_before_it_began() -> None:
    with pytest.raises(StoppedError, match="time"):
        Suppression().protect(figure_1(), Run(time_limit=0.0))


# ---------------------------------------------------------------------- integers


def fractions(room: int, may_hide_all: bool) -> tc.Problem:
    """The cheap cells let T12 move by 1 only if others move by one half; beyond ``room`` nobody believes."""
    table = tc.Table.from_array(np.full((2, 2, 2), 5))
    at = [table.find(*(code.replace("T", "Total") for code in name)) for name in FRACTIONS]
    n, target = len(table), table.find("Total", "1", "2")
    cost, sensitive = np.full(n, 1000.0), np.zeros(n, dtype=bool)
    cost[at], sensitive[target] = 1.0, True
    low, high = np.zeros(n), np.full(n, 10.0**6)
    low[target], high[target] = table.values[target] - room, table.values[target] + room
    return tc.Problem(
        table,
        Levels.of(sensitive, upper=np.ones(n, dtype=np.int64), lower=np.zeros(n, dtype=np.int64)),
        attackers=tc.Outsider.of(table, low, high),
        cost=cost,
        must_publish=[] if may_hide_all else np.flatnonzero(cost > 1).tolist(),
    )


def test_counts_are_not_protected_by_fractions() -> None:
    problem = fractions(room=1, may_hide_all=True)
    assert solve_explicit_model(Suppression().model(problem)).loss == len(FRACTIONS)
    release = check_method(Suppression(), problem)
    assert release.outcome.loss == 1000 + 7
    assert release.outcome.status


def test_a_whole_move_makes_the_cheap_cells_enough() -> None:
    assert check_method(Suppression(), fractions(room=2, may_hide_all=False)).outcome.loss == len(FRACTIONS)


def test_fractions_alone_are_named() -> None:
    with pytest.raises(InfeasibleError, match=r"row=Total, column=1, layer=2\).*fractions alone"):
        Suppression().protect(fractions(room=1, may_hide_all=False))


# ---------------------------------------------------------------------- where nothing protects


def test_a_frozen_cell_that_stands_in_the_way_is_named() -> None:
    frozen = cells("II,A", "II,B", "II,Total", "I,A")
    with pytest.raises(InfeasibleError, match=r"\(activity=II, region=C\).*12 upwards.*outsider") as told:
        Suppression().protect(figure_1(must_publish=frozen))
    assert "I, region=A)" not in str(told.value).replace("II, region=A)", "")
    assert "off the cells that must be published" in str(told.value)


def test_totals_that_stand_in_the_way_are_named() -> None:
    with pytest.raises(InfeasibleError, match=r"region=Total.*witch margins on"):
        Suppression(margins=False).protect(tc.Problem(TABLE, tc.Marked([("I", "Total")], lower=5, upper=5)))


def test_the_largest_level_that_is_possible_is_named() -> None:
    """Beside II, C only II, A can change in its row, by 8 at most downwards."""
    frozen = cells("II,B", "II,Total", "Total,C")
    with pytest.raises(InfeasibleError, match=r"lower the level to 8\."):
        Suppression().protect(figure_1(lower=0, must_publish=frozen))
    assert check_method(Suppression(), figure_1(lower=0, upper=8, must_publish=frozen))


def test_a_level_beyond_every_pattern_is_named() -> None:
    insider = tc.Insider.knowing(
        "a rival", TABLE, {c: (0, 25) for c in range(16) if FIGURE_1[c // 4][c % 4] < 25}
    )
    problem = figure_1(lower=0, upper=3, attackers=["outsider", insider])
    assert check_method(Suppression(), problem)
    everything = tc.Insider.knowing(
        "a rival", TABLE, {c: (v, v) for c, v in enumerate(np.ravel(FIGURE_1).tolist()) if c != II_C}
    )
    with pytest.raises(InfeasibleError, match=r"against a rival, even if every cell were hidden"):
        Suppression().protect(figure_1(attackers=["outsider", everything]))


def test_a_conditional_level_that_stands_in_the_way_is_named() -> None:
    bounded = tc.Outsider.of(TABLE, 0.5 * TABLE.values, 2.5 * TABLE.values)
    problem = figure_1(attackers=bounded)
    assert check_method(Suppression(), problem)
    with pytest.raises(InfeasibleError, match="lower 'conditional'"):
        Suppression(conditional=250.0).protect(problem)


def meets_first_requirement(problem: Problem, frozen: set[int], freed: tuple[int, ...]) -> bool:
    """Whether the one sensitive cell is safe when all is hidden but what is still frozen."""
    mask = np.ones(len(problem.table), dtype=bool)
    mask[list(frozen - set(freed))] = False
    return tc.audit(problem, tc.Release.suppress(problem.table, mask)).safe


@examples(25)
@given(st.randoms(use_true_random=False))
def test_no_smaller_set_of_frozen_cells_would_do(random: Random) -> None:
    frozen = set(random.sample([c for c in range(16) if c != II_C], random.randint(8, 13)))
    problem = figure_1(lower=0, upper=random.randint(1, 12), must_publish=sorted(frozen))
    if meets_first_requirement(problem, frozen, ()):
        assert check_method(Suppression(), problem)
        return
    with pytest.raises(InfeasibleError) as told:
        Suppression().protect(problem)
    message = str(told.value).partition(" while ")[2].partition(" published.")[0]
    named = tuple(cell for cell in frozen if f"({TABLE.name(cell)})" in message)
    assert meets_first_requirement(problem, frozen, named)
    smaller = (freed for size in range(len(named)) for freed in combinations(frozen, size))
    assert not any(meets_first_requirement(problem, frozen, freed) for freed in smaller)


# ---------------------------------------------------------------------- held against the first model


@pytest.mark.slow
@given(problem=hard_problems(), random=st.randoms(use_true_random=False))
@examples(20)
def test_no_pattern_of_the_model_is_cheaper(problem: Problem, random: Random) -> None:
    """Networks only lose what the model says; beyond them whole moves may cost more, never less."""
    forced = int((problem.levels.sensitive | problem.must_hide).sum())
    method = Suppression(
        margins=random.choice([True, True, False]),
        at_most=random.choice([None, None, forced + 3, forced + 6]),
        conditional=random.choice([None, None, 20.0, 100.0]),
        conditional_upper=random.choice([None, None, 2.0, 5.0]),
        conditional_lower=random.choice([None, None, 1.0, 3.0]),
        conditional_sliding=random.choice([None, None, 4.0]),
    )
    start = np.array([random.random() < 0.4 for _ in range(len(problem.table))])
    try:
        expected = solve_explicit_model(method.model(problem)).loss
    except InfeasibleError:
        with pytest.raises(InfeasibleError):
            method.protect(problem)
        return
    try:
        release = method.protect(problem, start=random.choice([None, start]))
    except InfeasibleError as refusal:
        if "fractions" in str(refusal):
            return
        raise
    assert tc.audit(problem, release).safe
    assert release.outcome.status
    assert release.outcome.loss == pytest.approx(problem.cost[release.changed].sum())
    assert release.outcome.loss >= expected - 1e-6
    if release.outcome.loss > expected + 1e-6 * max(1.0, expected):
        assert problem.table.integer
    assert method.at_most is None or release.changed.sum() <= method.at_most


# ---------------------------------------------------------------------- effort and command line


def test_a_cancelled_search_keeps_the_best_so_far() -> None:
    values = np.random.default_rng(1).integers(1, 500, (14, 14))
    table = tc.Table.from_array(values, counts=False)
    sensitive = np.zeros(len(table), dtype=bool)
    sensitive[np.flatnonzero(~table.structure.is_total)[::9]] = True
    problem = tc.Problem(table, Levels.of(sensitive, upper=np.maximum(1, table.units // 4)))
    events: list[Event] = []

    def enough(event: Event) -> None:
        events.append(event)
        if event.incumbent is not None:
            run.cancel()

    run = Run(listener=enough)
    release = check_method(Suppression(), problem, run)
    best = Suppression().protect(problem).outcome
    assert release.outcome.bound <= best.loss <= release.outcome.loss
    assert events[-1].phase
    assert events[-1].bound is not None


@pytest.fixture
def case(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    rows = [("I", "A", 20), ("I", "B", 50), ("I", "C", 10), ("II", "A", 8), ("II", "B", 19), ("II", "C", 22)]
    rows += [("III", "A", 17), ("III", "B", 32), ("III", "C", 12)]
    path.write_text("activity,region,value\n" + "".join(f"{a},{r},{v}\n" for a, r, v in rows))
    return path


def told(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, dict]:
    capsys.readouterr()
    code = main([*map(str, arguments), "--rules", "threshold(9)", "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_the_command_takes_every_option(case: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("margins=no", "at_most=9", "conditional=10", "conditional_upper=1", "search=network")
    code, said = told(capsys, "protect", case, *(word for o in options for word in ("--option", o)))
    assert code == 0
    chosen = {
        "margins": False,
        "at_most": 9,
        "conditional": 10.0,
        "conditional_upper": 1.0,
        "search": "network",
    }
    assert {name: said["options"][name] for name in chosen} == chosen
    assert said["status"] == "feasible"
    code, said = told(capsys, "protect", case, *(word for o in options[:-1] for word in ("--option", o)))
    assert said["status"] == "optimal"
    assert said["loss"] == said["bound"]
    assert said["gap"] == 0
    code, said = told(capsys, "protect", case, "--option", "at_most=3")
    assert (code, said["status"], said["loss"]) == (1, "infeasible", None)
    assert "Allow at most 4" in said["error"]


def test_the_command_begins_with_last_period(
    case: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, before = told(capsys, "protect", case, "--out", tmp_path / "before")
    now = tmp_path / "now.csv"
    now.write_text(case.read_text().replace("III,B,32", "III,B,33") + "IV,A,70\nIV,B,80\nIV,C,90\n")
    _, expected = told(capsys, "protect", now)
    published = tmp_path / "before" / "publication"
    for start in (tmp_path / "before", published, published / "release.csv"):
        code, said = told(capsys, "protect", now, "--start", start)
        assert (code, said["status"], said["loss"]) == (0, "optimal", expected["loss"])
    assert before["status"] == "optimal"


def test_the_command_begins_with_another_programs_pattern(
    case: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    published = tmp_path / "published.csv"
    told(capsys, "protect", case, "--out", tmp_path)
    rows = list(csv.DictReader((tmp_path / "publication" / "release.csv").open()))
    published.write_text(
        "activity,region,value\n"
        + "".join(f"{r['activity']},{r['region']},{r['value'] or 'x'}\n" for r in rows)
    )
    assert told(capsys, "protect", case, "--start", published)[0] == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--start", "nowhere.csv"), "nowhere.csv: no such file"),
        (("--method", "rounding", "--start", "nowhere.csv"), "method 'rounding' takes no pattern"),
    ],
)
def test_a_start_that_cannot_be_used_is_refused(
    case: Path, arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, answer = told(capsys, "protect", case, *arguments)
    assert code == 1
    assert said in answer["error"]


def test_a_start_of_other_cells_is_refused(
    case: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    strange = tmp_path / "strange.csv"
    strange.write_text("activity,region,mark,value\nX,Y,published,3\n")
    _, answer = told(capsys, "protect", case, "--start", strange)
    assert "none of its cells is in the table" in answer["error"]
    strange.write_text("activity,mark,value\nX,published,3\n")
    _, answer = told(capsys, "protect", case, "--start", strange)
    assert answer["error"].startswith(str(strange))


def test_a_huge_sensitive_cell_does_not_drown_the_others() -> None:
    values = [[10**11, 15, 58, 18], [14, 32, 25, 33], [22, 31, 30, 34], [55, 16, 27, 47]]
    table = tc.Table.from_array(values)
    sensitive = np.zeros(len(table), dtype=bool)
    sensitive[[6, 12, 22]] = True
    level = np.where(sensitive, 4, 0)
    problem = tc.Problem(
        table,
        tc.Levels.of(sensitive, lower=level, upper=level),
        must_publish=np.flatnonzero(table.structure.is_total),
    )
    release = tc.Suppression().protect(problem)
    assert release.outcome is not None
    assert release.outcome.status
    assert problem.cost[release.changed & ~sensitive].sum() == 79


@pytest.mark.parametrize("counts", [True, False])
def test_a_level_missed_by_forty_in_a_billion_is_missed(counts: bool) -> None:
    level = 10**9
    values = [[2 * level, level - 40, 5], [level - 40, 3 * level, 7], [6, 8, 9]]
    table = tc.Table.from_array(np.array(values), counts=counts)
    total = table.structure.is_total
    inner = np.flatnonzero(~total)
    sensitive = np.zeros(len(table), dtype=bool)
    sensitive[inner[0]] = True
    levels = tc.Levels.of(
        sensitive, upper=np.where(sensitive, level, 0), lower=np.zeros(len(table), dtype=np.int64)
    )
    frozen = [*np.flatnonzero(total), inner[2], inner[6]]
    with pytest.raises(InfeasibleError):
        tc.Suppression().protect(tc.Problem(table, levels, cost="unit", must_publish=frozen))


def test_a_cube_whose_totals_stay_is_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the columns of its totals a cube must not be taken for one, however large it is."""
    from tacita.engine.attack import flows

    table = tc.Table.from_array(np.random.default_rng(2).integers(5, 60, (3, 3, 3)), counts=False)
    problem = tc.Problem(table, tc.Marked([("1", "1", "1"), ("2", "3", "2")], lower=4, upper=4))
    by_programs = check_method(Suppression(margins=False), problem)
    monkeypatch.setattr(flows, "LARGE", 0)
    again = check_method(Suppression(margins=False), problem)
    assert again.outcome.loss == by_programs.outcome.loss
