"""One seed, one case: Tacita protects and audits, the referee judges, and every difference is a finding.

    python tests/adversary/judge.py --seed 12345

plays a case again and prints what was found.
"""

from __future__ import annotations

import argparse
import csv
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import numpy as np

import tacita as tc
from arms import coarser_release, draw_method, draw_release, make, nearly_the_same
from attack import ImpossibleError
from breaches import Breach, breaches_of, protects, region_of
from draw import Case, draw_case
from optimum import MOST_FREE, cheaper_pattern, least_intervals, roundings
from reader import Page, Told, literature, read
from tacita import verify
from tacita.core.errors import SolverError
from tacita.core.exact import UNBOUNDED

METHODS_PER_CASE, BY_HAND_PER_CASE, TOGETHER_PER_CASE = 6, 30, 10
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


@dataclass(frozen=True, eq=False)
class Seen:
    """A release that was judged: as it is told, and as a reader of the documents knows it."""

    name: str
    release: Any
    told: Told
    known: Told
    safe: bool


class Referee:
    """Plays one case and keeps the record."""

    def __init__(self, seed: int) -> None:
        self.seed, self.report, self.random = seed, Report(), Random(seed)
        self.seen: list[Seen] = []

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
            self._protect_and_judge(case)
        for _ in range(BY_HAND_PER_CASE):
            safe = [one for one in self.seen if one.safe]
            if safe and self.random.random() < 0.6:
                kind, release = (
                    "a little more",
                    nearly_the_same(self.random, case, self.random.choice(safe).release),
                )
            else:
                kind, release = draw_release(self.random, case)
            self._judge(case, release, f"by hand: {kind}", {})
        for _ in range(TOGETHER_PER_CASE if len(self.seen) > 1 else 0):
            self._together(case)
        if self.random.random() < 0.5:
            self._with_coarser(case)
        if self.random.random() < 0.5:
            self._after_another(case)
        return self.report

    def _protect_and_judge(self, case: Case) -> None:
        name, options = draw_method(self.random, case)
        seed = self.random.randrange(1, 2**31)
        self._count(name, "tried")
        start = process_time()
        release = self._try(
            name, lambda: make(name, options).protect(case.problem, tc.Run(LIMIT, seed)), options
        )
        if (seconds := process_time() - start) > SLOW:
            self._find("slow", f"{name} {options}", f"{seconds:.0f} s")
        if release is not None:
            self._judge(case, release, name, options)
            if release.outcome.status:
                self._optimum(case, release, name, options)

    def _judge(self, case: Case, release: Any, name: str, options: Mapping[str, Any]) -> None:
        where = f"{name} {dict(options)} on {case.kind}, {case.numbers}, {case.attack}"
        self._count(name, "releases")
        audit = self._try(name, lambda: tc.audit(case.problem, release), where)
        if audit is None:
            return
        told, page = as_told(case, release), page_of(case, name, options)
        known = read(told, case.world, page)
        if not self._weigh(case, audit, told, known, name, where):
            return
        told_so = release.assumption or (release.outcome and release.outcome.remarks)
        if literature(page) and not told_so and release.hidden.any() and case.threat.sensitive.any():
            self._find("no remark", where, f"a model of the literature without a word: {audit.verdict}")
        self.seen.append(Seen(name, release, told, known, audit.safe))
        kept = options.get("protected", True) and not options.get("shortfall")
        if not audit.safe and kept and not name.startswith("by hand"):
            self._find("broken promise", where, f"the method's own release: {audit.verdict}")
        if self.random.random() < 0.05:
            self._deduction(case, release, told, where)

    def _weigh(self, case: Case, audit: Any, told: Told, known: Told, name: str, where: str) -> bool:
        """Hold a verdict against the referee's; False if nothing fits what is told."""
        try:
            breaches = self._breaches(case, known)
        except ImpossibleError:
            self._find(FAULT, where, "no table fits what readers are told")
            return False
        sensitive = case.problem.sensitive
        unsafe = {int(sensitive[i]) for i in np.flatnonzero(audit.worst)}
        self._count(name, "safe" if audit.safe else "unsafe")
        missed = [b for b in breaches if int(case.at[b.cell]) not in unsafe]
        if missed:
            worst = missed[0]
            sort = "model" if worst.attacker.kind in ("outsider", "by hand") else "contributors"
            if known is not told and worst.pair not in {b.pair for b in self._breaches(case, told)}:
                sort = "reader"
            self._count(name, FALSE_SAFE)
            self._find(f"{FALSE_SAFE} ({sort})", where, f"{worst}; {len(missed)} pairs")
        if unsafe - {int(case.at[b.cell]) for b in breaches}:
            self._count(name, FALSE_UNSAFE)
            self._find(FALSE_UNSAFE, where, f"{audit.verdict}, of which the referee finds some protected")
        if audit.safe:
            self._certificate(audit, name, where)
        return True

    def _certificate(self, audit: Any, name: str, where: str) -> None:
        certificate = self._try(name, lambda: tc.certify(audit), where)
        if certificate is None:
            return
        self._count(name, "certificates")
        try:
            verify.verify(certificate)
        except verify.RefusedError as error:
            self._find(FAULT, where, f"verify.py refuses the certificate: {error}")
            return
        if len(audit.releases) == 1 and self.random.random() < 0.03:
            self._file(audit, certificate, where)

    def _file(self, audit: Any, certificate: dict[str, Any], where: str) -> None:
        """The release as a file: verify.py accepts it, and it says what the referee judged."""
        self._count("file", "written")
        with TemporaryDirectory() as folder:
            path = Path(folder) / "release.csv"
            if self._try("file", lambda: audit.release.write(path, audit=audit), where) is None:
                return
            try:
                verify.check_release(certificate, str(path))
            except verify.RefusedError as error:
                self._find(FAULT, where, f"verify.py refuses the file of the release: {error}")
            rows = list(csv.DictReader(path.read_text(encoding="utf-8-sig").splitlines()))
        ends = [tuple(Fraction(row[name]) if row[name] else None for name in ("low", "high")) for row in rows]
        width = 10**audit.release.decimals
        told = [
            tuple(None if abs(int(end)) >= UNBOUNDED else Fraction(int(end), width) for end in pair)
            for pair in zip(audit.release.low, audit.release.high, strict=True)
        ]
        if sorted(map(str, ends)) != sorted(map(str, told)) and not audit.release.structure.parts:
            self._find(FAULT, where, "the file has other windows than the release")

    def _together(self, case: Case) -> None:
        """Two or three of the releases as one reader sees them."""
        chosen = self.random.sample(self.seen, min(len(self.seen), self.random.choice([2, 2, 2, 3])))
        self._weigh_together(case, [one.release for one in chosen], chosen, "together")

    def _with_coarser(self, case: Case) -> None:
        """A release of a table without one of the dimensions, and one of the whole table."""
        if not self.seen or len(case.world.axes) < 2 or len(case.world.faces) > 1:
            return
        coarser, low, high = coarser_release(self.random, case)
        one = self.random.choice(self.seen)
        earlier = Seen("coarser", coarser, one.told.narrowed(low, high), one.known.narrowed(low, high), False)
        self._weigh_together(case, [coarser, one.release], [earlier, one], "together: coarser")

    def _weigh_together(self, case: Case, releases: list[Any], seen: list[Seen], name: str) -> None:
        where = f"{' and '.join(one.name for one in seen)} on {case.kind}, {case.numbers}, {case.attack}"
        self._count(name, "releases")
        audit = self._try(name, lambda: tc.audit(case.problem, releases), where)
        if audit is not None:
            told, known = seen[0].told, _known_together(seen[0], audit)
            for one in seen[1:]:
                told = told.narrowed(one.told.low, one.told.high)
                more = _known_together(one, audit)
                known = replace(known.narrowed(more.low, more.high), sums=(*known.sums, *more.sums))
            self._weigh(case, audit, told, known, name, where)

    def _after_another(self, case: Case) -> None:
        """A method that knows of an earlier release, and must protect what both say together."""
        safe = [one for one in self.seen if one.safe]
        if not safe:
            return
        earlier = self.random.choice(safe)
        name, label = "after another release", f"after {earlier.name}"
        method, options = draw_method(self.random, case)
        seed = self.random.randrange(1, 2**31)
        self._count(name, "tried")
        problem = self._try(name, lambda: case.ask(already_published=earlier.release), label)
        if problem is None:
            return
        about = f"{method} {options} {label}"
        release = self._try(name, lambda: make(method, options).protect(problem, tc.Run(LIMIT, seed)), about)
        audit = None if release is None else self._try(name, lambda: tc.audit(problem, release), about)
        if audit is None:
            return
        self._count(name, "releases")
        told = as_told(case, release)
        known = read(told, case.world, page_of(case, method, options))
        told = told.narrowed(earlier.told.low, earlier.told.high)
        before = _known_together(earlier, audit)
        known = replace(known.narrowed(before.low, before.high), sums=(*known.sums, *before.sums))
        self._weigh(case, audit, told, known, name, f"{about} on {case.kind}, {case.numbers}, {case.attack}")

    def _optimum(self, case: Case, release: Any, name: str, options: Mapping[str, Any]) -> None:
        """Whether the referee finds anything that loses less than a proven optimum."""
        check = {"suppression": _best_pattern, "rounding": _best_rounding, "intervals": _best_intervals}
        if name not in check:
            return
        better = check[name](case, release, options)
        if better is None:
            return
        self._count(name, "optima")
        if better < release.outcome.loss - NEARLY * max(1.0, release.outcome.loss):
            self._find(
                "beaten",
                f"{name} {dict(options)} on {case.kind}, {case.numbers}, {case.attack}",
                f"the optimum is said to be {release.outcome.loss:g}, the referee needs {better:g}",
            )

    def _deduction(self, case: Case, release: Any, told: Told, where: str) -> None:
        """The outsider's interval of every hidden cell, as Tacita and as the referee deduce it."""
        found = self._try("deduce", lambda: tc.deduce(case.problem, release), where)
        if found is None:
            return
        self._count("deduce", "intervals")
        region = region_of(case.threat, told)
        cells = np.flatnonzero(told.low < told.high)
        least, most = region.extremes(region.low, region.high, cells)
        scale = 10.0**case.world.decimals
        for cell, low, high in zip(cells.tolist(), least, most, strict=True):
            theirs = [end * scale for end in found.of(int(case.at[cell]))]
            ours = [
                -np.inf if low <= -region.vast / 100 else low,
                np.inf if high >= region.vast / 100 else high,
            ]
            if not np.allclose(theirs, ours, rtol=1e-6, atol=1e-4):
                self._find("deduction", where, f"cell {case.world.cells[cell]}: {theirs}, the referee {ours}")
                return

    def _breaches(self, case: Case, known: Told) -> list[Breach]:
        self._count("pairs", "refereed", sum(attacker.targets.size for attacker in case.attackers))
        return list(breaches_of(case.threat, case.attackers, known))

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
        except SolverError as error:
            self._count(name, "refused: SolverError")
            self._find("solver error", f"{name} {about}", str(error))
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


def as_told(case: Case, release: Any) -> Told:
    """A release as readers see it, for each cell of the referee, in the table's units."""
    scale = 10.0 ** (case.table.decimals - release.decimals)
    words = np.array([tc.Mark(mark).word for mark in release.marks])[case.at]
    low, high = (_floats(bound, scale)[case.at] for bound in (release.low, release.high))
    value = np.where(release.shown, release.value * scale, np.nan)[case.at]
    return Told(words, low, high, value)


def _floats(units: Any, scale: float) -> Any:
    return np.where(np.abs(units) >= UNBOUNDED, np.sign(units) * np.inf, units * scale)


def _known_together(one: Seen, audit: Any) -> Told:
    """What is known of one of several releases; the verdict may say that readers must not know more than its
    windows.
    """
    assumed = one.release.alone and one.release.alone in audit.verdict
    return one.told if assumed else one.known


def page_of(case: Case, name: str, options: Mapping[str, Any]) -> Page:
    """What is public about the method that made a release; nothing of what was made by hand."""
    if name.startswith("by hand"):
        return Page(name, {}, {}, case.threat.sensitive)
    method = make(name, options)
    every = {option.name: getattr(method, option.name) for option in fields(method)}
    return Page(name, every, case.columns, case.threat.sensitive)


def _best_pattern(case: Case, release: Any, options: Mapping[str, Any]) -> float | None:
    """The least cost of a pattern of suppression, as far as it is below the claim; None if not looked for."""
    threat, cost = case.threat, np.asarray(case.problem.cost)[case.at]
    allowed = (threat.low < threat.high) & (case.world.inner if options.get("margins") is False else True)
    allowed &= ~np.asarray(case.problem.must_publish)[case.at]
    forced = threat.sensitive | np.asarray(case.problem.must_hide)[case.at]
    if set(options) - {"margins", "at_most"} or (allowed & ~forced).sum() > MOST_FREE:
        return None

    def safe(hidden: Any) -> bool:
        low = np.where(hidden, -np.inf, case.world.values)
        return protects(threat, case.attackers, as_pattern(case, low, hidden))

    loss = float(release.outcome.loss)
    better = cheaper_pattern(forced, allowed, cost, loss, options.get("at_most"), safe)
    return loss if better is None else float(cost[better].sum())


def as_pattern(case: Case, low: Any, hidden: Any) -> Told:
    """A pattern of suppression as it is told."""
    words = np.where(hidden, "suppressed", "published")
    return Told(words, low, np.where(hidden, np.inf, case.world.values), np.where(hidden, np.nan, low))


def _best_rounding(case: Case, release: Any, options: Mapping[str, Any]) -> float | None:
    """The least distance of a protected rounded table; None if not looked for."""
    method, told, world = make("rounding", options), as_told(case, release), case.world
    plain = (
        method.objective == "distance" and method.multiples == "stay" and method.weight in ("unit", "cost")
    )
    plain = plain and method.at_most is None and method.subtotals is None and not method.steps
    if (
        not plain
        or not (told.marks == "rounded").all()
        or len(world.faces) > 1
        or world.inner.sum() > MOST_FREE
    ):
        return None
    radius = float(told.high[0] - told.low[0]) / 2
    base = round(radius + (world.step if method.strict else 0))
    scale, weight = 10.0**world.decimals, np.ones(len(world))
    if method.weight == "cost":
        weight = np.asarray(case.problem.cost)[case.at]
    weight = weight * (world.inner if not method.margins else 1)
    best = float(release.outcome.loss)
    for table in roundings(world, base):
        distance = float((np.abs(table - world.values) / scale) ** method.power @ weight)
        if distance < best - NEARLY * max(1.0, best):
            known = Told(told.marks, table - radius, table + radius, table)
            if not method.protected or protects(case.threat, case.attackers, known):
                best = distance
    return best


def _best_intervals(case: Case, release: Any, options: Mapping[str, Any]) -> float | None:
    """The least loss of protecting intervals; None if not looked for."""
    needs = sum(attacker.targets.size for attacker in case.attackers)
    decided = case.problem.must_publish.any() or case.problem.must_hide.any()
    ways = {option: options.get(option, "cost") for option in ("weight_up", "weight_down")}
    others = set(options) - {*ways, "ends"} or not set(ways.values()) <= {"cost", "unit"}
    others = others or options.get("ends") != "exact"
    if others or decided or needs > 5 or not needs or len(case.world) > 16:
        return None
    cost, one = np.asarray(case.problem.cost)[case.at], np.ones(len(case.world))
    up, down = (one if way == "unit" else cost for way in ways.values())
    return least_intervals(case.world, case.attackers, up, down) / 10.0**case.world.decimals


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
