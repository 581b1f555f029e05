"""Runs of several tables of the same records: what readers know who have the releases of all."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from firms import list_firms

from tacita.app.work.job import Job, State
from tacita.app.work.open_case import Case
from tacita.app.work.opening import open_case_of_example
from tacita.app.work.records import Choice, find_records_at, tabulate_records
from tacita.app.work.sharing_runs import (
    audit_together,
    judge_together,
    list_sharing_runs,
    list_side_by_side,
    take_release,
)
from tacita.app.work.workspace import Workspace
from tacita.core.errors import InputError
from tacita.core.hierarchy import Hierarchy
from tacita.core.release import Release
from tacita.core.run import Run


def write_records(folder: Path) -> Path:
    path = folder / "firms.csv"
    path.write_text(list_firms())
    return path


def tabulate(path: Path, *by: str, **trees: Hierarchy) -> Case:
    choice = Choice(by, "turnover", "firm", trees=trees)
    return tabulate_records(find_records_at(path), choice).with_rules(["frequency(2)"])


def group(**groups: tuple[str, ...]) -> Hierarchy:
    return Hierarchy.from_dict({name: list(codes) for name, codes in groups.items()})


@pytest.fixture
def workspace() -> Iterator[Workspace]:
    made = Workspace()
    yield made
    made.close()


def protect(workspace: Workspace, case: Case) -> Job:
    workspace.change(case)
    job = workspace.start("suppression", {})
    limit = time.monotonic() + 60
    while not job.state.over and time.monotonic() < limit:
        time.sleep(0.01)
    assert job.state is State.SAFE, job.error
    return job


NORTH_SOUTH = {"region": group(N=("11", "12"), S=("21", "22"))}
EAST_WEST = {"region": group(E=("11", "21"), W=("12", "22"))}


def test_two_safe_tables_of_the_same_records_give_a_cell_away(workspace: Workspace, tmp_path: Path) -> None:
    path = write_records(tmp_path)
    first = protect(workspace, tabulate(path, "region", "industry", **NORTH_SOUTH))
    second = protect(workspace, tabulate(path, "region", "industry", **EAST_WEST))
    (found,) = list_side_by_side(workspace.jobs, second.case)
    assert (found.job, found.shared, found.apart) == (first, 15, 6)
    assert found.name == "run 1 of firms (turnover, region by industry)"
    for verdict in audit_together([first, second]):
        (finding,) = verdict.findings(only_unsafe=True)
        assert finding.name == "region=11, industry=A"
        assert "exact disclosure" in finding.verdict
    found = judge_together([first, second], Run())
    assert not found.safe
    assert "(region=11, industry=A) of run 1 of firms (turnover, region by industry)" in found.text


def test_a_run_that_takes_the_other_into_account_is_safe_with_it(
    workspace: Workspace, tmp_path: Path
) -> None:
    path = write_records(tmp_path)
    first = protect(workspace, tabulate(path, "region", "industry", **NORTH_SOUTH))
    case = tabulate(path, "region", "industry", **EAST_WEST)
    (found,) = list_side_by_side(workspace.jobs, case)
    case = case.with_published((take_release(found.job),))
    (found,) = list_side_by_side(workspace.jobs, case)
    assert found.taken
    second = protect(workspace, case)
    assert judge_together([first, second], Run()).safe


def test_a_margin_is_shared_with_a_table_of_another_dimension(workspace: Workspace, tmp_path: Path) -> None:
    path = write_records(tmp_path)
    first = protect(workspace, tabulate(path, "region", "industry"))
    case = tabulate(path, "region", "size")
    (found,) = list_sharing_runs(workspace.jobs, case)
    assert (found.shared, found.apart) == (5, 10)
    assert all(verdict.safe for verdict in audit_together([first, protect(workspace, case)]))


def test_tables_with_other_values_share_nothing(workspace: Workspace, tmp_path: Path) -> None:
    path = write_records(tmp_path)
    protect(workspace, tabulate(path, "region", "industry"))
    counts = tabulate_records(find_records_at(path), Choice(("region", "industry")))
    assert list_sharing_runs(workspace.jobs, counts) == []
    assert list_sharing_runs(workspace.jobs, open_case_of_example("salazar")) == []


def test_of_several_runs_of_a_table_the_exported_ones_count(workspace: Workspace, tmp_path: Path) -> None:
    path = write_records(tmp_path)
    case = tabulate(path, "region", "industry")
    first, second = protect(workspace, case), protect(workspace, case)
    other = tabulate(path, "region", "size")
    assert [run.job for run in list_side_by_side(workspace.jobs, other)] == [second]
    first.exported = True
    assert [run.job for run in list_side_by_side(workspace.jobs, other)] == [first]


def test_of_an_earlier_classification_of_the_table_only_exported_runs_count(
    workspace: Workspace, tmp_path: Path
) -> None:
    path = write_records(tmp_path)
    job = protect(workspace, tabulate(path, "region", "industry", **NORTH_SOUTH))
    case = job.case.with_tree("region", EAST_WEST["region"])
    assert list_side_by_side(workspace.jobs, case) == []
    job.exported = True
    (found,) = list_side_by_side(workspace.jobs, case)
    assert (found.shared, found.apart) == (15, 6)


def test_nothing_is_called_safe_where_nothing_is_sensitive(workspace: Workspace, tmp_path: Path) -> None:
    path = write_records(tmp_path)
    jobs = []
    for groups in (NORTH_SOUTH, EAST_WEST):
        workspace.change(tabulate(path, "region", "industry", **groups).with_rules(["frequency(1)"]))
        jobs.append(workspace.start("suppression", {}))
        while not jobs[-1].state.over:
            time.sleep(0.01)
    found = judge_together(jobs, Run())
    assert found.safe is None
    assert "nothing to check" in found.text


def test_of_the_same_table_exported_runs_that_say_something_else_count(
    workspace: Workspace, tmp_path: Path
) -> None:
    case = tabulate(write_records(tmp_path), "region", "industry")
    first = protect(workspace, case)
    assert list_side_by_side(workspace.jobs, case) == []
    first.exported = True
    (found,) = list_side_by_side(workspace.jobs, case)
    assert (found.job, found.shared, found.apart, found.taken) == (first, len(case.table), 0, False)
    assert list_side_by_side(workspace.jobs, case, first.release) == []
    everything = Release.suppress(case.table, np.ones(len(case.table), dtype=bool))
    assert [run.job for run in list_side_by_side(workspace.jobs, case, everything)] == [first]


def test_groups_by_another_name_cannot_be_judged_together(workspace: Workspace, tmp_path: Path) -> None:
    path = write_records(tmp_path)
    text = path.read_text().replace(",region,", ",land,")
    other = tmp_path / "again" / "firms.csv"
    other.parent.mkdir()
    other.write_text(text)
    first = protect(workspace, tabulate(path, "region", "industry"))
    second = protect(workspace, tabulate(other, "land", "industry"))
    with pytest.raises(InputError, match="one dimension by two names"):
        audit_together([first, second])
    assert "cannot be audited together here" in judge_together([first, second], Run()).text
