"""The words of the page Rules on a release that is already published."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import tacita as tc
from tacita.app.screens.rules.published_panel import describe_published
from tacita.publication.earlier import read_earlier

TABLE = tc.Table.from_array(
    np.array([[20, 50], [8, 19]]), names=["region", "industry"], codes=[["N", "S"], ["A", "B"]]
)


def test_cells_that_a_file_does_not_list_are_not_called_suppressed(tmp_path: Path) -> None:
    path = tmp_path / "release.csv"
    path.write_text(
        "region,size,mark,low,high,value\nN,Total,published,70,70,70\nN,a,published,9,9,9\nS,,suppressed,,,\n"
    )
    release = read_earlier(path, TABLE)
    words = describe_published(TABLE, release)
    assert words == "2 of its 3 cells in this table (1 published, 1 suppressed), 1 not"


def test_a_release_of_the_very_table_is_counted_by_its_marks() -> None:
    assert describe_published(TABLE, tc.Release.suppress(TABLE, [0, 1])) == "7 published, 2 suppressed"


def test_a_release_of_another_table_is_counted_where_they_meet() -> None:
    other = tc.Table.from_array(
        np.array([[30, 40], [7, 20]]), names=["region", "size"], codes=[["N", "S"], ["a", "b"]]
    )
    release = tc.Release.suppress(other, [0, 1])
    words = describe_published(TABLE, release)
    assert words == "3 of its 9 cells in this table (2 published, 1 suppressed), 6 not"
