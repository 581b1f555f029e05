"""Help keeps step with what the screens offer: every method, rule, cost and column is spoken of."""

from __future__ import annotations

from importlib import resources

import pytest

from tacita.app.controls.page_parts import as_label
from tacita.app.screens.rules.screen import COSTS
from tacita.methods.method import method_names
from tacita.report.measures import MEASURES
from tacita.rules import RULES


@pytest.mark.parametrize(
    ("screen", "words"),
    [
        ("protect", [f"| {name}" for name in method_names()]),
        ("rules", [f"`{name}" for name in RULES]),
        ("rules", [f"| `{name}` |" for name in COSTS]),
        ("compare", [as_label(measure.head) for measure in MEASURES]),
    ],
)
def test_help_names_everything_on_offer(screen: str, words: list[str]) -> None:
    text = (resources.files("tacita.app") / "help" / f"{screen}.md").read_text(encoding="utf-8")
    assert [word for word in words if word not in text] == []


@pytest.mark.parametrize(
    ("name", "label"),
    [("at_or_below", "At or below"), ("p", "p"), ("l1", "l1"), ("%", "%"), ("LPL", "LPL"), ("time", "Time")],
)
def test_labels_begin_with_a_capital_and_symbols_stay(name: str, label: str) -> None:
    assert as_label(name) == label
