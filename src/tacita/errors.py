"""What can go wrong, as a tree.

    TacitaError                    everything this package raises on purpose
    ├── InputError                 what the user handed over cannot be used as it is
    │   ├── HierarchyError         a classification is broken: cycle, two parents, unknown code
    │   ├── NotAdditiveError       totals differ from the sums of their parts
    │   ├── RuleError              a rule cannot be applied to this table
    │   ├── LevelsError            a protection level that no release could ever meet
    │   ├── ReleaseError           a release contradicts the table it is said to protect
    │   └── FormatError            a file does not follow its grammar
    ├── UnsafeError                writing a release that no passing audit stands behind
    ├── CertificateError           a certificate is corrupted, truncated, forged or of another case
    ├── SolverError                a solver ended in a state that proves nothing
    ├── StoppedError               time or patience ended before there was anything to keep
    └── InfeasibleError            no release of the chosen kind protects the table

Every message names the place (file and line, or cell), the requirement that is missed, and the remedy.
"""

from __future__ import annotations


class TacitaError(Exception):
    """Base of all errors raised on purpose."""


class InputError(TacitaError):
    """What the user handed over cannot be used as it is."""


class HierarchyError(InputError):
    """A classification is broken."""


class NotAdditiveError(InputError):
    """Totals differ from the sums of their parts."""


class RuleError(InputError):
    """A rule cannot be applied to this table."""


class LevelsError(InputError):
    """A protection level that no release could ever meet."""


class ReleaseError(InputError):
    """A release contradicts the table it is said to protect."""


class FormatError(InputError):
    """A file does not follow its grammar."""


class UnsafeError(TacitaError):
    """Writing a release that no passing audit stands behind."""


class CertificateError(TacitaError):
    """A certificate is corrupted, truncated, forged or of another case."""


class SolverError(TacitaError):
    """A solver ended in a state that proves nothing."""


class StoppedError(TacitaError):
    """Time or patience ended before there was anything to keep."""


class InfeasibleError(TacitaError):
    """No release of the chosen kind protects the table."""
