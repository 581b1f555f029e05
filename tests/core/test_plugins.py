"""Methods, rules and formats of other packages are there like built-in ones, and cannot break anything."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import TypeVar

import pytest

import tacita as tc
from tacita.cli import main
from tacita.core.errors import FormatError, InputError, PluginWarning, RuleError
from tacita.core.plugins import find_plugins
from tacita.formats.columns import find_format_plugins, has_columns
from tacita.methods import make_method, method_names, options_of
from tacita.methods.method import method_plugins
from tacita.rules import rule_kinds
from tacita.rules.grammar import find_rule_plugins, write_rule

T = TypeVar("T")
EXAMPLE = Path(__file__).parents[2] / "examples" / "plugin"
STANZAS = "\n\n".join(
    f"region: {region}\ndiagnosis: {diagnosis}\nvalue: {value}"
    for region, values in {"North": (20, 50, 10), "East": (8, 19, 3), "South": (17, 32, 12)}.items()
    for diagnosis, value in zip("ABC", values, strict=True)
)


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the example package, installed without any network."""
    if importlib.util.find_spec("hatchling") is None:
        pytest.skip("hatchling, which builds the example package, is missing: pip install -e '.[dev]'")
    target = tmp_path_factory.mktemp("installed")
    source = tmp_path_factory.mktemp("source") / "plugin"
    # Built from a copy: a build may leave files beside its source.
    shutil.copytree(EXAMPLE, source)
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--target", target]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, source], check=True)
    return target


@pytest.fixture
def plugged(installed: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The example package in this process, for one test."""
    monkeypatch.syspath_prepend(str(installed))
    yield from _forgetting(installed)


@pytest.fixture
def announced(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[metadata.EntryPoint]]:
    """A list of entry points that a test fills; no others are found."""
    points: list[metadata.EntryPoint] = []
    monkeypatch.setattr(
        metadata, "entry_points", lambda *, group: [point for point in points if point.group == group]
    )
    yield from _forgetting(points)


def _forgetting(value: T) -> Iterator[T]:
    find_plugins.cache_clear()
    yield value
    find_plugins.cache_clear()
    for name in [name for name in sys.modules if name.split(".")[0] == "tacita_example"]:
        del sys.modules[name]


@pytest.mark.usefixtures("plugged")
def test_a_foreign_method_has_options_like_a_built_in_one() -> None:
    assert method_names()[-1] == "hide-small"
    assert [option.name for option in options_of("hide-small")] == ["below", "zeros"]
    method = make_method("hide-small", {"below": "12", "zeros": "yes"})
    assert (method.below, method.zeros) == (12.0, True)
    with pytest.raises(InputError, match="method 'hide-small' has no option 'belo'"):
        make_method("hide-small", {"belo": 3})
    with pytest.raises(InputError, match=r"did you mean 'hide-small'.*hide-small"):
        make_method("hide-smal")


@pytest.mark.usefixtures("plugged")
def test_a_foreign_rule_is_read_and_written() -> None:
    rule = tc.parse_rule("threshold(3) | between(5, 9)")
    assert write_rule(rule) == "threshold(3) | between(5, 9)"
    assert str(rule) == "threshold 3 | value from 5 to 9"
    with pytest.raises(RuleError, match=r"there is no rule 'betwen' \(did you mean 'between'\?\)"):
        tc.parse_rule("betwen(1, 2)")
    with pytest.raises(RuleError, match="between takes low, high"):
        tc.parse_rule("between(1)")


@pytest.mark.usefixtures("plugged")
def test_all_three_work_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "table.stanza"
    file.write_text(STANZAS, encoding="utf-8")
    words = ["--rules", "between(3, 4)", "--method", "hide-small", "--option", "below=11"]
    assert main(["protect", str(file), *words, "--out", str(tmp_path / "out"), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["method"], answer["options"]) == ("hide-small", {"below": 11.0, "zeros": False})
    release = (tmp_path / "out" / "publication" / "release.csv").read_text(encoding="utf-8")
    assert "North,C" in release
    assert "10" not in release.split("North,C", 1)[1].splitlines()[0]
    assert main(["protect", "--method", "hide-small", "--help-options"]) == 0
    assert "cells with a smaller value are hidden too" in " ".join(capsys.readouterr().out.split())
    assert main(["protect", "--help"]) == 0
    assert "hide-small" in capsys.readouterr().out
    assert main(["convert", str(file), str(tmp_path / "copy.stanza")]) == 0
    assert "region: North\ndiagnosis: A\nvalue: 20" in (tmp_path / "copy.stanza").read_text("utf-8")
    capsys.readouterr()
    assert main(["doctor", "--json"]) == 0
    seen = {check["name"]: check for check in json.loads(capsys.readouterr().out)["checks"]}
    assert seen["plug-in between"]["seen"] == "tacita.rules, of tacita-example 0.1.0"


@pytest.mark.usefixtures("plugged")
def test_all_three_work_in_a_project(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "table.stanza").write_text(STANZAS, encoding="utf-8")
    (tmp_path / "project.toml").write_text(
        '[table]\nfile = "table.stanza"\n[rules]\nrule = "between(3, 4)"\n'
        '[protect]\nmethod = "hide-small"\noptions = { below = 11 }\n[output]\nfolder = "out"\n',
        encoding="utf-8",
    )
    assert main(["protect", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["options"]["below"] == 11
    problem = tc.load_project(tmp_path / "project.toml").problem()
    (tmp_path / "again").mkdir()
    tc.write_project(problem, tmp_path / "again", method="hide-small", options={"below": 11})
    assert "between(3, 4)" in (tmp_path / "again" / "project.toml").read_text("utf-8")
    script = tc.write_script(tmp_path / "again", method="hide-small", options={"below": 11})
    text = script.read_text("utf-8")
    assert "from tacita_example.hide_small import HideSmall\n" in text
    assert "method = HideSmall(below=11)\n" in text


@pytest.mark.usefixtures("plugged")
def test_all_three_work_in_the_app(tmp_path: Path) -> None:
    from nicegui import ui

    from tacita.app.screens.protect.screen import ProtectScreen
    from tacita.app.screens.rules.rule_list import RuleList
    from tacita.app.work.desk import Desk
    from tacita.app.work.job import Job, State
    from tacita.app.work.opening import list_endings, open_case_at
    from tacita.app.work.workspace import Workspace
    from tacita.rules import rule_kinds

    file = tmp_path / "table.stanza"
    file.write_text(STANZAS, encoding="utf-8")
    assert ".stanza" in list_endings()
    workspace = Workspace()
    workspace.change(open_case_at(file))
    with ui.element() as page:
        rules = RuleList(Desk(workspace, lambda _: None, lambda: None))
        offered = [part.props.get("data-testid") for part in page.descendants()]
        assert "add-between" in offered
        rules._add_chosen((rule_kinds()["between"].example,))
        assert workspace.require_case().rules == ("between(1, 4)",)
        bench = ProtectScreen(workspace)
        bench._pick("hide-small")
    shown = [str(part.props["data-testid"]) for part in page.descendants() if "data-testid" in part.props]
    assert {"rule-1-low", "rule-1-high", "method-hide-small", "option-below", "option-zeros"} <= set(shown)
    done = Job(1, workspace.require_case(), "hide-small", bench._form.read_values())
    done.carry_out()
    assert done.state is State.SAFE
    workspace.close()


@pytest.mark.usefixtures("plugged")
def test_a_file_that_a_foreign_reader_refuses_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "table.stanza"
    file.write_text("region North\n", encoding="utf-8")
    with pytest.raises(FormatError, match=r"table.stanza, line 1: .* add the colon"):
        tc.read_case(file)
    file.write_bytes(b"region: \xff\n")
    with pytest.raises(
        FormatError, match=r"table.stanza: the plug-in for .stanza files cannot read it \(.*utf-8"
    ):
        tc.read_case(file)
    from tacita_example import stanza

    monkeypatch.setattr(stanza, "read", lambda path: {"value": [1]})
    with pytest.raises(FormatError, match="returned no pyarrow table but a dict"):
        tc.read_case(file)


@pytest.mark.slow
def test_the_tests_of_the_example_pass(installed: Path) -> None:
    paths = os.pathsep.join([str(installed), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", str(EXAMPLE / "tests")],
        env={**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 passed" in done.stdout


BROKEN = {
    "nowhere": ("tacita.methods", "there_is_no_such_module:Thing", "ModuleNotFoundError"),
    "suppression": ("tacita.methods", "tacita.methods.suppression.suppression:Suppression", "built-in"),
    "plain": ("tacita.methods", "tacita.core.words:pluralize", "it is no dataclass"),
    "outcome": ("tacita.methods", "tacita.core.outcome:Outcome", "its class has no 'name'"),
    "other": ("tacita.methods", "tacita.methods.mixture.mixture:Mixture", "another name, 'mixture'"),
    "threshold": ("tacita.rules", "tacita.rules:Threshold", "built-in"),
    "words": ("tacita.rules", "tacita.core.words:pluralize", "inherits from tacita.Rule"),
    "Upper": ("tacita.rules", "tacita.rules:Threshold", "small letters"),
    "copy": ("tacita.rules", "tacita.rules:Threshold", r"its example 'threshold\(3\)' is no such rule"),
    "csv": ("tacita.formats", "tacita.formats.csv", "built-in"),
    "jj": ("tacita.formats", "tacita.formats.csv", "built-in"),
    "xyz": ("tacita.formats", "tacita.formats.csv", "no function 'read'"),
    "x.y": ("tacita.formats", "tacita.formats.csv", "ending of its files"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_cannot_be_used_is_left_out_with_a_warning(
    name: str, announced: list[metadata.EntryPoint]
) -> None:
    group, value, fault = BROKEN[name]
    announced.append(metadata.EntryPoint(name, value, group))
    find = {
        "tacita.methods": method_plugins,
        "tacita.rules": find_rule_plugins,
        "tacita.formats": find_format_plugins,
    }
    with pytest.warns(
        PluginWarning, match=rf"plug-in '{name}' \({group}\) .* is left out: .*{fault}.*Remedy"
    ):
        assert [plugin.fault != "" for plugin in find[group]()] == [True]
    assert method_names() == tuple(tc.methods.method.METHODS)
    assert list(rule_kinds()) == list(tc.rules.RULES)
    assert not has_columns(f"table.{name}") or name == "csv"
    assert make_method("suppression") == tc.Suppression()


def test_of_two_plugins_with_one_name_the_second_is_left_out(
    announced: list[metadata.EntryPoint], plugged: Path
) -> None:
    for value in ("tacita_example.hide_small:HideSmall", "tacita.core.outcome:Outcome"):
        announced.append(metadata.EntryPoint("hide-small", value, "tacita.methods"))
    with pytest.warns(PluginWarning, match="another plug-in has this name"):
        assert method_names()[-1] == "hide-small"


def test_the_command_line_names_what_is_left_out_and_goes_on(
    announced: list[metadata.EntryPoint], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    announced.append(metadata.EntryPoint("broken", "there_is_no_such_module:Thing", "tacita.methods"))
    announced.append(metadata.EntryPoint("stanza", "there_is_no_such_module", "tacita.formats"))
    file = tmp_path / "table.stanza"
    file.write_text(STANZAS, encoding="utf-8")
    assert main(["protect", str(file), "--rules", "threshold(4)"]) == 1
    told = " ".join(capsys.readouterr().err.split())
    assert "warning: plug-in 'stanza' (tacita.formats)" in told
    assert "no case has the ending '.stanza'" in told
    assert main(["doctor", "--json"]) == 0
    seen = {check["name"]: check for check in json.loads(capsys.readouterr().out)["checks"]}
    assert not seen["plug-in broken"]["good"]
    assert seen["plug-in broken"]["optional"]


def test_help_reads_no_entry_points() -> None:
    """The packages of an environment are not searched for plug-ins before a name is asked for."""
    program = (
        "import sys\nfrom tacita.cli import main\n"
        "main(['--help'])\nfrom tacita.methods import make_method\nmake_method('suppression')\n"
        "from tacita.rules import parse_rule\nparse_rule('threshold(3)')\n"
        "from tacita.core.plugins import find_plugins\n"
        "assert find_plugins.cache_info().misses == 0, 'entry points were read'\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.DEVNULL)
