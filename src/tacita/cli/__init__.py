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
from tacita.cli.app import open_app
from tacita.cli.assess import assess
from tacita.cli.audit import audit
from tacita.cli.compare import COLUMNS, compare
from tacita.cli.console import print_error
from tacita.cli.convert import convert
from tacita.cli.demo import demo
from tacita.cli.doctor import doctor
from tacita.cli.generate import generate
from tacita.cli.protect import ProtectCommand, protect
from tacita.cli.report import report
from tacita.cli.tabulate import tabulate
from tacita.cli.verb import ERROR, verb
from tacita.cli.verify import verify

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


app.command("demo")(verb(demo))
app.add_typer(generate, name="generate")
app.command("tabulate")(verb(tabulate))
app.command("assess")(verb(assess))
app.command("protect", cls=ProtectCommand)(verb(protect))
app.command("audit")(verb(audit))
app.command("verify")(verb(verify))
app.command("compare", epilog=COLUMNS)(verb(compare))
app.command("report")(verb(report))
app.command("convert")(verb(convert))
app.command("app")(verb(open_app))
app.command("doctor")(verb(doctor))


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
