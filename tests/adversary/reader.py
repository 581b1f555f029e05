"""What somebody knows who has read the release and the documentation of the method that made it.

Part of the referee: nothing of Tacita is imported here. The method and its options are public, the seed is
not, and nobody is told which cells were sensitive. Each function below says what the page of a method
promises about one cell, whatever windows the release itself announces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truth import World

Floats = NDArray[np.float64]
Words = NDArray[np.str_]


@dataclass(frozen=True, eq=False)
class Told:
    """A release as it is printed: per cell the mark, the window and the number shown (or nan), in units.

    ``sums`` are cells whose sum readers know to lie between two numbers.
    """

    marks: Words
    low: Floats
    high: Floats
    value: Floats
    sums: tuple[tuple[tuple[int, ...], float, float], ...] = ()

    def narrowed(self, low: Floats, high: Floats) -> Told:
        """The same with windows that are nowhere wider than before."""
        return replace(self, low=np.maximum(self.low, low), high=np.minimum(self.high, high))


@dataclass(frozen=True, eq=False)
class Page:
    """What is public besides the release: the method with all its options, and columns that options name.

    ``sensitive`` is used only where a page says that readers are assumed to know which cells are not.
    """

    method: str
    options: Mapping[str, Any]
    columns: Mapping[str, Floats]
    sensitive: NDArray[np.bool_]


def read(told: Told, world: World, page: Page) -> Told:
    """The release with the windows that its documented method leaves to each cell."""
    knows = _READERS.get(page.method)
    return told if knows is None or literature(page) else knows(told, world, page)


def literature(page: Page) -> bool:
    """Whether an option asks for a model of the literature, in which readers know less than the pages say;
    the verdict or the outcome must then carry a remark.
    """
    options = page.options
    return (
        (page.method in ("rounding", "unbiased-rounding") and options.get("strict") is False)
        or (page.method == "rounding" and options.get("multiples") == "exact" and not options.get("steps"))
        or options.get("readers") == "radius"
        or (page.method == "perturbation" and options.get("sensitive") == "free")
        or (page.method in ("random-rounding", "adjustment") and options.get("protected") is False)
        or (page.method == "adjustment" and bool(options.get("shortfall")))
    )


def _rounding(told: Told, world: World, page: Page) -> Told:
    """The truth is less than a base from a rounded number, or at most a base where multiples may move."""
    rounded, farthest = told.marks == "rounded", 1 + int(page.options.get("steps") or 0)
    base = _base(told, world, page.options.get("base"), farthest)
    if base is None or page.options.get("multiples") == "move":
        return told
    room = farthest * base - world.step
    narrow = _around(told, rounded, room, room)
    if not page.options.get("protected", True):
        return narrow
    reach = base - world.step
    found = (told.value[list(cells)].sum() for cells in _subtotals(world, page.options.get("subtotals")))
    pairs = zip(_subtotals(world, page.options.get("subtotals")), found, strict=True)
    return replace(narrow, sums=tuple((cells, shown - reach, shown + reach) for cells, shown in pairs))


def _subtotals(world: World, written: str | None) -> Iterator[tuple[int, ...]]:
    """The cells of each sum in ``axis=A+B``: one for every code of the other axes."""
    if not written:
        return
    name, codes = written.split("=")
    d = [axis.name for axis in world.axes].index(name)
    for cell in world.cells:
        parts = [(*cell[:d], code, *cell[d + 1 :]) for code in codes.split("+")]
        if cell[d] == codes.split("+")[0] and all(part in world.position for part in parts):
            yield tuple(world.position[part] for part in parts)


def _base(told: Told, world: World, given: Any, farthest: int) -> float | None:
    """The base: as an option says, or the round number of steps that the radius stands for."""
    if isinstance(given, int | float):
        return float(round(given * 10**world.decimals))
    radius = (told.high - told.low)[told.marks == "rounded"] / 2 / world.step
    if given is not None or farthest > 1 or not radius.size or not np.isfinite(radius).all():
        return None
    # One step, and two less one, are the same radius; nothing is lost by taking the wider one.
    reach = round(radius.min())
    return float(reach if _is_round(reach) and not _is_round(reach + 1) else reach + 1) * world.step


def _is_round(number: int) -> bool:
    """Whether a number is one of 1, 2, 5, 10, 20, 50, ..."""
    return str(number).rstrip("0") in ("1", "2", "5")


def _unbiased(told: Told, world: World, page: Page) -> Told:
    """Less than a base from every rounded number; sums of rounded cells follow from their parts."""
    base, rounded = _base(told, world, page.options.get("base"), 1), told.marks == "rounded"
    if base is None:
        return told
    parts = np.where(rounded, np.ceil((told.high - told.low) / 2 / base - 1e-9), 0)
    return _around(told, rounded, parts * (base - world.step), parts * (base - world.step))


def _perturbation(told: Told, world: World, page: Page) -> Told:
    """The truth lies within the announced radius, and between columns of bounds where there are some."""
    changed = told.marks == "adjusted"
    low, high = (page.columns.get(page.options.get(name) or "") for name in ("lowest", "highest"))
    least = np.full(len(world), -np.inf) if low is None else np.where(changed, low, -np.inf)
    most = np.full(len(world), np.inf) if high is None else np.where(changed, high, np.inf)
    return told.narrowed(least, most)


def _adjustment(told: Told, world: World, page: Page) -> Told:
    """Cells that are not sensitive moved within their capacities."""
    capacity = page.options.get("capacity")
    if capacity is None or page.options.get("protected") is False:
        return told
    moved = (told.marks == "adjusted") & ~page.sensitive
    value = np.where(moved, told.value, 0.0)
    if isinstance(capacity, str):
        share = float(capacity.rstrip("%")) / 100
        ends = np.array(
            [value / (1 + share), value / (1 - share) if share < 1 else np.inf * np.ones(len(world))]
        )
        least, most = ends.min(axis=0), ends.max(axis=0)
    else:
        least, most = value - capacity * 10**world.decimals, value + capacity * 10**world.decimals
    low = np.where(moved, np.ceil(least / world.step - 1e-9) * world.step, -np.inf)
    return told.narrowed(low, np.where(moved, np.floor(most / world.step + 1e-9) * world.step, np.inf))


def _random_rounding(told: Told, world: World, page: Page) -> Told:
    """A number that is no multiple of the base was adjusted within its shares; a multiple may have been
    rounded as well, by less than a base. Totals are what they were.
    """
    near = (told.marks == "rounded") | (told.marks == "adjusted")
    inner = near & world.inner
    base = np.max((told.high - told.low)[inner] / 2, initial=0.0)
    below, above = float(page.options.get("below", 0.5)), float(page.options.get("above", 1.0))
    value = np.where(near, told.value, 0.0)
    # Shares of negative values would be bounds the other way round.
    shares = not (world.values < 0).any()
    least = np.maximum(value / (1 + above) if shares else -np.inf, value - base)
    most = np.minimum(value / (1 - below) if shares and below < 1 else np.inf, value + base)
    step = world.step
    rounded = (np.mod(value, base) == 0) if base else np.zeros(len(world), dtype=bool)
    least = np.where(rounded, np.minimum(least, value - base + step), least)
    most = np.where(rounded, np.maximum(most, value + base - step), most)
    low = np.where(inner, np.ceil(least / step - 1e-9) * step, np.where(near, value, -np.inf))
    high = np.where(inner, np.floor(most / step + 1e-9) * step, np.where(near, value, np.inf))
    return told.narrowed(low, high)


def _mixture(told: Told, world: World, page: Page) -> Told:
    """Rounded cells as in rounding with the base of their part; the others as they are announced."""
    bases = re.findall(r"rounding\(base=([0-9.]+)\)", page.options["parts"])
    if not bases:
        return told
    return _rounding(told, world, replace(page, options={"base": float(bases[0])}))


def _around(told: Told, where: NDArray[np.bool_], below: Floats | float, above: Floats | float) -> Told:
    value = np.where(where, told.value, 0.0)
    low = np.where(where, value - below, -np.inf)
    high = np.where(where, value + above, np.inf)
    return told.narrowed(low, high)


_READERS = {
    "rounding": _rounding,
    "unbiased-rounding": _unbiased,
    "perturbation": _perturbation,
    "adjustment": _adjustment,
    "random-rounding": _random_rounding,
    "mixture": _mixture,
}
