"""What a form shows is what a method is made with; shortcuts fill it with what methods accept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacita.app.controls.forms import format_value, read_value
from tacita.app.screens.rules.contributor_names import join_names, split_names
from tacita.app.work.presets import list_presets
from tacita.core.errors import InputError
from tacita.examples import example, example_names
from tacita.methods import make_method, method_names, options_of
from tacita.methods.method import Option


@pytest.mark.parametrize("name", method_names())
def test_defaults_are_read_as_they_are_shown(name: str) -> None:
    for option in options_of(name):
        assert read_value(option, format_value(option.default)) == option.default, option.name


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (float | None, "5", 5),
        (float | str | None, "20%", "20%"),
        (float | str | None, " 2.5 ", 2.5),
        (int | None, "", None),
        (int | None, "none", None),
        (bool, "no", False),
    ],
)
def test_texts_stand_for_values(kind: object, text: str, value: object) -> None:
    found = read_value(Option("x", kind, None, ""), text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(("kind", "text"), [(int, "2.5"), (float, "2,5"), (int | None, "many"), (bool, "5")])
def test_other_texts_are_refused_with_what_is_wanted(kind: object, text: str) -> None:
    with pytest.raises(InputError, match=rf"option 'x' must be .*, not '{text}'"):
        read_value(Option("x", kind, None, ""), text)


@pytest.mark.parametrize("name", example_names())
def test_shortcuts_are_made_of_options_that_methods_have(name: str) -> None:
    offered = list_presets(example(name).table)
    assert len({preset.name for preset in offered}) == len(offered) == 9
    for preset in offered:
        shown_again = {
            option.name: read_value(option, format_value(preset.options[option.name]))
            for option in options_of(preset.method)
            if option.name in preset.options
        }
        assert make_method(preset.method, shown_again) == make_method(preset.method, preset.options)


def test_the_subtotal_of_the_shortcut_is_one_of_the_table() -> None:
    problem = example("salazar")
    chosen = next(preset for preset in list_presets(problem.table) if "subtotal" in preset.name)
    assert chosen.options["subtotals"] == "activity=I+II"
    release = make_method(chosen.method, {**chosen.options, "protected": False}).protect(problem)
    shares = [sum(int(release.value[problem.table.find(a, r)]) for a in ("I", "II")) for r in ("A", "B", "C")]
    assert all(abs(share - true) < 5 for share, true in zip(shares, (28, 69, 32), strict=True))


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0"), min_size=1), max_size=4))
def test_names_are_listed_as_they_were_joined(names: list[str]) -> None:
    wanted = tuple(name.strip() for name in names if name.strip())
    assert split_names(join_names(wanted)) == wanted


@pytest.mark.parametrize("method", method_names())
def test_help_speaks_of_empty_fields_as_forms_show_them(method: str) -> None:
    """A form has no value ``none``: where nothing is chosen its field is empty."""
    for each in options_of(method):
        assert "none:" not in each.help
        assert "likewise" not in each.help
        assert each.default is not None or "empty" in each.help
