"""Metadata of τ-ARGUS as values: the variables of microdata, or of a table without a header.

:mod:`tacita.formats.argus.metadata_file` reads and writes them as ``.rda`` files. What is read is kept as it
is written, whether Tacita honours it or not; :attr:`Metadata.remarks` says by name what it does not honour.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from tacita.core.errors import FormatError, did_you_mean

Kind: TypeAlias = Literal["microdata", "table"]
Role: TypeAlias = Literal["shadow", "cost", "lower_level", "upper_level", "frequency", "largest", "status"]


@dataclass(frozen=True)
class Variable:
    """A variable of τ-ARGUS metadata with all its attributes.

    Attributes
    ----------
    start, length
        Place of the field in records of fixed format, from 1; in free format only the length; in tables none.
    missing
        Up to two codes for "missing". Those of numeric variables have no effect.
    recodable
        Whether the variable may span tables.
    role
        What a column of a table holds, if neither codes nor the response; None of microdata.
    total
        The code of the total; None if it is not given, which means ``Total`` in microdata.
    request
        Codes of this column that request protection: the first with the first parameter of a request rule,
        the second with the second.
    distance
        Five distances for costs, or none.
    hierarchical, levels, hierarchy, lead
        Whether codes form a tree; digits that each level adds; or the name of its ``.hrc`` file and the lead
        string of that.
    codelist
        The name of the ``.cdl`` file with labels.
    cell_key
        Attributes of the cell key method, as keywords with their arguments; not honoured.
    """

    name: str
    start: int | None = None
    length: int | None = None
    missing: tuple[str, ...] = ()
    recodable: bool = False
    numeric: bool = False
    role: Role | None = None
    decimals: int | None = None
    weight: bool = False
    holding: bool = False
    truncable: bool = False
    request: tuple[str, ...] = ()
    total: str | None = None
    codelist: str | None = None
    distance: tuple[int, ...] = ()
    hierarchical: bool = False
    levels: tuple[int, ...] = ()
    hierarchy: str | None = None
    lead: str | None = None
    cell_key: tuple[tuple[str, ...], ...] = ()

    @property
    def spans(self) -> bool:
        """Whether the variable holds codes that a table can be broken down by."""
        tree = self.hierarchical or self.levels or self.hierarchy is not None
        alone = not (self.numeric or self.role or self.weight or self.holding or self.request)
        return self.recodable or bool(tree) or (alone and self.total is not None)

    @property
    def is_response(self) -> bool:
        """Whether the variable holds amounts that a table can add up."""
        return self.numeric and self.role is None and not self.weight

    @property
    def total_code(self) -> str:
        """The code of the total of a variable that spans tables."""
        return "Total" if self.total is None else self.total


@dataclass(frozen=True)
class Metadata:
    """What a ``.rda`` file says: the variables in the order of the columns, and the signs of the file.

    Attributes
    ----------
    kind
        Whether it describes records (``microdata``) or the cells of a table without a header (``table``).
    separator
        The sign between columns; None: records of fixed format.
    spss
        Whether records are in a file of SPSS, which is not read.
    safe, unsafe, protect
        Status codes of a table; compared in any case.
    path
        The file itself: names of other files are looked up beside the data, then beside it.
    notes
        On how the file was read.
    """

    variables: tuple[Variable, ...]
    kind: Kind = "microdata"
    separator: str | None = None
    spss: bool = False
    safe: str = "S"
    unsafe: str = "U"
    protect: str = "P"
    path: Path = field(default=Path(), compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)

    def find(self, name: str) -> Variable:
        """Return a variable by name, exactly or else in any case; refuse a name that there is not."""
        alike = [v for v in self.variables if v.name == name] or [
            v for v in self.variables if v.name.casefold() == name.casefold()
        ]
        if not alike:
            known = [variable.name for variable in self.variables]
            raise FormatError(
                f"there is no variable '{name}'{did_you_mean(name, known)}, only {', '.join(known)}",
                place=self.path,
                remedy="Correct the name.",
            )
        return alike[0]

    @property
    def spanning(self) -> tuple[Variable, ...]:
        """The variables of codes, by which a table is broken down."""
        return tuple(variable for variable in self.variables if variable.spans)

    @property
    def responses(self) -> tuple[Variable, ...]:
        """The variables of amounts, which a table adds up."""
        return tuple(variable for variable in self.variables if variable.is_response)

    def with_role(self, role: Role) -> tuple[Variable, ...]:
        """Return the columns of a table that have this role, in order."""
        return tuple(variable for variable in self.variables if variable.role == role)

    def first(self, attribute: Literal["weight", "holding", "request"]) -> Variable | None:
        """Return the first variable of the records that has this attribute; None if none has."""
        return next((variable for variable in self.variables if getattr(variable, attribute)), None)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the metadata ask for and Tacita does not honour, by variable and keyword."""
        found = []
        for variable in self.variables:
            if keys := [key[0] for key in variable.cell_key]:
                found.append(f"{', '.join(keys)} of '{variable.name}': the cell key method is not applied")
            if variable.truncable:
                found.append(
                    f"<TRUNCABLE> of '{variable.name}': codes are shortened by a recoding or by levels only"
                )
        return tuple(found)
