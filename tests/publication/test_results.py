"""Where results go: publication files only for what is safe or has a reason; the rest is internal."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tacita as tc
from tacita.core.errors import FormatError, InputError, UnsafeError
from tacita.examples import example
from tacita.formats.excel import write_excel
from tacita.formats.jj import write_jj
from tacita.formats.nchs import write_nchs, write_nchs_release
from tacita.formats.petrenko import write_thesis
from tacita.formats.table_write import write_table
from tacita.publication import release_html
from tacita.publication.release_write import ENDINGS, FORMATS, Format, is_reason
from tacita.publication.results import write_results, write_verdict
from tacita.specification.project import load_project
from tacita.specification.project_write import write_project
from tacita.specification.script import write_script

REASON = "for the training course only"


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


def test_a_safe_release_in_every_format(safe: tc.Audit, tmp_path: Path) -> None:
    formats = FORMATS
    folder = tmp_path / "new" / "out"
    written = write_results(safe, folder, formats)
    house = {"internal/release-internal.xlsx", "internal/audit.json", "internal/certificate.json"}
    house.add("internal/release-internal-sdmx.csv")
    assert files(folder) == {f"publication/release{ending}" for ending in ENDINGS.values()} | house
    assert set(written.public) == {path for path in written.paths if path.parent.name == "publication"}
    assert set(written.paths) == {folder / name for name in files(folder)}
    assert ["PS" in note for note in written.notes] == [True, True, False]
    assert "no dataflow was named" in written.notes[2]
    assert "unaudited" not in (folder / "publication" / "release.csv").read_text()


def test_what_is_not_safe_is_not_published(unsafe: tc.Audit, tmp_path: Path) -> None:
    written = write_results(unsafe, tmp_path, ("csv", "xlsx"))
    assert files(tmp_path) == {"internal/audit.json"}
    assert not (tmp_path / "publication").exists()
    assert written.paths == (tmp_path / "internal" / "audit.json",)
    assert json.loads(written.paths[0].read_text())["safe"] is False


def test_a_reason_stands_in_every_file(unsafe: tc.Audit, tmp_path: Path) -> None:
    reason = "for  the training\ncourse only"
    write_results(unsafe, tmp_path, ("csv", "html", "txt"), reason=reason)
    published = {f"publication/release.{ending}" for ending in ("csv", "html", "txt")}
    assert files(tmp_path) == published | {"internal/audit.json"}
    for name in published:
        assert "for the training course only" in (tmp_path / name).read_text(), name


@pytest.mark.parametrize("reason", ["", "  ", "because", "x y", "a b c", "          "])
def test_a_reason_is_a_few_words_wherever_it_is_given(unsafe: tc.Audit, tmp_path: Path, reason: str) -> None:
    assert not is_reason(reason)
    with pytest.raises(UnsafeError, match="in a few words why"):
        write_results(unsafe, tmp_path / "out", reason=reason)
    with pytest.raises(UnsafeError, match="in a few words why"):
        tc.write_release(unsafe.release, tmp_path / "release.csv", unaudited=reason)
    assert list(tmp_path.iterdir()) == []


def test_nothing_of_an_earlier_release_stays_beside_another(
    safe: tc.Audit, unsafe: tc.Audit, tmp_path: Path
) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    write_results(safe, tmp_path, ("csv", "xlsx", "html"))
    written = write_results(unsafe, tmp_path, ("csv",), reason=REASON)
    kept = {"notes.txt", "publication/release.csv", "internal/audit.json"}
    assert files(tmp_path) == {*kept, "internal/earlier-release.csv"}
    for gone in ("certificate.json", "release-internal.xlsx", "release.xlsx", "release.html"):
        assert gone in written.notes[0]
    assert "audit.json" not in written.notes[0]
    written = write_results(unsafe, tmp_path)
    earlier = {"internal/earlier-release.csv", "internal/earlier-release-2.csv"}
    assert files(tmp_path) == {"notes.txt", "internal/audit.json", *earlier}
    assert "is removed. Readers may have kept" in written.warnings[0]
    assert not (tmp_path / "publication").exists()
    assert "release.csv" in written.notes[0]


def test_a_verdict_replaces_the_earlier_one_and_leaves_releases_alone(
    safe: tc.Audit, unsafe: tc.Audit, tmp_path: Path
) -> None:
    write_results(safe, tmp_path, ("csv", "xlsx"))
    written = write_verdict(unsafe, tmp_path)
    house = {"internal/audit.json", "internal/release-internal.xlsx"}
    assert files(tmp_path) == {"publication/release.csv", "publication/release.xlsx"} | house
    assert "certificate.json" in written.notes[0]
    assert json.loads((tmp_path / "internal" / "audit.json").read_text())["safe"] is False


def test_a_format_that_fails_leaves_the_earlier_release_with_its_verdict(
    safe: tc.Audit, unsafe: tc.Audit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_results(safe, tmp_path, ("csv", "html"))
    before = {name: (tmp_path / name).read_bytes() for name in files(tmp_path)}
    monkeypatch.setattr(release_html, "MOST_CELLS", 3)
    with pytest.raises(InputError, match="a page shows at most 3 cells") as told:
        write_results(unsafe, tmp_path, ("csv", "html"), reason=REASON)
    assert str(told.value).startswith(f"{tmp_path / 'publication' / 'release.html'}:")
    assert {name: (tmp_path / name).read_bytes() for name in files(tmp_path)} == before
    assert {path.name for path in tmp_path.iterdir()} == {"publication", "internal"}


@pytest.mark.parametrize(
    "name", ["publication/release.csv", "internal/audit.json", "internal/certificate.json"]
)
def test_what_stands_in_the_way_leaves_all_as_it_was(safe: tc.Audit, tmp_path: Path, name: str) -> None:
    write_results(safe, tmp_path)
    (tmp_path / name).unlink()
    (tmp_path / name).mkdir()
    before = {name: (tmp_path / name).read_bytes() for name in files(tmp_path)}
    with pytest.raises(InputError, match="is a folder, where a result is to be: move it") as told:
        write_results(safe, tmp_path)
    assert str(told.value).startswith(str(tmp_path / name))
    assert {name: (tmp_path / name).read_bytes() for name in files(tmp_path)} == before


@pytest.mark.parametrize("last", ["audit.json", "certificate.json", "release.csv"])
def test_a_release_is_never_there_without_its_verdict(
    safe: tc.Audit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last: str
) -> None:
    """Whatever fails while files take their places: all are there, or none."""
    replace = os.replace

    def failing(source: Path, target: Path) -> None:
        if Path(target).parent.parent == tmp_path and Path(target).name == last:
            raise OSError(28, "No space left on device")
        if Path(target) == tmp_path / "publication" / "release.csv":
            assert (tmp_path / "internal" / "certificate.json").exists()
        replace(source, target)

    def unable(*_: Path) -> None:
        raise OSError(38, "Function not implemented")

    (tmp_path / "publication").mkdir()
    monkeypatch.setattr("tacita.storage.switch.os.replace", failing)
    monkeypatch.setattr("tacita.storage.exchange.exchange", unable)
    with pytest.raises(InputError, match=rf"{last}: cannot be written \(No space left") as told:
        write_results(safe, tmp_path)
    assert ".tacita" not in str(told.value)
    assert files(tmp_path) == set()


def test_a_publication_that_holds_a_house_gets_no_release(safe: tc.Audit, tmp_path: Path) -> None:
    (tmp_path / "publication" / "2024" / "internal").mkdir(parents=True)
    with pytest.raises(InputError, match=r"2024.internal: what is internal lies inside"):
        write_results(safe, tmp_path)
    assert files(tmp_path) == set()


@pytest.mark.parametrize("ending", FORMATS)
def test_a_release_may_be_written_to_a_publication_by_hand(
    safe: tc.Audit, tmp_path: Path, ending: Format
) -> None:
    (tmp_path / "publication").mkdir()
    file = tmp_path / "publication" / f"r{ENDINGS[ending]}"
    assert tc.write_release(safe.release, file, audit=safe, format=ending).is_file()


@pytest.mark.parametrize(
    "write",
    [
        lambda problem, folder: write_table(problem.table, folder / "t.csv", problem),
        lambda problem, folder: write_table(problem.table, folder / "t.xlsx", problem),
        lambda problem, folder: write_table(problem.table, folder / "t.parquet", problem),
        lambda problem, folder: write_jj(problem, folder / "t.jj"),
        lambda problem, folder: write_nchs(problem.table, folder / "t.txt"),
        lambda problem, folder: write_thesis(problem, folder),
        lambda problem, folder: write_project(problem, folder, method="suppression"),
        lambda problem, folder: write_script(folder, method="suppression"),
        lambda problem, folder: write_nchs_release(
            tc.Release.suppress(problem.table, problem.sensitive), folder / "t.txt", internal=problem.table
        ),
        lambda problem, folder: write_excel(
            tc.Release.suppress(problem.table, problem.sensitive), folder / "t.xlsx", internal=True
        ),
    ],
)
def test_no_writer_of_the_house_writes_into_a_publication(
    tmp_path: Path, write: Callable[[tc.Problem, Path], object]
) -> None:
    folder = tmp_path / "publication" / "2024"
    folder.mkdir(parents=True)
    (tmp_path / "internal").mkdir()
    with pytest.raises(InputError, match="would lie inside a folder called 'publication'"):
        write(example("nchs"), folder)
    assert list(folder.iterdir()) == []
    write(example("nchs"), tmp_path)


def test_a_project_asks_for_the_formats_that_there_are(tmp_path: Path) -> None:
    project = tmp_path / "project.toml"
    project.write_text(f'[table]\nfile = "t.csv"\n[output]\nformats = {json.dumps(FORMATS)}\n')
    assert load_project(project).output.formats == FORMATS
    project.write_text('[table]\nfile = "t.csv"\n[output]\nformats = ["pdf"]\n')
    with pytest.raises(FormatError, match=r"line 4: output\.formats.*tsv"):
        load_project(project)


def test_a_safe_release_carries_no_reason(safe: tc.Audit, tmp_path: Path) -> None:
    write_results(safe, tmp_path, reason="no reason is needed here")
    assert "reason" not in (tmp_path / "publication" / "release.csv").read_text()


def test_unknown_formats_are_refused_before_anything_is_written(safe: tc.Audit, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'pdf': choose among csv, .*html"):
        write_results(safe, tmp_path / "out", ("csv", "pdf"))
    assert not (tmp_path / "out").exists()


def test_numbers_that_json_does_not_know(tmp_path: Path) -> None:
    problem = example("salazar")
    release = tc.Release.suppress(problem.table, np.arange(16), made_by={"method": "hand", "limit": np.inf})
    written = write_results(tc.audit(problem, release), tmp_path)
    record = json.loads((tmp_path / "internal" / "audit.json").read_text(), parse_constant=pytest.fail)
    assert record["made_by"]["limit"] is None
    assert written.paths[0] == tmp_path / "publication" / "release.csv"


def test_a_title_that_holds_a_hidden_value_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    rows = [
        "North and a: 3145,,,",
        "region,a,b,c",
        "North,3145,812,777",
        "South,421,936,655",
        "West,598,371,864",
    ]
    path.write_text("\n".join(rows))
    table = tc.read_case(path)
    assert isinstance(table, tc.Table)
    assert table.title == "North and a: 3145"
    problem = tc.Problem(table, tc.Marked([table.find("North", "a")]))
    audit = tc.audit(problem, tc.Suppression().protect(problem))
    assert audit.safe
    written = write_results(audit, tmp_path / "out", ["html", "csv"], title=table.title)
    assert written.warnings == ("the title is left out: it holds the value of a hidden cell",)
    assert all("3145" not in file.read_text() for file in written.public)
    again = write_results(audit, tmp_path / "again", ["html"], title="Sales by region")
    assert "Sales by region" in again.public[0].read_text()
    assert again.warnings == ()
