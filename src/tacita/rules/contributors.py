"""The base of rules on the contributors of a cell."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from tacita.core.errors import did_you_mean
from tacita.core.tables.table import Table
from tacita.rules.protection import Protection, check_protection
from tacita.rules.rule import Rule
from tacita.rules.selection import HOLDING, RESPONDENT, By, check_by, to_name_set


@dataclass(frozen=True, kw_only=True)
class ContributorRule(Rule):
    """A rule on the contributors of a cell.

    Parameters
    ----------
    by
        ``"respondent"`` or ``"holding"``: who counts as a contributor.
    protection
        Percentage of the value, or ``(lower, upper)`` percentages, in place of the rule's own levels.
    waivers
        Contributors (by name) who have consented to be recognised.
    """

    by: By = field(
        default=RESPONDENT, metadata={"help": "whom to look at: respondents, or the holdings they belong to"}
    )
    protection: Protection = field(
        default=None,
        metadata={"help": "levels in percent of the value, or lower, upper; empty: the rule's own formula"},
    )
    waivers: frozenset[str] = field(
        default=frozenset(), metadata={"help": "contributors who have consented to be recognised"}
    )

    def __post_init__(self) -> None:
        check_by(self.text, self.by)
        check_protection(self.text, self.protection)
        object.__setattr__(self, "waivers", to_name_set(self.waivers))

    def warnings(self, table: Table) -> tuple[str, ...]:
        """Return a warning of waivers by contributors whom the table does not know."""
        if not self.waivers:
            return ()
        found = table.contributions if self.by == RESPONDENT else table.holdings
        known = set() if found is None else set(map(str, found.names))
        if not known:
            return (
                f"{self.text}: waivers change nothing, since the table does not know its {self.by}s by name: "
                f"tabulate records with a column of {self.by}s",
            )
        unknown = sorted(self.waivers - known)
        if not unknown:
            return ()
        nothing = "this waiver changes nothing" if len(unknown) == 1 else "these waivers change nothing"
        listed = ", ".join(f"'{name}'" for name in unknown[:5]) + (", .." if len(unknown) > 5 else "")
        return (
            f"{self.text}: no {self.by} of the table is called {listed}"
            f"{did_you_mean(unknown[0], known)}, so {nothing}: correct the name, or take it off the list",
        )

    def waived_by(self, respondents: Iterable[object]) -> Rule:
        return replace(self, waivers=self.waivers | to_name_set(respondents))

    def _suffix(self) -> str:
        return " by holding" if self.by == HOLDING else ""
