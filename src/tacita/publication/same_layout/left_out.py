"""Name what a workbook holds that does not come back with a release."""

from __future__ import annotations

import re
from collections.abc import Collection

from tacita.publication.same_layout.package import Package, ReducedBook, SheetPart

ELEMENTS = {
    "conditionalFormatting": "conditional formats",
    "dataValidations": "lists of valid entries",
    "hyperlinks": "links",
    "legacyDrawing": "comments",
    "legacyDrawingHF": "pictures in headers",
    "oleObjects": "embedded objects",
    "controls": "controls",
    "tableParts": "styles of tables",
    "autoFilter": "filters",
    "sheetProtection": "the protection of the sheet",
    "picture": "the picture behind the sheet",
    "scenarios": "scenarios",
    "extLst": "extensions, such as sparklines",
}
"""What the XML of a sheet may hold besides its cells and looks, as people call it."""
HARMLESS = frozenset(["drawing", "phoneticPr", "ignoredErrors", "rowBreaks", "colBreaks", "sheetCalcPr"])
PARTS = {
    r"xl/pivot": "pivot tables and their stored records",
    r"xl/externalLinks/": "links to other workbooks and their stored values",
    r"xl/vbaProject|xl/macrosheets/": "macros",
    r"xl/media/": "pictures",
    r"xl/embeddings/|xl/activeX/|xl/ctrlProps/": "embedded objects and controls",
    r"xl/(threadedComments|persons)/": "comments",
    r"xl/(connections|queryTables|model|slicer)": "queries and connections",
    r"customXml/": "custom XML",
    r"docProps/custom": "document properties",
    r"xl/printerSettings/": "printer settings",
    r"xl/diagrams/": "diagrams",
}
"""Parts of a workbook by their names."""


def list_left_out(
    package: Package, main: SheetPart, kept: Collection[str], reduced: ReducedBook, drawings: int
) -> list[str]:
    """Return notes on what the workbook held that is not in the published one, by name.

    Parameters
    ----------
    kept
        The names of the sheets that are published.
    drawings
        How many pictures and shapes the sheet of the table has.
    """
    notes = []
    if others := [f"'{each.name}'" for each in package.sheets if each.name not in kept]:
        notes.append(f"sheets left out, as their numbers may give hidden ones away: {', '.join(others)}")
    found = {ELEMENTS.get(kind, kind): None for kind in reduced.dropped[main.name] if kind not in HARMLESS}
    found |= {"pictures and shapes": None} if drawings else {}
    for pattern, name in PARTS.items():
        if any(re.match(pattern, part) for part in package.names):
            found[name] = None
    if _has_names(package):
        found["defined names"] = None
    if "docProps/core.xml" in package.names:
        found["document properties"] = None
    if found:
        notes.append(f"left out of the workbook: {', '.join(found)}")
    return notes


def _has_names(package: Package) -> bool:
    return any(
        each.tag.rpartition("}")[2] == "definedName" and not str(each.get("name", "")).startswith("_xlnm.")
        for each in package.parse(package.book).iter()
    )
