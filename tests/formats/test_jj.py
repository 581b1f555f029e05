"""JJ files: what they say, and in which line they are wrong."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tacita.core.attacker import Insider, Outsider
from tacita.core.errors import FormatError, InputError, LevelsError, NotAdditiveError
from tacita.core.exact import UNBOUNDED
from tacita.core.levels import Levels
from tacita.core.tables.table import Table
from tacita.formats.jj import read_jj, write_jj
from tacita.formats.table_write import write_table
from tacita.methods import make_method
from tacita.problem.problem import Problem
from tacita.specification.read_case import read_case
from tacita.specification.specification import Specification

GOOD = """0
4
0 12 12 s 0 100 0 0 0
1 5 5 u 0 100 2 3 4
2 7 7 s 0 100 0 0 0
3 0 1 z 0 0 0 0 0
1
0 4 : 0 (-1) 1 (1) 2 (1) 3 (1)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "case.jj"


def read(path: Path, text: str) -> Problem:
    path.write_text(text, encoding="ascii")
    return read_jj(path)


def test_every_field_is_read(path: Path) -> None:
    problem = read(path, GOOD)
    assert problem.table.units.tolist() == [12, 5, 7, 0]
    assert problem.table.integer
    assert problem.sensitive.tolist() == [1]
    levels = problem.levels
    assert (levels.lower[1], levels.upper[1], levels.sliding[1]) == (2, 3, 4)
    assert problem.cost.tolist() == [12, 5, 7, 1]
    assert problem.outsider.upper.tolist() == [100, 100, 100, 0]
    assert np.flatnonzero(problem.must_publish).tolist() == [3]
    assert problem.table.name(1) == "cell 1"
    cells, coefficients, rhs = problem.table.equations.row(0)
    assert (cells.tolist(), coefficients.tolist(), rhs) == ([0, 1, 2, 3], [-1, 1, 1, 1], 0)


def test_cells_of_status_w_are_never_published(path: Path, tmp_path: Path) -> None:
    problem = read(path, GOOD.replace("2 7 7 s", "2 7 7 w"))
    assert (np.flatnonzero(problem.must_hide).tolist(), problem.sensitive.tolist()) == ([2], [1])
    csv = tmp_path / "cells.csv"
    csv.write_text("region,value,count,status\nTotal,30,9,s\na,5,2,u\nb,7,3,w\nc,8,2,\nd,10,2,\n")
    (tmp_path / "project.toml").write_text('[table]\nfile = "cells.csv"\n[rules]\nrule = "threshold(1)"\n')
    specification = Specification.load(tmp_path / "project.toml")
    for given in (None, specification.read()):
        stated = specification.problem(given)
        assert np.flatnonzero(stated.must_hide).tolist() == [stated.table.find("b")]
    alone = read_case(csv)
    assert isinstance(alone, Problem)
    assert make_method("suppression", {}).protect(alone).hidden[alone.table.find("b")]


@pytest.mark.parametrize("name", ["again.jj", "again.csv", "again.xlsx"])
def test_cells_that_must_be_hidden_still_must_when_they_are_read_again(tmp_path: Path, name: str) -> None:
    csv, again = tmp_path / "cells.csv", tmp_path / name
    csv.write_text("region,value,status\nTotal,30,s\na,5,u\nb,7,w\nc,8,\nd,10,\n")
    stated = read_case(csv)
    assert isinstance(stated, Problem)
    if again.suffix == ".jj":
        write_jj(stated, again, hidden=np.array([False, True, True, True, False]))
    else:
        write_table(stated.table, again, stated)
    found = read_case(again)
    assert isinstance(found, Problem)
    assert found.table.values[found.must_hide].tolist() == [7.0]


def test_line_breaks_fall_where_they_like(path: Path) -> None:
    free = "0 4\n" + " ".join(GOOD.split()[2:20]) + "\n" + "\n".join(GOOD.split()[20:])
    assert read(path, free).table.units.tolist() == read(path, GOOD).table.units.tolist()


def test_decimals_of_levels_and_bounds_make_the_table_finer(path: Path) -> None:
    problem = read(path, GOOD.replace("0 100 2 3 4", "0 100.5 2.25 3 4"))
    assert (problem.table.decimals, problem.table.integer) == (2, False)
    assert (problem.levels.lower[1], problem.outsider.upper[1]) == (225, 10050)


def test_given_decimals_round_levels_up_and_bounds_inwards(path: Path) -> None:
    path.write_text(GOOD.replace("0 100 2 3 4", "0.4 99.6 2.25 3 4"))
    problem = read_jj(path, decimals=0)
    assert (problem.levels.lower[1], problem.outsider.lower[1], problem.outsider.upper[1]) == (3, 1, 99)


LARGE = GOOD.replace("0 12 12", "0 160000007 12").replace("1 5 5", "1 160000000 5").replace("0 100", "0 1e15")


@pytest.mark.parametrize("level", ["1.0123456789", "1.01234567891234"])
def test_levels_finer_than_large_values_allow_are_rounded_up_with_a_note(path: Path, level: str) -> None:
    problem = read(path, LARGE.replace("0 1e15 2 3 4", f"0 1e15 {level} {level} 4"))
    assert problem.table.decimals == 0
    assert not problem.table.integer  # The levels are amounts, so the cells are.
    assert (problem.levels.lower[1], problem.levels.upper[1], problem.levels.sliding[1]) == (2, 2, 4)
    (note,) = [note for note in problem.table.notes if "rounded up" in note]
    assert note.startswith(f"levels or bounds have {'10' if len(level) == 12 else 'more than 12'} decimals")


def test_a_level_a_hundredth_above_a_large_integer_is_rounded_up(path: Path) -> None:
    problem = read(path, LARGE.replace("0 1e15 2 3 4", "0 1e15 16000000.0123456789 3 4"))
    assert problem.levels.lower[1] == 16_000_001


def test_levels_of_table_files_are_rounded_up_too(tmp_path: Path) -> None:
    file = tmp_path / "cells.csv"
    file.write_text(
        "r,value,status,lpl,upl\nTotal,160000007.5,s,,\nN,160000000.5,u,1.0000000123,2.00000001\nS,7,s,,\n"
    )
    problem = read_case(file)
    assert isinstance(problem, Problem)
    cell = problem.table.find("N")
    assert problem.table.decimals == 1
    assert (problem.levels.lower[cell], problem.levels.upper[cell]) == (11, 21)
    assert any("levels were rounded up" in note for note in problem.table.notes)


def test_indices_need_not_start_at_zero(path: Path) -> None:
    shifted = GOOD.replace("\n3 0 1 z", "\n30 0 1 z").replace(" 3 (1)", " 30 (1)")
    problem = read(path, shifted)
    assert problem.table.find("30") == 3
    write_jj(problem, path)
    assert "30 0 1 z" in path.read_text()


def test_a_sensitive_cell_without_levels_must_not_be_known_exactly(path: Path) -> None:
    problem = read(path, GOOD.replace("2 3 4", "0 0 0"))
    assert problem.levels.sliding[1] == problem.table.unit
    known = read(path, GOOD.replace("u 0 100 2 3 4", "u 5 5 0 0 0"))
    assert len(known.levels) == 0
    assert any("known to everyone" in note for note in known.table.notes)


def test_huge_bounds_are_no_bounds_and_marks_of_earlier_runs_are_noted(path: Path) -> None:
    problem = read(path, GOOD.replace("7 7 s 0 100", "7 7 m -1e30 1e30"))
    assert problem.outsider.upper[2] == UNBOUNDED
    assert problem.outsider.lower[2] == -UNBOUNDED
    assert any("earlier run" in note for note in problem.table.notes)


@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        ("0\n4\n", "1\n4\n", 1, "starts with 0"),
        ("0\n4\n", "0\nfour\n", 2, "number of cells"),
        ("1 5 5 u", "1 5,5 5 u", 4, "decimals with a point"),
        ("1 5 5 u", "1 nan 5 u", 4, "should be a number"),
        ("1 5 5 u", "1 5 5 q", 4, "status of cell 1 is 'q'"),
        ("2 7 7 s", "1 7 7 s", 5, "cell 1 is given again; it stands in line 4"),
        ("2 7 7 s 0 100 0 0 0\n", "2 7 7 s 0 100 0 0\n", 5, "8 fields where 9 should stand"),
        ("2 7 7 s 0 100 0 0 0\n", "2 7 7 s 0 100 0 0 0 0\n", 5, "10 fields where 9 should stand"),
        ("\n1\n0 4", "\n1\n0 5", 8, "announces 5 cells, but there are 4"),
        ("\n1\n0 4", "\n1\n0 3", 8, "announces 3 cells, but there are 4"),
        ("\n1\n0 4", "\n0\n0 4", 8, "after the last"),
        ("\n1\n0 4", "\n2\n0 4", 8, "the file ends"),
        (" 3 (1)", " 9 (1)", 8, "cell 9 is in an equation"),
        (" 3 (1)", " 3 (0.5)", 8, "coefficient of cell 3"),
        (" 3 (1)", " 3 (1e300)", 8, "coefficient of cell 3 is 1e300: .* at most 15 digits"),
        (" : ", " ", 8, "':' should follow"),
    ],
)
def test_faults_are_told_by_line(path: Path, old: str, new: str, line: int, what: str) -> None:
    assert old in GOOD
    with pytest.raises(FormatError, match=rf"case\.jj, line {line}: .*({what})"):
        read(path, GOOD.replace(old, new))


def test_an_equation_shorter_than_announced_is_told_by_its_own_line(path: Path) -> None:
    two = GOOD.replace("\n1\n0 4 :", "\n2\n0 5 :") + "0 2 : 1 (1) 1 (-1)\n"
    with pytest.raises(FormatError, match="line 8: the equation announces 5 cells, but there are 4"):
        read(path, two)


def test_tables_that_do_not_add_up_and_levels_that_cannot_be_met(path: Path) -> None:
    with pytest.raises(NotAdditiveError, match=r"(?s)case\.jj.*cell 0.*exceed the total by 1"):
        read(path, GOOD.replace("0 12 12", "0 11 12"))
    with pytest.raises(LevelsError, match=r"case\.jj.*cell 1.*lower protection level.*Lower the level"):
        read(path, GOOD.replace("2 3 4", "6 3 4"))
    with pytest.raises(FormatError, match="empty"):
        read(path, " \n")
    with pytest.raises(FormatError, match="check the path"):
        read_jj(path.with_name("none.jj"))


def test_what_is_written_reads_back_the_same(path: Path) -> None:
    table = Table.from_array([[1.25, 2.5], [3.0, 4.0]])
    sensitive = np.arange(len(table)) == table.find("1", "1")
    levels = Levels.of(sensitive, upper=np.where(sensitive, 50, 0), lower=np.where(sensitive, 25, 0))
    problem = Problem(table, levels, cost="unit", must_publish=[0])
    write_jj(problem, path)
    back = read_case(path)
    assert isinstance(back, Problem)
    assert back.table.units.tolist() == table.units.tolist()
    assert back.levels.upper.tolist() == levels.upper.tolist()
    assert back.levels.lower.tolist() == levels.lower.tolist()
    assert back.outsider.upper.tolist() == problem.outsider.upper.tolist()
    assert back.must_publish.tolist() == problem.must_publish.tolist()
    assert back.table.equations.cells.tolist() == table.equations.cells.tolist()


def test_insiders_are_not_dropped_in_silence(path: Path) -> None:
    table = Table.from_array([5, 7])
    insider = Insider("firm", np.array([1]), np.array([2]), np.array([UNBOUNDED]))
    problem = Problem(table, Levels.none(3), attackers=[Outsider.of(table), insider])
    with pytest.raises(InputError, match="for the outsider only"):
        write_jj(problem, path)
    assert not path.exists()
    write_jj(problem, path, outsider_only=True)
    assert read_jj(path).table.units.tolist() == table.units.tolist()


def counted(count: list[int] | None, holdings: list[int] | None) -> Problem:
    columns = [None if c is None else np.array(c, dtype=np.int64) for c in (count, holdings)]
    table = replace(Table.from_array([5, 7]), count=columns[0], holding_count=columns[1])
    return Problem(table, Levels.none(3))


@pytest.mark.parametrize(
    ("count", "holdings", "lines"),
    [
        ([5, 2, 3], [4, 2, 2], "5 4\n2 2\n3 2\n"),
        ([5, 2, 3], None, "5 0\n2 0\n3 0\n"),
        (None, [4, 2, 2], "0 4\n0 2\n0 2\n"),
    ],
)
def test_counts_lie_beside_the_file(
    path: Path, count: list[int] | None, holdings: list[int] | None, lines: str
) -> None:
    problem = counted(count, holdings)
    write_jj(problem, path)
    assert path.with_suffix(".frq").read_text() == lines
    table = read_jj(path).table
    for found, expected in ((table.count, count), (table.holding_count, holdings)):
        assert (None if found is None else found.tolist()) == expected


def test_without_counts_there_is_no_sidecar_and_none_of_another_table_stays(path: Path) -> None:
    write_jj(counted([5, 2, 3], None), path)
    write_jj(counted(None, None), path)
    assert list(path.parent.iterdir()) == [path]
    assert read_jj(path).table.count is None


def test_a_file_that_cannot_be_written_leaves_both_as_they_were(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_jj(counted([5, 2, 3], None), path)
    before = {file: file.read_bytes() for file in path.parent.iterdir()}
    monkeypatch.setattr("tacita.formats.jj.format_numbers", lambda units, decimals: ["é"] * len(units))
    for count in ([9, 4, 5], None):
        with pytest.raises(UnicodeEncodeError):
            write_jj(counted(count, None), path)
    assert {file: file.read_bytes() for file in path.parent.iterdir()} == before


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("4 0\n2 0\n", r"case\.frq: 2 lines for 4 cells of case\.jj.*remove the file"),
        ("4 0\n2 0\n1 0\n1\n", r"case\.frq, line 4: 1 field where 2 should stand: freq holdingfreq"),
        ("4 0\n2.5 0\n1 0\n1 0\n", r"case\.frq, line 2: freq is '2\.5'.*integer"),
        ("4 0\n2 0\n1 -1\n1 0\n", r"case\.frq, line 3: holdingfreq is '-1'.*zero or more"),
        ("4 0\n2 0\n1 0\n99999999999999999999 0\n", r"case\.frq, line 4: freq is '9+'"),
        ("", r"case\.frq: 0 lines for 4 cells"),
    ],
)
def test_faults_of_the_sidecar_are_told_by_line(path: Path, lines: str, message: str) -> None:
    path.with_suffix(".frq").write_text(lines)
    with pytest.raises(FormatError, match=message):
        read(path, GOOD)
