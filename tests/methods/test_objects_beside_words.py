"""Options that are small sentences can be given as objects, and are then the same options."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.core.errors import InputError
from tacita.methods.adjustment.statistics.measures import parse_keep
from tacita.methods.options.phrases import quote_word, split_text, unquote_word
from tacita.methods.rounding.subtotals import parse_subtotals

TABLE = tc.Table.from_array([[20, 50, 10], [8, 19, 22], [17, 32, 12]])


def test_statistics_to_keep() -> None:
    assert tc.Adjustment(keep=tc.Keep(mean=0.1)) == tc.Adjustment(keep="mean=0.1")
    assert tc.Adjustment(keep=tc.Keep(mean=0, variance=0.5)) == tc.Adjustment(keep="mean=0, variance=0.5")
    assert tc.Adjustment(keep=tc.Keep()) == tc.Adjustment()
    with pytest.raises(InputError, match="tolerance '-1' of mean is not a number of percent"):
        tc.Keep(mean=-1)
    with pytest.raises(InputError, match="covariance"):
        parse_keep(tc.Keep(covariance=0.1))


def test_a_release_keeps_what_an_object_says() -> None:
    problem = tc.Problem(TABLE, "threshold(9)")
    run = tc.Run(seed=2**40)
    by_object = tc.Adjustment(keep=tc.Keep(mean=0.1)).protect(problem, run)
    by_text = tc.Adjustment(keep="mean=0.1").protect(problem, run)
    assert by_object.to_arrow().equals(by_text.to_arrow())
    assert by_object.made_by == by_text.made_by


@given(
    st.dictionaries(
        st.sampled_from(["mean", "variance", "correlation", "slope"]),
        st.floats(0, 1e6, allow_nan=False) | st.integers(0, 100),
    )
)
def test_what_is_kept_reads_back_the_same(tolerances: dict[str, float]) -> None:
    keep = tc.Keep(**tolerances)
    assert parse_keep(str(keep)) == keep


@pytest.mark.parametrize(
    ("groups", "text"),
    [
        ([{"row": ["1", "2"]}], "row=1+2"),
        ({"row": ["1", "2"]}, "row=1+2"),
        ([{"row": [["1", "2"], ["3"]], "column": ["1", "2"]}], "row=1+2|3, column=1+2"),
        ([{"row": ["1", "2"]}, {"column": ["2", "3"]}], "row=1+2; column=2+3"),
    ],
)
def test_subtotals(groups: Any, text: str) -> None:
    assert tc.Rounding(base=5, subtotals=groups) == tc.Rounding(base=5, subtotals=text)


def test_subtotals_with_odd_codes() -> None:
    table = tc.Table.from_array([4, 5, 6], names=["a, b"], codes=[["x+y", "it's", "z;"]])
    method = tc.Rounding(base=5, subtotals=[{"a, b": ["x+y", "it's"]}])
    [group] = parse_subtotals(table, str(method.subtotals))
    assert sorted(table.structure.key(int(c))[0] for c in group.cells) == ["it's", "x+y"]
    with pytest.raises(InputError, match="both kinds of quotes"):
        tc.Rounding(subtotals=[{"a": ["\"'"]}])


@given(st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=8))
def test_quoted_words_read_back_the_same(word: str) -> None:
    if "'" in word and '"' in word:
        return
    for at in (",", ";", "+", "|", ":"):
        assert [unquote_word(piece) for piece in split_text(f"{quote_word(word)}{at}x", at)] == [word, "x"]


def test_parts_of_a_mixture() -> None:
    text = tc.Mixture("totals: rounding(base=5), rest: suppression or intervals")
    assert text == tc.Mixture({"totals": tc.Rounding(base=5), "rest": (tc.Suppression(), tc.Intervals())})


def test_levels_by_hand_are_plain_numbers_in_one_order() -> None:
    table = tc.Table.from_array([[20.25, 50], [8, 19]])
    levels = tc.Levels.on_cells(table, [("2", "1")], lower=1.5, upper=2.001, sliding=4)
    cell = table.find("2", "1")
    assert levels.cells.tolist() == [cell]
    assert [x[cell] for x in (levels.lower, levels.upper, levels.sliding)] == [150, 201, 400]
    assert tc.Problem(table, levels).sensitive.tolist() == [cell]
    mask = levels.sensitive
    assert tc.Levels.on_cells(table, mask).sliding[cell] == 1
    with pytest.raises(TypeError):
        tc.Levels.of(mask, levels.upper, levels.lower)  # type: ignore[misc]
    for name in ("lower", "upper"):
        same = tc.Levels.of(mask, **{name: levels.upper})  # type: ignore[arg-type]
        assert same.lower[cell] == same.upper[cell] == 201


def test_certificates_are_verified_at_the_top_of_the_package() -> None:
    problem = tc.Problem(TABLE, "threshold(9)")
    certificate = tc.certify(tc.audit(problem, tc.Suppression().protect(problem)))
    assert tc.verify.verify(certificate) == len(problem.sensitive)
    assert "verify" in dir(tc)
    with pytest.raises(tc.verify.RefusedError):
        tc.verify.verify({**certificate, "values": []})
