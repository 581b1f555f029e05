"""The folders of results: what is found in them, and that the house is never inside the publication."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacita.core.errors import InputError
from tacita.publication.folders import find_certificate, find_release, note_releases_outside, refuse_mixed
from tacita.storage.file_set import open_file_set
from tacita.storage.internal import refuse_published


def made(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("content")
    return path


@pytest.mark.parametrize("place", ["release.csv", "publication/release.csv"])
def test_a_release_is_found_in_a_folder_or_its_publication(tmp_path: Path, place: str) -> None:
    file = made(tmp_path / place)
    assert find_release(tmp_path) == file
    assert find_release(file.parent) == file


def test_no_release_is_taken_from_the_house_and_none_of_two(tmp_path: Path) -> None:
    made(tmp_path / "internal" / "release.csv")
    with pytest.raises(InputError, match=r"holds no release\.csv, nor does publication in it: name the file"):
        find_release(tmp_path)
    made(tmp_path / "release.csv")
    made(tmp_path / "publication" / "release.csv")
    with pytest.raises(InputError, match=r"two releases, .*publication.release\.csv and .*: name the file"):
        find_release(tmp_path)


@pytest.mark.parametrize("given", [".", "internal", "publication"])
def test_a_certificate_is_found_by_any_folder_of_the_results(
    tmp_path: Path, given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = made(tmp_path / "internal" / "certificate.json")
    (tmp_path / "publication").mkdir()
    assert find_certificate(tmp_path / given).samefile(file)
    monkeypatch.chdir(tmp_path / given)
    assert find_certificate(Path()).samefile(file)


def test_a_certificate_is_not_taken_from_beside_any_other_folder(tmp_path: Path) -> None:
    made(tmp_path / "internal" / "certificate.json")
    (tmp_path / "elsewhere").mkdir()
    with pytest.raises(InputError, match=r"holds no certificate\.json"):
        find_certificate(tmp_path / "elsewhere")


def test_a_certificate_is_found_by_a_link_to_the_publication(tmp_path: Path) -> None:
    file = made(tmp_path / "out" / "internal" / "certificate.json")
    published = tmp_path / "out" / "publication"
    published.mkdir()
    (tmp_path / "alias").symlink_to(published)
    assert find_certificate(tmp_path / "alias").samefile(file)
    published.rmdir()
    (tmp_path / "site").mkdir()
    published.symlink_to(tmp_path / "site")
    assert find_certificate(published).samefile(file)


def test_the_house_goes_neither_into_a_publication_nor_anywhere_inside_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    published = tmp_path / "publication"
    deep = published / "2024" / "out"
    inside = "would lie inside a folder called 'publication': choose"
    for place in (published, tmp_path / "Publication", deep / ".." / ".." / "again", published / "t.csv"):
        with pytest.raises(InputError, match=inside):
            refuse_published(place)
    # A folder of that name that no results were written to: all work of an office may be in it.
    refuse_published(deep)
    made(published / "release.csv")
    with pytest.raises(InputError, match=inside):
        refuse_published(deep)
    (published / "release.csv").unlink()
    (tmp_path / "internal").mkdir()
    with pytest.raises(InputError, match=inside):
        refuse_published(deep)
    monkeypatch.chdir(published)
    with pytest.raises(InputError, match="would lie inside"):
        refuse_published(Path())
    refuse_published(tmp_path)
    refuse_published(published / "..")
    refuse_published(tmp_path / "internal" / "again")
    refuse_published(tmp_path / "publication.csv")


def test_links_do_not_lead_the_house_into_a_publication(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    for name, place in (("one", "publication"), ("two", "internal"), ("three", "publication")):
        (tmp_path / name).mkdir()
        (tmp_path / name / place).symlink_to(site)
    with pytest.raises(InputError, match="would lie inside"):
        refuse_published(tmp_path / "one" / "publication" / "t.csv")
    refuse_mixed(tmp_path / "one")
    (tmp_path / "two" / "publication").mkdir()
    refuse_mixed(tmp_path / "two")
    (tmp_path / "three" / "internal").symlink_to(site / "house")
    (site / "house").mkdir()
    with pytest.raises(InputError, match=r"three.internal leads into .*three.publication"):
        refuse_mixed(tmp_path / "three")
    (tmp_path / "four" / "publication").mkdir(parents=True)
    (tmp_path / "four" / "internal").symlink_to(tmp_path / "four" / "publication")
    with pytest.raises(InputError, match="would lie inside a folder called 'publication'"):
        refuse_mixed(tmp_path / "four")


def test_a_publication_that_holds_a_house_takes_no_results(tmp_path: Path) -> None:
    made(tmp_path / "publication" / "2024" / "internal" / "certificate.json")
    with pytest.raises(InputError, match=r"2024.internal: what is internal lies inside .*: move it"):
        refuse_mixed(tmp_path)


@pytest.mark.parametrize("name", ["out", "out/publication", "out/internal"])
def test_results_need_folders(tmp_path: Path, name: str) -> None:
    made(tmp_path / name)
    with pytest.raises(InputError, match=f"{name.replace('/', '.')}: this is no folder, and results"):
        refuse_mixed(tmp_path / "out")


def test_releases_beside_the_publication_are_told(tmp_path: Path) -> None:
    made(tmp_path / "publication" / "release.csv")
    made(tmp_path / "table.csv")
    assert note_releases_outside(tmp_path) == ()
    there = [made(tmp_path / name) for name in ("release.csv", "release.html")]
    (note,) = note_releases_outside(tmp_path)
    assert all(str(path) in note for path in there)


def test_a_draft_leaves_no_empty_folder_of_its_own(tmp_path: Path) -> None:
    with open_file_set(tmp_path / "new"):
        pass
    assert not (tmp_path / "new").exists()
    with pytest.raises(InputError), open_file_set(tmp_path / "new"):
        raise InputError("nothing came of it")
    assert not (tmp_path / "new").exists()
    (tmp_path / "mine").mkdir()
    with open_file_set(tmp_path / "mine"):
        pass
    assert (tmp_path / "mine").exists()
    with open_file_set(tmp_path / "new") as files:
        made(files.make_folder() / "file.txt")
        assert files.move_into_place() == (tmp_path / "new" / "file.txt",)
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["file.txt"]


def test_files_take_their_places_together_or_not_at_all(tmp_path: Path) -> None:
    old, other = made(tmp_path / "a.txt"), made(tmp_path / "leaving.txt")
    old.write_text("old")
    made(tmp_path / "b.txt" / "mine")
    with open_file_set(tmp_path) as files:
        for name in ("a.txt", "b.txt"):
            made(files.make_folder() / name)
        with pytest.raises(InputError, match=r"b\.txt: cannot be written") as told:
            files.move_into_place(leaving=[other])
    assert ".tacita" not in str(told.value)
    assert {path.name for path in tmp_path.iterdir()} == {"a.txt", "b.txt", "leaving.txt"}
    assert old.read_text() == "old"


def test_a_draft_of_the_house_is_refused_where_things_are_published(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="would lie inside"), open_file_set(tmp_path / "publication"):
        pass
    assert list(tmp_path.iterdir()) == []
    file = made(tmp_path / "file.txt")
    with pytest.raises(InputError, match=r"file\.txt: cannot be written"), open_file_set(file):
        pass
