"""One seed, one case: Tacita protects and audits, the referee judges, and every difference is a finding.

    python tests/adversary/judge.py --seed 12345

plays a case again and prints what was found.
"""

from __future__ import annotations

import argparse
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from time import perf_counter
from typing import Any

import numpy as np

import tacita as tc
from arms import draw_method, draw_release, make
from attack import ImpossibleError, Region
from draw import Case, draw_case
from knowledge import LOWER, SLIDING, UPPER, Attacker
from reader import Told, read
from tacita import verify

METHODS_PER_CASE, BY_HAND_PER_CASE = 6, 12
SLOW, LIMIT = 10.0, 4.0
"""Seconds that no method may need for a table of this size, and after which it is asked to end."""
NEARLY = 1e-6

FALSE_SAFE, FALSE_UNSAFE, FAULT = "false safe", "false unsafe", "fault"


@dataclass(frozen=True)
class Finding:
    """Something that the referee holds against Tacita: ``what`` it is, where, and in words."""

    what: str
    seed: int
    where: str
    text: str

    def __str__(self) -> str:
        return f"{self.what.upper()}  seed {self.seed}  {self.where}: {self.text}"


@dataclass
class Report:
    """What was tried, by kind, and what was found."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)

    def add(self, other: Report) -> None:
        self.counts.update(other.counts)
        self.findings.extend(other.findings)


class Referee:
    """Plays one case and keeps the record."""

    def __init__(self, seed: int, only: str = "") -> None:
        self.seed, self.only, self.report = seed, only, Report()
        self.random = Random(seed)

    def play(self) -> Report:
        self._count("cases", "tried")
        case = self._try("question", lambda: draw_case(self.random))
        if case is None:
            return self.report
        self._count(f"table {case.kind}", "tried")
        self._count(f"numbers {case.numbers}", "tried")
        self._count(f"attackers {case.attack}", "tried")
        if not self._agree_on_levels(case):
            return self.report
        for _ in range(METHODS_PER_CASE):
            name, options = draw_method(self.random, case)
            release = self._protect(case, name, options, self.random.randrange(1, 2**31))
            if release is not None:
                self._judge(case, release, name, options)
        for _ in range(BY_HAND_PER_CASE):
            kind, release = draw_release(self.random, case)
            self._judge(case, release, f"by hand: {kind}", {})
        return self.report

    def _protect(self, case: Case, name: str, options: dict[str, Any], seed: int) -> Any:
        self._count(name, "tried")
        start = perf_counter()
        release = self._try(
            name, lambda: make(name, options).protect(case.problem, tc.Run(LIMIT, seed)), options
        )
        if (seconds := perf_counter() - start) > SLOW:
            self._find("slow", f"{name} {options}", f"{seconds:.0f} s")
        return release

    def _judge(self, case: Case, release: Any, name: str, options: Mapping[str, Any]) -> None:
        where = f"{name} {dict(options)} on {case.kind}, {case.numbers}, {case.attack}"
        self._count(name, "releases")
        audit = self._try(name, lambda: tc.audit(case.problem, release), where)
        if audit is None:
            return
        told = as_told(case, release)
        known = read(told, case.world, name, options)
        try:
            breaches = self._breaches(case, known)
        except ImpossibleError:
            self._find(FAULT, where, "no table fits what readers are told")
            return
        named = set(np.flatnonzero(audit.worst).tolist())
        unsafe = {int(case.problem.sensitive[i]) for i in named}
        self._count(name, "safe" if audit.safe else "unsafe")
        missed = [b for b in breaches if int(case.at[b.cell]) not in unsafe]
        if missed:
            also_told = (
                {(b.attacker, b.cell) for b in self._breaches(case, told)} if known is not told else None
            )
            worst = missed[0]
            sort = "model" if worst.attacker.split()[0] in ("outsider", "insider") else "contributors"
            if also_told is not None and (worst.attacker, worst.cell) not in also_told:
                sort = "reader"
            self._count(name, FALSE_SAFE)
            self._find(f"{FALSE_SAFE} ({sort})", where, f"{worst.in_words(case)}; {len(missed)} pairs")
        found = {int(case.at[b.cell]) for b in breaches}
        needless = [
            bits for i, bits in enumerate(audit.worst) if bits and int(case.problem.sensitive[i]) not in found
        ]
        if needless:
            self._count(name, FALSE_UNSAFE)
            self._find(
                FALSE_UNSAFE, where, f"audit: {audit.verdict}; the referee finds these cells protected"
            )
        if audit.safe:
            self._certificate(case, audit, name, where)
        elif (
            options.get("protected", True) and not options.get("shortfall") and not name.startswith("by hand")
        ):
            self._find("broken promise", where, f"the method's own release: {audit.verdict}")

    def _certificate(self, case: Case, audit: Any, name: str, where: str) -> None:
        certificate = self._try(name, lambda: tc.certify(audit), where)
        if certificate is None:
            return
        self._count(name, "certificates")
        try:
            verify.verify(certificate)
        except verify.RefusedError as error:
            self._find(FAULT, where, f"verify.py refuses the certificate: {error}")

    def _breaches(self, case: Case, known: Told) -> list[Breach]:
        found = list(breaches_of(case, known))
        pairs = sum(attacker.targets.size for attacker in case.attackers)
        self._count("pairs", "refereed", pairs)
        return found

    def _agree_on_levels(self, case: Case) -> bool:
        """Whether the problem's levels are the referee's, cell by cell."""
        theirs = np.array([case.problem.levels.lower, case.problem.levels.upper, case.problem.levels.sliding])
        ours = case.threat.levels
        self._count("levels", "evaluated", ours.shape[1] * len(case.threat.rules))
        wrong = np.flatnonzero((theirs[:, case.at] != ours).any(axis=0))
        if wrong.size:
            cell = int(wrong[0])
            self._find(
                "levels",
                f"{case.threat.rules}",
                f"cell {case.world.cells[cell]}: Tacita {theirs[:, case.at[cell]]}, referee {ours[:, cell]}",
            )
        return not wrong.size

    def _try(self, name: str, action: Callable[[], Any], about: Any = "") -> Any:
        """What an action returns, or None where Tacita refuses it in its own words; all else is a fault."""
        try:
            return action()
        except tc.TacitaError as error:
            self._count(name, f"refused: {type(error).__name__}")
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            self._find(
                FAULT,
                f"{name} {about}",
                f"{type(error).__name__}: {error} ({last.filename.rsplit('/', 1)[-1]}:{last.lineno})",
            )
        return None

    def _count(self, row: str, column: str, number: int = 1) -> None:
        self.report.counts[row, column] += number

    def _find(self, what: str, where: str, text: str) -> None:
        self.report.findings.append(Finding(what, self.seed, where, text))


@dataclass(frozen=True)
class Breach:
    """A cell that somebody knows better than its levels allow: the deduced interval and what it misses."""

    attacker: str
    cell: int
    low: float
    high: float
    misses: str

    def in_words(self, case: Case) -> str:
        value, levels = case.world.values[self.cell], self.misses
        return (
            f"{self.attacker} finds cell {case.world.cells[self.cell]} of value {value} in "
            f"[{self.low:g}, {self.high:g}], which misses {levels}"
        )


def as_told(case: Case, release: Any) -> Told:
    """A release as readers see it, for each cell of the referee, in the table's units."""
    scale = 10.0 ** (case.table.decimals - release.decimals)
    words = np.array([tc.Mark(mark).word for mark in release.marks])[case.at]
    low, high = (_floats(bound, scale)[case.at] for bound in (release.low, release.high))
    value = np.where(release.shown, release.value * scale, np.nan)[case.at]
    return Told(words, low, high, value)


def _floats(units: Any, scale: float) -> Any:
    from tacita.exact import UNBOUNDED

    return np.where(np.abs(units) >= UNBOUNDED, np.sign(units) * np.inf, units * scale)


def breaches_of(case: Case, known: Told) -> Iterator[Breach]:
    """Every pair of attacker and cell that somebody who knows ``known`` sees through."""
    region = region_of(case, known)
    everyone = case.attackers[0]
    answered: dict[bytes, tuple[Any, Any]] = {}
    sensitive = np.flatnonzero(np.any([a.levels.any(axis=0) for a in case.attackers], axis=0))
    for attacker in case.attackers:
        low, high = np.maximum(region.low, attacker.low), np.minimum(region.high, attacker.high)
        same = (low == region.low).all() and (high == region.high).all()
        if attacker is not everyone and same and (attacker.levels <= everyone.levels).all():
            continue
        key = low.tobytes() + high.tobytes()
        if key not in answered:
            answered[key] = region.extremes(low, high, sensitive)
        least, most = (dict(zip(sensitive.tolist(), ends, strict=True)) for ends in answered[key])
        yield from _missed(case, attacker, least, most)


def region_of(case: Case, known: Told) -> Region:
    """All tables that fit a release and what everyone knows."""
    world, rows = case.world, case.world.equations
    low, high = np.maximum(known.low, case.threat.low), np.minimum(known.high, case.threat.high)
    finite = [np.abs(bound[np.isfinite(bound)]).max(initial=0.0) for bound in (low, high)]
    size = float(np.abs(world.values).sum() + case.threat.levels.max(initial=0) + max(finite))
    zero = np.zeros(rows.shape[0])
    return Region(rows, zero, zero, low, high, world.counts, 1000.0 * size + 10_000.0)


def _missed(
    case: Case, attacker: Attacker, least: dict[int, float], most: dict[int, float]
) -> Iterator[Breach]:
    for cell in attacker.targets.tolist():
        value, levels = float(case.world.values[cell]), attacker.levels[:, cell]
        down, up = value - least[cell], most[cell] - value
        for missed, what in (
            (up < levels[UPPER] - NEARLY, f"UPL {levels[UPPER]}"),
            (down < levels[LOWER] - NEARLY, f"LPL {levels[LOWER]}"),
            (up + down < levels[SLIDING] - NEARLY, f"SPL {levels[SLIDING]}"),
        ):
            if missed:
                yield Breach(attacker.name, cell, least[cell], most[cell], what)
                break


def play(seed: int) -> Report:
    """The record of one case."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Referee(seed).play()


def main() -> int:
    parser = argparse.ArgumentParser(description="Play cases of the adversary again.")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--cases", type=int, default=1, help="so many seeds from this one on")
    asked = parser.parse_args()
    report = Report()
    for seed in range(asked.seed, asked.seed + asked.cases):
        one = play(seed)
        report.add(one)
        for finding in one.findings:
            print(finding, flush=True)
    for (row, column), number in sorted(report.counts.items()):
        print(f"{row:28} {column:28} {number:8}")
    return 1 if report.findings else 0


if __name__ == "__main__":
    raise SystemExit(main())
