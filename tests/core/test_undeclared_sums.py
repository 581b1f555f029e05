"""Codes whose numbers are sums of others' are refused with the classification that was found."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.app.work.opening import open_case_at, open_case_of_files, open_case_of_text
from tacita.cli import main
from tacita.core.errors import InputError, TacitaWarning, UndeclaredSumsError
from tacita.core.hierarchy import Hierarchy
from tacita.core.tables.read_options import ReadOptions
from tacita.core.tables.undeclared_sums import CERTAIN, Found
from tacita.specification.project import load_project
from tacita.specification.read_case import read_case

LEAVES = np.array([[31, 7, 12], [5, 2, 9], [18, 40, 3], [26, 11, 35]])
NORTH, SOUTH = LEAVES[:2].sum(axis=0), LEAVES[2:].sum(axis=0)
CODES = ("N1", "N2", "North", "S1", "S2", "South")
ROWS = np.vstack([LEAVES[:2], NORTH, LEAVES[2:], SOUTH])
TREE = Hierarchy.from_dict({"North": ["N1", "N2"], "South": ["S1", "S2"]})


def page(rows: np.ndarray, codes: tuple[str, ...] = CODES, names: str = "a,b,c") -> str:
    lines = (f"{code}," + ",".join(map(str, row)) for code, row in zip(codes, rows.tolist(), strict=True))
    return f"region,{names}\n" + "\n".join(lines) + "\n"


@pytest.fixture
def case(tmp_path: Path) -> Path:
    path = tmp_path / "case.csv"
    path.write_text(page(ROWS))
    return path


def tree_of(case: tc.Table | tc.Problem) -> Hierarchy:
    table = case if isinstance(case, tc.Table) else case.table
    return next(d for d in table.structure.dimensions if d.name == "region").trees[0]


def test_a_crosstab_with_subtotals_is_refused_with_its_classification(case: Path) -> None:
    with pytest.raises(UndeclaredSumsError, match=r"North = N1 \+ N2, South = S1 \+ S2") as refused:
        read_case(case)
    assert refused.value.dimensions == ("region",)
    with pytest.raises(UndeclaredSumsError):
        read_case(case, repair=True)
    table = read_case(case, found=["region"])
    assert tree_of(table) == TREE
    assert isinstance(table, tc.Table)
    assert any("classification of 'region' found: North = N1 + N2" in note for note in table.notes)


def test_what_was_called_safe_is_not_with_the_classification(case: Path) -> None:
    ignored = read_case(case, rule="threshold(3)", undeclared_sums="ignore")
    found = read_case(case, rule="threshold(3)", found=["region"])
    assert isinstance(ignored, tc.Problem)
    assert isinstance(found, tc.Problem)
    corners = [("N2", "b"), ("N2", "a"), ("S1", "b"), ("S1", "a")]
    assert tc.audit(ignored, tc.Release.suppress(ignored.table, corners)).safe
    assert not tc.audit(found, tc.Release.suppress(found.table, corners)).safe


@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4, 5), (2, 0, 1, 5, 3, 4), (5, 0, 3, 2, 1, 4)])
@pytest.mark.parametrize("total", [False, True])
def test_totals_stand_after_before_or_anywhere(tmp_path: Path, order: tuple[int, ...], total: bool) -> None:
    rows, codes = ROWS[list(order)], tuple(CODES[k] for k in order)
    if total:
        rows, codes = np.vstack([rows, NORTH + SOUTH]), (*codes, "Total")
    path = tmp_path / "case.csv"
    path.write_text(page(rows, codes))
    with pytest.raises(UndeclaredSumsError):
        read_case(path)
    tree = tree_of(read_case(path, found=["region"]))
    assert {code: set(tree.children(code)) for code in ("North", "South", "Total")} == {
        "North": {"N1", "N2"},
        "South": {"S1", "S2"},
        "Total": {"North", "South"},
    }


def test_columns_of_a_crosstab_are_searched_too(tmp_path: Path) -> None:
    path = tmp_path / "case.csv"
    path.write_text(page(ROWS.T, ("a", "b", "c"), ",".join(CODES)))
    with pytest.raises(UndeclaredSumsError) as refused:
        read_case(path)
    assert refused.value.dimensions == ("column",)


def test_a_sum_without_another_name_is_the_total(tmp_path: Path) -> None:
    path = tmp_path / "case.csv"
    path.write_text(page(np.vstack([ROWS, NORTH + SOUTH]), (*CODES, "Germany")))
    assert tree_of(read_case(path, found=["region"])).total == "Germany"


def test_parts_that_are_added_up_in_two_ways_make_two_classifications(tmp_path: Path) -> None:
    west, east = LEAVES[[0, 2]].sum(axis=0), LEAVES[[1, 3]].sum(axis=0)
    rows = np.vstack([ROWS, west, east, NORTH + SOUTH])
    path = tmp_path / "case.csv"
    path.write_text(page(rows, (*CODES, "West", "East", "Total")))
    table = read_case(path, found=["region"])
    assert isinstance(table, tc.Table)
    first, second = table.structure.dimensions[0].trees
    assert first == TREE
    assert set(second.children("West")) == {"N1", "S1"}
    assert set(second.children("East")) == {"N2", "S2"}


def test_a_total_that_is_the_sum_of_all_codes_rules_sums_out(tmp_path: Path) -> None:
    path = tmp_path / "case.csv"
    path.write_text(page(np.vstack([ROWS, ROWS.sum(axis=0)]), (*CODES, "Total")))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_case(path)


@pytest.mark.parametrize(
    "rows",
    [
        [[1], [2], [3], [4]],
        [[3, 0], [2, 1], [5, 1], [0, 9]],
        [[0, 0, 0], [7, 8, 9], [0, 0, 0], [4, 4, 1]],
        [[100_000], [100_000], [250_000], [410_000]],
        [[10, 20], [10, 20], [40, 30]],
    ],
)
def test_small_tables_are_not_refused(tmp_path: Path, rows: list[list[int]]) -> None:
    path = tmp_path / "case.csv"
    codes, names = tuple("PQRSTU"[: len(rows)]), ",".join("abc"[: len(rows[0])])
    path.write_text(page(np.array(rows), codes, names if "," in names else "value"))
    read_case(path)


def test_in_python_a_warning_or_an_error(case: Path) -> None:
    frame = pd.read_csv(case).melt("region", var_name="size", value_name="value")
    with pytest.warns(TacitaWarning, match=r"North = N1 \+ N2"):
        table = tc.Table.from_frame(frame, ["region", "size"], value="value")
    assert any("North" in text for text in tc.Problem(table, tc.Threshold(3)).warnings)
    with pytest.raises(UndeclaredSumsError):
        tc.Table.from_frame(frame, ["region", "size"], value="value", undeclared_sums="refuse")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tc.Table.from_frame(frame, ["region", "size"], value="value", undeclared_sums="ignore")
        known = tc.Table.from_frame(frame, {"region": Found(), "size": None}, value="value")
    assert tree_of(known) == TREE
    with pytest.warns(TacitaWarning):
        array = tc.Table.from_array(ROWS, names=["region", "size"], codes=[CODES, "abc"])
    assert tc.find_sums(array)["region"].trees == (TREE,)
    assert tc.find_sums(known) == {}


def test_what_is_not_there_cannot_be_found(case: Path) -> None:
    with pytest.raises(InputError, match=r"'regoin' \(did you mean 'region'\?\)"):
        read_case(case, found=["regoin"])
    with pytest.raises(InputError, match="no code of 'column' is the sum of others"):
        read_case(case, found=["column"])


def test_the_command_names_its_options(case: Path, capfd: pytest.CaptureFixture[str]) -> None:
    rules = ["--rules", "threshold(3)"]
    assert main(["assess", str(case), *rules]) == 1
    told = capfd.readouterr().err
    assert "Options: --hierarchy region=found, --undeclared-sums ignore" in told
    assert main(["assess", str(case), *rules, "--hierarchy", "region=found", "--json"]) == 0
    told_found = capfd.readouterr()
    assert "classification of 'region' found: North = N1 + N2, South = S1 + S2" in told_found.err
    assert main(["assess", str(case), *rules, "--undeclared-sums", "ignore", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["warnings"] == []
    release = case.with_name("release.csv")
    release.write_text(page(ROWS).replace("N2,5,2", "N2,x,x").replace("S1,18,40", "S1,x,x"))
    assert main(["audit", str(case), str(release), *rules]) == 1
    assert main(["audit", str(case), str(release), *rules, "--hierarchy", "region=found"]) == 2


def test_projects_use_what_is_found_or_ignore_it(case: Path) -> None:
    project = case.with_name("project.toml")
    rules = '[rules]\nrule = "threshold(3)"\n'
    project.write_text(f'[table]\nfile = "case.csv"\n{rules}')
    with pytest.raises(UndeclaredSumsError):
        load_project(project).problem()
    for by in ("", 'by = ["region", "column"]\n'):
        project.write_text(f'[table]\nfile = "case.csv"\n{by}[hierarchies]\nregion = "found"\n{rules}')
        assert tree_of(load_project(project).problem()) == TREE
        assert load_project(project).files == [case.resolve()]
    project.write_text(f'[table]\nfile = "case.csv"\nundeclared_sums = "ignore"\n{rules}')
    assert len(load_project(project).problem().table) == 28


def test_the_app_reads_with_what_is_found(case: Path, tmp_path: Path) -> None:
    text = page(ROWS).replace(",", "\t")
    for read in (
        lambda reading: open_case_of_text(text, reading),
        lambda reading: open_case_at(case, reading),
        lambda reading: open_case_of_files([case], reading),
    ):
        with pytest.raises(UndeclaredSumsError) as refused:
            read(ReadOptions())
        assert refused.value.dimensions == ("region",)
        assert tree_of(read(ReadOptions(found=refused.value.dimensions)).table) == TREE
        assert len(read(ReadOptions(undeclared_sums="ignore")).table) == 28


def test_a_sum_of_some_parts_of_another_is_nested_in_it() -> None:
    leaves = np.array([[31, 7, 12], [5, 22, 9], [18, 40, 3], [26, 11, 35], [8, 19, 44]])
    pair, three = leaves[1] + leaves[2], leaves[1:4].sum(axis=0)
    table = tc.Table.from_array(
        np.vstack([leaves[0], pair, three, leaves[1:]]),
        codes=[["p", "pair", "three", "a", "b", "c", "r"], ["x", "y", "z"]],
        undeclared_sums="ignore",
    )
    (tree,) = tc.find_sums(table)["row"].trees
    assert tree.to_dict() == {"p": {}, "three": {"pair": {"a": {}, "b": {}}, "c": {}}, "r": {}}


def leaves_under(tree: Hierarchy, code: str) -> set[str]:
    below = tree.children(code)
    return {leaf for child in below for leaf in leaves_under(tree, child)} if below else {code}


nested = st.recursive(st.just(None), lambda below: st.lists(below, min_size=2, max_size=3), max_leaves=9)


def test_a_sum_whose_parts_are_sums_elsewhere_is_nested_too() -> None:
    a, b, c, d = np.random.default_rng(0).integers(50, 9000, (4, 3))
    # The first rows say Q = a + R + d with R = b + c; that P = a + b + c, too, stands in it is found last.
    rows = {"P": a + b + c, "Q": a + b + c + d, "a": a, "R": b + c, "b": b, "c": c, "d": d}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TacitaWarning)
        table = tc.Table.from_array(np.array([*rows.values()]), codes=[[*rows], "xyz"])
    (tree,) = tc.find_sums(table)["row"].trees
    assert {*tree.children("Q")} == {"P", "d"}
    assert {*tree.children("P")} == {"a", "R"}


@given(nested.filter(lambda tree: tree is not None), st.integers(3, 5), st.integers(0, 2**32), st.data())
def test_a_classification_that_is_lost_is_found_again(
    tree: list[object], columns: int, seed: int, data: st.DataObject
) -> None:
    """Rows of every code of a random tree, in any order: all sums are found, each once."""
    source = np.random.default_rng(seed)
    rows: dict[str, np.ndarray] = {}
    leaves: dict[str, frozenset[str]] = {}

    def grow(node: object, code: str) -> None:
        for k, below in enumerate(node if isinstance(node, list) else []):
            grow(below, f"{code}{'xyz'[k]}")
        own = [child for child in rows if len(child) == len(code) + 1 and child.startswith(code)]
        rows[code] = (
            np.sum([rows[child] for child in own], axis=0) if own else source.integers(50, 9000, columns)
        )
        leaves[code] = frozenset().union(*(leaves[child] for child in own)) or frozenset([code])

    for k, below in enumerate([*tree, None]):
        grow(below, "PQRS"[k])
    inner = {code for code in leaves if len(leaves[code]) > 1}
    order = data.draw(st.permutations(sorted(rows)) | st.just(sorted(rows)) | st.just(list(rows)))
    # Names tell nothing.
    names = {code: f"c{k}" for k, code in enumerate(data.draw(st.permutations(sorted(rows))))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TacitaWarning)
        table = tc.Table.from_array(
            np.array([rows[code] for code in order]),
            codes=[[names[code] for code in order], "abcde"[:columns]],
        )
    found = tc.find_sums(table)
    if not inner:
        assert "row" not in found
        return
    (grown,) = found["row"].trees
    for code in inner:
        assert leaves_under(grown, names[code]) == {names[leaf] for leaf in leaves[code]}
    assert set(found["row"].sums) == {names[code] for code in inner}
    assert found["row"].certain


@given(st.integers(3, 12), st.integers(3, 8), st.sampled_from([20, 300, 10**6]), st.integers(0, 2**32))
def test_tables_without_sums_are_not_refused(rows: int, columns: int, largest: int, seed: int) -> None:
    values = np.random.default_rng(seed).integers(0, largest, (rows, columns))
    table = tc.Table.from_array(values, undeclared_sums="ignore")
    assert all(found.evidence < CERTAIN for found in tc.find_sums(table).values())
