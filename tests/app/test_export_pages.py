"""What the pages with files say and leave behind, without a browser."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from nicegui import app, ui
from starlette.responses import FileResponse

import tacita as tc
from tacita.app.controls.downloads import make_download_path, offer_download
from tacita.app.screens.export.file_list import ABOUT, INTERNAL_FILES, PUBLICATION_FILES, FileList, sort_files
from tacita.app.screens.result import certificate_panel
from tacita.app.work.workspace import Workspace
from tacita.core.levels import Levels
from tacita.publication.release_write import FORMATS

TITLES = ("For publication, in publication", "Internal, never to be published, in internal")


@pytest.fixture
def workspace() -> Iterator[Workspace]:
    made = Workspace()
    yield made
    made.close()


def texts(place: ui.element) -> str:
    return "\n".join(e.text for e in place.descendants() if isinstance(e, ui.label | ui.button))


def test_every_format_of_a_release_can_be_chosen() -> None:
    assert set(ABOUT) == set(FORMATS)


def test_files_for_publication_come_first_and_internal_ones_say_what_they_tell() -> None:
    with ui.element() as place:
        files = FileList(("xlsx",), ("txt", "tsv"), INTERNAL_FILES, lambda: None)
    told = [e.text for e in place.descendants() if isinstance(e, ui.label | ui.checkbox)]
    published, internal = (told.index(f"{title}/") for title in TITLES)
    assert told[published + 1] == "release.xlsx"
    assert told[published + 2].startswith("the protected table")
    assert told[published + 3] == "for publication"
    assert max(told.index(file.name) for file in PUBLICATION_FILES) < internal
    assert min(told.index(file.name) for file in INTERNAL_FILES) > internal
    assert all(text.startswith("internal: ") for text in told[internal + 3 :: 3])
    assert files.formats == ("xlsx",)


def test_files_that_were_written_are_listed_in_the_order_of_the_page() -> None:
    names = (
        "internal/audit.json",
        "publication/release.csv",
        "internal/other.csv",
        "publication/release.xlsx",
    )
    found = [path.as_posix() for path in sort_files(map(Path, names))]
    assert found == [names[3], names[1], names[0], names[2]]


def test_no_certificate_of_nothing_is_shown(workspace: Workspace) -> None:
    table = tc.Table.from_array([[1, 2], [3, 4]])
    problem = tc.Problem(table, Levels.none(len(table)))
    with ui.element() as place:
        certificate_panel.build(workspace, tc.audit(problem, tc.Release.suppress(table, np.arange(0))))
    assert "Nothing was sensitive, so nothing was proven" in texts(place)
    assert "✔" not in texts(place)
    assert "Check it" not in texts(place)


def test_a_file_that_was_fetched_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offered: list[str] = []
    monkeypatch.setattr(ui.download, "from_url", lambda address, name: offered.append(address))
    file = make_download_path(tmp_path)
    file.write_text("true values")
    with ui.element():
        offer_download(file, "internal.zip")
    (route,) = [route for route in app.routes if getattr(route, "path", None) == offered[0]]
    response = route.endpoint()
    assert isinstance(response, FileResponse)
    assert file.exists()
    assert response.background is not None
    asyncio.run(response.background())
    assert list(tmp_path.iterdir()) == []
    assert offered[0] not in [getattr(route, "path", None) for route in app.routes]


def test_a_file_that_nobody_fetched_goes_with_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ui.download, "from_url", lambda address, name: None)
    file = make_download_path(tmp_path)
    file.write_text("true values")
    with ui.element() as place:
        offer_download(file, "internal.zip")
    asyncio.run(place.client.delete_handlers[-1]())
    assert list(tmp_path.iterdir()) == []
