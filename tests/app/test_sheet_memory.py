"""A table of true values does not outlive the page that showed it."""

from __future__ import annotations

import gc
import weakref

import numpy as np
from nicegui import Client
from nicegui.page import page

from tacita.app.sheet import Content, Sheet
from tacita.core.tables.layout import Line


def test_a_sheet_goes_with_its_page() -> None:
    line = Line("a", 0, -1, True)
    visited = Client(page("/nowhere"), request=None)
    with visited:
        known = weakref.ref(Sheet(Content([line], [line], [["1"]], np.zeros((1, 1), dtype=np.uint16))))
    assert known() is not None
    visited.delete()
    del visited
    gc.collect()
    assert known() is None
