"""Parts of pages, without a browser: what they answer when they are asked by themselves."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from math import inf
from pathlib import Path

import pytest
from nicegui import ui

from tacita.app.controls import notices
from tacita.app.controls.runs import choose_run
from tacita.app.screens.export.place_field import PlaceField
from tacita.app.screens.protect.run_cards import RunCard, RunCards
from tacita.app.screens.protect.screen import ProtectScreen, refuse_misfits
from tacita.app.screens.rules.rule_list import RuleList
from tacita.app.screens.table.cell_panel import CellPanel
from tacita.app.screens.table.screen import TableScreen
from tacita.app.work.cell_facts import describe_cell
from tacita.app.work.desk import Desk
from tacita.app.work.job import Job, State
from tacita.app.work.open_case import Decision, DecisionKind, open_case
from tacita.app.work.opening import open_case_at
from tacita.app.work.view import Sensitivity
from tacita.app.work.workspace import Workspace
from tacita.core.errors import InputError
from tacita.core.outcome import Outcome, Status
from tacita.core.run import Event
from tacita.core.tables.table import Table
from tacita.examples import example
from tacita.report.measures import describe_progress


@pytest.fixture
def workspace() -> Iterator[Workspace]:
    made = Workspace()
    made.change(open_case(example("salazar"), "salazar"))
    yield made
    made.close()


def names_in(place: ui.element) -> list[str]:
    """The ``data-testid`` of everything in a part of a page."""
    return [str(part.props["data-testid"]) for part in place.descendants() if "data-testid" in part.props]


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
        open_case_at(typed)
    assert str(writing.value) == str(reading.value)


def test_a_run_that_another_window_removed_takes_its_card_with_it(workspace: Workspace) -> None:
    runs = [workspace.start("suppression", {}) for _ in range(2)]
    with ui.element() as page:
        cards = RunCards(workspace, lambda _: None, lambda _: [])
        assert {"run-1", "run-2"} <= set(names_in(page))
        workspace.forget(runs[1])
        cards.remove(runs[1])
        assert "run-2" not in names_in(page)
        assert "run-1" in names_in(page)


def test_a_run_that_ends_while_its_card_is_drawn_is_looked_at_once_more(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = Job(1, workspace.require_case(), "suppression", {})
    job.state = State.AUDITING
    workspace.jobs.append(job)
    draw = RunCard.update

    def draw_until_it_ends(card: RunCard, what_for: str) -> None:
        draw(card, what_for)
        job.state = State.FAILED

    monkeypatch.setattr(RunCard, "update", draw_until_it_ends)
    with ui.element() as page:
        cards = RunCards(workspace, lambda _: None, lambda _: [])
        state = next(p for p in page.descendants() if p.props.get("data-testid") == "run-1-state")
        assert isinstance(state, ui.label)
        assert cards._timer.active
        cards._look()
    assert state.text == "! failed"
    assert not cards._timer.active


def test_the_button_promises_the_best_so_far_only_where_there_is_one(workspace: Workspace) -> None:
    job = Job(1, workspace.require_case(), "suppression", {})
    workspace.jobs.append(job)
    with ui.element() as page:
        cards = RunCards(workspace, lambda _: None, lambda _: [])
        button = next(p for p in page.descendants() if p.props.get("data-testid") == "run-1-cancel")
        state = next(p for p in page.descendants() if p.props.get("data-testid") == "run-1-state")
        assert isinstance(button, ui.button)
        assert isinstance(state, ui.label)
        shown = [button.text]
        for event in (Event("bounding", bound=3.0), Event("improving", incumbent=9.0), Event("bounding")):
            job.state = State.SEARCHING
            job._listen(event)
            cards._look()
            shown.append(button.text)
        assert shown == ["Do not start", "Stop: nothing is found yet", *2 * ["Stop and keep the best so far"]]
        job.cancel()
        cards._look()
        assert state.text == "stopping; the best so far is kept"


def test_the_choice_of_a_run_offers_only_runs_that_are_there(workspace: Workspace) -> None:
    runs = [workspace.start("suppression", {}) for _ in range(2)]
    workspace.forget(runs[1])
    with ui.element():
        notices.show_area()
        RunCards(workspace, lambda _: None, lambda _: []).show_result(runs[1])
    # Until it is over there is nothing to show of it but how far it is.
    workspace._threads.shutdown(wait=True)
    ended, runs[0].state = runs[0].state, State.SEARCHING
    with ui.element() as page:
        assert choose_run(workspace, workspace.chosen) is None
        assert {"choose-run", "not-over"} <= set(names_in(page))
    runs[0].state = ended
    with ui.element() as page:
        assert choose_run(workspace, workspace.chosen) is runs[0]
        assert "choose-run" in names_in(page)
        workspace.forget(runs[0])
        assert choose_run(workspace, workspace.chosen) is None


def test_no_two_rules_have_the_same_number(workspace: Workspace) -> None:
    with ui.element() as page:
        rules = RuleList(Desk(workspace, lambda _: None, lambda: None))
        for text in ("threshold(3)", "threshold(4)"):
            rules._add(text)
        rules.remove(rules._rows[0])
        rules._add("threshold(5)")
        texts = [name for name in names_in(page) if name.endswith("-text")]
    assert len(texts) == 2
    assert len(set(texts)) == 2


def test_the_attack_on_a_run_ends_with_the_run(workspace: Workspace) -> None:
    case = workspace.require_case()
    done = Job(1, case, "suppression", {})
    done.carry_out()
    screen = object.__new__(TableScreen)
    screen._judged, screen._attack = Sensitivity.find(case), None
    hidden = screen._find_attack(done)
    assert hidden is not None
    assert hidden is screen._find_attack(done)
    assert hidden.release is done.release
    bare = screen._find_attack(None)
    assert bare is not None
    assert bare.release is not done.release
    assert bare is screen._find_attack(None)
    assert bare.release.hidden.sum() == len(case.problem.levels)


def texts_of(place: ui.element) -> list[str]:
    return [part.text for part in place.descendants() if isinstance(part, ui.label)]


def test_the_panel_says_of_an_exempt_cell_what_would_hit_it() -> None:
    case = open_case(example("nchs"), "nchs")
    hit, other = int(case.problem.sensitive[0]), 1
    case = case.decide([hit, other], Decision(DecisionKind.SAFE))
    with ui.element() as page:
        asyncio.run(CellPanel().show(describe_cell(case, Sensitivity.find(case), hit), None, ""))
    texts = texts_of(page)
    assert "□ exempt by hand" in texts
    assert "marked: not sensitive" not in texts
    assert any(text.startswith("threshold 5: ") for text in texts)
    assert "Levels" not in texts
    with ui.element() as page:
        asyncio.run(CellPanel().show(describe_cell(case, Sensitivity.find(case), other), None, ""))
    assert "marked: not sensitive" in texts_of(page)
    assert "□ exempt by hand" not in texts_of(page)


def test_numbers_of_the_table_stand_in_the_panel_as_in_the_sheet() -> None:
    case = open_case(Table.from_array([[1467, 1200], [2500, 7]], counts=False), "case")
    with ui.element() as page:
        asyncio.run(
            CellPanel().show(describe_cell(case, Sensitivity.find(case), case.table.find("1", "1")), None, "")
        )
    assert texts_of(page).count("1,467") == 2, "the value, and what hiding it costs"
    assert not any("1467" in text for text in texts_of(page))


@pytest.mark.parametrize(
    ("loss", "bound", "wanted"),
    [
        (120.0, 90.0, "25.00%"),
        (0.0, 0.0, "0.00%"),
        (0.0, -5.0, "100.00%"),
        (10.0, -40.0, "125.00%"),
        (inf, 3.0, "100.00%"),
        (3.0, -inf, "100.00%"),
        (3.0, 4.0, "0.00%"),
    ],
)
def test_the_gap_is_the_same_in_every_place(
    workspace: Workspace, loss: float, bound: float, wanted: str
) -> None:
    assert f"{Outcome(Status.FEASIBLE, loss, bound).gap:.2%}" == wanted
    assert describe_progress(Event("searching", incumbent=loss, bound=bound)).endswith(f"gap {wanted}")
    job = Job(1, workspace.require_case(), "suppression", {})
    job._listen(Event("searching", incumbent=loss, bound=bound))
    workspace.jobs.append(job)
    with ui.element() as page:
        RunCards(workspace, lambda _: None, lambda _: [])
        shown = next(p for p in page.descendants() if p.props.get("data-testid") == "run-1-gap")
    assert isinstance(shown, ui.label)
    assert shown.text == wanted


def test_the_method_that_is_chosen_already_keeps_its_options(workspace: Workspace) -> None:
    with ui.element() as page:
        notices.show_area()
        bench = ProtectScreen(workspace)
        bench._pick("rounding")
        base = next(part for part in page.descendants() if part.props.get("data-testid") == "option-base")
        assert isinstance(base, ui.input)
        base.set_value("50")
        bench._pick("rounding")
        assert bench._read_form()[0] == {"base": 50}
        bench._pick("suppression")
        bench._pick("rounding")
        assert bench._read_form()[0] == {}


@pytest.mark.parametrize(
    ("method", "options", "why"),
    [
        ("rounding", {"base": "seven"}, "the table has no column 'seven'"),
        ("rounding", {"base": -5}, "option 'base' is negative"),
        ("unbiased-rounding", {"base": 0}, "option 'base' is zero"),
        ("random-rounding", {"base": -5}, "option 'base' is negative"),
        ("perturbation", {"radius": "wide"}, "the table has no column 'wide'"),
        ("adjustment", {"capacity": -1}, "option 'capacity' is negative"),
    ],
)
def test_what_no_run_could_use_is_refused_before_it_runs(
    workspace: Workspace, method: str, options: dict[str, int | str], why: str
) -> None:
    with pytest.raises(InputError, match=why):
        refuse_misfits(workspace.require_case().problem, method, options)


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("rounding", {"base": 20}),
        ("rounding", {}),
        ("adjustment", {"capacity": "20%", "radius": 5}),
        ("suppression", {}),
    ],
)
def test_what_a_run_can_use_is_not_refused(
    workspace: Workspace, method: str, options: dict[str, int | str]
) -> None:
    refuse_misfits(workspace.require_case().problem, method, options)
