"""Examples in percent format, scripts whose cells begin with ``# %%``, as pages and as notebooks."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"


@dataclass(frozen=True)
class Cell:
    """A cell of a script: prose without its comment signs, or code; ``line`` is where its text begins."""

    prose: bool
    text: str
    line: int


@dataclass(frozen=True)
class Played:
    """An example that was run: what each of its cells printed, and the pictures that it wrote."""

    cells: tuple[tuple[Cell, str], ...]
    pictures: dict[str, str]


def list_scripts() -> list[Path]:
    """Return the examples that are scripts, in the order of the site's navigation; others come last."""
    listed = re.findall(r"examples/(\w+)\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    place = {name: k for k, name in enumerate(listed)}
    return sorted(EXAMPLES.glob("*.py"), key=lambda path: (place.get(path.stem, len(place)), path.name))


def read_cells(script: Path) -> list[Cell]:
    """Return the cells of a script in percent format; ValueError for text before the first of them."""
    text = script.read_text(encoding="utf-8")
    before, *parts = re.split(r"^# %%(.*)\n", text, flags=re.MULTILINE)
    if before.strip():
        raise ValueError(f"{script.name} begins with text that is in no cell: begin with '# %%'")
    cells, line = [], 1
    for kind, body in zip(parts[::2], parts[1::2], strict=True):
        prose = kind.strip() == "[markdown]"
        own = re.sub(r"^# ?", "", body, flags=re.MULTILINE) if prose else body
        cells.append(Cell(prose, own.strip("\n"), line + 1))
        line += 1 + body.count("\n")
    return cells


def play(script: Path) -> Played:
    """Run a script cell by cell in a folder of its own."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    shown, home = [], Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for cell in read_cells(script):
                out = io.StringIO()
                if not cell.prose:
                    # Padded, so that a traceback names the line of the script.
                    code = compile("\n" * (cell.line - 1) + cell.text, str(script), "exec")
                    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
                        exec(code, namespace)
                shown.append((cell, out.getvalue()))
            pictures = {path.name: path.read_text(encoding="utf-8") for path in sorted(Path().glob("*.svg"))}
        finally:
            os.chdir(home)
    return Played(tuple(shown), pictures)


def write_page(script: Path, played: Played) -> str:
    """Return an example as a page of Markdown: its prose, its code, and what it printed below each cell."""
    name = script.stem
    how = (
        f"Run it with `python examples/{script.name}`; it writes into the current folder. "
        f"[The script]({script.name}), [as a notebook]({name}.ipynb)."
    )
    parts: list[str] = []
    for cell, printed in played.cells:
        parts.append(cell.text if cell.prose else f"```python\n{cell.text}\n```")
        if printed:
            parts.append(f"```text\n{printed.rstrip()}\n```")
    return "\n\n".join([*parts, how]) + "\n"


def write_gallery(played: dict[str, Played]) -> str:
    """Return the page of all pictures that examples draw, each with a link to its example."""
    parts = [
        "# Gallery",
        "Every picture is drawn by an [example](examples/health_counts.md) when this site is built.",
    ]
    for name, example in played.items():
        pictures = list(_list_pictures(example))
        if pictures:
            parts.append(f"## [{find_title(example)}](examples/{name}.md)")
        parts += [f"![{words}](examples/{picture})\n\n*{words}.*" for words, picture in pictures]
    return "\n\n".join(parts) + "\n"


def find_title(example: Played) -> str:
    """Return the heading of an example."""
    return example.cells[0][0].text.splitlines()[0].removeprefix("# ")


def _list_pictures(example: Played) -> Iterator[tuple[str, str]]:
    """Yield the words and the file of each picture that an example shows."""
    for cell, _ in example.cells:
        if cell.prose:
            yield from re.findall(r"!\[([^\]]+)\]\(([^)]+)\)", cell.text)


def write_notebook(script: Path) -> str:
    """Return a script as a Jupyter notebook, without results."""
    cells = [
        {
            "cell_type": "markdown" if cell.prose else "code",
            "id": f"cell-{k}",
            "metadata": {},
            "source": cell.text.splitlines(keepends=True),
            **({} if cell.prose else {"execution_count": None, "outputs": []}),
        }
        for k, cell in enumerate(read_cells(script))
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
