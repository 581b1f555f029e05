"""The command line as people meet it: help, errors, Ctrl-C, doctor, demo."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tacita import __version__, generate
from tacita.cli import app, main
from tacita.cli.effort import Effort, carry_out
from tacita.core.run import Event, Run
from tacita.formats.table_write import write_table
from tacita.methods import method_names
from tacita.report.measures import describe_progress

VERBS = (
    *(
        "demo",
        "generate",
        "tabulate",
        "assess",
        "protect",
        "run",
        "audit",
        "verify",
        "compare",
        "report",
        "convert",
    ),
    *("app", "doctor"),
)


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"tacita {__version__}\n"


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_explains_itself(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([verb, "--help"]) == 0
    assert f"tacita {verb}" in capsys.readouterr().out


def test_help_of_the_verbs_loads_nothing_heavy() -> None:
    """Except for protect, whose help looks up the methods."""
    light = [verb for verb in VERBS if verb != "protect"]
    program = (
        "import sys\nfrom tacita.cli import main\n"
        f"for verb in {light!r}:\n    assert main([verb, '--help']) == 0\n"
        "heavy = {'numpy', 'scipy', 'highspy', 'duckdb', 'narwhals', 'pandas', 'polars', 'pyarrow'}\n"
        "sys.exit(', '.join(heavy & set(sys.modules)) or 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_there_are_no_other_verbs() -> None:
    names = {command.name for command in app.registered_commands} | {
        group.name for group in app.registered_groups
    }
    assert names == set(VERBS)


def test_protect_help_lists_the_methods_and_their_options(capsys: pytest.CaptureFixture[str]) -> None:
    main(["protect", "--help"])
    shown = capsys.readouterr().out
    assert all(name in shown for name in method_names())
    for name in method_names():
        assert main(["protect", "--method", name, "--help-options", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["method"] == name


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["audit"], "CASE"),
        (["audit", "a", "b", "--frobnicate"], "--frobnicate"),
        (["nonsense"], "nonsense"),
        (["protect", "nothing.jj"], "nothing.jj"),
        (["protect"], "CASE"),
        (["protect", "x.jj", "--method", "supression"], "suppression"),
        (["protect", "x.jj", "--option", "margins"], "NAME=VALUE"),
        (["generate", "table", "--out", "x.csv", "--shape", "two"], "two"),
        (["generate", "table", "--out", "x.csv", "--between", "5"], "--between 5"),
        (["generate", "table", "--out", "x.csv", "--between", "7,5"], "the least first"),
        (["generate", "table", "--out", "x.csv", "--family", "fs", "--between", "5,7"], "uniform"),
        (["tabulate", "records.csv"], "--by"),
    ],
)
def test_an_error_is_one_message_on_stderr_and_exit_1(
    arguments: list[str],
    named: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("error: ")
    assert named in said.err
    assert "Traceback" not in said.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("besides", [[], ["--sensitive", "2"]])
def test_generated_values_are_between_the_ends_that_were_said(besides: list[str], tmp_path: Path) -> None:
    made = tmp_path / "made.csv"
    assert (
        main(["generate", "table", "--out", str(made), "--shape", "9,9", "--between", "3,5", *besides]) == 0
    )
    with made.open(newline="") as file:
        rows = list(csv.DictReader(file))
    inner = {int(row["value"]) for row in rows if "Total" not in (row["region"], row["industry"])}
    assert inner == {3, 4, 5}


@pytest.mark.parametrize("arguments", [[], ["generate"]])
def test_without_a_verb_help_is_the_answer(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 0
    said = capsys.readouterr()
    assert "Usage: tacita" in said.out
    assert said.err == ""


def test_errors_of_a_release_name_its_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case, other = tmp_path / "case.csv", tmp_path / "other.csv"
    case.write_text("a,b,c,value\n1,1,1,2\n1,2,1,30\n2,1,2,40\n")
    other.write_text("x,y\n1,2\n")
    for release, wrong in ((tmp_path / "nodir", "no such file or folder"), (other, "no column 'a'")):
        assert main(["audit", str(case), str(release), "--rules", "threshold(3)"]) == 1
        said = capsys.readouterr().err
        assert f"error: {release}: " in said
        assert wrong in said


def test_json_answers_errors_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["assess", "nothing.jj", "--json"]) == 1
    assert "nothing.jj" in json.loads(capsys.readouterr().out)["error"]


def test_debug_shows_the_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["assess", "nothing.jj", "--debug"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_first_ctrl_c_keeps_the_best_so_far(capsys: pytest.CaptureFixture[str]) -> None:
    def work(run: Run) -> str:
        for _ in range(500):
            if run.over:
                return "best so far"
            time.sleep(0.01)
        return "never asked to stop"

    before = signal.getsignal(signal.SIGINT)
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    assert carry_out(work, Effort()) == "best so far"
    assert signal.getsignal(signal.SIGINT) is before
    assert "stopping" in capsys.readouterr().err


def test_second_ctrl_c_gives_up() -> None:
    release = threading.Event()
    for delay in (0.2, 0.5):
        threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        carry_out(lambda run: release.wait(10), Effort())
    release.set()


def test_effort_reaches_the_run() -> None:
    run = carry_out(lambda run: run, Effort(seed=7, workers=2), time_limit=5.0, gap="5%")
    assert (run.seed, run.time_limit, run.gap) == (7, 5.0, 0.05)


def test_a_gap_is_read_from_the_command_line_or_else_from_the_project(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    problem = generate.problem((4, 4, 4), "logn", sensitive=8)
    write_table(problem.table, tmp_path / "cube.csv", problem)
    (tmp_path / "project.toml").write_text('[table]\nfile = "cube.csv"\n[protect]\ngap = "20%"\n')
    found = {}
    for gap in ((), ("--gap", "0.05"), ("--gap", "0")):
        assert main(["protect", str(tmp_path), *gap, "--json"]) == 0
        found[gap] = json.loads(capsys.readouterr().out)
    assert [said["status"] for said in found.values()] == [*["within the gap asked for"] * 2, "optimal"]
    near, nearer, best = found.values()
    assert near["gap"] <= 0.2
    assert nearer["gap"] <= 0.05
    assert near["bound"] <= nearer["bound"] <= best["loss"] <= nearer["loss"]
    assert problem.cost.sum() > best["loss"]
    assert main(["protect", str(tmp_path), "--gap", "7"]) == 1
    assert "gap: '7' is no share from 0 to below 1: write 0.05 or 5%" in capsys.readouterr().err


def test_progress_tells_incumbent_bound_and_gap() -> None:
    assert describe_progress(Event("search", incumbent=120.0, bound=90.0)) == "loss 120, bound 90, gap 25.00%"
    large = Event("search", incumbent=12_345_678.0, bound=12_000_000.0)
    assert describe_progress(large) == "loss 12,345,678, bound 12,000,000, gap 2.80%"
    assert describe_progress(Event("search")) == ""


def test_doctor_finds_this_installation_well(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["well"]
    optional = {check["name"]: check["optional"] for check in said["checks"]}
    assert {"python", "highspy", "solver", "temporary files"} <= {
        n for n, left in optional.items() if not left
    }
    assert {name for name, left in optional.items() if left} == {"nicegui", "distributed", "pandas", "polars"}


def test_demo_goes_the_whole_way(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "demo"
    assert main(["demo", "--out", str(out)]) == 0
    told, files = capsys.readouterr()
    assert told.count("all proven") == 1
    assert f"to publish: {out / 'publication'} (release.csv, release.xlsx)" in files
    assert f"internal: {out / 'internal'} (" in files
    assert "■" in told
    assert "▲" in told
    internal, publication = out / "internal", out / "publication"
    assert set(out.iterdir()) == {internal, publication}
    assert sorted(path.name for path in publication.iterdir()) == ["release.csv", "release.xlsx"]
    assert {"audit.json", "certificate.json", "report.html", "project.toml", "release-internal.xlsx"} <= {
        p.name for p in internal.iterdir()
    }
    # The project file in it says the same once more.
    assert main(["verify", str(internal / "project.toml"), str(out), str(internal / "certificate.json")]) == 0
    assert main(["protect", str(internal / "project.toml")]) == 0
    again = internal / "again" / "publication" / "release.csv"
    assert again.read_bytes() == (publication / "release.csv").read_bytes()
