"""The page for readers: a function of the release alone, whatever the true table behind it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from budget import examples
from hypothesis import given
from hypothesis import strategies as st

from tacita.core.errors import ReleaseError
from tacita.core.hierarchy import Hierarchy
from tacita.core.outcome import Outcome, Status
from tacita.core.release import Mark, Release
from tacita.core.tables.table import Table
from tacita.report.public_page import build_public_page

CORNERS = (("1", "1"), ("1", "2"), ("2", "1"), ("2", "2"))


@given(
    st.lists(st.lists(st.integers(30, 99), min_size=3, max_size=3), min_size=3, max_size=3),
    st.integers(-29, 29).filter(bool),
    st.sampled_from([Mark.SUPPRESSED, Mark.INTERVAL, Mark.ADJUSTED]),
)
@examples(60)
def test_two_true_tables_with_one_release_have_the_same_page(
    values: list[list[int]], move: int, mark: Mark
) -> None:
    """The second table moves along four hidden cells, so that all that is shown stays as it is."""
    other = [row.copy() for row in values]
    for (i, j), sign in zip(((0, 0), (0, 1), (1, 0), (1, 1)), (1, -1, -1, 1), strict=True):
        other[i][j] += sign * move
    first, second = Table.from_array(values), Table.from_array(other)
    cells = [first.find(*codes) for codes in CORNERS]
    hidden = np.isin(np.arange(len(first)), cells)
    pages = []
    for table, primary, loss in ((first, [cells[0]], 1.0), (second, cells[1:], 2.0)):
        about = {
            "primary": primary,
            "outcome": Outcome(Status.FEASIBLE, loss, 0.0),
            "made_by": {"loss": loss},
        }
        if mark is Mark.SUPPRESSED:
            release = Release.suppress(table, cells, **about)
        elif mark is Mark.INTERVAL:
            release = Release.intervals(
                table, hidden, np.zeros(len(table)), np.full(len(table), 200), **about
            )
        else:
            shown = np.where(hidden, first.units, table.units)
            release = Release.rounded(table, shown, np.where(hidden, 40, 0), mark=mark, **about)
        pages.append(build_public_page(release, "Turnover"))
    assert not np.array_equal(first.units, second.units)
    assert pages[0] == pages[1]


def test_the_page_counts_marks_by_level_and_names_no_primary_cell() -> None:
    tree = Hierarchy.from_dict({"N": ["N1", "N2"], "S": ["S1", "S2"]})
    import pyarrow as pa

    rows = pa.table({"region": ["N1", "N2", "S1", "S2"], "value": [4711, 4712, 4713, 4714]})
    table = Table.from_frame(rows, {"region": tree}, value="value")
    hidden = [table.find("N1"), table.find("N2")]
    page = build_public_page(Release.suppress(table, hidden, primary=hidden[:1]), "A <title>")
    assert '<td>region, level 2</td><td class="number">4</td>' in page
    assert '<td class="number">2</td><td class="number">2</td><td class="number">50.0%</td>' in page
    assert "region=N1: no number" in page
    assert "&lt;title&gt;" in page
    for word in ("primary", "secondary", "sensitive", "4711", "4712", "loss", "safe"):
        assert word not in page.partition("</style>")[2], word


def test_announced_distances_are_in_plain_numbers() -> None:
    table = Table.from_array([10.25, 20.5], counts=False)
    shown = np.where(table.structure.is_total, table.units, 1000)
    release = Release.rounded(table, shown, np.where(table.structure.is_total, 0, 1050))
    assert "<dt>true value at most so far away</dt><dd>10.5</dd>" in build_public_page(release, "t")


@pytest.mark.parametrize(
    ("about", "what"),
    [
        ({"assumption": "assuming that readers ..."}, "how its numbers were rounded"),
        ({"made_by": {"dashes": "by the true values"}}, "which of its dashes"),
        ({"made_by": {"absent": "taken as suppressed"}}, "which cells are hidden"),
    ],
)
def test_what_was_read_with_true_values_is_refused(about: dict, what: str) -> None:
    release = Release.suppress(Table.from_array([1, 2, 3]), [1, 2])
    with pytest.raises(ReleaseError, match=what):
        build_public_page(replace(release, **about), "t")
