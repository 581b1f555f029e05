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
from tacita.app.screens.export.publish_panel import ABOUT
from tacita.app.screens.result import certificate_panel
from tacita.app.work.workspace import Workspace
from tacita.core.levels import Levels
from tacita.publication.release_write import FORMATS


@pytest.fixture
def workspace() -> Iterator[Workspace]:
    made = Workspace()
    yield made
    made.close()


def texts(place: ui.element) -> str:
    return "\n".join(e.text for e in place.descendants() if isinstance(e, ui.label | ui.button))


def test_every_format_of_a_release_can_be_chosen() -> None:
    assert set(ABOUT) == set(FORMATS)


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
