"""The tests of the example: the conformance suite for the method, a few lines for rule and format."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from tacita_example import stanza
from tacita_example.hide_small import HideSmall

import tacita as tc
from tacita.testing import check_method


def test_the_method_conforms() -> None:
    check_method(HideSmall())


def test_small_cells_are_hidden() -> None:
    table = tc.Table.from_array([[20, 50, 10], [8, 19, 3], [17, 32, 12]])
    problem = tc.Problem(table, tc.parse_rule("threshold(4)"))
    release = HideSmall(below=11).protect(problem)
    assert release.changed[table.values < 11].all()


def test_the_rule_asks_for_a_value_outside() -> None:
    table = tc.Table.from_array([[20, 2], [4, 5]])
    levels = tc.parse_rule("between(1, 4)").levels(table)
    assert sorted(table.units[levels.sensitive]) == [2, 4]
    assert (table.units + levels.upper)[levels.sensitive].tolist() == [5, 5]
    assert (levels.lower <= table.units).all()


def test_the_format_is_read_as_it_was_written(tmp_path: Path) -> None:
    table = tc.Table.from_array([[20, 2], [4, 5]], names=("region", "age"))
    path = tc.write_table(table, tmp_path / "table.stanza")
    assert path.read_text(encoding="utf-8").startswith("region: ")
    again = tc.read_case(path)
    assert isinstance(again, tc.Table)
    assert np.array_equal(again.units, table.units)
    assert stanza.read(path).column_names[:3] == ["region", "age", "value"]
