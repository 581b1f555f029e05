"""What an overview of records tells of their columns."""

from __future__ import annotations

from tacita.tabulation.overview import find_groupings, survey_records

RECORDS = {
    "value": ["1,5", "2", "4"],
    "firm": ["x", "y", "z"],
    "district": ["N1", "N2", "S1"],
    "region": ["N", "N", "S"],
}


def test_numbers_with_another_decimal_sign_are_no_names() -> None:
    seen = survey_records(RECORDS)
    assert [column.could_be_numbers for column in seen.columns] == [True, False, False, False]
    assert seen.identity == "firm"
    assert survey_records({"region": ["N", "N", "S"]}).identity is None


def test_columns_that_group_codes_have_one_entry_for_each() -> None:
    assert find_groupings(RECORDS, "district") == ["region"]
    assert find_groupings(RECORDS, "region") == []
    assert find_groupings({"region": ["N"]}, "region") == []
