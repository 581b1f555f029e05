"""Intervals of a few cells are those among the intervals of all."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tacita.auditing import extremes
from tacita.auditing.deduce import deduce
from tacita.core.release import Release
from tacita.testing import hard_problems, problems, releases


@given(st.data(), st.sampled_from([0, extremes.COLUMNS_PER_QUESTION]))
def test_some_cells_have_the_intervals_that_they_have_among_all(data: st.DataObject, few: int) -> None:
    problem = data.draw(problems())
    release = data.draw(releases(problem))
    insider = data.draw(st.sampled_from([None, *problem.insiders]))
    cells = np.array(data.draw(st.lists(st.integers(0, len(problem.table) - 1), max_size=3)), dtype=np.int64)
    everything = deduce(problem, release, insider)
    with patch.object(extremes, "COLUMNS_PER_QUESTION", few):
        some = deduce(problem, release, insider, cells=cells)
    assert some.cells.tolist() == sorted(set(cells.tolist()) & set(everything.cells.tolist()))
    assert [some.of(c) for c in some.cells.tolist()] == [everything.of(c) for c in some.cells.tolist()]


@given(hard_problems(), st.data())
def test_growing_programs_find_the_ends_that_whole_ones_do(problem: object, data: st.DataObject) -> None:
    """Bounds or none, one direction or both, on networks, cubes, hierarchies and linked tables."""
    table = problem.table
    hidden = data.draw(st.lists(st.integers(0, len(table) - 1), min_size=4, unique=True))
    release = Release.suppress(table, np.array(hidden))
    full = deduce(problem, release)
    with patch.object(extremes, "COLUMNS_PER_QUESTION", 0):
        grown = deduce(problem, release, cells=np.array(hidden))
    np.testing.assert_allclose(grown.low, full.low, atol=1e-6)
    np.testing.assert_allclose(grown.high, full.high, atol=1e-6)
