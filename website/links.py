"""Links of the documents, from file to file of the repository, as links between pages of the site."""

from __future__ import annotations

import os
import re
from pathlib import PurePosixPath

PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changes.md"}
"""Documents at the top of the repository, and what their pages are called."""
SOURCE = "source"
"""The folder of pages that show files of the repository."""
TOKEN = re.compile(
    r"^(?P<fence>```+)(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=fence)$|\]\((?P<target>[^)\s]+)\)",
    re.MULTILINE | re.DOTALL,
)

CODE = re.compile(r"`[^`\n]+`")


def find_page(file: str) -> str:
    """Return the page of the site that shows a file of the repository."""
    if file in PAGES:
        return PAGES[file]
    if file.startswith("docs/"):
        return file.removeprefix("docs/")
    return f"{SOURCE}/{file}" if file.endswith(".md") else f"{SOURCE}/{file}.md"


def resolve(target: str, file: str) -> str | None:
    """Return the file of the repository that a link in a document leads to, or None if it leads elsewhere."""
    path = target.partition("#")[0]
    if not path or re.match(r"[a-z]+:", target):
        return None
    return os.path.normpath(PurePosixPath(file).parent / path)


def rewrite(text: str, file: str) -> tuple[str, set[str]]:
    """Return a document with links between pages instead of files, and the files that they led to.

    Blocks that begin with the name of a file get it as their title.
    """
    goals: set[str] = set()
    here = PurePosixPath(find_page(file)).parent

    def replace(found: re.Match[str]) -> str:
        if found["fence"]:
            language, *name = found["info"].split()[:2] or [""]
            info = f'{language} title="{name[0]}"' if name else language
            return f"{found['fence']}{info}\n{found['body']}{found['fence']}"
        goal = resolve(found["target"], file)
        if goal is None:
            return found[0]
        goals.add(goal)
        _, sign, anchor = found["target"].partition("#")
        return f"]({os.path.relpath(find_page(goal), here)}{sign}{anchor})"

    # In a table GitHub wants a bar in code escaped; Python-Markdown would show the escape.
    rows = re.sub(
        r"^\|.*$", lambda row: CODE.sub(lambda c: c[0].replace("\\|", "|"), row[0]), text, flags=re.MULTILINE
    )
    return TOKEN.sub(replace, rows), goals
