"""Cells that rules judge by another variable than the one that is published."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from budget import examples
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.cli import main
from tacita.core.errors import InputError

RECORDS = {
    "region": ["N", "N", "N", "S", "S", "S", "E", "E", "E"],
    "firm": list("abcdefghi"),
    "staff": [3, 3, 2, 40, 1, 1, 5, 4, 6],
    "turnover": [90.5, 5, 1, 30, 30, 30, 20, 50, 40],
}
MEASURES = (
    (tc.PPercent(15), (Fraction(115, 100), Fraction(1)), Fraction(1)),
    (tc.Dominance(1, 70), (Fraction(1),), Fraction(70, 100)),
)


def tabulate(records: Any, **options: Any) -> tc.Table:
    return tc.tabulate(records, ["region"], "staff", "firm", **{"shadow": "turnover", **options})


@examples(6)
@given(
    st.lists(
        st.tuples(st.sampled_from("NSE"), st.integers(0, 5), st.integers(0, 50), st.integers(0, 90)),
        min_size=1,
        max_size=12,
    )
)
def test_sensitive_by_the_shadow_with_levels_in_proportion(rows: list[tuple[str, int, int, int]]) -> None:
    columns = zip(*rows, strict=True)
    table = tabulate(dict(zip(("region", "firm", "staff", "turnover"), map(list, columns), strict=True)))
    for rule, weights, c in MEASURES:
        levels = rule.levels(table)
        for cell in range(len(table)):
            (code,) = table.structure.key(cell)
            below = [row for row in rows if code in ("Total", row[0])]
            shares: dict[int, int] = defaultdict(int)
            for _, firm, _, turnover in below:
                shares[firm] += turnover
            largest, total = sorted(shares.values(), reverse=True), sum(shares.values())
            excess = sum((w * x for w, x in zip(weights, largest, strict=False)), Fraction(0)) - c * total
            assert bool(levels.sensitive[cell]) == (excess > 0)
            if excess > 0:
                value = int(table.units[cell])
                assert value == sum(row[2] for row in below)
                wanted = math.ceil(excess / c / total * value)
                assert levels.upper[cell] == wanted
                assert levels.lower[cell] == min(wanted, value)


def test_a_variable_that_is_its_own_shadow_changes_nothing() -> None:
    plain, own = tabulate(RECORDS, shadow=None), tabulate(RECORDS, shadow="staff")
    for rule in (*(each[0] for each in MEASURES), tc.MinimumFrequency(3), tc.Request(["d"], share=50)):
        one, other = rule.levels(plain), rule.levels(own)
        assert one.sensitive.tolist() == other.sensitive.tolist()
        assert one.upper.tolist() == other.upper.tolist()


def test_what_is_published_is_protected_against_those_who_know_their_part_of_it() -> None:
    records = {**RECORDS, "size": ["s", "l", "s"] * 3}
    table = tc.tabulate(records, ["region", "size"], "staff", "firm", shadow="turnover")
    problem = tc.Problem(table, tc.PPercent(15) | tc.Dominance(1, 70))
    assert "amounts are of turnover" in problem.levels.explain(table.find("N", "Total"))[0]
    release = tc.Suppression().protect(problem)
    assert tc.audit(problem, release).safe
    assert any("respondent" in name for name in problem.attackers)


def test_linked_tables_and_databases_have_the_same_shadow() -> None:
    one = tabulate(RECORDS)
    other = tc.tabulate({**RECORDS, "size": list("slslslsls")}, ["size"], "staff", "firm", shadow="turnover")
    both = tc.link([one, other])
    assert both.shadow is not None
    levels = tc.PPercent(15).levels(both)
    assert (
        levels.upper[both.find(region="N", size="Total")] == tc.PPercent(15).levels(one).upper[one.find("N")]
    )
    with pytest.raises(InputError, match="the same shadow variable"):
        tc.link([one, tc.tabulate({**RECORDS, "size": list("slslslsls")}, ["size"], "staff", "firm")])
    ibis = pytest.importorskip("ibis", reason="no Ibis. Remedy: pip install 'tacita[ibis]'")
    import pyarrow as pa

    stored = tabulate(ibis.memtable(pa.table(RECORDS)))
    assert tc.PPercent(15).levels(stored).upper.tolist() == tc.PPercent(15).levels(one).upper.tolist()


def test_linking_to_a_table_with_decimals_keeps_what_contributors_know() -> None:
    """The tables count in tenths then, and so must what respondents put in."""
    records = {"region": ["N", "N"], "firm": ["a", "b"], "size": ["s", "l"], "staff": [3, 4]}
    whole = tc.tabulate(records, ["region"], "staff", "firm", where="firm = 'a'")
    tenths = tc.tabulate(records, ["size"], "staff", "firm", where="firm = 'a'", decimals=1)
    known = tc.link([whole, tenths]).contributions
    assert known is not None
    shares = known.shares_of(known.everyone())
    assert set(shares.units.tolist()) == {30}


def test_files_of_cells_name_the_totals_of_the_shadow(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "cells.csv"
    path.write_text(
        "region,staff,turnover,top1,top2\nTotal,65,296.5,90.5,50\nN,8,96.5,90.5,5\nS,42,90,30,30\nE,15,110,50,40\n"
    )
    read = tc.ReadOptions(by=["region"], value="staff", shadow="turnover", largest=["top1", "top2"])
    problem = tc.Specification.of(path, read, rule="p-percent(15)").problem()
    same = tc.PPercent(15).levels(tabulate(RECORDS))
    assert sorted(problem.levels.upper.tolist()) == sorted(same.upper.tolist())
    flags = ["--by", "region", "--value", "staff", "--shadow", "turnover", "--rules", "p-percent(15)"]
    assert main(["assess", str(path), *flags]) == 0
    assert "Sensitive: 1 of 4 cells" in capsys.readouterr().out
    path.write_text("region,staff,turnover\nN,8,96.5\nS,42,90\n")
    assert main(["assess", str(path), *flags]) == 1
    assert "largest contributions to 'turnover'" in capsys.readouterr().err


def test_projects_name_a_shadow(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet

    pyarrow.parquet.write_table(pa.table(RECORDS), tmp_path / "firms.parquet")
    (tmp_path / "project.toml").write_text(
        '[table]\nmicrodata = "firms.parquet"\nby = ["region"]\nvalue = "staff"\nrespondent = "firm"\n'
        'shadow = "turnover"\n[rules]\nrule = "p-percent(15)"\n'
    )
    problem = tc.Specification.load(tmp_path).problem()
    assert [problem.table.name(int(cell)) for cell in problem.sensitive] == ["region=N"]
    # A table that is written alone keeps what the rule found, as levels.
    tc.write_project(problem, tmp_path / "alone", method="suppression")
    again = tc.Specification.load(tmp_path / "alone").problem()
    assert again.levels.upper.tolist() == problem.levels.upper.tolist()
