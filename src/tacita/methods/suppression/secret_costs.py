"""Costs multiplied by secret random factors, so that a reader cannot re-run the program.

Cost ``w_i`` becomes ``w_i f_i`` with ``f_i`` drawn between ``1 / (1 + noise)`` and 1, evenly in its
logarithm. As no factor exceeds 1, a lower bound in secret costs is one in true costs. The release is optimal
in secret costs, and in general not in true ones.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tacita.core.errors import InputError
from tacita.core.exact import Floats
from tacita.core.release import Release
from tacita.core.run import Run

COST_NOISE_HELP = (
    "costs are multiplied by secret random factors that differ by up to this share, such as 0.5, so that who "
    "re-runs the program does not find the same cells; 0: no factors, the least loss"
)
NOISE = 1e-9
STREAM = 2
"""The stream of random numbers for factors, beside others of the same seed."""


def check_cost_noise(noise: float) -> None:
    """Raise an error for a noise on the costs of suppression that is negative or no number."""
    if not 0 <= noise < np.inf:
        raise InputError(f"option 'cost_noise' is {noise:g}", remedy="give a share of 0 or more, such as 0.5")


def draw_secret_factors(cells: int, noise: float, seed: int) -> Floats:
    """Return a secret factor for the suppression cost of every cell, all 1 without noise."""
    if not noise:
        return np.ones(cells)
    drawn = np.random.default_rng([seed, STREAM]).uniform(0.0, np.log1p(noise), cells)
    return np.asarray(np.exp(-drawn))


def report_in_true_costs(release: Release, loss: float, noise: float, run: Run) -> Release:
    """Return the suppressed release with its loss in true costs, and a remark on the secret factors."""
    outcome = release.outcome
    if not noise or outcome is None:
        return release
    least = "it is the least in costs" if outcome.status else "costs were"
    bound = min(outcome.bound, loss)
    proven = loss - bound <= NOISE * abs(loss)
    remark = (
        f"{least} multiplied by secret random factors of {1 / (1 + noise):.2g} to 1; loss and bound are in "
        "true costs"
    )
    true_outcome = replace(
        outcome,
        status=run.judge(proven, loss, bound),
        loss=loss,
        bound=bound,
        remarks=(*outcome.remarks, remark),
    )
    return replace(release, outcome=true_outcome, made_by={**release.made_by, "seed": run.seed})
