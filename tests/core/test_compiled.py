"""What another version has compiled is compiled again, whatever its classes were called."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

KERNELS = """
from typing import NamedTuple

from tacita.core.compiled import kernel


class {name}(NamedTuple):
    number: int


@kernel
def double(given):
    return 2 * given.number


print(double({name}(21)))
"""


def test_what_is_kept_of_classes_that_have_gone_is_compiled_again(tmp_path: Path) -> None:
    file = tmp_path / "kernels.py"
    for name in ("Before", "After"):
        file.write_text(KERNELS.format(name=name), encoding="utf-8")
        command = [sys.executable, "-c", "import kernels"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.stdout, done.returncode) == ("42\n", 0), done.stderr
    assert list((tmp_path / "__pycache__").glob("*.nbi"))
