"""The audit never calls an unsafe release safe: small cases whose answers are known beforehand."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

import tacita as tc
from tacita import generate
from tacita.auditing.audit import Audit, audit
from tacita.auditing.block_tasks import BlockTask
from tacita.auditing.certificate import certify
from tacita.auditing.deduce import deduce, expose
from tacita.core.attacker import Insider, Outsider
from tacita.core.errors import ReleaseError, UnsafeError
from tacita.core.exact import UNBOUNDED
from tacita.core.levels import Levels
from tacita.core.release import Mark, Release
from tacita.core.run import Run
from tacita.core.tables.equations import Equations
from tacita.core.tables.structure import Structure
from tacita.core.tables.table import Table
from tacita.problem.problem import Problem

SQUARE = Table.from_array([[10, 20], [30, 40]], counts=False)
INNER = [SQUARE.find(r, c) for r in "12" for c in "12"]


def sensitive(
    table: Table, cells: list[int], upper: int = 1, lower: int | None = None, sliding: int = 0
) -> Levels:
    hit = np.zeros(len(table), dtype=bool)
    hit[cells] = True
    n = len(table)
    below = None if lower is None else np.full(n, lower)
    return Levels.of(hit, upper=np.full(n, upper), lower=below, sliding=np.full(n, sliding))


def system(values: list[int], rows: list[tuple[list[int], list[int]]], integer: bool = False) -> Table:
    """A table that is nothing but equations."""
    units = np.array(values)
    equations = Equations.from_rows([(c, m, int(np.dot(m, units[c]))) for c, m in rows], units.size)
    labels = tuple(map(str, range(units.size)))
    return Table(
        Structure((), np.empty((units.size, 0), np.int32), equations, labels), units, integer=integer
    )


def hide(problem: Problem, cells: list[int], run: Run | None = None) -> Audit:
    return audit(problem, Release.suppress(problem.table, np.array(cells, dtype=np.int64)), run)


def verdicts(found: Audit) -> list[str]:
    return [finding.verdict for finding in found.findings()]


# ---------------------------------------------------------------------- levels


@pytest.mark.parametrize(
    ("levels", "verdict"),
    [
        ({"upper": 20, "lower": 10}, "safe"),
        ({"upper": 21, "lower": 10}, "below upper"),
        ({"upper": 1, "lower": 1, "sliding": 30}, "safe"),
        ({"upper": 1, "lower": 1, "sliding": 31}, "below sliding"),
        ({"upper": 21, "lower": 1, "sliding": 31}, "below upper, below sliding"),
    ],
)
def test_the_hidden_square_moves_by_its_smallest_cells(levels: dict[str, int], verdict: str) -> None:
    """Cell 10 in [[10, 20], [30, 40]] can fall to 0 and rise to 30 (until 20 is 0), not a unit further."""
    problem = Problem(SQUARE, sensitive(SQUARE, INNER[:1], **levels))
    found = hide(problem, INNER)
    assert verdicts(found) == [verdict]
    assert found.safe == (verdict == "safe")


def test_the_lower_level_counts_on_its_own() -> None:
    """Cell 40 can fall by 10 only, since cell 10 falls with it."""
    problem = Problem(SQUARE, sensitive(SQUARE, INNER[3:], upper=1, lower=11))
    assert verdicts(hide(problem, INNER)) == ["below lower"]


def test_a_published_sensitive_cell_is_disclosed() -> None:
    problem = Problem(SQUARE, sensitive(SQUARE, INNER[:1]))
    assert verdicts(hide(problem, [])) == ["exact disclosure, below upper, below lower"]
    assert verdicts(hide(problem, INNER[1:])) == ["exact disclosure, below upper, below lower"]


def test_a_cell_without_company_is_worked_out() -> None:
    problem = Problem(SQUARE, sensitive(SQUARE, INNER[:1]))
    found = hide(problem, INNER[:2])
    assert found.counts == {"safe": 0, "checked": 1, "proven": 0, "unsafe": 1, "exact": 1}


def test_nothing_sensitive_is_safe_whatever_is_published() -> None:
    found = hide(Problem(SQUARE, Levels.none(len(SQUARE))), [])
    assert found.safe
    assert found.counts["checked"] == 0


def test_windows_bound_what_can_be_thought() -> None:
    n = len(SQUARE)
    inner = np.array(INNER)
    for radius, safe in ((4, False), (5, True)):
        release = Release.intervals(SQUARE, inner, SQUARE.units - radius, SQUARE.units + radius)
        assert audit(Problem(SQUARE, sensitive(SQUARE, INNER[:1], upper=5)), release).safe is safe
    narrow = Release.intervals(SQUARE, inner, np.full(n, -UNBOUNDED), SQUARE.units + 3)
    assert not audit(Problem(SQUARE, sensitive(SQUARE, INNER[:1], upper=4)), narrow).safe


# ---------------------------------------------------------------------- systems


def test_a_cell_in_no_equation_is_as_free_as_its_window() -> None:
    table = system([5, 7, 7], [([1, 2], [1, -1])])
    assert hide(Problem(table, sensitive(table, [0], upper=1000, lower=5)), [0]).safe
    known = Problem(table, sensitive(table, [0], 2), attackers=Outsider(table.units - 2, table.units + 2))
    assert hide(known, [0]).safe
    assert not hide(known, []).safe


def test_repeated_and_redundant_equations_change_nothing() -> None:
    rows = [([0, 1, 2], [-1, 1, 1]), ([0, 1, 2], [1, -1, -1]), ([0, 1, 2], [-2, 2, 2])]
    for k in range(1, 4):
        table = system([9, 4, 5], rows[:k])
        problem = Problem(table, sensitive(table, [1], 4))
        assert hide(problem, [1, 2]).safe
        assert not hide(problem, [1]).safe


def test_coefficients_scale_what_moves() -> None:
    """2 x + 3 y = 12 with counts: x is 0, 3 or 6, so it cannot be thought to lie one or two beside 3."""
    table = system([3, 2, 12], [([0, 1, 2], [2, 3, -1])], integer=True)
    assert hide(Problem(table, sensitive(table, [0], 3)), [0, 1]).safe
    magnitudes = replace(table, integer=False)
    one_more = sensitive(table, [0], upper=0, lower=0, sliding=6)
    assert hide(Problem(magnitudes, one_more), [0, 1]).safe
    bounded = Outsider(np.array([1, 0, 0]), np.array([5, 9, 99]))
    assert hide(Problem(magnitudes, sensitive(table, [0], 2), attackers=bounded), [0, 1]).safe
    found = hide(Problem(table, sensitive(table, [0], 2), attackers=bounded), [0, 1])
    assert not found.safe


def test_negative_cells_move_within_what_is_known_of_them() -> None:
    table = Table.from_array([[-10, 20], [30, -40]])
    wide = Outsider.of(table, lower=-np.inf)
    cells = [table.find(r, c) for r in "12" for c in "12"]
    assert hide(Problem(table, sensitive(table, cells[:1], 1000), attackers=wide), cells).safe
    near = Outsider.within(table, 0.1, 0.1)
    assert hide(Problem(table, sensitive(table, cells[:1], 1), attackers=near), cells).safe
    assert not hide(Problem(table, sensitive(table, cells[:1], 1), attackers=near), cells[:1]).safe


def test_structural_zeros_do_not_move_even_if_hidden() -> None:
    table = Table.from_array([[0, 20], [30, 40]])
    structural = np.zeros(len(table), dtype=bool)
    structural[INNER[0]] = True
    wide = Outsider(np.full(len(table), -UNBOUNDED), np.full(len(table), UNBOUNDED))
    levels = sensitive(table, INNER[3:])
    assert hide(Problem(table, levels, attackers=wide), INNER).safe
    found = hide(Problem(replace(table, structural=structural), levels, attackers=wide), INNER)
    assert verdicts(found) == ["exact disclosure, below upper, below lower"]


def test_two_hundred_billion_with_cents() -> None:
    """The smallest level and the largest one that still hold, and one cent more."""
    table = Table.from_array([[2e11 + 0.01, 3e11], [4e11 + 0.99, 1e11 + 0.5]], decimals=2)
    cells = [table.find(r, c) for r in "12" for c in "12"]
    most = int(table.units[cells[3]])
    for upper, safe in ((1, True), (most, True), (10**16, False)):
        problem = Problem(table, sensitive(table, cells[1:2], upper, lower=0))
        assert hide(problem, cells).safe is safe


# ---------------------------------------------------------------------- insiders


def test_an_insider_sees_through_what_an_outsider_does_not() -> None:
    problem = Problem(SQUARE, sensitive(SQUARE, INNER[:1], 5))
    knows = Insider.knowing("neighbour", SQUARE, {INNER[3]: (40, 40)})
    assert hide(problem, INNER).safe
    found = hide(Problem(SQUARE, problem.levels, attackers=knows), INNER)
    assert not found.safe
    assert [(f.attacker, f.verdict) for f in found.findings(only_unsafe=True)] == [
        ("neighbour", "exact disclosure, below upper, below lower")
    ]


def test_an_insider_with_own_levels_is_held_to_them() -> None:
    levels = sensitive(SQUARE, INNER[:1], 5)
    for level, safe in ((7, True), (8, False)):
        own = [np.array([x]) for x in (0, level, 0)]
        knows = Insider(
            "firm", np.array(INNER[3:]), np.array([33]), np.array([47]), np.array(INNER[:1]), *own
        )
        assert hide(Problem(SQUARE, levels, attackers=knows), INNER).safe is safe


def test_an_insider_elsewhere_changes_nothing() -> None:
    table = Table.from_array([[10, 20, 5], [30, 40, 5]], counts=False)
    cells = [table.find(r, c) for r in "12" for c in "12"]
    knows = Insider.knowing("elsewhere", table, {table.find("1", "3"): (5, 5)})
    problem = Problem(table, sensitive(table, cells[:1], 5), attackers=knows)
    found = hide(problem, cells)
    assert found.safe
    assert [found.verdicts(need).tolist() for need in problem.requirements()] == [[0], [0]]


def test_an_insiders_target_that_is_published_is_disclosed_to_him() -> None:
    levels = sensitive(SQUARE, INNER[:1], upper=0, lower=0, sliding=1)
    own = [np.array([x]) for x in (1, 1, 0)]
    insider = Insider("firm", np.array(INNER[3:]), np.array([0]), np.array([99]), np.array(INNER[:1]), *own)
    found = hide(Problem(SQUARE, levels, attackers=insider), INNER[1:])
    assert {f.attacker for f in found.findings(only_unsafe=True)} == {"outsider", "firm"}


# ---------------------------------------------------------------------- integers

COUNTS = [
    [[0, 1, 0], [0, 1, 1], [0, 0, 0]],
    [[1, 1, 0], [1, 1, 0], [0, 1, 1]],
    [[1, 1, 1], [0, 1, 1], [0, 0, 0]],
]
HIDDEN = [
    *(0, 2, 3, 5, 6, 8, 9, 12, 13, 14, 17, 20, 21, 23, 24, 25, 26, 27, 28, 31),
    *(33, 34, 36, 37, 39, 41, 42, 44, 46, 48, 50, 51, 52, 54, 56, 57, 58, 59, 60, 63),
]
ONLY_FRACTIONAL = {0: 14, 2: 7, 48: 5, 50: 2}


def fractional_case(integer: bool) -> Problem:
    table = Table.from_array(COUNTS, counts=integer)
    outsider = Outsider(np.zeros(len(table), dtype=np.int64), table.units + 1)
    return Problem(table, sensitive(table, HIDDEN, upper=1, lower=0), attackers=outsider)


def test_where_only_a_fractional_table_reaches_the_level_counts_are_not_proven() -> None:
    found = hide(fractional_case(integer=True), HIDDEN)
    told = {f.cell for f in found.findings() if f.verdict == "only fractional"}
    assert told == set(ONLY_FRACTIONAL)
    assert not found.safe
    assert found.counts["safe"] - found.counts["proven"] == len(ONLY_FRACTIONAL)
    assert "4 of them only if an attacker does not know that cells are integers" in found.verdict
    magnitudes = hide(fractional_case(integer=False), HIDDEN)
    assert all(f.verdict == "safe" for f in magnitudes.findings() if f.cell in ONLY_FRACTIONAL)


def test_only_fractional_alone_is_not_safe_and_has_no_certificate() -> None:
    case = fractional_case(integer=True)
    levels = sensitive(case.table, list(ONLY_FRACTIONAL), upper=1, lower=0)
    found = hide(Problem(case.table, levels, attackers=case.outsider), HIDDEN)
    assert found.counts == {"safe": 4, "checked": 4, "proven": 0, "unsafe": 0, "exact": 0}
    assert not found.safe
    with pytest.raises(UnsafeError, match="are integers"):
        certify(found)


def test_deduced_bounds_of_counts_are_attained_by_whole_tables() -> None:
    """The linear optimum of these cells is a whole number that only fractional tables attain."""
    case = fractional_case(integer=True)
    release = Release.suppress(case.table, np.array(HIDDEN))
    deduced = deduce(case, release)
    assert {cell: deduced.of(cell)[1] for cell in ONLY_FRACTIONAL} == ONLY_FRACTIONAL
    anyone = expose(release, case.outsider.lower, case.outsider.upper, integer=True)
    assert np.array_equal(anyone.high, deduced.high)
    assert np.array_equal(anyone.low, deduced.low)
    loose = deduce(fractional_case(integer=False), release)
    assert {cell: loose.of(cell)[1] for cell in ONLY_FRACTIONAL} == {
        c: v + 1 for c, v in ONLY_FRACTIONAL.items()
    }


def test_counts_with_decimals_move_in_whole_steps() -> None:
    """Cell 1 lies in [0, 3] in whole steps; a window of 0.9 on either side leaves nothing but the truth."""
    table = Table.from_array([[1, 2], [3, 4]]).with_decimals(1)
    problem = Problem(table, sensitive(table, INNER[:1], 1, lower=1))
    assert hide(problem, INNER).safe
    near = Release.intervals(table, np.array(INNER), table.units - 9, table.units + 9)
    found = audit(problem, near)
    assert verdicts(found) == ["exact disclosure, below upper, below lower"]


def test_a_sliding_level_that_needs_both_ends_is_proven() -> None:
    """x moves by 13/9 up and 39/68 down: neither alone, nor whole steps, are 2 wide."""
    table = system([9, 9, 9, 0], [([0, 1], [9, -1]), ([0, 2], [68, -1])])
    low, high = np.array([0, 9 - 1000, 9 - 39, 0]), np.array([99, 9 + 13, 9 + 5000, 0])
    problem = Problem(table, sensitive(table, [0], 0, 0, 2), attackers=Outsider(low, high))
    assert hide(problem, [0, 1, 2]).safe
    wider = Problem(table, sensitive(table, [0], 0, 0, 3), attackers=Outsider(low, high))
    assert verdicts(hide(wider, [0, 1, 2])) == ["below sliding"]


# ---------------------------------------------------------------------- effort


def _findings(found: Audit) -> list[tuple[int, str, int]]:
    return [(f.cell, f.attacker, f.bits) for f in found.findings()]


def _pieces() -> tuple[Problem, list[int]]:
    """Many separate squares, more than one task's worth."""
    table = Table.from_array(np.arange(1, 4801).reshape(120, 40), counts=False)
    cells = [
        table.find(str(r + i), str(c + j))
        for r in range(1, 120, 2)
        for c in (1 + r % 38,)
        for i in (0, 1)
        for j in (0, 1)
    ]
    return Problem(table, sensitive(table, cells[::4], 1)), cells


@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_executors_give_the_same_audit(kind: str) -> None:
    problem, cells = _pieces()
    alone = hide(problem, cells)
    executor: Executor = (
        ThreadPoolExecutor(2)
        if kind == "threads"
        else ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))
    )
    with executor:
        together = hide(problem, cells, Run(executor=executor))
    assert _findings(together) == _findings(alone)
    assert together.safe is alone.safe is True
    assert certify(together)["claims"] == certify(alone)["claims"]


@pytest.mark.parametrize("kind", ["no time", "cancelled"])
def test_without_time_nothing_is_safe(kind: str) -> None:
    run = Run(time_limit=0) if kind == "no time" else Run()
    if kind == "cancelled":
        run.cancel()
    problem, cells = _pieces()
    found = hide(problem, cells, run)
    assert not found.safe
    assert set(verdicts(found)) == {"unproven"}
    assert found.counts["proven"] == found.counts["safe"] == found.counts["unsafe"] == 0
    with pytest.raises(UnsafeError, match="not settled"):
        certify(found)


def test_a_cancel_on_the_way_leaves_the_rest_unproven() -> None:
    problem, cells = _pieces()
    run = Run(listener=lambda event: run.cancel() if event.total else None)
    found = hide(problem, cells, run)
    assert not found.safe
    assert {"safe", "unproven"} == set(verdicts(found))


def test_deductions_that_time_cut_off_are_not_numbers() -> None:
    deduced = deduce(
        Problem(SQUARE, sensitive(SQUARE, INNER[:1])),
        Release.suppress(SQUARE, np.array(INNER)),
        run=Run(time_limit=0),
    )
    assert np.isnan(deduced.low).all()
    assert np.isnan(deduced.high).all()
    assert not deduced.known.any()


# ---------------------------------------------------------------------- releases that do not belong


def test_releases_of_other_tables_are_refused() -> None:
    problem = Problem(SQUARE, sensitive(SQUARE, INNER[:1]))
    everything = np.ones(len(SQUARE), dtype=bool)
    with pytest.raises(ReleaseError, match="cells, the table"):
        audit(problem, Release.suppress(Table.from_array([1, 2]), np.array([0])))
    for other in (
        Table.from_array([[10, 20], [30, 40]], names=["a", "b"]),
        Table.from_array([[10, 20], [30, 40]], codes=[["2", "1"], ["1", "2"]]),
        system([0] * 9, []),
    ):
        with pytest.raises(ReleaseError, match="other cells than the table"):
            audit(problem, Release.suppress(other, everything))


def test_a_release_of_the_same_table_with_other_decimals_is_understood() -> None:
    problem = Problem(SQUARE, sensitive(SQUARE, INNER[:1], 5))
    finer = SQUARE.with_decimals(2)
    assert audit(problem, Release.suppress(finer, np.array(INNER))).safe
    windows = Release.intervals(finer, np.array(INNER), finer.units - 599, finer.units + 599)
    assert audit(problem, windows).safe
    assert not audit(Problem(SQUARE, sensitive(SQUARE, INNER[:1], 6)), windows).safe
    assert audit(Problem(finer, sensitive(finer, INNER[:1], 599)), windows).safe
    assert audit(
        Problem(finer, sensitive(finer, INNER[:1], 500)), Release.suppress(SQUARE, np.array(INNER))
    ).safe


def test_an_untrue_release_is_refused_by_cell() -> None:
    problem = Problem(SQUARE, sensitive(SQUARE, INNER[:1]))
    wrong = Release.suppress(Table.from_array([[10, 20], [30, 41]], counts=False), np.array(INNER[:1]))
    with pytest.raises(ReleaseError, match=r"untrue about .*row=2, column=2"):
        audit(problem, wrong)
    far = Release.mixed(
        SQUARE,
        np.arange(len(SQUARE)) == INNER[0],
        Mark.ADJUSTED,
        SQUARE.units + 1,
        SQUARE.units + 3,
        value=SQUARE.units + 2,
    )
    with pytest.raises(ReleaseError, match="radii are as large"):
        audit(problem, far)


def test_expose_finds_contradictions_without_the_truth() -> None:
    wrong = replace(Release.suppress(SQUARE, np.array(INNER[:1])))
    value = wrong.value.copy()
    low, high = wrong.low.copy(), wrong.high.copy()
    value[INNER[3]] = low[INNER[3]] = high[INNER[3]] = 39
    with pytest.raises(ReleaseError, match=r"does not add up|contradicts"):
        expose(replace(wrong, value=value, low=low, high=high))


def test_a_part_may_have_targets_of_insiders_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Large blocks are split, and insiders can have far more targets of their own than the outsider."""
    made = generate.microdata(300, {"region": (4, 2), "industry": (5, 2), "size": (3, 1)}, respondents=300)
    table = tc.tabulate(made.records, made.hierarchies, value="value", respondent="respondent", decimals=0)
    problem = tc.Problem(table, "p-percent(15)")
    release = tc.Suppression(search="construction").protect(problem)
    whole = tc.audit(problem, release)

    def split(task: BlockTask) -> Iterator[BlockTask]:
        nothing, insiders = slice(0, 0), task.insiders
        assert insiders.own_who.size
        yield replace(task, common=task.common.take(nothing), is_part=True)
        none = replace(
            insiders, own_who=insiders.own_who[nothing], own_targets=insiders.own_targets.take(nothing)
        )
        yield replace(task, insiders=none, is_part=True)

    monkeypatch.setattr(BlockTask, "split", split)
    in_parts = tc.audit(problem, release)
    assert in_parts.verdict == whole.verdict
    assert in_parts.safe


def test_distances_of_nothing_have_no_sign() -> None:
    """A solver may leave a negative zero where nothing moves; readers of the frame do not see it."""
    table = tc.Table.from_array([[2, 9], [8, 7]])
    problem = tc.Problem(table, tc.Threshold(3))
    found = tc.audit(problem, tc.Release.suppress(table, problem.sensitive))
    (own,) = found.answers
    signed = replace(found, answers=(replace(own, below=np.array([-0.0]), above=np.array([-0.0])),))
    shown = signed.to_pandas()[["below", "above"]].to_numpy()
    assert (shown == 0).all()
    assert not np.signbit(shown).any()
