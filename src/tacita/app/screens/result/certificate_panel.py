"""The certificate of a safe run: what it says, a check of it, and the file."""

from __future__ import annotations

import asyncio

from nicegui import ui

from tacita.app.controls import notices
from tacita.app.controls.downloads import make_download_path, offer_download
from tacita.app.controls.page_parts import as_label, make_panel
from tacita.app.work.workspace import Workspace
from tacita.auditing.audit import Audit
from tacita.auditing.certificate import certify, dump
from tacita.core.words import pluralize
from tacita.problem.problem import Problem
from tacita.verify import NOTHING, RefusedError, outcome, verify


def build(workspace: Workspace, audit: Audit) -> None:
    """Show the panel of the page Result on the certificate, which is made on request, in a thread."""
    with make_panel("Certificate", test_id="certificate"):
        if not audit.safe:
            ui.label("Only a release that is proven safe has one.").classes("muted")
            return
        if not len(audit.problem.levels):
            ui.label(as_label(f"{NOTHING}. A certificate of this run says just that.")).classes("muted")
            return
        count = len(audit.problem.sensitive)
        each = "the only sensitive cell" if count == 1 else f"each of {count:,} sensitive cells"
        changes = pluralize(len(audit.moves), "change")
        ui.label(
            f"For {each} and every attacker ({audit.problem.considered.text}) it gives other "
            f"tables that they cannot rule out, which carry the cell past its levels: {changes} "
            "of the table, in exact arithmetic, one of which may serve many cells and attackers. "
            f"{describe_pairs(audit.problem)}"
            "It is checked without a solver, by a short program of its own (tacita verify)."
        )
        ui.label("It names true values: it is for internal use.").classes("muted")
        with ui.element("div").classes("strip"):
            ui.button("Check it", on_click=lambda: check()).props("no-caps data-testid=check-certificate")
            ui.button("Download (internal)", on_click=lambda: download(), color=None).props(
                "no-caps outline data-testid=download-certificate"
            )
            status = ui.label().props("role=status data-testid=certificate-said")

    async def check() -> None:
        status.set_text("checking …")
        status.set_text(await asyncio.to_thread(check_certificate, audit))

    async def download() -> None:
        with notices.attempt():
            path = make_download_path(workspace.folder)
            await asyncio.to_thread(lambda: path.write_text(dump(certify(audit)), encoding="utf-8"))
            offer_download(path, "certificate.json")


def describe_pairs(problem: Problem) -> str:
    """Return a sentence for the page Result on how pairs of cell and attacker, which a check counts, relate
    to the numbers of attackers; empty where the outsider alone attacks.
    """
    considered, checked = problem.considered, len(problem.attackers)
    if considered.number == 1:
        return ""
    pairs = (
        "The check counts pairs: each cell with the outsider, and with every attacker who could rule out the "
        "outsider's tables. "
    )
    if checked == considered.number:
        return pairs
    everyone = pluralize(considered.number, "attacker")
    return f"Of {everyone} {checked:,} are checked; the others know no more than one of these. {pairs}"


def check_certificate(audit: Audit) -> str:
    """Return a sentence for the page Result on what a run's certificate proves, or why it does not hold."""
    certificate = certify(audit)
    try:
        proven = verify(certificate)
    except RefusedError as reason:
        return f"✘ The certificate does not hold: {reason}"
    equations = pluralize(len(certificate["equations"]), "equation")
    return f"✔ Holds: {outcome(proven, len(certificate['cells']))}, {equations}."
