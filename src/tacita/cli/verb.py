"""From a function to a verb of the command line.

A verb is a function that returns its exit code. A parameter whose type is a dataclass stands for a group of
options, one per field: options that several verbs share are written down once. Errors become one message on
stderr and exit code 1.
"""

from __future__ import annotations

import inspect
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import Annotated, Any, TextIO, get_type_hints

import typer

from tacita.cli.console import print_error, print_json, print_warnings
from tacita.cli.flags import add_flags
from tacita.cli.workers import close_workers
from tacita.core.errors import PluginWarning, TacitaError, TacitaWarning
from tacita.storage.signals import raise_on_signals

DONE = 0
ERROR = 1
UNSAFE = 2


@dataclass(frozen=True)
class Output:
    """How a verb answers; every verb has these options."""

    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object on stdout and nothing else there.")
    ] = False
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False


def make_verb(function: Callable[..., int]) -> Callable[..., int]:
    """Return a function as a typer command: one parameter per flag, errors as messages and exit code 1."""
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, type[Any]] = {
        name: kind for name, kind in hints.items() if isinstance(kind, type) and is_dataclass(kind)
    }
    parameters = []
    for name, parameter in inspect.signature(function).parameters.items():
        if name in groups:
            parameters.extend(_list_options(groups[name]))
        else:
            parameters.append(parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY))

    def command(**given: Any) -> int:
        arguments = {
            name: kind(**{field.name: given.pop(field.name) for field in fields(kind)})
            for name, kind in groups.items()
        }
        return _run_guarded(function, {**given, **arguments}, [parameter.name for parameter in parameters])

    command.__name__ = function.__name__
    command.__doc__ = inspect.getdoc(function)
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    command.__dict__["__signature__"] = inspect.Signature(parameters)
    return command


def _list_options(group: type[Any]) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default if field.default_factory is MISSING else field.default_factory(),
            annotation=hints[field.name],
        )
        for field in fields(group)
    ]


def _run_guarded(function: Callable[..., int], arguments: dict[str, Any], parameters: list[str]) -> int:
    output = next(value for value in arguments.values() if isinstance(value, Output))
    try:
        with raise_on_signals(), _show_warnings(), _close_workers():
            return function(**arguments)
    except KeyboardInterrupt:
        message = "stopped: nothing more was written"
    except (TacitaError, OSError) as error:
        message = add_flags(describe_error(error), getattr(error, "options", ()), parameters)
        _print_traceback(output)
    except Exception as error:
        message = (
            f"{type(error).__name__}: {error}. A fault of the program: please report what --debug shows."
        )
        _print_traceback(output)
    print_error(message)
    if output.json:
        print_json({"error": message})
    return ERROR


@contextmanager
def _close_workers() -> Iterator[None]:
    try:
        yield
    finally:
        close_workers()


@contextmanager
def _show_warnings() -> Iterator[None]:
    """Print warnings on plug-ins on stderr; those of tables and problems are printed by the verbs."""
    with warnings.catch_warnings():
        usual = warnings.showwarning

        def show(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if issubclass(category, PluginWarning):
                print_warnings(str(message))
            else:
                usual(message, category, filename, lineno, file, line)

        warnings.simplefilter("ignore", TacitaWarning)
        warnings.simplefilter("always", PluginWarning)
        warnings.showwarning = show
        yield


def describe_error(error: Exception) -> str:
    """Return an error of a verb as a message to its user."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}. Check the path and who may read or write there."
    return str(error)


def _print_traceback(output: Output) -> None:
    if output.debug:
        traceback.print_exc()
