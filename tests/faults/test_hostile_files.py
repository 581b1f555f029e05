"""Files that no honest program writes: each gets an error in words within seconds, and nothing is written."""

from __future__ import annotations

import io
import json
import resource
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xlsxwriter

import tacita as tc
from tacita.app.work.opening import open_case_of_files, open_case_of_text
from tacita.cli import main
from tacita.core.errors import FormatError, InputError
from tacita.examples import example
from tacita.formats.extent import refuse_far_cells
from tacita.formats.hierarchy import read_hierarchy
from tacita.formats.table_write import write_table
from tacita.publication.results import write_results
from tacita.specification.project import load_project
from tacita.specification.read_case import read_case

HERE = Path(__file__).parent


def refused(path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What the command says of a file that it refuses, in less than ten seconds of processor time."""
    before = sorted(path.parent.rglob("*"))
    started = time.process_time()
    assert main(["assess", str(path), "--rules", "threshold(3)"]) == 1
    assert time.process_time() - started < 10
    assert sorted(path.parent.rglob("*")) == before
    said = capsys.readouterr().err
    assert "A fault of the program" not in said
    return " ".join(said.split())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0\n999999999999\n0 1 1 s 0 2 0 0 0\n", "line 3: the file ends where the index of a cell"),
        ("0\n" + "9" * 5000 + "\n0 1 1 s 0 2 0 0 0\n", "line 2: the number of cells should be a number"),
        ("0\n1\n0 1 1 s 0 2 0 0 0\n999999999999\n", "line 4: the file ends where the right-hand side"),
        ("0\n1\n0 1 1 s 0 2 0 0 0\n1\n0 " + "9" * 5000 + " : 0 (1)\n", "the equation announces"),
    ],
)
def test_a_jj_file_that_announces_more_than_it_holds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    (tmp_path / "case.jj").write_text(text)
    assert said in refused(tmp_path / "case.jj", capsys)


def test_a_million_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ",".join(f"c{k}" for k in range(1_000_000))
    text = f"{names}\n{','.join('1' * 1_000_000)}\n"
    (tmp_path / "case.csv").write_text(text)
    assert "1,000,000 columns, where 20,000 are read at most" in refused(tmp_path / "case.csv", capsys)
    with pytest.raises(FormatError, match="1,000,000 columns"):
        open_case_of_text(text)
    assert main(["tabulate", str(tmp_path / "case.csv"), "--by", "c1", "--out", str(tmp_path / "t.csv")]) == 1
    assert "1,000,000 columns" in capsys.readouterr().err
    with pytest.raises(FormatError, match="columns"):
        open_case_of_files([tmp_path / "case.csv"])


def test_a_pasted_line_that_would_make_all_others_as_long() -> None:
    with pytest.raises(FormatError, match="one line has 19,001 fields and most have few"):
        open_case_of_text("\t" * 19_000 + "x\n" + "1\t2\n" * 100_000)


@pytest.mark.parametrize("text", ["a = " + "[" * 100_000, "a = " + "{a=" * 50_000, "a = " + "9" * 5000])
def test_toml_that_is_nested_deeply_or_has_endless_numbers(tmp_path: Path, text: str) -> None:
    (tmp_path / "project.toml").write_text(text)
    with pytest.raises(FormatError, match=r"nested too deeply|is not TOML"):
        load_project(tmp_path / "project.toml")


def strange_text(n: int) -> pa.Array:
    ends = pa.py_buffer(np.arange(n + 1, dtype=np.int32).tobytes())
    return pa.StringArray.from_buffers(n, ends, pa.py_buffer(b"\xff" * n))


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (strange_text(3), "Invalid UTF8"),
        (pa.array([{"a": 1}] * 3), "neither codes nor numbers|not numbers"),
        (pa.array([2**64 - 1] * 3, pa.uint64()), "does not fit into 53 bits"),
        (pa.array([b"a", b"\xff", b"c"]), "neither codes nor numbers|not numbers"),
    ],
)
def test_parquet_with_columns_that_are_no_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], column: pa.Array, said: str
) -> None:
    for name in ("region", "value"):
        columns = {"region": pa.array(["a", "b", "c"]), "value": pa.array([1, 2, 3]), name: column}
        pq.write_table(pa.table(columns), tmp_path / "case.parquet")
        if name == "value" or said != "does not fit into 53 bits":
            told = refused(tmp_path / "case.parquet", capsys)
            assert any(words in told for words in said.split("|")), told


def test_parquet_with_one_name_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    twice = pa.table([pa.array(["a"]), pa.array([1]), pa.array([2])], names=["region", "value", "value"])
    pq.write_table(twice, tmp_path / "case.parquet")
    assert "two columns are called 'value'" in refused(tmp_path / "case.parquet", capsys)


def workbook(path: Path, place: str, first: str = "A1") -> Path:
    """A workbook whose second cell is said to stand at this place, and its first one elsewhere too."""
    written = io.BytesIO()
    book = xlsxwriter.Workbook(written)
    sheet = book.add_worksheet()
    sheet.write(0, 0, "region")
    sheet.write(1, 1, 5)
    book.close()
    with zipfile.ZipFile(written) as before, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as after:
        for name in before.namelist():
            moved = before.read(name).replace(b'r="B2"', f'r="{place}"'.encode())
            after.writestr(name, moved.replace(b'r="A1"', f'r="{first}"'.encode()))
    return path


@pytest.mark.parametrize(
    ("place", "first"), [("XFD1048576", "A1"), ("XFD20000", "A1"), ("XFD1048576", "XFD1048575")]
)
def test_a_workbook_with_cells_far_away(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], place: str, first: str
) -> None:
    """Readers lay out every field from the corner to the last cell: 17 billion of them end the process."""
    path = workbook(tmp_path / "case.xlsx", place, first)
    assert "stands far from the others" in refused(path, capsys)
    with pytest.raises(FormatError, match="Delete what stands there"):
        open_case_of_files([path])


@pytest.mark.parametrize("place", ["A99999999999", "A1048577", "XFE1", "ZZZZZZZ9"])
def test_a_workbook_with_cells_where_no_sheet_has_any(tmp_path: Path, place: str) -> None:
    with pytest.raises(FormatError, match="where sheets have 1,048,576 rows and 16,384 columns at most"):
        read_case(workbook(tmp_path / "case.xlsx", place))


@pytest.mark.parametrize("place", ["A" + "9" * 400, "1A", "A", "aa1", "Ä1"])
def test_a_workbook_with_a_cell_nowhere(tmp_path: Path, place: str) -> None:
    with pytest.raises(FormatError, match="is no place in a sheet"):
        read_case(workbook(tmp_path / "case.xlsx", place))


def test_records_with_columns_of_lists(tmp_path: Path) -> None:
    pq.write_table(pa.table({"region": pa.array([[1], [2]]), "value": [1, 2]}), tmp_path / "r.parquet")
    with pytest.raises(InputError, match=r"column 'region' holds .*list"):
        tc.tabulate(str(tmp_path / "r.parquet"), ["region"], "value")


def test_a_level_with_hundreds_of_digits() -> None:
    with pytest.raises(InputError, match="more than 300 digits"):
        tc.Problem(example("nchs").table, tc.Marked((0,), upper=10**400))


def test_an_open_document_with_cells_repeated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cell = (
        '<table:table-cell office:value-type="float" office:value="1" table:number-columns-repeated="16000"/>'
    )
    content = (
        '<office:document-content xmlns:office="o" xmlns:table="t"><office:body><office:spreadsheet>'
        f'<table:table table:name="a"><table:table-row table:number-rows-repeated="1000000">{cell}'
        "</table:table-row></table:table></office:spreadsheet></office:body></office:document-content>"
    )
    with zipfile.ZipFile(tmp_path / "case.ods", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", content)
    assert "16,000,000,000 fields" in refused(tmp_path / "case.ods", capsys)


def test_a_workbook_with_a_stray_cell_is_looked_through(tmp_path: Path) -> None:
    """A million blank rows are room enough for what people leave behind."""
    refuse_far_cells(workbook(tmp_path / "case.xlsx", "C1048576"))
    with pytest.raises(FormatError, match="row 1048576, column 4, stands far"):
        refuse_far_cells(workbook(tmp_path / "case.xlsx", "D1048576"))


def test_thesis_files_of_one_row(tmp_path: Path) -> None:
    for name, text in (("A.txt", "1,2,3\n"), ("PSC.txt", "2\n"), ("VSC.txt", "1\n")):
        (tmp_path / name).write_text(text)
    with pytest.raises(FormatError, match="two rows and two columns at least"):
        read_case(tmp_path)


def test_a_header_with_a_field_of_a_million_letters(tmp_path: Path) -> None:
    (tmp_path / "case.csv").write_text(f"{'a' * 1_000_000},value\nx,1\ny,2\n")
    assert isinstance(read_case(tmp_path / "case.csv"), tc.Table)
    with pytest.raises(InputError):
        read_hierarchy(tmp_path / "case.csv")


@pytest.mark.skipif(sys.platform == "win32", reason="no limits on files there")
@pytest.mark.parametrize("ending", ["csv", "xlsx", "parquet", "html"])
def test_a_disk_that_takes_no_more(tmp_path: Path, ending: str) -> None:
    problem = example("nchs")
    audit = tc.audit(problem, tc.Suppression().protect(problem))
    write_results(audit, tmp_path / "out")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, hard))
    try:
        with pytest.raises(InputError, match=r"cannot be written \(.*File too large"):
            write_results(audit, tmp_path / "out", (ending,))
        with pytest.raises(InputError, match=r"table.xlsx: cannot be written \(File too large"):
            write_table(problem.table, tmp_path / "table.xlsx", problem)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def mutants(count: int) -> None:
    done = subprocess.run(
        [sys.executable, str(HERE / "mutants.py"), "--count", str(count)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-5000:]
    assert json.loads(done.stdout)["mutants"] == count


def test_mutants_of_every_format_are_read_or_refused_in_words() -> None:
    mutants(156)


@pytest.mark.slow
def test_ten_thousand_mutants() -> None:
    mutants(10_000)
