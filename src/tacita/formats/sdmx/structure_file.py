"""Code lists with labels and parents from a structure file: SDMX-ML 2.1 and 3.0, SDMX-JSON.

Of a data structure the dimensions are read, with the code list of each, its own or that of its concept;
without a data structure a code list belongs to the dimension it is called after (``CL_FREQ``). Files are
untrusted: a file with a document type is refused, so that no entity is ever expanded, and nothing that it
refers to is opened.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from tacita.core.errors import FormatError
from tacita.formats.textfile import read_text

_URN = re.compile(r"(?:[=:.]|\A)([A-Za-z0-9_@$-]+)\([^()]*\)(?:\.([A-Za-z0-9_@$.-]+))?\Z")


@dataclass(frozen=True)
class CodeList:
    """The codes of a list: their labels and parents, where they have any."""

    labels: Mapping[str, str]
    parents: Mapping[str, str]


@dataclass(frozen=True)
class StructureFile:
    """What a structure file says: code lists by identifier, and the list of each dimension of a structure.

    A dimension without a code list, such as the time, has an empty name for it.
    """

    code_lists: Mapping[str, CodeList] = field(default_factory=dict)
    structures: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def find_dimensions(self, columns: Sequence[str]) -> list[str] | None:
        """Return the dimensions of the data structure that has only columns of an SDMX-CSV file, if any."""
        for dimensions in self.structures.values():
            if dimensions and set(dimensions) <= set(columns):
                return list(dimensions)
        return None

    def find_code_list(self, dimension: str, columns: Sequence[str]) -> CodeList | None:
        """Return the code list of a dimension of an SDMX-CSV file, or None if there is none."""
        own = {
            name: lists
            for dimensions in reversed(list(self.structures.values()))
            if set(dimensions) <= set(columns)
            for name, lists in dimensions.items()
        }
        named = own.get(dimension) or f"CL_{dimension}"
        return self.code_lists.get(named)


def read_structure(path: str | os.PathLike[str]) -> StructureFile:
    """Return the code lists and dimensions in an SDMX structure file, ``.xml`` or ``.json``.

    Raises
    ------
    FormatError
        It is no such file, or holds no code list.
    """
    text, _ = read_text(path)
    try:
        if Path(path).suffix.lower() == ".json" or text.lstrip().startswith("{"):
            found = _read_json(json.loads(text))
        else:
            found = _read_xml(_parse_xml(path, text))
    except (ElementTree.ParseError, ValueError, RecursionError) as error:
        raise _refuse(path, f"it cannot be parsed ({error})") from None
    except (AttributeError, KeyError, TypeError):
        raise _refuse(path, "its parts are not where a structure message has them") from None
    if not found.code_lists:
        raise _refuse(path, "it holds no code list")
    return found


def _refuse(path: str | os.PathLike[str], fault: str) -> FormatError:
    return FormatError(
        f"not a structure file of SDMX: {fault}",
        place=path,
        remedy="give the structure message with its code lists, as SDMX-ML 2.1 or 3.0, or SDMX-JSON",
    )


def _parse_xml(path: str | os.PathLike[str], text: str) -> ElementTree.Element:
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise FormatError(
            "a structure file with a document type is not read, since it may define entities",
            place=path,
            remedy="take the document type out",
        )
    return ElementTree.fromstring(text)


def _get_name(element: ElementTree.Element) -> str:
    """Return the name of an element in a structure file, without its namespace."""
    return element.tag.rpartition("}")[2]


def _find_all(element: ElementTree.Element, *names: str) -> Iterator[ElementTree.Element]:
    return (each for each in element.iter() if _get_name(each) in names)


def _find_reference(element: ElementTree.Element | None) -> str:
    """Return what an element of a structure file refers to: a ``Ref``, or a URN as text."""
    if element is None:
        return ""
    for each in element.iter():
        if _get_name(each) == "Ref" and each.get("id"):
            return str(each.get("id"))
    return _read_urn("".join(element.itertext()).strip())


def _read_urn(urn: str) -> str:
    """Return the identifier at the end of a URN in a structure file; other text as it is."""
    found = _URN.search(urn)
    return urn if found is None else found[2] or found[1]


def _read_xml(root: ElementTree.Element) -> StructureFile:
    lists = {
        str(each.get("id")): CodeList(
            {str(code.get("id")): _read_label(code) for code in _find_all(each, "Code")},
            {
                str(code.get("id")): above
                for code in _find_all(each, "Code")
                if (above := _find_reference(next(_find_all(code, "Parent"), None)))
            },
        )
        for each in _find_all(root, "Codelist")
    }
    concepts = {
        str(each.get("id")): _find_reference(next(_find_all(each, "Enumeration"), None))
        for each in _find_all(root, "Concept")
        if each.get("id")
    }
    structures = {}
    for each in _find_all(root, "DataStructure"):
        dimensions = {}
        for own in _find_all(each, "Dimension", "TimeDimension"):
            concept = _find_reference(next(_find_all(own, "ConceptIdentity"), None))
            name = own.get("id") or concept
            if name:
                listed = _find_reference(next(_find_all(own, "Enumeration"), None))
                dimensions[name] = listed or concepts.get(concept, "")
        structures[str(each.get("id"))] = dimensions
    return StructureFile(lists, {name: own for name, own in structures.items() if own})


def _read_label(code: ElementTree.Element) -> str:
    """Return the name of a code in a structure file, in English if there are several languages."""
    names = [each for each in code if _get_name(each) == "Name" and each.text]
    english = [each for each in names if any(str(v).startswith("en") for v in each.attrib.values())]
    return str((english or names)[0].text).strip() if names else ""


def _read_json(message: Any) -> StructureFile:
    data = message.get("data", message)
    lists = {
        each["id"]: CodeList(
            {code["id"]: _read_json_label(code) for code in each.get("codes", ())},
            {
                code["id"]: _read_urn(str(code["parent"]))
                for code in each.get("codes", ())
                if code.get("parent")
            },
        )
        for each in data.get("codelists", ())
    }
    concepts = {
        concept["id"]: _read_urn(str((concept.get("coreRepresentation") or {}).get("enumeration") or ""))
        for scheme in data.get("conceptSchemes", ())
        for concept in scheme.get("concepts", ())
    }
    structures = {}
    for each in data.get("dataStructures", ()):
        listed = (each.get("dataStructureComponents") or {}).get("dimensionList") or {}
        own = [*listed.get("dimensions", ()), *listed.get("timeDimensions", ())]
        structures[each["id"]] = {
            dimension["id"]: _read_urn(
                str((dimension.get("localRepresentation") or {}).get("enumeration") or "")
            )
            or concepts.get(_read_urn(str(dimension.get("conceptIdentity") or "")), "")
            for dimension in own
        }
    return StructureFile(lists, {name: own for name, own in structures.items() if own})


def _read_json_label(code: Mapping[str, Any]) -> str:
    names = code.get("names") or {}
    return str(names.get("en") or code.get("name") or next(iter(names.values()), ""))
