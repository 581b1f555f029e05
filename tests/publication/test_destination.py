"""A file is a file: results beside a named file, its formats, its internal folder, what runs remove."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import tacita as tc
from tacita.cli import main
from tacita.core.errors import InputError, SpecificationError
from tacita.examples import example
from tacita.publication.destination import Destination, find_destination
from tacita.publication.folders import find_certificate, find_release
from tacita.publication.results import write_results
from tacita.specification.sections import Output

INTERNAL = {"audit.json", "certificate.json", "published-files.txt", "release.csv"}


@pytest.fixture(scope="module")
def safe() -> tc.Audit:
    problem = example("nchs")
    return tc.audit(problem, tc.Suppression().protect(problem))


@pytest.fixture(scope="module")
def unsafe() -> tc.Audit:
    problem = example("nchs")
    return tc.audit(problem, tc.Release.suppress(problem.table, problem.sensitive))


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_a_named_file_is_written_with_internal_files_beside_it(safe: tc.Audit, tmp_path: Path) -> None:
    written = write_results(safe, tmp_path / "safe.xlsx", ("html", "crosstab"))
    inside = INTERNAL | {"release-internal.xlsx"}
    public = {"safe.xlsx", "safe.html", "safe-crosstab.csv"}
    assert files(tmp_path) == public | {f"safe.internal/{name}" for name in inside}
    assert {path.name for path in written.public} == public
    # The record is the release that the certificate is of.
    assert find_release(tmp_path / "safe.internal").name == "release.csv"
    assert find_certificate(tmp_path / "safe.internal").is_file()
    read = tc.read_release(tmp_path / "safe.internal" / "release.csv", safe.problem.table)
    assert (read.marks == safe.release.marks).all()


def test_a_csv_is_the_crosstab_where_that_alone_is_wanted() -> None:
    place = find_destination(Path("a/safe.csv"))
    assert place == Destination(Path("a"), "safe.csv")
    assert place.plan() == {"csv": "safe.csv"}
    assert place.plan(("crosstab",)) == {"crosstab": "safe.csv"}
    assert place.plan(("crosstab", "csv")) == {"csv": "safe.csv", "crosstab": "safe-crosstab.csv"}
    assert find_destination(Path("a/V1.2")) == Destination(Path("a/V1.2"))
    assert Destination(Path("a")).plan(("csv", "crosstab")) == {
        "csv": "release.csv",
        "crosstab": "release-crosstab.csv",
    }


@pytest.mark.parametrize("name", ["safe.xls", "safe.ods", "safe.json", "safe.PDF"])
def test_no_folder_is_called_like_a_file(name: str) -> None:
    with pytest.raises(InputError, match=r"no release is written as .*use one of \.csv, \.parquet, \.xlsx"):
        find_destination(Path(name))


def test_a_next_run_removes_what_the_last_one_published_and_nothing_else(
    safe: tc.Audit, unsafe: tc.Audit, tmp_path: Path
) -> None:
    (tmp_path / "safe.parquet").write_text("somebody's own")
    write_results(safe, tmp_path / "safe.csv", ("html",))
    again = write_results(safe, tmp_path / "safe.csv")
    assert {"safe.csv", "safe.parquet"} <= files(tmp_path)
    assert "safe.html" not in files(tmp_path)
    assert any("safe.html" in note for note in again.notes)
    gone = write_results(unsafe, tmp_path / "safe.csv")
    assert gone.public == ()
    assert files(tmp_path) == {
        "safe.parquet",
        "safe.internal/audit.json",
        "safe.internal/earlier-release.csv",
    }
    assert "was a release of this table" in gone.warnings[0]


def test_an_unsafe_release_removes_no_file_that_is_somebodys_own(unsafe: tc.Audit, tmp_path: Path) -> None:
    (tmp_path / "safe.csv").write_text("somebody's own")
    write_results(unsafe, tmp_path / "safe.csv")
    assert (tmp_path / "safe.csv").read_text() == "somebody's own"


def test_noted_names_lead_nowhere_else(safe: tc.Audit, tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text("x")
    write_results(safe, tmp_path / "safe.csv")
    (tmp_path / "safe.internal" / "published-files.txt").write_text("other.csv\n../up.csv\n")
    write_results(safe, tmp_path / "safe.csv")
    assert (tmp_path / "other.csv").is_file()


def test_what_is_internal_never_lies_in_a_publication(safe: tc.Audit, tmp_path: Path) -> None:
    (tmp_path / "publication").mkdir()
    with pytest.raises(InputError, match="what is internal would lie inside"):
        write_results(safe, tmp_path / "publication" / "safe.csv")
    (tmp_path / "safe.csv").mkdir()
    with pytest.raises(InputError, match="this is a folder, where a result is to be"):
        write_results(safe, tmp_path / "safe.csv")


def test_the_output_of_a_project_may_be_a_file() -> None:
    assert Output(file="safe.xlsx", mark="c", formats=("html",)).mark == "c"
    for wrong in ({"folder": "out", "file": "a.csv"}, {"file": "out"}, {"mark": "3"}, {"mark": "-"}):
        with pytest.raises(SpecificationError):
            Output(**wrong)  # type: ignore[arg-type]


CELLS = "region,size,value\n" + "".join(
    f"{region},{size},{value}\n"
    for region, values in {"B": (20, 4, 9), "A": (30, 12, 3)}.items()
    for size, value in zip(("under 10", "10 to 49", "from 50"), values, strict=True)
)


@pytest.fixture
def protect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str]]:
    """Protect the file of cells in a folder of its own; return exit code and messages."""
    monkeypatch.chdir(tmp_path)
    Path("firms.csv").write_text(CELLS)

    def run(*flags: str) -> tuple[int, str]:
        code = main(["protect", "firms.csv", "--counts", "--rules", "frequency(5)", *flags])
        return code, " ".join(capsys.readouterr().err.split())

    return run


def test_a_command_writes_a_file_in_the_office_s_own_marks(
    tmp_path: Path, protect: Callable[..., tuple[int, str]]
) -> None:
    code, said = protect("--out", "safe.csv", "--format", "crosstab", "--mark", ":", "--title", "Firms")
    assert code == 0, said
    # Codes stand in the order of the input.
    assert Path("safe.csv").read_text().splitlines() == [
        "Firms",
        "region,under 10,10 to 49,from 50,Total",
        "B,20,:,:,33",
        "A,30,:,:,45",
        "Total,50,16,12,78",
    ]
    assert files(tmp_path) == {"firms.csv", "safe.csv", *(f"safe.internal/{name}" for name in INTERNAL)}
    assert "safe.internal" in said


def test_a_file_never_takes_the_place_of_an_input(protect: Callable[..., tuple[int, str]]) -> None:
    for more in (["--out", "firms.csv"], ["--out", "firms.xlsx", "--format", "csv"]):
        code, said = protect(*more)
        assert code == 1
        assert "which would take its place" in said
    assert Path("firms.csv").read_text() == CELLS
    code, said = protect("--out", "out", "--mark", "-")
    assert code == 1
    assert "how many offices write zero" in said
