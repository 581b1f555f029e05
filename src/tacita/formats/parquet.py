"""Read tables from Parquet files, and write releases to them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tacita.core.errors import FormatError
from tacita.core.release import Release
from tacita.core.tables.columns import Columns, refuse_wide
from tacita.core.tables.frames import find_part
from tacita.formats.captions import find_repeated
from tacita.formats.code_labels import list_labelled_rows, name_label_columns
from tacita.storage.atomic import replace_file

if TYPE_CHECKING:
    import pyarrow as pa


def read_parquet(path: str | os.PathLike[str]) -> Columns:
    """Return all columns of a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet

    try:
        names = pyarrow.parquet.read_schema(path).names
        refuse_wide(path, len(names))
        if (repeated := find_repeated(names)) is not None:
            raise FormatError(f"two columns are called '{repeated}'", place=path, remedy="rename one of them")
        table = pyarrow.parquet.read_table(path)
        # Text that is none would be found later, cell by cell.
        table.validate(full=True)
    except FileNotFoundError:
        raise FormatError("cannot be read", place=path, remedy="check the path") from None
    except (pa.ArrowException, OSError, ValueError) as error:
        raise FormatError(
            f"this is no Parquet file, or damaged ({error})", place=path, remedy="save it anew"
        ) from None
    return Columns(table, lambda row: f"{path}, row {row + 1}")


def write_parquet(release: Release, path: Path, labels: Mapping[str, str] | None = None) -> Path:
    """Write a release as a Parquet file, a row per cell, ``labels`` in its metadata; return its path."""
    import pyarrow as pa
    import pyarrow.parquet

    parts = range(max(1, len(release.structure.parts)))
    tables = [_build_part(release, part) for part in parts]
    if len(tables) > 1:
        titles = [find_part(release.structure, part).name for part in parts]
        tables = [
            table.add_column(0, "table", pa.array([name] * table.num_rows))
            for table, name in zip(tables, titles, strict=True)
        ]
    whole = pa.concat_tables(tables, promote_options="default")
    labelled = name_label_columns(release.structure.dimensions)
    names = [d.name for d in release.structure.dimensions] or ["cell"]
    order = [each for name in names for each in (name, labelled.get(name)) if each is not None]
    first = (["table"] if len(tables) > 1 else []) + order
    whole = whole.select([*first, *(name for name in whole.column_names if name not in first)])
    if labels:
        whole = whole.replace_schema_metadata({f"tacita.{name}": text for name, text in labels.items()})
    with replace_file(path, public=True) as temporary:
        pyarrow.parquet.write_table(whole, temporary)
    return path


def _build_part(release: Release, part: int) -> pa.Table:
    """Return what a Parquet file says of one table of a release: codes, labels, and what is published."""
    import pyarrow as pa

    table = release.to_arrow(part)
    names, columns, _ = list_labelled_rows(release.structure, part)
    for k, (name, texts) in enumerate(zip(names, columns, strict=True)):
        if name not in table.column_names:
            table = table.add_column(k, name, pa.array(texts, pa.string()))
    return table
