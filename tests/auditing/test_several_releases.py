"""Several releases are one release to a reader: joint audits, and earlier releases as knowledge."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tacita as tc
from tacita.auditing.certificate import check_certificate
from tacita.core.errors import InfeasibleError, LevelsError, ReleaseError
from tacita.verify import verify

VALUES = {"N": (20, 50, 10), "S": (8, 19, 22), "W": (17, 32, 12)}
Codes = tuple[str, ...]


def tabulated(values: dict[str, tuple[int, ...]], **more: Any) -> tc.Table:
    """Regions by industries A, B, C."""
    industries = more.pop("industries", "ABC")
    rows = [(r, i, v) for r, line in values.items() for i, v in zip(industries, line, strict=True)]
    region, industry, value = (list(column) for column in zip(*rows, strict=True))
    records = {"region": region, "industry": industry, "value": value}
    return tc.tabulate(records, more.pop("by", ["region", "industry"]), "value", **more)


def marked(table: tc.Table, *cells: Codes, level: int = 3, **more: Any) -> tc.Problem:
    """A problem whose sensitive cells must stay uncertain by a level both ways."""
    places = [table.find(*codes) for codes in cells]
    return tc.Problem(table, tc.Marked(places, lower=level, upper=level), attackers="outsider", **more)


def suppressed(table: tc.Table, *cells: Codes) -> tc.Release:
    return tc.Release.suppress(table, np.array([table.find(*codes) for codes in cells], dtype=np.int64))


TABLE = tabulated(VALUES)
FIRST = suppressed(TABLE, ("S", "A"), ("S", "C"), ("W", "A"), ("W", "C"))
SECOND = suppressed(TABLE, ("S", "B"), ("S", "C"), ("N", "B"), ("N", "C"))
EVERYTHING = tc.Release.suppress(TABLE, np.arange(len(TABLE)))


# ---------------------------------------------------------------------- audits of several


def test_two_safe_patterns_disclose_a_cell_exactly_together():
    problem = marked(TABLE, ("S", "C"))
    assert tc.audit(problem, FIRST).safe
    assert tc.audit(problem, SECOND).safe
    together = tc.audit(problem, [FIRST, SECOND])
    assert not together.safe
    assert together.verdict == (
        "1 sensitive cell: 0 safe, 1 UNSAFE (1 disclosed exactly), against an outsider, respondents "
        "left out; 2 releases judged together"
    )
    assert together.releases == (FIRST, SECOND)


def test_suppression_and_a_rounded_version_narrow_a_count():
    table = tc.Table.from_array([[3, 9], [9, 15]])
    secret = table.find("1", "1")
    problem = tc.Problem(table, tc.Marked([secret], lower=2, upper=2))
    hidden = tc.Release.suppress(table, np.array([table.find(r, c) for r in "12" for c in "12"]))
    rounded = tc.Release.rounded(table, np.rint(table.units / 3).astype(np.int64) * 3, 1)
    assert tc.audit(problem, hidden).safe
    assert tc.deduce(problem, hidden).of(secret) == (0, 12)
    assert tc.deduce(problem, [rounded, hidden]).of(secret) == (2, 4)
    assert not tc.audit(problem, [rounded, hidden]).safe


def test_finer_windows_are_rounded_inwards():
    table, fine = (tc.Table.from_array([[3, 8], [9, 14]], decimals=d, counts=True) for d in (0, 1))
    problem = tc.Problem(table, tc.Marked([table.find("1", "1")], lower=1, upper=1))
    inner = np.array([fine.find(r, c) for r in "12" for c in "12"])
    told = tc.Release.intervals(fine, inner, fine.units - 15, fine.units + 15)
    hidden = tc.Release.suppress(table, np.arange(len(table)))
    assert tc.deduce(problem, [told, hidden]).of(table.find("1", "1")) == (2, 4)


def test_an_untrue_release_is_named_with_its_cell():
    other = tabulated({**VALUES, "N": (21, 50, 10)})
    old = suppressed(other, ("N", "B"), ("S", "B"), ("N", "Total"), ("Total", "B"))
    told = r"release 1 of 2 .* \(region=N, industry=A\).*contradicts the others there.*revised"
    with pytest.raises(ReleaseError, match=told):
        tc.audit(marked(TABLE, ("S", "C")), [old, FIRST])


def test_the_newest_release_must_be_of_the_table():
    coarse = tabulated({"N": VALUES["N"]})
    with pytest.raises(ReleaseError, match="belong together"):
        tc.audit(marked(TABLE, ("S", "C")), [FIRST, suppressed(coarse, ("N", "B"))])
    with pytest.raises(ReleaseError, match="there is no release to audit"):
        tc.audit(marked(TABLE, ("S", "C")), [])


def test_a_certificate_of_two_releases_is_one_of_the_newest_for_readers_of_both():
    third = suppressed(TABLE, *((r, i) for r in "NSW" for i in "ABC"))
    problem = marked(TABLE, ("S", "C"))
    found = tc.audit(problem, [FIRST, third])
    assert found.safe
    certificate = tc.certify(found)
    assert verify(certificate) == 1
    check_certificate(certificate, marked(TABLE, ("S", "C"), already_published=FIRST), third)
    with pytest.raises(tc.TacitaError, match="its rules, levels or attackers differ"):
        check_certificate(certificate, problem, third)


# ---------------------------------------------------------------------- earlier releases as knowledge


def test_what_was_published_is_known_to_everyone():
    problem = marked(TABLE, ("S", "C"), already_published=FIRST)
    assert problem.outsider.lower[TABLE.find("N", "A")] == problem.outsider.upper[TABLE.find("N", "A")] == 20
    assert problem.outsider_beforehand.lower[TABLE.find("N", "A")] == 0
    found = tc.audit(problem, SECOND)
    assert not found.safe
    assert found.verdict.endswith("2 releases judged together")
    release = tc.Suppression().protect(problem)
    assert tc.audit(marked(TABLE, ("S", "C")), [FIRST, release]).safe
    assert np.array_equal(release.hidden, FIRST.hidden)


def test_a_level_that_an_earlier_release_breaks_is_named_with_its_remedy():
    low, high = TABLE.units - 2, TABLE.units + 2
    narrow = tc.Release.intervals(TABLE, np.array([TABLE.find("S", "C")]), low, high)
    told = (
        r"\(region=S, industry=C\): the lower protection level of 3 cannot be met against outsider any more: "
        "what was published earlier.* Exempt the cell, lower its level, or withdraw the earlier release"
    )
    with pytest.raises(LevelsError, match=told):
        marked(TABLE, ("S", "C"), already_published=narrow)


def test_a_percentage_is_not_lowered_to_what_an_earlier_release_leaves():
    shown = tc.Release.suppress(TABLE, np.zeros(0, dtype=np.int64))
    rule = tc.Marked([TABLE.find("S", "C")], protection=20)
    with pytest.raises(LevelsError, match="any more: what was published earlier"):
        tc.Problem(TABLE, rule, attackers="outsider", already_published=shown)


def test_a_level_that_an_earlier_release_breaks_through_sums_is_refused():
    alone = suppressed(TABLE, ("S", "C"))
    problem = marked(TABLE, ("S", "C"), already_published=alone)
    told = r"\(region=S, industry=C\) cannot stay uncertain .* what was published earlier"
    with pytest.raises(InfeasibleError, match=told):
        tc.Suppression().protect(problem)


def test_an_earlier_release_of_other_values_is_refused():
    revised = tabulated({**VALUES, "S": (8, 19, 23)})
    with pytest.raises(ReleaseError, match=r"\(region=S, industry=C\).*revised"):
        marked(TABLE, ("S", "C"), already_published=suppressed(revised, ("N", "A")))


# ---------------------------------------------------------------------- tables that share cells


def test_a_table_with_fewer_dimensions_counts():
    totals = tc.tabulate({"region": list("NSW"), "value": [80, 49, 61]}, ["region"], "value")
    # The newest release hides the totals of S and W; the earlier one shows them.
    pattern = [("S", "C"), ("S", "Total"), ("W", "C"), ("W", "Total")]
    problem = marked(TABLE, ("S", "C"))
    assert tc.audit(problem, suppressed(TABLE, *pattern)).safe
    shown = suppressed(totals)
    assert tc.audit(problem, [shown, suppressed(TABLE, *pattern)]).counts["exact"] == 1
    hidden = suppressed(totals, ("S",), ("W",))
    assert tc.audit(problem, [hidden, suppressed(TABLE, *pattern)]).safe


def test_a_coarser_classification_counts_and_its_other_cells_are_noted():
    regions = tc.Hierarchy.from_dict({"North": ["N"], "South": ["S", "W"]})
    fine = tabulated(VALUES, by={"region": regions, "industry": None})
    coarse = tc.tabulate(
        {
            "region": ["North"] * 3 + ["South"] * 3,
            "industry": ["A", "B", "other"] * 2,
            "value": [20, 50, 10, 25, 51, 34],
        },
        ["region", "industry"],
        "value",
    )
    corners = [("North", "A"), ("North", "B"), ("South", "A"), ("South", "B")]
    problem = marked(fine, ("South", "B"), already_published=suppressed(coarse, *corners))
    # N is all of North: the cell is shared, whichever of the two names it has.
    assert problem.outsider.upper[fine.find("N", "Total")] == 80
    assert problem.published_notes == (
        "the release published earlier: 3 of its 12 cells are none of this table, and what it says of them "
        "is left out; where the two tables are linked by sums, protect them together as linked tables: "
        "[tables.NAME] in one project, or tc.link",
    )
    with pytest.raises(LevelsError, match="what was published earlier"):
        marked(fine, ("South", "B"), already_published=suppressed(coarse))


def test_linked_tables_count_cell_by_cell():
    by_size = tc.tabulate(
        {
            "region": list("NNSSWW"),
            "size": ["small", "large"] * 3,
            "value": [30, 50, 9, 40, 21, 40],
        },
        ["region", "size"],
        "value",
    )
    plain = [replace(table, count=None, contributions=None) for table in (TABLE, by_size)]
    linked = tc.link({"industry": plain[0], "size": plain[1]})
    old = suppressed(by_size, ("S", "small"), ("S", "large"), ("W", "small"), ("W", "large"))
    secret = linked.find(region="S", size="small")
    problem = tc.Problem(
        linked, tc.Marked([secret], lower=3, upper=3), attackers="outsider", already_published=old
    )
    assert problem.outsider.lower[linked.find(region="N", size="large")] == 50
    assert problem.outsider.upper[linked.find(region="S")] == 49
    release = tc.Suppression().protect(problem)
    assert tc.audit(problem, release).safe
    assert release.hidden[secret]


def test_tables_that_are_not_about_the_same_are_refused():
    other = tc.tabulate({"sex": ["f", "m"], "value": [1, 2]}, ["sex"], "value")
    # The grand total is a cell of both.
    with pytest.raises(ReleaseError, match="untrue about"):
        marked(TABLE, ("S", "C"), already_published=suppressed(other, ("f",)))


# ---------------------------------------------------------------------- what windows do not tell


@pytest.mark.parametrize(
    ("method", "unknown"),
    [
        (tc.Adjustment(capacity="60%"), "the capacities of an adjustment"),
        (tc.Rounding(base=20, subtotals="region=N+S"), "the subtotals of a rounding"),
        (tc.RandomRounding(), "the base, the shares and the totals of a random rounding"),
        (tc.Perturbation(lowest="least"), "the columns 'lowest' and 'highest' of a perturbation"),
    ],
)
def test_a_joint_verdict_names_what_a_method_saw_to_in_its_release_alone(method: Any, unknown: str) -> None:
    table = replace(TABLE, columns={"least": np.maximum(TABLE.values - 40, 0.0)})
    problem = marked(table, ("S", "C"))
    release = method.protect(problem, tc.Run(seed=1))
    sentence = f"assuming that readers of several releases do not know {unknown}"
    assert sentence not in tc.audit(problem, release).verdict
    for together in (
        tc.audit(problem, [FIRST, release]),
        tc.audit(problem, [release, FIRST]),
        tc.audit(marked(table, ("S", "C"), already_published=release), EVERYTHING),
    ):
        assert sentence in together.verdict
        assert together.assumptions == (sentence,)
