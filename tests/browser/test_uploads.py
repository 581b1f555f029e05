"""How far an upload is can be seen while it takes."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from playwright.sync_api import Page, expect

BYTES_PER_SECOND = 400_000


@pytest.mark.slow
def test_a_large_file_shows_how_far_it_is(page: Page, tmp_path: Path) -> None:
    file = tmp_path / "large.csv"
    draw = Random(1).randrange
    rows = (f"x{row // 7:09},y{row % 7:09},{draw(1000)}\n" for row in range(42_000))
    file.write_text("a,b,value\n" + "".join(rows))
    line = page.context.new_cdp_session(page)
    line.send("Network.enable")
    slow = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": BYTES_PER_SECOND}
    line.send("Network.emulateNetworkConditions", slow)
    bar = page.get_by_test_id("uploading")
    expect(bar).to_be_hidden()
    page.locator("input[type=file]").first.set_input_files(file)
    expect(bar).to_be_visible()
    expect(bar).to_contain_text("Uploading:")
    reached = bar.locator("progress")
    first = reached.evaluate("bar => bar.value")
    page.wait_for_function("([bar, first]) => bar.value > first", arg=[reached.element_handle(), first])
    page.wait_for_url("**/table")
    expect(page.get_by_test_id("case-name")).to_contain_text("large")
