"""``tacita app``: protect tables in a browser, served by this machine to this machine."""

from __future__ import annotations

import importlib.util
import os
import sys
import threading
import time
from pathlib import Path
from typing import Annotated

import typer

from tacita.cli.console import print_json, print_message
from tacita.cli.verb import DONE, Output
from tacita.core.errors import InputError

PATIENCE = 2.0
"""Seconds that runs have to notice that they were stopped."""


def run_app_command(
    output: Output,
    case: Annotated[
        Path | None,
        typer.Argument(
            metavar="CASE", help="Table, JJ file, NCHS text, thesis folder, project.toml or its folder."
        ),
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port on 127.0.0.1; 0 takes the last one, or a free one.")
    ] = 0,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address, and open no browser.")
    ] = False,
    largest_upload: Annotated[
        int,
        typer.Option(min=1, metavar="MIB", help="The largest file that the page can open, in MiB."),
    ] = 64,
    recent: Annotated[
        bool | None,
        typer.Option(
            "--recent/--no-recent",
            help="Keep work for the next start in a private folder, or not; remembered. At first it is kept.",
        ),
    ] = None,
) -> int:
    """Protect tables in the browser. The page is for this machine only."""
    if importlib.util.find_spec("nicegui") is None:
        raise InputError("the web app is not installed", remedy="install it with pip install 'tacita[app]'")
    from tacita.app.serving.guard import MEBIBYTE
    from tacita.app.serving.server import serve

    def print_first(address: str) -> None:
        if output.json:
            print_json({"address": address})
        else:
            print_again(address)
            print_message("Enter prints a new one, for another browser. Ctrl-C ends the server.")

    def print_again(address: str) -> None:
        print(f"Tacita is at {address}", flush=True)

    serve(
        port=port,
        case=case,
        largest_upload=largest_upload * MEBIBYTE,
        open_browser=not no_browser,
        keep_recent=recent,
        ready=print_first,
        again=None if output.json else print_again,
        report=print_message,
    )
    _leave_runs_behind()
    return DONE


def _leave_runs_behind() -> None:
    """End ``tacita app`` even if a run is deep in a solver: Python itself would wait for it."""
    patience = time.monotonic() + PATIENCE
    while any(thread.name.startswith("tacita-run") for thread in threading.enumerate()):
        if time.monotonic() > patience:
            sys.stdout.flush()
            os._exit(DONE)
        time.sleep(0.02)
