"""What somebody knows who has read the release and the documentation of the method that made it.

Part of the referee: nothing of Tacita is imported here. The method and its options are public, the seed is
not, and nobody is told which cells were sensitive. Each function below says what the page of a method
promises about one cell, whatever windows the release itself announces.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truth import World

Floats = NDArray[np.float64]
Words = NDArray[np.str_]


@dataclass(frozen=True, eq=False)
class Told:
    """A release as it is printed: per cell the mark, the window and the number shown (or nan), in units."""

    marks: Words
    low: Floats
    high: Floats
    value: Floats

    def narrowed(self, low: Floats, high: Floats) -> Told:
        """With windows that are nowhere wider than before."""
        return replace(self, low=np.maximum(self.low, low), high=np.minimum(self.high, high))


def read(told: Told, world: World, method: str, options: Mapping[str, Any]) -> Told:
    """The release with the windows that its documented method leaves to each cell."""
    knows = _READERS.get(method)
    return told if knows is None else knows(told, world, options)


def _rounding(told: Told, world: World, options: Mapping[str, Any]) -> Told:
    """The truth is less than a base from a rounded number, or than several where cells went farther; where
    multiples may move it may be just as far.
    """
    rounded = told.marks == "rounded"
    closed = not options.get("strict", True) and options.get("multiples") != "move"
    room = (told.high - told.low) / 2 - (world.step if closed else 0)
    return _around(told, rounded, room, room)


def _unbiased(told: Told, world: World, options: Mapping[str, Any]) -> Told:
    """Less than a base from every rounded number; sums of rounded cells follow from their parts."""
    rounded = told.marks == "rounded"
    room = (told.high - told.low) / 2 - (0 if options.get("strict", True) else world.step)
    return _around(told, rounded, room, room)


def _perturbation(told: Told, world: World, options: Mapping[str, Any]) -> Told:
    """Numbers lie within the announced radius; within half of it in the literature's model."""
    if options.get("readers") != "radius" or options.get("lowest") or options.get("highest"):
        return told
    room = np.floor((told.high - told.low) / 4 / world.step) * world.step
    return _around(told, told.marks == "adjusted", room, room)


def _random_rounding(told: Told, world: World, options: Mapping[str, Any]) -> Told:
    """A number that is no multiple of the base was adjusted within its shares; a multiple may have been
    rounded as well, by less than a base. Totals are what they were.
    """
    near = (told.marks == "rounded") | (told.marks == "adjusted")
    inner = near & world.inner
    base = np.max((told.high - told.low)[inner] / 2, initial=0.0)
    below, above = float(options.get("below", 0.5)), float(options.get("above", 1.0))
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


def _mixture(told: Told, world: World, options: Mapping[str, Any]) -> Told:
    """Rounded parts as in rounding, perturbed parts as in perturbation, the others as they are."""
    rounded = _rounding(told, world, options.get("rounding", {}))
    perturbed = _perturbation(told, world, options.get("perturbation", {}))
    return rounded.narrowed(perturbed.low, perturbed.high)


def _around(told: Told, where: NDArray[np.bool_], below: Floats, above: Floats) -> Told:
    value = np.where(where, told.value, 0.0)
    low = np.where(where, value - below, -np.inf)
    high = np.where(where, value + above, np.inf)
    return told.narrowed(low, high)


_READERS = {
    "rounding": _rounding,
    "unbiased-rounding": _unbiased,
    "perturbation": _perturbation,
    "random-rounding": _random_rounding,
    "mixture": _mixture,
}
