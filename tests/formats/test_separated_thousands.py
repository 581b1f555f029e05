"""Numbers in files with points, commas or blanks between thousands, and the question which of them are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacita import Table, read_case, tabulate
from tacita.core.errors import DecimalSignError, FormatError, InputError
from tacita.tabulation.overview import survey_records

ASKED = r"'1\.204' may be in thousands or have three decimals: choose the decimal sign"
CROSSTAB = "kreis;Industrie;Handel\nA;312;1.204\nB;2.311;1.120\n"
LIST = "kreis;umsatz\nA;312\nB;1.204\n"


def read(folder: Path, text: str, **options: object) -> Table:
    path = folder / "t.csv"
    path.write_text(text, encoding="cp1252" if "ö" in text else "utf-8")
    found = read_case(path, **options)  # type: ignore[arg-type]
    assert isinstance(found, Table)
    return found


@pytest.mark.parametrize("text", [CROSSTAB.replace("2.311", "2311"), LIST])
def test_a_file_is_asked_whether_numbers_are_in_thousands(tmp_path: Path, text: str) -> None:
    with pytest.raises(DecimalSignError, match=ASKED) as caught:
        read(tmp_path, text)
    assert caught.value.options == ("decimal",)
    assert read(tmp_path, text, decimal=",").values.max() >= 1516
    assert read(tmp_path, text, decimal=".").decimals == 3


@pytest.mark.parametrize("decided", ["0.204", "12.5", "1204.500", "1.2040", "1.204e2", ".5"])
def test_a_number_that_shows_a_decimal_point_decides(tmp_path: Path, decided: str) -> None:
    assert read(tmp_path, LIST + f"C;{decided}\n").values.min() < 2
    assert read(tmp_path, CROSSTAB.replace("312", decided)).values.min() < 2


@pytest.mark.parametrize("number", ["\u22121.204", "-1.204"])
def test_no_minus_sign_decides(tmp_path: Path, number: str) -> None:
    text = f"kreis;umsatz\nA;{number}\nB;5\n"
    with pytest.raises(DecimalSignError, match=r"1\.204' may be in thousands"):
        read(tmp_path, text)
    with pytest.raises(InputError, match=r"1\.204' may be in thousands"):
        tabulate(tmp_path / "t.csv", {"kreis": None}, "umsatz")
    table = tabulate(tmp_path / "t.csv", {"kreis": None}, "umsatz", decimal=".")
    assert table.values.min() == read(tmp_path, text, decimal=".").values.min() == -1.204


def test_no_number_has_separated_thousands_and_an_exponent(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'1\.204e3' is not a number with a decimal comma"):
        read(tmp_path, "kreis;umsatz\nA;1.204e3\nB;5,5\n", decimal=",", value="umsatz")


def test_codes_decide_nothing(tmp_path: Path) -> None:
    text = "nace;umsatz\n10.1;312\n10.2;1.204\n"
    with pytest.raises(DecimalSignError, match=ASKED):
        read(tmp_path, text, by=["nace"], value="umsatz")


def test_the_question_comes_before_totals_that_do_not_add_up(tmp_path: Path) -> None:
    text = (
        "Umsatz nach Kreisen\nKreis;Industrie;Handel;Total\nKöln Mitte;312;1.204;1.516\n"
        "Bonn;2.311;95;2.406\nTotal;2.623;1.299;3.922\nQuelle: eigene Erhebung;;;\n"
    )
    with pytest.raises(DecimalSignError, match="may be in thousands"):
        read(tmp_path, text)
    assert read(tmp_path, text, decimal=",").values.max() == 3922


@pytest.mark.parametrize(
    ("written", "decimal", "value"),
    [
        ("11.875,30", ",", 11875.3),
        ("1.027.000", ",", 1027000),
        ("1 027,25", ",", 1027.25),
        ("\u22121.204", ",", -1204),
        ("1'204.5", ".", 1204.5),
        ('"1,204"', ".", 1204),
    ],
)
def test_files_read_separated_thousands_as_pasted_text(
    tmp_path: Path, written: str, decimal: str, value: float
) -> None:
    table = read(tmp_path, f"kreis;umsatz\nA;{written}\n", decimal=decimal, value="umsatz")
    assert value in table.values.tolist()
    records = tmp_path / "records.csv"
    records.write_text(f"kreis;umsatz\nA;{written}\n")
    assert tabulate(records, ["kreis"], "umsatz", decimal=decimal).values.max() == value or value < 0
    assert survey_records(records, decimal).columns[1].numbers


@pytest.mark.parametrize(
    ("text", "decimal", "message"),
    [
        (LIST + "C;1.5\n", ",", "'1.5'.*is not a number with a decimal comma: choose the other decimal sign"),
        (LIST + "C;0.123\n", ",", "'0.123'.*is not a number with a decimal comma"),
        (LIST + "C;1,5\n", ".", "'1,5'.*is not a number with a decimal point: choose the other decimal sign"),
    ],
)
def test_a_decimal_sign_that_was_chosen_is_not_proposed_again(
    tmp_path: Path, text: str, decimal: str, message: str
) -> None:
    with pytest.raises((InputError, FormatError), match=message) as caught:
        read(tmp_path, text, decimal=decimal)
    assert not {"decimal", f"decimal={decimal}"} & set(caught.value.options)


def test_records_are_asked_whether_numbers_are_in_thousands(tmp_path: Path) -> None:
    path = tmp_path / "records.csv"
    path.write_text("kreis;umsatz\nA;95\nA;1.204\nB;\n")
    where = "umsatz IS NOT NULL"
    with pytest.raises(DecimalSignError, match=rf"record 2, column 'umsatz': {ASKED}"):
        tabulate(path, ["kreis"], "umsatz", where=where)
    assert tabulate(path, ["kreis"], "umsatz", where=where, decimal=",").values.max() == 1299
    assert tabulate(path, ["kreis"], "umsatz", where=where, decimal=".").values.max() == 96.204
    path.write_text("kreis;umsatz\nA;95.5\nA;1.204\n")
    assert tabulate(path, ["kreis"], "umsatz").values.max() == 96.704


def test_records_with_a_word_among_separated_thousands_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "records.csv"
    path.write_text("kreis;umsatz\nA;1.204\nA;1.5\n")
    with pytest.raises(
        InputError, match=r"record 2: '1\.5' in column 'umsatz' is not a number with a decimal"
    ):
        tabulate(path, ["kreis"], "umsatz", decimal=",")
