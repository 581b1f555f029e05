"""What many tests do before they come to their own point: open an example, run methods on it."""

from __future__ import annotations

from playwright.sync_api import Page, expect


def open_example(page: Page, name: str) -> None:
    """Begin with an example; the page is Table afterwards."""
    page.get_by_test_id("nav-start").click()
    page.get_by_test_id(f"example-{name}").click()
    expect(page.get_by_test_id("case-name")).to_be_visible()


def run(page: Page, method: str, number: int, state: str = "✔ safe", **options: str | bool) -> None:
    """Run a method and wait until it is over; ``number`` is the run's."""
    page.get_by_test_id("nav-protect").click()
    # By way of another method, so that it is seen when the form of this one is there.
    for name in ("mixture", method):
        page.get_by_test_id(f"method-{name}").click()
        expect(page.get_by_test_id("method-name")).to_have_text(name)
    for name, value in options.items():
        field = page.get_by_test_id(f"option-{name}")
        if isinstance(value, bool):
            field.click()
        else:
            field.fill(value)
            expect(field).to_have_value(value)
    page.get_by_test_id("run").click()
    expect(page.get_by_test_id(f"run-{number}-state")).to_have_text(state, timeout=20_000)
