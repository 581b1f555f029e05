"""Microdata of τ-ARGUS: records of fixed or free format, read by their metadata and ready to be tabulated.

    records = read_microdata("data.asc", parse_metadata("data.rda", "microdata"))
    table = records.recode("Region", 2).tabulate(["Size", "Region"], "Turnover")

``records.arguments(by, value)`` is what :func:`tacita.tabulate` takes instead, for callers who add to it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tacita.core.errors import FormatError, InputError
from tacita.core.tables.table import Table
from tacita.formats.argus.code_trees import CodeTree, build_code_tree
from tacita.formats.argus.fields import Fields, read_fields
from tacita.formats.argus.metadata import Metadata, Variable
from tacita.formats.argus.recodings import Recoding, recode_tree
from tacita.tabulation.flags import FlagLike
from tacita.tabulation.leaves import Trees
from tacita.tabulation.records import NamedFrame
from tacita.tabulation.tabulate import tabulate

NO_TREES: Mapping[str, Trees] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class ArgusRecords:
    """Records of τ-ARGUS with the classifications of their spanning variables.

    Attributes
    ----------
    trees
        Classifications by spanning variable, recodings applied.
    """

    metadata: Metadata
    fields: Fields
    trees: Mapping[str, CodeTree]

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be known of how the records were read, and what of the metadata is not honoured."""
        trees = (note for tree in self.trees.values() for note in tree.notes)
        return tuple(
            dict.fromkeys((*self.metadata.notes, *self.metadata.remarks, *self.fields.notes, *trees))
        )

    def recode(self, name: str, recoding: Recoding | int) -> ArgusRecords:
        """Return the records with the codes of a variable recoded, or cut after so many levels."""
        variable = self._find_spanning(name)
        tree = recode_tree(self.trees[variable.name], recoding)
        return replace(self, trees={**self.trees, variable.name: tree})

    def arguments(
        self,
        by: Sequence[str],
        value: str | None = None,
        *,
        weight: str | bool = False,
        holding: str | bool = True,
        request: FlagLike | bool = True,
        shadow: str | None = None,
        further: Sequence[str] = (),
    ) -> dict[str, Any]:
        """Return the arguments of :func:`tacita.tabulate` for a table of these records.

        Every record is a respondent of its own, unless the caller names a respondent.

        Parameters
        ----------
        by
            Spanning variables; each comes with its classification.
        value
            The response; None counts records.
        weight, holding
            The variable of weights, and that of holdings, whose records must follow each other. True: the one
            that the metadata name, if there is one. As in τ-ARGUS, weights are applied on request only.
        request
            The variable that says who asked for protection, as for :func:`tacita.tabulate`. True: the one
            that the metadata name, with its codes.
        shadow
            The variable that rules look at, in place of the response.
        further
            Other variables to hand over, such as the respondent.
        """
        spanning = [self._find_spanning(name).name for name in by]
        if len(set(spanning)) < len(spanning):
            raise InputError("a variable spans the table twice", remedy="name each once", options=["by"])
        columns = {name: self._map_codes(name) for name in spanning}
        found: dict[str, Any] = {"by": {name: self.trees[name].hierarchy for name in spanning}}
        decimals = None
        if value is not None:
            response = self.metadata.find(value)
            columns[response.name], written = self._read_numbers(response.name)
            found["value"] = response.name
            decimals = response.decimals if written <= (response.decimals or 0) else None
        if shadow is not None:
            found["shadow"] = self.metadata.find(shadow).name
            columns.setdefault(found["shadow"], self._read_numbers(found["shadow"])[0])
        if (weights := self._choose("weight", weight)) is not None:
            columns[weights.name], _ = self._read_numbers(weights.name)
            found["weight"], decimals = weights.name, None
        if (group := self._choose("holding", holding)) is not None:
            self._refuse_scattered(group.name)
            found["holding"] = group.name
        if isinstance(request, bool):
            flag = self._choose("request", request)
            request = None if flag is None else {flag.name: list(flag.request)}
        found["request"] = request
        named = [*_list_columns(found["request"]), *([group.name] if group else []), *further]
        for name in (self.metadata.find(name).name for name in named):
            columns.setdefault(name, self._read_texts(name))
        return {
            "source": NamedFrame(self.fields.path, pa.table(columns)),
            **found,
            "decimals": decimals,
            "name": Path(self.fields.path).stem,
        }

    def tabulate(
        self,
        by: Sequence[str],
        value: str | None = None,
        *,
        trees: Mapping[str, Trees] = NO_TREES,
        **options: Any,
    ) -> Table:
        """Return a table of the records; ``options`` of :meth:`arguments` and of :func:`tacita.tabulate`.

        ``trees`` take the place of the classifications in the metadata.
        """
        own: dict[str, Any] = {
            name: options.pop(name) for name in ("weight", "holding", "request", "shadow") if name in options
        }
        # A condition may ask for any variable.
        where = [v.name for v in self.metadata.variables] if options.get("where") else []
        further = [*_list_columns(options.get("respondent")), *_list_columns(options.get("consent")), *where]
        given = self.arguments(by, value, **own, further=further)
        table = tabulate(**{**given, **options, "by": {**given["by"], **trees}})
        return replace(table, notes=(*self.notes, *self._note_weights(own), *table.notes))

    def _note_weights(self, own: Mapping[str, Any]) -> tuple[str, ...]:
        weights = self.metadata.first("weight")
        if weights is None or own.get("weight"):
            return ()
        return (f"the weights '{weights.name}' were not applied: name them as the weight to apply them",)

    def _map_codes(self, name: str) -> pa.ChunkedArray:
        return self.fields.map_codes(name, self.trees[name].find)

    def _read_texts(self, name: str) -> pa.ChunkedArray | pa.Array:
        """Return a variable that is no part of the table: codes, numbers, or texts without padding."""
        if name in self.trees:
            return self._map_codes(name)
        if self.metadata.find(name).numeric:
            numbers, missing, _ = self.fields.numbers(name)
            return pa.array(numbers, mask=missing)
        return pc.utf8_ltrim_whitespace(self.fields.columns[name])

    def _find_spanning(self, name: str) -> Variable:
        variable = self.metadata.find(name)
        if variable.name not in self.trees:
            raise FormatError(
                f"'{name}' holds no codes; {', '.join(self.trees) or 'no variable'} can span a table",
                place=self.metadata.path,
                remedy="Write <RECODEABLE> below it in the metadata, or choose another.",
            )
        return variable

    def _choose(self, role: str, given: str | bool) -> Variable | None:
        if isinstance(given, str):
            return self.metadata.find(given)
        return self.metadata.first(role) if given else None  # type: ignore[arg-type]

    def _read_numbers(self, name: str) -> tuple[pa.Array, int]:
        numbers, missing, decimals = self.fields.numbers(name)
        if (wrong := np.flatnonzero(missing)).size:
            raise FormatError(
                f"no number in '{name}'", place=self.fields.place(int(wrong[0])), remedy="Give one."
            )
        return pa.array(numbers), decimals

    def _refuse_scattered(self, name: str) -> None:
        """Refuse records of one holding that do not follow each other."""
        column = self.fields.columns[name]
        codes = pc.index_in(column, column.unique()).to_numpy()
        starts = np.flatnonzero(np.diff(codes, prepend=-1))
        _, first = np.unique(codes[starts], return_index=True)
        if first.size < starts.size:
            row = int(np.delete(starts, first)[0])
            raise FormatError(
                f"holding '{column[row].as_py().strip()}' of '{name}' begins again, and other records stand "
                "between",
                place=self.fields.place(row),
                remedy="Sort the records by holding.",
            )


def _list_columns(flag: FlagLike) -> list[str]:
    """Return the names of the variables that an option of tabulation names."""
    return [flag] if isinstance(flag, str) else list(flag or ())


def read_microdata(path: str | os.PathLike[str], metadata: Metadata) -> ArgusRecords:
    """Return the records in a data file without a header that metadata of microdata describe."""
    if metadata.kind != "microdata":
        raise FormatError(
            "these are metadata of a table, and records are to be read",
            place=metadata.path,
            remedy="Name others.",
        )
    fields = read_fields(path, metadata)
    folder = Path(path).parent
    trees = {
        variable.name: build_code_tree(metadata, variable, fields.list_codes(variable.name), folder)
        for variable in metadata.spanning
    }
    return ArgusRecords(metadata, fields, trees)
