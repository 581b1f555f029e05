"""Whom the attackers of a problem stand for: what every verdict names."""

from __future__ import annotations

from dataclasses import dataclass

from tacita.core.words import pluralize

KINDS = {"respondents": "respondent", "holdings": "holding"}
"""Contributors that can be attackers, by the word for all of them."""


@dataclass(frozen=True)
class Considered:
    """How many attackers of each kind were considered besides the outsider, dropped ones included.

    Attributes
    ----------
    left_out
        Kinds of contributors that the table knows and that the problem leaves out.
    largest
        0, or how many of the largest contributors of each cell were considered where others are unknown.
    """

    respondents: int = 0
    holdings: int = 0
    coalitions: int = 0
    insiders: int = 0
    left_out: tuple[str, ...] = ()
    largest: int = 0

    @property
    def text(self) -> str:
        """In words, such as ``an outsider and 1,806 respondents``."""
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
        return words
