"""The same words ask the same question, whoever reads them: a project, the app, the command line, the reader
of table files. What everyone knows is said of all cells, stated in the file cell by cell, or both.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from budget import examples
from hypothesis import given
from hypothesis import strategies as st

from tacita.app.work.opening import open_case_at
from tacita.cli.case_options import CaseFlags, pose_problem
from tacita.core.errors import InputError
from tacita.core.tables.read_options import ReadOptions
from tacita.formats.table_file import read_table_file
from tacita.formats.toml import format_toml
from tacita.problem.problem import Problem
from tacita.specification.project import load_project
from tacita.specification.sections import Attackers

CODES = [(row, column) for row in "NS" for column in "ABC"]
TABLE = {"file": "t.csv", "counts": True}
RULES = (
    None,
    "threshold(4)",
    "threshold(4, protection=150)",
    "marked([[N, A]])",
    "marked([[N, A], [S, B]], protection=200) | threshold(4)",
)


@dataclass(frozen=True)
class Words:
    """A table file, and what is said besides of everyone, in rules, and of cells that a project marks."""

    file: str
    everyone: Attackers
    rule: str | None
    marks: list[dict[str, Any]]


@st.composite
def words(draw: st.DrawFn) -> Words:
    names = ["row", "column", "value", "status"]
    amounts, below, above = (draw(st.booleans()) for _ in range(3))
    names += ["lpl", "upl"] if amounts else []
    names += ["lb"] if below else []
    names += ["ub"] if above else []
    rows = [",".join(names)]
    for codes in CODES:
        value = draw(st.sampled_from([3, 4, 10, 50]))
        entries: list[Any] = [*codes, value, draw(st.sampled_from(["", "", "u"]))]
        entries += [draw(st.sampled_from(["", 0, 1])) for _ in range(2 * amounts)]
        entries += [value - draw(st.sampled_from([2, 4, 20]))] if below else []
        entries += [draw(st.sampled_from(["", value + 2, value + 4, value + 20]))] if above else []
        rows.append(",".join(map(str, entries)))
    lower, upper = draw(st.sampled_from([None, 0.0, -10.0])), draw(st.sampled_from([None, 400.0, 1000.0]))
    within = draw(st.sampled_from([None, None, (0.5, 1.0), (0.4, 3.0)]))
    everyone = Attackers(lower=lower, upper=upper) if within is None else Attackers(within=within)
    # A cell with amounts in the file and a percentage besides keeps both as amounts in an open case.
    shares: list[dict[str, Any]] = [] if amounts else [{"protection": 5}, {"protection": [10, 200]}]
    levels = st.sampled_from([{}, {"lpl": 1, "upl": 2}, *shares])
    marks = draw(st.lists(st.tuples(st.sampled_from(CODES), levels), max_size=2, unique_by=lambda m: m[0]))
    listed = [{"row": row, "column": column, **said} for (row, column), said in marks]
    return Words("\n".join(rows) + "\n", everyone, draw(st.sampled_from(RULES)), listed)


def asked(put: Callable[[], Any]) -> Any:
    """The levels and what everyone knows; that a question is refused is an answer too."""
    try:
        problem = put()
    except InputError:
        return "refused"
    assert isinstance(problem, Problem)
    levels, everyone = problem.levels, problem.outsider
    columns = (levels.sensitive, levels.lower, levels.upper, levels.sliding, everyone.lower, everyone.upper)
    return [column.tolist() for column in columns]


def project(path: Path, rule: str | None, marks: list[dict[str, Any]], everyone: Attackers) -> Path:
    said = {name: getattr(everyone, name) for name in ("lower", "upper", "within")}
    said["within"] = None if everyone.within is None else list(everyone.within)
    rules = {"rule": rule, "sensitive": marks or None}
    path.write_text(format_toml({"table": TABLE, "rules": rules, "attackers": said}))
    return path


@given(words())
@examples(60)
def test_the_same_words_ask_the_same_everywhere(said: Words) -> None:
    with tempfile.TemporaryDirectory() as folder:
        everyone, rule, marks = said.everyone, said.rule, said.marks
        file = Path(folder) / "t.csv"
        file.write_text(said.file)
        bare = project(Path(folder, "bare.toml"), None, marks, Attackers())
        whole = project(Path(folder, "whole.toml"), rule, marks, everyone)
        answers = {
            "project": asked(lambda: load_project(whole).problem()),
            "command line": asked(lambda: pose_problem(whole, CaseFlags())),
            "app": asked(lambda: open_case_at(whole).problem),
        }
        changed: dict[str, Any] = {"attackers": everyone, "rules": {"rule": rule}}
        answers["app, said there"] = asked(lambda: open_case_at(bare).specify(**changed).problem)
        if everyone.within is None:
            option = CaseFlags(rules=rule, lower=everyone.lower, upper=everyone.upper)
            answers["options on a project"] = asked(lambda: pose_problem(bare, option))
        if everyone.within is None and not marks:
            bounds = {"lower": everyone.lower, "upper": everyone.upper}
            answers["reader"] = asked(
                lambda: read_table_file(file, ReadOptions(counts=True), rule=rule, **bounds)
            )
            answers["options on a file"] = asked(lambda: pose_problem(file, replace(option, counts=True)))
    for who, answer in answers.items():
        assert answer == answers["project"], who
