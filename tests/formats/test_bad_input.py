"""Input that is wrong in ways people meet: each error names place and remedy, and nothing is written."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tacita.cli import main
from tacita.core.errors import (
    FormatError,
    HierarchyError,
    InputError,
    LevelsError,
    NotAdditiveError,
    TacitaError,
)
from tacita.core.hierarchy import Hierarchy
from tacita.core.tables.table import Table
from tacita.specification.read_case import read_case
from tacita.tabulation.tabulate import tabulate

MILLION = 1_000_000
NORTH_SOUTH = Hierarchy.from_dict({"N": ["n1", "n2"], "S": ["s1"]})


@pytest.mark.parametrize(
    ("text", "options", "error", "message"),
    [
        ("", {}, FormatError, "is empty: a CSV file starts with a line of column names"),
        ("\n\n", {}, FormatError, "is empty"),
        ("r,value\n", {}, FormatError, "has a header but no rows"),
        ("r,value\na,1\nb\n", {}, FormatError, r"line 3: 1 field where the header has 2: add or remove"),
        ("r,value\na,1\nb,2,3\n", {}, FormatError, r"line 3: 3 fields .*the decimal sign"),
        ("r,r,value\na,b,1\n", {}, FormatError, r"line 1: column 'r' occurs twice: rename"),
        (
            "r,value\na,1\nb,two\n",
            {},
            InputError,
            r"line 3, column 'value'.*'two' is not a number: correct it",
        ),
        ("r;value\na;1,5\n", {}, InputError, r"line 2, column 'value'.*comma as the decimal sign"),
        (
            "r;value\na;1.5\n",
            {"decimal": ","},
            InputError,
            r"line 2.*'1\.5' is not a number with a decimal comma",
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
        (
            "r,value\na,1\nb,0\nTotal,3\n",
            {},
            NotAdditiveError,
            r"(?s)t\.csv.*\(r=Total\).*by 2.*repair the table",
        ),
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
        (
            "r,value,freq\na,5,1e30\n",
            {},
            InputError,
            r"line 2: the count in column 'freq' is larger than any",
        ),
        ("r,value,freq\na,5,1.5\n", {}, InputError, r"line 2: the count .*is not an integer"),
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
    with pytest.raises(InputError, match="row 2 has 1 number where row 1 has 2"):
        Table.from_array([[1, 2], [3]])


@pytest.mark.slow
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
    started = time.process_time()
    with pytest.raises(InputError, match=message):
        read_case(path)
    assert time.process_time() - started < 10


def test_one_bad_line_in_a_big_jj_file_is_found_fast(tmp_path: Path) -> None:
    path = tmp_path / "big.jj"
    n = 200_000
    lines = ["0", str(n), *(f"{k} 1 1 s 0 9 0 0 0" for k in range(n)), "1", "0 2 : 0 (1) 1 (-1)"]
    lines[150_000] = lines[150_000].replace("s", "s s")
    path.write_text("\n".join(lines))
    started = time.process_time()
    with pytest.raises(FormatError, match=r"line 150001: 10 fields where 9 should stand"):
        read_case(path)
    assert time.process_time() - started < 10


RECORDS = {
    "text": ("n1,f,many", r"line 700001: 'many' in column 'value' is not a number"),
    "short": ("n1,f", r"line 700001: 2 fields where the header has 3"),
    "quote": ('n1,"f,5', r"line 700001: a quote is opened and not closed"),
    "no value": ("n1,f,", r"no value in 1 of 999,999 records .*first in record 700,000"),
    "no respondent": ("n1,,5", r"'firm' is empty in 1 record, first in record 700,000"),
    "no code": (",f,5", r"missing code in 1 record .*first in record 700,000"),
    "unknown code": ("n22,f,5", r"'n22' \(1 record\) .*first in record 700,000.*did you mean 'n2'"),
}


@pytest.fixture(scope="module")
def records() -> list[str]:
    codes = ("n1", "n2", "s1")
    rows = (f"{codes[k % 3]},f{k % 5000},{k % 97}" for k in range(1, MILLION))
    return ["region,firm,value", *rows]


@pytest.mark.slow
@pytest.mark.parametrize("fault", RECORDS)
def test_one_bad_record_in_a_million_is_found_fast(tmp_path: Path, records: list[str], fault: str) -> None:
    bad, message = RECORDS[fault]
    path = tmp_path / "records.csv"
    path.write_text("\n".join([*records[:700_000], bad, *records[700_001:]]))
    started = time.process_time()
    with pytest.raises(InputError, match=message):
        tabulate(path, {"region": NORTH_SOUTH}, "value", "firm")
    assert time.process_time() - started < 10


# The same faults through the command line: table files for protect, records for tabulate.
TABLES = {
    "ragged": ("r,value\na,1\nb\n", "line 3: 1 field"),
    "text": ("r,value\na,1\nb,two\n", "line 3, column 'value'"),
    "decimal comma": ("r;value\na;1,5\nb;2\n", "decimal comma"),
    "nan": ("r,value\na,NaN\nb,2\n", "no value for (r=a)"),
    "repeated": ("r,value\na,1\nb,2\na,3\n", "(r=a) is given more than once, in rows 1, 3"),
    "wrong total": ("r,value\na,1\nb,0\nTotal,3\n", "--repair"),
    "unknown code": ("r,value\nn1,1\nn22,3\n", "line 3: code 'n22'"),
    "empty": ("", "is empty"),
    "impossible level": (
        "r,value,status,lpl,upl\na,5,u,6,1\nb,9,s,0,0\n",
        "(r=a): the lower protection level",
    ),
}


@pytest.mark.parametrize("fault", TABLES)
def test_a_faulty_table_is_refused_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], fault: str
) -> None:
    text, message = TABLES[fault]
    path = tmp_path / "t.csv"
    path.write_text(text)
    options = ["--hierarchy", f"r={hierarchy_file(tmp_path)}"] if fault == "unknown code" else []
    before = set(tmp_path.rglob("*"))
    assert main(["protect", str(path), *options, "--out", str(tmp_path / "out"), "--json"]) == 1
    assert message in json.loads(capsys.readouterr().out)["error"]
    assert set(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("r,value\nn1,1\nn2\n", "line 3: 1 field where the header has 2"),
        ("r,value\nn1,1\nn2,two\n", "line 3: 'two' in column 'value' is not a number"),
        ("r;value\nn1;1,5\n", "Options: --decimal"),
        ("r,value\nn1,1\nn2,nan\n", "first in record 2"),
        ("r,value\nn1,1\nn22,2\n", "did you mean 'n2'?"),
        ("", "the file is empty"),
        ("r,value\n", "there are no records"),
    ],
)
def test_faulty_records_are_refused_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    path = tmp_path / "records.csv"
    path.write_text(text)
    by = f"r={hierarchy_file(tmp_path)}"
    before = set(tmp_path.rglob("*"))
    out = str(tmp_path / "table.csv")
    assert main(["tabulate", str(path), "--by", by, "--value", "value", "--out", out, "--json"]) == 1
    told = json.loads(capsys.readouterr().out)["error"]
    assert str(path) in told
    assert message in told
    assert set(tmp_path.rglob("*")) == before


def hierarchy_file(folder: Path) -> Path:
    path = folder / "regions.csv"
    path.write_text("parent,child\nTotal,N\nTotal,S\nN,n1\nN,n2\nS,s1\nS,s2\n")
    return path
