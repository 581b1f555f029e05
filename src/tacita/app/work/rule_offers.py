"""Rules that the app proposes for a table: the recommended ones first, those that cannot apply last."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from tacita.core.errors import RuleError, TacitaError
from tacita.core.tables.table import Table
from tacita.rules import Rule, parse_rule, rule_kinds
from tacita.rules.grammar import write_rule
from tacita.rules.rule import HOLDING, RESPONDENT, By, ContributorRule, find_contributions, split_rule

RECOMMENDED = {
    "counts": (("threshold(5)",), "Counts from 1 to 4 are sensitive."),
    "amounts": (
        ("p-percent(10)", "threshold(3)"),
        "Amounts are sensitive if somebody can estimate the largest contributor to within 10 %, or if fewer "
        "than 3 contribute.",
    ),
}
"""Rules to begin with, by what the table holds."""


@dataclass(frozen=True)
class RuleOffer:
    """Written rules that the app offers together, and what they mean; ``reason`` says why the table does not
    support them, and is empty if it does. Those of one offer at most fit a table best.
    """

    key: str
    title: str
    about: str
    rules: tuple[str, ...]
    reason: str
    fits_best: bool = False


def list_offers(table: Table, by: By) -> list[RuleOffer]:
    """Return the rules that the app proposes for a table, of which those on contributors look at ``by``."""
    own = "counts" if table.integer else "amounts"
    offers = [
        _make_offer(table, by, f"recommended-{kind}", " and ".join(RECOMMENDED[kind][0]), about, texts)
        for kind, (texts, does) in sorted(RECOMMENDED.items(), key=lambda item: item[0] != own)
        for about in [f"{does} Recommended for {kind}."]
    ]
    offers[0] = replace(offers[0], fits_best=not offers[0].reason)
    offers += [
        _make_offer(table, by, f"add-{name}", name, f"{kind.does} {kind.usual}".strip(), (kind.example,))
        for name, kind in rule_kinds().items()
    ]
    return sorted(offers, key=lambda offer: bool(offer.reason))


def _make_offer(table: Table, by: By, key: str, title: str, about: str, texts: tuple[str, ...]) -> RuleOffer:
    rules = tuple(look_at(text, by) for text in texts)
    return RuleOffer(key, title, about, rules, _explain_unsuitable(rules, table))


def _explain_unsuitable(texts: Iterable[str], table: Table) -> str:
    """Return why a table does not support rules that the app offers; empty if it does."""
    try:
        for text in texts:
            parse_rule(text).require_table(table)
    except TacitaError as error:
        return error.fault
    return ""


def propose_by(table: Table) -> By:
    """Return whom rules in the app look at to begin with: the holdings that amounts name, else respondents.

    A holding knows what its respondents put in, so that of amounts they are one contributor. Counts are of
    people or firms, who stand in the table whoever they belong to.
    """
    return HOLDING if knows_holdings(table) and not table.integer else RESPONDENT


def knows_holdings(table: Table) -> bool:
    """Return whether the user can have rules look at holdings in place of respondents."""
    return find_contributions(table, HOLDING) is not None


def find_by(texts: Iterable[str]) -> set[By]:
    """Return whom the written rules of the user look at: respondents, holdings, both or nobody."""
    parts = (part for text in texts for part in _read_parts(text))
    return {part.by for part in parts if isinstance(part, ContributorRule)}


def look_at(text: str, by: By) -> str:
    """Return a written rule that looks at these contributors instead; one that cannot stays as it is in the
    app.
    """
    parts = _read_parts(text)
    if not any(isinstance(part, ContributorRule) for part in parts):
        return text
    try:
        changed = [replace(part, by=by) if isinstance(part, ContributorRule) else part for part in parts]
    except RuleError:
        return text
    return " | ".join(map(write_rule, changed))


def _read_parts(text: str) -> tuple[Rule, ...]:
    """Return the rules of a text that the user typed; none if it cannot be read."""
    try:
        return split_rule(parse_rule(text))[0]
    except TacitaError:
        return ()
