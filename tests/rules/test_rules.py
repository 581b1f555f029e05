"""Rules against their definitions, by hand and from the seeds' printed formulas."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tacita as tc
from tacita.core.errors import InputError, RuleError
from tacita.core.tables.contributions import Contributions
from tacita.core.tables.table import Table
from tacita.rules import (
    PQ,
    RULES,
    AnyOf,
    Dominance,
    Exempt,
    FromColumns,
    Inside,
    LinearSensitivity,
    Marked,
    MinimumFrequency,
    PPercent,
    Request,
    Rule,
    Threshold,
    Zeros,
    argument_names,
    parse_rule,
)


def magnitudes(*cells: Sequence[int], depth: int = 3, decimals: int = 0, **fields: Any) -> Table:
    """A row of cells with the given contributions; contributor ``j`` of cell ``i`` is called ``i.j``.

    The total is cell 0. A single cell would be its own total, so it gets a harmless neighbour.
    """
    cells = cells if len(cells) > 1 else (*cells, [2] * 9)
    everyone = [[(v, f"{i}.{j}") for j, v in enumerate(cell)] for i, cell in enumerate(cells)]
    everyone.insert(0, [pair for cell in everyone for pair in cell])
    names = [name for _, name in everyone[0]]
    values = np.zeros((len(everyone), depth), dtype=np.int64)
    who = np.full((len(everyone), depth), -1, dtype=np.int64)
    for i, cell in enumerate(everyone):
        for j, (value, name) in enumerate(sorted(cell, key=lambda pair: -pair[0])[:depth]):
            values[i, j], who[i, j] = value, names.index(name)
    sums = np.array([sum(value for value, _ in cell) for cell in everyone])
    table = Table.from_array([sum(cell) for cell in cells], counts=False, decimals=0)
    given: dict[str, Any] = {
        "count": np.array([len(cell) for cell in everyone]),
        "contributions": Contributions(values, who, sums, names),
        "decimals": decimals,
        **fields,
    }
    return replace(table, **given)


def upper(rule: Rule, table: Table) -> list[int]:
    return rule.levels(table).upper.tolist()


def lower(rule: Rule, table: Table) -> list[int]:
    return rule.levels(table).lower.tolist()


# ---------------------------------------------------------------------- frequency


def test_threshold_on_counts_is_the_distance_to_n() -> None:
    """Seed 002: n = 5, value 2 needs 3; symmetric LPL is capped at the value; zeros and 5 are safe."""
    table = Table.from_array([1, 2, 3, 4, 5, 0, 9])
    assert upper(Threshold(5), table) == [0, 4, 3, 2, 1, 0, 0, 0]
    assert lower(Threshold(5), table) == [0, 1, 2, 2, 1, 0, 0, 0]


def test_threshold_can_include_zeros_and_the_threshold_itself() -> None:
    table = Table.from_array([0, 5, 6])
    assert upper(Threshold(5, zeros=True), table) == [0, 5, 0, 0]
    assert lower(Threshold(5, zeros=True), table) == [0, 0, 0, 0]
    assert upper(Threshold(5, at_or_below=True), table) == [0, 0, 1, 0]


def test_threshold_counts_contributors_of_magnitudes_and_has_no_distance_in_money() -> None:
    table = magnitudes([500], [300, 200], [10, 10, 10])
    assert upper(Threshold(3), table) == [0, 1, 1, 0]
    assert upper(Threshold(3, protection=10), table) == [0, 50, 50, 0]
    assert lower(Threshold(3, protection=(5, 10)), table) == [0, 25, 25, 0]


def test_minimum_frequency_guards_against_exact_disclosure_only() -> None:
    table = magnitudes([500], [300, 200], [10, 10, 10], [0])
    levels = MinimumFrequency().levels(table)
    assert levels.sensitive.tolist() == [False, True, True, False, True]
    assert levels.upper.tolist() == [0, 1, 1, 0, 1]
    assert levels.lower.tolist() == [0, 1, 1, 0, 0]


def test_one_step_of_whole_numbers_with_decimals_is_a_whole_number() -> None:
    table = replace(Table.from_array([200, 300], counts=True), decimals=2)
    assert table.unit == 100
    assert upper(MinimumFrequency(3), table) == [0, 100, 0]
    assert upper(Threshold(4), table) == [0, 200, 100]


def test_weighted_counts_use_the_population() -> None:
    table = magnitudes([500], [300, 200], population=np.array([10.4, 2.6, 7.8]))
    assert MinimumFrequency(3, weighted=True).levels(table).cells.tolist() == [1]
    assert MinimumFrequency(3).levels(table).cells.tolist() == [1, 2]


def test_holdings_are_counted_when_asked_for() -> None:
    table = magnitudes([5, 5, 5], [4, 4, 4], holding_count=np.array([2, 1, 3]))
    assert MinimumFrequency(3).levels(table).cells.tolist() == []
    assert MinimumFrequency(3, by="holding").levels(table).cells.tolist() == [0, 1]


def test_zeros_are_protected_upwards_only() -> None:
    table = replace(Table.from_array([0, 0, 7]), structural=np.array([False, True, False, False]))
    levels = Zeros().levels(table)
    assert levels.cells.tolist() == [2]
    assert (levels.upper[2], levels.lower[2]) == (1, 0)
    assert upper(Zeros(upper=2.5), table) == [0, 0, 3, 0]


# ---------------------------------------------------------------------- concentration


def test_dominance_is_strict_and_its_level_reaches_k_percent() -> None:
    table = magnitudes([86, 14], [85, 15], [40, 30, 30])
    rule = Dominance(1, 85)
    assert rule.levels(table).cells.tolist() == [1]
    assert upper(rule, table)[1] == 2  # 100/85 * 86 - 100 = 1.18, rounded up
    assert upper(Dominance(2, 50), magnitudes([40, 30, 30]))[1] == 40  # 2 * 70 - 100


def test_p_percent_is_strict_and_its_level_is_what_is_missing() -> None:
    table = magnitudes([80, 15, 5], [100, 15, 10], [100, 15, 9])
    rule = PPercent(10)
    assert rule.levels(table).cells.tolist() == [1, 3]
    assert upper(rule, table)[1] == 3  # 8 - 5
    assert upper(rule, table)[3] == 1  # 10 - 9


def test_a_coalition_of_two_takes_the_third_largest_along() -> None:
    table = magnitudes([100, 30, 20, 11], [100, 30, 20, 10], [100, 30, 20, 9])
    assert PPercent(10, n=2).levels(table).cells.tolist() == [3]
    assert upper(PPercent(10, n=2), table)[3] == 1


def test_pq_with_q_100_is_p_percent() -> None:
    table = magnitudes([80, 15, 5], [100, 15, 10], [100, 15, 9])
    assert upper(PQ(10, 100), table) == upper(PPercent(10), table)
    assert upper(PQ(10, 50), table)[1:] == [11, 10, 11]  # 16 - 5, 20 - 10, 20 - 9


def test_linear_measures_contain_the_named_rules() -> None:
    table = magnitudes([80, 15, 5], [100, 15, 10], [86, 14], [50, 50])
    assert upper(LinearSensitivity((1.1, 1)), table) == upper(PPercent(10), table)
    assert upper(LinearSensitivity([1], 0.85), table) == upper(Dominance(1, 85), table)


def test_decisions_are_made_in_integers() -> None:
    """29 % of 100 is 28.999999999999996 in floats; a cell of exactly 29 % is safe."""
    table = magnitudes([29, 28, 28, 15], [10**15 * 3, 10**14, 10**14 * 3 - 1])
    assert Dominance(1, 29).levels(table).cells.tolist() == [0, 2]
    assert upper(PPercent(10), table)[2] == 2 * 10**14


def test_numbers_too_wide_for_64_bits_are_still_exact() -> None:
    big = 2**52
    table = magnitudes([big, 7, 1], [1])
    assert upper(PPercent(33.333333), table)[1] == -(-big * 33333333 // 10**8) - 1


def test_levels_are_rounded_up_to_whole_numbers_where_cells_are() -> None:
    table = magnitudes([86, 14], [20], decimals=1, integer=True)
    assert upper(Dominance(1, 85), table)[1] == 10


def test_lower_levels_stop_at_the_value_unless_cells_can_be_negative() -> None:
    assert lower(Dominance(1, 20), magnitudes([90, 10]))[1] == 100
    table = magnitudes([90, 10], [5, 5])
    shifted = replace(table, units=np.array([85, 100, -15]))
    assert lower(Dominance(1, 20), shifted)[1] == 350


def test_absolute_contributions_decide_where_some_are_negative() -> None:
    """Contributions 60 and -50: value 10, absolute sum 110, the larger holds 60 of 110."""
    table = replace(magnitudes([60, 50]), units=np.array([28, 10, 18]))
    assert Dominance(1, 50).levels(table).cells.tolist() == [1]
    assert upper(Dominance(1, 50), table)[1] == 10
    assert Dominance(1, 60).levels(table).cells.tolist() == []


def test_holdings_are_judged_by_their_own_contributions() -> None:
    table = magnitudes([30, 30, 30])
    values, who = np.array([[60, 30], [60, 30], [2, 2]]), np.array([[0, 1], [0, 1], [2, 3]])
    pooled = Contributions(values, who, table.contributions.sums, ["h", "i", "j", "k"])
    assert Dominance(1, 50).levels(table).cells.tolist() == []
    assert Dominance(1, 50, by="holding").levels(replace(table, holdings=pooled)).cells.tolist() == [0, 1]


def test_too_few_stored_contributions_are_refused_with_the_remedy() -> None:
    with pytest.raises(RuleError, match=r"3 largest .* holds 2: tabulate with the 3 largest"):
        PPercent(10, n=2).levels(magnitudes([5, 4, 3], depth=2))
    with pytest.raises(RuleError, match=r"by holding.* tabulate records with a column of holdings"):
        PPercent(10, by="holding").levels(magnitudes([5, 4, 3]))
    with pytest.raises(RuleError, match=r"number of contributors .* with a column of respondents"):
        MinimumFrequency(3).levels(magnitudes([5, 4, 3], count=None))


# ---------------------------------------------------------------------- waivers


def test_a_waiver_moves_protection_to_the_next_contributor() -> None:
    """Without 0.0 the protected one is 15: 10 % of 15 is less than the 5 that 80 and 15 leave."""
    table = magnitudes([80, 15, 5], [80, 79, 5])
    rule = PPercent(10).with_consent(["0.0", "1.0"])
    assert rule.levels(table).cells.tolist() == [2]
    assert upper(rule, table)[2] == 3  # 7.9 - 5
    assert PPercent(10).with_consent("0.0") == PPercent(10, waivers=frozenset({"0.0"}))


def test_a_cell_is_safe_if_all_have_consented() -> None:
    table = magnitudes([80, 15], [30], [50, 40])
    everyone = ["0.0", "0.1", "1.0"]
    assert PPercent(10).with_consent(everyone).levels(table).cells.tolist() == [3]
    assert MinimumFrequency(3).with_consent(everyone).levels(table).cells.tolist() == [3]
    both = (PPercent(10) | MinimumFrequency(3)).with_consent(everyone)
    assert both.levels(table).cells.tolist() == [3]


def test_who_is_not_stored_is_taken_as_large_as_he_can_be() -> None:
    """Two stored, both consented; the third is at most 15 and at most the 5 that are left."""
    rule = LinearSensitivity((10, 10), 1)
    table = magnitudes([80, 15, 3, 2], depth=2)
    assert upper(rule.with_consent(["0.0", "0.1"]), table)[1] == 10 * 5 + 10 * 80 - 100


def test_a_frequency_rule_does_not_take_unseen_contributors_for_consenting() -> None:
    table = magnitudes([80, 15, 5], depth=2)
    assert MinimumFrequency(4).with_consent(["0.0", "0.1"]).levels(table).cells.tolist() == [1]


# ---------------------------------------------------------------------- requests and marks


def test_request_needs_a_share_above_the_percentage() -> None:
    table = magnitudes([50, 50], [49, 51])
    assert Request(["0.0", "1.0"], share=49).levels(table).cells.tolist() == [1]
    assert Request(["0.0"], share=0).levels(table).cells.tolist() == [0, 1]
    assert upper(Request(["0.0"], share=40, protection=10), table) == [0, 10, 0]
    assert Request(["0.0"]).with_consent(["0.0"]).levels(table).cells.tolist() == []


def test_request_of_an_unknown_respondent_is_refused() -> None:
    with pytest.raises(RuleError, match=r"'0\.O' not among .* \(did you mean '0\.\d'\?\)"):
        Request(["0.O"]).levels(magnitudes([50, 50]))


def test_marks_by_position_codes_or_column() -> None:
    table = replace(Table.from_array([10, 20, 30]), columns={"mine": np.array([False, False, True, False])})
    assert Marked([2]).levels(table).cells.tolist() == [2]
    assert Marked([("2",)]).levels(table).cells.tolist() == [2]
    levels = Marked("mine").levels(table)
    assert (levels.cells.tolist(), levels.upper[2], levels.lower[2]) == ([2], 4, 4)
    levels = Marked([2], upper=5, sliding=7).levels(table)
    assert (levels.upper[2], levels.lower[2], levels.sliding[2]) == (5, 0, 7)
    with pytest.raises(InputError, match=r"no column 'yours' \(columns: mine\)"):
        Marked("yours").levels(table)
    with pytest.raises(InputError, match=r"no cell number 9. Cells are numbered 0 to 3"):
        Marked([9]).levels(table)
    with pytest.raises(InputError, match=r"'7'"):
        Marked([("7",)]).levels(table)


def test_levels_from_the_columns_of_a_file() -> None:
    columns = {
        "status": np.array(["s", " U", "u", "z", "u"]),
        "upl": np.array([0, 2.2, np.nan, 9, 0]),
        "lpl": np.array([0, 50, np.nan, 9, 0]),
    }
    table = replace(Table.from_array([10, 20, 30, 1], counts=False), columns=columns)
    levels = FromColumns().levels(table)
    assert levels.cells.tolist() == [1, 2, 4]
    assert levels.upper.tolist() == [0, 3, 4, 0, 0]
    assert levels.lower.tolist() == [0, 50, 4, 0, 0]  # given levels are not capped: the problem refuses them
    assert levels.sliding.tolist() == [0, 0, 0, 0, 1]  # never known exactly
    with pytest.raises(RuleError, match=r"no column 'state' \(columns: status, upl, lpl\)"):
        FromColumns("state").levels(table)
    wrong = replace(table, columns={**columns, "upl": np.array([0, -1, 0, 0, 0])})
    with pytest.raises(RuleError, match=r"'upl' of \(row=1\): .* zero or more"):
        FromColumns().levels(wrong)


def test_exempt_cells_are_left_out() -> None:
    table = Table.from_array([1, 2, 9])
    rule = Exempt(Threshold(3), [("1",)])
    assert rule.levels(table).cells.tolist() == [2]
    assert rule.levels(table).why(1) == []


# ---------------------------------------------------------------------- combination and words


def test_rules_combine_by_the_larger_level() -> None:
    table = magnitudes([80, 15, 5], [30], [10, 10, 10])
    rule = PPercent(10) | MinimumFrequency(3, protection=50)
    assert upper(rule, table) == [0, 3, 15, 0]
    assert rule.text == "p% (10) | minimum frequency 3"
    assert isinstance(rule | Zeros(), AnyOf)
    assert len((rule | Zeros()).rules) == 3


def test_each_hit_says_which_rule_and_why() -> None:
    levels = (PPercent(10) | Dominance(1, 75) | Threshold(4)).levels(
        magnitudes([80, 15, 5], [50, 40, 30, 20])
    )
    assert levels.why(1) == ["p% (10)", "(1,75) dominance", "threshold 4"]
    assert levels.explain(1) == [
        "p% (10): the 2 largest leave 5 of 100, less than 10 % of x_1 = 80",
        "(1,75) dominance: the 1 largest hold 80 of 100, more than 75 %",
        "threshold 4: 3 stand behind the cell",
    ]
    assert levels.why(2) == []
    alone = Threshold(4).levels(magnitudes([80], [50, 40, 30, 20]))
    assert alone.explain(1) == ["threshold 4: 1 stands behind the cell"]


@pytest.mark.parametrize(
    ("written", "rule"),
    [
        ("p-percent(10) | threshold(3)", PPercent(10) | Threshold(3)),
        ("dominance(1,85,by=holding)", Dominance(1, 85, by="holding")),
        ("frequency", MinimumFrequency(3)),
        (" Frequency( n=4, protection=(5, 10.5) ) ", MinimumFrequency(4, protection=(5, 10.5))),
        ("pq(10, 50)", PQ(10, 50)),
        ("linear((1.1, 1), 1)", LinearSensitivity((1.1, 1), 1)),
        ("threshold(5, zeros=true)", Threshold(5, zeros=True)),
        ('request(["A | B", "C (old)"], share=10)', Request(["A | B", "C (old)"], share=10)),
        ("marked(mine) | columns(status='Status')", Marked("mine") | FromColumns("Status")),
        ("zeros", Zeros()),
    ],
)
def test_written_rules(written: str, rule: Rule) -> None:
    assert parse_rule(written) == rule


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (
            "dominence(1,85)",
            r"no rule 'dominence' \(did you mean 'dominance'\?\): choose one of threshold, frequency",
        ),
        ("dominance(1)", r"too few.*: dominance takes n, k, by, protection, waivers"),
        ("dominance(1, q=3)", r"dominance has no argument 'q'.*dominance takes n, k"),
        ("p-percent(10) threshold(3)", r"from place 15 on: .* joined with \|"),
        ("p-percent(10", r"cannot read the rule"),
        ("p-percent(10 20)", r"cannot read the arguments .* p-percent takes p, n"),
        ("p-percent(ten)", r"p must be a number above 0, not 'ten'"),
        ("pq(50, 10)", r"p must be smaller than q"),
        ("dominance(1, 120)", r"k must be a number above 0 and at most 100, not 120"),
        ("dominance(0, 80)", r"n must be an integer, 1 or more, not 0"),
        ("linear((1, 2))", r"none larger than the one before"),
        ("threshold(3, by=firm)", r"by respondent or by holding, not by 'firm'"),
        ("threshold(3, protection=-5)", r"protection must be a percentage of the value, not -5"),
        ("threshold(__import__('os'))", r"cannot read the arguments"),
        ("", r"cannot read the rule"),
    ],
)
def test_wrong_written_rules_name_the_remedy(written: str, message: str) -> None:
    with pytest.raises(RuleError, match=message):
        parse_rule(written)


def test_every_registered_rule_lists_its_arguments() -> None:
    assert {name: argument_names(kind)[0] for name, kind in RULES.items()} == {
        "threshold": "n",
        "frequency": "n",
        "dominance": "n",
        "p-percent": "p",
        "pq": "p",
        "linear": "weights",
        "request": "respondents",
        "zeros": "upper",
        "marked": "cells",
        "columns": "status",
    }


# ---------------------------------------------------------------------- against insiders


def levels_against(rule: Rule, table: Table, cell: int, rank: int) -> list[int]:
    """Levels against the contributor of that rank in a cell."""
    contributions = table.contributions
    assert contributions is not None
    mine = np.zeros((1, contributions.depth), dtype=bool)
    mine[0, rank] = True
    inside = Inside(np.array([cell]), contributions.values[cell, rank : rank + 1], mine)
    return [int(level[0]) for level in rule.levels_against(table, inside)]


def test_p_percent_against_each_contributor() -> None:
    """UPL = p/100 x_t - (X - x_t - s), t the largest other."""
    table = magnitudes([80, 15, 1], [90, 7])
    assert levels_against(PPercent(10), table, 1, 1) == [7, 7, 0]  # 8 - (96 - 80 - 15)
    assert levels_against(PPercent(10), table, 1, 0) == [1, 1, 0]  # 1.5 - (96 - 15 - 80) = 0.5
    assert levels_against(PPercent(10), table, 1, 2) == [0, 0, 0]  # 8 - (96 - 80 - 1) < 0
    assert levels_against(PPercent(10, protection=20), table, 1, 1) == [20, 20, 0]
    assert levels_against(PPercent(10, protection=20), table, 1, 2) == [0, 0, 0]


def test_dominance_against_a_contributor_judges_what_remains() -> None:
    """(1,80): 15 takes himself out; 80 must be at most 80 % of the rest: X - 15 >= 100, UPL = 115 - 96."""
    table = magnitudes([80, 15, 1])
    assert levels_against(Dominance(1, 80), table, 1, 1) == [19, 19, 0]
    # (2,k): the second is the partner whom the rule has in mind already.
    assert levels_against(Dominance(2, 80), table, 1, 1)[1] == upper(Dominance(2, 80), table)[1]


def test_combined_rules_ask_the_larger_level_of_an_insider() -> None:
    table = magnitudes([80, 15, 1])
    rule = PPercent(10) | Threshold(4, protection=50)
    assert levels_against(rule, table, 1, 2) == [48, 48, 0]
    assert levels_against(Exempt(rule, [1]), table, 1, 2) == [0, 0, 0]


PAID = {
    "region": list("NNNNSSSS"),
    "size": list("aabbaabb"),
    "firm": list("ababcdcd"),
    "group": list("ghghghgh"),
    "turnover": [50, 9, 8, 40, 30, 20, 10, 5],
}


@pytest.mark.parametrize(
    ("rule", "options", "warned"),
    [
        ("p-percent(10)", {"value": "turnover"}, True),
        ("frequency(3)", {"value": "turnover"}, True),
        ("threshold(3)", {"value": "turnover"}, True),
        ("p-percent(10)", {"value": "turnover", "respondent": "firm"}, False),
        ("p-percent(10, by=holding)", {"value": "turnover", "holding": "group"}, False),
        ("threshold(3)", {"value": "turnover", "counts": True}, False),
        ("threshold(3) | frequency(3)", {}, False),
        ("p-percent(10)", {"shadow": "turnover"}, True),
        ("p-percent(10)", {"value": "turnover", "consent": {"group": ["g"]}}, True),
        ("zeros", {"value": "turnover"}, False),
    ],
)
def test_rules_on_contributors_warn_where_records_name_none(
    rule: str, options: dict[str, Any], warned: bool
) -> None:
    table = tc.tabulate(PAID, ["region", "size"], **options)
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always", tc.TacitaWarning)
        problem = tc.Problem(table, rule)
    assert [str(each.message) for each in issued] == list(problem.warnings)
    assert (
        any("each record counts as a contributor of its own, 8 in all" in text for text in problem.warnings)
        is warned
    )


def test_holdings_that_no_rule_on_amounts_looks_at_are_warned_of() -> None:
    records = {"region": ["N"] * 4, "firm": ["a", "b", "c", "d"], "group": ["G", "G", "H", ""]}
    table = tc.tabulate(
        {**records, "value": [45, 45, 10, 6]}, ["region"], "value", respondent="firm", holding="group"
    )
    with pytest.warns(tc.TacitaWarning, match="names? holdings, and no rule on amounts looks at them"):
        problem = tc.Problem(table, "dominance(1, 80) | threshold(2)")
    assert not problem.levels.sensitive.any()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tc.Problem(table, "dominance(1, 80) | dominance(1, 80, by=holding)").levels.sensitive.any()
        tc.Problem(table, "threshold(2)")
