"""Methods, rules and formats of other packages, found through their entry points.

A package announces them in its ``pyproject.toml``::

    [project.entry-points."tacita.methods"]
    hide-rows = "their_package.hide_rows:HideRows"

Entry points are read when a name is used that is not built in, or when all names are listed. What cannot be
used is left out with a :class:`~tacita.core.errors.PluginWarning` that names it; everything else works on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from tacita.core.errors import PluginWarning, issue_warnings


@dataclass(frozen=True)
class Plugin:
    """A method, rule or format of another package; ``fault`` says why it cannot be used, if it cannot."""

    group: str
    name: str
    package: str
    value: Any = None
    fault: str = ""


@cache
def find_plugins(
    group: str, built_in: frozenset[str], find_fault: Callable[[str, Any], str]
) -> tuple[Plugin, ...]:
    """Return the plug-ins of other packages in a group, ordered by name; warn of those that cannot be used.

    Parameters
    ----------
    built_in
        Names that no plug-in may have.
    find_fault
        Returns what is wrong with a plug-in of this name, or an empty text. Exceptions are faults too.
    """
    from importlib.metadata import entry_points

    found: list[Plugin] = []
    for point in sorted(entry_points(group=group), key=lambda point: point.name):
        package = "an unknown package" if point.dist is None else f"{point.dist.name} {point.dist.version}"
        value, fault = None, ""
        if point.name in built_in:
            fault = "a built-in has this name"
        elif point.name in {plugin.name for plugin in found}:
            fault = "another plug-in has this name"
        else:
            try:
                value = point.load()
                fault = find_fault(point.name, value)
            except (Exception, SystemExit) as error:
                fault = f"it fails to load: {type(error).__name__}: {error}"
        found.append(Plugin(group, point.name, package, value, fault))
    issue_warnings(
        (
            f"plug-in '{plugin.name}' ({group}) of {plugin.package} is left out: {plugin.fault}. Remedy: "
            "update or uninstall that package"
            for plugin in found
            if plugin.fault
        ),
        PluginWarning,
    )
    return tuple(found)


def list_usable_plugins(plugins: tuple[Plugin, ...]) -> dict[str, Any]:
    """Return the methods, rules or formats of the plug-ins that can be used, by their names."""
    return {plugin.name: plugin.value for plugin in plugins if not plugin.fault}
