"""Text is never a formula: what a spreadsheet would run is escaped, and comes back."""

from __future__ import annotations

import pytest

from tacita.formats.escape import escape, unescape


@pytest.mark.parametrize("text", ["=1+1", "+x", "-x", "@cmd", "\tx", "'=1", "''=1", "-"])
def test_what_a_spreadsheet_would_run_is_escaped_and_comes_back(text: str) -> None:
    assert escape(text).startswith("'")
    assert unescape(escape(text)) == text


@pytest.mark.parametrize("text", ["-5", "+3.5", "North", "'quoted'", "", "x=1"])
def test_plain_text_and_numbers_stay_as_they_are(text: str) -> None:
    assert escape(text) == text
    assert unescape(text) == text
