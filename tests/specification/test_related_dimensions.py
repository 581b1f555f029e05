"""Projects whose tables share cells by dimensions that are not matched by name are not posed together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tacita.core.errors import InputError
from tacita.specification.pose_together import pose_together
from tacita.specification.sections import Rules, Source
from tacita.specification.specification import Specification

RULES = Rules(rule="threshold(1)")
LANDS = {"N": "L1", "S": "L1", "E": "L2", "W": "L2"}


def write_records(folder: Path) -> None:
    """Write records of four regions, grouped by land and crossed by kind and size; 'half' groups N alone."""
    rows = ["region,land,half,kind,size,turnover"]
    for number, (region, kind, size) in enumerate((r, k, s) for r in LANDS for k in "AB" for s in "xyz"):
        half = "one" if region == "N" else f"two{size}"
        rows.append(f"{region},{LANDS[region]},{half},{kind},{size},{number**2 + 7}")
    (folder / "records.csv").write_text("\n".join(rows) + "\n")


def tabulate(folder: Path, *by: str, **more: Any) -> Specification:
    return Specification(
        table=Source(microdata="records.csv", by=by, value="turnover", **more), rules=RULES, folder=folder
    )


@pytest.mark.parametrize("other", ["land", "half"])
def test_a_dimension_that_groups_codes_of_another_is_refused(tmp_path: Path, other: str) -> None:
    write_records(tmp_path)
    projects = {"a": tabulate(tmp_path, "region", "kind"), "b": tabulate(tmp_path, other, "kind")}
    with pytest.raises(InputError, match=f"'region' of a and '{other}' of b may be sums of each other"):
        pose_together(projects)


def test_only_the_records_of_the_tables_tell(tmp_path: Path) -> None:
    write_records(tmp_path)
    assert len(pose_together({"a": tabulate(tmp_path, "region"), "b": tabulate(tmp_path, "size")})) == 2
    wanted = {"where": "(region = 'N') = (size = 'x')"}
    with pytest.raises(InputError, match="may be sums of each other"):
        pose_together(
            {
                "a": tabulate(tmp_path, "region", **wanted),
                "b": tabulate(tmp_path, "size", **wanted),
            }
        )


def write_cells(folder: Path, name: str, column: str, total: str = "Total", **values: int) -> Specification:
    rows = "".join(f"{code},{value}\n" for code, value in {**values, total: sum(values.values())}.items())
    (folder / f"{name}.csv").write_text(f"{column},value\n{rows}")
    return Specification(table=Source(file=f"{name}.csv"), rules=RULES, folder=folder)


@pytest.mark.parametrize(
    ("values", "related"),
    [
        ({"L1": 30, "L2": 70}, True),
        ({"x": 11, "y": 19, "z": 70}, True),
        ({"x": 1, "y": 99}, False),
        ({f"c{k}": 1 for k in range(13)} | {"rest": 87}, True),
    ],
)
def test_cells_are_refused_unless_their_sums_exclude_that_they_are_related(
    tmp_path: Path, values: dict[str, int], related: bool
) -> None:
    projects = {
        "a": write_cells(tmp_path, "a", "region", N=10, S=20, E=30, W=40),
        "b": write_cells(tmp_path, "b", "land", **values),
    }
    if not related:
        assert len(pose_together(projects)) == 2
        return
    with pytest.raises(
        InputError, match="may be sums of each other, as of regions and lands, and no records"
    ):
        pose_together(projects)


def test_a_dimension_with_two_totals_is_refused(tmp_path: Path) -> None:
    projects = {
        "a": write_cells(tmp_path, "a", "region", N=10, S=20, E=30, W=40),
        "b": write_cells(tmp_path, "b", "region", total="All", L1=30, L2=70),
    }
    with pytest.raises(InputError, match="the total of 'region' is 'Total' in a and 'All' in b"):
        pose_together(projects)
