"""How many cells are sensitive, by which rule, and against how many attackers; or why that cannot be said."""

from __future__ import annotations

from collections.abc import Sequence

from nicegui import run, ui

from tacita.app.controls import next_step, notices
from tacita.app.controls.page_parts import make_panel, put_words
from tacita.app.controls.remedies import draw_remedies, find_common_remedies
from tacita.app.work.desk import LatestOnly
from tacita.app.work.open_case import Case
from tacita.app.work.workspace import Workspace
from tacita.attackers.considered import Considered
from tacita.core.errors import TacitaError
from tacita.core.words import pluralize
from tacita.problem.problem import Problem

MOST_ATTACKERS = 8
"""Attackers that are named as examples of those who are checked one by one."""
MOST_WARNINGS = 10


class CountPanel:
    """The panel. Of cases that follow each other quickly only the last one is counted."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._counting = LatestOnly(self._count)
        with make_panel("Sensitive cells"):
            with ui.element("div").props("role=status aria-atomic=true") as self._told:
                self._number = ui.label("…").classes("count-number").props("data-testid=sensitive-count")
                self._of = ui.label().classes("muted").props("data-testid=sensitive-of")
            self._error = ui.label().classes("complaint").props("data-testid=rules-error role=alert")
            self._remedies = ui.element("div")
            self._warnings = ui.element("div").props("data-testid=rules-warnings role=status")
            self._rules = ui.element("table").classes("plain count-rules").props("data-testid=rule-hits")
            self._attackers = ui.label().props("data-testid=attackers-count")
            self._checked = ui.label().classes("muted small").props("data-testid=attackers-checked")
            self._names = ui.label().classes("muted small").props("data-testid=attackers-names")

    def ask(self, case: Case) -> None:
        """Count the sensitive cells of a case in a thread, and show on the page how many there are."""
        self._told.props("aria-busy=true")
        self._of.set_text("counting …")
        self._counting.ask(case)

    async def _count(self, case: Case) -> None:
        try:
            problem: Problem | None = await run.io_bound(lambda: case.problem)
            error, remedies = "", []
        except TacitaError as refused:
            problem, error = None, str(refused)
            remedies = find_common_remedies(self._workspace, refused)
        except Exception as fault:
            problem, error, remedies = None, notices.describe_fault(fault), []
        if self._counting.overtaken:
            return
        self._told.props("aria-busy=false")
        if problem is not None:
            self._show(problem)
        elif error:
            self._refuse(error)
        self._remedies.clear()
        with self._remedies:
            draw_remedies(remedies)

    def _propose_next_step(self, sensitive: int) -> None:
        # Counting is a task of its own, which knows no page by itself.
        with self._told:
            if sensitive:
                next_step.propose_after_counting(sensitive)
            else:
                next_step.withdraw()

    def _refuse(self, error: str) -> None:
        self._number.set_text("?")
        self._propose_next_step(0)
        self._of.set_text("not known: what is said does not fit the table")
        self._error.set_text(error)
        self._warnings.clear()
        self._rules.clear()
        for label in (self._attackers, self._checked, self._names):
            label.set_text("")

    def _show(self, problem: Problem) -> None:
        sensitive, cells = len(problem.levels), len(problem.table)
        self._number.set_text(f"{sensitive:,}")
        self._of.set_text(f"of {pluralize(cells, 'cell')} ({sensitive / max(cells, 1):.1%})")
        self._propose_next_step(sensitive)
        self._error.set_text("")
        self._warnings.clear()
        with self._warnings:
            for text in problem.warnings[:MOST_WARNINGS]:
                ui.label(f"Warning: {text}").classes("complaint")
            for text in problem.published_notes:
                ui.label(text).classes("muted")
        self._rules.clear()
        counts = [(reason.rule, reason.cells.size) for reason in problem.levels.reasons]
        if exempt := int(problem.exempt.sum()):
            counts.append(("exempt by hand", exempt))
        with self._rules, ui.element("tbody"):
            for what, hit in counts:
                with ui.element("tr"):
                    put_words("td", what)
                    with ui.element("td"):
                        ui.label(f"{hit:,}").classes("number")
        attackers = problem.attackers
        self._attackers.set_text(f"Attackers: {problem.considered.text}")
        self._checked.set_text(explain_checked(problem.considered, len(attackers)))
        self._names.set_text(name_checked(attackers))


def explain_checked(considered: Considered, checked: int) -> str:
    """Return words for the page Rules on why fewer attackers are checked one by one than there are; empty
    if all are.

    Parameters
    ----------
    checked
        How many attackers of the problem no other one implies, with the outsider.
    """
    others = considered.number - checked
    if others <= 0:
        return ""
    one = f"one of these {checked:,}" if checked > 1 else "the outsider"
    reason = f"no more than {one}, who knows at least as much"
    if considered.largest:
        return (
            f"{checked:,} are checked one by one. The others whom the table names learn {reason}. Smaller "
            "contributors, whom it does not name, are not checked."
        )
    return (
        f"All {considered.number:,} are attackers, and nobody is left out. {checked:,} of them "
        f"{'are' if checked > 1 else 'is'} checked one by one. The other {others:,} learn {reason}, so a "
        f"release that is safe against {f'the {checked:,}' if checked > 1 else 'the outsider'} is safe "
        "against all."
    )


def name_checked(attackers: Sequence[str]) -> str:
    """Return words for the page Rules that name those who are checked one by one, or some of them."""
    if len(attackers) <= MOST_ATTACKERS:
        return f"Checked one by one: {', '.join(attackers)}."
    few = ", ".join(attackers[:MOST_ATTACKERS])
    return f"The first {MOST_ATTACKERS} of the {len(attackers):,} who are checked one by one: {few}."
