"""The workbook that comes back looks as the one that was given, but for the hidden numbers: as pictures."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from made_workbook import make_workbook
from numpy.typing import NDArray
from system_packages import OFFICE

import tacita as tc
from tacita.formats.presentation import Presentation
from tacita.publication.same_layout.input_sheet import InputSheet
from tacita.publication.same_layout.write_workbook import write_same_layout

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which("soffice") is None or shutil.which("pdftoppm") is None, reason=f"Remedy: {OFFICE}"
    ),
]
HIDDEN = [(region, "Men", size) for region in ("North", "East") for size in ("small", "large")]


def draw(book: Path, folder: Path) -> NDArray[np.int64]:
    """Return the first printed page of a workbook as grey levels."""
    folder.mkdir()
    profile = f"-env:UserInstallation={(folder / 'profile').as_uri()}"
    convert = ["soffice", profile, "--headless", "--convert-to", "pdf", "--outdir", str(folder), str(book)]
    subprocess.run(convert, check=True, capture_output=True, timeout=180)
    page, first = folder / "page", ["-f", "1", "-l", "1", "-singlefile"]
    subprocess.run(
        ["pdftoppm", "-r", "72", "-gray", *first, folder / f"{book.stem}.pdf", page], check=True, timeout=60
    )
    kind, width, height, _, pixels = page.with_suffix(".pgm").read_bytes().split(maxsplit=4)
    assert kind == b"P5"
    grey = np.frombuffer(pixels[-int(width) * int(height) :], dtype=np.uint8)
    return grey.reshape(int(height), int(width)).astype(np.int64)


def test_pictures_differ_only_where_numbers_are_hidden(tmp_path: Path) -> None:
    path = make_workbook(tmp_path / "report.xlsx")
    table = tc.read_case(path, counts=True)
    assert isinstance(table, tc.Table)
    some = [table.structure.find(*codes) for codes in HIDDEN]
    pictures = {}
    for name, cells in (("all", []), ("some", some)):
        target, release = tmp_path / f"{name}.xlsx", tc.Release.suppress(table, cells)
        write_same_layout(release, target, InputSheet(path), {}, Presentation("*"), truth=table)
        pictures[name] = draw(target, tmp_path / f"{name}-drawn")
    before = draw(path, tmp_path / "drawn")
    assert before.shape == pictures["all"].shape == pictures["some"].shape
    # The chart of another sheet, which is left out, stands below.
    top, table_alone = slice(0, before.shape[0] // 3), slice(0, before.shape[1] // 2)
    assert (before[top] < 128).sum() > 1_000
    assert np.abs(before[top] - pictures["all"][top]).mean() < 0.5
    changed = np.abs(before[top, table_alone] - pictures["some"][top, table_alone]) > 64
    assert 0 < changed.mean() < 0.02
