"""The seed of a draw is a secret: drawn from the system, kept inside, and one draw is published, not many."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import numpy as np
import pytest

import tacita as tc
from tacita.app.work.open_case import open_case
from tacita.app.work.workspace import Workspace
from tacita.cli import main
from tacita.core.errors import TacitaWarning
from tacita.core.run import GUESSABLE, draw_seed
from tacita.formats.table_write import write_table
from tacita.methods import make_method
from tacita.publication.release_write import FORMATS
from tacita.publication.results import write_results
from tacita.specification.script import write_script

DRAWING = {
    "unbiased-rounding": {"base": 20},
    "random-rounding": {"base": 20, "candidates": 1, "protected": False},
    "perturbation": {},
    "adjustment": {},
    "mixture": {"parts": "rest: perturbation"},
}
"""Methods that draw numbers at random, with options for the table below."""


def problem(level: int = 4) -> tc.Problem:
    values = np.random.default_rng(3).integers(60, 400, (5, 5))
    cells = [("1", "1"), ("2", "4"), ("4", "2")]
    return tc.Problem(tc.Table.from_array(values, counts=True), tc.Marked(cells, lower=level, upper=level))


def released(name: str, run: tc.Run | None = None) -> tc.Release:
    return make_method(name, DRAWING[name]).protect(problem(), run)


def test_seeds_are_drawn_from_the_system() -> None:
    seeds = {tc.Run().seed for _ in range(20)} | {draw_seed() for _ in range(20)}
    assert len(seeds) == 40
    assert all(GUESSABLE <= seed < 2**63 for seed in seeds)


@pytest.mark.parametrize("name", DRAWING)
def test_no_publication_file_carries_the_seed(name: str, tmp_path: Path) -> None:
    # A number that stands in no table by chance.
    release = released(name, tc.Run(seed=7_305_194_862_570_143))
    found = tc.audit(problem(), release)
    formats = [ending for ending in FORMATS if ending not in ("txt", "tsv")]
    write_results(found, tmp_path, formats, reason="a test of what files carry")
    files = [path for path in (tmp_path / "publication").rglob("*") if path.is_file()]
    assert len(files) == len(formats)
    for path in files:
        content = path.read_bytes()
        if path.suffix == ".xlsx":
            with zipfile.ZipFile(path) as book:
                content = b"".join(book.read(part) for part in book.namelist())
        assert b"7305194862570143" not in content.replace(b",", b"").replace(b" ", b""), path.name
        assert b"seed" not in content.lower(), path.name
    record = json.loads((tmp_path / "internal" / "audit.json").read_text())
    assert record["made_by"]["seed"] == 7_305_194_862_570_143


def test_deterministic_methods_carry_no_seed_and_repeat_without_one() -> None:
    for method in (
        tc.Suppression(),
        tc.Intervals(ends="exact"),
        tc.Rounding(base=20),
        tc.Adjustment(distance="exact"),
    ):
        one, other = (method.protect(problem()) for _ in range(2))
        assert "seed" not in one.made_by
        assert np.array_equal(one.low, other.low)


@pytest.fixture
def case(tmp_path: Path) -> Path:
    # Levels so large that two draws are hardly ever the same.
    return write_table(problem(50).table, tmp_path / "table.csv", problem(50))


def protect(case: Path, to: Path, capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, str]:
    """The seed that a run used, and what it said."""
    capsys.readouterr()
    assert main(["protect", str(case), "--method", "adjustment", "--out", str(to), *more]) == 0
    said = capsys.readouterr()
    record = json.loads((to / "internal" / "audit.json").read_text())
    return record["made_by"]["seed"], " ".join((said.out + said.err).split())


def test_commands_draw_a_seed_and_repeat_what_it_gave(case: Path, tmp_path: Path, capsys) -> None:
    seed, said = protect(case, tmp_path / "one", capsys)
    assert seed >= GUESSABLE
    assert str(seed) not in said
    assert protect(case, tmp_path / "two", capsys, "--seed", str(seed))[0] == seed
    assert protect(case, tmp_path / "three", capsys)[0] != seed
    one, two, three = (
        (tmp_path / name / "publication" / "release.csv").read_bytes() for name in ("one", "two", "three")
    )
    assert one == two
    assert one != three


def test_a_second_draw_in_the_same_folder_is_warned_of(case: Path, tmp_path: Path, capsys) -> None:
    seed, said = protect(case, tmp_path, capsys)
    assert "average out" not in said
    assert "average out" not in protect(case, tmp_path, capsys, "--seed", str(seed))[1]
    assert "average out" in protect(case, tmp_path, capsys)[1]


def test_a_second_draw_over_a_file_is_warned_of_in_python(tmp_path: Path) -> None:
    seed, path = draw_seed(), tmp_path / "release.csv"
    draws = (tc.Adjustment().protect(problem(), tc.Run(seed=seed + n)) for n in count(1))
    one, same = (tc.Adjustment().protect(problem(), tc.Run(seed=seed)) for _ in range(2))
    other = next(draw for draw in draws if (draw.low != one.low).any())
    for release in (one, same):
        release.write(path, audit=tc.audit(problem(), release))
    with pytest.warns(TacitaWarning, match="average out"):
        other.write(path, audit=tc.audit(problem(), other))


def test_many_draws_do_average_out() -> None:
    """What the warning is about: the mean of 24 draws is nearer to the truth than a level."""
    asked = problem()
    draws = [
        tc.UnbiasedRounding(base=20, protected=False).protect(asked, tc.Run(seed=2**40 + k)).value
        for k in range(24)
    ]
    near = np.abs(np.mean(draws, axis=0) - asked.table.units)[asked.sensitive]
    assert (near < 4).all()


@pytest.fixture
def workspace() -> Iterator[Workspace]:
    made = Workspace()
    made.change(open_case(problem(), "case"))
    yield made
    made.close()


def test_the_app_draws_a_seed_and_counts_draws_of_one_table(workspace: Workspace, tmp_path: Path) -> None:
    jobs = [workspace.start("adjustment", {}) for _ in range(3)]
    fixed = workspace.start("suppression", {})
    workspace._threads.shutdown(wait=True)
    assert all(job.state.over for job in (*jobs, fixed))
    assert [workspace.count_other_draws(job) for job in (*jobs, fixed)] == [2, 2, 2, 0]
    assert len({job.used_seed for job in jobs}) == 3
    # The form stays empty, so that the next run draws anew; what repeats this one has its seed.
    assert jobs[0].request["seed"] is None
    assert jobs[0].repetition["seed"] == jobs[0].used_seed >= GUESSABLE
    assert fixed.repetition["seed"] is None
    script = write_script(tmp_path, **jobs[0].repetition).read_text()
    assert f"seed={jobs[0].used_seed}" in script
