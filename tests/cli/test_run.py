"""Many tables in one command: what is safe, what is not, what fails, and how all of it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from multiprocessing import parent_process
from pathlib import Path
from typing import Any

import pytest

from tacita.cli import main
from tacita.cli.jobs import job as kinds
from tacita.cli.jobs.job import Job, JobOptions, JobResult, Verdict
from tacita.cli.jobs.log import read_log
from tacita.core.run import Run

VALUES = {
    "North": (20, 50, 10, 80),
    "South": (8, 19, 22, 49),
    "West": (17, 32, 12, 61),
    "Total": (45, 101, 44, 190),
}
CELLS = "region,sex,value\n" + "".join(
    f"{region},{sex},{value}\n"
    for region, row in VALUES.items()
    for sex, value in zip(("a", "b", "c", "Total"), row, strict=True)
)
PROJECT = """
[table]
file = "../cells.csv"

[rules]
sensitive = [{ region = "South", sex = "c", lpl = 3, upl = 3 }]

[output]
folder = "NAME"
"""
UNSAFE = '\n[protect]\nmethod = "rounding"\noptions = { base = 2, protected = false }\n'
BROKEN = "\n[cost]\nby = 3\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, to which logs go."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tables").mkdir()
    (tmp_path / "cells.csv").write_text(CELLS)
    return tmp_path


def write_project(name: str, more: str = "") -> str:
    path = Path("tables", f"{name}.toml")
    path.write_text(PROJECT.replace("NAME", name) + more)
    return str(path)


def find_release(name: str) -> Path:
    return Path("tables", name, "publication", "release.csv")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any], str]:
    capsys.readouterr()
    code = main(["run", *arguments, "--json"])
    shown = capsys.readouterr()
    return code, json.loads(shown.out), shown.err


def read_verdicts(answer: dict[str, Any]) -> dict[str, str]:
    return {Path(each["table"]).stem: each["verdict"] for each in answer["tables"]}


def count_records(log: str = "run.jsonl") -> Counter[str]:
    records = [json.loads(line) for line in Path(log).read_text().splitlines()]
    return Counter(Path(record["file"]).stem for record in records if "together" not in record)


def test_several_projects_are_protected_like_one(capsys: pytest.CaptureFixture[str]) -> None:
    first, *_ = [write_project(name) for name in ("a", "b", "alone")]
    assert main(["protect", "tables/alone.toml", "--json"]) == 0
    alone = json.loads(capsys.readouterr().out)
    code, answer, told = run(capsys, "tables/?.toml", first)
    assert told.count("to publish: ") == 2
    assert told.count("publication (release.csv)") == 2
    assert (code, answer["safe"], answer["failed"]) == (0, 2, 0)
    assert list(read_verdicts(answer)) == ["a", "b"]
    for table in answer["tables"]:
        assert {key: table[key] for key in ("loss", "bound", "gap", "method", "options", "audit")} == {
            key: alone[key] for key in ("loss", "bound", "gap", "method", "options", "audit")
        }
        assert find_release(Path(table["table"]).stem).read_bytes() == find_release("alone").read_bytes()


@pytest.mark.parametrize(
    ("words", "code"), [("good broken", 1), ("good unsafe", 2), ("broken unsafe good", 2)]
)
def test_what_is_broken_or_not_safe_is_named_and_the_others_are_done(
    words: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    more = {"good": "", "broken": BROKEN, "unsafe": UNSAFE}
    paths = [write_project(kind, more[kind]) for kind in words.split()]
    ended, answer, lines = run(capsys, *paths)
    assert ended == code
    expected = {"good": "safe", "broken": "failed", "unsafe": "not safe"}
    assert read_verdicts(answer) == {kind: expected[kind] for kind in words.split()}
    assert all(f"{path}: {expected[kind]}" in lines for path, kind in zip(paths, words.split(), strict=True))
    assert find_release("good").is_file()
    assert not find_release("unsafe").exists()


def test_wrong_arguments_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "*.toml"]) == 1
    assert "no file fits this pattern" in capsys.readouterr().err
    good = write_project("good")
    assert main(["run", good, "--log", "run.html"]) == 1
    assert "call the log run.jsonl" in capsys.readouterr().err
    assert main(["run", good, "--log", "cells.csv"]) == 1
    assert "no log of a run" in capsys.readouterr().err
    assert main(["run", good, "--gap", "many"]) == 1
    assert main(["run", good, "--workers", "2", "--dask", "tcp://127.0.0.1:9"]) == 1
    assert "exclude each other" in capsys.readouterr().err
    assert main(["run", "cells.csv", "tables/none.toml", good]) == 1
    shown = capsys.readouterr()
    assert "neither a project" in shown.err
    assert "tables/none.toml: failed" in shown.err
    assert "1 safe, 2 failed" in shown.out


def test_projects_with_the_same_folder_of_results_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    one, two = write_project("one"), write_project("two").replace("two", "other")
    Path(two).write_text(PROJECT.replace("NAME", "../tables/one"))
    assert main(["run", one, two]) == 1
    assert "write their results to the same place" in capsys.readouterr().err
    assert not find_release("one").exists()


def test_a_project_comes_after_those_whose_releases_it_names(capsys: pytest.CaptureFixture[str]) -> None:
    write_project("c")
    write_project("b", '\n[published]\nfiles = ["c/publication/release.csv"]\n')
    write_project("a", '\n[published]\nfiles = ["b/publication/release.csv"]\n')
    code, answer, lines = run(capsys, "tables/*.toml")
    assert (code, answer["safe"]) == (0, 3)
    assert lines.index("] tables/c.toml") < lines.index("] tables/b.toml") < lines.index("] tables/a.toml")
    # Of a and c neither names the other.
    assert [each["together"] for each in answer["together"]] == [[f"tables/{name}.toml" for name in "abc"]]
    # What depends on another table is done again with it, and only that.
    write_project("b", '\n[published]\nfiles = ["c/publication/release.csv"]\n# another project\n')
    run(capsys, "tables/*.toml")
    assert count_records() == {"c": 1, "b": 2, "a": 1}
    write_project("c", BROKEN)
    Path("tables/c.toml").write_text(PROJECT.replace("NAME", "c").replace("South", "Nowhere"))
    code, answer, _ = run(capsys, "tables/*.toml")
    assert code == 1
    assert read_verdicts(answer) == {"a": "not begun", "b": "not begun", "c": "failed"}
    assert "tables/c.toml (failed)" in answer["tables"][1]["error"]


def hide_with(row: str, column: str) -> str:
    """Return the rest of a project that hides a cell with others in this row and column only."""
    stay = [{"region": each, "sex": "c"} for each in VALUES if each not in ("South", row)]
    stay += [{"region": "South", "sex": each} for each in ("a", "b", "Total") if each != column]
    listed = ", ".join(f'{{ region = "{cell["region"]}", sex = "{cell["sex"]}" }}' for cell in stay)
    return f"\n[protect]\nmust_publish = [{listed}]\n"


def write_copies() -> None:
    """Write the cells to other files: as they are, with other line ends, columns and formats."""
    from pyarrow import csv, parquet

    Path("copy.csv").write_text(CELLS)
    Path("lines.csv").write_bytes(CELLS.replace("\n", "\r\n").encode())
    rows = [line.split(",") for line in CELLS.splitlines()]
    Path("columns.csv").write_text("".join(f"{sex};{value};{region}\n" for region, sex, value in rows))
    parquet.write_table(csv.read_csv("copy.csv"), "copy.parquet")


@pytest.mark.parametrize("data", ["cells.csv", "copy.csv", "lines.csv", "columns.csv", "copy.parquet"])
def test_releases_that_give_a_cell_away_together_are_not_safe(
    data: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write_copies()
    write_project("a", hide_with("West", "a"))
    write_project("b", hide_with("North", "b"))
    Path("tables/b.toml").write_text(Path("tables/b.toml").read_text().replace("cells.csv", data))
    for done in (0, 2):
        code, answer, lines = run(capsys, "tables/*.toml")
        assert (code, answer["safe"], lines.count("done before")) == (2, 2, done)
        (found,) = answer["together"]
        assert (found["together"], found["verdict"]) == (["tables/a.toml", "tables/b.toml"], "not safe")
        assert {(each["table"], each["cell"]) for each in found["unsafe"]} == {
            (f"tables/{name}.toml", "region=South, sex=c") for name in "ab"
        }
        assert "together tables/a.toml, tables/b.toml: not safe: together their releases give away" in lines
        page = Path("run.html").read_text()
        assert "1 group not safe together" in page
        assert "region=South, sex=c" in page
        assert "under [published] of the other" in page
    record = read_log(Path("run.jsonl"))[0]["tables/a.toml, tables/b.toml"]
    assert (record["verdict"], record["unsafe"]) == ("not safe", found["unsafe"])
    # What the remedy says helps, and so does taking one of them out of the run.
    write_project("b", '\n[published]\nfiles = ["a/publication/release.csv"]\n')
    code, answer, _ = run(capsys, "tables/*.toml")
    assert (code, [each["verdict"] for each in answer["together"]]) == (0, ["safe"])
    assert run(capsys, "tables/a.toml")[0] == 0


def test_a_project_that_names_a_release_may_give_away_what_only_that_one_hides(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_project("a")
    # No number of the other project is small enough for its rule, so it hides nothing.
    requirement = next(line for line in PROJECT.splitlines() if line.startswith("sensitive"))
    Path("tables/b.toml").write_text(
        PROJECT.replace("NAME", "b").replace(requirement, 'rule = "threshold(3)"')
        + '\n[published]\nfiles = ["a/publication/release.csv"]\n'
    )
    code, answer, _ = run(capsys, "tables/*.toml")
    assert (code, answer["safe"]) == (2, 2), answer["tables"]
    (found,) = answer["together"]
    assert {(each["table"], each["cell"]) for each in found["unsafe"]} == {
        ("tables/a.toml", "region=South, sex=c")
    }


def test_a_dimension_by_two_names_is_warned_of(capsys: pytest.CaptureFixture[str]) -> None:
    write_project("a", hide_with("West", "a"))
    Path("copy.csv").write_text(CELLS.replace("region", "land"))
    text = (PROJECT + hide_with("North", "b")).replace("NAME", "b").replace("cells", "copy")
    Path("tables/b.toml").write_text(text.replace("region", "land"))
    code, answer, shown = run(capsys, "tables/*.toml")
    assert (code, [each["verdict"] for each in answer["together"]]) == (1, ["failed"])
    assert "'region' of tables/a.toml and 'land' of tables/b.toml have the same numbers" in shown
    assert "judged alone, not together" in Path("run.html").read_text()
    record = read_log(Path("run.jsonl"))[0]["tables/a.toml, tables/b.toml"]
    assert "each was judged alone" in record["error"]


def test_a_project_that_cannot_be_linked_conceals_nothing_of_the_others(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_project("a", hide_with("West", "a"))
    write_project("b", hide_with("North", "b"))
    write_project("c")
    read = Path("tables/c.toml").read_text()
    Path("tables/c.toml").write_text(
        read.replace('"../cells.csv"', '"../cells.csv"\nrecode = { region = "../r.csv" }')
    )
    Path("r.csv").write_text("code,new\nNorth,North or West\nWest,North or West\n")
    code, answer, _ = run(capsys, "tables/*.toml")
    verdicts = {
        tuple(Path(each).stem for each in found["together"]): found["verdict"] for found in answer["together"]
    }
    assert (code, verdicts) == (2, {("a", "b", "c"): "failed", ("a", "b"): "not safe"}), answer["tables"]


RECORDS = """
[table]
microdata = "../records.csv"
by = BY
value = "turnover"
respondent = "firm"

[rules]
rule = "p-percent(10)"

[output]
folder = "NAME"
"""


def write_record_projects(**by: str) -> None:
    """Write records of two firms for each cell, one of either year, and projects on tables of them."""
    rows = [
        f"{region},{sex},{region}{sex}{year},{year},{value // 3 * (year - 2022)}"
        for region, row in VALUES.items()
        for sex, value in zip("abc", row[:3], strict=True)
        for year in (2023, 2024)
        if region != "Total"
    ]
    Path("records.csv").write_text("\n".join(["region,sex,firm,year,turnover", *rows]) + "\n")
    for name, text in by.items():
        Path(f"tables/{name}.toml").write_text(RECORDS.replace("NAME", name).replace("BY", text))


def test_tables_with_other_dimensions_of_the_same_records_are_judged_together(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_record_projects(a='["region", "sex"]', b='["sex"]')
    code, answer, _ = run(capsys, "tables/*.toml")
    assert (code, [each["verdict"] for each in answer["together"]]) == (0, ["safe"])


def test_tables_that_are_no_parts_of_one_are_warned_of(capsys: pytest.CaptureFixture[str]) -> None:
    write_record_projects(a='["region", "sex"]', b='["sex"]\nwhere = "year = 2023"')
    code, answer, shown = run(capsys, "tables/*.toml")
    assert (code, [each["verdict"] for each in answer["together"]]) == (1, ["failed"])
    assert "warning: tables/a.toml, tables/b.toml: each was judged alone" in shown
    page = Path("run.html").read_text()
    assert "judged alone, not together: the log says why" in page
    assert "✗ 2 safe; 1 group not judged together." in page
    assert "✓" not in page


def test_safe_releases_of_the_same_data_are_judged_together_once(capsys: pytest.CaptureFixture[str]) -> None:
    write_project("a")
    write_project("b")
    Path("other.csv").write_text(CELLS.replace("190", "190.0"))
    Path("tables/d.toml").write_text(PROJECT.replace("NAME", "d").replace("../cells.csv", "../other.csv"))
    for done in (0, 3):
        code, answer, lines = run(capsys, "tables/*.toml")
        assert (code, lines.count("done before")) == (0, done)
        names = [f"tables/{name}.toml" for name in "abd"]
        assert [each["together"] for each in answer["together"]] == [names]
        assert lines.count(f"together {', '.join(names)}: safe") == 1
        assert "safe together" in Path("run.html").read_text()


def test_tables_of_other_rows_or_variables_are_not_named(capsys: pytest.CaptureFixture[str]) -> None:
    # Tables with the same total may be copies: the numbers of the second year are ten times as large.
    rows = [
        f"{line}{zero},7,{year}"
        for year, zero in ((2023, ""), (2024, "0"))
        for line in CELLS.splitlines()[1:]
    ]
    Path("cells.csv").write_text("\n".join(["region,sex,value,other,year", *rows]) + "\n")
    for name, more in {
        "a": 'only = { year = "2023" }\nvalue = "value"',
        "b": 'only = { year = "2024" }\nvalue = "value"',
        "c": 'only = { year = "2023" }\nvalue = "other"\nby = ["region", "sex"]\nundeclared_sums = "ignore"',
    }.items():
        text = PROJECT.replace("NAME", name).replace('"../cells.csv"', f'"../cells.csv"\n{more}')
        Path(f"tables/{name}.toml").write_text(text)
    _, answer, _ = run(capsys, "tables/*.toml")
    assert answer["together"] == []


def test_a_missing_file_is_called_missing_on_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    Path("tables/lost.toml").write_text(PROJECT.replace("NAME", "lost").replace("cells.csv", "lost.csv"))
    Path("lost.arb").write_text('<OPENMICRODATA> "lost.asc"\n')
    code, _, _ = run(capsys, "tables/lost.toml", "tables/nowhere.toml", "nowhere.arb")
    assert code == 1
    page = Path("run.html").read_text()
    assert page.count("A file is missing, or cannot be read.") == 3
    assert "grammar" not in page


def test_projects_that_need_each_other_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    write_project("a", '\n[published]\nfiles = ["b/publication/release.csv"]\n')
    write_project("b", '\n[published]\nfiles = ["a/publication/release.csv"]\n')
    assert main(["run", "tables/*.toml"]) == 1
    assert "need each other's results" in capsys.readouterr().err


def test_only_what_is_missing_or_has_changed_is_done(capsys: pytest.CaptureFixture[str]) -> None:
    names = ("input", "result", "gone", "project", "same", "unsafe", "failed")
    for name in names:
        write_project(name, {"unsafe": UNSAFE, "failed": BROKEN}.get(name, ""))
    own = Path("tables/input.toml")
    own.write_text(own.read_text().replace("../cells", "own"))
    Path("tables/own.csv").write_text(CELLS)
    run(capsys, "tables/*.toml")
    assert count_records() == dict.fromkeys(names, 1)
    Path("tables/own.csv").write_text(CELLS + "\n")
    with find_release("result").open("a") as file:
        file.write(" ")
    find_release("gone").unlink()
    write_project("project", "# changed\n")
    code, answer, lines = run(capsys, "tables/*.toml")
    assert code == 2
    assert count_records() == {**dict.fromkeys(names, 2), "same": 1, "unsafe": 1}
    assert len(answer["tables"]) == len(names)
    assert lines.count("done before") == 2
    run(capsys, "tables/*.toml", "--again")
    assert count_records() == {**dict.fromkeys(names, 3), "same": 2, "unsafe": 2}
    run(capsys, "tables/same.toml", "--gap", "5%")
    assert count_records()["same"] == 3


def test_log_and_summary_say_what_checkers_need(capsys: pytest.CaptureFixture[str]) -> None:
    for name, more in {"good": "", "unsafe": UNSAFE, "broken": BROKEN}.items():
        write_project(name, more)
    run(capsys, "tables/*.toml", "--log", "night.jsonl")
    records, torn = read_log(Path("night.jsonl"))
    assert not torn
    good = records["tables/good.toml"]
    assert (good["verdict"], good["gap"], good["method"], good["attackers"]) == (
        *("safe", 0.0, "suppression"),
        "an outsider",
    )
    assert good["loss"] == good["bound"] > 0
    assert good["rules"]
    assert len(good["inputs"]) == 2
    assert {Path(name).name for name in good["results"]} == {"release.csv", "audit.json", "certificate.json"}
    assert good["versions"]["tacita"]
    assert records["tables/unsafe.toml"]["audit"]["unsafe"] == 1
    assert "by" in records["tables/broken.toml"]["error"]
    page = Path("night.html").read_text()
    assert all(
        word in page for word in ("tables/good.toml", "not safe", "A file does not follow its grammar.")
    )
    # Neither a cell's value nor the loss, a sum of such values, is on the page.
    shown = page[page.index("<body>") :]
    assert not any(f">{number}<" in shown for number in (22, 8, 19, 10, good["loss"], int(good["loss"])))


def test_the_rest_of_a_line_that_a_crash_left_is_skipped(capsys: pytest.CaptureFixture[str]) -> None:
    good = write_project("good")
    log = Path("run.jsonl")
    log.write_text('{"table": "tables/good.toml", "verd')
    run(capsys, good)
    records, torn = read_log(log)
    assert (list(records), torn) == (["tables/good.toml"], False)
    # An edited record proves nothing.
    for wrong in ('"results": 3', '"results": [1]', '"versions": null', '"verdict": "fine"'):
        log.write_text(log.read_text() + json.dumps(records["tables/good.toml"])[:-1] + f", {wrong}}}\n")
        assert run(capsys, good)[0] == 0
    assert len(log.read_text().splitlines()) == 2 + 2 * 4


def test_killed_in_the_middle_only_what_is_missing_is_done(capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"t{number:02}" for number in range(16)]
    for name in names:
        write_project(name)
    log = Path("run.jsonl")
    killed = subprocess.Popen(
        [sys.executable, "-m", "tacita", "run", "tables/*.toml"], stderr=subprocess.DEVNULL
    )
    while killed.poll() is None and not (log.exists() and log.read_bytes().count(b"\n") >= 3):
        time.sleep(0.005)
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    done = {Path(name).stem: record for name, record in read_log(log)[0].items()}
    assert 3 <= len(done) < len(names)
    written = {name: find_release(name).stat().st_mtime_ns for name in done}
    code, answer, _ = run(capsys, "tables/*.toml")
    assert (code, answer["safe"]) == (0, len(names))
    logged = [name for name, record in read_log(log)[0].items() if "together" not in record]
    assert sorted(logged) == [f"tables/{name}.toml" for name in names]
    assert {name: find_release(name).stat().st_mtime_ns for name in done} == written


@dataclass(frozen=True)
class Odd:
    """A job that does what its name says: its process dies, or its user presses Ctrl-C."""

    path: Path
    options: JobOptions
    reads = writes = subjects = ()
    specification = None
    reads_only_files = True

    def carry_out(self, run: Run) -> JobResult:
        if self.path.stem == "dying":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.path.stem == "stopped":
            parent = parent_process()
            os.kill(os.getpid() if parent is None else int(parent.pid or 0), signal.SIGINT)
            while not run.cancelled:
                time.sleep(0.01)
        return JobResult(Verdict.SAFE, {"process": os.getpid()}, stopped=run.cancelled)


def read_jobs(path: Path, options: JobOptions) -> list[Job]:
    return [Odd(path, options)]


@pytest.fixture
def odd_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(kinds.KINDS, ".odd", __name__)


@pytest.mark.usefixtures("odd_jobs")
def test_processes_die_with_one_job_only_and_hear_ctrl_c(capsys: pytest.CaptureFixture[str]) -> None:
    names = ("a.odd", "dying.odd", "b.odd", "c.odd", "stopped.odd")
    code, answer, lines = run(capsys, *names, "--workers", "2")
    assert code == 1
    assert "ended by signal 9" in lines
    assert answer["tables"][-1]["stopped"]
    verdicts = {each["table"]: each["verdict"] for each in answer["tables"]}
    assert verdicts == {**dict.fromkeys(names, "safe"), "dying.odd": "failed"}
    processes = {each["process"] for each in answer["tables"] if "process" in each}
    assert os.getpid() not in processes
    assert len(processes) <= 3


@pytest.mark.usefixtures("odd_jobs")
def test_ctrl_c_keeps_what_is_done_and_begins_nothing_more(capsys: pytest.CaptureFixture[str]) -> None:
    code, answer, lines = run(capsys, "a.odd", "stopped.odd", "b.odd")
    assert code == 1
    assert [each["verdict"] for each in answer["tables"]] == ["safe", "safe", "not begun"]
    assert [each.get("stopped") for each in answer["tables"]] == [False, True, None]
    assert "stopping with the best so far" in lines
    assert count_records() == {"a": 1, "stopped": 1}
