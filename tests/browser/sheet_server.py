"""A server whose only screens are sheets, to try the sheet alone; guarded as the app is.

Every sheet adds up what is typed into its leaves. What it hears is on the page, one line each, as JSON.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

import numpy as np
import uvicorn
from nicegui import ui

from running_server import ANNOUNCED, RunningServer
from tacita.app.frame import STYLE
from tacita.app.serving.doors import Doors
from tacita.app.serving.server import LOOPBACK, create
from tacita.app.sheet import Change, Content, Entry, Flag, Sheet
from tacita.core.tables.layout import Line


def tree(name: str, *fan: int) -> list[Line]:
    """Lines of a tree with so many children at each depth; parents stand behind their children."""
    lines: list[Line] = []

    def grow(code: str, depth: int) -> int:
        below = fan[depth] if depth < len(fan) else 0
        children = [grow(f"{code}{child + 1}", depth + 1) for child in range(below)]
        for child in children:
            lines[child] = lines[child]._replace(parent=len(lines))
        lines.append(Line(code, depth, -1, not children))
        return len(lines) - 1

    grow(name, 0)
    return lines


class Summing:
    """Numbers on two trees, and how they look."""

    def __init__(self, rows: list[Line], columns: list[Line]) -> None:
        self.rows, self.columns = rows, columns
        self.numbers = np.add.outer(10 * np.arange(len(rows)), np.arange(len(columns))) % 100
        self.flags = np.zeros(self.numbers.shape, dtype=np.uint16)
        self.flags[[not line.leaf for line in rows]] |= int(Flag.TOTAL)
        self.flags[:, [not line.leaf for line in columns]] |= int(Flag.TOTAL)
        self.flags[0, 1] |= int(Flag.SENSITIVE)
        self.flags[1, 0] |= int(Flag.OTHER | Flag.HIDE)
        self.add_up()

    def add_up(self) -> None:
        for lines, numbers in ((self.rows, self.numbers), (self.columns, self.numbers.T)):
            numbers[[not line.leaf for line in lines]] = 0
            for position, line in enumerate(lines):
                if line.parent >= 0:
                    numbers[line.parent] += numbers[position]

    def content(self) -> Content:
        texts = [[str(number) for number in row] for row in self.numbers.tolist()]
        return Content(self.rows, self.columns, texts, self.flags, "region", "industry")

    def enter(self, entries: Iterable[Entry]) -> list[Change]:
        """What looks different after the entries; what is no number is left out."""
        before = self.numbers.copy()
        for entry in entries:
            if entry.text.isdigit():
                self.numbers[entry.row, entry.column] = int(entry.text)
        self.add_up()
        return [
            Change(row, column, str(self.numbers[row, column]), int(self.flags[row, column]))
            for row, column in np.argwhere(before != self.numbers).tolist()
        ]


SHEETS: dict[str, Callable[[], Summing]] = {
    "/": lambda: Summing(tree("R", 3, 2), tree("I", 2, 2)),
    "/square": lambda: Summing(tree("r", 315), tree("c", 315)),
    "/deep": lambda: Summing(tree("R", 9, 8, 4), tree("I", 6, 4, 10)),
    "/tall": lambda: Summing(tree("r", 1999), tree("c", 49)),
}


def declare() -> None:
    """The pages, one for each kind of sheet."""
    for path, make in SHEETS.items():
        ui.page(path)(partial(_build, make))
    ui.page("/pair")(_pair)


def _pair() -> None:
    ui.add_css(STYLE)
    for name in ("left", "right"):
        sheet = Sheet(Summing(tree("R", 9, 8), tree("I", 6, 8)).content(), name=name, group="pair")
        sheet.style("width: 100%; height: 400px")


def _build(make: Callable[[], Summing]) -> None:
    ui.add_css(STYLE)
    summing = make()

    def hear(*said: object) -> None:
        heard.set_text(f"{heard.text}{json.dumps(said)}\n")

    def edit(entries: tuple[Entry, ...]) -> None:
        parts = [entry for entry in entries if not entry.is_sum]
        hear("edit", [[entry.row, entry.column, entry.text] for entry in parts[:20]])
        if sums := [[entry.row, entry.column, entry.text] for entry in entries if entry.is_sum]:
            hear("sums", sums)
        sheet.patch(summing.enter(parts))

    with ui.element("main").classes("screen"):
        ui.button("Before")
        sheet = Sheet(
            summing.content(),
            editable=True,
            name="Sheet",
            on_edit=edit,
            on_select=lambda chosen: hear("select", chosen.row, chosen.column, chosen.rows, chosen.columns),
            on_undo=lambda: hear("undo"),
            on_redo=lambda: hear("redo"),
        )
        sheet.style("width: 100%; height: 60vh")
        with ui.row():
            ui.button("Fold rows", on_click=lambda: sheet.fold("rows", 1))
            ui.button("Unfold rows", on_click=lambda: sheet.unfold("rows"))
            ui.button("Go to the first", on_click=lambda: sheet.go(0, 0))
            ui.button("Show transposed", on_click=lambda: sheet.show(_transposed(summing)))
            ui.button("Show again", on_click=lambda: sheet.show(summing.content()))
        heard = ui.label().props("data-testid=heard").style("white-space: pre")


def _transposed(summing: Summing) -> Content:
    return Content(
        summing.columns,
        summing.rows,
        summing.numbers.T.astype(str).tolist(),
        summing.flags.T,
        "industry",
        "region",
    )


def start(folder: Path) -> RunningServer:
    """Run this file in a process of its own."""
    words = folder / "stderr"
    with words.open("w") as errors:
        process = subprocess.Popen(
            [sys.executable, __file__],
            cwd=folder,
            # NiceGUI behaves differently where it believes to be tested.
            env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
    assert process.stdout is not None
    announced = process.stdout.readline()
    assert announced.startswith(ANNOUNCED), words.read_text()
    return RunningServer(process, folder, folder, words, announced.removeprefix(ANNOUNCED).strip())


def main() -> None:
    """Serve until interrupted; every line on standard input is answered by a fresh address."""
    with closing(Doors()) as doors, socket.create_server((LOOPBACK, 0)) as listener:
        port = listener.getsockname()[1]

        def announce() -> None:
            print(f"{ANNOUNCED}http://{LOOPBACK}:{port}/?token={doors.make_token()}", flush=True)

        server = uvicorn.Server(uvicorn.Config(create(doors, port, declare), log_level="critical"))
        threading.Thread(target=lambda: [announce() for _ in sys.stdin], daemon=True).start()
        announce()
        with suppress(KeyboardInterrupt):
            server.run(sockets=[listener])


if __name__ in {"__main__", "__mp_main__"}:
    main()
