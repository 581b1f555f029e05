"""Mixtures: who gets which method, and that all of them together protect."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from budget import examples
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.core.errors import InfeasibleError, InputError
from tacita.core.release import Mark
from tacita.methods import make_method
from tacita.methods.intervals.intervals import Intervals
from tacita.methods.mixture.mixture import Mixture
from tacita.methods.mixture.partition import assign_cells, parse_parts
from tacita.methods.perturbation import Perturbation
from tacita.methods.rounding.rounding import Rounding
from tacita.methods.suppression.suppression import Suppression
from tacita.testing import check_method, problems, tables

FIGURE_1 = [[20, 50, 10], [8, 19, 22], [17, 32, 12]]
NETWORKS, CUBES = ((3,), (2, 2), (2, 3), (3, 3)), ((2, 2, 2),)

PARTS = st.sampled_from(
    [
        "rest: suppression or intervals",
        "totals: rounding(base=3), rest: suppression",
        "totals: intervals, rest: suppression or intervals(minimum_width=2)",
        "inner: perturbation(radius=4, sensitive=free), rest: intervals",
        "sensitive: intervals, totals: suppression, rest: intervals(at_most=4)",
    ]
)


def problem_of(columns=None, **more) -> tc.Problem:
    table = tc.Table.from_array(
        FIGURE_1,
        names=["activity", "region"],
        codes=[["I", "II", "III"], ["A", "B", "C: east"]],
        counts=False,
    )
    table = replace(table, columns=columns or {})
    return tc.Problem(table, tc.Marked([table.find("II", "C: east")], lower=10, upper=12), **more)


def cells(problem: tc.Problem, parts) -> list[list[int]]:
    return [np.flatnonzero(mask).tolist() for mask, _ in assign_cells(problem, parse_parts(parts))]


@pytest.mark.parametrize("shapes", [NETWORKS, CUBES], ids=["networks", "cubes"])
@given(data=st.data())
@examples(20)
def test_releases_pass_the_audit(shapes, data: st.DataObject) -> None:
    problem, parts = data.draw(problems(tables(shapes))), data.draw(PARTS)
    try:
        release = check_method(Mixture(parts), problem)
    except InfeasibleError:
        return
    assert release.outcome.bound <= release.outcome.loss
    total = problem.table.structure.is_total
    if "rounding" in parts:
        assert set(release.marks[total]) <= {Mark.ROUNDED, Mark.PUBLISHED}
        assert set(release.marks[~total]) <= {Mark.SUPPRESSED, Mark.PUBLISHED}


def test_suppression_as_a_part_is_suppression() -> None:
    """Salazar's optimum for Figure 1: 85, of it 63 for cells that are not sensitive."""
    release = check_method(Mixture("rest: suppression"), problem_of())
    assert release.outcome.loss == 85
    assert set(release.marks) == {Mark.PUBLISHED, Mark.SUPPRESSED}


def test_the_cheaper_of_hiding_and_an_interval_is_taken() -> None:
    free_to_hide = np.zeros(16)
    hidden = check_method(
        Mixture("rest: suppression or intervals(weight_up=unit, weight_down=unit)"),
        problem_of(cost=free_to_hide),
    )
    assert hidden.outcome.loss == 0
    assert Mark.INTERVAL not in hidden.marks
    dear_to_hide = np.full(16, 1e4)
    told = check_method(
        Mixture("rest: suppression or intervals(weight_up=unit, weight_down=unit, ends=exact)"),
        problem_of(cost=dear_to_hide),
    )
    assert told.outcome.loss == 88
    assert Mark.SUPPRESSED not in told.marks


def test_cells_in_no_part_are_published() -> None:
    problem = problem_of()
    release = check_method(Mixture("inner: suppression"), problem)
    assert not release.changed[problem.table.structure.is_total].any()


def test_numbers_of_one_kind_add_up() -> None:
    problem = problem_of()
    release = check_method(Mixture("totals: rounding(base=10), rest: suppression"), problem)
    total = problem.table.structure.is_total
    equations = problem.table.equations
    among_totals = [j for j in range(len(equations)) if total[equations.row(j)[0]].all()]
    assert among_totals
    assert not equations.residuals(release.value)[among_totals].any()


def test_what_must_be_hidden_is_hidden_one_way_or_the_other() -> None:
    release = check_method(Mixture(), problem_of(must_hide=[0, 3]))
    assert release.hidden[[0, 3]].all()
    with pytest.raises(InfeasibleError, match="must be hidden, but the method publishes it"):
        Mixture("inner: suppression").protect(problem_of(must_hide=[0]))


def test_words_for_cells() -> None:
    kind = np.array(["x", "y"] * 8)
    problem = problem_of({"kind": kind, "flag": np.arange(16) % 3 == 0})
    table = problem.table
    total, codes = table.structure.is_total, [table.structure.key(c) for c in range(16)]
    assert cells(problem, "totals: rounding, inner: suppression") == [
        np.flatnonzero(total).tolist(),
        np.flatnonzero(~total).tolist(),
    ]
    assert cells(problem, "sensitive: intervals") == [problem.sensitive.tolist()]
    assert cells(problem, "activity=I: intervals") == [[c for c in range(16) if codes[c][0] == "I"]]
    assert cells(problem, "region='C: east': intervals") == [
        [c for c in range(16) if codes[c][1] == "C: east"]
    ]
    assert cells(problem, "kind=y: intervals") == [[*range(1, 16, 2)]]
    assert cells(problem, "flag: intervals") == [[*range(0, 16, 3)]]


def test_the_first_part_that_names_a_cell_has_it() -> None:
    inner, first, rest = cells(problem_of(), "inner: intervals, activity=I: suppression, rest: rounding")
    assert sorted([*inner, *first, *rest]) == [*range(16)]
    assert len(inner) == 9
    assert len(first) == 1


def test_parts_from_python() -> None:
    problem = problem_of()
    mask = problem.table.structure.is_total
    written = Mixture("totals: perturbation(radius=8), rest: intervals").protect(problem, tc.Run(seed=3))
    for parts in (
        {"totals": Perturbation(radius=8), "rest": Intervals()},
        [(mask, Perturbation(radius=8)), (~mask, Intervals())],
        {"totals": "perturbation(radius=8)", "rest": "intervals"},
    ):
        release = Mixture(parts).protect(problem, tc.Run(seed=3))
        assert release.outcome.loss == written.outcome.loss
    both = Mixture({"rest": (Intervals(), Suppression())}).protect(problem, tc.Run(seed=3))
    assert both.outcome.loss == Mixture().protect(problem, tc.Run(seed=3)).outcome.loss


def test_mixtures_are_the_same_if_their_parts_are() -> None:
    said = Mixture("totals: rounding(base=5), rest: suppression or intervals")
    assert said == Mixture({"totals": Rounding(base=5), "rest": (Intervals(), Suppression())})
    assert said != Mixture("totals: rounding(base=10), rest: suppression or intervals")
    assert said != Mixture("inner: rounding(base=5), rest: suppression or intervals")
    some, others = np.array([True, False]), np.array([False, True])
    assert Mixture([(some, Suppression())]) == Mixture([(some.copy(), Suppression())])
    assert Mixture([(some, Suppression())]) != Mixture([(others, Suppression())])


def test_the_record_says_which_part_did_what() -> None:
    method = make_method("mixture", {"parts": "totals: rounding(base=30), rest: suppression"})
    told = method.protect(problem_of()).made_by["options"]["parts"]
    assert [part["cells"] for part in told] == ["totals", "rest"]
    assert told[0]["methods"][0]["method"] == "rounding"
    assert told[0]["methods"][0]["options"]["base"] == 30
    masked = Mixture([(np.ones(16, dtype=bool), Intervals())]).protect(problem_of())
    assert masked.made_by["options"]["parts"][0]["cells"] == "16 listed cells"


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ("", "needs at least one part"),
        ("totals", "'totals' is no part of a mixture: write cells, a colon and a method"),
        ("total: rounding", r"'total' names no cells \(did you mean 'totals'\?\)"),
        ("regoin=A: rounding", r"did you mean 'region'"),
        ("rest: roundin", r"there is no method 'roundin' \(did you mean 'rounding'\?\)"),
        ("rest: rounding(bas=5)", r"has no option 'bas' \(did you mean 'base'\?\)"),
        ("rest: rounding(5)", "'5' in 'rounding\\(5\\)' is no option: write option=value"),
        ("rest: rounding(base=5", "a bracket is not closed"),
        ("rest: rounding or intervals", "'rounding or intervals' cannot be part of a mixture"),
        ("rest: mixture", "'mixture' cannot be part of a mixture"),
        ([(np.ones(3, dtype=bool), Rounding())], "lists 3 cells of 16"),
    ],
)
def test_mistakes_are_named(parts, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Mixture(parts).protect(problem_of())


def test_suppression_in_a_mixture_keeps_its_options() -> None:
    problem = tc.generate.problem((6, 6), "uniform", sensitive=3, seed=3)
    table = problem.table
    inner = Mixture("rest: suppression(margins=no)").protect(problem)
    assert not (inner.changed & table.structure.is_total).any()
    hidden = int(Suppression().protect(problem).changed.sum())
    cheapest = Suppression().protect(tc.Problem(table, problem.levels, cost="unit")).changed.sum()
    limited = Mixture(f"rest: suppression(at_most={cheapest})").protect(problem)
    assert limited.changed.sum() <= cheapest <= hidden
    with pytest.raises(InfeasibleError):
        Mixture(f"rest: suppression(at_most={cheapest - 1})").protect(problem)
    with pytest.raises(InputError, match="conditional"):
        Mixture("rest: suppression(conditional=5)").protect(problem)
