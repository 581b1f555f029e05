"""Changes of a requirement: undone field by field, and counted only when typing pauses."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from tacita.app.work.desk import Desk, LatestOnly
from tacita.app.work.open_case import Case, Decision, DecisionKind, open_case
from tacita.app.work.workspace import Workspace
from tacita.examples import example


def never() -> None:
    pytest.fail("nobody else changed anything")


@pytest.fixture
def workspace() -> Workspace:
    made = Workspace()
    made.change(open_case(example("nchs").table, "nchs"))
    return made


def test_typing_in_one_field_is_one_step(workspace: Workspace) -> None:
    told: list[Case] = []
    desk = Desk(workspace, told.append, never)
    for text in ("threshold(1)", "threshold(12)", "threshold(125)"):
        desk.specify("rule-1", rules={"rule": text})
    assert workspace.require_case().rules == ("threshold(125)",)
    assert [case.rules for case in told] == [("threshold(1)",), ("threshold(12)",), ("threshold(125)",)]
    workspace.undo()
    assert workspace.require_case().rules == ()
    assert not workspace.can_undo


def test_each_field_and_each_visit_is_a_step_of_its_own(workspace: Workspace) -> None:
    desk = Desk(workspace, lambda case: None, never)
    desk.specify("rule-1", rules={"rule": "threshold(3)"})
    desk.end_step()
    desk.specify("rule-1", rules={"rule": "threshold(5)"})
    desk.specify("cost", cost={"by": "unit"})
    workspace.undo()
    assert (workspace.require_case().rules, workspace.require_case().specification.cost.by) == (
        ("threshold(5)",),
        None,
    )
    workspace.undo()
    assert workspace.require_case().rules == ("threshold(3)",)


def test_what_another_window_changed_is_not_put_back(workspace: Workspace) -> None:
    told: list[str] = []
    one, other = (
        Desk(workspace, lambda case: None, lambda name=name: told.append(name)) for name in ("one", "other")
    )
    one.specify("rule-1", rules={"rule": "threshold(3)"})
    other.specify("rule-1", rules={"rule": "threshold(2)"})
    assert (told, workspace.require_case().rules) == (["other"], ("threshold(3)",))
    workspace.undo()
    one.specify("rule-1", rules={"rule": "threshold(3) | zeros()"})
    assert (told, workspace.require_case().rules) == (["other", "one"], ())


def test_what_changes_nothing_is_no_step(workspace: Workspace) -> None:
    desk = Desk(workspace, lambda case: pytest.fail("nothing changed"), never)
    desk.specify("cost", cost={"by": None})
    assert not workspace.can_undo


def test_the_newest_question_is_answered_and_no_two_at_once() -> None:
    done: list[tuple[int, bool]] = []
    at_work = 0

    async def work(question: int) -> None:
        nonlocal at_work
        at_work += 1
        assert at_work == 1
        await asyncio.sleep(0.05)
        at_work -= 1
        done.append((question, newest.overtaken))

    newest = LatestOnly(work, pause=0.01)

    async def ask() -> None:
        for question in range(5):
            newest.ask(question)
        await asyncio.sleep(0.03)
        for question in range(5, 8):
            newest.ask(question)
        await asyncio.sleep(0.3)

    # In a thread of its own: a browser test of the same process may have left a loop running in this one.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: asyncio.run(ask())).result()
    assert done == [(4, True), (7, False)]


def test_what_another_page_changed_besides_is_kept_with_what_is_typed_here(workspace: Workspace) -> None:
    """As when a mark on the page Table arrives after the page Rules was built."""
    desk = Desk(workspace, lambda case: None, never)
    desk.specify("rule-1", rules={"rule": "threshold(2)"})
    marked = workspace.require_case().decide([3], Decision(DecisionKind.SENSITIVE))
    workspace.change(marked)
    desk.specify("rule-1", rules={"rule": "threshold(3)"})
    now = workspace.require_case()
    assert now.rules == ("threshold(3)",)
    assert now.decisions == marked.decisions != {}
    # A step of its own: undo takes back what was typed here, not the mark.
    workspace.undo()
    assert (workspace.require_case().rules, workspace.require_case().decisions) == (
        ("threshold(2)",),
        marked.decisions,
    )


def test_rules_typed_for_one_table_are_not_put_on_another(workspace: Workspace) -> None:
    told: list[str] = []
    desk = Desk(workspace, lambda case: None, lambda: told.append("stale"))
    workspace.change(open_case(example("salazar").table, "salazar"))
    desk.specify("rule-1", rules={"rule": "threshold(3)"})
    assert (told, workspace.require_case().rules) == (["stale"], ())
