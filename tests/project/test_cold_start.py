"""A small table is protected at once: its command loads no compiler, no query engine and no data frames."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tacita.cli import main

SLOW = ("numba", "pandas", "polars", "duckdb", "scipy.optimize")
COMMAND = f"""
import sys
from tacita.cli import main

code = main()
print(*(name for name in {SLOW!r} if name in sys.modules), file=sys.stderr)
sys.exit(code)
"""


def test_protecting_a_small_table_imports_nothing_slow(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    assert main(["generate", "table", "--shape", "20,20", "--sensitive", "0.05", "--out", str(table)]) == 0
    words = ["protect", str(table), "--out", str(tmp_path / "results"), "--json"]
    ran = subprocess.run([sys.executable, "-c", COMMAND, *words], capture_output=True, text=True, check=True)
    assert (tmp_path / "results" / "publication" / "release.csv").exists()
    assert (tmp_path / "results" / "internal" / "certificate.json").exists()
    assert ran.stderr.splitlines()[-1] == ""
