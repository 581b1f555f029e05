"""Requests and consents as columns of the records, against plain loops over the records."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from budget import examples
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.cli import main
from tacita.core.errors import InputError, RuleError, TacitaWarning
from tacita.tabulation import cell_contributors

WORDS = {True: ["1", "yes", "X", " true "], False: ["", "0", "No", "-", None]}
Record = tuple[str, str, str, int, bool, bool]
"""Region, firm, group, turnover, request, consent."""


@st.composite
def records(draw: st.DrawFn) -> list[Record]:
    def record() -> Record:
        firm = draw(st.integers(0, 5))
        flags = draw(st.booleans()), draw(st.integers(0, 3)) > 0
        return draw(st.sampled_from("NSEW")), f"f{firm}", f"g{firm // 2}", draw(st.integers(0, 60)), *flags

    return [record() for _ in range(draw(st.integers(1, 12)))]


def write(flag: bool, word: int) -> str | None:
    return WORDS[flag][word % len(WORDS[flag])]


def frame(rows: list[Record], word: int = 0) -> pa.Table:
    names = ("region", "firm", "group", "turnover")
    flags = {
        name: pa.array([write(bool(row[k]), word + i) for i, row in enumerate(rows)], pa.string())
        for k, name in ((4, "asks"), (5, "agrees"))
    }
    return pa.table({name: [row[k] for row in rows] for k, name in enumerate(names)} | flags)


def list_hit(rule: tc.Rule, table: tc.Table) -> list[str]:
    return [table.name(int(cell)).removeprefix("region=") for cell in rule.levels(table).cells]


def tabulate(source: Any, **options: Any) -> tc.Table:
    columns = {"respondent": "firm", "holding": "group", "request": "asks", "consent": "agrees"}
    return tc.tabulate(source, ["region"], "turnover", **{**columns, "largest": 3, **options})


def decide(rows: list[Record], owner: int) -> tuple[set[str], set[str]]:
    """Return who asked and who consented, from the definition."""
    flags: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for row in rows:
        flags[str(row[owner])].append((row[4], row[5]))
    asked = {name for name, each in flags.items() if any(ask for ask, _ in each)}
    return asked, {name for name, each in flags.items() if all(yes for _, yes in each)} - asked


@pytest.mark.filterwarnings("ignore::tacita.core.errors.TacitaWarning")
@examples(5)
@given(records(), st.integers(0, 3), st.booleans(), st.integers(0, 40))
def test_flags_mean_what_names_mean(rows: list[Record], word: int, by_holding: bool, share: int) -> None:
    """Each rule hits the same cells with the same levels as one in which the same contributors are named."""
    by, owner = ("holding", 2) if by_holding else ("respondent", 1)
    asked, consented = decide(rows, owner)
    table, plain = tabulate(frame(rows, word)), tabulate(frame(rows), request=None, consent=None)
    for flagged, named in (
        (tc.Request(share=share, by=by), tc.Request(asked, share=share, by=by)),
        (tc.PPercent(30, by=by), tc.PPercent(30, by=by, waivers=frozenset(consented))),
        (tc.MinimumFrequency(3, by=by), tc.MinimumFrequency(3, by=by, waivers=frozenset(consented))),
    ):
        one, other = flagged.levels(table), named.levels(plain)
        for name in ("sensitive", "lower", "upper", "sliding"):
            assert getattr(one, name).tolist() == getattr(other, name).tolist(), (flagged, name)


ROWS: list[Record] = [
    ("N", "a", "g", 50, True, False),
    ("N", "b", "g", 40, False, True),
    ("N", "c", "h", 30, False, False),
    ("S", "d", "h", 20, True, True),
    ("S", "e", "h", 10, False, True),
]


def test_who_asked_and_consented_has_asked_with_a_warning_by_name() -> None:
    with pytest.warns(TacitaWarning, match="consented to be recognised: 'd'; the request counts"):
        table = tabulate(frame(ROWS))
    assert table.notes[1:] == (
        "asked for protection (column 'asks'): 2 respondents",
        "consented to be recognised (column 'agrees'): 2 respondents",
    )
    levels = tc.Request(share=45).levels(table)
    assert levels.cells.tolist() == [table.find("S")]
    assert levels.explain(int(levels.cells[0])) == ["request (share above 45 %): d asked for protection"]


def test_records_without_respondents_are_respondents_of_their_own() -> None:
    with pytest.warns(TacitaWarning, match="'record 4'"):
        table = tabulate(frame(ROWS), respondent=None, holding=None)
    assert list_hit(tc.Request(share=45), table) == ["S"]
    assert table.count is not None
    assert table.count.tolist() == [5, 3, 2]
    counts = tc.tabulate(frame(ROWS), ["region"], request="asks")
    assert counts.integer
    assert counts.units.tolist() == [5, 3, 2]
    assert list_hit(tc.Request(share=30), counts) == ["N", "S"]


def test_codes_of_requests_are_told_apart() -> None:
    data = {
        "region": list("NNSS"),
        "firm": list("abcd"),
        "turnover": [8, 2, 6, 4],
        "flag": [1.0, None, 0.0, 2.0],
    }
    table = tc.tabulate(data, ["region"], "turnover", "firm", request={"flag": [1, 2]})
    assert table.notes[1] == "asked for protection (column 'flag'): 1 respondent by '1', 1 respondent by '2'"
    first, second = tc.Request(code=1, share=50), tc.Request(code=2, share=10)
    assert list_hit(first, table) == ["N"]
    assert list_hit(first | second, table) == ["Total", "N", "S"]
    assert tc.parse_rule("request(share=50, code=1)") == first
    with pytest.raises(RuleError, match="leave out one of the two"):
        tc.Request(["a"], code=1)


def test_a_value_that_may_mean_yes_or_no_is_refused() -> None:
    data = {"region": ["N", "S"], "turnover": [8, 2], "flag": ["yes", "perhaps"]}
    with pytest.raises(
        InputError, match="column 'flag' holds 'perhaps', which may mean yes or no"
    ) as refused:
        tc.tabulate(data, ["region"], "turnover", request="flag")
    assert refused.value.options == ("request=flag=perhaps",)
    table = tc.tabulate(data, ["region"], "turnover", request={"flag": ["PERHAPS"]})
    assert list_hit(tc.Request(share=50), table) == ["S"]


@pytest.mark.parametrize("wrong", [{"a": ["1"], "b": ["1"]}, {"flag": []}, {"flag": "1"}])
def test_a_flag_is_one_column(wrong: Any) -> None:
    with pytest.raises(InputError, match="request="):
        tc.tabulate({"region": ["N"], "flag": ["1"], "a": ["1"], "b": ["1"]}, ["region"], request=wrong)


def test_a_request_rule_needs_the_flag_and_a_flag_the_rule() -> None:
    table = tabulate(frame(ROWS[:3]), request=None)
    with pytest.raises(RuleError, match="does not know which respondents asked"):
        tc.Request().levels(table)
    table = tabulate(frame(ROWS[:3]))
    with pytest.warns(TacitaWarning, match="1 respondent asked for protection, and no rule heeds it"):
        tc.Problem(table, "threshold(2)")
    with pytest.warns(TacitaWarning, match="no respondent of the table is called 'zz', so this waiver"):
        problem = tc.Problem(table, tc.Request().with_consent(["a", "zz"]))
    assert not len(problem.levels)


def test_all_who_asked_are_known_where_others_are_too_many_to_keep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cell_contributors, "MOST_KNOWN", 0)
    rows = [("N", f"f{k}", "g", 100 - k, k == 9, False) for k in range(12)]
    table = tabulate(frame(rows), holding=None, largest=1)
    assert table.contributions is not None
    assert list(table.contributions.names) == ["f0", "f9"]
    assert list_hit(tc.Request(), table) == ["Total"]
    # Whom a request names may be among those who were not kept: it is not passed over.
    with pytest.raises(RuleError, match="'f5' not among"):
        tc.Request(["f5"]).levels(table)


def test_linked_tables_join_their_flags() -> None:
    one = tabulate(frame(ROWS[:3]), holding=None)
    data = frame(ROWS[:3]).append_column("size", pa.array(["s", "s", "l"]))
    other = tc.tabulate(data, ["size"], "turnover", "firm", consent="agrees", largest=3)
    both = tc.link([one, other]).contributions
    assert both is not None
    assert both.asked is not None
    assert both.consented is not None
    assert dict(zip(both.names, both.asked, strict=True)) == {"a": 1, "b": 0, "c": 0}
    assert dict(zip(both.names, both.consented, strict=True)) == {"a": False, "b": True, "c": False}


def test_five_thousand_of_fifty_thousand_may_ask() -> None:
    many = 50_000
    data = pa.table(
        {
            "region": [f"r{k % 97}" for k in range(many)],
            "firm": pa.array(range(many)),
            "turnover": [1 + k * k % 9973 for k in range(many)],
            "asks": [k % 10 == 0 for k in range(many)],
        }
    )
    table = tc.tabulate(data, ["region"], "turnover", "firm", request="asks")
    named = tc.tabulate(data, ["region"], "turnover", "firm")
    levels = tc.Request(share=0.2).levels(table)
    assert 0 < len(levels) < len(table)
    same = tc.Request(range(0, many, 10), share=0.2).levels(named)
    assert levels.sensitive.tolist() == same.sensitive.tolist()


def test_a_database_passes_flags_on() -> None:
    ibis = pytest.importorskip("ibis", reason="no Ibis. Remedy: pip install 'tacita[ibis]'")
    rows = [*ROWS, ("N", "a", "g", 1, False, True)]
    stored = ibis.memtable(frame(rows))
    with pytest.warns(TacitaWarning, match="'d'"):
        table, same = tabulate(stored), tabulate(frame(rows))
    rule = tc.Request(share=20) | tc.PPercent(40)
    assert rule.levels(table).upper.tolist() == rule.levels(same).upper.tolist()
    with pytest.raises(InputError, match="in a database need respondents"):
        tabulate(stored, respondent=None, holding=None)


def test_projects_name_flags_and_keep_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import pyarrow.csv

    pyarrow.csv.write_csv(frame(ROWS[:3]), tmp_path / "firms.csv")
    (tmp_path / "project.toml").write_text(
        '[table]\nmicrodata = "firms.csv"\nby = ["region"]\nvalue = "turnover"\nrespondent = "firm"\n'
        'request = { asks = ["1"] }\nconsent = "agrees"\n\n[rules]\nrule = "request(share=40)"\n'
    )
    specification = tc.Specification.load(tmp_path)
    problem = specification.problem()
    assert problem.sensitive.tolist() == [0]
    again = tc.Specification.load(specification.save(tmp_path / "kept"))
    assert again.table == specification.at(tmp_path / "kept").table
    assert main(["assess", str(tmp_path), "--request", "asks=0", "--rules", "request(share=20)"]) == 0
    assert "1 respondent by '0'" in capsys.readouterr().err
    assert main(["assess", str(tmp_path), "--request", "firm"]) == 1
    assert "Options: --request firm=a" in capsys.readouterr().err
    (tmp_path / "cells.toml").write_text('[table]\nfile = "firms.csv"\nrequest = "asks"\n')
    with pytest.raises(InputError, match=r"line 3: table.request: flags are columns of records"):
        tc.Specification.load(tmp_path / "cells.toml")
