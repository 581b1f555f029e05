"""What may not be meant is refused or gets a warning: in Python, on the command line and in the app."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

import tacita as tc
from tacita.app.work.open_case import open_case
from tacita.app.work.opening import NO_OPTIONS, list_reading_notes
from tacita.core.attacker import Outsider
from tacita.core.errors import InputError, RuleError, TacitaWarning
from tacita.specification.read_case import read_case

RECORDS = pd.DataFrame(
    {
        "region": ["N", "N", "N", "S", "S"],
        "firm": ["Meyer", "Weber", "Schulz", "Meyer", "Krause"],
        "turnover": [90, 8, 2, 50, 50],
    }
)
TABLE = tc.tabulate(RECORDS, ["region"], value="turnover", respondent="firm")
NEAR = {"lower": 0.05, "upper": 0.05}


@pytest.mark.parametrize(
    ("rule", "remedy"),
    [
        ("dominance(85, 2)", r"n comes first, then the percentage k; did you mean \(2, 85\)\?"),
        ("dominance(1, 0.75)", "looks like a share: write 75 for 75 %"),
        ("p-percent(0.1)", r"write 10 for 10 %; for 0.1 % write linear\(\[1.001, 1\]\)"),
        ("pq(0.1, 50)", "write 10 for 10 %"),
    ],
)
def test_swapped_arguments_and_shares_are_refused(rule: str, remedy: str) -> None:
    with pytest.raises(RuleError, match=remedy):
        tc.parse_rule(rule)


def test_usual_parameters_are_not_refused() -> None:
    for rule in ("dominance(1, 75)", "dominance(2, 85)", "dominance(2, 2)", "p-percent(1)", "pq(10, 50)"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            tc.Problem(TABLE, rule)


@pytest.mark.parametrize("rule", [tc.PPercent(10), tc.Dominance(1, 75), tc.Threshold(2)])
def test_a_misspelt_waiver_gets_a_warning(rule: tc.Rule) -> None:
    with pytest.warns(TacitaWarning, match=r"called 'Mayer' \(did you mean 'Meyer'\?\), so this waiver"):
        problem = tc.Problem(TABLE, rule.with_consent(["Mayer", "Weber"]) | tc.Marked([("S",)]))
    assert any("Mayer" in text and "Weber" not in text for text in problem.warnings)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tc.Problem(TABLE, rule.with_consent(["Meyer", "Weber"])).warnings == ()


def test_waivers_of_a_table_without_names_get_a_warning() -> None:
    table = tc.Table.from_array([2, 9, 9])
    with pytest.warns(TacitaWarning, match="does not know its respondents by name"):
        tc.Problem(table, tc.Threshold(3, waivers=frozenset(["Meyer"])))


def test_a_misspelt_request_gets_a_warning() -> None:
    with pytest.warns(TacitaWarning, match=r"called 'Mayer' \(did you mean 'Meyer'\?\), so this request"):
        problem = tc.Problem(TABLE, tc.Request(["Mayer", "Weber"]))
    assert problem.levels.sensitive.tolist() == tc.Request(["Weber"]).levels(TABLE).sensitive.tolist()


def test_misspelt_coalitions_are_refused() -> None:
    with pytest.raises(InputError, match=r"coalition member 'Mayer' \(did you mean 'Meyer'\?\)"):
        tc.Problem(TABLE, tc.PPercent(10), attackers=tc.Coalition("Mayer", "Weber"))


def test_a_percentage_without_room_gets_a_warning() -> None:
    table = tc.Table.from_array([100, 200, 300], codes=(("N", "S", "W"),), counts=False)
    everyone = Outsider.within(table, *NEAR.values())
    rule = tc.Marked([("N",)], protection=20) | tc.Marked([("S",)], protection=5)
    with pytest.warns(TacitaWarning, match=r"^\(row=N\): everyone's bounds leave no room for levels of 20 %"):
        problem = tc.Problem(table, rule, everyone)
    cell = table.find("N")
    assert (problem.levels.lower[cell], problem.levels.upper[cell]) == (5, 5)
    assert not any("100" in text for text in problem.warnings)  # No value is told.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tc.Problem(table, rule)


def test_protection_that_looks_like_a_share_gets_a_warning() -> None:
    with pytest.warns(TacitaWarning, match=r"0\.2 is a percentage here: .* write 20 for 20 %"):
        tc.Problem(TABLE, tc.Marked([("N",)], protection=0.2))


def test_blanks_in_codes_get_a_warning(tmp_path: Path) -> None:
    frame = pd.DataFrame({"region": ["N", "N ", "S"], "value": [3, 4, 5]})
    with pytest.warns(TacitaWarning, match=r"code 'N ' of 'region' has blanks .* another code than 'N'"):
        table = tc.Table.from_frame(frame, ["region"], value="value")
    assert len(table) == 4
    pa.parquet.write_table(pa.Table.from_pandas(frame), tmp_path / "table.parquet")
    with pytest.warns(TacitaWarning, match="code 'N '"):
        read = read_case(tmp_path / "table.parquet")
    assert isinstance(read, tc.Table)
    assert any("code 'N '" in note for note in list_reading_notes(open_case(read, "x"), NO_OPTIONS))
    with pytest.warns(TacitaWarning, match="code 'N '"):
        tc.tabulate(RECORDS.replace({"region": {"S": "N "}}), ["region"], value="turnover", respondent="firm")
    (tmp_path / "table.csv").write_text("region,value\nN ,3\nS,5\n")
    with pytest.warns(TacitaWarning, match="codes of 'region' end with blanks, which were taken off"):
        read_case(tmp_path / "table.csv")
    (tmp_path / "plain.csv").write_text("region, value \nN, 3 \nS, 5\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_case(tmp_path / "plain.csv")


def test_warnings_name_the_line_of_the_caller() -> None:
    with pytest.warns(TacitaWarning) as caught:
        tc.Problem(TABLE, tc.Marked([("N",)], protection=0.2))
    assert Path(caught[0].filename).name == Path(__file__).name


def test_every_command_tells_warnings(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    from tacita.cli import main

    case = tmp_path / "case.csv"
    case.write_text("region,value,status\nTotal ,100,s\nN ,40,u\nS ,60,s\n")
    release = tmp_path / "release.csv"
    release.write_text("region,value\nTotal,100\nN,x\nS,x\n")
    for arguments in (["assess"], ["protect"], ["audit", str(release)]):
        verb, *more = arguments
        main([verb, str(case), *more, "--magnitudes", "--upper", "101", "--json"])
        told = capfd.readouterr()
        assert told.err.count("warning: codes of 'region' end with blanks") == 1
        assert "TacitaWarning" not in told.err
        assert json.loads(told.out)["warnings"][0].startswith("codes of 'region' end with blanks")


def test_linked_tables_keep_their_warnings() -> None:
    frame = pd.DataFrame({"region": ["N ", "S"], "value": [3, 4]})
    with pytest.warns(TacitaWarning):
        one = tc.Table.from_frame(frame, ["region"], value="value", name="one")
    other = tc.Table.from_frame(
        pd.DataFrame({"sex": ["f", "m"], "value": [3, 4]}), ["sex"], value="value", name="other"
    )
    linked = tc.link([one, other])
    assert any("code 'N '" in text for text in tc.Problem(linked, np_levels(linked)).warnings)


def np_levels(table: tc.Table) -> tc.Levels:
    return tc.Levels.of(np.arange(len(table)) == 1, upper=np.ones(len(table), dtype=np.int64))
