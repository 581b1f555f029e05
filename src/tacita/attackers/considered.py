"""The attackers that a problem considers, by kind and number, as every verdict names them."""

from __future__ import annotations

from dataclasses import dataclass

from tacita.core.words import pluralize

KINDS = {"respondents": "respondent", "holdings": "holding"}
"""Kinds of contributors that can be attackers: plural and singular."""


@dataclass(frozen=True)
class Considered:
    """The number of attackers of each kind besides the outsider, with those whom another one implies.

    Attributes
    ----------
    left_out
        Kinds of contributors that the table knows and that the problem leaves out.
    largest
        0, or how many of the largest contributors of each cell were considered where others are unknown.
    unknown
        Kinds of contributors that the table counts without identifying them, so that none is an attacker,
        though nobody left them out.
    """

    respondents: int = 0
    holdings: int = 0
    coalitions: int = 0
    insiders: int = 0
    left_out: tuple[str, ...] = ()
    largest: int = 0
    unknown: tuple[str, ...] = ()

    @property
    def number(self) -> int:
        """The number of attackers, with the outsider."""
        return 1 + self.respondents + self.holdings + self.coalitions + self.insiders

    @property
    def text(self) -> str:
        """The attackers in words, such as ``an outsider and 1,806 respondents``."""
        numbers = {
            "respondent": self.respondents,
            "holding": self.holdings,
            "coalition": self.coalitions,
            "insider": self.insiders,
        }
        named = ["an outsider", *(pluralize(n, word) for word, n in numbers.items() if n)]
        words = " and ".join(filter(None, (", ".join(named[:-1]), named[-1])))
        if self.largest:
            words += f" (only the {self.largest} largest of each cell are known)"
        if self.left_out:
            words += f", {' and '.join(self.left_out)} left out"
        if self.unknown:
            words += f", {self._unlisted} left out as they are unknown"
        return words

    @property
    def _unlisted(self) -> str:
        """The kinds of contributors that the table does not identify, apart from insiders that are listed."""
        kinds = " and ".join(self.unknown)
        return f"other {kinds}" if self.insiders else kinds

    @property
    def warnings(self) -> tuple[str, ...]:
        """A warning of contributors who are no attackers because the table does not identify them."""
        if not self.unknown:
            return ()
        who, others = "none of them is an attacker", "they"
        if self.insiders:
            who, others = f"only {pluralize(self.insiders, 'listed insider')} can attack", "others"
        return (
            f"the table counts {' and '.join(self.unknown)} but does not say who they are: {who}, so that "
            f"what {others} deduce with their own contribution is not checked. Protect the microdata instead "
            "of a file of cells (microdata in a project.toml), or choose outsider as attackers to leave them "
            "out on purpose",
        )
