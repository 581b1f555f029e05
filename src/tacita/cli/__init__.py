"""The command line: ``tacita VERB ...``.

Results go to stdout, everything else to stderr. Exit codes: 0 safe or done, 1 an error, 2 not safe.
Numerical libraries are imported by the functions that need them, so that help comes at once.

Imports: everything but testing.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from typing import Any

import typer

from tacita import __version__
from tacita.cli.app import run_app_command
from tacita.cli.assess import run_assess_command
from tacita.cli.audit import run_audit_command
from tacita.cli.compare import COLUMNS, run_compare_command
from tacita.cli.console import print_error
from tacita.cli.convert import run_convert_command
from tacita.cli.demo import run_demo_command
from tacita.cli.doctor import run_doctor_command
from tacita.cli.generate import generate
from tacita.cli.protect import ProtectCommand, run_protect_command
from tacita.cli.report import run_report_command
from tacita.cli.run import run_run_command
from tacita.cli.tabulate import run_tabulate_command
from tacita.cli.verb import ERROR, make_verb
from tacita.cli.verify import run_verify_command

app = typer.Typer(
    name="tacita",
    help="Protect statistical tables before they are published: every result audited, every audit proven.",
    epilog="Exit codes: 0 safe or done, 1 error, 2 not safe. Start with: tacita demo --out demo",
    add_completion=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)

# What typer raises for wrong options; its versions have different names for this base of their errors.
_UsageError: type[Any] = typer.BadParameter.__mro__[2]


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"tacita {__version__}")
        raise typer.Exit()


@app.callback()
def _everything(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Show the version."
    ),
) -> None:
    pass


app.command("demo")(make_verb(run_demo_command))
app.add_typer(generate, name="generate")
app.command("tabulate")(make_verb(run_tabulate_command))
app.command("assess")(make_verb(run_assess_command))
app.command("protect", cls=ProtectCommand)(make_verb(run_protect_command))
app.command("run")(make_verb(run_run_command))
app.command("audit")(make_verb(run_audit_command))
app.command("verify")(make_verb(run_verify_command))
app.command("compare", epilog=COLUMNS)(make_verb(run_compare_command))
app.command("report")(make_verb(run_report_command))
app.command("convert")(make_verb(run_convert_command))
app.command("app")(make_verb(run_app_command))
app.command("doctor")(make_verb(run_doctor_command))


class WithoutPandas(MetaPathFinder):
    """Makes pandas look as if it were not installed.

    Arrow imports pandas if it is there, to recognise its frames. Commands are given files, and the import
    takes a tenth of the time of a small one; much more on a first run that has to compile it.
    """

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("commands do without pandas", name=name)


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out one command of the command line and return its exit code.

    A wrong option is an error like any other: code 1, since 2 means that a table is not safe. Without a verb
    the help is printed.
    """
    if arguments is None:
        sys.meta_path.insert(0, WithoutPandas())
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or given in [[group.name] for group in app.registered_groups]:
        given.append("--help")
    try:
        code = app(given, prog_name="tacita", standalone_mode=False)
    except _UsageError as wrong:
        print_error(f"{wrong.format_message()} See: tacita {_find_verb(given)}--help".replace("  ", " "))
        return ERROR
    except typer.Abort:
        return ERROR
    return int(code or 0)


def _find_verb(arguments: Sequence[str]) -> str:
    named = next((word for word in arguments if not word.startswith("-")), "")
    known = {command.name for command in app.registered_commands} | {"generate"}
    return f"{named} " if named in known else ""
