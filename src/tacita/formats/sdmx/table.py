"""Take an SDMX-CSV file of cells apart, as a table with one row per cell.

A dimension with one code in all rows is no dimension of the table; releases in SDMX-CSV have it again. Over
time periods, units and frequencies there is no sum, so a file with several of them is several tables, of
which one is chosen (``only``). What ``CONF_STATUS`` (also ``OBS_CONF``) says becomes a status:

| code | is | status |
|---|---|---|
| ``F``, nothing | free | ``s`` |
| ``C``, ``A``, ``O``, ``T``, ``G`` | confidential, primary | ``u``: sensitive |
| ``D``, ``S`` | confidential, secondary, of an earlier run | ``m``: not binding |
| ``N``, ``E`` and codes that are not known | not for publication, or not yet | ``u``: sensitive |

``OBS_STATUS`` says nothing that a table needs: a value that is missing has no ``OBS_VALUE``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tacita.core.errors import FormatError, InputError, did_you_mean
from tacita.core.hierarchy import DEFAULT_TOTAL, Hierarchy
from tacita.core.tables.columns import Columns
from tacita.core.tables.dimension import recognise_total
from tacita.core.tables.read_options import ReadOptions
from tacita.core.words import pluralize
from tacita.formats.sdmx.header import (
    CONFIDENTIALITY,
    FIRST,
    NO_SUMS,
    VALUE,
    find_dimensions,
    find_version,
    has_label,
    identify,
)
from tacita.formats.sdmx.structure_file import CodeList, StructureFile, read_structure

LETTERS = {
    "": "s",
    "F": "s",
    "C": "u",
    "A": "u",
    "O": "u",
    "T": "u",
    "G": "u",
    "D": "m",
    "S": "m",
    "N": "u",
    "E": "u",
}
"""The status of a cell by its code of confidentiality."""
DELETED = "D"
STATUS_COLUMN = "status"
MOST_LISTED = 8


@dataclass(frozen=True, eq=False)
class SdmxTable:
    """An SDMX-CSV file of one table.

    Attributes
    ----------
    source
        Its columns, named by identifiers, with codes that have no labels; only the rows that were chosen.
    identity
        What its first columns say, such as the dataflow.
    dimensions
        The dimensions of the table.
    constants
        The other dimensions of the file, each with its only code.
    order
        All dimensions of the file, in its order.
    """

    source: Columns
    version: str
    identity: Mapping[str, str]
    value: str
    dimensions: tuple[str, ...]
    constants: Mapping[str, str]
    order: tuple[str, ...]

    @property
    def attributes(self) -> tuple[str, ...]:
        """The columns of an SDMX-CSV file that are neither dimensions nor value, nor identify it."""
        taken = {*self.order, self.value, *self.identity}
        return tuple(name for name in self.source.names if name not in taken)


def take_apart(
    path: str | os.PathLike[str], source: Columns, read: ReadOptions, structure: StructureFile | None = None
) -> SdmxTable:
    """Return the one table that an SDMX-CSV file holds, or that ``read.only`` chooses of it.

    Raises
    ------
    FormatError
        Several tables are in the file, or it has no column of values.
    """
    version = find_version(source.names)
    assert version is not None
    plain = choose_rows(split_labels(source), read.only, path)
    names = plain.names
    value = read.value or VALUE
    if value not in names:
        raise FormatError(
            f"an SDMX-CSV file without a column '{value}'",
            place=path,
            remedy="name the column of values",
            options=["value"],
        )
    identity = _read_identity(path, plain, version)
    listed = structure.find_dimensions(names) if structure is not None else None
    order = listed or find_dimensions(names, value)
    if read.by is not None:
        order = list(dict.fromkeys([*read.by, *order]))
    stated = {*(read.by or ()), *read.hierarchies, *(read.total if isinstance(read.total, Mapping) else ())}
    constants, dimensions = {}, []
    for name in order:
        codes = plain.texts(name).unique().to_pylist()
        if len(codes) == 1 and name not in stated:
            constants[name] = str(codes[0])
            continue
        if name.upper() in NO_SUMS and name not in stated:
            _refuse_several(path, name, codes)
        if read.by is None or name in read.by:
            dimensions.append(name)
        else:
            _refuse_several(path, name, codes)
    return SdmxTable(plain, version, identity, value, tuple(dimensions), constants, tuple(order))


def read_sdmx(
    path: str | os.PathLike[str], source: Columns, read: ReadOptions
) -> tuple[Columns, ReadOptions]:
    """Return the columns of the one table in an SDMX-CSV file, and how they are to be read."""
    structure = None if read.structure is None else read_structure(read.structure)
    found = take_apart(path, source, read, structure)
    plain, notes = found.source, list(found.source.notes)
    if found.constants:
        listed = ", ".join(f"{name}={code}" for name, code in found.constants.items())
        notes.append(f"the same in all rows, and no dimension of the table: {listed}")
    kept = [*found.dimensions, found.value, *_list_named(read)]
    columns = {name: plain.data.column(name) for name in dict.fromkeys(kept) if name in plain.names}
    named: dict[str, Any] = {"by": found.dimensions if read.by is None else read.by, "value": found.value}
    if read.status is None and (letters := _read_letters(plain, notes)) is not None:
        columns[STATUS_COLUMN] = letters
        named["status"] = STATUS_COLUMN
    labels = {name: dict(own) for name, own in plain.labels.items()}
    trees = {}
    for name in found.dimensions if structure is not None else ():
        listing = None if structure is None else structure.find_code_list(name, plain.names)
        if listing is None:
            continue
        labels[name] = {**listing.labels, **labels.get(name, {})}
        given = name in read.hierarchies or name in read.found or isinstance(read.by, Mapping)
        if not given and (tree := _build_tree(plain.codes(name)[1], listing, _find_total(read, name))):
            trees[name] = [tree]
    named["hierarchies"] = {**trees, **read.hierarchies}
    plain = replace(plain, data=pa.table(columns), notes=tuple(notes), labels=labels)
    return plain, replace(read, **named, only={}, structure=None)


def choose_rows(source: Columns, only: Mapping[str, str], place: object) -> Columns:
    """Return the rows of a file that have the given code in each of the given columns.

    Raises
    ------
    InputError
        There is no such column, or no such row.
    """
    for name, code in only.items():
        if name not in source.names:
            raise InputError(
                f"there is no column '{name}'{did_you_mean(name, source.names)} to choose rows by",
                place=place,
                remedy=f"choose from {', '.join(source.names)}",
                options=["only"],
            )
        texts = source.texts(name)
        rows = np.flatnonzero(pc.equal(texts, code).to_numpy(zero_copy_only=False))
        if rows.size == 0:
            codes = texts.unique().to_pylist()
            raise InputError(
                f"no row has {name}={code}{did_you_mean(code, codes)}",
                place=place,
                remedy=f"choose one of {_list_codes(codes)}",
                options=["only"],
            )
        source = source.take(rows)
    return source


def split_labels(source: Columns) -> Columns:
    """Return the columns of an SDMX-CSV file named by identifiers, labels taken off names and codes."""
    columns, labels = {}, {}
    for name in source.names:
        identifier = identify(name)
        column = source.data.column(name)
        if has_label(name):
            column, labels[identifier] = _split_codes(source.texts(name))
        if identifier in columns:
            raise FormatError(f"column '{identifier}' occurs twice", remedy="rename one of them")
        columns[identifier] = column
    return replace(source, data=pa.table(columns), labels=labels)


def _split_codes(column: pa.ChunkedArray) -> tuple[pa.Array, dict[str, str]]:
    """Return a column of codes with labels as codes, and the labels by code."""
    encoded = column.combine_chunks().dictionary_encode()
    pairs = [text.split(": ", 1) for text in encoded.dictionary.to_pylist()]
    codes = pa.array([pair[0].strip() for pair in pairs], pa.string())
    return codes.take(encoded.indices), {pair[0].strip(): pair[1].strip() for pair in pairs if len(pair) > 1}


def _read_identity(path: object, source: Columns, version: str) -> dict[str, str]:
    """Return what the first columns of an SDMX-CSV file say; refuse several dataflows, and deletions."""
    found = {}
    for name in (own for own in FIRST[version] if own in source.names):
        codes = source.texts(name).unique().to_pylist()
        if name == "ACTION":
            if DELETED in codes:
                row = int(
                    np.flatnonzero(pc.equal(source.texts(name), DELETED).to_numpy(zero_copy_only=False))[0]
                )
                raise FormatError(
                    "a row with action D deletes a cell, and states none",
                    place=source.place(row),
                    remedy="take such rows out",
                )
            codes = codes[:1]
        if len(codes) > 1:
            _refuse_several(path, name, codes)
        found[name] = str(codes[0])
    return found


def _refuse_several(path: object, name: str, codes: Sequence[str]) -> None:
    raise FormatError(
        f"'{name}' has {pluralize(len(codes), 'code')} ({_list_codes(codes)}), over which there is no sum: "
        "these are several tables",
        place=path,
        remedy=f"choose one of them, as in {name}={codes[0]}, or say that it is a dimension with a total",
        options=["only", "total"],
    )


def _list_codes(codes: Sequence[str]) -> str:
    return ", ".join(map(str, codes[:MOST_LISTED])) + (", .." if len(codes) > MOST_LISTED else "")


def _list_named(read: ReadOptions) -> list[str]:
    """Return the columns of an SDMX-CSV file that the user names for what they hold."""
    named = (read.count, read.holding_count, read.structural, read.status)
    largest = () if read.largest is None or isinstance(read.largest, int) else read.largest
    return [name for name in (*named, *largest, *read.columns, *(read.by or ())) if name is not None]


def _read_letters(source: Columns, notes: list[str]) -> pa.Array | None:
    """Return the status of each row of an SDMX-CSV file by its confidentiality; None if no cell has any."""
    name = next((name for name in CONFIDENTIALITY if name in source.names), None)
    if name is None:
        return None
    codes = [text.strip().upper() for text in source.texts(name).to_pylist()]
    if strange := sorted({code for code in codes if code not in LETTERS}):
        notes.append(f"{name} has codes that are not known, taken as sensitive: {', '.join(strange)}")
    if later := sorted({code for code in codes if code in ("N", "E")}):
        notes.append(f"not for publication by {name} {', '.join(later)}, and taken as sensitive")
    letters = [LETTERS.get(code, "u") for code in codes]
    return pa.array(letters) if {*letters} - {"s"} else None


def _find_total(read: ReadOptions, name: str) -> str | None:
    return read.total.get(name) if isinstance(read.total, Mapping) else read.total


def _build_tree(codes: Sequence[str], listing: CodeList, total: str | None) -> Hierarchy | None:
    """Return the classification of a dimension's codes by the parents in its code list; None if it is flat.

    Codes and those above them are in it. Several roots are parts of the total, which is one of them if it has
    a usual name.
    """
    known: dict[str, None] = {}
    for code in codes:
        above: str | None = code
        while above is not None and above not in known:
            known[above] = None
            above = listing.parents.get(above)
    parents = {code: above for code in known if (above := listing.parents.get(code)) is not None}
    if not parents:
        return None
    roots = [code for code in known if code not in parents]
    top = total or (roots[0] if len(roots) == 1 else recognise_total(roots) or DEFAULT_TOTAL)
    links = {**parents, **{root: top for root in roots if root != top}}
    tree = Hierarchy.from_frame(pa.table({"parent": list(links.values()), "child": list(links)}), total=top)
    return Hierarchy(tree.codes, tree.parents, listing.labels)
