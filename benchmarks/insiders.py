"""What it costs that every respondent is an attacker: suppression and audit of tables from microdata.

    python benchmarks/insiders.py [--gap 0.05] [--limit 600] [--large]

Each table is protected and audited three times: against the outsider, against the respondents that the first
version listed (alone in a cell, or among the largest of a sensitive one), and against all of them. All times
are CPU seconds: of stating the problem, of suppression until loss and lower bound are within ``--gap`` of
each other, and of the audit. All respondents may take at most twice the time of the short list.
``--large`` adds a table with 100,000 respondents.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, field

import numpy as np

from tacita.auditing.audit import audit
from tacita.core.run import Event, Run
from tacita.core.tables.table import Table
from tacita.generate import microdata
from tacita.methods.suppression.suppression import Suppression
from tacita.problem.problem import Problem
from tacita.rules import MinimumFrequency, PPercent
from tacita.tabulation.tabulate import tabulate

SHAPE = {"region": (36, 2), "industry": (46, 2)}
RULE = PPercent(10) | MinimumFrequency(3)
MOST = 2.0


@dataclass
class Stopwatch:
    """Cancels a run when its gap is small enough, and keeps the CPU seconds that it took."""

    gap: float
    run: Run = field(init=False)
    started: float = field(default_factory=time.process_time)
    first: float = np.nan

    def watch(self, limit: float) -> Run:
        self.run = Run(time_limit=limit, seed=1, listener=self.look)
        return self.run

    def look(self, event: Event) -> None:
        if event.incumbent is None or event.bound is None or not np.isfinite(event.incumbent):
            return
        if np.isnan(self.first):
            self.first = time.process_time() - self.started
        if event.incumbent - event.bound <= self.gap * event.incumbent:
            self.run.cancel()


def tabulated(records: int, respondents: int) -> Table:
    made = microdata(records, SHAPE, respondents=respondents, decimals=0, seed=1)
    return tabulate(made.records, dict(made.hierarchies), "value", respondent="respondent")


def short_list(problem: Problem) -> list[object]:
    """The respondents that the first version listed, as insiders by hand."""
    known, table = problem.table.contributions, problem.table
    assert known is not None
    assert table.count is not None
    listed = np.concatenate([known.who[table.count == 1, 0], known.who[problem.sensitive].ravel()])
    names = {f"respondent {known.name(int(who))}" for who in np.unique(listed[listed >= 0])}
    return [
        "outsider",
        *(problem.insiders[k] for k, name in enumerate(problem.insiders.names) if name in names),
    ]


def measure(table: Table, attackers: object, gap: float, limit: float) -> float:
    start = time.process_time()
    problem = Problem(table, RULE, attackers=attackers)  # type: ignore[arg-type]
    stated = time.process_time() - start
    watch = Stopwatch(gap)
    release = Suppression().protect(problem, watch.watch(limit))
    protected = time.process_time() - watch.started
    start = time.process_time()
    found = audit(problem, release)
    audited = time.process_time() - start
    assert release.outcome is not None
    print(
        f"  {len(problem.insiders):7,} insiders  problem {stated:6.2f} s  "
        f"first release {watch.first:6.2f} s  suppression {protected:7.2f} s  "
        f"gap {release.outcome.gap:6.1%}  audit {audited:6.2f} s  "
        f"{found.programs:,} programs  {'safe' if found.safe else found.verdict}"
    )
    return stated + protected + audited


def compare(records: int, respondents: int, gap: float, limit: float) -> None:
    table = tabulated(records, respondents)
    everyone = Problem(table, RULE, attackers="respondents")
    print(f"{len(table):,} cells, {len(everyone.levels):,} sensitive, {everyone.considered.text}")
    measure(table, "outsider", gap, limit)
    short = measure(table, short_list(everyone), gap, limit)
    wide = measure(table, "respondents", gap, limit)
    print(f"  all respondents take {wide / short:.2f} times the short list; needed: at most {MOST:g}")


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--gap", type=float, default=0.05)
    options.add_argument("--limit", type=float, default=600.0)
    options.add_argument("--large", action="store_true")
    chosen = options.parse_args()
    compare(200_000, 20_000, chosen.gap, chosen.limit)
    if chosen.large:
        compare(500_000, 100_000, chosen.gap, chosen.limit)
