"""The columns of an SDMX-CSV file: which identify it, which are dimensions, and which attributes.

| version | first columns | then |
|---|---|---|
| 1.0 | ``DATAFLOW`` | dimensions, ``OBS_VALUE``, attributes |
| 2.0 | ``STRUCTURE``, ``STRUCTURE_ID``, ``ACTION`` | the same |

A file does not say which of its columns are dimensions. They stand before the value; ``TIME_PERIOD`` is one
wherever it stands, and what is known as an attribute is none. Names of columns and codes may carry labels, as
in ``FREQ: Frequency`` and ``A: Annual``, and names the separator of lists, as in ``STRUCTURE[;]``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

VALUE = "OBS_VALUE"
TIME = "TIME_PERIOD"
STATUS = "OBS_STATUS"
CONFIDENTIALITY = ("CONF_STATUS", "OBS_CONF")
COMMENT, DATASET_COMMENT = "COMMENT_OBS", "COMMENT_DSET"
FIRST = {"1.0": ("DATAFLOW",), "2.0": ("STRUCTURE", "STRUCTURE_ID", "ACTION")}
NAMES_OF_STRUCTURES = frozenset(["STRUCTURE_NAME", "DATAFLOW_NAME"])
"""Columns with the name of the dataflow, which some programs write."""
ATTRIBUTES = frozenset([
    STATUS, *CONFIDENTIALITY, COMMENT, DATASET_COMMENT, "OBS_FLAG", "OBS_COM", "OBS_PRE_BREAK", "UNIT_MULT",
    "DECIMALS", "LAST_UPDATE", "LAST UPDATE", "EMBARGO_TIME", "EMBARGO_DATE", "CONF_REDIST",
    "PRE_BREAK_VALUE", "TIME_FORMAT", "COLLECTION", "COMMENT_TS", "TITLE", "TITLE_COMPL",
])  # fmt: skip
"""What is no dimension wherever it stands."""
NO_SUMS = frozenset([
    TIME, "TIME", "FREQ", "UNIT", "UNIT_MEASURE", "UNIT_MULT", "ADJUSTMENT", "SEASONAL_ADJUST", "PRICES",
    "PRICE_BASE", "TRANSFORMATION", "MEASURE", "INDICATOR", "INDIC", "DECIMALS",
])  # fmt: skip
"""Dimensions over which numbers have no sum: a table has one code of each."""
_LIST_SIGN = re.compile(r"\[.?\]\Z")


def identify(name: str) -> str:
    """Return the identifier in the name of an SDMX-CSV column, without a label or the sign of lists."""
    return _LIST_SIGN.sub("", name.split(": ", 1)[0].strip())


def has_label(name: str) -> bool:
    """Return whether the name of an SDMX-CSV column carries a label; then its codes do, too."""
    return ": " in name


def find_version(names: Sequence[str]) -> str | None:
    """Return the version of SDMX-CSV that the names of a file's columns show, or None if they show none."""
    found = [identify(name).upper() for name in names]
    for version, first in FIRST.items():
        if found[: len(first[:2])] == list(first[:2]) and len(found) > len(first):
            return version
    return None


def find_dimensions(names: Sequence[str], value: str) -> list[str]:
    """Return the dimensions among the columns of an SDMX-CSV file, which has no structure file."""
    before = names.index(value)
    taken = {*(name for first in FIRST.values() for name in first), *NAMES_OF_STRUCTURES, *ATTRIBUTES}
    # Columns of names, which stand beside codes where labels are apart, have blanks in theirs.
    return [
        name
        for k, name in enumerate(names)
        if name == TIME or (k < before and name.upper() not in taken and " " not in name)
    ]
