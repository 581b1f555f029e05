"""What a command does without, so that small ones are done at once."""

from __future__ import annotations

from importlib.abc import MetaPathFinder
from typing import Any


class WithoutPandas(MetaPathFinder):
    """Says that pandas is not installed.

    Arrow imports it where it can, to see whether it was given any of it. Commands are given files, and pandas
    takes a tenth of a small one's time; much more on a first run that has to compile it.
    """

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("commands do without pandas", name=name)
