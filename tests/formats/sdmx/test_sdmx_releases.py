"""Releases in SDMX-CSV: what they say, what they do not say, and that they are read as they were written."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from budget import examples
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.cli import main
from tacita.core.errors import InputError, ReleaseError
from tacita.core.windows import have_same_windows
from tacita.formats.sdmx.release_write import SdmxOptions, write_sdmx, write_transmission

HEADER = (
    "DATAFLOW,FREQ,REF_AREA,ACTIVITY,TIME_PERIOD,OBS_VALUE,OBS_STATUS,CONF_STATUS,UNIT_MULT,PREVIOUS,BREAK\n"
)
VALUES = {
    ("_T", "_T"): 460, ("_T", "A"): 210, ("_T", "B"): 250, ("N", "_T"): 190, ("N", "A"): 80, ("N", "B"): 110,
    ("S", "_T"): 270, ("S", "A"): 130, ("S", "B"): 140,
}  # fmt: skip
CASE = HEADER + "".join(
    f"XX:TURN(1.0),A,{area},{activity},2024,{value},E,{'FO'[value == 80]},3,{value - 1},{value % 7}\n"
    for (area, activity), value in VALUES.items()
)


@pytest.fixture(autouse=True)
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in.csv").write_text(CASE)


def listed(name: str) -> list[dict[str, str]]:
    with Path(name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def protect(*words: str) -> int:
    return main(
        ["protect", "in.csv", "--magnitudes", "--format", "sdmx", "--out", "safe.csv", *words, "--json"]
    )


def test_a_suppressed_cell_has_no_value_and_all_hidden_ones_look_alike() -> None:
    assert protect() == 0
    rows = listed("safe.csv")
    assert [*rows[0]] == [
        *(
            "DATAFLOW",
            "FREQ",
            "REF_AREA",
            "ACTIVITY",
            "TIME_PERIOD",
            "OBS_VALUE",
            "OBS_STATUS",
            "CONF_STATUS",
        ),
        "UNIT_MULT",
    ]
    assert {row["DATAFLOW"] for row in rows} == {"XX:TURN(1.0)"}
    assert {(row["FREQ"], row["TIME_PERIOD"], row["UNIT_MULT"]) for row in rows} == {("A", "2024", "3")}
    hidden = [row for row in rows if not row["OBS_VALUE"]]
    assert len(hidden) == 4
    assert {(row["OBS_STATUS"], row["CONF_STATUS"]) for row in hidden} == {("Q", "C")}
    assert {(r["OBS_STATUS"], r["CONF_STATUS"]) for r in rows if r["OBS_VALUE"]} == {("A", "F")}


def test_primary_cells_are_told_on_request_with_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    assert protect("--tell-primary") == 0
    said = capsys.readouterr()
    assert "readers learn which cells a rule hits" in " ".join(json.loads(said.out)["warnings"])
    told = {(row["REF_AREA"], row["ACTIVITY"]): row["CONF_STATUS"] for row in listed("safe.csv")}
    assert (told["N", "A"], told["N", "B"], told["S", "A"], told["_T", "A"]) == ("C", "D", "D", "F")


def test_attributes_pass_only_if_they_are_listed_and_never_beside_a_hidden_cell(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert protect() == 0
    assert "left out, since they may tell of hidden cells: PREVIOUS, BREAK" in capsys.readouterr().err
    assert "79" not in Path("safe.csv").read_text()
    assert protect("--attributes", "PREVIOUS,OBS_STATUS") == 0
    for row in listed("safe.csv"):
        value = row["OBS_VALUE"]
        assert row["PREVIOUS"] == (str(int(value) - 1) if value else "")
        assert row["OBS_STATUS"] == ("E" if value else "Q")
    problem = tc.read_case("in.csv", counts=False)
    assert tc.read_release("safe.csv", problem.table).hidden.sum() == 4


@pytest.mark.parametrize("name", ["PREVIOS", "CONF_STATUS"])
def test_attributes_that_cannot_be_kept_are_refused(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert protect("--attributes", name) == 1
    assert name in capsys.readouterr().err
    assert not Path("safe.csv").exists()


MARKS = st.sampled_from([tc.Mark.PUBLISHED, tc.Mark.SUPPRESSED, tc.Mark.INTERVAL, tc.Mark.ROUNDED])


@given(
    st.lists(st.tuples(MARKS, st.integers(0, 40), st.integers(1, 40)), min_size=9, max_size=9), st.booleans()
)
@examples(60)
def test_a_release_is_read_as_it_was_written(how: list[tuple[tc.Mark, int, int]], like: bool) -> None:
    problem = tc.read_case("in.csv", counts=False, decimals=1)
    table = problem.table
    marks = np.array([mark for mark, _, _ in how], dtype=np.uint8)
    below, above = np.array([b for _, b, _ in how]), np.array([a for _, _, a in how])
    near = marks == tc.Mark.ROUNDED
    free = marks == tc.Mark.SUPPRESSED
    value = table.units + np.where(near, below - 20, 0)
    reach = np.where(near, 20 + above, 0)
    low = np.where(near, value - reach, np.where(free, -tc.core.exact.UNBOUNDED, table.units - below))
    high = np.where(near, value + reach, np.where(free, tc.core.exact.UNBOUNDED, table.units + above))
    # Some intervals have one end.
    low = np.where((marks == tc.Mark.INTERVAL) & (below == 0), -tc.core.exact.UNBOUNDED, low)
    release = tc.Release.mixed(table, marks != tc.Mark.PUBLISHED, marks, low, high, value=value)
    options = SdmxOptions(like="in.csv") if like else SdmxOptions("XX:TURN(2.1)")
    write_sdmx(release, Path("out.csv"), {}, options)
    assert have_same_windows(table, tc.read_release("out.csv", table), release)


def test_notices_and_reasons_stand_in_every_row() -> None:
    problem = tc.read_case("in.csv", counts=False)
    notice = "not additive: for comparison only"
    release = tc.Release.suppress(problem.table, problem.sensitive, notice=notice)
    tc.write_release(release, "out.csv", unaudited="a draft for the meeting", format="sdmx")
    assert all("a draft for the meeting" in row["COMMENT_DSET"] for row in listed("out.csv"))
    assert tc.read_release("out.csv", problem.table).notice == notice


def test_an_earlier_release_in_sdmx_counts() -> None:
    assert protect() == 0
    Path("old.csv").write_bytes(Path("safe.csv").read_bytes())
    code = main(["protect", "in.csv", "--magnitudes", "--published", "old.csv", "--out", "again.csv"])
    assert code == 0


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        (",Q,C,3\n", ",N,C,3\n", "column 'OBS_STATUS' says something"),
        (",3\n", ",3\n", ""),
    ],
)
def test_a_status_of_its_own_tells_of_a_hidden_cell(old: str, new: str, named: str) -> None:
    assert protect() == 0
    text = Path("safe.csv").read_text().replace(old, new, 1)
    Path("told.csv").write_text(text)
    problem = tc.read_case("in.csv", counts=False)
    if named:
        with pytest.raises(ReleaseError, match=named):
            tc.read_release("told.csv", problem.table)
    else:
        assert tc.read_release("told.csv", problem.table).hidden.sum() == 4


def test_comments_that_no_release_has_are_refused() -> None:
    lines = ["DATAFLOW,REF_AREA,ACTIVITY,OBS_VALUE,COMMENT_OBS"]
    lines += [f"XX:TURN(1.0),{a},{b},{v},{'near 80' if v == 80 else ''}" for (a, b), v in VALUES.items()]
    Path("told.csv").write_text("\n".join(lines) + "\n")
    with pytest.raises(ReleaseError, match="COMMENT_OBS"):
        tc.read_release("told.csv", tc.read_case("in.csv", counts=False).table)


def test_a_rounded_release_of_others_is_read_with_its_base() -> None:
    lines = ["DATAFLOW,REF_AREA,ACTIVITY,OBS_VALUE"]
    lines += [f"XX:TURN(1.0),{a},{b},{round(v / 100) * 100}" for (a, b), v in VALUES.items()]
    Path("rounded.csv").write_text("\n".join(lines) + "\n")
    table = tc.read_case("in.csv", counts=False).table
    release = tc.read_release("rounded.csv", table, base=100)
    assert release.hidden.all()
    assert "rounded to the nearest multiple of 100" in release.assumption


def test_tables_without_dimensions_and_wrong_dataflows_are_refused() -> None:
    with pytest.raises(InputError, match="is no dataflow"):
        SdmxOptions("TURNOVER")
    table = tc.Table.from_array([[1, 2], [3, 4]])
    with pytest.raises(InputError, match="its dimensions are REF_AREA, ACTIVITY"):
        write_sdmx(tc.Release.suppress(table, []), Path("out.csv"), {}, SdmxOptions(like="in.csv"))
    with pytest.raises(InputError, match="no SDMX-CSV file that has 'NOTE'"):
        write_sdmx(tc.Release.suppress(table, []), Path("out.csv"), {}, SdmxOptions(attributes=("NOTE",)))


@given(st.lists(st.booleans(), min_size=9, max_size=9), st.lists(st.booleans(), min_size=9, max_size=9))
@examples(30)
def test_what_is_sent_to_receivers_is_the_same_table_with_its_statuses(
    sensitive: list[bool], hidden: list[bool]
) -> None:
    table = tc.read_case("in.csv", counts=False).table
    marked, release = np.array(sensitive), tc.Release.suppress(table, np.array(hidden))
    write_transmission(table, marked, release, Path("sent.csv"), SdmxOptions(like="in.csv"))
    rows = listed("sent.csv")
    assert [row["CONF_STATUS"] for row in rows] == [
        "C" if own else "D" if other else "F" for own, other in zip(sensitive, hidden, strict=True)
    ]
    assert [row["PREVIOUS"] for row in rows] == [row["PREVIOUS"] for row in listed("in.csv")]
    again = tc.read_case("sent.csv", counts=False)
    found = again.table if isinstance(again, tc.Problem) else again
    assert found.structure.same_cells(table.structure)
    assert found.units.tolist() == table.units.tolist()
    assert (again.sensitive.tolist() if isinstance(again, tc.Problem) else []) == np.flatnonzero(
        marked
    ).tolist()


def test_the_file_for_receivers_is_internal() -> None:
    assert protect() == 0
    (sent,) = Path().rglob("release-internal-sdmx.csv")
    assert sent.parent.name == "safe.internal"
    assert {row["CONF_STATUS"] for row in listed(str(sent))} == {"F", "C", "D"}


def test_a_project_says_how_sdmx_is_written() -> None:
    Path("project.toml").write_text(
        '[table]\nfile = "in.csv"\ncounts = false\n[protect]\nmethod = "suppression"\n'
        '[output]\nfile = "safe.csv"\nformats = ["sdmx"]\ndataflow = "YY:T(2.0)"\nattributes = ["BREAK"]\n'
    )
    assert main(["protect", "project.toml", "--json"]) == 0
    rows = listed("safe.csv")
    assert {row["DATAFLOW"] for row in rows} == {"YY:T(2.0)"}
    assert all((row["BREAK"] != "") == (row["OBS_VALUE"] != "") for row in rows)
