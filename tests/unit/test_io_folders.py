"""The folders of results: what is found in them, and that the house is never inside the publication."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacita.errors import InputError
from tacita.io.drafts import draft_in, moved
from tacita.io.folders import certificate_in, refuse_published, release_in, releases_outside


def made(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("content")
    return path


@pytest.mark.parametrize("place", ["release.csv", "publication/release.csv"])
def test_a_release_is_found_in_a_folder_or_its_publication(tmp_path: Path, place: str) -> None:
    file = made(tmp_path / place)
    assert release_in(tmp_path) == file
    assert release_in(file.parent) == file


def test_no_release_is_taken_from_the_house_and_none_of_two(tmp_path: Path) -> None:
    made(tmp_path / "internal" / "release.csv")
    with pytest.raises(InputError, match=r"holds no release\.csv, nor does publication in it: name the file"):
        release_in(tmp_path)
    made(tmp_path / "release.csv")
    made(tmp_path / "publication" / "release.csv")
    with pytest.raises(InputError, match=r"two releases, .*publication.release\.csv and .*: name the file"):
        release_in(tmp_path)


@pytest.mark.parametrize("given", [".", "internal", "publication"])
def test_a_certificate_is_found_by_any_folder_of_the_results(
    tmp_path: Path, given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = made(tmp_path / "internal" / "certificate.json")
    (tmp_path / "publication").mkdir()
    assert certificate_in(tmp_path / given).samefile(file)
    monkeypatch.chdir(tmp_path / given)
    assert certificate_in(Path()).samefile(file)


def test_a_certificate_is_not_taken_from_beside_any_other_folder(tmp_path: Path) -> None:
    made(tmp_path / "internal" / "certificate.json")
    (tmp_path / "elsewhere").mkdir()
    with pytest.raises(InputError, match=r"holds no certificate\.json"):
        certificate_in(tmp_path / "elsewhere")


def test_results_go_neither_into_a_publication_nor_anywhere_inside_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    published = tmp_path / "publication"
    deep = published / "2024" / "out"
    refuse_published(deep)  # a folder of that name alone, without results beside it
    (tmp_path / "internal").mkdir()
    for folder in (published, tmp_path / "Publication", deep, deep / ".." / "again"):
        with pytest.raises(InputError, match="would lie inside a folder called 'publication': choose"):
            refuse_published(folder)
    published.mkdir()
    monkeypatch.chdir(published)
    with pytest.raises(InputError, match="would lie inside"):
        refuse_published(Path())
    refuse_published(tmp_path)
    refuse_published(published / "..")
    refuse_published(tmp_path / "internal" / "again")


def test_releases_beside_the_publication_are_told(tmp_path: Path) -> None:
    made(tmp_path / "publication" / "release.csv")
    made(tmp_path / "table.csv")
    assert releases_outside(tmp_path) == ()
    there = [made(tmp_path / name) for name in ("release.csv", "release.html")]
    (note,) = releases_outside(tmp_path)
    assert all(str(path) in note for path in there)


def test_a_draft_leaves_no_empty_folder_of_its_own(tmp_path: Path) -> None:
    with draft_in(tmp_path / "new"):
        pass
    assert not (tmp_path / "new").exists()
    with pytest.raises(InputError), draft_in(tmp_path / "new"):
        raise InputError("nothing came of it")
    assert not (tmp_path / "new").exists()
    (tmp_path / "mine").mkdir()
    with draft_in(tmp_path / "mine"):
        pass
    assert (tmp_path / "mine").exists()
    with draft_in(tmp_path / "new") as draft:
        moved([made(draft / "file.txt")], tmp_path / "new")
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["file.txt"]
