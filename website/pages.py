"""Writes all pages of the site into a folder: python website/pages.py FOLDER

The documents, pages made from the code, examples that are run for it, and files that documents link to. All
are made anew each time, so that no page can differ from the code. What builds the site needs nothing else.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from links import PAGES, find_page, rewrite
from percent import list_scripts, play, write_gallery, write_notebook, write_page
from reference import PAGES_OF_CODE

ROOT = Path(__file__).parents[1]
LANGUAGES = {".py": "python", ".toml": "toml"}


def list_pages() -> Iterator[tuple[str, str]]:
    """Yield address and text of every page, and of files beside them but for pictures of documents."""
    yield from list_documents()
    for page, write in PAGES_OF_CODE.items():
        yield page, write()
    played = {}
    for script in list_scripts():
        example = played[script.stem] = play(script)
        yield f"examples/{script.stem}.md", write_page(script, example)
        yield f"examples/{script.name}", script.read_text(encoding="utf-8")
        yield f"examples/{script.stem}.ipynb", write_notebook(script)
        for name, picture in example.pictures.items():
            yield f"examples/{name}", picture
    yield "gallery.md", write_gallery(played)
    yield "site.css", (ROOT / "website" / "site.css").read_text(encoding="utf-8")


def list_documents() -> Iterator[tuple[str, str]]:
    """Yield address and text of every document, and of every file of the repository that one links to."""
    waiting = [*PAGES, *(path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").rglob("*.md")))]
    done = set(waiting)
    while waiting:
        file = waiting.pop()
        text = (ROOT / file).read_text(encoding="utf-8")
        if not file.endswith(".md"):
            yield find_page(file), _show(file, text)
            continue
        text, goals = rewrite(text, file)
        yield find_page(file), text
        new = {goal for goal in goals if (ROOT / goal).is_file() and not goal.startswith("docs/")} - done
        waiting += sorted(new)
        done |= new


def _show(file: str, text: str) -> str:
    """Return a page that shows a file of the repository."""
    return f"# {file}\n\n`````{LANGUAGES.get(Path(file).suffix, 'text')}\n{text.rstrip()}\n`````\n"


def main(folder: Path) -> None:
    """Write all pages into a folder, in place of what was there."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "docs" / "images", folder / "images")
    for address, text in list_pages():
        path = folder / address
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
