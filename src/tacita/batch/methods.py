"""What a method of a batch means here: our method, its options and its time limit, and what differs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tacita.formats.argus.batch import (
    CellKey,
    ControlledAdjustment,
    ControlledRounding,
    Hypercube,
    Modular,
    NetworkFlow,
    Optimal,
    Protector,
)


@dataclass(frozen=True)
class TranslatedMethod:
    """A method in our words; ``name`` is None where there is none, as ``remarks`` say.

    ``time_limit`` is in seconds.
    """

    name: str | None
    options: Mapping[str, Any] = field(default_factory=dict)
    time_limit: float | None = None
    remarks: tuple[str, ...] = ()


def translate_method(method: Protector) -> TranslatedMethod:
    """Return our method for a method of a batch, with remarks on every parameter that is not applied."""
    match method:
        case ControlledRounding():
            return _translate_rounding(method)
        case ControlledAdjustment():
            return TranslatedMethod("adjustment", remarks=("CTA is carried out as adjustment",))
        case CellKey():
            return TranslatedMethod(
                None, remarks=("CKM, the cell key method, is not carried out: the table stays unprotected",)
            )
        case _:
            minutes = getattr(method, "minutes", None)
            return TranslatedMethod(
                "suppression", time_limit=_to_seconds(minutes), remarks=_list_suppression_remarks(method)
            )


def _list_suppression_remarks(method: Protector) -> tuple[str, ...]:
    remarks = [f"{method.word} is carried out as suppression of least loss"]
    match method:
        case Hypercube():
            if method.apriori_percent is not None:
                remarks.append(
                    f"GH: bounds of {method.apriori_percent:g} % are not assumed: readers know what the "
                    "project or the file says, or else that no cell is negative"
                )
            if method.size is not None:
                remarks.append("GH: the size of a hypercube means nothing here")
            if method.singleton is not None:
                remarks.append("GH: singletons are protected by auditing each respondent as an attacker")
        case Modular():
            given = {
                "ss": method.single_single,
                "sm": method.single_multiple,
                "minfreq": method.minimum_frequency,
            }
            if any(value is not None for value in given.values()):
                remarks.append(
                    f"MOD: {', '.join(name for name, value in given.items() if value is not None)}: single "
                    "respondents are protected by auditing each of them as an attacker"
                )
            if method.largest_cost is not None:
                remarks.append("MOD: costs are not scaled to a largest one")
            if method.lower_margin is not None:
                remarks.append("MOD: margins of levels are not applied: levels are those of the rules")
        case Optimal() | NetworkFlow():
            pass
    return tuple(remarks)


def _translate_rounding(method: ControlledRounding) -> TranslatedMethod:
    options: dict[str, Any] = {"base": method.base}
    remarks = ["RND is carried out as rounding"]
    if method.steps is not None:
        options["steps"] = method.steps
    if method.unit_cost is not None:
        options["weight"] = "unit" if method.unit_cost else "cost"
    if method.partition:
        remarks.append("RND: the table is not partitioned: it is rounded as a whole")
    if method.stop is not None:
        remarks.append(
            "RND: the stop rule is not applied: the search ends with the best, or at its time limit"
        )
    return TranslatedMethod("rounding", options, _to_seconds(method.minutes), tuple(remarks))


def _to_seconds(minutes: float | None) -> float | None:
    """Return the time limit of a method of a batch in seconds; 0 minutes or fewer mean none."""
    return 60.0 * minutes if minutes is not None and minutes > 0 else None
