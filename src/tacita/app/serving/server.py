"""The app on a loopback port: built, run, and gone without a trace.

browser <-> uvicorn on 127.0.0.1 <-> Guard <-> FastAPI <-> NiceGUI <-> screens
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import tempfile
import threading
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacita.app.serving.guard import LARGEST_UPLOAD, Guard
from tacita.app.serving.last_port import read_last_port, remember_port
from tacita.core.errors import InputError
from tacita.storage.temporary import make_temporary_folder, remove_dead_folders

if TYPE_CHECKING:
    import uvicorn

    from tacita.app.serving.doors import Doors

LOOPBACK = "127.0.0.1"
ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" '
    'fill="#1d4ed8"/><rect x="3" y="7" width="10" height="2" fill="#fff"/></svg>'
)
PATIENCE = 2
"""Seconds that open connections have to end when the server stops."""


def create(
    doors: Doors, port: int, screens: Callable[[], None], *, largest_upload: int = LARGEST_UPLOAD
) -> Guard:
    """Return the whole web app, guarded, as an ASGI application. NiceGUI knows one application per process,
    so this is called once.

    Parameters
    ----------
    doors
        Tokens and sessions.
    port
        Where it will be served.
    screens
        Declares the pages.
    largest_upload
        Bytes that one request may have.
    """
    from fastapi import FastAPI
    from nicegui import binding, core, ui

    from tacita.app.serving.alive import add_route
    from tacita.app.serving.pages import bind_messages

    screens()
    application = FastAPI(openapi_url=None)
    add_route(application)
    ui.run_with(
        application,
        title="Tacita",
        favicon=ICON,
        dark=None,
        language="en-US",
        reconnect_timeout=10,
        # Our own style sheet is all there is: nothing to be compiled in the browser.
        tailwind=False,
        # Nothing is gained by packing what does not leave the machine.
        gzip_middleware_factory=None,
        show_welcome_message=False,
    )
    # The guard has asked already; NiceGUI's own answer would tell browsers that every origin is welcome.
    core.sio.eio.cors_allowed_origins = None
    bind_messages()
    # How long NiceGUI takes while a run has the processor is nothing that the terminal need tell.
    binding.MAX_PROPAGATION_TIME = float("inf")
    return Guard(application, doors, port, largest_upload)


def serve(
    *,
    port: int = 0,
    case: Path | None = None,
    largest_upload: int = LARGEST_UPLOAD,
    open_browser: bool = True,
    keep_recent: bool | None = None,
    ready: Callable[[str], None],
    again: Callable[[str], None] | None = None,
    report: Callable[[str], None] = lambda note: None,
) -> None:
    """Serve the app on 127.0.0.1, and nowhere else, until Ctrl-C; from the main thread, which hears signals.

    Parameters
    ----------
    port
        0 takes that of the user's last server if it is free, or else any free one.
    case
        A file that the first session begins with.
    largest_upload
        Bytes that one request may have.
    open_browser
        Whether to show the first address in the browser of this machine.
    keep_recent
        Whether to keep what sessions work on for a later server; remembered. None: as it was said last.
    ready
        Called with the first address, with its one-time token, once the server answers.
    again
        Called with a fresh address for every line on standard input; without it nobody listens there.
    report
        Called with what was found of servers that were killed.
    """
    with _end_in_order(), _bind_as_before(port) as listener, _use_private_folder() as removed:
        from tacita.app.frame import register
        from tacita.app.serving.doors import Doors
        from tacita.app.work.recent import Keeper, RecentWork
        from tacita.app.work.workspace import Workspace

        port = listener.getsockname()[1]
        remember_port(port)
        recent = RecentWork()
        if keep_recent is not None:
            recent.enable(keep_recent)
        first = Workspace(recent)
        with contextlib.closing(Doors(first, recent)) as doors:
            if case is not None:
                first.open_path(case)
            if removed:
                report(describe_removed(removed))
                first.notes = [*first.notes, describe_removed(removed)]
            keeper = Keeper(recent, doors.list_workspaces)
            keeper.start()

            def address() -> str:
                return f"http://{LOOPBACK}:{port}/?token={doors.make_token()}"

            def started() -> None:
                shown = address()
                ready(shown)
                if open_browser:
                    _in_background(lambda: _show(shown))
                if again is not None:
                    _in_background(lambda: _listen(lambda: again(address())))

            server = _make_server(create(doors, port, register, largest_upload=largest_upload), started)
            with contextlib.closing(keeper):
                server.run(sockets=[listener])


def _bind_as_before(port: int) -> socket.socket:
    """Return a socket bound to a port of the app; for 0 to the last one, so that pages which wait there for a
    server find it, or to a free one where another program has that by now.
    """
    if not port and (last := read_last_port()):
        with contextlib.suppress(InputError):
            return _bind(last)
    return _bind(port)


def _bind(port: int) -> socket.socket:
    """Return a socket bound to the port of the app, which only this machine can reach."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name == "posix":
        # A port that was closed a moment ago can be had again; elsewhere this would share one in use.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((LOOPBACK, port))
    except (OSError, OverflowError) as error:
        listener.close()
        raise InputError(
            f"port {port} of {LOOPBACK} cannot be used: {error}",
            remedy="Name another port, or 0 for a free one",
            options=["port"],
        ) from None
    return listener


@contextlib.contextmanager
def _use_private_folder() -> Iterator[tuple[Path, ...]]:
    """Keep all temporary files of the app in one folder that only its user can read, and remove it; yield
    the folders of servers that were killed, which are gone now.
    """
    before = tempfile.tempdir
    # Settings of other NiceGUI programs would put data elsewhere, in a database or on another machine.
    for name in [name for name in os.environ if name.startswith("NICEGUI_")]:
        del os.environ[name]
    removed = remove_dead_folders()
    with make_temporary_folder() as folder:
        tempfile.tempdir = str(folder)
        # NiceGUI looks for a store of its own in the working folder; ours stays empty.
        os.environ["NICEGUI_STORAGE_PATH"] = str(folder)
        try:
            yield removed
        finally:
            tempfile.tempdir = before
            del os.environ["NICEGUI_STORAGE_PATH"]


def describe_removed(removed: Sequence[Path]) -> str:
    """Return a sentence on the folders of killed servers that were removed."""
    return (
        "A server before this one was killed. Its temporary copies of data were removed; recent work is kept "
        f"elsewhere: {', '.join(map(str, removed))}"
    )


def _make_server(guard: Guard, started: Callable[[], None]) -> uvicorn.Server:
    import uvicorn

    class Announcing(uvicorn.Server):
        """Tells when it answers."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            started()

    return Announcing(
        uvicorn.Config(
            guard,
            log_config=None,
            log_level="critical",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=PATIENCE,
        )
    )


@contextlib.contextmanager
def _end_in_order() -> Iterator[None]:
    """Let every signal that ends the server act as Ctrl-C: what is temporary goes first."""
    handlers: dict[int, Any] = {signal.SIGTERM: signal.default_int_handler}
    if sys.platform != "win32":
        # Started in the background, a process that reads the terminal would be halted.
        handlers[signal.SIGTTIN] = signal.SIG_IGN
        # A terminal that closes; after nohup the server is meant to outlive it.
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            handlers[signal.SIGHUP] = lambda number, frame: signal.raise_signal(signal.SIGTERM)
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        with contextlib.suppress(KeyboardInterrupt):
            yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _in_background(work: Callable[[], None]) -> None:
    threading.Thread(target=work, daemon=True).start()


def _show(address: str) -> None:
    # Without a display the browsers that are left run in the terminal, which is ours.
    if sys.platform in ("win32", "darwin") or {"DISPLAY", "WAYLAND_DISPLAY"} & os.environ.keys():
        webbrowser.open(address)


def _listen(tell: Callable[[], None]) -> None:
    """Call ``tell``, which prints a new address of the app, for every line on standard input, to its end.

    Read without Python's buffer: a thread that waits inside it could not be left behind at the end.
    """
    with contextlib.suppress(AttributeError, OSError, ValueError):
        descriptor = sys.stdin.fileno()
        while lines := os.read(descriptor, 4096):
            for _ in range(lines.count(b"\n")):
                tell()
