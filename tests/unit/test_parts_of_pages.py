"""Parts of pages, without a browser: what they answer when they are asked by themselves."""

from __future__ import annotations

from pathlib import Path

import pytest
from nicegui import ui

from tacita.app.screens.export.places import PlaceField
from tacita.app.work.opening import case_from_path
from tacita.errors import InputError


def test_the_folder_of_a_user_whom_nobody_knows_is_refused_in_the_same_words_wherever_it_is_typed(
    tmp_path: Path,
) -> None:
    typed = "~nobody-is-called-so/table.csv"
    with ui.element():
        field = PlaceField(tmp_path / "new", lambda: None, "place")
        assert field.ready
        field._field.set_value(typed)
    assert not field.ready
    with pytest.raises(InputError, match="no such user") as writing:
        _ = field.path
    with pytest.raises(InputError, match="no such user") as reading:
        case_from_path(typed)
    assert str(writing.value) == str(reading.value)
