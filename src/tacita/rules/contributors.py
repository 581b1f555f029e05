"""What rules that look at the contributors of a cell have in common: whose contributions, and consent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from tacita.rules.protection import Protection, check_protection
from tacita.rules.rule import Rule
from tacita.rules.selection import HOLDING, RESPONDENT, check_by, name_set


@dataclass(frozen=True, kw_only=True)
class ContributorRule(Rule):
    """A rule on those who stand behind a cell.

    Parameters
    ----------
    by
        ``"respondent"`` or ``"holding"``: who counts as a contributor.
    protection
        Percentage of the value, or ``(lower, upper)`` percentages, in place of the rule's own levels.
    waivers
        Contributors (by name) who have consented to be recognised.
    """

    by: str = RESPONDENT
    protection: Protection = None
    waivers: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        check_by(self.text, self.by)
        check_protection(self.text, self.protection)
        object.__setattr__(self, "waivers", name_set(self.waivers))

    def waived_by(self, respondents: Iterable[object]) -> Rule:
        return replace(self, waivers=self.waivers | name_set(respondents))

    def _suffix(self) -> str:
        return " by holding" if self.by == HOLDING else ""
