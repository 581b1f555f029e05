"""Text from a spreadsheet: what it means, and what is asked where it could mean two things."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from budget import examples
from hypothesis import given, reject
from hypothesis import strategies as st
from numpy.typing import NDArray

from tacita.core.errors import FormatError, InputError
from tacita.core.tables.read_options import ReadOptions
from tacita.core.tables.table import Table
from tacita.formats.pasted import blank_corner, number_columns, read_pasted
from tacita.problem.problem import Problem

CROSSTAB = "region\tfood\ttools\nNorth\t1\t2\nSouth\t3\t4"


def read(text: str, **options: Any) -> Table:
    found = read_pasted(text, ReadOptions(**options))
    assert isinstance(found, Table)
    return found


def inner(table: Table) -> NDArray[np.float64]:
    return table.values[~table.structure.is_total]


def test_a_crosstab_keeps_its_codes_and_gets_totals() -> None:
    table = read(CROSSTAB)
    assert [d.name for d in table.structure.dimensions] == ["region", "column"]
    assert table.values[table.find("South", "tools")] == 4
    assert table.values[table.find("Total", "Total")] == 10
    assert table.integer


def test_given_totals_are_kept_and_must_be_right() -> None:
    text = "\tA\tB\tTotal\nx\t1\t2\t3\ny\t4\t5\t9\nTotal\t5\t7\t{}"
    assert len(read(text.format(12))) == 9
    with pytest.raises(InputError, match="pasted text: the table does not add up"):
        read(text.format(13))
    repaired = read(text.format(13), repair=True)
    assert repaired.values[repaired.find("Total", "Total")] == 12


def test_one_row_per_cell_with_status_is_a_problem() -> None:
    found = read_pasted("region;size;value;status\nN;s;12;u\nN;l;20;s\nS;s;30;s\nS;l;40;s")
    assert isinstance(found, Problem)
    assert [found.table.name(int(cell)) for cell in found.sensitive] == ["region=N, size=s"]


@pytest.mark.parametrize("separator", [" ", "\t", ",", "; ", ", ", "   "])
def test_bare_numbers_are_inner_cells(separator: str) -> None:
    table = read("\n".join(separator.join(row) for row in (("10", "15", "11"), ("8", "10", "12"))) + "\n")
    assert inner(table).tolist() == [10, 15, 11, 8, 10, 12]
    assert len(table) == 12


def test_sums_among_bare_numbers_are_totals() -> None:
    table = read("1 2 3\n4 5 9\n5 7 12")
    assert inner(table).tolist() == [1, 2, 4, 5]
    assert table.notes[:2] == (
        "row 3 is the sum of all others and was taken as the total",
        "column 3 is the sum of all others and was taken as the total",
    )


def test_a_total_may_come_first_and_alone() -> None:
    table = read("6 1 5\n15 8 7")
    assert inner(table).tolist() == [1, 5, 8, 7]


@pytest.mark.parametrize("text", ["12 23 34 3", "12\n23\n34\n3"])
def test_one_line_or_one_number_per_line_is_a_list(text: str) -> None:
    table = read(text)
    assert len(table.structure.dimensions) == 1
    assert inner(table).tolist() == [12, 23, 34, 3]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("1,5", 1.5),
        ("1.234,5", 1234.5),
        ("1,234.5", 1234.5),
        ("1 234,5", 1234.5),
        ("1\u00a0234,5", 1234.5),
        ("1'234.5", 1234.5),
        ("0,125", 0.125),
        ("1.234.567", 1234567),
        ("12345,678", 12345.678),
        ("\u221212,25", -12.25),
        ("1.5e3", 1500),
    ],
)
def test_numbers_as_people_write_them(written: str, value: float) -> None:
    table = read(f"\tA\tB\nx\t{written}\t7\ny\t8\t9")
    assert table.values[table.find("x", "A")] == value
    assert inner(read(f"{written}\t7\n8\t9"))[0] == value


def test_one_number_tells_the_sign_of_all() -> None:
    table = read("\tA\tB\nx\t1.234\t7,5\ny\t8\t9")
    assert table.values[table.find("x", "A")] == 1234
    table = read("\tA\tB\nx\t1,234\t7,5\ny\t8\t9")
    assert table.values[table.find("x", "A")] == 1.234


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\tA\tB\nx\t5\t6\ny\t1,234\t9", "line 3: '1,234' may be in thousands"),
        ("1,5\n2,5", "'1,5' may be one number or two"),
        ("1,5\t2.5\n3\t4", "'2.5' in line 1 has a decimal point, '1,5' in line 1 a decimal comma"),
        ("1 2\n\n3 4 5", "line 3: 3 numbers where the first line has 2"),
        ("a;b;c\n1;2", "line 2: 2 fields where another line has 3"),
        ("North 5 6\nSouth 7 8", "separated by tabs"),
        ("  \n\n", "nothing to read"),
        (";;;\n;;;", "nothing to read"),
        ('a\tb\n"x\t1', "quotation mark"),
    ],
)
def test_what_could_mean_two_things_is_asked(text: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read_pasted(text)


@pytest.mark.parametrize("title", ["", "Patients in 2024\n\n"])
def test_a_first_line_of_numbers_is_data_or_names_as_the_user_says(title: str) -> None:
    text = f'{title}Altona\t12\t7\nBergen\t17\t14\n"Castel ""B"""\t25\t12\n'
    with pytest.raises(FormatError, match="are 12, 7 numbers or names") as asked:
        read(text)
    assert asked.value.options == ("names=missing", "names=first")
    table = read(number_columns(text))
    assert inner(table).tolist() == [12, 7, 17, 14, 25, 12]
    assert table.structure.dimensions[0].codes == ("Total", "Altona", "Bergen", 'Castel "B"')
    assert table.structure.dimensions[1].codes == ("Total", "1", "2")
    table = read(blank_corner(text))
    assert inner(table).tolist() == [17, 14, 25, 12]
    assert table.structure.dimensions[1].codes == ("Total", "12", "7")


def test_a_single_column_of_numbers_without_names_is_a_list() -> None:
    assert inner(read(number_columns("Altona\t12\nBergen\t17"))).tolist() == [12, 17]


def test_the_answer_is_taken() -> None:
    assert read("\tA\tB\nx\t5\t6\ny\t1,234\t9", decimal=",").values.max() == 21.234
    assert read("\tA\tB\nx\t5\t6\ny\t1,234\t9", decimal=".").values.max() == 1254
    assert inner(read("1,5\n2,5", decimal=",")).tolist() == [1.5, 2.5]
    assert inner(read("1,5\n2,5", decimal=".")).tolist() == [1, 5, 2, 5]
    with pytest.raises(FormatError, match=r"'1.5' is not a number with a decimal comma"):
        read("1.5 2\n3 4", decimal=",")


@pytest.mark.parametrize("sign", ["(15)", "15*", "15 %", "€ 15", "15 r", "15¹", "$1,500.5", "(1 500)"])
def test_a_number_with_signs_beside_it_is_refused_and_named(sign: str) -> None:
    with pytest.raises(
        FormatError, match=r"line 3: cell \(region=South, column=tools\) is .*the number alone"
    ):
        read(f"region\tfood\ttools\nNorth\t12\t7\nSouth\t9\t{sign}")


def test_signs_in_all_numbers_or_among_other_ways_of_writing_are_refused_too() -> None:
    with pytest.raises(FormatError, match=r"line 2: column 'food' is '12%'.*the number alone"):
        read("region\tfood\ttools\nNorth\t12%\t7%\nSouth\t9%\t15%")
    with pytest.raises(FormatError, match=r"column=tools\) is '7\*'"):
        read("region\tfood\ttools\nNorth\t1,5\t7*\nSouth\t9\t1.234,5")
    with pytest.raises(FormatError, match=r"column=tools\) is 'x'.*the true values"):
        read("region\tfood\ttools\nNorth\t1,5\tx\nSouth\t9\t1.234,5")
    with pytest.raises(FormatError, match=r"line 3: column 'sold' is '7 €'.*the number alone"):
        read("region\tsize\tsold\nN\ts\t12\nN\tl\t7 €\nS\ts\t3\nS\tl\t4")


def test_codes_with_letters_or_signs_stay_codes() -> None:
    table = read("id\tclass\tvalue\na\t10%\t1\nb\t20%\t2\nc\t30%\t4")
    assert [d.name for d in table.structure.dimensions] == ["class"]
    table = read("region\tclass\tsold\nN\t1a\t1\nS\t1b\t2\nW\t2a\t4")
    assert [d.name for d in table.structure.dimensions] == ["region", "class"]


def test_titles_above_the_block_are_left_out_and_told() -> None:
    table = read("Table 1: turnover, 2024\n\n" + CROSSTAB)
    assert inner(table).tolist() == [1, 2, 3, 4]
    assert table.notes[0] == "line 1 was taken for a title: 'Table 1: turnover, 2024'"
    assert inner(read("Turnover\nregion;sold\nN;1\nS;2")).tolist() == [1, 2]
    assert inner(read("Turnover\t\n1\t2\n3\t4")).tolist() == [1, 2, 3, 4]
    with pytest.raises(InputError, match=r"^pasted text, line 5, column 'value'"):
        read("Turnover\n\nregion\tsize\tvalue\nN\ts\t12\nS\ts\ttwelve")


def test_a_first_number_is_no_title() -> None:
    with pytest.raises(FormatError, match="line 2: 3 numbers where the first line has 1"):
        read("5\n1 2 3\n4 5 6")


@pytest.mark.parametrize("text", ["North\t12\t7\nSouth\t9\t15", "North\t12\nSouth\t9\nWest\t5"])
def test_rows_without_a_line_of_names_are_asked_for_it(text: str) -> None:
    with pytest.raises(FormatError, match=r"line 1: are 12.* numbers or names.*put a line of them above"):
        read(text)
    width = text.split("\n")[0].count("\t")
    assert (
        "North" in read("".join(f"\tc{k}" for k in range(width)) + "\n" + text).structure.dimensions[0].codes
    )


def test_numbers_under_a_blank_corner_are_names() -> None:
    assert read("\t10\t50\nN\t1\t2\nS\t3\t4").structure.dimensions[1].codes[1:] == ("10", "50")
    assert len(read("month\t1\t2\t3\nN\t1\t2\t4\nS\t3\t4\t9")) == 12


def test_a_word_among_numbers_is_named() -> None:
    with pytest.raises(FormatError, match="line 2: 'many' is not a number, and there are no names"):
        read("1\t2\n4\tmany\n5\t6")


def test_codes_that_look_like_numbers_stay_codes() -> None:
    table = read(
        "nace\tregion\tvalue\n10.110\tN\t1,5\n10.120\tN\t2\n10.110\tS\t3\n10.120\tS\t4", by=["nace", "region"]
    )
    assert table.values[table.find("10.110", "N")] == 1.5


def test_complaints_name_the_line_of_the_text_and_no_file() -> None:
    with pytest.raises(InputError) as caught:
        read_pasted("region\tsize\tvalue\nN\ts\t12\nS\ts\ttwelve\nS\tl\t4")
    assert str(caught.value).startswith("pasted text, line 3, column 'value'")


def test_years_as_names_are_told() -> None:
    table = read("region\t2019\t2020\nN\t1\t2\nS\t3\t4")
    assert table.notes[0] == "the first line was taken for names, not for numbers: 2019, 2020"


def test_empty_lines_and_columns_around_the_block_are_left_out() -> None:
    table = read("\t\t\t\n" + CROSSTAB.replace("\n", "\t\n") + "\t\n\t\t\t\n")
    assert inner(table).tolist() == [1, 2, 3, 4]


@examples(40)
@given(
    st.lists(st.lists(st.integers(-(10**9), 10**9), min_size=2, max_size=4), min_size=2, max_size=5).filter(
        lambda rows: len({len(row) for row in rows}) == 1
    ),
    st.sampled_from([".", ","]),
    st.sampled_from(["", "\u00a0", "\u202f", "'"]),
)
def test_however_numbers_are_written_they_are_the_same(rows: list[list[int]], sign: str, group: str) -> None:
    def written(cents: int) -> str:
        whole = f"{abs(cents) // 100:,}".replace(",", group)
        return f"{'-' if cents < 0 else ''}{whole}{sign}{abs(cents) % 100:02d}"

    header = "\t".join(["", *(f"c{k}" for k in range(len(rows[0])))])
    lines = [f"r{k}\t" + "\t".join(map(written, row)) for k, row in enumerate(rows)]
    try:
        table = read("\n".join([header, *lines]), counts=False)
    except InputError:
        reject()  # By chance a row or a column is the sum of the others, which is refused elsewhere.
    assert inner(table).tolist() == [cents / 100 for row in rows for cents in row]
