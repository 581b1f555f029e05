"""Problems, releases, audits and methods go to other processes and come back the same."""

from __future__ import annotations

import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import joblib
import numpy as np
import pytest
from scipy.sparse import csr_array

import tacita as tc
from tacita.engine.attack.presolved import PresolvedTable
from tacita.engine.attack.requirements import list_all_requirements
from tacita.engine.model import Affine, Model
from tacita.engine.search.solve_model import solve_model
from tacita.methods.method import METHODS, method_class

TABLE = tc.Table.from_array([[20, 50, 10], [8, 19, 22], [17, 32, 12]])
PROBLEM = tc.Problem(
    TABLE,
    "threshold(9) | marked([[1, 1]])",
    attackers=[tc.Insider.knowing("a rival", TABLE, {("1", "2"): (45, 55)})],
    already_published=tc.Release.suppress(TABLE, np.arange(len(TABLE)) != 0),
)


def protect(case: tuple[str, tc.Problem]) -> tc.Release:
    name, problem = case
    release: tc.Release = method_class(name)().protect(problem, tc.Run(60, seed=2**40))
    return release


def test_a_problem_comes_back_the_same() -> None:
    back = pickle.loads(pickle.dumps(PROBLEM))
    assert repr(back) == repr(PROBLEM)
    assert back.rule == PROBLEM.rule
    assert back.attackers == PROBLEM.attackers
    for cell in PROBLEM.sensitive.tolist():
        assert back.levels.explain(cell) == PROBLEM.levels.explain(cell)
    for level in ("lower", "upper", "sliding"):
        assert np.array_equal(getattr(back.levels, level), getattr(PROBLEM.levels, level))


def test_what_rules_find_can_be_pickled_with_microdata_behind_it() -> None:
    rows = {"region": ["N", "N", "N", "S", "S"], "firm": ["a", "b", "c", "a", "d"], "v": [90, 5, 5, 40, 41]}
    table = tc.tabulate(_frame(rows), by=["region"], value="v", respondent="firm")
    rules = "p-percent(10) | dominance(1, 80) | threshold(3)"
    problem = tc.Problem(table, rules)
    back = pickle.loads(pickle.dumps(problem))
    assert len(problem.sensitive)
    assert [back.levels.explain(c) for c in back.sensitive] == [
        problem.levels.explain(c) for c in problem.sensitive
    ]
    assert back.attackers == problem.attackers


def _frame(rows: dict[str, list[object]]) -> object:
    import pyarrow as pa

    return pa.table(rows)


@pytest.mark.parametrize("name", METHODS)
def test_methods_come_back_the_same(name: str) -> None:
    method = method_class(name)()
    assert pickle.loads(pickle.dumps(method)) == method


def test_audits_and_releases_come_back_the_same() -> None:
    release = tc.Suppression().protect(PROBLEM)
    found = tc.audit(PROBLEM, release)
    for noun in (release, found, tc.deduce(PROBLEM, release), tc.compare(PROBLEM, [release]), TABLE):
        back = pickle.loads(pickle.dumps(noun))
        assert back.to_arrow().equals(noun.to_arrow())
    back = pickle.loads(pickle.dumps(found))
    assert back.verdict == found.verdict
    assert tc.verify.verify(tc.certify(back)) == tc.verify.verify(tc.certify(found))


def test_the_small_nouns_come_back_the_same() -> None:
    rows = tc.Hierarchy.from_dict({"N": {"N1": {}, "N2": {}}, "S": {}})
    nouns = (
        *(rows, PROBLEM.outsider, PROBLEM.attackers[0], PROBLEM.rule),
        *(tc.Specification(), tc.ReadOptions(), tc.Outcome(tc.Status.FEASIBLE, 5.0, 4.0)),
    )
    for noun in nouns:
        back = pickle.loads(pickle.dumps(noun))
        assert type(back) is type(noun)
        assert repr(back) == repr(noun)
    errors = (
        tc.InputError("wrong", place="line 3", remedy="mend it", options=["value"]),
        tc.UndeclaredSumsError("sums", ("region",), place="a.csv"),
        tc.WorkersError("gone", remedy="start them"),
    )
    for error in errors:
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error)
        assert (str(again), vars(again)) == (str(error), vars(error))


def test_models_and_presolved_tables_come_back_the_same() -> None:
    n = len(TABLE)
    zero, rows = Affine.zero(n, n), csr_array((0, n))
    model = Model(
        cost=TABLE.values,
        lower=PROBLEM.levels.sensitive.astype(float),
        upper=np.ones(n),
        integer=np.ones(n, dtype=bool),
        rows=rows,
        row_lower=np.empty(0),
        row_upper=np.empty(0),
        problem=PROBLEM,
        above=zero,
        below=zero,
        switch=np.arange(n),
        requirements=list_all_requirements(PROBLEM),
    )
    presolved = PresolvedTable.of(model)
    back = pickle.loads(pickle.dumps(presolved))
    assert np.array_equal(back.cells, presolved.cells)
    assert np.array_equal(back.matrix.toarray(), presolved.matrix.toarray())
    assert solve_model(back.model).loss == solve_model(model).loss


def test_processes_protect() -> None:
    problem = tc.Problem(TABLE, "threshold(9)")
    names = ["suppression", "rounding"]
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        releases = list(pool.map(protect, [(name, problem) for name in names]))
    for name, release in zip(names, releases, strict=True):
        assert release.to_arrow().equals(protect((name, problem)).to_arrow())
        assert tc.audit(problem, release).safe


def test_joblib_protects() -> None:
    problem = tc.Problem(TABLE, "threshold(9)")
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(protect)(("suppression", problem)) for _ in range(2))
    assert found[0].to_arrow().equals(found[1].to_arrow())
