"""The question itself is checked: what no release could answer, or what would ask for nothing, is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from tacita.core.attacker import Insider, Outsider
from tacita.core.errors import InputError, LevelsError
from tacita.core.exact import UNBOUNDED
from tacita.core.levels import Levels
from tacita.core.tables.table import Table
from tacita.problem.problem import Problem
from tacita.rules import Exempt, FromColumns, Marked, Threshold

TABLE = Table.from_array([[10, 20], [30, 40]])
N = len(TABLE)
CELL, OTHER = TABLE.find("1", "1"), TABLE.find("2", "2")


def one(cell: int = CELL, upper: int = 3, lower: int | None = None, sliding: int = 0) -> Levels:
    sensitive = np.zeros(N, dtype=bool)
    sensitive[cell] = True
    least = None if lower is None else np.full(N, lower)
    return Levels.of(sensitive, upper=np.full(N, upper), lower=least, sliding=np.full(N, sliding))


def bounds(low: int, high: int) -> Outsider:
    return Outsider(np.minimum(TABLE.units, low), np.maximum(TABLE.units, high))


@pytest.mark.parametrize(
    ("levels", "outsider", "which"),
    [
        (one(upper=3), bounds(0, 12), "upper protection level of 3"),
        (one(upper=0, lower=11), bounds(0, 100), "lower protection level of 11"),
        (one(upper=0, lower=0, sliding=5), bounds(8, 12), "sliding protection level of 5"),
    ],
)
def test_levels_beyond_what_an_attacker_knows_are_refused(
    levels: Levels, outsider: Outsider, which: str
) -> None:
    with pytest.raises(LevelsError, match=f"row=1, column=1.*{which}.*outsider"):
        Problem(TABLE, levels, attackers=outsider)


def test_levels_just_within_what_an_attacker_knows_are_accepted() -> None:
    problem = Problem(TABLE, one(upper=2, lower=2, sliding=4), attackers=bounds(8, 12))
    assert problem.sensitive.tolist() == [CELL]


def test_an_insider_faces_the_levels_in_his_own_cells_too() -> None:
    knows = Insider.knowing("firm", TABLE, {CELL: (9, 100)})
    with pytest.raises(LevelsError, match=r"lower protection level of 3 .* firm"):
        Problem(TABLE, one(), attackers=knows)


def test_what_an_insider_knows_exactly_he_does_not_attack() -> None:
    knows = Insider.knowing("firm", TABLE, {CELL: (10, 10)})
    problem = Problem(TABLE, one(), attackers=knows)
    against = list(problem.requirements())[1]
    assert against.cells.size == 0


def test_false_knowledge_is_refused() -> None:
    with pytest.raises(InputError, match="not true of"):
        Problem(TABLE, one(), attackers=Outsider(np.full(N, 15), np.full(N, UNBOUNDED)))
    with pytest.raises(InputError, match=r"firm.*not true of \(row=2, column=2\)"):
        Problem(TABLE, one(), attackers=Insider.knowing("firm", TABLE, {OTHER: (41, 50)}))


def test_a_sensitive_cell_without_any_level_is_refused() -> None:
    """An audit would have nothing to check, and call the published value safe."""
    zeros = np.zeros(N, dtype=np.int64)
    with pytest.raises(LevelsError, match=r"row=1, column=1.*level above zero"):
        Problem(TABLE, Levels(one().sensitive.copy(), zeros, zeros.copy(), zeros.copy()))


def test_levels_of_cells_that_are_not_sensitive_are_refused() -> None:
    levels = one()
    with pytest.raises(LevelsError, match="need a sensitive cell"):
        Problem(TABLE, replace(levels, sensitive=np.zeros(N, dtype=bool)))


def test_negative_levels_and_levels_of_another_table_are_refused() -> None:
    levels = one()
    with pytest.raises(LevelsError, match="negative"):
        Problem(TABLE, replace(levels, lower=-levels.lower))
    with pytest.raises(LevelsError, match="each cell of the table, 9 in all"):
        Problem(TABLE, Levels.none(N - 1))


def test_an_insiders_own_levels_need_a_sensitive_cell() -> None:
    """Else no audit would look at the cell."""
    at, level = np.array([OTHER]), np.array([1])
    insider = Insider("firm", np.array([CELL]), np.array([10]), np.array([10]), at, level, level, level)
    with pytest.raises(InputError, match=r"firm has levels of their own for \(row=2, column=2\)"):
        Problem(TABLE, one(), attackers=insider)
    assert Problem(TABLE, one() | one(OTHER), attackers=insider).insiders[:] == [insider]


@pytest.mark.parametrize("cell", [-1, N])
def test_positions_outside_the_table_are_refused(cell: int) -> None:
    for options in ({"must_publish": [cell]}, {"must_hide": [cell]}):
        with pytest.raises(InputError, match=f"no cell number {cell}"):
            Problem(TABLE, one(), **options)
    with pytest.raises(InputError, match=f"firm: there is no cell number {cell}"):
        Problem(TABLE, one(), attackers=Insider("firm", np.array([cell]), np.array([0]), np.array([99])))


def test_an_outsider_needs_bounds_for_every_cell() -> None:
    with pytest.raises(InputError, match="each cell, 9 in all"):
        Problem(TABLE, one(), attackers=Outsider(np.zeros(3, np.int64), np.full(3, UNBOUNDED)))


def test_everyone_knows_structural_zeros_whatever_bounds_are_given() -> None:
    table = Table.from_array([[0, 20], [30, 40]])
    structural = np.zeros(N, dtype=bool)
    structural[CELL] = True
    wide = Outsider(np.full(N, -UNBOUNDED), np.full(N, UNBOUNDED))
    problem = Problem(replace(table, structural=structural), one(OTHER), attackers=wide)
    assert [b.tolist() for b in problem.bounds_at(None, np.array([CELL]))] == [[0], [0]]
    assert wide.lower[CELL] == -UNBOUNDED


def test_an_insider_given_twice_is_one_attacker() -> None:
    insider = Insider.knowing("firm", TABLE, {OTHER: (40, 40)})
    assert Problem(TABLE, one(), attackers=[insider, insider]).attackers == ("outsider", "firm")


def test_frozen_and_forced_cells_may_not_contradict() -> None:
    with pytest.raises(InputError, match="sensitive, yet must be published"):
        Problem(TABLE, one(), must_publish=[CELL])
    with pytest.raises(InputError, match="must be published and must be hidden"):
        Problem(TABLE, one(), must_publish=[OTHER], must_hide=[OTHER])


@pytest.mark.parametrize(
    ("cost", "expected"), [("value", 10.0), ("unit", 1.0), ("log", np.log(11.0)), (np.arange(N), float(CELL))]
)
def test_costs(cost: object, expected: float) -> None:
    assert Problem(TABLE, one(), cost=cost).cost[CELL] == pytest.approx(expected)


@pytest.mark.parametrize("cost", ["count", "weight", np.ones(3), np.full(N, -1.0), np.full(N, np.nan)])
def test_costs_that_are_unknown_or_no_costs_are_refused(cost: object) -> None:
    with pytest.raises(InputError, match="cost"):
        Problem(TABLE, one(), cost=cost)


def test_a_rule_and_its_levels_ask_the_same() -> None:
    table = replace(TABLE, count=np.full(N, 2))
    rule = Threshold(3)
    assert np.array_equal(Problem(table, rule).sensitive, Problem(table, rule.levels(table)).sensitive)


def test_arrays_that_were_handed_over_stay_the_callers() -> None:
    table = Table.from_array([[1, 2], [3, 4]])
    sensitive, upper = np.zeros(len(table), dtype=bool), np.ones(len(table), dtype=np.int64)
    levels = Levels.of(sensitive, upper=upper)
    lower = np.zeros(len(table), dtype=np.int64)
    outsider = Outsider(lower, table.units + 5)
    sensitive[0], upper[0], lower[0] = True, 9, 1
    assert not levels.sensitive.any()
    assert outsider.lower[0] == 0
    with pytest.raises(ValueError, match="read-only"):
        levels.upper[0] = 3


@pytest.mark.parametrize(
    ("lower", "upper", "levels"),
    [
        (0, None, (3, 6)),
        (-10, None, (6, 6)),  # nobody knows that the cell is not negative
        (-10, 5, (6, 2)),
        (2, None, (1, 6)),
    ],
)
def test_a_percentage_is_asked_for_as_far_as_everyone_s_bounds_leave_room(
    lower: float, upper: float | None, levels: tuple[int, int]
) -> None:
    """Twice the value 3, however it is said: 6 below and above, or all that nobody knows better."""
    frame = pa.table({"region": ["N", "S"], "value": [3, 4], "status": ["u", ""]})
    table = Table.from_frame(frame, by=["region"], value="value", columns=["status"], counts=True)
    cell = table.find("N")
    everyone = Outsider.of(table, lower, [np.inf if upper is None or c != cell else upper for c in range(3)])
    marked = Marked([cell], protection=200)
    for said in (
        marked,
        marked.levels(table),
        FromColumns(protection=200),
        Threshold(4, protection=200),
        Exempt(marked | Marked([cell], lower=0, upper=1), [table.find("S")]),
    ):
        asked = Problem(table, said, everyone).levels
        assert (asked.lower[cell], asked.upper[cell]) == levels
