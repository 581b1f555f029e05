"""Whatever is done to a case, its problem is the one that is put anew for the final table.

The reference keeps leaf values and what was said of each cell by its codes alone, and builds a table and a
problem from these; a level that was said in percent is worked out from the final value. A cell goes by its
finest codes: a code with a single part is the same cell as that part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import Any

import numpy as np
from budget import examples
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.app.work.open_case import Case, Decision, DecisionKind, open_case
from tacita.app.work.workspace import Workspace
from tacita.core.attacker import Outsider
from tacita.core.errors import InputError
from tacita.core.exact import UNBOUNDED
from tacita.core.hierarchy import Hierarchy
from tacita.core.levels import Levels, Reason
from tacita.core.tables.build import build_table
from tacita.core.tables.dimension import Dimension
from tacita.core.tables.editing import (
    as_counts,
    renamed_code,
    renamed_dimension,
    with_cells,
    with_code,
    without_code,
)
from tacita.core.tables.structure import Structure
from tacita.core.tables.table import Table
from tacita.rules import Exempt, Given, Marked, Rule, parse_rule
from tacita.specification.sections import Attackers

Key = tuple[str, ...]
TREES = (
    Hierarchy.flat(["p", "q"]),
    Hierarchy.flat(["p", "q", "r"]),
    Hierarchy.from_dict({"A": ["p", "q"], "B": ["r"]}),
)
EVERYONE = Attackers()
ATTACKERS = (EVERYONE, Attackers(upper=70), Attackers(lower=-3), Attackers(within=(0.5, 1.0)))
RULES = ((), ("threshold(4)",), ("threshold(3)", "zeros(upper=2)"))
DECISIONS = (
    Decision(DecisionKind.SENSITIVE),
    Decision(DecisionKind.SENSITIVE, lower=1, upper=2),
    Decision(DecisionKind.SAFE),
    Decision(DecisionKind.PUBLISH),
    Decision(DecisionKind.HIDE),
)


@dataclass(frozen=True)
class Told:
    """What a file said of one cell; amounts are whole numbers, ``percent`` is of the value."""

    lower: int
    upper: int
    percent: int | None
    bounds: tuple[int, int]
    cost: float


@dataclass(frozen=True)
class Model:
    """A case by its leaves and by what was said of each cell."""

    trees: tuple[Hierarchy, ...]
    names: tuple[str, ...]
    leaves: Mapping[Key, int]
    integer: bool
    decimals: int
    decisions: Mapping[Key, Decision]
    told: Mapping[Key, Told] | None
    rules: tuple[str, ...] = ()
    attackers: Attackers = EVERYONE

    def finest(self, key: Key) -> Key:
        """The same cell by the last codes of its chains of single children."""
        return tuple(_finest(tree, code) for tree, code in zip(self.trees, key, strict=True))

    @property
    def table(self) -> Table:
        dimensions = tuple(Dimension(n, (tree,)) for n, tree in zip(self.names, self.trees, strict=True))
        codes = [[d.position[c] for d, c in zip(dimensions, key, strict=True)] for key in self.leaves]
        units = np.array(list(self.leaves.values()), dtype=np.int64) * 10**self.decimals
        made = build_table(
            dimensions, np.array(codes, dtype=np.int32), units, self.decimals, compute_totals=True
        )
        return replace(made, integer=self.integer)

    def problem(self) -> tc.Problem:
        table = self.table
        keys = [self.finest(table.structure.key(cell)) for cell in range(len(table))]
        rules: list[Rule] = [parse_rule(text) for text in self.rules]
        outsider, cost = self._outsider(table, keys), np.abs(table.values)
        if self.told is not None:
            rules.append(Given(self._levels(table, keys, outsider)))
            cost = np.array(
                [self.told[k].cost if k in self.told else c for k, c in zip(keys, cost, strict=True)]
            )
        for cell, key in enumerate(keys):
            said = self.decisions.get(key)
            if said is not None and said.kind is DecisionKind.SENSITIVE:
                rules.append(Marked([cell], said.lower, said.upper, said.sliding))
        rule = reduce(or_, rules) if rules else Given(Levels.none(len(table)))
        safe, publish, hide = (
            [c for c, key in enumerate(keys) if key in self.decisions and self.decisions[key].kind is kind]
            for kind in (DecisionKind.SAFE, DecisionKind.PUBLISH, DecisionKind.HIDE)
        )
        return tc.Problem(table, Exempt(rule, safe) if safe else rule, outsider, cost, publish, hide)

    def _outsider(self, table: Table, keys: list[Key]) -> Outsider:
        chosen = self.attackers
        if chosen.within is not None:
            return Outsider.within(table, *chosen.within)
        factor, told = 10**self.decimals, self.told or {}
        bounds = [told[key].bounds if key in told else (0, UNBOUNDED) for key in keys]
        if chosen.lower is not None:
            bounds = [(int(chosen.lower), above) for _, above in bounds]
        if chosen.upper is not None:
            bounds = [(below, int(chosen.upper)) for below, _ in bounds]
        scaled = [[end if end >= UNBOUNDED else end * factor for end in ends] for ends in bounds]
        return Outsider(*np.array(scaled, dtype=np.int64).T)

    def _levels(self, table: Table, keys: list[Key], outsider: Outsider) -> Levels:
        assert self.told is not None
        factor = 10**self.decimals
        lower, upper = np.zeros((2, len(table)), dtype=np.int64)
        in_percent: dict[int, list[int]] = {}
        for cell, key in enumerate(keys):
            if (said := self.told.get(key)) is None:
                continue
            lower[cell], upper[cell] = said.lower * factor, said.upper * factor
            if said.percent is not None:
                in_percent.setdefault(said.percent, []).append(cell)
                value = int(table.units[cell])
                share = -(-value * said.percent // (100 * table.unit)) * table.unit
                lower[cell] = max(lower[cell], min(share, value - outsider.lower[cell]))
                upper[cell] = max(upper[cell], min(share, outsider.upper[cell] - value))
        reasons = [
            Reason("told", np.array(cells), lambda cell: "", (percent, percent))
            for percent, cells in in_percent.items()
        ]
        sensitive = (lower > 0) | (upper > 0)
        sensitive[[cell for cells in in_percent.values() for cell in cells]] = True
        return Levels.of(sensitive, lower=lower, upper=upper, reasons=reasons, least=table.unit)

    def following(self, changed: Model, where: Callable[[Key], Key | None]) -> Model:
        """What was said of cells, at their place in a changed table; refused if that is contradictory."""
        new: dict[Key, list[Key]] = {}
        for key in _keys(self.table.structure, self):
            if (at := where(key)) is not None:
                new.setdefault(changed.finest(at), []).append(key)
        decisions: dict[Key, Decision] = {}
        for at, came in new.items():
            said = [self.decisions[key] for key in came if key in self.decisions]
            if len(set(said)) > 1:
                raise InputError("different things were said of cells that become one")
            if said and (said[0].kind is not DecisionKind.SAFE or len(said) == len(came)):
                decisions[at] = said[0]
        told = None if self.told is None else _joined(self.told, new)
        return replace(changed, decisions=decisions, told=told)


def _joined(told: Mapping[Key, Told], new: Mapping[Key, list[Key]]) -> dict[Key, Told]:
    # Of a cell that the file did not have everyone knows what is usual: it is not negative.
    bounds = {
        key: told[key].bounds if key in told else (0, UNBOUNDED) for came in new.values() for key in came
    }
    return {
        at: Told(
            max(told[key].lower for key in known),
            max(told[key].upper for key in known),
            max((p for key in known if (p := told[key].percent) is not None), default=None),
            (max(bounds[key][0] for key in came), min(bounds[key][1] for key in came)),
            max(told[key].cost for key in known),
        )
        for at, came in new.items()
        if (known := [key for key in came if key in told])
    }


def _finest(tree: Hierarchy, code: str) -> str:
    while len(children := tree.children(code)) == 1:
        code = children[0]
    return code


def _keys(structure: Structure, model: Model) -> list[Key]:
    return [model.finest(structure.key(cell)) for cell in range(len(structure))]


# ---------------------------------------------------------------------- what is done, to both


def edit(case: Case, model: Model, data: st.DataObject) -> tuple[Case, Model]:
    key = tuple(data.draw(st.sampled_from(tree.leaves)) for tree in model.trees)
    value = data.draw(st.integers(0, 9))
    changed = replace(model, leaves={**model.leaves, key: value})
    case = case.with_table(with_cells(case.table, {key: value * 10**case.table.decimals}))
    return case, model.following(changed, lambda old: old)


def decide(case: Case, model: Model, data: st.DataObject) -> tuple[Case, Model]:
    cell = data.draw(st.integers(0, len(case.table) - 1))
    said = data.draw(st.sampled_from((*DECISIONS, None)))
    key = model.finest(case.table.structure.key(cell))
    others = {other: kept for other, kept in model.decisions.items() if other != key}
    return case.decide([cell], said), replace(
        model, decisions=others if said is None else {**others, key: said}
    )


def add(case: Case, model: Model, data: st.DataObject) -> tuple[Case, Model]:
    k = data.draw(st.integers(0, len(model.trees) - 1))
    tree = model.trees[k]
    parent, code = data.draw(st.sampled_from(tree.codes)), f"new{len(tree.codes)}"
    if code in tree.codes:
        return case, model
    table = with_code(case.table, model.names[k], code, parent)
    trees = (*model.trees[:k], table.structure.dimensions[k].trees[0], *model.trees[k + 1 :])

    def there(key: Key) -> Key:
        return (*key[:k], code, *key[k + 1 :])

    if tree.children(parent):
        leaves = {**model.leaves, **{there(key): 0 for key in model.leaves}}
    else:
        leaves = {there(key) if key[k] == parent else key: value for key, value in model.leaves.items()}
    changed = replace(model, trees=trees, leaves=leaves)
    return case.with_table(table), model.following(changed, lambda old: old)


def remove(case: Case, model: Model, data: st.DataObject) -> tuple[Case, Model]:
    k = data.draw(st.integers(0, len(model.trees) - 1))
    tree = model.trees[k]
    code = data.draw(st.sampled_from(tree.leaves))
    table = without_code(case.table, model.names[k], code)
    trees = (*model.trees[:k], table.structure.dimensions[k].trees[0], *model.trees[k + 1 :])
    parent = tree.parent(code)
    assert parent is not None
    alone = len(tree.children(parent)) == 1

    def where(key: Key) -> Key | None:
        if key[k] != code:
            return key
        return (*key[:k], parent, *key[k + 1 :]) if alone else None

    leaves = {at: value for key, value in model.leaves.items() if (at := where(key)) is not None}
    changed = replace(model, trees=trees, leaves=leaves)
    followed = model.following(changed, where)
    return case.with_table(table), followed


def rename(case: Case, model: Model, data: st.DataObject) -> tuple[Case, Model]:
    k = data.draw(st.integers(0, len(model.trees) - 1))
    old = data.draw(st.sampled_from(model.trees[k].codes))
    # A name that was free a moment ago is what another cell had: nothing may move there.
    new = data.draw(st.sampled_from(("p", "q", "r", "s", "t")))
    if new in model.trees[k].codes:
        return case, model
    table = renamed_code(case.table, model.names[k], old, new)
    trees = (*model.trees[:k], table.structure.dimensions[k].trees[0], *model.trees[k + 1 :])

    def renamed(key: Key) -> Key:
        return (*key[:k], new, *key[k + 1 :]) if key[k] == old else key

    return case.with_table(table), replace(
        model,
        trees=trees,
        leaves={renamed(key): value for key, value in model.leaves.items()},
        decisions={renamed(key): said for key, said in model.decisions.items()},
        told=None if model.told is None else {renamed(key): said for key, said in model.told.items()},
    )


def rename_dimension(case: Case, model: Model, data: st.DataObject) -> tuple[Case, Model]:
    k = data.draw(st.integers(0, len(model.trees) - 1))
    new = data.draw(st.sampled_from(("x", "y", "z")))
    if new in model.names:
        return case, model
    names = (*model.names[:k], new, *model.names[k + 1 :])
    return case.with_table(renamed_dimension(case.table, model.names[k], new)), replace(model, names=names)


def other_kind(case: Case, model: Model, data: st.DataObject) -> tuple[Case, Model]:
    integer = data.draw(st.booleans()) and not case.table.decimals
    return case.with_table(as_counts(case.table, integer)), replace(model, integer=integer)


def finer(case: Case, model: Model, data: st.DataObject) -> tuple[Case, Model]:
    decimals = case.table.decimals + 1
    if model.integer or decimals > 2:
        return case, model
    return case.with_table(case.table.with_decimals(decimals)), replace(model, decimals=decimals)


def rules(case: Case, model: Model, data: st.DataObject) -> tuple[Case, Model]:
    chosen = data.draw(st.sampled_from(RULES))
    return case.with_rules(chosen), replace(model, rules=chosen)


def attack(case: Case, model: Model, data: st.DataObject) -> tuple[Case, Model]:
    chosen = data.draw(st.sampled_from(ATTACKERS))
    return case.specify(attackers=chosen), replace(model, attackers=chosen)


STEPS = (
    *(edit, edit, edit, decide, decide, add, remove, remove, rename, rename_dimension),
    *(other_kind, finer, rules, attack),
)


@st.composite
def models(draw: st.DrawFn) -> Model:
    trees = tuple(draw(st.lists(st.sampled_from(TREES), min_size=1, max_size=2)))
    keys: list[Key] = [()]
    for tree in trees:
        keys = [(*key, leaf) for key in keys for leaf in tree.leaves]
    some = draw(st.lists(st.sampled_from(keys), min_size=1, max_size=6, unique=True))
    bare = Model(
        trees,
        tuple(f"d{k}" for k in range(len(trees))),
        {key: draw(st.integers(0, 9)) for key in some},
        draw(st.booleans()),
        0,
        {},
        None,
    )
    if draw(st.booleans()):
        return bare
    table, known = bare.table, {}
    for cell, key in enumerate(_keys(table.structure, bare)):
        lower, upper, percent = draw(
            st.sampled_from(((0, 0, None), (1, 2, None), (0, 3, None), (0, 0, 20), (0, 0, 50)))
        )
        wide = int(table.units[cell]) + draw(st.integers(5, 60))
        known[key] = Told(
            lower, upper, percent, (draw(st.sampled_from((0, -2))), wide), draw(st.sampled_from((0.5, 1.5)))
        )
    return replace(bare, told=known)


def begun(model: Model) -> Case:
    if model.told is None:
        return open_case(model.table, "x")
    return open_case(model.problem(), "x")


def seen(put: Callable[[], tc.Problem]) -> Any:
    """A problem by the names of its cells; that it is refused is an answer too."""
    try:
        problem = put()
    except InputError:
        return "refused"
    levels, table = problem.levels, problem.table
    columns = (
        table.units,
        levels.sensitive,
        levels.lower,
        levels.upper,
        levels.sliding,
        problem.outsider.lower,
        problem.outsider.upper,
        problem.cost,
        problem.must_publish,
        problem.must_hide,
    )
    cells = {table.name(i): tuple(column[i] for column in columns) for i in range(len(table))}
    return cells, table.integer, table.decimals, problem.attackers


@given(models(), st.data())
@examples(150)
def test_a_case_asks_what_is_asked_anew_of_its_final_table(model: Model, data: st.DataObject) -> None:
    try:
        case = begun(model)
    except InputError:
        return
    workspace = Workspace()
    workspace.change(case)
    models_done, at = [model], 0
    for _ in range(data.draw(st.integers(1, 7))):
        move = data.draw(st.sampled_from(("do", "do", "do", "undo", "redo")))
        if move == "undo" and workspace.can_undo:
            workspace.undo()
            at -= 1
        elif move == "redo" and workspace.can_redo:
            workspace.redo()
            at += 1
        else:
            step = data.draw(st.sampled_from(STEPS))
            model = models_done[at]
            try:
                case, model = step(workspace.require_case(), model, data)
            except InputError:
                continue
            workspace.change(case)
            models_done = [*models_done[: at + 1], model]
            at += 1
    assert seen(lambda: workspace.require_case().problem) == seen(models_done[at].problem)
    workspace.close()
