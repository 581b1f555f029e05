"""Other ways to read what was refused: what an error says would help, as options of reading."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tacita.core.errors import SeveralValuesError, TacitaError
from tacita.core.tables.read_options import ReadOptions

POINT, COMMA = {"Read a decimal point": {"decimal": "."}}, {"Read a decimal comma": {"decimal": ","}}
READINGS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "decimal": {**POINT, **COMMA},
    "decimal=.": POINT,
    "decimal=,": COMMA,
    "order=input": {"Keep the order of the input": {"order": "input"}},
    "repair": {"Compute wrong totals anew": {"repair": True}},
    "totals=compute": {"Compute all totals": {"totals": "compute"}},
    "undeclared_sums=ignore": {"Ignore undeclared sums": {"undeclared_sums": "ignore"}},
}
"""By the option that an error names: what a button says, and what is read otherwise then."""


def list_other_readings(error: TacitaError, reading: ReadOptions) -> dict[str, ReadOptions]:
    """Return the readings that an error proposes instead of a refused one, by words for a button."""
    found: dict[str, ReadOptions] = {}
    sums: list[str] = []
    codes: list[str] = []
    for option in error.options:
        name, _, setting = option.partition("=")
        for words, changed in READINGS.get(option, {}).items():
            found[words] = replace(reading, **changed)
        if name == "value" and setting:
            # The other columns of numbers are left aside: integers would be taken for codes.
            by = error.dimensions if isinstance(error, SeveralValuesError) else ()
            found[_name_value(setting, error.options)] = replace(reading, value=setting, by=by or reading.by)
        elif name == "by" and setting:
            codes.append(setting)
        elif name == "total" and setting:
            dimension, _, code = setting.partition("=")
            known = reading.total if isinstance(reading.total, Mapping) else {}
            found[f"{code} is the total of {dimension}"] = replace(reading, total={**known, dimension: code})
        elif name == "hierarchy" and setting.endswith("=found"):
            sums.append(setting.removesuffix("=found"))
    if codes:
        found[f"The codes are in {' and '.join(codes)}"] = replace(reading, by=codes)
    if sums:
        found = {"Use the classification found": replace(reading, found=(*reading.found, *sums)), **found}
    return {words: other for words, other in found.items() if other != reading}


def _name_value(column: str, options: Sequence[str]) -> str:
    """Return words for the button that takes the values from a column, and leaves the other ones out."""
    others = [setting for option in options if (setting := option.removeprefix("value=")) != option]
    left = [name for name in others if name != column]
    return f"The values are in {column}" + (f", without {' and '.join(left)}" if left else "")
