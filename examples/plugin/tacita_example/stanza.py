"""The format ``.stanza``: ``name: text`` lines for each cell, with an empty line between cells."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from tacita.core.errors import FormatError


def read(path: Path) -> pa.Table:
    """Return one row per block; what a block does not name is empty."""
    rows: list[dict[str, str]] = [{}]
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        name, colon, text = line.partition(":")
        if line.strip() and not colon:
            raise FormatError(f"{path}, line {number}: '{line}' is not 'name: text'; add the colon")
        if not line.strip():
            rows.append({})
        else:
            rows[-1][name.strip()] = text.strip()
    rows = [row for row in rows if row]
    names = dict.fromkeys(name for row in rows for name in row)
    return pa.table({name: [row.get(name) for row in rows] for name in names})


def write(table: pa.Table, path: Path) -> None:
    """Write a block for each row, without what is empty."""
    blocks = (
        "\n".join(f"{name}: {value}" for name, value in row.items() if value is not None)
        for row in table.to_pylist()
    )
    path.write_text("\n\n".join(blocks) + "\n", encoding="utf-8")
