"""Releases: no file without an audit, no hidden value in a file, and foreign ones are understood."""

from __future__ import annotations

import struct
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from tacita.auditing import audit as audits
from tacita.core.errors import FormatError, InputError, ReleaseError, UnsafeError
from tacita.core.exact import UNBOUNDED
from tacita.core.hierarchy import Hierarchy
from tacita.core.levels import Levels
from tacita.core.release import Mark, Release
from tacita.core.tables.linked import link
from tacita.core.tables.table import Table
from tacita.formats.excel import BLUE, RED, write_excel
from tacita.formats.nchs import write_nchs_release
from tacita.formats.published_cells import parse_published
from tacita.problem.problem import Problem
from tacita.publication.release_read import read_release
from tacita.publication.release_write import write_release

FORMATS = ("csv", "parquet", "xlsx", "txt")
# Values that occur in no other number of any file.
SECRETS = [[7654321.0, 8765431.0, 11.0], [6543217.0, 9876541.0, 12.0], [13.0, 14.0, 15.0]]


def secret_table() -> Table:
    return Table.from_array(SECRETS, names=("region", "size"), codes=[["N", "S", "W"], ["a", "b", "=c"]])


def hidden_square(table: Table) -> np.ndarray:
    return np.array([table.find(r, c) for r in ("N", "S") for c in ("a", "b")])


def release_of(table: Table) -> Release:
    primary = np.arange(len(table)) == table.find("N", "a")
    return Release.suppress(table, hidden_square(table), primary=primary)


def same(one: Release, other: Release) -> bool:
    other = other.with_decimals(max(one.decimals, other.decimals))
    one = one.with_decimals(other.decimals)
    return all(
        np.array_equal(getattr(one, f), getattr(other, f)) for f in ("marks", "low", "high", "value", "shown")
    )


@pytest.mark.parametrize("ending", [*FORMATS, "html"])
def test_no_artefact_holds_a_hidden_value(tmp_path: Path, ending: str) -> None:
    table = secret_table()
    path = write_release(release_of(table), tmp_path / f"release.{ending}", unaudited="for a test only")
    content = path.read_bytes()
    if ending == "xlsx":
        with zipfile.ZipFile(path) as archive:
            content = b"".join(archive.read(name) for name in archive.namelist())
    if ending == "parquet":
        file = pyarrow.parquet.ParquetFile(path)
        content += (
            f"{file.read().to_pylist()} {file.metadata} {file.metadata.row_group(0).to_dict()}".encode()
        )
    assert b"13" in content or ending == "parquet"
    for cell in hidden_square(table):
        value = table.values[cell]
        assert f"{value:.0f}".encode() not in content
        for layout in ("<q", "<d", "<i"):
            assert struct.pack(layout, value if layout == "<d" else int(value)) not in content
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("ending", FORMATS)
def test_what_is_written_reads_back_the_same(tmp_path: Path, ending: str) -> None:
    table = secret_table()
    release = release_of(table)
    path = write_release(release, tmp_path / f"release.{ending}", unaudited="for a test only")
    assert same(read_release(path, table), release)


def test_intervals_rounded_and_adjusted_cells_keep_their_windows(tmp_path: Path) -> None:
    table = Table.from_array([[1.5, 2.5], [3.0, 4.0]])
    marks = np.array([Mark.INTERVAL, Mark.ROUNDED, Mark.ADJUSTED, *[Mark.SUPPRESSED] * 6], dtype=np.uint8)
    changed = np.arange(9) < 5
    low = np.where(marks == Mark.SUPPRESSED, -UNBOUNDED, table.units - 7)
    high = np.where(marks == Mark.SUPPRESSED, UNBOUNDED, table.units + 9)
    mixed = Release.mixed(table, changed, marks, low, high, value=table.units + 1)
    for ending in ("csv", "parquet", "xlsx"):
        path = write_release(mixed, tmp_path / f"r.{ending}", unaudited="for a test only")
        back = read_release(path, table)
        assert same(back, mixed)


def test_csv_has_the_agreed_columns(tmp_path: Path) -> None:
    table = secret_table()
    text = (
        write_release(release_of(table), tmp_path / "r.csv", unaudited="=why not for once")
        .read_text()
        .splitlines()
    )
    assert text[0] == "region,size,mark,low,high,value,unaudited"
    assert "N,a,suppressed,,,,'=why not for once" in text
    assert "N,'=c,published,11,11,11,'=why not for once" in text


def test_a_release_needs_an_audit_of_itself_that_found_it_safe(tmp_path: Path) -> None:
    table = Table.from_array([[20, 30], [40, 50]])
    cell = table.find("1", "1")
    sensitive = np.arange(9) == cell
    problem = Problem(table, Levels.of(sensitive, upper=np.where(sensitive, 2, 0)))
    path = tmp_path / "release.csv"
    unsafe = Release.suppress(table, sensitive)
    square = np.array([table.find(r, c) for r in "12" for c in "12"])
    safe = Release.suppress(table, square)
    passed, failed = audits.audit(problem, safe), audits.audit(problem, unsafe)
    for release, verdict in ((unsafe, None), (unsafe, failed), (unsafe, passed)):
        with pytest.raises(UnsafeError):
            write_release(release, path, audit=verdict)
    with pytest.raises(UnsafeError, match="in a few words why"):
        write_release(unsafe, path, unaudited="because")
    assert list(tmp_path.iterdir()) == []
    safe.write(path, audit=passed)
    assert path.read_text().splitlines()[0] == "row,column,mark,low,high,value"


def test_nchs_lines_mark_primary_and_complementary_and_tell_values_only_inside(tmp_path: Path) -> None:
    table = Table.from_array([[22, 15], [30, 40]])
    square = np.array([table.find(r, c) for r in "12" for c in "12"])
    release = Release.suppress(table, square, primary=np.arange(9) == table.find("1", "1"))
    public = write_nchs_release(release, tmp_path / "public.txt").read_text()
    assert public == "PS\tCS\t37\nCS\tCS\t70\n52\t55\t107\n"
    inside = write_nchs_release(release, tmp_path / "inside.txt", internal=table).read_text()
    assert inside.startswith("PS 22\tCS 15\t37\n")
    back = read_release(tmp_path / "public.txt", table)
    assert same(back, release)
    assert np.array_equal(back.primary, release.primary)
    with pytest.raises(
        ReleaseError, match=r"line 1, field 1: .* beside the mark of \(.*write the mark alone"
    ):
        read_release(tmp_path / "inside.txt", table)
    three = Table.from_array(np.ones((2, 2, 2)))
    with pytest.raises(InputError, match="2 dimensions"):
        write_nchs_release(Release.suppress(three, np.array([0])), tmp_path / "three.txt")


def test_linked_tables_are_written_and_read_part_by_part(tmp_path: Path) -> None:
    one = Table.from_array([[1, 2], [3, 4]], names=("r", "s"))
    two = Table.from_array([[1, 2, 0], [3, 3, 1]], names=("r", "t"))
    table = link({"by s": one, "by t": two})
    release = Release.suppress(table, np.array([table.find(r="1", s="1"), table.find(r="2", t="3")]))
    for ending in ("csv", "parquet"):
        path = write_release(release, tmp_path / f"r.{ending}", unaudited="for a test only")
        assert same(read_release(path, table), release)
    with zipfile.ZipFile(write_release(release, tmp_path / "r.xlsx", unaudited="for a test only")) as archive:
        assert {"xl/worksheets/sheet5.xml"} <= set(archive.namelist())


# ---------------------------------------------------------------- made elsewhere


@pytest.mark.parametrize("mark", ["x", "X", ":", "c", "C", "*", "-", "", "..", "confidential", "PS", "cs"])
def test_marks_of_hidden_cells(mark: str) -> None:
    said = parse_published([mark])
    assert not said.unreadable[0]
    assert said.marks[0] == Mark.SUPPRESSED


@pytest.mark.parametrize("written", ["PS 7", "CS 7", "cs [7...7]", "PS\t7", "PS -7", "CS seven"])
@pytest.mark.parametrize("announced", [{}, {"radius": 1.0}])
def test_a_number_beside_a_mark_is_seen_by_every_reader(
    tmp_path: Path, written: str, announced: dict[str, float]
) -> None:
    """Whatever is printed, readers know: such a file must never pass for one that hides the cell."""
    text = f"r;1;2;Total\n1;x;{written};12\n2;x;x;20\nTotal;14;18;32\n"
    with pytest.raises(ReleaseError, match=r"line 2, column '2': .* beside the mark of \(r=1, c=2\)") as told:
        read_release(foreign(tmp_path, text), small(), **announced)
    assert "7" not in str(told.value).split("line 2")[1]


@pytest.mark.parametrize(
    "written", ["[4...10]", "4-10", "4..10", "[4,10]", "(4;10)", "4 – 10", "[ 4 .. 10 ]"]
)
def test_ways_to_write_an_interval(written: str) -> None:
    said = parse_published([written])
    assert (said.marks[0], said.low[0], said.high[0]) == (Mark.INTERVAL, 4, 10)


def test_one_sided_intervals_negative_numbers_and_decimal_commas() -> None:
    said = parse_published(["<5", ">=100", "-3--1", "-7.5"], integer=True)
    assert said.high.tolist() == [4, np.inf, -1, -7.5]
    assert said.low.tolist() == [-np.inf, 100, -3, -7.5]
    assert parse_published(["1,5", "[1,5...2,5]"], decimal=",").high.tolist() == [1.5, 2.5]
    assert parse_published(["about five"]).unreadable[0]


def foreign(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "foreign.csv"
    path.write_text(text)
    return path


def small() -> Table:
    return Table.from_array([[5, 7], [9, 11]], names=("r", "c"))


LONG = """r,c,figure
1,1,x
1,2,[6...8]
1,Total,12
2,1,:
2,2,11
2,Total,20
Total,1,14
Total,2,18
Total,Total,32
"""
ROUNDED = """r,c,value
1,1,5
1,2,5
1,Total,10
2,1,10
2,2,10
2,Total,20
Total,1,15
Total,2,15
Total,Total,30
"""


def test_a_long_file_of_another_program(tmp_path: Path) -> None:
    table = small()
    release = read_release(foreign(tmp_path, LONG), table)
    assert release.marks[table.find("1", "1")] == Mark.SUPPRESSED
    between = table.find("1", "2")
    assert (release.low[between], release.high[between]) == (6, 8)
    assert release.value[table.find("2", "2")] == 11


def test_a_crosstab_either_way_round(tmp_path: Path) -> None:
    table = small()
    upright = read_release(foreign(tmp_path, "r,1,2,Total\n1,x,x,12\n2,x,x,20\nTotal,14,18,32\n"), table)
    lying = read_release(foreign(tmp_path, "c;1;2;Total\n1;x;x;14\n2;x;x;18\nTotal;12;20;32\n"), table)
    assert (upright.marks == Mark.SUPPRESSED).sum() == 4
    assert same(upright, lying)
    unnamed = read_release(foreign(tmp_path, ",1,2,Total\n1,x,x,12\n2,x,x,20\nTotal,14,18,32\n"), table)
    assert same(upright, unnamed)


def test_rounded_and_adjusted_numbers_have_windows(tmp_path: Path) -> None:
    table = small()
    release = read_release(foreign(tmp_path, ROUNDED), table, base=5)
    cell = table.find("1", "2")
    # Not all are the nearest multiples, so numbers may have gone up or down.
    assert (release.marks[cell], release.low[cell], release.high[cell]) == (Mark.ROUNDED, 1, 9)
    adjusted = read_release(foreign(tmp_path, ROUNDED), table, radius=3)
    assert (adjusted.marks[cell], adjusted.low[cell], adjusted.high[cell]) == (Mark.ADJUSTED, 2, 8)
    with pytest.raises(ReleaseError, match="not a multiple of the base"):
        read_release(foreign(tmp_path, ROUNDED), table, base=10)
    with pytest.raises(ReleaseError, match="outside what is published"):
        read_release(foreign(tmp_path, ROUNDED), table, radius=1)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("2,2,11", "2,2,12", r"differ from the table in \(r=2, c=2\)"),
        ("[6...8]", "[8...9]", r"outside what is published of \(r=1, c=2\)"),
        ("2,2,11", "2,2,about 11", r"line 6: 'about 11' is neither a number"),
        ("2,2,11", "2,3,11", "line 6: the table has no such cell"),
        ("2,2,11\n", "", r"does not list \(r=2, c=2\).*absent cells are suppressed"),
        ("2,2,11", "2,2,11\n2,2,x", "line 6 and .*line 7 say different things"),
    ],
)
def test_contradictions_are_told_by_cell_never_by_value(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    with pytest.raises(ReleaseError, match=message) as caught:
        read_release(foreign(tmp_path, LONG.replace(old, new)), small())
    if "differ from" in message:
        assert "11" not in str(caught.value).split("foreign.csv:")[1]


def test_cells_not_listed_may_count_as_hidden(tmp_path: Path) -> None:
    table = small()
    release = read_release(foreign(tmp_path, LONG.replace("2,2,11\n", "")), table, absent="suppressed")
    assert release.marks[table.find("2", "2")] == Mark.SUPPRESSED


def test_files_that_cannot_be_told_apart(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="Name the column of values"):
        read_release(foreign(tmp_path, "r,c,one,two\n1,1,5,5\n"), small())
    with pytest.raises(FormatError, match="crosstab"):
        read_release(foreign(tmp_path, "p,q\n1,1\n"), small())
    with pytest.raises(ReleaseError, match="line 2: mark 'hid' is unknown"):
        read_release(foreign(tmp_path, "r,c,mark,value\n1,1,hid,\n"), small())
    with pytest.raises(InputError, match="no format has the ending"):
        write_release(
            Release.suppress(small(), np.array([0])), tmp_path / "r.doc", unaudited="for a test only"
        )


def test_codes_of_one_cell_are_all_listed(tmp_path: Path) -> None:
    tree = Hierarchy.from_dict({"N": ["n1"], "S": ["s1", "s2"]})
    frame = pa.table({"r": ["n1", "s1", "s2"], "v": [5, 6, 7]})
    table = Table.from_frame(frame, {"r": tree}, value="v")
    release = Release.suppress(table, np.array([table.find("N")]))
    text = write_release(release, tmp_path / "r.csv", unaudited="for a test only").read_text()
    assert "N,suppressed" in text
    assert "n1,suppressed" in text
    assert same(read_release(tmp_path / "r.csv", table), release)


def parts_of(path: Path) -> tuple[str, str, str]:
    """Styles, words and sheets of a workbook."""
    with zipfile.ZipFile(path) as archive:
        sheets = [n for n in archive.namelist() if n.startswith("xl/worksheets/sheet")]
        return (
            archive.read("xl/styles.xml").decode(),
            archive.read("xl/sharedStrings.xml").decode(),
            "".join(archive.read(name).decode() for name in sheets),
        )


def test_workbooks_for_the_house_tell_primary_cells_in_colour_and_in_words(tmp_path: Path) -> None:
    path = write_excel(
        release_of(secret_table()), tmp_path / "r.xlsx", {"unaudited": "=because"}, internal=True
    )
    styles, words, sheets = parts_of(path)
    assert BLUE.removeprefix("#") in styles
    assert RED.removeprefix("#") in styles
    assert "x (primary)" in words
    assert "x (secondary)" in words
    assert ">'=c<" in words
    assert ">'=because<" in words
    assert "<f>" not in sheets
    crosstab = read_release(path, secret_table(), sheet="crosstab")
    assert same(crosstab, release_of(secret_table()))
    assert crosstab.primary.sum() == 1


def test_workbooks_for_publication_are_the_same_whichever_hidden_cells_are_primary(tmp_path: Path) -> None:
    table = secret_table()
    hidden = hidden_square(table)
    written = []
    for number, primary in enumerate((hidden[:1], hidden[1:], hidden, hidden[:0])):
        release = Release.suppress(table, hidden, primary=np.isin(np.arange(len(table)), primary))
        path = write_release(release, tmp_path / f"{number}.xlsx", unaudited="for a test only")
        written.append(parts_of(path))
        assert same(read_release(path, table, sheet="crosstab"), release)
    assert all(parts == written[0] for parts in written)
    styles, words, sheets = written[0]
    assert "primary" not in words
    assert styles.count('<patternFill patternType="solid">') == 1
    assert "<f>" not in sheets


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("1,1,suppressed,,,5", "is suppressed but has a value"),
        ("1,1,suppressed,4,6,", "is suppressed but has low or high"),
        ("1,1,interval,4,6,5", "is an interval but has a value"),
        ("1,1,interval,,,", "has neither low nor high"),
        ("1,1,interval,6,4,", "has low above high"),
        ("1,1,rounded,,,5", "how far"),
        ("1,1,rounded,0,10,", "has no value"),
        ("1,1,published,5,5,", "has no value"),
    ],
)
def test_a_row_may_not_tell_more_than_its_window(tmp_path: Path, row: str, message: str) -> None:
    with pytest.raises(ReleaseError, match=f"line 2: the cell .*{message}"):
        read_release(foreign(tmp_path, f"r,c,mark,low,high,value\n{row}\n"), small(), absent="suppressed")


OWN = """r,c,mark,low,high,value,notice
1,1,suppressed,,,,not additive: for comparison only
1,2,suppressed,,,,not additive: for comparison only
"""


def test_our_own_form_is_read_with_its_labels(tmp_path: Path) -> None:
    assert read_release(foreign(tmp_path, OWN), small(), absent="suppressed").hidden.all()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("notice", "turnover", "column 'turnover' is none of a release, .*: take it out"),
        ("notice", "status", "column 'status' is none of a release"),
        ("notice", "cell", "column 'cell' is none of a release"),
        ("notice", "table", "column 'table' is none of a release"),
        ("2,suppressed,,,,not additive", "2,suppressed,,,,7", "column 'notice' differs from row to row"),
        ("not additive", "North is 10; additive", "column 'notice' holds words that no release of Tacita"),
    ],
)
def test_what_stands_besides_in_our_own_form_readers_would_see(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    with pytest.raises(ReleaseError, match=message):
        read_release(foreign(tmp_path, OWN.replace(old, new)), small(), absent="suppressed")


def test_what_stands_beside_the_published_column_is_refused_unless_only_that_is_published(
    tmp_path: Path,
) -> None:
    path = foreign(tmp_path, "r,c,published,truth\n1,1,x,5\n")
    with pytest.raises(ReleaseError, match="column 'truth' is none of a release"):
        read_release(path, small(), absent="suppressed")
    assert read_release(path, small(), absent="suppressed", value="published").hidden.all()


def test_a_row_of_one_linked_table_says_nothing_in_the_columns_of_another(tmp_path: Path) -> None:
    one = Table.from_array([[1, 2], [3, 4]], names=("r", "s"))
    two = Table.from_array([[1, 2, 0], [3, 3, 1]], names=("r", "t"))
    table = link({"by s": one, "by t": two})
    row = "table,r,s,t,mark,low,high,value\nby s,1,1,{},suppressed,,,\n"
    for idle in ("", "Total"):
        read_release(foreign(tmp_path, row.format(idle)), table, absent="suppressed")
    with pytest.raises(
        ReleaseError, match="line 2: table 'by s' has no dimension 't': leave its column empty"
    ):
        read_release(foreign(tmp_path, row.format("2")), table, absent="suppressed")


def test_rounded_cells_of_our_own_form_take_the_announced_base(tmp_path: Path) -> None:
    text = "r,c,mark,low,high,value\n1,1,rounded,,,5\n"
    release = read_release(foreign(tmp_path, text), small(), base=5, absent="suppressed")
    cell = small().find("1", "1")
    assert (release.low[cell], release.high[cell]) == (3, 7)
    assert "nearest multiple of 5" in release.assumption


@pytest.mark.parametrize(
    ("row", "options", "reason"),
    [
        ("rounded,1,9,6", {}, "as far below as above"),
        ("rounded,0,10,6", {}, "as far below as above"),
        ("adjusted,4,9,6", {}, "as far below as above"),
        ("rounded,0,12,6", {"base": 6}, None),
        # The truth is told to be nearer than a base: the file says more, and the audit hears it.
        ("rounded,1,11,6", {"base": 6}, None),
        ("rounded,0,12,6", {"base": 4}, "wider than what is announced"),
        ("adjusted,0,12,6", {"radius": 4}, "wider than what is announced"),
        ("rounded,2,10,6", {"base": 4}, "not a multiple of the base"),
        ("rounded,3,9,6", {"base": 3.5}, "not a multiple of the base"),
    ],
)
def test_a_rounded_number_is_what_its_window_and_the_announced_base_say(
    tmp_path: Path, row: str, options: dict[str, float], reason: str | None
) -> None:
    path = foreign(tmp_path, f"r,c,mark,low,high,value\n1,1,{row}\n")
    table = small()
    if reason is None:
        release = read_release(path, table, absent="suppressed", **options)
        assert release.value[table.find("1", "1")] == 6
    else:
        with pytest.raises(ReleaseError, match=reason):
            read_release(path, table, absent="suppressed", **options)


def test_a_dash_may_be_read_as_zero_so_the_audit_takes_it_for_zero(tmp_path: Path) -> None:
    table = Table.from_array([[0, 7], [9, 11]], names=("r", "c"))
    text = "r,1,2,Total\n1,-,x,7\n2,-,x,20\nTotal,9,18,27\n"
    release = read_release(foreign(tmp_path, text), table)
    assert release.marks[table.find("1", "1")] == Mark.PUBLISHED
    assert release.marks[table.find("2", "1")] == Mark.SUPPRESSED


@pytest.mark.parametrize("ending", ["csv", "parquet", "xlsx", "txt"])
def test_a_notice_stands_in_every_file_and_is_read_over(ending: str, tmp_path: Path) -> None:
    table = secret_table()
    release = replace(release_of(table), notice="not additive: for comparison only")
    path = write_release(release, tmp_path / f"r.{ending}", unaudited="for a test only")
    if ending == "parquet":
        metadata = pyarrow.parquet.read_schema(path).metadata
        assert metadata[b"tacita.notice"] == b"not additive: for comparison only"
        assert metadata[b"tacita.unaudited"] == b"for a test only"
    elif ending == "xlsx":
        with zipfile.ZipFile(path) as archive:
            assert b"not additive: for comparison only" in archive.read("xl/sharedStrings.xml")
    else:
        assert "not additive: for comparison only" in path.read_text()
    assert np.array_equal(read_release(path, table).marks, release.marks)


def test_a_workbook_explains_the_signs_that_it_uses_and_no_others(tmp_path: Path) -> None:
    from python_calamine import CalamineWorkbook

    table = Table.from_array([[3, 5], [8, 9]])
    some = np.array([True] + [False] * (len(table) - 1))
    hidden = Release.suppress(table, some)
    told = Release.mixed(
        table, some, np.full(len(table), Mark.INTERVAL), table.units - some, table.units + some
    )
    for release, sign in ((hidden, "x"), (told, "[4...10]")):
        path = write_release(release, tmp_path / "r.xlsx", unaudited="for a test only")
        notes = CalamineWorkbook.from_path(path).get_sheet_by_name("notes").to_python()
        assert [row[0] for row in notes] == ["unaudited", sign]
