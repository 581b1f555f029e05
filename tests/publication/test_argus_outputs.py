"""Outputs of tau-ARGUS: what is published holds no hidden value, what holds true values is internal."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.formats.argus.cell_statuses import CellStatus, find_flags, find_statuses
from tacita.formats.argus.delimited import OutputOptions
from tacita.formats.argus.internal_outputs import write_internal_output
from tacita.publication.argus_outputs import write_public_output

RECORDS = pa.table(
    {
        "region": ["N"] * 7 + ["S"] * 7 + ["W"] * 7,
        "size": ["a", "a", "a", "a", "b, c", "b, c", "b, c"] * 3,
        "firm": [f"f{k}" for k in range(21)],
        "turnover": [90.5, 3, 2, 1, 15, 17, 18, 10, 11, 12, 13, 14, 15, 13, 40, 39, 1, 1, 8, 9, 7],
    }
)
RULE = tc.Dominance(1, 75) | tc.Dominance(2, 90) | tc.MinimumFrequency(4, protection=10)


@pytest.fixture(scope="module")
def audit() -> tc.Audit:
    table = tc.tabulate(RECORDS, ["region", "size"], value="turnover", respondent="firm")
    problem = tc.Problem(table, RULE, attackers="outsider")
    release = tc.Suppression().protect(problem)
    return tc.audit(problem, release)


def read(path: Path, separator: str = ",") -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter=separator))


def test_statuses_name_the_rule_that_hit(audit: tc.Audit) -> None:
    table = audit.problem.table
    status = find_statuses(audit.problem, audit.release.hidden)
    flags = find_flags(audit.problem, audit.release.hidden)
    assert (status[table.find("N", "a")], flags[table.find("N", "a")]) == (CellStatus.RULE, "B")
    assert (status[table.find("W", "a")], flags[table.find("W", "a")]) == (CellStatus.RULE, "C")
    assert (status[table.find("S", "b, c")], flags[table.find("S", "b, c")]) == (CellStatus.FREQUENCY, "A")
    secondary = audit.release.hidden & ~audit.problem.levels.sensitive
    assert (status[secondary] == CellStatus.SECONDARY).all()
    assert set(flags[secondary]) <= {"D"}
    assert (flags[~audit.release.hidden] == "V").all()


@pytest.mark.parametrize("decimal", [".", ","])
def test_published_kinds_show_what_the_release_shows(audit: tc.Audit, tmp_path: Path, decimal: str) -> None:
    options = OutputOptions(decimal=decimal)  # type: ignore[arg-type]
    release, table = audit.release, audit.problem.table

    def text(region: str, size: str) -> str:
        cell = table.find(region, size)
        return "x" if release.hidden[cell] else table.text(cell).replace(".", decimal)

    for kind in ("pivot", "code-value"):
        path = write_public_output(release, tmp_path / f"{kind}.csv", kind, options, audit=audit)  # type: ignore[arg-type]
        rows = read(path)
        if kind == "pivot":
            assert rows.pop(0) == ["region", "size", "value"]
        assert len(rows) == len(table)
        assert all(value == text(region, size) for region, size, value in rows)
    rows = read(write_public_output(release, tmp_path / "cross.csv", "crosstab", options, audit=audit))
    assert rows[0][0] == "region"
    for region, *values in rows[1:]:
        assert values == [text(region, size) for size in rows[0][1:]]


def test_hidden_values_are_in_no_published_file(audit: tc.Audit, tmp_path: Path) -> None:
    table = audit.problem.table
    hidden = {table.text(cell) for cell in np.flatnonzero(audit.release.hidden).tolist()}
    shown = {table.text(cell) for cell in np.flatnonzero(~audit.release.hidden).tolist()}
    for kind in ("crosstab", "pivot", "code-value"):
        path = write_public_output(audit.release, tmp_path / "out.csv", kind, audit=audit)  # type: ignore[arg-type]
        assert not (hidden - shown) & {field for row in read(path) for field in row}


def test_nothing_is_published_without_a_passing_audit(audit: tc.Audit, tmp_path: Path) -> None:
    problem = audit.problem
    bare = tc.Release.suppress(problem.table, problem.sensitive)
    found = tc.audit(problem, bare)
    assert not found.safe
    for given_audit in (found, None, audit):
        with pytest.raises(tc.UnsafeError):
            write_public_output(bare, tmp_path / "out.csv", "pivot", audit=given_audit)
    with pytest.raises(tc.InputError, match="internal"):
        write_public_output(
            audit.release, tmp_path / "out.csv", "pivot", OutputOptions(status=True), audit=audit
        )
    ranges = tc.Intervals().protect(problem)
    with pytest.raises(tc.InputError, match="intervals"):
        write_public_output(ranges, tmp_path / "out.csv", "pivot", audit=tc.audit(problem, ranges))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["pivot", "code-value", "sbs", "intermediate", "jj"])
def test_true_values_never_go_where_results_are_published(audit: tc.Audit, tmp_path: Path, kind: str) -> None:
    (tmp_path / "publication").mkdir()
    with pytest.raises(tc.InputError, match="publication"):
        write_internal_output(audit.problem, audit.release, tmp_path / "publication" / "out.csv", kind)  # type: ignore[arg-type]
    assert list((tmp_path / "publication").iterdir()) == []


def test_internal_kinds_hold_true_values_and_statuses(audit: tc.Audit, tmp_path: Path) -> None:
    problem, release, table = audit.problem, audit.release, audit.problem.table
    status = find_statuses(problem, release.hidden)
    rows = read(
        write_internal_output(problem, release, tmp_path / "a.csv", "code-value", OutputOptions(status=True))
    )
    assert [[*row[:2], row[2], int(row[3])] for row in rows] == [
        [*table.structure.key(cell), table.text(cell), status[cell]] for cell in range(len(table))
    ]
    rows = read(
        write_internal_output(problem, release, tmp_path / "b.csv", "sbs", OutputOptions(levels=True))
    )
    assert ["N", "1", "b, c", "1", "50", "3", "A"] in rows
    assert ["Total", "0", "Total", "0", table.text(table.find()), "21", "V"] in rows
    options = OutputOptions(quotes=True, decimal=",")
    path = write_internal_output(problem, release, tmp_path / "c.tab", "intermediate", options)
    assert path.read_text(encoding="utf-8").startswith('"Total";"Total";')
    by_codes = {tuple(row[:2]): row[2:] for row in read(path, ";")}
    assert by_codes["N", "b, c"] == ["50", "3", "50", "18", "17", "U", "5", "5"]
    assert by_codes["N", "a"][:5] == ["96,5", "4", "96,5", "90,5", "3"]
    short = write_internal_output(problem, release, tmp_path / "d", "intermediate", OutputOptions(short=True))
    assert all(len(row) == 8 for row in read(short, ";"))


def test_a_release_as_jj_reads_back_with_its_pattern(audit: tc.Audit, tmp_path: Path) -> None:
    problem, release = audit.problem, audit.release
    path = write_internal_output(problem, release, tmp_path / "out.jj", "jj")
    letters = [line.split()[3] for line in path.read_text().splitlines()[2 : 2 + len(release)]]
    expected = np.where(problem.levels.sensitive, "u", np.where(release.hidden, "m", "s"))
    assert letters == expected.tolist()
    back = tc.read_case(path)
    assert isinstance(back, tc.Problem)
    assert np.array_equal(back.table.units, problem.table.units)
    assert np.array_equal(back.levels.upper, problem.levels.upper)


def test_internal_kinds_come_with_results_and_go_with_them(audit: tc.Audit, tmp_path: Path) -> None:
    formats = ("csv", "sbs", "intermediate", "jj")
    written = tc.write_results(audit, tmp_path, formats)
    names = {"release-sbs.csv", "release.tab", "release.jj", "release.frq"}
    assert names <= {path.name for path in written.paths if path.parent.name == "internal"}
    assert [path.name for path in (tmp_path / "publication").iterdir()] == ["release.csv"]
    again = tc.write_results(audit, tmp_path, ["csv"])
    assert any("release.jj" in note for note in again.notes)
    assert not names & {path.name for path in (tmp_path / "internal").iterdir()}
    table = tc.Table.from_array([[3, 9], [7, 4]])
    problem = tc.Problem(table, "threshold(3)")
    rounded = tc.audit(problem, tc.Rounding(base=5).protect(problem))
    notes = tc.write_results(rounded, tmp_path / "rounded", formats).notes
    assert sum("is not written" in note for note in notes) == 3


def test_rounded_releases_have_no_status(audit: tc.Audit, tmp_path: Path) -> None:
    table = tc.Table.from_array([[3, 9], [7, 4]])
    problem = tc.Problem(table, "threshold(3)")
    release = tc.Rounding(base=5).protect(problem)
    with pytest.raises(tc.InputError, match="changes numbers"):
        write_internal_output(problem, release, tmp_path / "a.csv", "sbs")
    path = write_public_output(release, tmp_path / "b.csv", "code-value", audit=tc.audit(problem, release))
    assert {int(row[-1]) % 5 for row in read(path)} == {0}


codes = st.lists(
    st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=1, max_size=4).filter(
        lambda text: text == text.strip() and text[0] not in "'=+-@" and text != "Total"
    ),
    min_size=2,
    max_size=3,
    unique=True,
)


@given(codes, codes, st.booleans())
def test_any_codes_come_back_from_every_kind(
    tmp_path_factory: pytest.TempPathFactory, rows: list[str], columns: list[str], quotes: bool
) -> None:
    folder = tmp_path_factory.mktemp("kinds")
    values = np.arange(10, 10 + len(rows) * len(columns)).reshape(len(rows), len(columns))
    table = tc.Table.from_array(values, codes=(rows, columns), names=("r", "c"), undeclared_sums="ignore")
    problem = tc.Problem(table, "threshold(3)")
    release = tc.Release.suppress(table, [])
    audit = tc.audit(problem, release)
    options = OutputOptions(quotes=quotes)
    keys = [list(table.structure.key(cell)) for cell in range(len(table))]
    path = write_public_output(release, folder / "a.csv", "code-value", options, audit=audit)
    assert [row[:2] for row in read(path)] == keys
    path = write_internal_output(problem, release, folder / "b.tab", "intermediate", options)
    assert [row[:2] for row in read(path, ";")] == keys
    cross = read(write_public_output(release, folder / "c.csv", "crosstab", options, audit=audit))
    assert [[row[0], code] for row in cross[1:] for code in cross[0][1:]] == keys
