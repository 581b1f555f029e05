"""Errors of reading propose other readings, and these can be read."""

from __future__ import annotations

import pytest

from tacita.app.work.opening import open_case_of_text
from tacita.app.work.other_readings import list_other_readings
from tacita.core.errors import InputError
from tacita.core.tables.read_options import ReadOptions

PLAIN = ReadOptions()


@pytest.mark.parametrize(
    ("text", "words", "cells"),
    [
        ("region\ta\tb\tTotal\nN\t1\t2\t4\nS\t3\t5\t8\nTotal\t4\t7\t11", "Compute wrong totals anew", 9),
        ("1,234\t2,345\n3,456\t4,567", "Read a decimal comma", 9),
        ("1,234\t2,345\n3,456\t4,567", "Read a decimal point", 9),
        (
            "region\ta\tb\tc\nN1\t31\t7\t12\nN2\t5\t2\t9\nNorth\t36\t9\t21\nS1\t18\t40\t3\nS2\t26\t11\t35"
            "\nSouth\t44\t51\t38",
            "Use the classification found",
            18,
        ),
        (
            "region\tsex\tx\ty\nN\tf\t1\t5\nN\tm\t2\t6\nS\tf\t3\t7\nS\tm\t4\t9",
            "The values are in y, without x",
            9,
        ),
        ("men\twomen\n12\t17\n14\tl7\n9\t15\n20\t30", "The codes are in women", 5),
    ],
)
def test_what_an_error_proposes_can_be_read(text: str, words: str, cells: int) -> None:
    with pytest.raises(InputError) as refused:
        open_case_of_text(text, PLAIN)
    proposed = list_other_readings(refused.value, PLAIN)
    assert words in proposed
    assert len(open_case_of_text(text, proposed[words]).table) == cells


def test_a_code_that_is_the_sum_of_all_others_is_named_as_the_total() -> None:
    error = InputError("'All' is the sum", options=["total=region=All", "totals=compute"])
    proposed = list_other_readings(error, ReadOptions(total={"sex": "T"}))
    assert proposed["All is the total of region"].total == {"sex": "T", "region": "All"}
    assert proposed["Compute all totals"].totals == "compute"


def test_the_reading_that_was_refused_is_not_proposed_again() -> None:
    error = InputError("totals differ", options=["repair", "value"])
    assert list_other_readings(error, ReadOptions(repair=True)) == {}
