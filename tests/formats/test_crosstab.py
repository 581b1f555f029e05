"""Crosstabs as cases: told by their shape, refused where they do not hold the truth."""

from __future__ import annotations

from pathlib import Path

import pytest
import xlsxwriter

from tacita.cli import main
from tacita.core.errors import DecimalSignError, FormatError, InputError, SeveralValuesError
from tacita.core.tables.table import Table
from tacita.specification.read_case import read_case

LEAVES = "region,A,B\nN,20,5\nS,8,19\nW,1,2\n"
WITH_TOTALS = "region,A,B,Total\nN,20,5,25\nS,8,19,27\nTotal,28,24,52\n"


def read(folder: Path, text: str, **options: object) -> Table:
    path = folder / "t.csv"
    path.write_text(text)
    table = read_case(path, **options)
    assert isinstance(table, Table)
    return table


def test_a_crosstab_of_leaves_gets_its_totals(tmp_path: Path) -> None:
    table = read(tmp_path, LEAVES)
    assert [d.name for d in table.structure.dimensions] == ["region", "column"]
    assert (len(table), table.values[table.find("S", "B")]) == (12, 19)
    assert table.values[table.find("Total", "A")] == 29
    assert "read as a crosstab: rows are 'region', columns are 'column'" in table.notes


def test_totals_that_are_listed_are_totals(tmp_path: Path) -> None:
    table = read(tmp_path, WITH_TOTALS)
    assert (len(table), len(table.equations)) == (9, 6)
    with pytest.raises(InputError, match="column=Total"):
        read(tmp_path, WITH_TOTALS.replace("5,25", "5,26"))


def test_a_total_with_another_name_is_found_or_named(tmp_path: Path) -> None:
    text = WITH_TOTALS.replace("B,Total", "B,Sweden")
    with pytest.raises(InputError, match="'Sweden' of 'column' is the sum"):
        read(tmp_path, text)
    assert len(read(tmp_path, text, by={"region": None, "column": "Sweden"})) == 9


def test_decimal_commas_blank_corners_and_gaps(tmp_path: Path) -> None:
    table = read(tmp_path, ";A;B;Total\nN;1,5;2;3,5\nS;;1;2\nTotal;2,5;3;5,5\n", decimal=",")
    assert [d.name for d in table.structure.dimensions] == ["row", "column"]
    assert table.values[table.find("S", "A")] == 1.0


def test_a_crosstab_in_a_workbook(tmp_path: Path) -> None:
    with xlsxwriter.Workbook(str(tmp_path / "t.xlsx")) as book:
        sheet = book.add_worksheet()
        for r, row in enumerate([["region", "A", "B"], ["N", 20, 5], ["S", 8, 19.5]]):
            sheet.write_row(r, 0, row)
    table = read_case(tmp_path / "t.xlsx")
    assert isinstance(table, Table)
    assert table.values[table.find("Total", "Total")] == 52.5


@pytest.mark.parametrize("mark", ["x", "[4...10]", "c"])
def test_a_protected_crosstab_is_no_case(tmp_path: Path, mark: str) -> None:
    with pytest.raises(FormatError, match=r"line 3.*region=S, column=A.*a case needs the true values"):
        read(tmp_path, LEAVES.replace("S,8", f"S,{mark}"))


@pytest.mark.parametrize("written", ["(8)", "8*", "8 %", '"1,23"', "8 r"])
def test_a_crosstab_with_signs_is_not_read_as_another_table(tmp_path: Path, written: str) -> None:
    with pytest.raises(FormatError, match=r"line 3.*region=S, column=A.*if this is no crosstab"):
        read(tmp_path, LEAVES.replace("S,8", f"S,{written}"))


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (WITH_TOTALS.replace("N,20,5,25", "N,20,n/a,25"), "n/a"),
        (WITH_TOTALS.replace("N,20,5,25", "N,20,soon,25"), "soon"),
        (LEAVES.replace("20,5", "20,NA"), "NA"),
        (LEAVES.replace("20,5", "few,few"), "few"),
    ],
)
def test_a_word_among_the_numbers_is_named_by_its_cell(tmp_path: Path, text: str, word: str) -> None:
    column = "A" if word == "few" else "B"
    told = rf"line 2: cell \(region=N, column={column}\) is '{word}', which is no number: write the number"
    with pytest.raises(FormatError, match=told):
        read(tmp_path, text)


def test_columns_of_codes_are_no_words_among_numbers(tmp_path: Path) -> None:
    # One column holds the values: another one may hold codes such as 1, 2, mixed.
    table = read(tmp_path, "firm,class,turnover\na,1,5\nb,2,7\nc,mixed,9\n")
    assert [d.name for d in table.structure.dimensions] == ["firm", "class"]
    with pytest.raises(FormatError, match="which column holds the values"):
        read(tmp_path, "firm,class,turnover,staff\na,x,5,1\nb,y,7,1\nc,7,9,2\n")


def test_a_mistyped_number_in_one_of_two_columns_is_asked_for(tmp_path: Path) -> None:
    text = "region,food,tools\nNorth,12,l7\nSouth,9,15\nEast,4,8\n"
    with pytest.raises(
        FormatError, match=r"line 2, column 'tools': 'l7' among numbers: .* mistyped"
    ) as asked:
        read(tmp_path, text)
    assert asked.value.options == ("by=region", "by=tools")
    table = read(tmp_path, text, by=["region", "tools"])
    assert [d.name for d in table.structure.dimensions] == ["region", "tools"]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("men,women\n12,17\n14,l7\n9,15\n20,30\n", "line 3, column 'women'"),
        ("men,women\n12,17\nI4,7\n9,15\n", "line 3, column 'men'"),
        ("2023,2024\n1200,12O\n1300,17\n1400,18\n", "line 2, column '2024'"),
        ("region,A,B\nN,20,5\nS,1 23,19\nW,1,2\n", "line 3, column 'A'"),
        ("region,cases\nN,12\nS,l7\nW,9\n", "line 3, column 'cases'"),
        ("code,men,women\n101,5,7\n102,8,1q9\n103,2,4\n", "line 3, column 'women'"),
        ("region,food,tools,toys\nN,12,l7,3\nS,1O,15,4\nW,4,8,7\n", "line 3, column 'food'"),
    ],
)
def test_a_mistyped_number_makes_no_list_of_a_crosstab(tmp_path: Path, text: str, place: str) -> None:
    with pytest.raises(FormatError, match=f"{place}: .* is it a mistyped number"):
        read(tmp_path, text)


@pytest.mark.parametrize("codes", ["101 102 10A", "15-24 25-64 65+", "83 84 85+", "01 2A 21", "1 2 mixed"])
@pytest.mark.parametrize("first", [True, False])
def test_codes_with_digits_are_no_mistyped_numbers(tmp_path: Path, codes: str, first: bool) -> None:
    pairs = list(zip(codes.split(), (4, 5, 6), strict=True))
    repeated = [("N", *pair) for pair in pairs] + [("S", *pair) for pair in pairs]
    rows = [("code", "cases"), *pairs] if first else [("region", "code", "cases"), *repeated]
    table = read(tmp_path, "".join(f"{','.join(map(str, row))}\n" for row in rows))
    assert table.structure.dimensions[-1].name == "code"


def test_a_decimal_comma_in_a_file_is_asked_for(tmp_path: Path) -> None:
    text = "region;A;B\nN;1,5;2\nS;2,5;3\n"
    with pytest.raises(DecimalSignError, match=r"column=A\) is '1,5': choose the decimal sign"):
        read(tmp_path, text)
    assert read(tmp_path, text, decimal=",").decimals == 1


def test_a_row_total_taken_for_the_value_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"A, B add up to 'Total'.*looks like a crosstab: name no column"):
        read(tmp_path, WITH_TOTALS, value="Total")
    assert len(read(tmp_path, WITH_TOTALS, by=["region"], value="Total")) == 3


def test_a_code_that_is_called_like_a_count_is_a_code_where_columns_add_up(tmp_path: Path) -> None:
    text = WITH_TOTALS.replace("A,B", "N,S")
    assert len(read(tmp_path, text)) == 9
    with pytest.raises(InputError, match="N, S add up to 'Total'"):
        read(tmp_path, text, value="Total")


@pytest.mark.parametrize(
    ("text", "dimensions"),
    [
        ("region,year,value\nN,2019,5\nS,2020,7\n", ["region", "year"]),
        ("region,size,turnover\nN,a,5\nS,b,7\n", ["region", "size"]),
        ("region,freq,turnover\nN,3,5\nS,4,7\n", ["region"]),
    ],
)
def test_long_tables_stay_long(tmp_path: Path, text: str, dimensions: list[str]) -> None:
    assert [d.name for d in read(tmp_path, text).structure.dimensions] == dimensions


def test_rows_that_repeat_a_code_are_no_crosstab(tmp_path: Path) -> None:
    with pytest.raises(SeveralValuesError, match=r"which column holds .* or tabulate the rows, if"):
        read(tmp_path, "region,year,turnover\nN,2019,5\nN,2020,7\n")


def test_rows_with_names_of_respondents_are_called_records(tmp_path: Path) -> None:
    with pytest.raises(SeveralValuesError, match="'firm' differs in all rows, as in records") as refused:
        read(tmp_path, "firm,region,nace,turnover\nF1,N,10,5\nF2,N,11,7\n")
    assert refused.value.identity == "firm"


def test_a_crosstab_is_protected_and_audited_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(WITH_TOTALS.replace("Total", "Sweden").replace("B,Sweden", "B,Total"))
    said = ("--rules", "threshold(6)", "--total", "region=Sweden")
    assert main(["protect", "t.csv", *said, "--out", "done"]) == 0
    assert "read as a crosstab" in capsys.readouterr().err
    assert main(["audit", "t.csv", "done", *said]) == 0
    Path("bad.csv").write_text(Path("t.csv").read_text().replace("N,20,5", "N,20,x"))
    assert main(["audit", "t.csv", "bad.csv", *said]) == 2
