"""Random rounding with quadratic programming (Tiwari, corrected): only sensitive cells are rounded.

1. Sensitive cells go to multiples of a base ``b`` next to their values, and so does their sum. All such
   roundings are candidates, or unbiased draws of them where there are too many.
2. Roundings that a protection inequality of some attacker excludes are dropped.
3. For each of the others the cells that are neither sensitive nor totals are adjusted,

       min  sum_i (x_i - a_i)^2 / |a_i|    s.t.  M x = b,   totals unchanged,   bounds,   x integer,

   exactly. Roundings without such a table are dropped.
4. Of these tables the best is published whose windows ``x - b .. x + b`` meet every level, also against
   readers who know the method.

A rounding that is chosen by its result is not unbiased any more; a single draw (``candidates=1``) is, in its
sensitive cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from heapq import heapify, heappop, heappush
from typing import ClassVar, Literal

import numpy as np

from tacita.core import exact
from tacita.core.errors import InfeasibleError, InputError, StoppedError
from tacita.core.exact import Units
from tacita.core.heartbeat import with_heartbeat
from tacita.core.outcome import Outcome
from tacita.core.release import Mark, Release
from tacita.core.run import Run
from tacita.engine.attack.requirements import Requirements
from tacita.methods.measuring import measure_shown_changes
from tacita.methods.method import check_words, option
from tacita.methods.modelling.model_builder import refuse_published_secrets
from tacita.methods.options.distances import ASSUMED
from tacita.methods.options.per_cell import read_weights
from tacita.methods.random_rounding.factor_bases import find_likely_bases
from tacita.methods.random_rounding.inequalities import Inequalities, derive_inequalities
from tacita.methods.random_rounding.integer_squares import NOISE, SquaresSolution, minimise_squares
from tacita.methods.random_rounding.random_rounding_task import RandomRoundingTask
from tacita.methods.random_rounding.roundings import Roundings, draw_roundings, enumerate_roundings
from tacita.methods.rounding.bases import FREE, choose_bases, read_given, refuse_small_bases
from tacita.methods.unbiased_rounding.alternating_cycles import make_coins
from tacita.problem.problem import Problem, start_run

UNKNOWN = "what readers can deduce who know shares, base and totals was not checked (option 'readers')"
REMEDY = (
    "Use a larger base, wider bounds (below, above), more candidates, switch protected off, or use another "
    "method."
)


@dataclass(frozen=True)
class RandomRounding:
    """Round the sensitive cells, adjust the other inner cells by as little as possible, keep all totals."""

    name: ClassVar[str] = "random-rounding"
    does: ClassVar[str] = (
        "Rounds the sensitive cells to a base and adjusts the other inner cells by least squares; all "
        "totals stay exactly as they are."
    )
    choose: ClassVar[str] = (
        "Choose it when totals must be true and few inner cells are sensitive. Not when a total is "
        "sensitive: it is refused."
    )

    base: float | None = option(
        None,
        "sensitive cells are rounded to multiples of the base, and readers learn that no number is "
        "changed by more than it; empty: the first factor of the sum of the sensitive cells, or other "
        "number, that protects",
        main=True,
    )
    below: float = option(
        0.5, "the largest part of its value by which another cell may be lowered, at most the base"
    )
    above: float = option(
        1.0, "the largest part of its value by which another cell may be raised, at most the base"
    )
    candidates: int = option(
        256,
        "how many roundings of the sensitive cells are compared: all if there are no more, else so many "
        "random ones; 1: a single random one, right on average",
    )
    prefer: Literal["loss", "nearest"] = option(
        "loss",
        "which rounding of the sensitive cells is taken. loss: the one after which the other cells "
        "change least; nearest: the one nearest to the true values",
    )
    given: str | None = option(
        None, "column of the rounded values of the sensitive cells; empty: they are chosen"
    )
    margins: Literal["exact", "announced"] = option(
        "exact",
        "totals stay as they are, and the release says so (exact) or states the radius only (announced)",
    )
    protected: bool = option(
        True, "protect the sensitive cells up to their levels; no: only round and adjust", main=True
    )
    readers: Literal["method", "radius"] = option(
        "method",
        "what readers are assumed to know. method: base, shares and which totals stay; radius: how far a"
        " number can be from the truth, and no more, as in the literature",
    )

    def __post_init__(self) -> None:
        if not 0 <= self.below <= 1:
            raise InputError(f"option 'below' is {self.below:g}; a cell can lose a share of 0 to 1")
        if not 0 <= self.above < float("inf"):
            raise InputError(f"option 'above' is {self.above:g}; a cell can gain a share of 0 or more")
        check_words(self)
        if self.given is not None and self.base is None:
            raise InputError("option 'given' needs the base of the values that are given", remedy="give it")
        if self.candidates < 1:
            raise InputError(f"option 'candidates' is {self.candidates}; at least one rounding is needed")

    def loss(self, problem: Problem, release: Release) -> float:
        """Return a random rounding's loss ``sum (v - a)^2 / |a|`` over inner cells, 1 for zero ``|a|``."""
        inner = ~problem.table.structure.is_total
        change = measure_shown_changes(problem, release, inner) / 10.0**problem.table.decimals
        weight = read_weights(problem, "inverse", "loss")
        return float((weight * change**2)[inner].sum())

    @with_heartbeat("preparing")
    def protect(self, problem: Problem, run: Run | None = None) -> Release:
        """Return the best random rounding found; its loss is ``sum (x - a)^2 / |a|`` over all inner cells.

        Raises
        ------
        InfeasibleError
            No rounding can be adjusted within the bounds and meets every level.
        """
        run = start_run(problem, run)
        self._refuse_totals(problem)
        errors = []
        for base in self._list_bases(problem):
            task = RandomRoundingTask.of(
                problem, base, self.below, self.above, self.margins == "announced", self.readers == "method"
            )
            refuse_published_secrets(problem, (task.radius == 0) | problem.table.structure.is_total)
            try:
                return self._solve_base(task, run)
            except InfeasibleError as error:
                errors.append(error)
        if len(errors) > 1:
            raise errors[0].with_remedy(f"(None of {len(errors):,} bases does better.)")
        raise errors[0]

    def _refuse_totals(self, problem: Problem) -> None:
        totals = problem.sensitive[problem.table.structure.is_total[problem.sensitive]]
        if self.protected and totals.size:
            raise InfeasibleError(
                "sensitive, but a total, and this method keeps all totals as they are",
                place=problem.table.structure.names(totals),
                remedy="Use the method 'rounding', 'adjustment' or 'suppression'.",
            )

    def _list_bases(self, problem: Problem) -> Iterator[int]:
        """Yield bases of the random rounding in units: the given one, or those that may protect."""
        sensitive = problem.levels.sensitive
        if self.base is None:
            likely = list(find_likely_bases(problem)) if sensitive.any() else []
            yield from likely
            if likely:
                return
        base = choose_bases(problem, self.base, sensitive | ~problem.must_publish)
        if self.protected:
            refuse_small_bases(problem, base, sensitive)
        yield int(base.max(initial=1))

    def _solve_base(self, task: RandomRoundingTask, run: Run) -> Release:
        problem = task.problem
        needed = None
        if self.protected and task.cells.size:
            needed = derive_inequalities(problem, task.find_windows(), run)
        looked_at, all_of_them = self._list_roundings(task, needed, run)
        kept = looked_at if needed is None else _drop_excluded(task, looked_at, needed)
        search = _RoundingSearch(task, kept, self.protected, run)
        best, bound = search.find_best() if self.prefer == "loss" else search.find_first()
        if not all_of_them and self.prefer == "loss":
            # Roundings that were not drawn may lose less, but none less than the nearest multiples.
            nearest = task.residue * 2 > task.base
            bound = min(bound, float(task.losses(nearest[None, :])[0]))
        # Once the time is over levels are not checked any more.
        proven = best.loss - bound <= NOISE * best.loss and not run.over
        remarks = [
            f"roundings to {_base_text(task)} that were looked at: {len(looked_at):,}, "
            f"found unadjustable: {search.unadjustable:,}"
        ]
        if self.prefer == "nearest":
            remarks.append("loss and bound are those of the nearest rounding that could be adjusted")
        if excluded := len(looked_at) - len(kept):
            remarks.append(f"roundings that protection inequalities exclude: {excluded:,}")
        if stay := int(np.count_nonzero(task.residue == 0)):
            remarks.append(f"sensitive cells that are multiples of the base and stay as they are: {stay:,}")
        if not all_of_them:
            remarks += run.seed_remarks
        unknown = bool(task.cells.size) and (self.readers == "radius" or not self.protected)
        remarks += [UNKNOWN] * unknown
        return Release.rounded(
            problem.table,
            task.value(best),
            task.radius,
            primary=problem.levels.sensitive,
            mark=Mark.ADJUSTED,
            made_by={
                "method": self.name,
                "options": asdict(self),
                **({} if all_of_them else {"seed": run.seed}),
            },
            outcome=Outcome(
                run.judge(proven, best.loss, bound),
                best.loss,
                min(bound, best.loss),
                run.seconds,
                tuple(remarks),
            ),
            assumption=ASSUMED if unknown else "",
            alone="" if unknown else "the base, the shares and the totals of a random rounding",
        )

    def _list_roundings(
        self, task: RandomRoundingTask, needed: Inequalities | None, run: Run
    ) -> tuple[Roundings, bool]:
        """Return candidates of the random rounding, the nearest first, and whether these are all."""
        if self.given is not None:
            return self._read_given_rounding(task, self.given), True
        found = enumerate_roundings(task.residue, task.base, self.candidates)
        complete = found is not None
        if found is None:
            must = None
            if needed is not None and self.candidates > 1:
                # With many cells every draw would violate some inequality; a single draw stays unbiased.
                can_go_down, can_go_up = needed.find_open_directions()
                must = ~can_go_up, ~can_go_down
            coins = make_coins(run.seed)
            found = draw_roundings(task.residue, task.base, self.candidates, coins, must)
        return found[np.argsort(task.distances(found), kind="stable")], complete

    def _read_given_rounding(self, task: RandomRoundingTask, name: str) -> Roundings:
        """Return the one rounding of sensitive cells that a column gives, in place of random ones."""
        problem, sensitive = task.problem, np.zeros(len(task.problem.table), dtype=bool)
        sensitive[task.cells] = True
        base = np.full(len(problem.table), task.base)
        given = read_given(problem, name, base, sensitive)[task.cells]
        if (missing := task.cells[given == FREE]).size:
            raise InputError(
                f"option 'given': {problem.table.structure.names(missing)} has no rounded value",
                remedy="fill it in",
            )
        return np.asarray(given > problem.table.units[task.cells])[None, :]


def _drop_excluded(task: RandomRoundingTask, roundings: Roundings, needed: Inequalities) -> Roundings:
    """Return the random roundings that meet every protection inequality; raise an error if none does."""
    met = needed.are_met(roundings)
    kept = roundings[met.all(axis=1)]
    if not len(kept):
        worst = np.argsort(met.sum(axis=0), kind="stable")[:1]
        raise _too_certain_error(task, needed.requirements[worst], "every rounding that was looked at leaves")
    return kept


class _RoundingSearch:
    """Roundings in the order of lower bounds on their losses; each is adjusted when its turn comes."""

    def __init__(self, task: RandomRoundingTask, roundings: Roundings, protected: bool, run: Run) -> None:
        self.task, self.roundings, self.protected, self.run = task, roundings, protected, run
        self.unadjustable = 0
        self._queue: list[tuple[float, int, SquaresSolution | None]] = [
            (loss, k, None) for k, loss in enumerate(task.losses(roundings).tolist())
        ]
        heapify(self._queue)

    def find_best(self) -> tuple[SquaresSolution, float]:
        """Return the adjusted random rounding of least loss that meets all levels, and a bound for all."""
        passed_over, failed, stopped = np.inf, None, False
        while self._queue:
            least, k, moved = heappop(self._queue)
            if moved is None:
                stopped |= not self._adjust(least, k)
                passed_over = min(passed_over, least) if stopped else passed_over
                continue
            missing = self.task.find_missed(moved, self.run) if self.protected else None
            if missing is None or not len(missing):
                left = (least if other is None else other.bound for least, _, other in self._queue)
                return moved, min(moved.bound, passed_over, *left)
            # Another adjustment of the same rounding might meet the levels, at a higher loss.
            failed, passed_over = failed or missing, min(passed_over, moved.bound)
        raise self._failure_error(failed, stopped)

    def find_first(self) -> tuple[SquaresSolution, float]:
        """Return the first random rounding that can be adjusted and meets all levels, and its bound."""
        failed, stopped = None, False
        for k in range(len(self.roundings)):
            self._queue.clear()
            stopped |= not self._adjust(0.0, k)
            for _, _, moved in self._queue:
                missing = (
                    self.task.find_missed(moved, self.run) if self.protected and moved is not None else None
                )
                if moved is not None and (missing is None or not len(missing)):
                    return moved, moved.bound
                failed = failed or missing
        raise self._failure_error(failed, stopped)

    def _adjust(self, least: float, k: int) -> bool:
        """Adjust the other cells to one random rounding and queue it; return False if the time is over."""
        if self.run.over:
            return False
        self.run.report("adjusting", len(self.roundings) - len(self._queue), len(self.roundings), bound=least)
        try:
            moved = minimise_squares(self.task.build_squares(self.roundings[k]), self.run)
        except StoppedError:
            return False
        if moved is None:
            self.unadjustable += 1
        else:
            # It is taken when no other rounding can be better by more than the gap asked for.
            heappush(self._queue, (moved.loss * (1.0 - self.run.gap), k, moved))
        return True

    def _failure_error(self, failed: Requirements | None, stopped: bool) -> InfeasibleError | StoppedError:
        if stopped:
            return StoppedError(
                f"stopped after {self.run.seconds:.0f} s before a table was found", remedy="allow more time"
            )
        if failed is not None:
            return _too_certain_error(self.task, failed, "the best adjusted table leaves")
        names = self.task.problem.table.structure.names(self.task.cells)
        return InfeasibleError(
            f"no rounding to {_base_text(self.task)} can be made up for by other cells within their bounds",
            place=names,
            remedy=REMEDY,
            options=["protected=no"],
        )


def _too_certain_error(task: RandomRoundingTask, failed: Requirements, what: str) -> InfeasibleError:
    problem = task.problem
    cells: Units = np.unique(failed.cell)
    return InfeasibleError(
        f"with the base {_base_text(task)} {what} less uncertainty than the levels ask for, against "
        f"{problem.attackers[int(failed.attacker[0]) + 1]}",
        place=problem.table.structure.names(cells),
        remedy=REMEDY,
        options=["protected=no"],
    )


def _base_text(task: RandomRoundingTask) -> str:
    return exact.to_text(task.base, task.problem.table.decimals)
