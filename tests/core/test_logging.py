"""What happens is logged under the name ``tacita``, without values."""

from __future__ import annotations

import logging
import re
import subprocess
import sys

import numpy as np
import pytest

import tacita as tc

TABLE = tc.Table.from_array([[2003, 5011, 1009], [811, 1913, 2203], [1709, 3203, 1213]])


def test_beginnings_ends_and_verdicts_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    problem = tc.Problem(TABLE, "threshold(900)")
    with caplog.at_level(logging.INFO, "tacita"):
        release = tc.Suppression().protect(problem)
        tc.audit(problem, release)
    texts = [record.getMessage() for record in caplog.records]
    assert {record.name for record in caplog.records} == {"tacita"}
    assert any(text.startswith("begin with Problem(Table(16 cells") for text in texts)
    assert any(re.match(r"optimal after [\d.]+ s, gap 0.00%", text) for text in texts)
    assert any("1 sensitive cell: 1 safe, all proven" in text for text in texts)


def test_progress_is_logged_without_values(caplog: pytest.LogCaptureFixture) -> None:
    table = tc.Table.from_array(np.random.default_rng(1).integers(1, 100, (9, 9)) * 1009)
    problem = tc.Problem(table, "threshold(9081)")
    with caplog.at_level(logging.DEBUG, "tacita"):
        release = tc.Suppression().protect(problem)
    texts = [record.getMessage() for record in caplog.records if record.levelno == logging.DEBUG]
    assert any(re.match(r"\w+ \d+/\d+ after [\d.]+ s, gap [\d.]+%", text) for text in texts)
    secrets = {str(value) for value in table.units[release.hidden].tolist()}
    assert release.outcome is not None
    secrets.add(str(int(release.outcome.loss)))
    assert not [text for text in caplog.messages if secrets & set(re.findall(r"\d+", text))]


def test_nothing_is_printed_and_nothing_configured_on_import() -> None:
    program = (
        "import logging, tacita as tc\n"
        "before = list(logging.getLogger().handlers)\n"
        "problem = tc.Problem(tc.Table.from_array([[20, 8], [17, 19]]), 'threshold(9)')\n"
        "tc.audit(problem, tc.Suppression().protect(problem))\n"
        "own = logging.getLogger('tacita')\n"
        "assert [type(h) for h in own.handlers] == [logging.NullHandler], own.handlers\n"
        "assert (before, own.level, own.propagate) == (logging.getLogger().handlers, 0, True)\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
