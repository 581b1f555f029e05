"""A classification while the user makes it: the tree, the steps before it, and the codes of the data."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from tacita.core.errors import InputError
from tacita.core.hierarchy import Hierarchy
from tacita.core.hierarchy.digits import parse_digits, propose_digits, settle_digits, write_digits
from tacita.core.hierarchy.editing import (
    grouped,
    indented,
    labelled,
    moved,
    outdented,
    refuse_parts,
    renamed,
    ungrouped,
    with_codes,
    with_parts_grouped,
    without_codes,
)
from tacita.core.words import list_names, pluralize


class TreeDraft:
    """The draft of a classification. Whatever is done makes a new tree; undo goes back to the one before.

    Parameters
    ----------
    codes
        The codes that the data have, which keep their names and cannot be left out.
    of_records
        Whether records have these codes: none can be the sum of others then.
    """

    def __init__(self, tree: Hierarchy, codes: Sequence[str], *, of_records: bool) -> None:
        self.codes = tuple(codes)
        self._of_records = of_records
        self._steps, self._at = [with_codes(tree, codes)], 0
        self._refused = self.tree

    @property
    def tree(self) -> Hierarchy:
        """The classification as the user has made it so far."""
        return self._steps[self._at]

    @property
    def is_changed(self) -> bool:
        """Whether the user's tree differs from the one to begin with."""
        return self.tree != self._steps[0]

    def _change(self, tree: Hierarchy) -> None:
        missing = [code for code in self.codes if code not in tree]
        if missing:
            raise InputError(
                f"{missing[0]!r} is a code of the data, and would have no place any more",
                remedy="Leave a code under it, or move it elsewhere.",
            )
        if self._of_records:
            self._refused = tree
            refuse_parts(tree, self.codes)
        self._steps = [*self._steps[: self._at + 1], tree]
        self._at += 1

    def undo(self) -> None:
        """Go back to the user's tree before the last step."""
        self._at = max(0, self._at - 1)

    def redo(self) -> None:
        """Go forward again to the user's next tree, after an undo."""
        self._at = min(len(self._steps) - 1, self._at + 1)

    def propose_digits(self) -> str:
        """Return digits such as ``2-1-1`` that suit all codes of the user's data; empty for words."""
        return write_digits(propose_digits(self.codes))

    def split(self, digits: str) -> str:
        """Make the user's tree by the digits of the codes, such as ``2-1-1``; return a note on levels that no
        code reaches, or on points and other separators that the digits left out.

        Raises
        ------
        HierarchyError
            A code ends between the levels; digits that suit all codes are among the options of the error.
        """
        written = parse_digits(digits)
        levels = settle_digits(written, self.codes)
        note = "" if levels == written else f"Separators were counted, too: {write_digits(levels)}."
        cuts = [*accumulate(levels)]
        self._change(Hierarchy.from_levels(self.codes, levels, self.tree.total, self.tree.labels))
        reached = cuts.index(max(map(len, self.codes))) + 1
        return note if reached == len(cuts) else f"No code reaches level {reached + 1}."

    def group_parts(self) -> str:
        """Take the user's tree that was refused because codes with records stand above others, with a new
        group in place of each; return a note that names the groups.
        """
        tree, groups = with_parts_grouped(self._refused, self.codes)
        self._change(tree)
        return f"{pluralize(len(groups), 'new group')}: {list_names(groups)}."

    def flatten(self) -> None:
        """Put all codes of the data directly under the total of the user's tree."""
        self._change(Hierarchy.flat(self.codes, self.tree.total, self.tree.labels))

    def take(self, found: Hierarchy) -> str:
        """Take a tree from elsewhere for the user's, and return a note on codes that only one of it and the
        data have.

        Raises
        ------
        InputError
            It has no code of the data.
        """
        missing = [code for code in self.codes if code not in found]
        if len(missing) == len(self.codes):
            raise InputError(
                f"It has no code of the data. The data have {list_names(missing, 3)}; it has "
                f"{list_names(found.leaves, 3)}",
                remedy="Choose another file, or correct its codes.",
                options=["file"],
            )
        unused = [code for code in found.leaves if code not in {*self.codes}]
        self._change(with_codes(found, missing))
        notes = []
        if missing:
            notes.append(f"Not in it, so directly under the total: {list_names(missing)}.")
        if unused:
            notes.append(f"Without data: {list_names(unused)}.")
        return " ".join(notes)

    @property
    def unused(self) -> list[str]:
        """Codes of the user's tree that stand above no others and are not in the data."""
        return [code for code in self.tree.leaves if code not in {*self.codes}]

    def leave_out_unused(self) -> None:
        """Leave codes out of the user's tree that are not in the data."""
        self._change(without_codes(self.tree, self.unused))

    def list_groups(self, codes: Sequence[str]) -> list[str]:
        """Return the codes of the user's tree that others may move under: the total and the groups; without
        records also other codes, which become groups.
        """
        tree, chosen = self.tree, {*codes}
        return [
            code
            for code in tree.codes
            if chosen.isdisjoint([code, *tree.ancestors(code)])
            and (tree.children(code) or not self._of_records)
        ]

    def move(self, codes: Sequence[str], under: str) -> None:
        """Move codes of the user's tree under another one."""
        self._change(moved(self.tree, codes, under))

    def indent(self, code: str) -> None:
        """Move a code of the user's tree under the one before it."""
        self._change(indented(self.tree, code))

    def outdent(self, code: str) -> None:
        """Move a code of the user's tree out of its group."""
        self._change(outdented(self.tree, code))

    def group(self, codes: Sequence[str], name: str, label: str = "") -> None:
        """Put codes of the user's tree under a new one."""
        self._change(grouped(self.tree, codes, name, label))

    def ungroup(self, code: str) -> None:
        """Remove a group from the user's tree; its codes stay."""
        self._change(ungrouped(self.tree, code))

    def can_rename(self, code: str) -> bool:
        """Return whether the user may rename a code: the data have those that it may not."""
        return code not in self.codes

    def rename(self, code: str, name: str, label: str) -> None:
        """Give a code of the user's tree another name and label."""
        self._change(labelled(renamed(self.tree, code, name), name, label))

    def describe(self) -> str:
        """Return the size of the user's tree in a sentence."""
        levels = int(self.tree.depth.max())
        return f"{pluralize(len(self.tree) - 1, 'code')} in {pluralize(levels, 'level')} below the total."
