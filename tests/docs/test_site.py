"""The site: pages and navigation, examples that run, a complete reference, nothing from other hosts."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
import typer

import tacita
from docstrings import list_items, write_docstring
from links import find_page, rewrite
from outside import check_site, find_outside
from pages import list_documents
from percent import Played, list_scripts, play, read_cells, write_gallery, write_notebook, write_page
from reference import PAGES_OF_CODE, write_command_line, write_methods, write_project, write_python
from tacita.cli import app
from tacita.methods import options_of
from tacita.methods.method import METHODS
from tacita.rules import RULES

ROOT = Path(__file__).parents[2]
CONFIGURATION = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
PRINTED = {
    "health_counts": ("2 UNSAFE (2 disclosed exactly)", "2 safe, all proven", "health_counts.csv"),
    "turnover_with_insiders": (
        "outsider:  7 sensitive cells: 7 safe",
        "everyone:  7 sensitive cells: 4 safe, 3 UNSAFE",
        "4,010 instead of 2,130, optimal\n7 sensitive cells: 7 safe, all proven",
    ),
    "linked_tables": (
        "by industry -> 11 sensitive cells: 11 safe, all proven",
        "by size -> 8 sensitive cells: 8 safe, all proven",
        "at hand -> 8 sensitive cells: 4 safe, 4 UNSAFE",
        "18 sensitive cells: 18 safe, all proven",
    ),
    "rounding_and_suppression": (
        "public: 3 sensitive cells: 3 safe, all proven",
        "with it:  3 sensitive cells: 1 safe, 2 UNSAFE",
        "knowing of it:        3 sensitive cells: 3 safe, all proven",
    ),
    "adjustment_with_statistics": (
        "least change: loss 1,400, 6 sensitive cells: 6 safe, all proven",
        "statistics kept: loss 1,620, 6 sensitive cells: 6 safe, all proven",
        "mean +0.00 %, variance +0.07 %",
    ),
    "audit_of_others": ("1 UNSAFE (1 disclosed exactly)", "C (2.0, 2.0)", "1 safe, all proven"),
    "nightly_production": ("12 safe, 1 failed\nexit code 1\n", "month-13.toml failed", "release.csv"),
}
"""What each example must print, in order."""


def list_navigation() -> list[str]:
    return re.findall(r"^ +- [^#\n]*: (\S+\.md)$", CONFIGURATION, re.MULTILINE)


def test_the_navigation_has_every_page_once() -> None:
    documents = {page for page, _ in list_documents() if not page.startswith("source/")}
    examples = {f"examples/{script.stem}.md" for script in list_scripts()}
    listed = list_navigation()
    assert len(listed) == len(set(listed))
    assert set(listed) == documents | examples | set(PAGES_OF_CODE) | {"gallery.md"}


def test_links_between_files_become_links_between_pages() -> None:
    text = "[a](../audit.md#c) [b](../../README.md) [c](../../src/tacita/verify.py) [d](https://a.b) [e](#f)"
    moved, goals = rewrite(text, "docs/methods/rounding.md")
    source = "../source/src/tacita/verify.py.md"
    assert moved == f"[a](../audit.md#c) [b](../index.md) [c]({source}) [d](https://a.b) [e](#f)"
    assert goals == {"docs/audit.md", "README.md", "src/tacita/verify.py"}
    block = "```csv a.csv\n[x](y)\n```\n| `a \\| b` |\n"
    assert rewrite(block, "README.md")[0] == '```csv title="a.csv"\n[x](y)\n```\n| `a | b` |\n'


def test_files_that_documents_link_to_have_pages() -> None:
    pages = dict(list_documents())
    assert "def verify(" in pages[find_page("src/tacita/verify.py")]
    assert pages["index.md"].startswith("# Tacita")
    for page, text in pages.items():
        for target in re.findall(
            r"\]\(([^)\s#:]+)[)#]", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
        ):
            if not page.startswith("source/") and target.endswith(".md"):
                assert os.path.normpath(Path(page).parent / target) in pages, f"{page}: {target}"


@pytest.fixture(scope="module")
def played() -> dict[str, Played]:
    return {script.stem: play(script) for script in list_scripts()}


@pytest.mark.parametrize("name", [script.stem for script in list_scripts()])
def test_examples_print_and_draw_what_they_show(name: str, played: dict[str, Played]) -> None:
    example = played[name]
    printed = "".join(out for _, out in example.cells)
    places = [printed.find(text) for text in PRINTED[name]]
    assert -1 not in places, printed
    assert places == sorted(places), printed
    page = write_page(ROOT / "examples" / f"{name}.py", example)
    assert set(re.findall(r"!\[[^\]]+\]\((.*?)\)", page)) == set(example.pictures)
    for picture in example.pictures.values():
        assert ElementTree.fromstring(picture).get("role") == "img"


def test_the_gallery_has_every_picture(played: dict[str, Played]) -> None:
    shown = re.findall(r"\(examples/(\w+\.svg)\)", write_gallery(played))
    assert sorted(shown) == sorted(name for example in played.values() for name in example.pictures)


def test_the_decision_tree_is_readable_on_a_phone() -> None:
    picture = ElementTree.parse(ROOT / "docs" / "images" / "which-method.svg").getroot()
    assert float(picture.attrib["width"]) <= 390


def test_pictures_change_with_the_scheme_of_colours() -> None:
    css = (ROOT / "website" / "site.css").read_text(encoding="utf-8")
    dark = re.search(r'slate"\] [^{]*img\[src\$="\.svg"\] \{([^}]*)\}', css)
    assert dark is not None
    assert "invert" in dark[1]


def test_text_outside_cells_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n# %%\nprint(x)\n", encoding="utf-8")
    with pytest.raises(ValueError, match="in no cell"):
        read_cells(tmp_path / "a.py")


@pytest.mark.parametrize("script", list_scripts(), ids=lambda path: path.stem)
def test_notebooks_hold_all_cells(script: Path) -> None:
    notebook = json.loads(write_notebook(script))
    assert ["".join(cell["source"]) for cell in notebook["cells"]] == [c.text for c in read_cells(script)]


@pytest.mark.slow
@pytest.mark.parametrize("script", list_scripts(), ids=lambda path: path.stem)
def test_notebooks_run(script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbclient").NotebookClient
    pytest.importorskip("ipykernel")
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    notebook = nbformat.reads(write_notebook(script), as_version=4)
    nbformat.validate(notebook)
    client(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [own for cell in notebook.cells if cell.cell_type == "code" for own in cell.outputs]
    # Commands print in a notebook by showing texts in colours.
    printed = "".join(own["text"] if "text" in own else own["data"]["text/plain"] for own in outputs)
    assert not [text for text in PRINTED[script.stem] if text not in printed], printed


def test_the_reference_has_every_name_verb_option_and_key() -> None:
    names, commands, methods, project = write_python(), write_command_line(), write_methods(), write_project()
    missing = [name for name in tacita.__all__ if name != "__version__" and f"### `{name}`\n" not in names]
    command = typer.main.get_command(app)
    for word, verb in command.commands.items():
        inner = getattr(verb, "commands", None) or {"": verb}
        for second, own in inner.items():
            start = commands.find(f"## `{f'tacita {word} {second}'.strip()}`\n")
            section = commands[start : commands.find("\n## ", start)] if start >= 0 else ""
            options = [option for each in own.params for option in each.opts if option.startswith("--")]
            missing += [(word, option) for option in options if f"`{option}`" not in section]
    for name in METHODS:
        start = methods.find(f"## Method `{name}`\n")
        section = methods[start : methods.find("\n## ", start)]
        missing += [(name, own.name) for own in options_of(name) if f"| `{own.name}` |" not in section]
    missing += [name for name in RULES if f"## Rule `{name}`\n" not in methods]
    missing += [
        key for key in ("microdata", "undeclared_sums", "must_publish") if f"| `{key}` |" not in project
    ]
    assert not missing


def test_every_key_of_a_project_file_says_what_it_means() -> None:
    rows = [line for line in write_project().splitlines() if line.startswith("| `")]
    assert len(rows) > 60
    assert not [row for row in rows if row.endswith("|  |")]
    # Code is shown as it is written; elsewhere a stroke would part columns.
    assert "&#124;" not in "".join(text for row in rows for text in row.split("`")[1::2])
    assert any("p-percent(10) | frequency(3)" in row for row in rows)


def test_docstrings_become_lists() -> None:
    def example() -> None:
        """Return ``x`` of a :class:`~tacita.Table`.

        Parameters
        ----------
        low, high
            The ends,
            both included.
        """

    assert write_docstring(example) == (
        "Return `x` of a `Table`.\n\n**Parameters**\n\n- `low, high`: The ends, both included."
    )
    assert list_items("a\n    One.\n\n    Two.\nb\n    Three.\n") == {"a": "One.\n\nTwo.", "b": "Three."}


def test_what_other_hosts_would_serve_is_found() -> None:
    loading = [
        '<script src="https://a.b/c.js">',
        "<link rel=stylesheet href=//a.b/c.css>",
        '<img alt="x" src="http://a.b/c.png">',
        "<style>@import 'https://a.b/c.css'</style>",
        "p { background: url(https://a.b/c.png) }",
        '<link href="https://a.b" rel="preconnect">',
    ]
    assert [len(find_outside(text)) for text in loading] == [1] * len(loading)
    assert not find_outside('<a href="https://a.b">x</a> <img src="c.png"> <code>url(https://a.b)</code>')


@pytest.mark.slow
def test_the_site_is_built_strictly_and_loads_nothing_from_other_hosts(tmp_path: Path) -> None:
    pytest.importorskip("material")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "NO_MKDOCS_2_WARNING": "1"}
    pages, site = tmp_path / "docs", tmp_path / "site"
    configuration = tmp_path / "mkdocs.yml"
    text = CONFIGURATION.replace("build/docs", "docs").replace("build/site", "site")
    configuration.write_text(text.replace("website/theme", str(ROOT / "website" / "theme")), "utf-8")

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, *words]
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=900, check=False
        )

    assert run(str(ROOT / "website" / "pages.py"), str(pages)).returncode == 0
    build = ("-m", "mkdocs", "build", "--config-file", str(configuration))
    done = run(*build)
    assert done.returncode == 0, done.stderr
    assert len(list(site.rglob("*.html"))) > 40
    assert "Salazar" in (site / "search" / "search_index.json").read_text(encoding="utf-8")
    assert check_site(site) == []
    faults = ("nowhere.md", "audit.md#nowhere", "nowhere.png")
    text = "\n".join(f"[x]({fault})" for fault in faults)
    (pages / "scale.md").write_text(f"# Scale\n\n{text}\n", encoding="utf-8")
    done = run(*build)
    assert done.returncode != 0
    assert not [fault for fault in faults if f"link '{fault}'" not in done.stderr]
