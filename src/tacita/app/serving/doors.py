"""Who may come in, and to which workspace: one-time tokens, sessions, workspaces.

    make_token() -> token --enter(token), once--> session --find_workspace(session)--> Workspace

A token is printed in the terminal and travels in an address; it works once. The session that it buys is a
cookie of one browser. Both are 256 random bits, held in memory only, and compared in constant time.
"""

from __future__ import annotations

import secrets

from tacita.app.work.recent import RecentWork
from tacita.app.work.workspace import Workspace


class Doors:
    """The tokens not used yet, and the workspace of every session.

    Parameters
    ----------
    first
        What the first to enter finds; everybody else, and the first without it, finds an empty workspace.
    recent
        Where the work of sessions is kept; None: nowhere.
    """

    def __init__(self, first: Workspace | None = None, recent: RecentWork | None = None) -> None:
        self._first = first
        self._recent = recent
        self._tokens: list[str] = []
        self._workspaces: dict[str, Workspace] = {}

    def make_token(self) -> str:
        """Return a new one-time token, with which one browser can enter the app."""
        token = secrets.token_urlsafe(32)
        self._tokens.append(token)
        return token

    def enter(self, token: str) -> str | None:
        """Return the session, with its workspace, that an unused token buys a browser; else None."""
        known = _find_equal(token, self._tokens)
        if known is None:
            return None
        self._tokens.remove(known)
        session = secrets.token_urlsafe(32)
        self._workspaces[session] = self._first or Workspace(self._recent)
        self._first = None
        return session

    def find_workspace(self, session: str) -> Workspace | None:
        """Return the workspace of a browser's session; None for a session that never began here."""
        known = _find_equal(session, list(self._workspaces))
        return None if known is None else self._workspaces[known]

    def list_workspaces(self) -> list[Workspace]:
        """Return the workspaces of all sessions of the app."""
        first = [] if self._first is None else [self._first]
        return [*first, *list(self._workspaces.values())]

    def close(self) -> None:
        """End every session of the app: runs stop, temporary folders go."""
        if self._first is not None:
            self._first.close()
        for workspace in self._workspaces.values():
            workspace.close()
        self._first = None
        self._tokens.clear()
        self._workspaces.clear()


def get_workspace() -> Workspace:
    """Return the workspace of the page that is being built, or whose event is being handled.

    The guard leaves it with every request that it lets through; NiceGUI keeps the request of a page for as
    long as the page is open.
    """
    from nicegui import ui

    workspace = ui.context.client.request.state.workspace
    assert isinstance(workspace, Workspace)
    return workspace


def _find_equal(text: str, known: list[str]) -> str | None:
    """Return the token or session equal to a text, if known; wrong ones take as long, near or not."""
    equal = [other for other in known if secrets.compare_digest(text.encode(), other.encode())]
    return equal[0] if equal else None
