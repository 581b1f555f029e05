"""What a reader who re-runs the program finds, method by method, on random tables of counts.

    python benchmarks/rerun.py --tables 20

Tables are two by three with counts up to 8 and a threshold of 5 where cells are hidden. Where all numbers
change, more tables fit: those are two by two, with counts up to 4 and a threshold of 2.

Methods that draw random numbers are run with a few seeds on each table that fits: their figures overstate the
attack, since a reader cannot rule out the seeds that were not tried.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping

import numpy as np

import tacita as tc
from tacita.core.errors import TacitaError
from tacita.methods.method import Method
from tacita.testing import rerun_attack

SEEDS = tuple(range(2, 10))
METHODS: Mapping[str, Method] = {
    "suppression": tc.Suppression(),
    "suppression, cost_noise=1": tc.Suppression(cost_noise=1.0),
    "intervals, ends=exact": tc.Intervals(ends="exact"),
    "intervals": tc.Intervals(),
    "rounding, base=3": tc.Rounding(base=3),
    "unbiased-rounding, base=3": tc.UnbiasedRounding(base=3),
    "perturbation, distance=exact": tc.Perturbation(distance="exact"),
    "perturbation": tc.Perturbation(),
    "adjustment, distance=exact": tc.Adjustment(distance="exact"),
    "adjustment": tc.Adjustment(),
}
CHANGING = ("rounding", "unbiased", "perturbation", "adjustment")
DRAWING = (
    "suppression, cost_noise=1",
    "intervals",
    "unbiased-rounding, base=3",
    "perturbation",
    "adjustment",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=20)
    parser.add_argument("--methods", nargs="*", default=list(METHODS))
    asked = parser.parse_args()
    print("| method | releases | tables that fit | left | sensitive cells | that lose a level |")
    print("|---|---|---|---|---|---|")
    for name in asked.methods:
        releases = fitting = left = cells = lost = 0
        for seed in range(asked.tables):
            shape, largest, threshold = ((2, 2), 4, 2) if name.startswith(CHANGING) else ((2, 3), 8, 5)
            values = np.random.default_rng(seed).integers(0, largest + 1, shape)
            problem = tc.Problem(
                tc.Table.from_array(values, undeclared_sums="ignore"), tc.Threshold(threshold)
            )
            seeds = SEEDS if name in DRAWING else ()
            try:
                found = rerun_attack(METHODS[name], problem, seeds=seeds, most=20_000)
            except TacitaError:
                continue
            releases, fitting, left = releases + 1, fitting + found.fitting, left + found.left
            cells, lost = cells + found.lost.size, lost + int(found.lost.sum())
        print(f"| {name} | {releases} | {fitting:,} | {left:,} | {cells} | {lost} |", flush=True)


if __name__ == "__main__":
    main()
