"""A run as a Python script: what a statistician keeps beside ``project.toml`` to do it again."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict, Unpack

from tacita.core.errors import InputError
from tacita.core.outcome import read_gap
from tacita.methods import make_method, options_of
from tacita.methods.method import METHODS
from tacita.storage.atomic import write_text

SCRIPT = '''\
"""Protects the table of project.toml once more, audits the result, and writes it if it is safe."""

from pathlib import Path

import tacita as tc
{imports}
HERE = Path(__file__).resolve().parent

problem = tc.Specification.load(HERE / "project.toml").problem()
method = {method}
release = method.protect(problem, tc.Run({run}))
if (outcome := release.outcome) is not None:
    print(f"{{outcome.status.value}}: loss {{outcome.loss:g}}, bound {{outcome.bound:g}}")
audit = tc.audit(problem, release)
print(audit.verdict)
for path in tc.write_results(audit, HERE / "out", {formats}).paths:
    print(path)
'''


class RunOptions(TypedDict, total=False):
    """A run that is repeated; see :func:`~tacita.specification.project_write.write_project`."""

    options: Mapping[str, Any] | None
    seed: int | None
    time_limit: float | None
    gap: float | str | None
    formats: Sequence[str]


def write_script(folder: str | os.PathLike[str], *, method: str, **run: Unpack[RunOptions]) -> Path:
    """Write the Python script ``repeat.py`` of a run beside its ``project.toml``; see
    :func:`~tacita.specification.project_write.write_project`.

    The script gives the same release if it has the seed of what was drawn at random, unless time ended the
    run before the method was through. It is internal for that reason too.

    Raises
    ------
    InputError
        An option cannot be written as text.
    """
    chosen = make_method(method, run.get("options"))
    arguments = []
    for option in options_of(method):
        value = getattr(chosen, option.name)
        if value != option.default:
            arguments.append(f"{option.name}={_write_literal(option.name, value)}")
    gap = read_gap(run.get("gap") or 0.0) or None
    effort = {"time_limit": run.get("time_limit"), "gap": gap, "seed": run.get("seed")}
    cls = type(chosen)
    text = SCRIPT.format(
        imports="" if method in METHODS else f"from {cls.__module__} import {cls.__name__}\n",
        method=f"{'tc.' if method in METHODS else ''}{cls.__name__}({', '.join(arguments)})",
        run=", ".join(f"{name}={value!r}" for name, value in effort.items() if value is not None),
        formats=json.dumps(list(run.get("formats", ("csv",)))),
    )
    return write_text(Path(folder) / "repeat.py", text)


def _write_literal(name: str, value: object) -> str:
    if value is None or isinstance(value, str | bool | int | float):
        return repr(value)
    raise InputError(
        f"a {type(value).__name__} cannot be written as text",
        place=f"option '{name}'",
        remedy="say it in words",
    )
