"""Protect: choose a method, say how, run it; several runs side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from nicegui import run, ui

from tacita.app.controls import forms, notices
from tacita.app.controls.page_parts import as_label, make_heading, show_no_table
from tacita.app.controls.remedies import Remedy, draw_remedies, find_common_remedies, lead_to
from tacita.app.controls.sharing_notice import warn_before_run
from tacita.app.screens.protect.run_cards import AWAITED, RunCards
from tacita.app.work.exports import USUAL_METHOD
from tacita.app.work.job import Job
from tacita.app.work.presets import Preset, list_presets
from tacita.app.work.workspace import Workspace
from tacita.core.errors import InputError, TacitaError
from tacita.core.outcome import read_gap
from tacita.core.words import pluralize
from tacita.methods.method import make_method, method_class, method_names, options_of
from tacita.methods.options.per_cell import read_amounts
from tacita.methods.rounding.bases import choose_bases
from tacita.problem.problem import Problem
from tacita.specification.sections import Protection


def build(workspace: Workspace) -> None:
    """Fill the page Protect: the methods, the form of the chosen one, and the cards of runs."""
    if workspace.case is None:
        show_no_table()
        return
    ProtectScreen(workspace)


class ProtectScreen:
    """The method that is chosen with its form, and below it the runs."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._method = ""
        self._unfit = ""
        self._problem: Problem | None = None
        self._buttons: dict[str, ui.element] = {}
        begin = self._find_beginning()
        with ui.element("div").classes("protect-page"):
            with ui.element("section").classes("panel methods").props('aria-label="Methods"'):
                make_heading("Method")
                for name in method_names():
                    self._offer(name)
                self._shortcuts()
            with ui.element("div").classes("protect-right"):
                with ui.element("section").classes("panel").props('aria-label="Options"'):
                    self._title = ui.label().classes("panel-title method-title")
                    self._title.props("role=heading aria-level=2 data-testid=method-name")
                    self._choose = ui.label().classes("muted")
                    self._place = ui.element("div")
                    self._effort(begin)
                    warn_before_run(workspace)
                    self._run_row()
                self._cards = RunCards(workspace, self._take_over, self._find_remedies)
        self._show_method(begin.method or USUAL_METHOD, begin.options)
        ui.timer(0, self._look_at_problem, once=True)

    def _find_beginning(self) -> Protection:
        """Return the method and options that the page Protect begins with: the case's or the last run's."""
        chosen = self._workspace.specification.protect
        last = next(reversed(self._workspace.jobs), None)
        silent = replace(chosen, must_publish=(), must_hide=()) == Protection()
        return Protection(**last.request) if silent and last is not None else chosen

    def _shortcuts(self) -> None:
        known = {preset.name: preset for preset in list_presets(self._workspace.require_case().table)}

        def choose(preset: Preset | None) -> None:
            if preset is not None:
                self._show_method(preset.method, preset.options)
                about.set_text(preset.about)

        with ui.expansion("Options of published programs").classes("more").props("dense data-testid=presets"):
            select = ui.select(list(known), label="Shortcut", clearable=True)
            select.props('outlined dense options-dense data-testid=preset aria-label="Shortcut"')
            select.on_value_change(lambda event: choose(known.get(event.value)))
            about = ui.label("The functions of two published programs, as options of our methods.")
            about.classes("muted small").props("data-testid=preset-about")

    def _offer(self, name: str) -> None:
        button = ui.element("button").classes("method").props(f"type=button data-testid=method-{name}")
        with button.on("click", partial(self._pick, name)):
            ui.label(name).classes("method-name")
            ui.label(method_class(name).does).classes("muted small")
        self._buttons[name] = button

    def _effort(self, begin: Protection) -> None:
        # Made with their values: set afterwards, they would undo what is typed as soon as the page is there.
        limit, seed = forms.format_value(begin.time_limit), _format_seed(begin.seed)
        with ui.element("div").classes("form effort"):
            self._limit = self._text(
                "Time limit in seconds", limit, "time-limit", "empty: until it is proven best"
            )
        with ui.expansion("Gap and seed", value=bool(begin.gap or seed)).classes("more") as self._more_effort:
            self._more_effort.props("dense data-testid=effort-more")
            with ui.element("div").classes("form"):
                self._gap = self._text(
                    "Gap",
                    _format_gap(begin.gap),
                    "gap",
                    "stop when the loss is proven within this share of the smallest, such as 5%; empty: go "
                    "on to the proof",
                )
                self._seed = self._text(
                    "Seed", seed, "seed", "of what is drawn at random; empty: a secret one is drawn"
                )

    def _text(self, label: str, value: str, name: str, note: str) -> ui.input:
        with ui.element("div").classes("field"):
            field = ui.input(label, value=value, on_change=self._check)
            field.props(
                f'outlined dense stack-label data-testid={name} aria-label="{label}" autocomplete=off'
            )
            ui.label(note).classes("field-note")
        return field

    def _run_row(self) -> None:
        with ui.element("div").classes("strip run-row"):
            self._button = ui.button("Run", icon="play_arrow", on_click=self._start)
            self._button.props("no-caps unelevated data-testid=run")
            opens = ui.switch("Open the result when safe", value=self._workspace.opens_result).props(
                "data-testid=opens-result"
            )
            opens.tooltip(
                f"Of a run that is safe within {AWAITED:.0f} seconds, unless you do something else meanwhile"
            )
            opens.bind_value_to(self._workspace, "opens_result")
            self._says = ui.label().classes("complaint").props("data-testid=run-refused role=status")
            with ui.element("div").classes("strip").props("data-testid=run-mend") as self._mend:
                ui.link("Rules and attackers", "/rules")
                ui.link("Table and marks", "/table")
            self._mend.set_visibility(False)
            self._summary = ui.label("…").classes("muted").props("data-testid=run-question")

    def _pick(self, method: str) -> None:
        """Show the form of another method with its defaults; that of the present method stays as filled."""
        if method != self._method:
            self._show_method(method, {})

    def _show_method(self, method: str, options: Mapping[str, Any]) -> None:
        """Show the form of a method on the page Protect, filled with these options."""
        self._method = method
        for name, button in self._buttons.items():
            here = name == method
            button.classes(add="method-here" if here else "", remove="" if here else "method-here")
            button.props(f"aria-pressed={'true' if here else 'false'}")
        cls = method_class(method)
        self._title.set_text(method)
        self._choose.set_text(cls.choose)
        self._place.clear()
        with self._place:
            known = options_of(method)
            marked = any(option.main for option in known)
            self._form = forms.OptionForm(
                known,
                options,
                on_change=lambda _: self._check(),
                folded=lambda option: marked and not option.main,
            )
        self._check()

    def _take_over(self, job: Job) -> None:
        """Fill the form of the page Protect with a run's method, options, time limit, gap and seed."""
        self._show_method(job.method.name, job.options)
        self._limit.set_value(forms.format_value(job.time_limit))
        self._gap.set_value(_format_gap(job.gap))
        self._seed.set_value(_format_seed(job.seed))
        if job.gap or job.seed is not None:
            self._more_effort.set_value(True)

    def _find_remedies(self, job: Job) -> list[Remedy]:
        """Return what the form of the page Protect, or another page, can do about a run that failed."""
        error = job.failure
        if error is None:
            return []
        known = {option.name: option for option in options_of(job.method.name)}
        found = []
        for wanted in error.options:
            name, _, setting = wanted.partition("=")
            if name in known:
                if setting:
                    changed = {name: forms.read_value(known[name], setting)}
                    words = f"Run with {name.replace('_', ' ')} {setting}"
                    found.append(Remedy(words, partial(self._run_again, job, changed)))
                else:
                    words = f"Go to “{as_label(name)}”"
                    found.append(Remedy(words, partial(self._try_again, job, f"option-{name}")))
            elif name == "time_limit":
                found.append(Remedy("Go to the time limit", partial(self._try_again, job, "time-limit")))
        # Cells of a run of another state of the table may be other cells now.
        here = error if job.case is self._workspace.case else error.without_cell()
        return [*found, *find_common_remedies(self._workspace, here)]

    def _try_again(self, job: Job, field: str) -> None:
        """Fill the form with the options of a run, and lead to one of its fields."""
        self._take_over(job)
        lead_to(field)

    async def _run_again(self, job: Job, changed: Mapping[str, Any]) -> None:
        """Fill the form with the options of a run, some of them changed, and run that."""
        self._take_over(job)
        self._show_method(job.method.name, {**job.options, **changed})
        await self._start()

    def _read_form(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return options and effort in the form; :class:`InputError` where one cannot be used."""
        values = self._form.read_values()
        make_method(self._method, values)
        if self._problem is not None:
            refuse_misfits(self._problem, self._method, values)
        effort = {
            "time_limit": _read_seconds(self._limit.value),
            "gap": _read_gap(self._gap.value),
            "seed": _seed(self._seed.value),
        }
        return values, effort

    def _check(self) -> None:
        refused = self._unfit
        try:
            self._read_form()
        except TacitaError as error:
            refused = refused or str(error)
        self._says.set_text(refused)
        self._button.set_enabled(not refused)

    async def _look_at_problem(self) -> None:
        """Show beside the button Run what is to be protected, or why the case cannot be."""
        case = self._workspace.require_case()
        try:
            problem: Problem | None = await run.io_bound(lambda: case.problem)
        except TacitaError as error:
            self._unfit = f"This table cannot be protected as it is: {error}"
            self._mend.set_visibility(True)
            with self._mend:
                draw_remedies(find_common_remedies(self._workspace, error))
            self._summary.set_text("")
            self._check()
            return
        if problem is not None:
            self._problem = problem
            self._summary.set_text(_describe_problem(problem))
            self._mend.set_visibility(not len(problem.levels))
            self._check()

    async def _start(self) -> None:
        self._button.set_enabled(False)
        with notices.attempt():
            options, effort = self._read_form()
            job = await run.io_bound(self._workspace.start, self._method, options, **effort)
            self._cards.follow(job)
        self._check()


def _describe_problem(problem: Problem) -> str:
    """Return words for the page Protect, such as ``12 sensitive of 432 cells, against an outsider.``"""
    if not len(problem.levels):
        return (
            "Nothing is sensitive yet, so nothing will be protected: add a rule on the page Rules, or mark "
            "cells on the page Table."
        )
    return (
        f"{len(problem.levels):,} sensitive of {pluralize(len(problem.table), 'cell')}, "
        f"against {problem.considered.text}."
    )


def _read_seconds(text: str | None) -> float | None:
    if not (text or "").strip():
        return None
    try:
        seconds = float(str(text))
    except ValueError:
        seconds = float("nan")
    if not 0 < seconds < float("inf"):
        raise InputError(
            f"time limit: '{text}' is no number of seconds above 0", remedy="leave it empty for none"
        )
    return seconds


def _format_gap(gap: float | str | None) -> str:
    return f"{100 * read_gap(gap):g}%" if gap else ""


def _read_gap(text: str | None) -> float | None:
    return read_gap(str(text)) if (text or "").strip() else None


def _format_seed(seed: int | None) -> str:
    return "" if seed is None else str(seed)


def _seed(text: str | None) -> int | None:
    if not (text or "").strip():
        return None
    try:
        seed = int(str(text))
    except ValueError:
        seed = -1
    if seed < 0:
        raise InputError(
            f"seed: '{text}' is no integer of 0 or more", remedy="leave it empty, and one is drawn"
        )
    return seed


def refuse_misfits(problem: Problem, method: str, values: Mapping[str, Any]) -> None:
    """Refuse options in the form of the page Protect that no run of the method on this table could use.

    Raises
    ------
    InputError
        A base that is not above zero, an amount below zero or finer than the table, or a column that the
        table does not have.
    """
    for option in options_of(method):
        chosen = values.get(option.name)
        if chosen is None or float not in option.kinds:
            continue
        if option.name == "base":
            choose_bases(problem, chosen, np.ones(len(problem.table), dtype=bool))
        elif str in option.kinds and not str(chosen).endswith("%"):
            read_amounts(problem, chosen, option.name)
