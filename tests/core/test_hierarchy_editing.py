"""Trees of codes that are edited: what moves, what is refused."""

from __future__ import annotations

import pytest

from tacita.core.errors import HierarchyError
from tacita.core.hierarchy import Hierarchy
from tacita.core.hierarchy.editing import (
    grouped,
    indented,
    labelled,
    moved,
    outdented,
    refuse_parts,
    renamed,
    ungrouped,
    with_codes,
    with_parts_grouped,
)

TREE = Hierarchy.from_dict({"North": ["N1", "N2"], "South": ["S1", "S2"]}, labels={"N1": "Top"})


def test_codes_move_with_what_is_below_them_and_empty_groups_go() -> None:
    assert moved(TREE, ["North"], "South").to_dict() == {
        "South": {"S1": {}, "S2": {}, "North": {"N1": {}, "N2": {}}}
    }
    assert moved(TREE, ["S1", "S2"], "North").codes == ("Total", "North", "N1", "N2", "S1", "S2")
    assert moved(TREE, ["N1", "North"], "Total").to_dict() == {
        "South": {"S1": {}, "S2": {}},
        "North": {"N1": {}, "N2": {}},
    }
    assert moved(TREE, ["N1"], "South").labels == {"N1": "Top"}


def test_indenting_and_outdenting_are_moves_by_one_level() -> None:
    inside = indented(TREE, "South")
    assert inside.ancestors("S1") == ("South", "North", "Total")
    assert outdented(inside, "South") == TREE
    with pytest.raises(HierarchyError, match="before 'North'"):
        indented(TREE, "North")
    with pytest.raises(HierarchyError, match="directly under the total"):
        outdented(TREE, "North")


def test_groups_stand_where_their_first_code_stood() -> None:
    flat = Hierarchy.flat(["a", "b", "c"])
    made = grouped(flat, ["c", "b"], "bc", "Both")
    assert made.codes == ("Total", "a", "bc", "b", "c")
    assert made.labels == {"bc": "Both"}
    assert ungrouped(made, "bc") == flat
    assert grouped(TREE, ["N1", "S1"], "ones").children("Total") == ("ones", "North", "South")
    assert grouped(flat, ["b", "c"], "", "Both").children("Both") == ("b", "c")
    assert grouped(flat, ["b", "c"], "", "Both").labels == flat.labels
    assert grouped(TREE, ["N1", "N2"], "all").ancestors("N1") == ("all", "North", "Total")


def test_names_and_labels() -> None:
    assert renamed(TREE, "N1", "N9").labels == {"N9": "Top"}
    assert labelled(TREE, "N1", "").labels == {}
    assert with_codes(TREE, ["N1", "X"]).children("Total") == ("North", "South", "X")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: moved(TREE, ["North"], "N1"), "a cycle"),
        (lambda: moved(TREE, ["Total"], "North"), "is the total"),
        (lambda: moved(TREE, [], "North"), "No code is selected"),
        (lambda: moved(TREE, ["N3"], "North"), "not among the codes"),
        (lambda: grouped(TREE, ["N1"], "South"), "already"),
        (lambda: grouped(TREE, ["N1"], "", ""), "neither a code nor a label"),
        (lambda: ungrouped(TREE, "N1"), "no group"),
        (lambda: ungrouped(TREE, "Total"), "is the total"),
        (lambda: renamed(TREE, "N1", "S1"), "already"),
        (lambda: refuse_parts(TREE, ["N1", "North"]), r"'North' has records of its own, so 'N1'.*"),
    ],
)
def test_what_is_no_tree_is_refused(wrong, words: str) -> None:
    with pytest.raises(HierarchyError, match=words):
        wrong()


def test_codes_with_records_stand_in_a_group_with_their_parts() -> None:
    codes = ["1", "1+", "11", "111", "12", "2"]
    tree = Hierarchy.from_dict({"1": {"11": {"111": {}}, "12": {}, "1+": {}}, "2": {}}, labels={"1": "Crops"})
    found, groups = with_parts_grouped(tree, codes)
    assert found.to_dict() == {"1++": {"1": {}, "11+": {"11": {}, "111": {}}, "12": {}, "1+": {}}, "2": {}}
    assert groups == ["1++", "11+"]
    assert found.labels == {"1": "Crops"}
    refuse_parts(found, codes)
    assert with_parts_grouped(tree, ["12", "2"]) == (tree, [])
