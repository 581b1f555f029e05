"""Batches are carried out: tables read, protected, audited, written; what is not done is said by line."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from argus_files import EVERY_COMMAND, RECORDS, TABLE, write_files

import tacita as tc
from tacita.batch.files import list_inputs
from tacita.batch.results import BatchResult
from tacita.batch.run_batch import BatchExecution, run_batch
from tacita.batch.tables import BatchTable, pose_problem
from tacita.core.run import Run
from tacita.formats.argus.batch import COMMANDS, WriteTable
from tacita.formats.argus.batch_file import read_batch
from tacita.methods.suppression.suppression import Suppression
from tacita.problem.problem import Problem

TWO = (
    RECORDS
    + '<SPECIFYTABLE> "Region""Size"|"Turnover"\n<SAFETYRULE> NK(1,60)|FREQ(3,30)\n'
    + '<SPECIFYTABLE> "Region"|"Turnover"\n<SAFETYRULE> FREQ(15,30)\n<READMICRODATA>\n'
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_files(tmp_path)


def carry_out(folder: Path, text: str) -> BatchResult:
    (folder / "batch.arb").write_text(text)
    return run_batch(folder / "batch.arb")


def pose(folder: Path, specified: str, rule: str, *more: str) -> Problem:
    """Return the problem of a batch's only table."""
    (folder / "batch.arb").write_text(
        f"{RECORDS}<SPECIFYTABLE> {specified}\n<SAFETYRULE> {rule}\n<READMICRODATA>\n" + "\n".join(more)
    )
    execution = BatchExecution(read_batch(folder / "batch.arb"), (folder,), Run(), None)
    result = execution.carry_out()
    assert not result.errors, result.errors
    return execution._pose((1,))


def read(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_a_batch_with_every_command_runs_or_says_what_it_does_not(folder: Path) -> None:
    (folder / "batch.arb").write_text(EVERY_COMMAND)
    commands = read_batch(folder / "batch.arb").commands
    assert {command.keyword for command in commands} == set(COMMANDS)
    result = run_batch(folder / "batch.arb")
    keyed = next(each.place for each in commands if isinstance(each, WriteTable) and each.kind == 7)
    assert len(result.errors) == 1, result.errors
    assert result.errors[0].startswith(f"{keyed}: the cell key method is not carried out")
    public = {path.name for path in result.written if path.parent.name == "publication"}
    # GH and MOD were followed by OPT; all three are written, and were judged together.
    assert public == {"gh.csv", "mod.csv", "opt.csv", "rounded.csv", "adjusted.csv"}
    internal = {path.name for path in result.written if path.parent.name == "internal"}
    assert {"opt-status.csv", "opt-sbs.csv", "opt.tab", "opt.jj"} <= internal
    assert not result.refused
    remarks = "\n".join(result.remarks)
    for text in (
        "line 2: <SOLVER> CPLEX",
        "MIS(1) is not applied",
        "REQ: the minimum frequency 2",
        "lambda: each cell costs cost^0.5",
        "GH: bounds of 75 %",
        "GH: the size",
        "GH: singletons",
        "MOD: ss, sm, minfreq",
        "MOD: costs are not scaled",
        "MOD: margins",
        "NET is carried out as suppression",
        "OPT is carried out as suppression",
        "AR+ is not applied",
        "RND is carried out as rounding",
        "RND: the stop rule",
        "CKM, the cell key method, is not carried out",
        "<ANCO> is for",
        "<COVER> is for",
        "<JJ> is for",
        "CTA is carried out as adjustment",
        "<GOINTERACTIVE>",
    ):
        assert text in remarks, text
    assert (folder / "out" / "version.txt").read_text().startswith(f"Tacita {tc.__version__}")
    log = (folder / "out" / "log.txt").read_text()
    assert all(text in log for text in (*result.remarks, *result.errors))
    assert {int(row[-1]) % 5 for row in read(folder / "out" / "publication" / "rounded.csv")} == {0}


def test_rules_hit_what_they_hit_elsewhere(folder: Path) -> None:
    problem = pose(folder, '"Region""Size"|"Turnover"', "NK(1,60)|FREQ(3,30)|FREQ(2,10)")
    records = read_records(folder)
    tree = tc.Hierarchy.from_hrc(folder / "regions.hrc")
    table = tc.tabulate(
        records, {"Region": tree, "Size": None}, value="Turnover", holding="Group", decimals=1
    )
    rule = "dominance(1, 60) | frequency(3, protection=30) | frequency(2, protection=10, by=holding)"
    direct = tc.Problem(table, rule)
    assert len(direct.levels) > 3
    place = [problem.table.find(*table.structure.key(cell)) for cell in range(len(table))]
    assert np.array_equal(problem.table.units[place], table.units)
    assert np.array_equal(problem.levels.sensitive[place], direct.levels.sensitive)
    assert np.array_equal(problem.levels.upper[place], direct.levels.upper)
    assert len(problem.insiders) == len(direct.insiders)


def read_records(folder: Path) -> object:
    import pyarrow as pa

    rows = [line.split(";") for line in (folder / "records.asc").read_text().splitlines()]
    names = ("Region", "Size", "Group", "Asked", "Weight", "Turnover", "Wages")
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    numbers = {name: list(map(float, columns[name])) for name in names[4:]}
    return pa.table({**columns, **numbers})


def test_requests_and_shadow_variables_count(folder: Path) -> None:
    specified = '"Region""Size"|"Turnover"'
    asked = pose(folder, specified, "REQ(10,90,0,20)")
    records = read_records(folder)
    tree = tc.Hierarchy.from_hrc(folder / "regions.hrc")
    by = {"Region": tree, "Size": None}
    table = tc.tabulate(records, by, value="Turnover", request={"Asked": ["1", "2"]}, decimals=1)
    expected = tc.Problem(table, "request(share=10, protection=20)").levels
    keys = [table.structure.key(cell) for cell in expected.cells]
    assert len(keys) > 1
    assert sorted(keys) == sorted(map(asked.table.structure.key, asked.sensitive))
    shadowed = pose(folder, f'{specified}|"Wages"', "NK(1,60)")
    wages = pose(folder, '"Region""Size"|"Wages"', "NK(1,60)")
    assert len(wages.levels) > 0
    assert np.array_equal(shadowed.levels.sensitive, wages.levels.sensitive)
    assert np.array_equal(shadowed.table.units, asked.table.units)


def test_weights_count_only_where_the_rule_says_so(folder: Path) -> None:
    plain = pose(folder, '"Size"|"Turnover"', "FREQ(3,30)")
    weighted = pose(folder, '"Size"|"Turnover"', "FREQ(3,30)|WGT(1)")
    assert weighted.table.values[0] > plain.table.values[0]


def test_costs_are_as_the_batch_says(folder: Path) -> None:
    def costs(text: str) -> np.ndarray:
        return pose(folder, f'"Region"|"Turnover"|"Turnover"|{text}', "FREQ(15,10)").cost

    problem = pose(folder, '"Region"|"Turnover"', "FREQ(15,10)")
    table = problem.table
    assert table.count is not None
    assert np.array_equal(problem.cost, table.values)
    assert np.array_equal(costs("-2"), np.ones(len(table)))
    assert set(costs("-3")) >= {1, 2}
    assert np.allclose(costs("-1,0.5"), np.sqrt(table.count))
    wages = pose(folder, '"Region"|"Wages"', "FREQ(15,10)").table.values
    assert np.array_equal(costs("wages,1"), wages)


@pytest.mark.slow
def test_a_lambda_of_0_is_the_logarithm(folder: Path) -> None:
    problem = pose(folder, '"Region"|"Turnover"||-1|0', "FREQ(15,10)")
    assert problem.table.count is not None
    assert np.allclose(problem.cost, np.log1p(problem.table.count))


@pytest.mark.slow
def test_recodings_and_decisions_change_the_table(folder: Path) -> None:
    specified, rule = '"Region""Size"|"Turnover"', "NK(1,60)|FREQ(3,30)"
    whole = pose(folder, specified, rule)
    coarse = pose(folder, specified, rule, "<RECODE> 1, Region, 1").table
    assert {coarse.structure.key(cell)[0] for cell in range(len(coarse))} == {"Total", "N", "S"}
    closed = pose(folder, specified, rule, '<RECODE> 1, "Region", "regions.grc"').table
    assert {closed.structure.key(cell)[0] for cell in range(len(closed))} == {"Total", "N", "N1", "N2", "S"}
    flat = pose(folder, specified, rule, '<RECODE> 1, Size, "sizes.grc"').table
    assert {flat.structure.key(cell)[1] for cell in range(len(flat))} == {"Total", "small", "large"}
    sensitive = whole.table.structure.key(int(whole.sensitive[0]))
    safe = whole.table.structure.key(int(np.flatnonzero(~whole.levels.sensitive)[-1]))
    (folder / "more.hst").write_text(f"{';'.join(sensitive)};S\n{';'.join(safe)};U\n")
    decided = pose(folder, specified, f"{rule}|MAN(5)", '<APRIORI> "more.hst", 1, ";"')
    assert not decided.levels.sensitive[decided.table.find(*sensitive)]
    cell = decided.table.find(*safe)
    assert decided.levels.sensitive[cell]
    assert decided.levels.upper[cell] == -(-decided.table.units[cell] * 5 // 100)


def test_nothing_is_published_that_is_not_safe(folder: Path) -> None:
    result = carry_out(folder, TWO + '<WRITETABLE> (1,3,,"out/a.csv")\n<WRITETABLE> (1,3,AS+,"out/b.csv")\n')
    assert not result.safe
    assert not result.errors
    assert len(result.refused) == 1
    assert re.search(r"line 8: no method has protected the table", result.refused[0])
    assert [path.name for path in result.written] == ["b.csv"]
    assert any("unprotected" in text for text in result.remarks)
    assert not (folder / "out" / "publication").exists()


def refuse_hidden_values(folder: Path, result: BatchResult) -> None:
    """Fail if a value that is hidden in table 1 stands in a published file, in the log or in the result."""
    truth = {tuple(row[:2]): row[2] for row in read(folder / "out" / "internal" / "4.csv")}
    shown = read(folder / "out" / "publication" / "3.csv")
    hidden = {truth[region, size] for region, size, value in shown if value == "x"}
    hidden -= {value for _, _, value in shown}
    assert len(hidden) > 3
    fields = {
        field for path in (folder / "out" / "publication").iterdir() for row in read(path) for field in row
    }
    assert not hidden & fields
    log = (folder / "log.txt").read_text() + repr(result)
    assert not [value for value in hidden if re.search(rf"(?<![\d.]){re.escape(value)}(?![\d.])", log)]


def test_tables_that_tell_too_much_together_are_refused(folder: Path) -> None:
    writes = '<WRITETABLE> (1,3,,"out/a.csv")\n<WRITETABLE> (2,3,,"out/b.csv")\n'
    apart = carry_out(folder, f"{TWO}<SUPPRESS> OPT(1)\n<SUPPRESS> OPT(2)\n{writes}")
    assert len(apart.tables) == 2
    assert all(table["safe"] for table in apart.tables)
    assert len(apart.refused) == 2
    assert "MOD(0)" in apart.refused[0]
    assert not (folder / "out" / "publication").exists()
    kinds = "".join(f'<WRITETABLE> (1,{kind},,"out/{kind}.csv")\n' for kind in (1, 2, 3, 4, 5))
    together = carry_out(folder, f'{TWO}<SUPPRESS> MOD(0)\n<LOGBOOK> "log.txt"\n{writes}{kinds}')
    assert together.safe, together
    assert together.tables[0]["tables"] == [1, 2]
    refuse_hidden_values(folder, together)
    rows = {tuple(row[:-1]): row[-1] for row in read(folder / "out" / "publication" / "a.csv")}
    for region, value in read(folder / "out" / "publication" / "b.csv"):
        assert rows[region, "Total"] == value


@pytest.mark.slow
def test_tables_on_either_side_of_clear_are_judged_together(folder: Path) -> None:
    one, two = TWO.split('<SPECIFYTABLE> "Region"|')
    work = '<SUPPRESS> OPT(1)\n<WRITETABLE> (1,3,,"out/{}.csv")\n'
    other = RECORDS + '<SPECIFYTABLE> "Region"|' + two.replace('"Turnover"', '"TURNOVER"')
    result = carry_out(folder, f"{one}<READMICRODATA>\n{work.format('a')}<CLEAR>\n{other}{work.format('b')}")
    assert not result.errors, result.errors
    assert len(result.refused) == 2
    assert "the tables of line 3 and line 11 have the same response" in result.refused[0]


@pytest.mark.slow
def test_linked_tables_with_decisions_are_protected_together(folder: Path) -> None:
    result = carry_out(
        folder,
        TWO + '<APRIORI> "decisions.hst",1,";"\n<SUPPRESS> GH(0)\n'
        '<WRITETABLE> (1,3,,"out/a.csv")\n<WRITETABLE> (2,5,,"out/b.tab")\n',
    )
    assert result.safe, result
    assert result.tables[0]["tables"] == [1, 2]


def pose_together(folder: Path, *more: str) -> tuple[Problem, list[Problem]]:
    """Return the problem of both tables of a batch, and that of each."""
    (folder / "batch.arb").write_text(TWO.replace("NK(1,60)", "NK(3,90)|P(15)") + "\n".join(more))
    execution = BatchExecution(read_batch(folder / "batch.arb"), (folder,), Run(), None)
    assert not execution.carry_out().errors
    return execution._pose((1, 2)), [execution._pose((number,)) for number in (1, 2)]


def name_sensitive(problem: Problem) -> dict[tuple[str, ...], tuple[int, int]]:
    """Return the levels of the sensitive cells by region and size."""
    levels, key = problem.levels, problem.table.structure.key
    return {
        (*key(cell), "Total")[:2]: (int(levels.lower[cell]), int(levels.upper[cell])) for cell in levels.cells
    }


def test_rules_of_linked_tables_hold_in_their_own_cells(folder: Path) -> None:
    together, each = pose_together(folder)
    first, second = map(name_sensitive, each)
    assert first
    assert second.keys() - first.keys()
    expected = {
        cell: (
            max(first.get(cell, (0, 0))[0], second.get(cell, (0, 0))[0]),
            max(first.get(cell, (0, 0))[1], second.get(cell, (0, 0))[1]),
        )
        for cell in first.keys() | second.keys()
    }
    assert name_sensitive(together) == expected
    # Respondents attack with levels of their own, as in table 1 alone: a rule is more than its levels.
    assert len(together.insiders) == len(each[0].insiders)
    assert together.insiders.levels.sum() >= each[0].insiders.levels.sum() > 0


def test_decisions_on_a_linked_table_are_about_its_own_rule(folder: Path) -> None:
    _, each = pose_together(folder)
    first, second = map(name_sensitive, each)
    both = next(cell for cell in second if cell[1] == "Total" and cell not in first)
    own = next(cell for cell in first if cell not in second)
    (folder / "safe.hst").write_text("".join(f"{region};{size};S\n" for region, size in (both, own)))
    (folder / "more.hst").write_text("Total;U\n")
    together, _ = pose_together(folder, '<APRIORI> "safe.hst",1,";"', '<APRIORI> "more.hst",2,";"')
    sensitive = name_sensitive(together)
    assert both in sensitive
    assert own not in sensitive
    assert ("Total", "Total") in sensitive
    assert together.exempt[together.table.find(*own)]


def test_the_same_command_again_makes_no_other_release(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    before = Suppression.protect

    def protect(self: Suppression, problem: Problem, run: Run, **more: object) -> tc.Release:
        calls.append(len(problem.table))
        return before(self, problem, run, **more)

    monkeypatch.setattr(Suppression, "protect", protect)
    again = "<SUPPRESS> OPT(1)\n" * 4 + '<RECODE> 1, "Region", 1\n' + "<SUPPRESS> OPT(1)\n" * 2
    result = carry_out(folder, TWO + again + '<WRITETABLE> (1,3,,"out/a.csv")\n')
    assert result.safe, result
    assert len(calls) == 2
    assert calls[0] > calls[1]


def test_what_fails_is_named_and_the_rest_is_done(folder: Path) -> None:
    result = carry_out(
        folder,
        '<OPENMICRODATA> "nowhere.asc"\n<OPENMETADATA> "records.rda"\n'
        '<SPECIFYTABLE> "Size"|"Turnover"\n<SAFETYRULE> FREQ(3,30)\n<READMICRODATA>\n'
        '<SUPPRESS> OPT(1)\n<WRITETABLE> (1,3,,"a.csv")\n<CLEAR>\n'
        f'{TABLE}<SPECIFYTABLE> "Region""Size"|"Turnover"\n<SAFETYRULE>\n<READTABLE>\n'
        '<SUPPRESS> OPT(1)\n<WRITETABLE> (1,3,,"b.csv")\n',
    )
    assert [path.name for path in result.written if path.parent.name == "publication"] == ["b.csv"]
    assert result.errors
    assert all(re.search(r"line [3567]: .*nowhere.asc", error) for error in result.errors)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('<SPECIFYTABLE> "Nowhere"|"Turnover"', "there is no variable 'Nowhere'"),
        ('<SPECIFYTABLE> "Size"|<freq>|"Wages"', "'Wages' cannot be the shadow variable"),
        ('<SPECIFYTABLE> "Size"|"Turnover"||"Size"', "Size"),
        ('<SPECIFYTABLE> "Size"|"Turnover"||-1,400', "lambda 400 makes costs too large"),
    ],
)
def test_tables_that_cannot_be_made_are_refused_by_line(folder: Path, text: str, said: str) -> None:
    result = carry_out(folder, f"{RECORDS}{text}\n<SAFETYRULE> FREQ(3,30)\n<READMICRODATA>\n")
    assert result.errors
    assert "batch.arb, line 3" in result.errors[0]
    assert said in result.errors[0]


def test_files_that_metadata_name_are_inputs(folder: Path) -> None:
    (folder / "batch.arb").write_text(TWO + '<RECODE> 1, Size, "sizes.grc"\n')
    inputs = list_inputs(read_batch(folder / "batch.arb"), (folder,))
    assert [path.name for path in inputs] == ["records.asc", "records.rda", "sizes.grc", "regions.hrc"]


@pytest.mark.parametrize("name", ["table.tab", "table.rda", "batch.arb"])
def test_no_output_takes_the_place_of_an_input(folder: Path, name: str) -> None:
    before = (folder / name).read_bytes() if name != "batch.arb" else None
    result = carry_out(folder, f'{TABLE}<LOGBOOK> "{name}"\n<VERSIONINFO> "{name}"\n')
    assert len(result.errors) == 2
    assert "reads this file" in result.errors[0]
    assert before is None or (folder / name).read_bytes() == before


def test_files_are_found_in_a_data_folder_and_as_on_windows(folder: Path, tmp_path: Path) -> None:
    batches = tmp_path / "batches"
    batches.mkdir()
    text = TABLE.replace("table.tab", r"D:\survey\TABLE.TAB")
    text += '<SPECIFYTABLE> "Region""Size"|"Turnover"\n<SAFETYRULE>\n<READTABLE>\n'
    (batches / "batch.arb").write_text(text + '<SUPPRESS> MOD(0)\n<WRITETABLE> (1,3,,"D:\\out\\a.csv")\n')
    result = run_batch(batches / "batch.arb", data_folder=folder)
    assert result.safe, result
    assert (batches / "publication" / "a.csv").is_file()


def test_minutes_of_a_batch_limit_its_methods(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = []
    before = Suppression.protect

    def protect(self: Suppression, problem: Problem, run: Run, **more: object) -> tc.Release:
        limits.append(run.time_limit)
        return before(self, problem, run, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(Suppression, "protect", protect)
    work = "<SUPPRESS> OPT(1,2)\n<SUPPRESS> MOD(1)\n<SUPPRESS> MOD(0,0.5)\n"
    carry_out(folder, f'{TABLE}<SPECIFYTABLE> "Region""Size"|"Turnover"\n<SAFETYRULE>\n<READTABLE>\n{work}')
    assert limits == [120, None, 30]
    run_batch(folder / "batch.arb", time_limit=7)
    assert limits[3:] == [7, 7, 7]


def test_tables_of_cells_are_read_as_the_batch_says(folder: Path) -> None:
    text = f'{TABLE}<SPECIFYTABLE> "Region""Size"|"Turnover"\n<SAFETYRULE> MAN(10)\n'
    work = '<SUPPRESS> OPT(1)\n<WRITETABLE> (1,4,,"a.csv")\n<WRITETABLE> (1,1,,"b.csv")\n'
    for mode in ("", "0", "1T", "2"):
        result = carry_out(folder, f"{text}<READTABLE> {mode}\n{work}")
        assert result.safe, result
        assert (result.tables[0]["sensitive"], result.tables[0]["changed"]) == (1, 4)
        assert any("READTABLE 2" in each for each in result.remarks) == (mode == "2")
    assert ["N", "a", "60", "9", "B"] in read(folder / "internal" / "a.csv")
    wrong = (folder / "table.tab").read_text().replace("Total;Total;180", "Total;Total;181")
    (folder / "table.tab").write_text(wrong)
    for mode in ("0", "2"):
        result = carry_out(folder, f"{text}<READTABLE> {mode}\n{work}")
        assert any("181" in error or "sum" in error for error in result.errors), result.errors
    assert carry_out(folder, f"{text}<READTABLE> 1\n{work}").safe


def test_a_published_file_that_is_replaced_is_kept_inside(folder: Path) -> None:
    text = f'{TABLE}<SPECIFYTABLE> "Region""Size"|"Turnover"\n<SAFETYRULE>\n<READTABLE>\n<SUPPRESS> OPT(1)\n'
    write = '<WRITETABLE> (1,3,,"a.csv")\n'
    for _ in range(2):
        assert not any("replaces" in warning for warning in carry_out(folder, text + write).warnings)
    (folder / "publication" / "a.csv").write_text("other\n")
    result = carry_out(folder, text + write)
    assert any("replaces a file with other content" in warning for warning in result.warnings)
    assert (folder / "internal" / "earlier-release-a.csv").read_text() == "other\n"


def test_changes_in_a_row_read_a_table_once_and_fail_by_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    posed = []

    def count(tables: tuple[BatchTable, ...]) -> Problem:
        posed.append(tables)
        return pose_problem(tables)

    monkeypatch.setattr("tacita.batch.reading.pose_problem", count)
    good = '<RECODE> 1, "Region", 1\n'
    result = carry_out(folder, TWO + good * 20)
    assert (result.errors, len(posed)) == ((), 3)
    result = carry_out(folder, TWO + good + '<RECODE> 1, Size, "lost.grc"\n' + good + "<SUPPRESS> OPT(2)\n")
    start = TWO.count("\n")
    assert len(result.errors) == 2
    for error, line in zip(result.errors, (start + 2, start + 3), strict=True):
        assert f"line {line}" in error
        assert "lost.grc" in error
