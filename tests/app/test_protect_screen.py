"""The bench of the screen Protect, without a browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from nicegui import ui

from tacita.app.screens.protect.screen import ProtectScreen
from tacita.app.work.open_case import open_case
from tacita.app.work.workspace import Workspace
from tacita.examples import example
from tacita.specification.sections import Output, Protection


@pytest.fixture
def workspace() -> Iterator[Workspace]:
    made = Workspace()
    made.change(open_case(example("salazar"), "salazar"))
    yield made
    made.close()


def field(page: ui.element, name: str) -> ui.input:
    found = next(part for part in page.descendants() if part.props.get("data-testid") == name)
    assert isinstance(found, ui.input)
    return found


def test_the_form_begins_as_the_last_run_had_it_and_nothing_fails_on_the_way(
    workspace: Workspace, caplog: pytest.LogCaptureFixture
) -> None:
    workspace.start("rounding", {"base": 12}, time_limit=7.5, gap=0.05, seed=3)
    with ui.element() as page:
        ProtectScreen(workspace)
    shown = {name: field(page, name).value for name in ("time-limit", "gap", "seed", "option-base")}
    assert shown == {"time-limit": "7.5", "gap": "5%", "seed": "3", "option-base": "12"}
    assert [record.getMessage() for record in caplog.records] == []


def test_a_case_is_to_be_protected_as_it_was_last_run_and_a_run_of_another_table_says_nothing_of_it(
    workspace: Workspace,
) -> None:
    assert workspace.specification.protect == Protection()
    workspace.start("rounding", {"base": 12}, time_limit=7.5, seed=3)
    assert workspace.specification.protect == Protection("rounding", {"base": 12}, 7.5, 3)
    workspace.change(open_case(example("nchs"), "nchs"))
    assert workspace.specification.protect == Protection()
    specified = {"protect": {"method": "intervals"}, "output": Output("out", ("html",))}
    workspace.change(workspace.require_case().specify(**specified))
    assert workspace.specification == workspace.require_case().specification
    workspace.start("adjustment", {})
    assert workspace.specification.protect == Protection("adjustment")
    assert workspace.specification.output == Output("out", ("html",))


def test_formats_that_were_ticked_stay_until_another_table_comes(workspace: Workspace) -> None:
    workspace.start("adjustment", {})
    workspace.formats = ("html", "txt")
    workspace.change(workspace.require_case().with_rules(["threshold(3)"]))
    assert workspace.specification.protect.method == "adjustment"
    assert workspace.specification.output == Output(formats=("html", "txt"))
    workspace.change(open_case(example("nchs"), "nchs"))
    assert workspace.formats == ()
