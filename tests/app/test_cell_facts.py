"""What is shown of one cell."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tacita.app.work.cell_facts import OutsiderAttack, describe_cell
from tacita.app.work.open_case import Case, Decision, DecisionKind, open_case
from tacita.app.work.view import Sensitivity
from tacita.core.release import Release
from tacita.core.run import Run
from tacita.core.tables.contributions import Contributions
from tacita.core.tables.table import Table
from tacita.examples import example
from tacita.tabulation.tabulate import tabulate


@pytest.fixture
def salazar() -> Case:
    return open_case(example("salazar"), "salazar")


def test_a_sensitive_cell_with_its_levels_and_sums(salazar: Case) -> None:
    cell = salazar.table.find("II", "C")
    told = describe_cell(salazar, Sensitivity.find(salazar), cell)
    assert (told.value, told.lower, told.upper, told.sliding) == (22, 10, 12, 0)
    assert told.sensitive
    assert not told.is_sum
    assert told.why == ("marked by hand: the office marked it",)
    assert told.cost == 22
    assert len(told.equations) == 2
    assert "(activity=II, region=Total) = sum of 3 cells along region" in told.equations


def test_a_decision_is_told(salazar: Case) -> None:
    cell = salazar.table.find("I", "A")
    case = salazar.decide([cell], Decision(DecisionKind.HIDE))
    assert describe_cell(case, Sensitivity.find(case), cell).decision == "must hide"


def test_of_an_exempt_cell_it_is_told_what_would_hit_it() -> None:
    case = open_case(example("nchs"), "nchs")
    cell = int(case.problem.sensitive[0])
    before = describe_cell(case, Sensitivity.find(case), cell)
    case = case.decide([cell], Decision(DecisionKind.SAFE))
    told = describe_cell(case, Sensitivity.find(case), cell)
    assert (before.sensitive, before.exempt) == (True, False)
    assert (told.sensitive, told.exempt) == (False, True)
    assert told.why == before.why
    assert told.why[0].startswith("threshold 5: ")
    case = case.decide([cell + 1], Decision(DecisionKind.SAFE))
    assert not describe_cell(case, Sensitivity.find(case), cell + 1).exempt


def test_contributors_by_name_and_share() -> None:
    table = Table.from_array([[80, 20]], counts=False)
    n = len(table)
    values, who = np.zeros((n, 2), dtype=np.int64), np.full((n, 2), -1)
    cell = table.find("1", "1")
    values[cell], who[cell] = (60, 20), (1, 0)
    known = Contributions(values, who, table.units, names=("Brook", "Hill"))
    case = open_case(replace(table, contributions=known, count=np.full(n, 2)), "case")
    told = describe_cell(case, Sensitivity.guess(case), cell)
    assert [(c.name, c.amount, c.share) for c in told.contributors] == [
        ("Hill", 60, 75.0),
        ("Brook", 20, 25.0),
    ]
    assert told.count == 2
    assert describe_cell(case, Sensitivity.guess(case), table.find("1", "2")).contributors == ()


def test_records_of_nobody_are_named_by_their_cell_beside_other_cells_only() -> None:
    records = {"region": ["N", "N", "S"], "turnover": [5, 8, 4]}
    case = open_case(tabulate(records, ["region"], "turnover"), "case")
    at = {code: case.table.find(code) for code in ("N", "Total")}
    own, total = (describe_cell(case, Sensitivity.guess(case), cell) for cell in at.values())
    assert own.of_records
    assert [one.name for one in own.contributors] == ["record 1", "record 2"]
    assert total.contributors[0].name == "record 1 of (region=N)"
    named = tabulate(records | {"firm": ["x", "y", "z"]}, ["region"], "turnover", "firm")
    case = open_case(named, "case")
    assert not describe_cell(case, Sensitivity.guess(case), at["N"]).of_records


def test_a_sensitive_cell_hidden_alone_is_no_secret(salazar: Case) -> None:
    attack = OutsiderAttack(salazar.problem, None)
    cell = salazar.table.find("II", "C")
    assert attack.hides(cell)
    assert not attack.hides(salazar.table.find("I", "A"))
    found = attack.deduce(cell, Run())
    assert (found.low, found.high) == (22, 22)
    assert found.bounds == (0, float("inf"))
    assert attack.get_known(cell) == found


def test_what_a_release_leaves_open_is_an_interval(salazar: Case) -> None:
    table = salazar.table
    corners = [table.find(row, column) for row in ("II", "III") for column in ("A", "C")]
    attack = OutsiderAttack(salazar.problem, Release.suppress(table, np.array(corners)))
    found = attack.deduce(table.find("II", "C"), Run())
    # Of 8 + 22 = 30 in row II and 22 + 12 = 34 in column C, (II, C) can be all of the first.
    assert (found.low, found.high) == (5, 30)


def test_an_answer_that_was_cut_short_is_asked_again(salazar: Case) -> None:
    attack = OutsiderAttack(salazar.problem, None)
    run = Run()
    run.cancel()
    attack.deduce(salazar.table.find("II", "C"), run)
    assert attack.get_known(salazar.table.find("II", "C")) is None
