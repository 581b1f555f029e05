"""Tables that come from nowhere: a new one to type, and random ones."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType

from nicegui import ui

from tacita.app.controls.page_parts import make_choice_field, make_text_field
from tacita.app.work.open_case import Case
from tacita.app.work.opening import generate_case, make_empty_case, parse_dimensions
from tacita.core.errors import InputError
from tacita.core.words import pluralize
from tacita.generate import FAMILIES

COUNTS, AMOUNTS = "counts", "amounts"
AS_USUAL = "as usual"
CELLS, PERCENT = "cells", "percent of the cells"
ABOUT: Mapping[str, str] = MappingProxyType(
    {
        "uniform": "all values in a range alike",
        "zipf": "mostly tiny counts",
        "lognormal": "amounts with two decimals",
        "fs": "counts from 0 to 499",
        "logn": "integers, many small",
        "business": "turnover, most cells empty",
        "census": "counts, most cells empty",
        "health": "small counts by place",
    }
)

Begin = Callable[[Callable[[], Case]], Awaitable[object]]
"""Opens what a function makes; it is called outside of the event loop."""


class NewTable:
    """A table of zeros: so many rows and columns, or dimensions and codes in words."""

    def __init__(self, begin: Begin) -> None:
        self._begin = begin
        with ui.element("div").classes("fields fields-narrow"):
            self._rows = _number("Rows", 3, "new-rows")
            self._columns = _number("Columns", 4, "new-columns")
            self._kind = make_choice_field("Cells are", [COUNTS, AMOUNTS], "new-kind")
            self._decimals = _number("Decimals", 0, "new-decimals")
            self._decimals.bind_visibility_from(self._kind, "value", value=AMOUNTS)
        self._named = ui.textarea(
            "Or dimensions with their codes", placeholder="region: North, South\nmonth: 12"
        )
        self._named.props("dense outlined stack-label rows=2 data-testid=new-dimensions")
        ui.button("Make it", on_click=self._make).props("no-caps outline data-testid=new-open")

    async def _make(self) -> None:
        await self._begin(self._case)

    def _case(self) -> Case:
        named = str(self._named.value or "")
        shape = {"row": _read_integer(self._rows), "column": _read_integer(self._columns)}
        dimensions = (
            parse_dimensions(named)
            if named.strip()
            else {name: [str(code) for code in range(1, n + 1)] for name, n in shape.items()}
        )
        counts = self._kind.value == COUNTS
        return make_empty_case(
            dimensions, counts=counts, decimals=0 if counts else _read_integer(self._decimals)
        )


class Generator:
    """A random table with sensitive cells; what is left empty is as usual for values of its kind."""

    def __init__(self, begin: Begin) -> None:
        self._begin = begin
        families = {name: f"{name}: {ABOUT.get(name, 'random')}" for name in FAMILIES}
        with ui.element("div").classes("fields"):
            self._rows = _number("Rows", 10, "generate-rows")
            self._columns = _number("Columns", 15, "generate-columns")
            self._further = make_text_field("Further dimensions", "such as 4, 3", "generate-further")
            self._levels = make_text_field("Levels of codes", "such as 2, 1", "generate-levels")
        self._family = ui.select(families, label="Values", value="uniform")
        self._family.props("dense outlined options-dense data-testid=generate-family")
        with ui.element("div").classes("fields"):
            self._least = _number("Least value", 1, "generate-least")
            self._largest = _number("Largest value", 999, "generate-largest")
            for end in (self._least, self._largest):
                end.bind_visibility_from(self._family, "value", value="uniform")
            self._kind = make_choice_field("Cells are", [AS_USUAL, COUNTS, AMOUNTS], "generate-kind")
            self._empty = _number("Empty cells, %", None, "generate-empty")
            self._sensitive = _number("Sensitive", 20, "generate-sensitive")
            self._share = make_choice_field("Counted in", [CELLS, PERCENT], "generate-share")
            self._protection = _number("Protection, % of value", None, "generate-protection")
            self._seed = _number("Seed", 0, "generate-seed")
        ui.button("Generate", on_click=self._make).props("no-caps outline data-testid=generate-open")

    async def _make(self) -> None:
        await self._begin(self._case)

    def _case(self) -> Case:
        shape = [_read_integer(self._rows), _read_integer(self._columns), *_read_integers(self._further)]
        uniform = self._family.value == "uniform"
        return generate_case(
            shape,
            str(self._family.value),
            sensitive=self._wanted(),
            between=(_read_integer(self._least), _read_integer(self._largest)) if uniform else None,
            kind={COUNTS: "counts", AMOUNTS: "magnitudes"}.get(str(self._kind.value)),
            zeros=None if self._empty.value is None else float(self._empty.value) / 100,
            hierarchy=self._read_depths(len(shape)),
            protection=self._protection.value,
            seed=_read_integer(self._seed),
        )

    def _read_depths(self, dimensions: int) -> tuple[int, ...] | None:
        """Return the levels of codes per dimension in the form, 1 where not given; None if it is empty."""
        given = _read_integers(self._levels)
        if len(given) > dimensions:
            raise InputError(
                f"{self._levels.props['label']}: {len(given)} for {pluralize(dimensions, 'dimension')}"
            )
        return given + (1,) * (dimensions - len(given)) if given else None

    def _wanted(self) -> float | int | None:
        if self._sensitive.value is None:
            return None
        return (
            float(self._sensitive.value) / 100
            if self._share.value == PERCENT
            else _read_integer(self._sensitive)
        )


def _number(label: str, value: int | None, name: str) -> ui.number:
    field = ui.number(label, value=value, min=0, placeholder=AS_USUAL if value is None else None)
    return field.props(f"dense outlined stack-label data-testid={name}")


def _read_integer(field: ui.number) -> int:
    if field.value is None or float(field.value) != int(field.value):
        raise InputError("no integer", place=field.props["label"], remedy="give one")
    return int(field.value)


def _read_integers(field: ui.input) -> tuple[int, ...]:
    words = str(field.value or "").replace(",", " ").split()
    if not all(word.isdecimal() for word in words):
        raise InputError(f"{field.props['label']}: '{field.value}' should be integers, such as 4, 3")
    return tuple(map(int, words))
