"""Input that is wrong in ways people meet: each error names place and remedy, and nothing is written."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tacita.errors import FormatError, HierarchyError, InputError, LevelsError, NotAdditiveError, TacitaError
from tacita.hierarchy import Hierarchy
from tacita.io import read_case
from tacita.tables.table import Table

MILLION = 1_000_000
NORTH_SOUTH = Hierarchy.from_dict({"N": ["n1", "n2"], "S": ["s1"]})


@pytest.mark.parametrize(
    ("text", "options", "error", "message"),
    [
        ("", {}, FormatError, "is empty: a CSV file starts with a line of column names"),
        ("\n\n", {}, FormatError, "is empty"),
        ("r,value\n", {}, FormatError, "has a header but no rows"),
        ("r,value\na,1\nb\n", {}, FormatError, r"line 3: 1 fields where the header has 2: add or remove"),
        ("r,value\na,1\nb,2,3\n", {}, FormatError, r"line 3: 3 fields .*decimal=','"),
        ("r,r,value\na,b,1\n", {}, FormatError, r"line 1: column 'r' occurs twice; rename"),
        (
            "r,value\na,1\nb,two\n",
            {},
            InputError,
            r"line 3, column 'value'.*'two' is not a number; correct it",
        ),
        ("r;value\na;1,5\n", {}, InputError, r"line 2, column 'value'.*decimal comma: read with decimal=','"),
        (
            "r;value\na;1.5\n",
            {"decimal": ","},
            InputError,
            r"line 2.*'1\.5' is not a number with decimal ','",
        ),
        ("r,value\na,NaN\nb,2\n", {}, InputError, r"no value for \(r=a\).*give the value, write 0"),
        ("r,value\na,inf\n", {}, InputError, r"line 2, column 'value'.*'inf' is not a number"),
        ("r,value\na,1\n,2\n", {}, InputError, r"line 3: no code in column 'r'.*give one"),
        (
            "r,value\na,1\nb,2\na,3\n",
            {},
            InputError,
            r"\(r=a\) is given more than once, in rows 1, 3: keep one",
        ),
        ("r,value\na,1\nb,0\nTotal,3\n", {}, NotAdditiveError, r"(?s)t\.csv.*\(r=Total\).*by 2.*repair=True"),
        (
            "r,value\nn1,1\nn22,3\n",
            {"by": {"r": NORTH_SOUTH}},
            HierarchyError,
            r"line 3: code 'n22' .*did you mean 'n2'\?.*Add it to the hierarchy",
        ),
        (
            "r,value,status,lpl,upl\na,5,u,6,1\nb,9,s,0,0\n",
            {},
            LevelsError,
            r"\(r=a\): the lower protection level of 6 cannot be met .*closer to the value.*Lower the level",
        ),
        (
            "r,value,status,upl\na,5,u,-1\nb,5,s,0\n",
            {},
            FormatError,
            r"\(r=a\).*level is negative: it is a distance",
        ),
        ("r,value,freq\na,5,-1\n", {}, InputError, r"line 2: the count in column 'freq' is negative"),
        ("r,value,freq\na,5,1.5\n", {}, InputError, r"line 2: the count .*is not a whole number"),
        (
            "r,value\na,9007199254740993000\n",
            {},
            InputError,
            r"does not fit into 53 bits: use fewer decimals",
        ),
        ("r,value\na,1\n", {"value": "vlaue"}, InputError, r"no column 'vlaue' \(did you mean 'value'\?\)"),
        ("r,value\na,1\n", {"by": ["region"]}, InputError, r"no column 'region'.*'r', 'value'"),
    ],
)
def test_each_fault_of_a_table_file(
    tmp_path: Path, text: str, options: dict[str, object], error: type[TacitaError], message: str
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(error, match=message) as caught:
        read_case(path, **options)
    assert str(path) in str(caught.value)
    assert list(tmp_path.iterdir()) == [path]


def test_ragged_arrays_name_the_row() -> None:
    with pytest.raises(InputError, match="row 2 has 1 numbers where row 1 has 2"):
        Table.from_array([[1, 2], [3]])


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("r700,c0,one", r"line 700001, column 'value'.*'one' is not a number"),
        ("r700,c0", r"line 700001: 2 fields where the header has 3"),
        (",c0,5", r"line 700001: no code in column 'r'"),
        ("r699,c999,5", r"is given more than once, in rows 699999, 700000"),
    ],
)
def test_one_bad_line_in_a_million_is_found_fast(tmp_path: Path, bad: str, message: str) -> None:
    path = tmp_path / "big.csv"
    lines = ["r,c,value", *(f"r{k // 1000},c{k % 1000},{k % 97}" for k in range(1, MILLION))]
    lines[700_000] = bad
    path.write_text("\n".join(lines))
    started = time.perf_counter()
    with pytest.raises(InputError, match=message):
        read_case(path)
    assert time.perf_counter() - started < 10


def test_one_bad_line_in_a_big_jj_file_is_found_fast(tmp_path: Path) -> None:
    path = tmp_path / "big.jj"
    n = 200_000
    lines = ["0", str(n), *(f"{k} 1 1 s 0 9 0 0 0" for k in range(n)), "1", "0 2 : 0 (1) 1 (-1)"]
    lines[150_000] = lines[150_000].replace("s", "s s")
    path.write_text("\n".join(lines))
    started = time.perf_counter()
    with pytest.raises(FormatError, match=r"line 150001: 10 fields where 9 should stand"):
        read_case(path)
    assert time.perf_counter() - started < 10
