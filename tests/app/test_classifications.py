"""Classifications that the user makes: of a table, of records, in the project, and what follows them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tacita.app.work.open_case import Case, Decision, DecisionKind, open_case
from tacita.app.work.recent import Keeper, RecentWork, restore
from tacita.app.work.records import Choice, RecordsFile, find_records_at, tabulate_records
from tacita.app.work.tree_draft import TreeDraft
from tacita.app.work.workspace import Workspace
from tacita.core.errors import InputError
from tacita.core.hierarchy import Hierarchy
from tacita.core.hierarchy.editing import grouped, moved, renamed, ungrouped
from tacita.core.release import Release
from tacita.core.tables.table import Table
from tacita.problem.problem import Problem
from tacita.rules import Marked
from tacita.specification.specification import Specification

SENSITIVE = Decision(DecisionKind.SENSITIVE)


@pytest.fixture
def records(tmp_path: Path) -> RecordsFile:
    lines = [f"{region},{region}{k},f{j},{10 * k + j}" for region in "NS" for k in (1, 2) for j in range(4)]
    (tmp_path / "firms.csv").write_text("\n".join(["region,district,firm,turnover", *lines]))
    return find_records_at(tmp_path / "firms.csv")


def tabulated(records: RecordsFile, **trees: Hierarchy) -> Case:
    choice = Choice(by=("district",), value="turnover", respondent="firm", trees=trees)
    return tabulate_records(records, choice)


def tree_of(case: Case) -> Hierarchy:
    return case.table.structure.dimensions[0].trees[0]


def test_marks_follow_their_cells_into_another_classification() -> None:
    case = open_case(Table.from_array(np.array([1, 2, 3, 4]), names=["r"], codes=[["a", "b", "c", "d"]]), "t")
    case = case.with_tree("r", grouped(tree_of(case), ["a", "b"], "ab"))
    case = case.decide([case.table.find("ab"), case.table.find("c")], SENSITIVE)
    with pytest.raises(InputError, match=r"r=ab.*something is specified of it"):
        case.with_tree("r", grouped(ungrouped(tree_of(case), "ab"), ["a", "d"], "ad"))
    cleared = case.decide([case.table.find("ab")], None)
    other = cleared.with_tree("r", grouped(ungrouped(tree_of(case), "ab"), ["a", "d"], "ad"))
    assert len(other.table) == len(case.table)
    assert [other.table.name(cell) for cell in other.decisions] == ["r=c"]
    renewed = case.with_tree("r", renamed(tree_of(case), "ab", "first"))
    assert {renewed.table.name(cell) for cell in renewed.decisions} == {"r=first", "r=c"}


def test_marks_stay_on_the_same_sums_whatever_these_are_called() -> None:
    numbers = Table.from_array(np.array([11, 23, 35, 47, 59]), names=["r"], codes=[list("abcde")])
    groups = Hierarchy.from_dict({"G": ["a", "d"], "H": ["b", "c"], "e": []})
    case = open_case(numbers, "t").with_tree("r", groups)
    case = case.decide([case.table.find("G")], SENSITIVE)
    for tree in ({"H": ["a", "d"], "G": ["b", "c"], "e": []}, {"H": ["a", "d"], "b": [], "c": [], "e": []}):
        other = case.with_tree("r", Hierarchy.from_dict(tree))
        assert [other.table.name(cell) for cell in other.decisions] == ["r=H"]


def test_sums_of_marked_leaves_are_found_again_in_records(records: RecordsFile) -> None:
    case = tabulated(records)
    case = case.with_tree("district", grouped(tree_of(case), ["N1", "S1"], "G"))
    case = case.decide([case.table.find("G")], SENSITIVE)
    swapped = renamed(grouped(tree_of(case), ["N2", "S2"], "H"), "G", "K")
    other = case.with_tree("district", renamed(renamed(swapped, "H", "G"), "K", "H"))
    assert [other.table.name(cell) for cell in other.decisions] == ["district=H"]
    with pytest.raises(InputError, match="something is specified of it"):
        case.with_tree("district", ungrouped(tree_of(case), "G"))


def test_what_readers_of_an_earlier_release_know_is_not_lost() -> None:
    case = open_case(Table.from_array(np.array([1, 50, 60, 70]), names=["r"], codes=[list("abcd")]), "t")
    table = case.with_tree("r", grouped(tree_of(case), ["a", "b"], "G")).table
    hidden = np.isin(np.arange(len(table)), [table.find(code) for code in "abcd"])
    problem = Problem(table, Marked([("a",)], 1), already_published=Release.suppress(table, hidden))
    case = open_case(problem, "t")
    with pytest.raises(InputError, match=r"r=G.*readers of an earlier release"):
        case.with_tree("r", ungrouped(tree_of(case), "G"))


def test_a_table_of_records_is_tabulated_anew(records: RecordsFile) -> None:
    case = tabulated(records)
    case = case.decide([case.table.find("S2")], SENSITIVE)
    made = case.with_tree("district", grouped(tree_of(case), ["N1", "N2"], "North", "The north"))
    at = made.table.find("North")
    assert made.table.count is not None
    # Each of the four firms is in both districts: no sum of counts tells that.
    assert int(made.table.count[at]) == 4
    assert [made.table.name(cell) for cell in made.decisions] == ["district=S2"]
    assert made.table.contributions is not None


def test_the_classification_comes_back_from_the_project(records: RecordsFile, tmp_path: Path) -> None:
    tree = Hierarchy.from_dict({"N": ["N1", "N2"], "S": {"S1": {}, "S2": {}}}, labels={"N": "North"})
    case = tabulated(records, district=tree)
    folder = tmp_path / "saved"
    folder.mkdir()
    written = case.specification.at(folder).save(folder)
    assert 'tree = { N = ["N1", "N2"], S = ["S1", "S2"] }' in written.read_text()
    again = Specification.load(written)
    assert again.data().structure.dimensions[0].trees[0] == tree


def test_trees_of_a_column_by_another_one(records: RecordsFile) -> None:
    assert records.find_tree_of_columns("district", "region").to_dict() == {
        "N": {"N1": {}, "N2": {}},
        "S": {"S1": {}, "S2": {}},
    }
    with pytest.raises(
        InputError, match=r"district 'N1' occurs with 'f0', 'f1', 'f2', 'f3', so firm does not"
    ):
        records.find_tree_of_columns("district", "firm")


def test_codes_of_records_are_put_in_another_order(tmp_path: Path) -> None:
    (tmp_path / "firms.csv").write_text("size,turnover\nsmall,1\nmedium,2\nlarge,4\n")
    records = find_records_at(tmp_path / "firms.csv")
    draft = records.draft_tree("size")
    assert draft.tree.leaves == ("large", "medium", "small")
    draft.move(["medium"], "Total")
    draft.move(["large"], "Total")
    table = tabulate_records(records, Choice(by=("size",), trees={"size": draft.tree})).table
    assert table.structure.dimensions[0].codes == ("Total", "small", "medium", "large")


def test_columns_that_could_group_codes_are_listed(records: RecordsFile) -> None:
    assert records.list_groupings("district") == ["region"]
    assert records.list_groupings("region") == records.list_groupings("renamed") == []


def test_records_without_a_group_stand_for_none(tmp_path: Path) -> None:
    (tmp_path / "firms.csv").write_text("region,district\nN,N1\n,S1\nN,N2\n")
    records = find_records_at(tmp_path / "firms.csv")
    assert records.list_groupings("district") == ["region"]
    assert records.find_tree_of_columns("district", "region").to_dict() == {"N": {"N1": {}, "N2": {}}}
    (tmp_path / "firms.csv").write_text("region,district\nN,N1\n,N1\nN,N2\n")
    assert records.list_groupings("district") == []
    with pytest.raises(InputError, match="'N1' occurs with 'N', 'no group'"):
        records.find_tree_of_columns("district", "region")


def test_digits_that_suit_all_codes_are_proposed() -> None:
    draft = TreeDraft(
        Hierarchy.flat(["1011", "1012", "1021", "1101"]), ["1011", "1012", "1021", "1101"], of_records=True
    )
    assert draft.propose_digits() == "2-1-1"
    with pytest.raises(
        InputError, match=r"'1011' has 4 characters, but levels end at 2, 3\. Use 2-1-1"
    ) as wrong:
        draft.split("2-1")
    assert wrong.value.options == ("digits=2-1-1",)
    assert draft.split("2-1-1") == ""
    assert draft.split("2-2-1") == "No code reaches level 3."
    assert draft.tree.children("10") == ("1011", "1012", "1021")
    assert (
        TreeDraft(Hierarchy.flat(["1", "2", "345"]), ["1", "2", "345"], of_records=True).propose_digits()
        == "1-2"
    )


def test_points_between_digits_need_not_be_counted() -> None:
    codes = ["10.11", "10.12", "13.10"]
    draft = TreeDraft(Hierarchy.flat(codes), codes, of_records=True)
    assert draft.split("2-2") == "Separators were counted, too: 2-3."
    assert draft.tree.to_dict() == {"10": {"10.11": {}, "10.12": {}}, "13": {"13.10": {}}}
    assert draft.propose_digits() == "2-3"
    # What fits as it is written is taken as it is written.
    assert TreeDraft(Hierarchy.flat(["10", "10.1"]), ["10", "10.1"], of_records=False).split("2-1-1") == ""


def test_a_draft_keeps_the_codes_of_the_data_and_undoes() -> None:
    draft = TreeDraft(Hierarchy.flat(["011", "012", "021"]), ["011", "012", "021"], of_records=True)
    draft.split("2-1")
    assert draft.tree.children("Total") == ("01", "02")
    assert draft.describe() == "5 codes in 2 levels below the total."
    draft.undo()
    assert draft.tree.children("Total") == ("011", "012", "021")
    draft.redo()
    assert not draft.can_rename("011")
    draft.rename("01", "A", "Crops")
    assert draft.tree.labels == {"A": "Crops"}
    with pytest.raises(InputError, match="'011' is a code of the data"):
        draft._change(Hierarchy.flat(["012", "021"]))
    note = draft.take(Hierarchy.from_dict({"X": ["011", "099"]}))
    assert note == "Not in it, so directly under the total: '012', '021'. Without data: '099'."
    assert draft.list_groups(["012"]) == ["Total", "X"]
    draft.leave_out_unused()
    assert draft.tree.to_dict() == {"X": {"011": {}}, "012": {}, "021": {}}
    with pytest.raises(InputError, match=r"It has no code of the data.*it has 'a', 'b'"):
        draft.take(Hierarchy.flat(["a", "b"]))


def test_codes_of_several_lengths_with_records_are_grouped_with_their_parts() -> None:
    codes = ["1", "11", "111", "12", "2"]
    draft = TreeDraft(Hierarchy.flat(codes), codes, of_records=True)
    with pytest.raises(InputError, match="'1' has records of its own, so '11', '12' cannot stand") as refused:
        draft.split("1-1-1")
    assert refused.value.options == ("parts",)
    assert not draft.is_changed
    assert draft.group_parts() == "2 new groups: '1+', '11+'."
    assert draft.tree.to_dict() == {"1+": {"1": {}, "11+": {"11": {}, "111": {}}, "12": {}}, "2": {}}
    assert draft.can_rename("1+")


def test_a_code_with_records_of_its_own_is_no_group(records: RecordsFile) -> None:
    case = tabulated(records)
    with pytest.raises(InputError, match="'N1' has records of its own"):
        case.with_tree("district", moved(tree_of(case), ["N2"], "N1"))


def test_records_that_are_gone_are_asked_for_again(records: RecordsFile) -> None:
    case = tabulated(records)
    records.path.unlink()
    tree = grouped(tree_of(case), ["N1", "N2"], "North")
    with pytest.raises(InputError, match=r"no longer there.*page Start") as lost:
        case.with_tree("district", tree)
    assert lost.value.options == ("records", "contributors=forget")
    kept = case.specify(table=None, hierarchies={})
    with pytest.raises(InputError, match="not kept with it"):
        kept.refuse_lost_records()
    for each in (case, kept):
        assert len(each.forget_contributors().with_tree("district", tree).table) == 6


def test_a_classification_comes_back_with_recent_work(records: RecordsFile, tmp_path: Path) -> None:
    recent = RecentWork(tmp_path / "state")
    workspaces = [Workspace(recent), Workspace(recent)]
    case = tabulated(records)
    tree = grouped(tree_of(case), ["N1", "N2"], "North", "The north")
    workspaces[0].change(case.with_tree("district", tree))
    keeper = Keeper(recent, lambda: workspaces[:1])
    keeper.look(at_once=True)
    keeper.close()
    (offer,) = recent.list_offers()
    restore(workspaces[1], recent.read(offer.key), in_use=False)
    again = workspaces[1].require_case()
    assert tree_of(again) == tree_of(workspaces[0].require_case())
    assert tree_of(again).labels["North"] == "The north"
    # Records that were opened by their path are tabulated anew.
    assert len(again.with_tree("district", ungrouped(tree_of(again), "North")).table) == 5
    for workspace in workspaces:
        workspace.close()
