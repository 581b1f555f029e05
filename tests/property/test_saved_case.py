"""A case that was saved as a project and opened again is the same case: it asks the same, also after an edit,
and everything that was said of it can be changed as before. Where files cannot say it, what is lost is told.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from budget import examples
from hypothesis import assume, given
from hypothesis import strategies as st

import tacita as tc
from tacita.app.work.exports import save_case
from tacita.app.work.open_case import Case, Decision, DecisionKind, open_case
from tacita.app.work.opening import open_case_at
from tacita.core.errors import InputError, TacitaError
from tacita.core.tables.editing import with_values
from tacita.formats.toml import format_toml
from tacita.rules import parse_rule
from tacita.rules.grammar import write_rule
from tacita.specification.differences import find_differences
from tacita.specification.project import load_project
from tacita.specification.sections import Attackers, Output, Protection

Sections = dict[str, dict[str, Any]]
DECISIONS = st.one_of(
    st.sampled_from([Decision(kind) for kind in DecisionKind]),
    st.sampled_from([Decision(DecisionKind.PUBLISH, exempt=True), Decision(DecisionKind.HIDE, exempt=True)]),
    st.builds(
        Decision,
        st.just(DecisionKind.SENSITIVE),
        lower=st.sampled_from([None, 0, 1]),
        upper=st.sampled_from([1, Fraction(5, 2), 3]),
        sliding=st.sampled_from([None, 2]),
    ),
)
RULES = ((), ("threshold(3)",), ("threshold(4)", "zeros"), ('marked([["Total", "Total"]], upper=2)',))
EVERYONE = (Attackers(), Attackers(upper=1000), Attackers(lower=-5), Attackers(within=(1.0, 2.5)))
METHODS = (
    (Protection(), Output()),
    (Protection(seed=7), Output()),
    (Protection("rounding", {"base": 5}, 60.0, 3), Output("results", ("xlsx", "html"))),
    (Protection("intervals", seed=0), Output(formats=("csv",))),
)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Counts or amounts, with marks that a file states in percent or as amounts, rules, and decisions."""
    inner = np.array(draw(st.lists(st.integers(0, 12), min_size=6, max_size=6))).reshape(2, 3)
    table = tc.Table.from_array(inner, names=("row", "column"), counts=draw(st.booleans()))
    cells = st.integers(0, len(table) - 1)
    stated = tc.Levels.none(len(table))
    for protection in draw(st.lists(st.sampled_from([15, 20, 20, (10, 50)]), max_size=2)):
        some = draw(st.lists(cells, min_size=1, max_size=3))
        stated |= tc.Marked(some, protection=protection).levels(table)
    if draw(st.booleans()):
        stated |= tc.Marked(draw(st.lists(cells, max_size=2)), lower=0, upper=2).levels(table)
    cost = draw(st.sampled_from(["value", "unit"]))
    protect, output = draw(st.sampled_from(METHODS))
    case = open_case(tc.Problem(table, stated, cost=cost), "x").specify(
        rules={"waived": draw(st.sampled_from([(), ("Mill & Sons",)]))},
        attackers=draw(st.sampled_from(EVERYONE)),
        cost={"by": draw(st.sampled_from([None, "log", "distance"]))},
        protect=protect,
        output=output,
    )
    for cell, decision in draw(st.dictionaries(cells, DECISIONS, max_size=4)).items():
        case = case.decide([cell], decision)
    return case.with_rules(draw(st.sampled_from(RULES)))


def asked(case: Case) -> Any:
    """The question of a case; that there is none is an answer too."""
    try:
        problem = case.problem
    except InputError:
        return "refused"
    levels, outsider = problem.levels, problem.outsider
    columns = (levels.sensitive, levels.lower, levels.upper, levels.sliding, outsider.lower, outsider.upper)
    cells = (*columns, problem.cost, problem.must_publish, problem.must_hide, problem.exempt)
    return [column.tolist() for column in cells], case.table.units.tolist(), problem.attackers


def said(case: Case) -> dict[str, Any]:
    """What a user has said, in parts."""
    return {
        "rules": [parse_rule(text) for text in case.rules],
        "decisions": dict(case.decisions),
        "attackers": case.attackers,
        "waived": case.specification.rules.waived,
        "cost": case.specification.cost,
        "method": replace(
            case.specification.protect,
            method=case.specification.protect.method or "suppression",
            must_publish=(),
            must_hide=(),
        ),
        "output": case.specification.output,
    }


def edited(case: Case, cell: int, value: int) -> Case:
    units = np.array([value * case.table.unit])
    return case.with_table(with_values(case.table, np.array([cell]), units))


def saved_and_opened(case: Case, folder: Path) -> Case:
    assert save_case(case, folder, "project", passing=folder / "session").notes == ()
    return open_case_at(folder)


@given(cases(), st.integers(0, 5), st.integers(0, 40))
@examples(60)
def test_a_saved_case_is_the_same_case(case: Case, which: int, value: int) -> None:
    try:
        _ = case.problem
    except TacitaError:
        assume(False)
    cell = int(np.flatnonzero(~case.table.structure.is_total)[which])
    with tempfile.TemporaryDirectory() as folder:
        once = saved_and_opened(case, Path(folder) / "once")
        twice = saved_and_opened(once, Path(folder) / "twice")
    for again in (once, twice):
        assert said(again) == said(case)
        assert asked(again) == asked(case)
        assert asked(edited(again, cell, value)) == asked(edited(case, cell, value))


REGIONS, SIZES = ("N", "S", "W"), ("a", "b")
HEADER = "firm,group,region,size,area,turnover"
ON_MICRODATA = (
    "p-percent(60)",
    "p-percent(40, by=holding)",
    "request([F1])",
    "request([F0, F2], by=respondent, protection=10)",
    "dominance(1, 80)",
    "frequency(2)",
    'marked([["N", "a"]], protection=40)',
    "threshold(30)",
)
ON_CELLS = (
    "threshold(30)",
    "zeros",
    'marked([["N", "a"], ["W", "b"]], upper=2)',
    "threshold(9, protection=70)",
)
BY_HAND: tuple[dict[str, Any], ...] = (
    {},
    {},
    {"protection": 20},
    {"protection": 35},
    {"protection": [10, 60]},
    {"lpl": 1, "upl": 3},
    {"upl": 2, "spl": 4},
    {"spl": 3},
)


@st.composite
def lists_of_cells(draw: st.DrawFn) -> Sections:
    """Decisions by hand: any cell may be marked twice, exempt, and hidden or published besides."""
    cells = st.fixed_dictionaries(
        {}, optional={"region": st.sampled_from(REGIONS), "size": st.sampled_from(SIZES)}
    )
    marks = draw(st.lists(st.tuples(cells, st.sampled_from(BY_HAND)), max_size=3))
    hidden = draw(st.lists(st.sampled_from([cell for cell, _ in marks]), max_size=1)) if marks else []
    hidden += draw(st.lists(cells, max_size=1))
    return {
        "rules": {
            "sensitive": [{**cell, **levels} for cell, levels in marks] or None,
            "exempt": draw(st.lists(cells, max_size=2)) or None,
        },
        "protect": {"must_hide": hidden or None, "must_publish": draw(st.lists(cells, max_size=1)) or None},
    }


@st.composite
def records(draw: st.DrawFn) -> str:
    firms = draw(st.integers(6, 14))
    lines = [HEADER]
    for number in range(firms):
        region, size = draw(st.sampled_from(REGIONS)), draw(st.sampled_from(SIZES))
        area = draw(st.sampled_from(["east", "west"]))
        lines.append(f"F{number},G{number // 3},{region},{size},{area},{draw(st.integers(1, 90))}")
    return "\n".join([*lines, *(f"X{r}{s},Y,{r},{s},east,1" for r in REGIONS for s in SIZES)])


@st.composite
def projects(draw: st.DrawFn) -> tuple[dict[str, str], Sections]:
    """Data files and the sections of a project on them: cells with bounds, microdata, or linked tables."""
    kind = draw(st.sampled_from(["cells", "microdata", "microdata", "linked"]))
    said = draw(lists_of_cells())
    rules = draw(st.lists(st.sampled_from(ON_CELLS if kind == "cells" else ON_MICRODATA), max_size=2))
    said["rules"] |= {"rule": " | ".join(rules) or None}
    bounds = draw(st.sampled_from([{}, {}, {"lower": -5}, {"upper": 2000}, {"within": [1.0, 3.0]}]))
    if kind == "cells":
        lines = ["region,size,value,status,lb,ub"]
        for region in REGIONS:
            for size in SIZES:
                value, status = draw(st.integers(0, 60)), draw(st.sampled_from(["", "", "u", "u", "z"]))
                low, high = draw(st.sampled_from([(0, 2), (3, 20), (60, 300)]))
                lines.append(f"{region},{size},{value},{status},{max(value - low, 0)},{value + high}")
        said["rules"] |= {"protection": draw(st.sampled_from([None, 5, 150]))}
        table = {"file": "cells.csv", "counts": draw(st.booleans())}
        return {"cells.csv": "\n".join(lines)}, {"table": table, "attackers": bounds, **said}
    said["rules"] |= {"waived": draw(st.sampled_from([None, ["F0"], ["F1", "F4"]]))}
    insiders = {"kinds": draw(st.sampled_from([[], [], ["respondents"], ["respondents", "holdings"]]))}
    said["attackers"] = bounds | insiders
    table = {"microdata": "records.csv", "value": "turnover", "respondent": "firm", "holding": "group"}
    files = {"records.csv": draw(records())}
    if kind == "microdata":
        return files, {"table": {**table, "by": ["region", "size"]}, **said}
    one, two = ({**table, "by": by} for by in (["region", "size"], ["region", "area"]))
    # Cells of linked tables are called by all dimensions.
    for cell in (c for section in ("rules", "protect") for c in _listed(said[section])):
        cell |= {"region": cell.get("region", "Total")}
    return files, {"tables.one": one, "tables.two": two, **said}


def _listed(section: dict[str, Any]) -> list[dict[str, Any]]:
    listed = (cell for cells in section.values() if isinstance(cells, list) for cell in cells)
    return [cell for cell in listed if isinstance(cell, dict)]


@given(projects(), st.sampled_from(["stays", "passes", "forgotten"]))
@examples(15)
def test_a_project_that_is_opened_and_saved_asks_the_same(
    project: tuple[dict[str, str], Sections], origin: str
) -> None:
    """Whether its files stay where they are, go with the session, or the case comes from elsewhere."""
    files, sections = project
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "one").mkdir()
        for file, content in files.items():
            (folder / "one" / file).write_text(content)
        path = folder / "one" / "project.toml"
        path.write_text(format_toml(sections))
        try:
            before = load_project(path).problem()
        except TacitaError:
            assume(False)
        case = open_case_at(path)
        assert find_differences(before, case.problem) == []
        case = case.specify(table=None, tables={}) if origin == "forgotten" else case
        passing = folder / "one" if origin == "passes" else folder / "session"
        notes = save_case(case, folder / "two", "project", passing=passing).notes
        again = open_case_at(folder / "two")
        twice = save_case(again, folder / "three", "project", passing=folder / "session").notes
        third = open_case_at(folder / "three")
    if origin == "stays" or ("table" in sections and "file" in sections["table"]):
        assert notes == ()
    named = "tables.one" not in sections
    for other, told in ((again, notes), (third, (*notes, *twice))):
        assert find_differences(before, other.problem, named=named or origin == "stays") == []
        assert dict(other.decisions) == dict(case.decisions)
        assert other.specification.rules.waived == case.specification.rules.waived
        assert other.attackers.within == case.attackers.within
        kept = [parse_rule(text) for text in other.rules]
        for text in case.rules:
            rule = parse_rule(text)
            assert rule in kept or any(
                write_rule(rule.with_consent(case.specification.rules.waived)) in note for note in told
            ), text
