"""What is written reads back the same, whatever the codes, decimals and windows are."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
from hypothesis import assume, given
from hypothesis import strategies as st

from tacita import read_case
from tacita.core.attacker import Outsider
from tacita.core.exact import UNBOUNDED
from tacita.core.levels import Levels
from tacita.core.release import Mark, Release
from tacita.core.tables.linked import link
from tacita.core.tables.table import Table
from tacita.formats.escape import escape, unescape
from tacita.formats.jj import read_jj, write_jj
from tacita.formats.table_write import FORMATS, write_table
from tacita.problem.problem import Problem
from tacita.publication.release_read import read_release
from tacita.publication.release_write import write_release

# Any text without control signs that survives the trimming of blanks around it.
CODES = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=6)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Tables of one to three dimensions with up to three decimals and any codes."""
    shape = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    decimals = draw(st.integers(0, 3))
    taken = ("Total", "TOTAL", "total", "T", "_T", "Sum", "Ensemble", "ALL")
    codes = [
        draw(st.lists(CODES.filter(lambda c: c not in taken), min_size=n, max_size=n, unique=True))
        for n in shape
    ]
    size = int(np.prod(shape))
    units = draw(st.lists(st.integers(0, 10**6), min_size=size, max_size=size))
    values = np.array(units).reshape(shape) / 10**decimals
    return Table.from_array(
        values, codes=codes, decimals=decimals, names=[f"d{k}" for k in range(len(shape))]
    )


@st.composite
def releases(draw: st.DrawFn) -> tuple[Table, Release]:
    """A table and a release of it with every kind of mark."""
    table = draw(tables())
    n = len(table)
    words = st.sampled_from(list(Mark))
    marks = np.array(draw(st.lists(words, min_size=n, max_size=n)), dtype=np.uint8)
    below, above = (np.array(draw(st.lists(st.integers(1, 99), min_size=n, max_size=n))) for _ in range(2))
    value = table.units + 1
    # A number that is rounded or adjusted is the middle of its window.
    middle = np.isin(marks, (Mark.ROUNDED, Mark.ADJUSTED))
    low = np.where(marks == Mark.SUPPRESSED, -UNBOUNDED, np.where(middle, value - above, table.units - below))
    high = np.where(marks == Mark.SUPPRESSED, UNBOUNDED, np.where(middle, value + above, table.units + above))
    return table, Release.mixed(table, marks != Mark.PUBLISHED, marks, low, high, value=value)


def same(one: Any, other: Any, fields: str) -> None:
    for field in fields.split():
        assert np.array_equal(getattr(one, field), getattr(other, field)), field


@given(case=releases(), ending=st.sampled_from(["csv", "parquet", "xlsx"]))
def test_releases(case: tuple[Table, Release], ending: str) -> None:
    table, release = case
    with tempfile.TemporaryDirectory() as folder:
        path = write_release(release, Path(folder) / f"release.{ending}", unaudited="for a test only")
        back = read_release(path, table)
    same(back.with_decimals(table.decimals), release, "marks low high value shown")


@given(table=tables(), ending=st.sampled_from(FORMATS))
def test_tables(table: Table, ending: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = write_table(table, Path(folder) / f"table{ending}")
        # All of few numbers may have three decimals.
        sign = "." if ending in (".csv", ".tab") else None
        back = read_case(path, totals="given", decimals=table.decimals, counts=table.integer, decimal=sign)
    assert isinstance(back, Table)
    same(back, table, "units decimals integer")
    assert [back.name(c) for c in range(len(back))] == [table.name(c) for c in range(len(table))]


@given(table=tables(), data=st.data())
def test_problems_as_jj(table: Table, data: st.DataObject) -> None:
    n = len(table)
    sensitive = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    levels = Levels.of(sensitive, upper=np.where(sensitive, table.units // 3, 0), least=table.unit)
    upper = table.units + levels.upper + levels.sliding + table.unit
    problem = Problem(table, levels, attackers=Outsider(np.zeros(n, np.int64), upper), cost="unit")
    with tempfile.TemporaryDirectory() as folder:
        path = write_jj(problem, Path(folder) / "case.jj")
        back = read_jj(path, decimals=table.decimals, counts=table.integer)
    same(back.table, table, "units decimals integer")
    same(back.table.equations, table.equations, "starts cells coefficients rhs")
    same(back.levels, levels, "sensitive lower upper sliding")
    same(back.outsider, problem.outsider, "lower upper")


def by_index(table: Table) -> pd.DataFrame:
    return table.to_pandas().set_index([d.name for d in table.structure.dimensions])


FRAMES: dict[str, Callable[[Table], Any]] = {
    "pandas": Table.to_pandas,
    "polars": Table.to_polars,
    "arrow": Table.to_arrow,
    "duckdb": lambda table: duckdb.from_arrow(table.to_arrow()),
    "index": by_index,
    "series": lambda table: by_index(table)["value"],
}


@given(table=tables(), kind=st.sampled_from(sorted(FRAMES)))
def test_tables_as_frames(table: Table, kind: str) -> None:
    names = [d.name for d in table.structure.dimensions]
    back = Table.from_frame(
        FRAMES[kind](table),
        names,
        value="value",
        totals="given",
        decimals=table.decimals,
        counts=table.integer,
    )
    same(back, table, "units decimals integer")
    assert [back.name(c) for c in range(len(back))] == [table.name(c) for c in range(len(table))]
    # Which is the total is known by its name alone.
    assert sorted(map(sorted, equation_cells(back))) == sorted(map(sorted, equation_cells(table)))


@given(table=tables(), split=st.integers(0, 3))
def test_wide_frames_are_the_same_tables(table: Table, split: int) -> None:
    names = [d.name for d in table.structure.dimensions]
    down, across = names[: split % len(names) or 1], names[split % len(names) or 1 :]
    long = table.to_pandas()
    wide = long.pivot(index=down, columns=across, values="value") if across else by_index(table)["value"]
    # Cells that are empty have no place of their own in a frame.
    assume(not wide.isna().to_numpy().any())
    back = Table.from_frame(wide, names, totals="given", decimals=table.decimals, counts=table.integer)
    assert back.value_name == "value"
    assert {back.structure.key(c): back.units[c] for c in range(len(back))} == {
        table.structure.key(c): table.units[c] for c in range(len(table))
    }


def equation_cells(table: Table) -> list[list[int]]:
    return [cells.tolist() for cells, _, _ in table.equations]


@given(table=tables())
def test_a_table_linked_with_itself_is_itself(table: Table) -> None:
    twice = link({"one": table, "two": table})
    same(twice, table, "units decimals integer")
    assert len(twice.equations) == len(table.equations)
    for part in range(2):
        assert twice.to_arrow(part=part).equals(table.to_arrow())


@given(text=st.text(max_size=8))
def test_escaping(text: str) -> None:
    assert unescape(escape(text)) == text
    escaped = escape(text)
    assert escaped[:1] not in ("=", "@", "\t", "\r")
