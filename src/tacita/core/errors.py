"""The tree of errors and warnings.

    TacitaError                    everything this package raises on purpose
    ├── InputError                 what the user handed over cannot be used as it is
    │   ├── SpecificationError     options that contradict each other, or are out of range
    │   ├── HierarchyError         a classification is broken: cycle, two parents, unknown code
    │   ├── RecordsError           the rows are records about respondents, not cells
    │   │   └── RepeatedCellError  a cell is given more than once, which may as well be an error
    │   ├── NotAdditiveError       totals differ from the sums of their parts
    │   ├── UndeclaredSumsError    codes are sums of others, undeclared, or follow from them otherwise
    │   ├── RuleError              a rule cannot be applied to this table
    │   ├── LevelsError            a protection level that no release could ever meet
    │   ├── BoundsError            the bounds that everyone knows are not true of a cell
    │   ├── ReleaseError           a release contradicts the table it should protect
    │   ├── MissingPackageError    a package is needed that is not installed; an ImportError too
    │   └── FormatError            a file does not follow its grammar
    │       ├── MissingFileError   a file is missing, or cannot be read
    │       ├── SeveralValuesError several columns could hold the values, of cells or of records
    │       └── DecimalSignError   numbers may mean one thing or another until their decimal sign is chosen
    ├── UnsafeError                writing a release that no passing audit stands behind
    ├── CertificateError           a certificate is corrupted, truncated, forged or of another case
    ├── SolverError                a solver ended in a state that proves nothing
    ├── StoppedError               time or patience ended before there was anything to keep
    ├── WorkersError               the workers of an executor ended before their work was done
    └── InfeasibleError            no release of the chosen kind protects the table

    TacitaWarning                  an input or an option may be a mistake
    └── PluginWarning              a method, rule or format of another package cannot be used

Warnings are stored in ``Table.warnings`` and ``Problem.warnings``. In Python they are issued as well; the
command line and the app show those that are stored.

Errors are data: ``place`` (file and line, or cell), ``fault``, ``remedy``, the ``options`` that help and the
``cell`` at fault. Their text is made of the first three; pages of the app make buttons of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from pathlib import Path
from typing import Any, Self

from tacita.core.words import pluralize


class TacitaError(Exception):
    """Base of all errors raised on purpose.

    Attributes
    ----------
    fault
        What is wrong.
    place
        Where: a file and line, a column, or a cell.
    remedy
        What helps. A sentence of its own if it begins with a capital letter.
    options
        The options that help, as ``name`` or ``name=setting``: of readers (``value``,
        ``undeclared_sums=ignore``) and of methods (``protected=no``). The command line says how they are
        typed. Errors of the app also name its pages (``protect``), and what only a page can do (``reload``).
    cell
        The cell at fault, by its number in the table; None where it is none, or no single one.
    """

    def __init__(
        self,
        fault: str = "",
        *,
        place: object = "",
        remedy: str = "",
        options: Iterable[str] = (),
        cell: int | None = None,
    ) -> None:
        self.place, self.fault, self.remedy, self.options = str(place), fault, remedy, tuple(options)
        self.cell = cell
        super().__init__(self._text())

    def _text(self) -> str:
        text = f"{self.place}: {self.fault}" if self.place else self.fault
        if not self.remedy:
            return text
        if text.endswith("\n"):
            return f"{text}{self.remedy}"
        if not self.remedy[0].isupper():
            return f"{text}: {self.remedy}"
        return f"{text}{'' if text.endswith(('.', '?')) else '.'} {self.remedy}"

    def with_place(self, place: object) -> Self:
        """Return the error with a place (file, line, cell) before the one it has, unless that begins so."""
        if self.place.startswith(str(place)):
            return self
        return self._replace(place=f"{place}: {self.place}" if self.place else str(place))

    def with_remedy(self, remedy: str, *options: str) -> Self:
        """Return the error with one more remedy, a sentence of its own, and the options that help."""
        first = f"{self.remedy.rstrip('.')}. " if self.remedy else ""
        return self._replace(remedy=f"{first}{remedy}", options=(*self.options, *options))

    def without_cell(self) -> Self:
        """Return the error without its cell: the table at hand may be another one."""
        return self._replace(cell=None)

    def map_parts(self, rewrite: Callable[[str], str]) -> Self:
        """Return the error with a function applied to the texts of its place, fault and remedy."""
        return self._replace(
            place=rewrite(self.place), fault=rewrite(self.fault), remedy=rewrite(self.remedy)
        )

    def _replace(self, **parts: Any) -> Self:
        other = copy(self)
        other.__dict__.update(parts)
        other.args = (other._text(),)
        return other


class InputError(TacitaError):
    """What the user handed over cannot be used as it is."""


class SpecificationError(InputError, ValueError):
    """Options contradict each other, or one is out of range."""


class HierarchyError(InputError):
    """A classification is broken."""


class RecordsError(InputError):
    """The rows are records about respondents, not cells: they are to be tabulated.

    ``identity`` is a column whose codes all differ, as names of respondents do; empty where there is none.
    """

    def __init__(self, fault: str, identity: str = "", **about: Any) -> None:
        super().__init__(fault, **about)
        self.identity = identity


class RepeatedCellError(RecordsError):
    """A cell is given more than once: records, or a row too many."""


class NotAdditiveError(InputError):
    """Totals differ from the sums of their parts."""


class UndeclaredSumsError(InputError):
    """Codes are sums of others, and no classification says so, or follow from them by another formula.

    ``dimensions`` are those for which a classification was found in the sums.
    """

    def __init__(self, fault: str, dimensions: tuple[str, ...] = (), **about: Any) -> None:
        super().__init__(fault, **about)
        self.dimensions = dimensions


class RuleError(InputError):
    """A rule cannot be applied to this table."""


class LevelsError(InputError):
    """A protection level that no release could ever meet."""


class BoundsError(InputError):
    """The bounds that everyone knows are not true of a cell."""


class ReleaseError(InputError):
    """A release contradicts the table it should protect."""


class MissingPackageError(InputError, ImportError):
    """A package is needed that is not installed."""


class FormatError(InputError):
    """A file does not follow its grammar."""


class MissingFileError(FormatError):
    """A file is missing, or cannot be read."""


class SeveralValuesError(FormatError):
    """Several columns could hold the values; the rows may be cells, or records to be tabulated.

    ``dimensions`` are the columns of codes, whichever of the others holds the values. ``identity`` is one of
    several whose codes all differ, as names of respondents do; empty where there is none.
    """

    def __init__(
        self, fault: str, dimensions: tuple[str, ...] = (), identity: str = "", **about: Any
    ) -> None:
        super().__init__(fault, **about)
        self.dimensions, self.identity = dimensions, identity


class DecimalSignError(FormatError):
    """Numbers may mean one thing or another until their decimal sign is chosen."""


class UnsafeError(TacitaError):
    """Writing a release that no passing audit stands behind."""


class CertificateError(TacitaError):
    """A certificate is corrupted, truncated, forged or of another case."""


class SolverError(TacitaError):
    """A solver ended in a state that proves nothing."""


TOO_FAR_APART = (
    "values, levels or weights may lie too far apart for it: use a larger unit, such as thousands, fewer "
    "decimals, or weights that are nearer to each other"
)
"""The remedy where a solver gives up on the arithmetic."""


class StoppedError(TacitaError):
    """Time or patience ended before there was anything to keep."""


class WorkersError(TacitaError):
    """The processes or machines of an executor ended, or were lost, before their work was done."""


class InfeasibleError(TacitaError):
    """No release of the chosen kind protects the table."""


class TacitaWarning(UserWarning):
    """An input or an option may be a mistake."""


class PluginWarning(TacitaWarning):
    """A method, rule or format of another package cannot be used."""


def issue_warnings(texts: Iterable[str], kind: type[TacitaWarning] = TacitaWarning) -> None:
    """Issue texts as Python warnings of a kind, which point to the first caller outside this package."""
    import sys
    import warnings

    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("tacita."):
        frame, level = frame.f_back, level + 1
    for text in texts:
        warnings.warn(text, kind, stacklevel=level)


MOST_NAMES = 20_000
"""Among more names than these the nearest is not looked for: it would take seconds."""


def did_you_mean(name: object, known: Iterable[object]) -> str:
    """Return `` (did you mean 'North'?)`` for an error message, with the nearest known name; else ""."""
    from difflib import get_close_matches

    names = [str(other) for other in known]
    nearest = get_close_matches(str(name), names, n=1) if len(names) <= MOST_NAMES else []
    return f" (did you mean {nearest[0]!r}?)" if nearest else ""


def and_others(how_many: int, thing: str) -> str:
    """Return `` (4 more rows likewise)`` for an error that names the first of five faults, "" of one."""
    return f" ({pluralize(how_many - 1, f'more {thing}')} likewise)" if how_many > 1 else ""


def describe_write_failure(path: Path, error: OSError) -> InputError:
    """Return the InputError of a file or folder that the system cannot write, with a remedy."""
    return InputError(
        f"cannot be written ({error.strerror or error})",
        place=path,
        remedy="check the folder, its permissions and the room on the disk",
    )
