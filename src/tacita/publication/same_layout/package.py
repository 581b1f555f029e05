"""The parts of an Excel workbook, reduced to what may come back: the cells and looks of some sheets."""

from __future__ import annotations

import io
import os
import posixpath
import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from xml.etree import ElementTree as ET

from tacita.core.errors import FormatError
from tacita.formats.extent import parse_column, refuse_far_cells

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
STRICT = "http://purl.oclc.org/ooxml/spreadsheetml/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
CONTENT_TYPES = "[Content_Types].xml"
BOOK_ELEMENTS = frozenset(["workbookPr", "bookViews", "sheets", "definedNames"])
SHEET_ELEMENTS = frozenset([
    "sheetPr", "dimension", "sheetViews", "sheetFormatPr", "cols", "sheetData", "mergeCells", "printOptions",
    "pageMargins", "pageSetup", "headerFooter",
])  # fmt: skip
PRINT_NAMES = ("_xlnm.Print_Titles", "_xlnm.Print_Area")
LARGEST_MERGED = 1_000_000
SHARED = ("styles", "theme", "sharedStrings")
"""Parts that cells of all sheets refer to, by the ends of their relationships' types."""

Element = ET.Element


@dataclass(frozen=True)
class Relation:
    """What a part of a package refers to: another part, or something outside."""

    identity: str
    kind: str
    target: str
    outside: bool


@dataclass(frozen=True)
class SheetPart:
    """A sheet of a workbook: its name, the part that holds it, and whether readers see it."""

    name: str
    part: str
    visible: bool


class Package:
    """An Excel workbook (``.xlsx``, ``.xlsm``) as parts that refer to each other."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = path
        refuse_far_cells(path)
        try:
            with zipfile.ZipFile(path) as archive:
                self.names: tuple[str, ...] = tuple(archive.namelist())
        except (OSError, zipfile.BadZipFile) as error:
            raise FormatError(
                f"the file cannot be read as a workbook ({error})", place=path, remedy="save it as .xlsx"
            ) from None

    def read(self, part: str) -> bytes:
        """Return the content of a part of a workbook."""
        try:
            with zipfile.ZipFile(self.path) as archive:
                return archive.read(part)
        except (OSError, KeyError, zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
            raise self.damaged(part, error) from None

    def parse(self, part: str) -> Element:
        """Return the XML of a part of a workbook; one that defines words of its own is refused."""
        content = self.read(part)
        try:
            if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
                raise ValueError("it defines words of its own")
            return ET.fromstring(content)
        except (ET.ParseError, ValueError, LookupError) as error:
            raise self.damaged(part, error) from None

    def damaged(self, part: str, error: object) -> FormatError:
        """Return the error that a part of a workbook cannot be read."""
        return FormatError(
            f"the part is damaged ({error})",
            place=f"{self.path}, part {part}",
            remedy="save the workbook anew",
        )

    def list_relations(self, part: str) -> list[Relation]:
        """Return what a part of a workbook refers to; nothing if it refers to nothing."""
        folder, name = posixpath.split(part)
        rels = posixpath.join(folder, "_rels", f"{name}.rels")
        if rels not in self.names:
            return []
        found = []
        for each in self.parse(rels):
            target, outside = each.get("Target", ""), each.get("TargetMode") == "External"
            whole = target if outside else posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
            found.append(Relation(each.get("Id", ""), each.get("Type", ""), whole, outside))
        return found

    @cached_property
    def book(self) -> str:
        """The part of the workbook that lists its sheets."""
        found = [each.target for each in self.list_relations("") if each.kind.endswith("/officeDocument")]
        if not found or found[0] not in self.names:
            raise self.damaged("_rels/.rels", "it names no workbook")
        return found[0]

    @cached_property
    def sheets(self) -> tuple[SheetPart, ...]:
        """The sheets of the workbook in their order, those of charts too."""
        targets = {each.identity: each.target for each in self.list_relations(self.book)}
        return tuple(
            SheetPart(
                each.get("name", ""),
                targets.get(_get_identity(each), ""),
                each.get("state", "visible") == "visible",
            )
            for each in self.parse(self.book).iter()
            if _strip(each.tag) == "sheet"
        )

    def find_sheet(self, name: str) -> SheetPart:
        """Return the sheet of a workbook that has this name."""
        found = next((each for each in self.sheets if each.name == name), None)
        if found is None or found.part not in self.names:
            raise self.damaged(self.book, f"there is no sheet '{name}'")
        return found


@dataclass(frozen=True)
class ReducedBook:
    """A workbook without anything but the looks and cells of some sheets; formulas are gone.

    ``formulas`` are the places that held them, by sheet; ``dropped`` the kinds of things that the XML of
    each sheet held besides.
    """

    content: bytes
    formulas: dict[str, dict[str, str]]
    dropped: dict[str, tuple[str, ...]]


def reduce_package(package: Package, sheets: Sequence[SheetPart]) -> ReducedBook:
    """Return a workbook of these sheets alone, without formulas and whatever hangs on sheets."""
    formulas: dict[str, dict[str, str]] = {}
    dropped: dict[str, tuple[str, ...]] = {}
    kept = {CONTENT_TYPES, "_rels/.rels", package.book}
    folder, name = posixpath.split(package.book)
    kept.add(posixpath.join(folder, "_rels", f"{name}.rels"))
    kept |= {
        each.target
        for each in package.list_relations(package.book)
        if not each.outside and each.kind.endswith(tuple(f"/{kind}" for kind in SHARED))
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for part in sorted(kept & set(package.names)):
            content = package.read(part)
            if part == package.book:
                content = _write(_reduce_book(package.parse(part)))
            archive.writestr(part, content)
        for sheet in sheets:
            root = package.parse(sheet.part)
            _refuse_wide_merges(root, package.path)
            formulas[sheet.name], dropped[sheet.name] = _take_out_formulas(root), _reduce_sheet(root)
            archive.writestr(sheet.part, _write(root))
    return ReducedBook(out.getvalue(), formulas, dropped)


def _write(root: Element) -> bytes:
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True))


def _strip(tag: Any) -> str:
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def _get_identity(element: Element) -> str:
    return next((text for name, text in element.items() if _strip(name) == "id"), "")


def _refuse_wide_merges(root: Element, path: object) -> None:
    """Refuse a sheet with more merged cells than any layout has: they would exhaust memory."""
    merged = 0
    for each in root.iter():
        if _strip(each.tag) == "mergeCell":
            found = re.fullmatch(r"([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})", each.get("ref", ""))
            if found is None:
                continue
            wide = parse_column(found[3]) - parse_column(found[1]) + 1
            merged += wide * (int(found[4]) - int(found[2]) + 1)
    if merged > LARGEST_MERGED:
        raise FormatError(
            f"more than {LARGEST_MERGED:,} of its fields are merged",
            place=path,
            remedy="merge those of headings alone",
        )


def _reduce_book(root: Element) -> Element:
    for child in list(root):
        if _strip(child.tag) not in BOOK_ELEMENTS:
            root.remove(child)
        elif _strip(child.tag) == "definedNames":
            for each in list(child):
                if each.get("name") not in PRINT_NAMES:
                    child.remove(each)
    return root


def _reduce_sheet(root: Element) -> tuple[str, ...]:
    """Remove from a sheet what is not on the list, in place; return the kinds of what went."""
    gone: dict[str, None] = {}
    for child in list(root):
        kind = _strip(child.tag)
        if kind not in SHEET_ELEMENTS:
            root.remove(child)
            gone[kind] = None
        elif kind == "pageSetup":
            for name in [name for name in child.attrib if _strip(name) == "id"]:
                del child.attrib[name]
    return tuple(gone)


def _take_out_formulas(root: Element) -> dict[str, str]:
    """Remove the formulas of a sheet's cells, in place; return them by their places."""
    found = {}
    for cell in root.iter():
        if _strip(cell.tag) != "c":
            continue
        for child in list(cell):
            if _strip(child.tag) == "f":
                found[cell.get("r", "")] = child.text or ""
                cell.remove(child)
    return found
