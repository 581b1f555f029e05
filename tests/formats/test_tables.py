"""Cases from files: columns told by name, and the formats of other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
import xlsxwriter

from tacita.core.errors import FormatError, InputError, RuleError
from tacita.core.exact import UNBOUNDED
from tacita.core.hierarchy import Hierarchy
from tacita.core.tables.table import Table
from tacita.formats.nchs import read_nchs
from tacita.formats.petrenko import read_thesis, write_thesis
from tacita.problem.problem import Problem
from tacita.specification.read_case import read_case

CELLS = """cell_id,region,size,freq,value,max1,max2,cost,status,lb,ub,lpl,upl,spl
0,Total,Total,9,100,30,20,100,s,0,200,0,0,0
1,Total,a,5,60,30,20,60,s,0,200,0,0,0
2,Total,b,4,40,20,10,40,s,0,200,0,0,0
3,N,Total,5,50,30,10,50,s,0,200,0,0,0
4,N,a,2,40,30,10,40,u,0,200,5,6,0
5,N,b,3,10,5,3,10,z,0,200,0,0,0
6,S,Total,4,50,20,20,50,s,0,200,0,0,0
7,S,a,3,20,20,0,20,m,0,200,0,0,0
8,S,b,1,30,20,10,30,s,0,200,0,0,0
"""


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def read_problem(path: Path, **options: object) -> Problem:
    case = read_case(path, **options)
    assert isinstance(case, Problem)
    return case


def read_table(path: Path, **options: object) -> Table:
    case = read_case(path, **options)
    assert isinstance(case, Table)
    return case


def test_columns_are_told_by_name(tmp_path: Path) -> None:
    problem = read_problem(write(tmp_path / "cells.csv", CELLS))
    table = problem.table
    cell = table.find("N", "a")
    assert [d.name for d in table.structure.dimensions] == ["region", "size"]
    assert problem.sensitive.tolist() == [cell]
    assert (problem.levels.lower[cell], problem.levels.upper[cell]) == (5, 6)
    assert (problem.cost[cell], problem.outsider.upper[cell]) == (40, 200)
    assert np.flatnonzero(problem.must_publish).tolist() == [table.find("N", "b")]
    assert table.count is not None
    assert table.count[cell] == 2
    assert table.contributions is not None
    assert table.contributions.values[cell].tolist() == [30, 10]


@pytest.mark.parametrize("ending", ["csv", "parquet", "xlsx"])
def test_all_formats_say_the_same(tmp_path: Path, ending: str) -> None:
    rows = [line.split(",") for line in CELLS.splitlines()]
    path = tmp_path / f"cells.{ending}"
    typed = [[int(v) if v.isdigit() else v for v in row] for row in rows[1:]]
    if ending == "csv":
        write(path, CELLS.replace(",", ";"))
    elif ending == "parquet":
        columns = {name: [row[k] for row in typed] for k, name in enumerate(rows[0])}
        pyarrow.parquet.write_table(pa.table(columns), path)
    else:
        with xlsxwriter.Workbook(str(path)) as book:
            sheet = book.add_worksheet()
            for r, row in enumerate([rows[0], *typed]):
                sheet.write_row(r, 0, row)
    problem = read_problem(path)
    assert problem.table.values.tolist() == [100, 60, 40, 50, 40, 10, 50, 20, 30]
    assert problem.levels.upper[problem.sensitive].tolist() == [6]


def test_a_rule_and_a_hierarchy_make_a_problem_of_plain_cells(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "region,n\nn1,2\nn2,7\ns1,9\n")
    tree = Hierarchy.from_dict({"N": ["n1", "n2"], "S": ["s1"]})
    table = read_table(path, by={"region": tree})
    assert table.values[table.find("N")] == 9
    problem = read_problem(path, by={"region": tree}, rule="threshold(3)")
    assert problem.sensitive.tolist() == [problem.table.find("n1")]
    with pytest.raises(RuleError, match="there is no rule"):
        read_case(path, by={"region": tree}, rule="treshold(3)")


def test_status_without_levels_gets_a_share_of_the_value(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "r,value,status\na,10,U\nb,20,S\nc,0,u\n")
    problem = read_problem(path, protection=25)
    a, c = problem.table.find("a"), problem.table.find("c")
    assert (problem.levels.lower[a], problem.levels.upper[a]) == (3, 3)
    assert problem.levels.sliding[c] == 1
    with pytest.raises(FormatError, match="status 'q' is unknown"):
        read_case(write(tmp_path / "q.csv", "r,value,status\na,10,q\n"))


def test_decimal_commas_encodings_and_blank_lines(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("\n".join(["région;wert", "Süd;1,5", "", "Ost;2,25", ""]).encode("cp1252"))
    table = read_table(path, decimal=",", value="wert")
    assert table.values[table.find("Süd")] == 1.5
    assert table.decimals == 2


def test_columns_that_cannot_be_told_are_asked_for(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"values: year or amount\? Name the column of values"):
        read_case(write(tmp_path / "a.csv", "r,year,amount\na,2001,5\n"))
    years = read_table(write(tmp_path / "b.csv", "r,year,value\na,2001,5\na,2002,6\n"))
    assert [d.name for d in years.structure.dimensions] == ["r", "year"]
    with pytest.raises(FormatError, match="Name the columns of codes"):
        read_case(write(tmp_path / "c.csv", "r,share,value\na,0.5,5\n"))
    aside = read_table(write(tmp_path / "c.csv", "r,share,value\na,0.5,5\n"), by=["r"])
    assert len(aside.structure.dimensions) == 1


def test_a_formula_in_a_code_comes_back_as_text(tmp_path: Path) -> None:
    table = read_table(write(tmp_path / "t.csv", "r,value\n'=a,1\nb,2\n"))
    assert table.find("=a") >= 0


def test_nchs_input_is_lines_of_numbers_without_totals(tmp_path: Path) -> None:
    table = read_nchs(write(tmp_path / "t.txt", "1 2 3\n4 5 6\n\n"))
    assert len(table) == 12
    assert table.values[table.find("Total", "Total")] == 21
    assert table.values[table.find("2", "3")] == 6
    assert isinstance(read_case(tmp_path / "t.txt"), Table)
    with pytest.raises(FormatError, match=r"line 2: 2 numbers where line 1 has 3"):
        read_nchs(write(tmp_path / "t.txt", "1 2 3\n4 5\n"))


def test_thesis_files_count_positions_row_by_row_from_one(tmp_path: Path) -> None:
    write(tmp_path / "A.txt", "10,15,11,9\n8,10,12,15\n10,12,11,13\n")
    write(tmp_path / "PSC.txt", "1,12\n")
    write(tmp_path / "VSC.txt", "3,5\n")
    problem = read_thesis(tmp_path)
    first, last = problem.table.find("1", "1"), problem.table.find("3", "4")
    assert sorted(problem.sensitive.tolist()) == sorted([first, last])
    assert (problem.table.values[last], problem.levels.upper[last], problem.levels.lower[last]) == (13, 5, 5)
    assert read_thesis(tmp_path, lower="none").levels.lower[last] == 0
    (tmp_path / "copy").mkdir()
    write_thesis(problem, tmp_path / "copy")
    for name in ("A.txt", "PSC.txt", "VSC.txt"):
        assert (tmp_path / "copy" / name).read_text() == (tmp_path / name).read_text()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("A.txt", "1,2\n3\n", "line 2: 1 number, "),
        ("A.txt", "1,x\n", "line 1: something is not a number"),
        ("PSC.txt", "0\n", "integers from 1 to 4"),
        ("PSC.txt", "1,1\n", "1 level for 2 positions"),
        ("VSC.txt", "", "is empty"),
    ],
)
def test_thesis_files_with_faults(tmp_path: Path, name: str, text: str, message: str) -> None:
    for good, content in (("A.txt", "1,2\n3,4\n"), ("PSC.txt", "1\n"), ("VSC.txt", "1\n")):
        write(tmp_path / good, content)
    write(tmp_path / name, text)
    with pytest.raises(FormatError, match=message):
        read_thesis(tmp_path)


def test_unknown_endings_and_options(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="no such file"):
        read_case(tmp_path / "none.csv")
    with pytest.raises(FormatError, match=r"ending '\.doc'"):
        read_case(write(tmp_path / "x.doc", ""))
    with pytest.raises(InputError, match="has no option 'by'"):
        read_case(write(tmp_path / "x.jj", ""), by=["r"])


def test_a_table_frame_is_a_table_file(tmp_path: Path) -> None:
    table = Table.from_array([[1, 2], [3, 4]])
    pyarrow.parquet.write_table(table.to_arrow(), tmp_path / "t.parquet")
    back = read_table(tmp_path / "t.parquet")
    assert back.units.tolist() == table.units.tolist()
    assert len(back.equations) == len(table.equations)


def test_workbooks_with_faults(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    with pytest.raises(FormatError, match="cannot be read as a workbook"):
        read_case(write(path, "no workbook"))
    with xlsxwriter.Workbook(str(path)) as book:
        sheet = book.add_worksheet("data")
        sheet.write_row(0, 0, ["r", "value"])
        sheet.write_row(1, 0, ["a", 5])
        sheet.write_row(3, 0, ["b", "many"])
    with pytest.raises(InputError, match=r"sheet 'data', row 4, column 'value': 'many' is not a number"):
        read_case(path, value="value")
    with pytest.raises(FormatError, match="no sheet 'other': name the sheet: 'data'"):
        read_case(path, sheet="other")


def test_a_folder_is_the_thesis_files_and_guessed_encodings_are_noted(tmp_path: Path) -> None:
    for name, content in (("A.txt", "1,2\n3,4\n"), ("PSC.txt", "1\n"), ("VSC.txt", "1\n")):
        write(tmp_path / name, content)
    assert len(read_problem(tmp_path).table) == 9
    (tmp_path / "t.csv").write_bytes("r,value\r\nSüd,1\r\nOst,2\r\n".encode("cp1252"))
    assert any("cp1252" in note for note in read_table(tmp_path / "t.csv").notes)


def test_given_decimals_of_a_jj_file_are_kept(tmp_path: Path) -> None:
    text = "0\n2\n0 1.5 1 u 0 9 0.125 0.125 0\n1 1.5 1 s 0 9 0 0 0\n1\n0 2 : 0 (1) 1 (-1)\n"
    problem = read_problem(write(tmp_path / "c.jj", text), decimals=1)
    assert (problem.table.decimals, problem.levels.upper[0]) == (1, 2)


def test_blank_bounds_and_levels_take_the_safe_default(tmp_path: Path) -> None:
    text = "r,value,status,lb,ub,lpl,upl\na,10,u,,,,\nb,20,u,-5,30,1,2\nc,5,s,,,,\n"
    problem = read_problem(write(tmp_path / "t.csv", text))
    a, b, total = (problem.table.find(code) for code in ("a", "b", "Total"))
    assert problem.outsider.lower[[a, b, total]].tolist() == [0, -5, 0]
    assert problem.outsider.upper[[a, b]].tolist() == [UNBOUNDED, 30]
    assert problem.levels.upper[[a, b]].tolist() == [2, 2]
    assert problem.levels.lower[[a, b]].tolist() == [2, 1]


def test_a_rule_adds_to_the_marks_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("r,c,value,status\na,x,20,u\na,y,30,s\nb,x,2,s\nb,y,40,s\n")
    problem = read_case(path, rule="threshold(3)")
    assert isinstance(problem, Problem)
    table = problem.table
    assert set(problem.sensitive) == {table.find("a", "x"), table.find("b", "x")}
    assert problem.levels.why(table.find("a", "x")) == ["marked in the file"]
    assert problem.levels.why(table.find("b", "x")) == ["threshold 3"]


def test_records_are_not_taken_for_a_table(tmp_path: Path) -> None:
    path = tmp_path / "firms.csv"
    rows = [f"firm{i},{'NS'[i % 2]},{'xyz'[i % 3]},{10 + i}" for i in range(30)]
    path.write_text("\n".join(["firm,region,industry,value", *rows]))
    with pytest.raises(InputError, match=r"every row has a 'firm' .*'firm' as the respondent column"):
        read_case(path, rule="threshold(3)")


def test_a_lone_max_holds_contributions_only_where_it_can(tmp_path: Path) -> None:
    path = tmp_path / "cells.csv"

    def read(heading: str, *rows: str, **options: Any) -> Any:
        path.write_text("\n".join([heading, *rows]) + "\n")
        return read_case(path, **options)

    found = read("region,turnover,Max", "a,10,8", "b,20,9", "Total,30,9")
    assert found.contributions is not None
    # The warmest day is no contribution to the sum of them.
    with pytest.raises(FormatError, match="'Max' is larger than 'turnover' here") as caught:
        read("region,turnover,Max", "a,10,8", "b,20,29")
    assert "line 3" in str(caught.value)
    found = read("region,turnover,Max", "a,10,8", "b,20,29", by=["region"], value="turnover")
    assert found.contributions is None
    with pytest.raises(FormatError, match="which column holds the values: Mean or Max or Min"):
        read("region,sex,Mean,Max,Min", "a,f,10,18,3", "b,m,20,29,4")
    # Beside counts, or numbered, it is what it is called; contributions may be negative, too.
    assert read("region,turnover,n,Max", "a,10,3,8", "b,20,4,9", "Total,30,7,9").contributions is not None
    assert (
        read("region,turnover,Max1,Max2", "a,10,12,-2", "b,20,9,5", "Total,30,12,9").contributions is not None
    )
