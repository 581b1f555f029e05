"""A hierarchy is a tree, however it is written down, and what is no tree is refused by code and place."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacita.core.errors import FormatError, HierarchyError, InputError
from tacita.core.hierarchy import Hierarchy

REGIONS: dict[str, Any] = {"North": {"N1": {}, "N2": {}}, "South": ["S1", "S2"], "Sea": None}
COLUMNS = ["parent", "child", "label"]


def refused(*fragments: str) -> Any:
    """Expect a HierarchyError whose message holds all fragments."""
    pattern = "".join(f"(?=.*{re.escape(fragment)})" for fragment in fragments)
    return pytest.raises(HierarchyError, match=f"(?s){pattern}")


def written(folder: Path, text: str, name: str = "codes.csv", encoding: str = "utf-8") -> Path:
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


@st.composite
def trees(draw: st.DrawFn, tame: bool = False) -> Hierarchy:
    """Any tree of up to a dozen codes; tame codes can be written to any file."""
    blank = st.sampled_from(["", " ", "  "])
    body = st.text("aB9é.-" if tame else "aB9é.-@| ", min_size=1, max_size=5)
    code = st.builds(lambda before, text: before + text, blank, body).filter(str.strip)
    codes = draw(st.lists(code, min_size=2, max_size=12, unique=True))
    uppers = [draw(st.integers(0, i)) for i in range(len(codes) - 1)]
    nodes: list[dict[str, Any]] = [{} for _ in codes]
    for i, upper in enumerate(uppers, start=1):
        nodes[upper][codes[i]] = nodes[i]
    labels = draw(st.dictionaries(st.sampled_from(codes), st.text("label ", min_size=1).filter(str.strip)))
    return Hierarchy.from_dict(nodes[0], total=codes[0], labels=labels)


class TestTree:
    def test_codes_and_parents_are_depth_first(self) -> None:
        tree = Hierarchy.from_dict(REGIONS)
        assert tree.codes == ("Total", "North", "N1", "N2", "South", "S1", "S2", "Sea")
        assert tree.parents.tolist() == [-1, 0, 1, 1, 0, 4, 4, 0]
        assert tree.depth.tolist() == [0, 1, 2, 2, 1, 2, 2, 1]
        assert tree.parents.dtype == tree.depth.dtype == tree.same_cell.dtype == np.int32

    def test_queries(self) -> None:
        tree = Hierarchy.from_dict(REGIONS, total="Land")
        assert (tree.total, len(tree), tree.index("S1")) == ("Land", 8, 5)
        assert tree.leaves == ("N1", "N2", "S1", "S2", "Sea")
        assert "S1" in tree
        assert "S3" not in tree
        assert (tree.parent("S1"), tree.parent("Land")) == ("South", None)
        assert (tree.children("South"), tree.children("S1")) == (("S1", "S2"), ())
        assert (tree.ancestors("S1"), tree.ancestors("Land")) == (("South", "Land"), ())
        assert tree.leaf_codes_of("North") == {"N1", "N2"}
        assert tree.leaf_codes_of("Sea") == {"Sea"}
        assert tree.leaf_codes_of("Land") == set(tree.leaves)

    @given(trees())
    def test_families_hold_every_code_but_the_total_once(self, tree: Hierarchy) -> None:
        found = {child: parent for parent, family in tree.families() for child in family.tolist()}
        assert found == {i: int(tree.parents[i]) for i in range(1, len(tree))}
        assert sum(len(family) for _, family in tree.families()) == len(tree) - 1

    @given(trees())
    def test_codes_are_one_cell_exactly_when_they_sum_the_same_leaves(self, tree: Hierarchy) -> None:
        leaves = [tree.leaf_codes_of(code) for code in tree.codes]
        expected = [min(j for j in range(len(tree)) if leaves[j] == leaves[i]) for i in range(len(tree))]
        assert tree.same_cell.tolist() == expected

    @given(trees())
    def test_a_leaf_is_in_exactly_its_ancestors_and_itself(self, tree: Hierarchy) -> None:
        for leaf in tree.leaves:
            holders = {code for code in tree.codes if leaf in tree.leaf_codes_of(code)}
            assert holders == {leaf, *tree.ancestors(leaf)}

    def test_equality_and_hash_follow_values(self) -> None:
        tree, same = Hierarchy.from_dict(REGIONS), Hierarchy.from_dict(REGIONS)
        assert tree == same
        assert hash(tree) == hash(same)
        assert tree != Hierarchy.from_dict(REGIONS, labels={"N1": "first"})
        assert tree != Hierarchy.flat(tree.codes[1:])
        assert tree != "Total"

    def test_pickle_keeps_the_tree(self) -> None:
        tree = Hierarchy.from_dict(REGIONS, labels={"N1": "first"})
        copy = pickle.loads(pickle.dumps(tree))
        assert copy == tree
        assert not copy.parents.flags.writeable

    def test_nothing_can_be_changed(self) -> None:
        given_parents = np.array([-1, 0], dtype=np.int32)
        tree = Hierarchy(("Total", "A"), given_parents, {"A": "first"})
        given_parents[1] = 1
        assert tree.parents.tolist() == [-1, 0]
        for array in (tree.parents, tree.depth, tree.same_cell, next(tree.families())[1]):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 7
        with pytest.raises(TypeError):
            cast(Any, tree.labels)["A"] = "other"

    def test_labels_of_other_codes_are_left_out(self) -> None:
        assert dict(Hierarchy.flat(["A"], labels={"A": "first", "B": "second"}).labels) == {"A": "first"}

    def test_unknown_code_gets_the_nearest(self) -> None:
        with refused("'Nroth'", "did you mean 'North'?"):
            Hierarchy.from_dict(REGIONS).index("Nroth")

    @pytest.mark.parametrize(
        ("codes", "parents", "fragment"),
        [
            (("T", "A", "A"), (-1, 0, 0), "'A' is repeated"),
            (("T", " "), (-1, 0), "position 2: ' ' is not a code"),
            (("T", "A\nB"), (-1, 0), "line break"),
            (("T", "A"), (0, 0), "must be -1"),
            (("T", "A", "B"), (-1, 2, 0), "'A' at position 2 does not follow its parent"),
            (("T", "A", "B", "C"), (-1, 0, 0, 1), "'C' at position 4 does not follow its parent"),
            (("T", "A"), (-1,), "as many parents"),
            ((), (), "without codes"),
        ],
    )
    def test_raw_arrays_that_are_no_depth_first_tree(
        self, codes: tuple[str, ...], parents: tuple[int, ...], fragment: str
    ) -> None:
        with refused(fragment):
            Hierarchy(codes, np.array(parents, dtype=np.int32))


class TestRoundTrips:
    @given(trees())
    def test_dictionary(self, tree: Hierarchy) -> None:
        assert Hierarchy.from_dict(tree.to_dict(), total=tree.total, labels=tree.labels) == tree

    @given(trees())
    def test_rows(self, tree: Hierarchy) -> None:
        frame = pl.DataFrame(tree.rows(), schema=COLUMNS, orient="row")
        assert Hierarchy.from_frame(frame, label="label") == tree
        assert Hierarchy.from_frame(frame[1:], label="label").codes == tree.codes

    @given(tree=trees(tame=True), lead=st.sampled_from(["@", "..", "->", " ", "@ "]))
    def test_hrc(self, tmp_path_factory: pytest.TempPathFactory, tree: Hierarchy, lead: str) -> None:
        if any(code.startswith(lead) for code in tree.codes):
            lead = "@"
        path = tmp_path_factory.mktemp("hrc") / "codes.hrc"
        tree.write_hrc(path, lead=lead)
        assert Hierarchy.from_hrc(path, lead=lead, total=tree.total, labels=tree.labels) == tree

    @given(trees(tame=True))
    def test_level_columns(self, tree: Hierarchy) -> None:
        paths = [(leaf, *tree.ancestors(leaf)[:-1])[::-1] for leaf in tree.leaves]
        width = max(map(len, paths))
        names = [f"level {i}" for i in range(width)]
        carried = pl.DataFrame(
            [path + path[-1:] * (width - len(path)) for path in paths], schema=names, orient="row"
        )
        ragged = pl.DataFrame(
            [path + (None,) * (width - len(path)) for path in paths],
            schema=dict.fromkeys(names, pl.String),
            orient="row",
        )
        for frame in (carried, ragged):
            built = Hierarchy.from_columns(frame, names, total=tree.total)
            assert (built.codes, built.parents.tolist()) == (tree.codes, tree.parents.tolist())


class TestFlatAndDict:
    def test_flat_turns_numbers_into_text(self) -> None:
        tree = Hierarchy.flat([43, 44.0, np.int64(45), np.float32(46), "047"])
        assert tree.codes == ("Total", "43", "44", "45", "46", "047")

    @pytest.mark.parametrize(
        ("codes", "fragments"),
        [
            (["A", "B", "A"], ("'A' is repeated", "position 1", "position 3")),
            (["A", ""], ("position 2", "empty")),
            (["A", None], ("position 2", "empty")),
            (["A", float("nan")], ("position 2", "empty")),
            (["A", float("inf")], ("position 2", "not a code")),
            (["A", ["B"]], ("position 2", "not a code")),
            (["A", "Total"], ("position 2", "total 'Total'", "another name for the total")),
            ([], ("No codes",)),
            ("AB", ("A list of codes is needed", "'AB'")),
        ],
    )
    def test_flat_refuses(self, codes: Any, fragments: tuple[str, ...]) -> None:
        with refused(*fragments):
            Hierarchy.flat(codes)

    def test_total_needs_a_name(self) -> None:
        with refused("total needs a name"):
            Hierarchy.flat(["A"], total=" ")

    @pytest.mark.parametrize(
        ("tree", "fragments"),
        [
            (
                {"North": ["X"], "South": ["X"]},
                ("'X' has two parents", "'North'", "at North > X", "'South'", "at South > X"),
            ),
            ({"North": ["X", "X"]}, ("'X' is repeated",)),
            ({"North": {"North": {}}}, ("'North' is its own parent", "cycle")),
            ({"North": {"Total": {}}}, ("total 'Total'",)),
            ({"North": "N1"}, ("Under 'North' stands 'N1'", "list of one", "Hierarchy.from_columns")),
            ({"North": {"N1", "N2"}}, ("Under 'North'",)),
            ({"North": ["N1", {"N2": {}}]}, ("code 2 under 'North'",)),
            ({}, ("No codes",)),
        ],
    )
    def test_dict_refuses(self, tree: Any, fragments: tuple[str, ...]) -> None:
        with refused(*fragments):
            Hierarchy.from_dict(tree)

    def test_dictionary_that_holds_itself_is_refused(self) -> None:
        endless: dict[str, Any] = {}
        endless["A"] = {"B": endless}
        with refused("'A'", "two parents"):
            Hierarchy.from_dict(endless)


class TestFrames:
    @pytest.mark.parametrize("kind", ["pandas", "polars", "lazy", "arrow", "duckdb"])
    def test_every_kind_of_frame(self, kind: str) -> None:
        data = {"parent": [None, "1", "1", "2"], "child": [1, 2, 3, 4], "label": [None, "two", None, None]}
        frames: dict[str, Callable[[], Any]] = {
            "pandas": lambda: pd.DataFrame(data),
            "polars": lambda: pl.DataFrame(data),
            "lazy": lambda: pl.LazyFrame(data),
            "arrow": lambda: pa.table(data),
            "duckdb": lambda: duckdb.from_arrow(pa.table(data)),
        }
        tree = Hierarchy.from_frame(frames[kind](), label="label")
        assert tree == Hierarchy.from_dict({"2": ["4"], "3": {}}, total="1", labels={"2": "two"})

    def test_whole_numbers_that_pandas_made_floats(self) -> None:
        frame = pd.DataFrame({"parent": [np.nan, 1, 1], "child": [1, 43, 44]})
        assert Hierarchy.from_frame(frame).codes == ("1", "43", "44")

    def test_several_codes_without_parent_get_a_total(self) -> None:
        frame = pl.DataFrame({"parent": ["A", "B"], "child": ["A1", "B1"]})
        assert Hierarchy.from_frame(frame) == Hierarchy.from_dict({"A": ["A1"], "B": ["B1"]})
        assert Hierarchy.from_frame(frame, total="All").total == "All"

    def test_a_named_total_stands_above_another_single_root(self) -> None:
        frame = pl.DataFrame({"parent": ["Land"], "child": ["A"]})
        assert Hierarchy.from_frame(frame).total == "Land"
        assert Hierarchy.from_frame(frame, total="Land").codes == ("Land", "A")
        assert Hierarchy.from_frame(frame, total="All").codes == ("All", "Land", "A")

    @pytest.mark.parametrize(
        ("rows", "fragments"),
        [
            (
                [("T", "A"), ("T", "B"), ("B", "C"), ("A", "C")],
                ("'C' has two parents", "'B' (row 3)", "'A' (row 4)"),
            ),
            ([(None, "A"), ("A", "B"), ("B", "A")], ("'A' has two parents", "'none' (row 1)", "'B' (row 3)")),
            ([("T", "A"), ("T", "A")], ("'A' is repeated", "row 1", "row 2")),
            ([("T", "A"), ("B", "B")], ("row 2", "'B' is its own parent", "cycle")),
            (
                [("T", "A"), ("X", "Y"), ("Y", "X")],
                ("cycle", "'X' is under 'Y' (row 3)", "'Y' is under 'X' (row 2)"),
            ),
            ([("A", "B"), ("B", "C"), ("C", "A")], ("cycle", "row 1", "row 2", "row 3")),
            ([("A", "Total"), ("Total", "A")], ("cycle", "row 1", "row 2")),
            ([("A", "A1"), ("B", "B1"), ("C", "C1"), ("X", "Y"), ("Y", "X")], ("cycle", "row 4", "row 5")),
            ([("T", "A"), ("A", None)], ("row 2", "empty")),
            ([(None, "T"), ("T", "North"), ("Nroth", "N1")], ("row 3", "'Nroth'", "did you mean 'North'?")),
            ([("Total", "A"), ("B", "C")], ("'B' (row 2) has no parent", "'Total'")),
            ([("A", "Total"), ("B", "C")], ("'Total'", "row 1", "another name for the total")),
        ],
    )
    def test_refuses(self, rows: list[tuple[str | None, str | None]], fragments: tuple[str, ...]) -> None:
        frame = pl.DataFrame(rows, schema={"parent": pl.String, "child": pl.String}, orient="row")
        with refused(*fragments):
            Hierarchy.from_frame(frame)

    def test_a_total_alone(self) -> None:
        frame = pl.DataFrame({"parent": [""], "child": ["T"]})
        assert Hierarchy.from_frame(frame).codes == ("T",)

    def test_total_as_a_child(self) -> None:
        frame = pl.DataFrame({"parent": ["T", "A"], "child": ["A", "All"]})
        with refused("row 2", "total 'All'"):
            Hierarchy.from_frame(frame, total="All")

    def test_missing_column_and_no_frame(self) -> None:
        with refused("'child'", "did you mean 'childs'?"):
            Hierarchy.from_frame(pl.DataFrame({"parent": ["T"], "childs": ["A"]}))
        with refused("list", "from_dict"):
            Hierarchy.from_frame([("T", "A")])


class TestLevels:
    def test_prefixes_become_codes(self) -> None:
        tree = Hierarchy.from_levels(["A011", "A012", "A1", "B021"], lengths=(1, 1, 2))
        assert tree.to_dict() == {"A": {"A0": {"A011": {}, "A012": {}}, "A1": {}}, "B": {"B0": {"B021": {}}}}

    def test_prefixes_may_be_given_and_trailing_zero_lengths_too(self) -> None:
        tree = Hierarchy.from_levels(["1", "12", 11], lengths=(1, 1, 0), total="0")
        assert tree.to_dict() == {"1": {"12": {}, "11": {}}}

    @pytest.mark.parametrize(
        ("codes", "lengths", "fragments"),
        [
            (["A0", "A01"], (1, 1), ("position 2", "'A01' has 3 characters", "levels end at 1, 2")),
            (["A0", ""], (1, 1), ("position 2", "0 characters")),
            (["A0", "A1", "A0"], (1, 1), ("'A0' is repeated", "position 1", "position 3")),
            (["A0"], (), ("Lengths of levels are nothing",)),
            (["A0"], (1, 0, 1), ("Lengths of levels are 1, 0, 1",)),
            (["A0"], (2, -1), ("Lengths of levels are 2, -1",)),
            ([], (1,), ("No codes",)),
        ],
    )
    def test_refuses(self, codes: list[str], lengths: tuple[int, ...], fragments: tuple[str, ...]) -> None:
        with refused(*fragments):
            Hierarchy.from_levels(codes, lengths=lengths)


class TestColumns:
    NAMES = ("A10", "A21", "A88")

    def build(self, rows: list[tuple[Any, ...]]) -> Hierarchy:
        return Hierarchy.from_columns(pd.DataFrame(rows, columns=list(self.NAMES)), self.NAMES)

    def test_a_code_carried_down_is_one_code(self) -> None:
        tree = self.build([("AZ", "A", "01"), ("AZ", "A", "02"), ("AZ", "X", "X"), ("BE", "BE", "06")])
        assert tree.to_dict() == {"AZ": {"A": {"01": {}, "02": {}}, "X": {}}, "BE": {"06": {}}}

    def test_rows_may_end_early_and_name_inner_codes(self) -> None:
        tree = self.build([("A", None, None), ("A", "A1", ""), ("A", "A1", "A11"), ("B", None, None)])
        assert tree.to_dict() == {"A": {"A1": {"A11": {}}}, "B": {}}

    def test_a_column_of_the_total_is_the_total(self) -> None:
        tree = self.build([("Total", "A", "01"), ("Total", "B", "02")])
        assert tree.to_dict() == {"A": {"01": {}}, "B": {"02": {}}}

    def test_labels_belong_to_the_last_code(self) -> None:
        frame = pl.DataFrame({"A": ["1", "1"], "B": ["11", "12"], "text": ["eleven", None]})
        assert dict(Hierarchy.from_columns(frame, ["A", "B"], label="text").labels) == {"11": "eleven"}

    @pytest.mark.parametrize(
        ("rows", "fragments"),
        [
            ([("A", "B", "1"), ("A", "B", ""), ("A", "B", "B")], ("'B' is repeated", "row 2", "row 3")),
            ([("A", "B", "1"), ("A", "C", "1")], ("'1' has two parents", "'B' (row 1)", "'C' (row 2)")),
            ([("A", "B", "1"), ("B", "C", "2")], ("'B' has two parents", "row 1", "row 2")),
            ([("A", "B", "A")], ("'A' has two parents", "row 1")),
            ([("A", "X", "X"), ("A", "X", "1")], ("'X' is carried down", "row 1", "'1'")),
            ([("A", None, "1")], ("row 1", "empty cell", "'1'")),
            ([("A", "B", "1"), (None, None, None)], ("row 2", "no code")),
            ([("A", "B", "Total")], ("row 1", "total 'Total'")),
            ([], ("No codes",)),
        ],
    )
    def test_refuses(self, rows: list[tuple[Any, ...]], fragments: tuple[str, ...]) -> None:
        with refused(*fragments):
            self.build(rows)

    def test_records_repeat_paths_and_have_no_order(self) -> None:
        records = [("B", "B1", "9"), ("A", "A1", "10"), ("A", "A1", "2"), ("B", "B1", "9"), ("A", "A2", "7")]
        assert self.build(records).codes == ("Total", "A", "A1", "2", "10", "A2", "7", "B", "B1", "9")
        assert self.build(records[:3]).codes == ("Total", "B", "B1", "9", "A", "A1", "10", "2")
        with refused("'9' has two parents", "'B1' (row 1)", "'B2' (row 6)"):
            self.build([*records, ("B", "B2", "9")])

    def test_rows_that_differ_in_the_label_alone_are_refused(self) -> None:
        frame = pl.DataFrame({"A": ["1", "1"], "B": ["11", "11"], "text": ["eleven", "onze"]})
        with refused("'11' is repeated", "row 1", "row 2"):
            Hierarchy.from_columns(frame, ["A", "B"], label="text")

    def test_without_names_all_columns_but_the_label_are_levels(self) -> None:
        frame = pl.DataFrame({"A": ["1", "1"], "text": ["eleven", "twelve"], "B": ["11", "12"]})
        assert Hierarchy.from_columns(frame, label="text") == Hierarchy.from_columns(
            frame, ["A", "B"], "text"
        )

    @pytest.mark.parametrize("order", [("A88", "A21", "A10"), ("A21", "A10", "A88")])
    def test_levels_in_another_order_are_named(self, order: tuple[str, ...], tmp_path: Path) -> None:
        rows = [("A", "A1", "01"), ("A", "A1", "02"), ("A", "A2", "03"), ("B", "B1", "06")]
        frame = pd.DataFrame(rows, columns=list(self.NAMES))
        with refused("Levels go from coarse to fine: list them as A10, A21, A88"):
            Hierarchy.from_columns(frame, order)
        frame[list(order)].to_csv(tmp_path / "codes.csv", index=False)
        with refused("Levels go from coarse to fine: list them as A10, A21, A88"):
            Hierarchy.from_csv(tmp_path / "codes.csv")

    def test_columns_must_be_a_list(self) -> None:
        with refused("a list of columns, coarse to fine, not 'A'"):
            Hierarchy.from_columns(pl.DataFrame({"A": ["1"]}), "A")


class TestHrc:
    def test_leading_blanks_stay_and_trailing_blanks_go(self, tmp_path: Path) -> None:
        path = written(tmp_path, "Nr\r\n@ 1\r\n@10 \r\n\r\nOs  \r\n@ 2", "region.hrc")
        assert Hierarchy.from_hrc(path).to_dict() == {"Nr": {" 1": {}, "10": {}}, "Os": {" 2": {}}}

    def test_lead_string_of_any_length(self, tmp_path: Path) -> None:
        path = written(tmp_path, "A\n--B\n----C\n---D\nE\n", "codes.hrc")
        assert Hierarchy.from_hrc(path, lead="--").to_dict() == {"A": {"B": {"C": {}}, "-D": {}}, "E": {}}

    @pytest.mark.parametrize("indent", [" ", "  ", "\t"])
    def test_indentation_is_found_as_the_lead_string(self, tmp_path: Path, indent: str) -> None:
        text = f"North\n{indent}N1\n{indent}{indent}N11\n{indent}N2\nSouth\n"
        path = written(tmp_path, text, "codes.hrc")
        assert Hierarchy.from_hrc(path).to_dict() == {"North": {"N1": {"N11": {}}, "N2": {}}, "South": {}}
        # What is given counts: these are codes with blanks before them.
        assert f"{indent}N1" in Hierarchy.from_hrc(path, lead="@").codes

    @pytest.mark.parametrize(
        "text", ["  1\n 10\n100\n", "A\n@ 1\n@10\nB\n", "A\n  1\n   2\n", "A\n B\n   C\n"]
    )
    def test_padded_codes_are_not_taken_for_indented_ones(self, tmp_path: Path, text: str) -> None:
        path = written(tmp_path, text, "codes.hrc")
        assert Hierarchy.from_hrc(path) == Hierarchy.from_hrc(path, lead="@")

    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
    def test_encodings(self, tmp_path: Path, encoding: str) -> None:
        path = written(tmp_path, "Åland\n@é\n", "codes.hrc", encoding)
        assert Hierarchy.from_hrc(path).codes == ("Total", "Åland", "é")

    def test_bytes_of_another_encoding_name_the_line(self, tmp_path: Path) -> None:
        path = written(tmp_path, "A\nÅ\n", "codes.hrc", "cp1252")
        with pytest.raises(FormatError, match=r"line 2: the bytes are not utf-8: name the file's encoding"):
            Hierarchy.from_hrc(path, encoding="utf-8")
        with pytest.raises(FormatError, match="encoding 'nonsense'"):
            Hierarchy.from_hrc(path, encoding="nonsense")

    @pytest.mark.parametrize(
        ("text", "fragments"),
        [
            ("A\n@@B\n", ("line 2", "'B' has 2 lead strings", "1 at most")),
            ("@A\n", ("line 1", "'A' has 1 lead string,", "0 at most")),
            ("A\n\n@B\n@B\n", ("'B' is repeated", "line 3", "line 4")),
            ("A\n@X\nB\n@X\n", ("'X' has two parents", "'A'", "line 2", "'B'", "line 4")),
            ("A\n@A\n", ("line 2", "'A' is its own parent")),
            ("Total\n@A\n", ("line 1", "total 'Total'")),
            ("A\n@Total\n", ("line 2", "total 'Total'", "'A'")),
            ("A\n@ \n", ("line 2", "no code follows")),
            ("A\n" + "B" * 200, ("line 2", "200 characters", "199")),
            (" \n\n", ("no code", "codes.hrc")),
            ("", ("no code", "codes.hrc")),
        ],
    )
    def test_refuses(self, tmp_path: Path, text: str, fragments: tuple[str, ...]) -> None:
        with refused(*fragments):
            Hierarchy.from_hrc(written(tmp_path, text, "codes.hrc"))

    def test_missing_file_and_bad_lead(self, tmp_path: Path) -> None:
        with pytest.raises(FormatError, match=r"none\.hrc: cannot be read"):
            Hierarchy.from_hrc(tmp_path / "none.hrc")
        with refused("lead string ''"):
            Hierarchy.from_hrc(written(tmp_path, "A", "codes.hrc"), lead="")

    @pytest.mark.parametrize(
        ("code", "fragment"),
        [("@A", "starts with the lead string"), ("A ", "trailing blanks"), ("A" * 200, "199")],
    )
    def test_codes_that_would_not_read_back_leave_the_old_file(
        self, tmp_path: Path, code: str, fragment: str
    ) -> None:
        path = written(tmp_path, "old", "codes.hrc")
        with refused(f"code {code!r}", fragment):
            Hierarchy.flat(["B", code]).write_hrc(path)
        assert path.read_text() == "old"
        assert list(tmp_path.iterdir()) == [path]

    def test_failed_write_leaves_nothing_behind(self, tmp_path: Path) -> None:
        folder = tmp_path / "codes.hrc"
        folder.mkdir()
        for path, fault in ((folder, "is a folder"), (tmp_path / "none" / "codes.hrc", "does not exist")):
            with pytest.raises(InputError, match=fault):
                Hierarchy.flat(["A"]).write_hrc(path)
        assert list(tmp_path.iterdir()) == [folder]


class TestCsv:
    def test_parent_and_child(self, tmp_path: Path) -> None:
        path = written(tmp_path, "Parent;Child;Label\n;T;\n T ;43;forty-three\nT; 44 ;\n\n;;\n")
        assert Hierarchy.from_csv(path) == Hierarchy.flat(
            ["43", "44"], total="T", labels={"43": "forty-three"}
        )

    def test_level_columns(self, tmp_path: Path) -> None:
        path = written(tmp_path, '"A10","A21","label"\n"AZ","A","farm, forest"\n"AZ","X",\n"BE","BE",\n')
        expected = Hierarchy.from_dict({"AZ": ["A", "X"], "BE": None}, labels={"A": "farm, forest"})
        assert Hierarchy.from_csv(path) == expected

    def test_chosen_columns_total_and_delimiter(self, tmp_path: Path) -> None:
        path = written(tmp_path, "name:fine:coarse\nx:1:A\ny:2:A\n")
        tree = Hierarchy.from_csv(path, columns=["coarse", "fine"], total="All", delimiter=":")
        assert tree.codes == ("All", "A", "1", "2")

    @pytest.mark.parametrize(
        ("text", "fragments"),
        [
            ("", ("codes.csv", "empty")),
            (" \n\n", ("codes.csv", "empty")),
            ("parent,child\n", ("codes.csv", "no code follows the header")),
            ("parent,child\nT,A\nT,B,C\n", ("line 3", "3 cells", "2 columns")),
            ("parent,child\nT,A\n\nT\n", ("line 4", "1 cell,")),
            ("parent,child\nT,A\n\nT,A\n", ("'A' is repeated", "line 2", "line 4")),
            ("parent,child\nT,A\nT,B\nA,X\nB,X\n", ("'X' has two parents", "line 4", "line 5")),
            ("parent,child\nT,A\nX,Y\nY,X\n", ("cycle", "line 3", "line 4")),
            ("parent,child\n,T\nT,North\nNroth,N1\n", ("line 4", "'Nroth'", "'North'")),
            ("parent,child\nT,A\nT, \n", ("line 3", "empty")),
            ("parent,code\nT,A\n", ("no column 'child'",)),
            ("parent,parent\nT,A\n", ("line 1", "repeated names")),
            ("coarse,\nT,A\n", ("line 1", "empty or repeated names")),
            ("coarse,fine\nA,1\nB,1\n", ("'1' has two parents", "line 2", "line 3")),
            ('parent,child\nT,A\nT,"B\nT,C\n', ("line 3", "quotes")),
        ],
    )
    def test_refuses(self, tmp_path: Path, text: str, fragments: tuple[str, ...]) -> None:
        with refused(*fragments):
            Hierarchy.from_csv(written(tmp_path, text))

    def test_line_numbers_count_lines_inside_quotes(self, tmp_path: Path) -> None:
        path = written(tmp_path, 'parent,child,label\nT,A,"two\nlines"\nT,A,\n')
        with refused("line 2", "line 4"):
            Hierarchy.from_csv(path)

    def test_delimiter_of_two_characters(self, tmp_path: Path) -> None:
        with refused("'::'", "one character"):
            Hierarchy.from_csv(written(tmp_path, "a::b\n1::2\n"), delimiter="::")
