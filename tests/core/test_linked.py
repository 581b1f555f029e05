"""Several tables as one: shared cells once, equations once, each table back on its own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tacita.core.errors import InputError
from tacita.core.hierarchy import Hierarchy
from tacita.core.release import Release
from tacita.core.tables.contributions import Contributions
from tacita.core.tables.linked import link
from tacita.core.tables.table import Table
from tacita.formats.table_write import write_table
from tacita.publication.release_read import read_release


def by_size() -> Table:
    return Table.from_array([[1, 2], [3, 4]], names=("region", "size"))


def by_kind() -> Table:
    return Table.from_array([[0.5, 2.5], [3.0, 4.0]], names=("region", "kind"))


def test_shared_margins_are_one_cell() -> None:
    table = link({"size": by_size(), "kind": by_kind()})
    assert len(table) == 9 + 9 - 3
    assert (table.decimals, table.integer) == (1, False)
    # Each table has six sums of its own; that of the regions' margins is in both.
    assert len(table.equations) == 6 + 6 - 1
    assert table.values[table.find(region="1")] == 3
    assert table.values[table.find(region="2", kind="1")] == 3
    assert not table.equations.residuals(table.units).any()


def test_each_table_comes_back_on_its_own() -> None:
    tables = {"size": by_size(), "kind": by_kind()}
    table = link(tables)
    for k, one in enumerate(tables.values()):
        back = table.to_pandas(part=k)
        pd.testing.assert_frame_equal(back, one.to_pandas().astype(back.dtypes.to_dict()))
    hidden = Release.suppress(table, np.array([table.find(region="1")]))
    for k in range(2):
        frame = hidden.to_pandas(part=k)
        assert frame[frame.mark == "suppressed"].iloc[0, :2].tolist() == ["1", "Total"]
    assert table.to_arrow(part="kind") == table.to_arrow(part=1)
    assert read_release(hidden.to_pandas(part="kind"), table, part="kind", absent="suppressed").shown.any()
    for part in (2, -1, "kinds"):
        with pytest.raises(InputError, match=f"no part {part!r}.*choose 0 to 1, or by name: 'size', 'kind'"):
            hidden.to_arrow(part=part)


def test_a_shared_cell_has_one_value() -> None:
    other = Table.from_array([[1, 3], [3, 3]], names=("region", "kind"))
    with pytest.raises(InputError, match=r"region=1.*the values in 'size' and 'kind' differ"):
        link({"size": by_size(), "kind": other})


def test_two_variables_are_not_linked() -> None:
    tables = [
        Table.from_frame(pd.DataFrame({"r": ["a", "b"], name: numbers}), ["r"], value=name)
        for name, numbers in (("turnover", [1, 2]), ("employees", [3, 4]))
    ]
    with pytest.raises(InputError, match=r"If 'turnover' and 'employees' are two variables.*suppress_alike"):
        link(tables)


def test_sums_between_tables_are_found() -> None:
    tree = Hierarchy.from_dict({"N": ["n1", "n2"], "S": ["s1", "s2"]})
    fine = pd.DataFrame({"r": ["n1", "n2", "s1", "s2"], "v": [1, 2, 3, 4]})
    coarse = pd.DataFrame({"r": ["N", "S", "Total"], "v": [3, 7, 10]})
    table = link(
        [
            Table.from_frame(fine, {"r": tree}, value="v", totals="given", name="fine"),
            Table.from_frame(coarse, {"r": tree}, value="v", totals="given", name="coarse"),
        ]
    )
    assert len(table) == 7
    totals = {table.name(table.equations.total_of(j)) for j in range(len(table.equations))}
    assert totals == {"r=N", "r=S", "r=Total"}


def test_a_family_that_no_table_lists_in_full_is_refused() -> None:
    """Readers would know n1 <= N, which no equation says: the audit could call an unsafe table safe."""
    tree = Hierarchy.from_dict({"N": ["n1", "n2"], "S": ["s1", "s2"]})
    some = pd.DataFrame({"r": ["n1", "s1"], "v": [1, 3]})
    coarse = pd.DataFrame({"r": ["N", "S", "Total"], "v": [3, 7, 10]})
    tables = [
        Table.from_frame(f, {"r": tree}, value="v", totals="given", name=n)
        for f, n in ((some, "a"), (coarse, "b"))
    ]
    with pytest.raises(InputError, match=r"\(r=N\) = sum of 1 cell.*2 such sums.*list them too"):
        link(tables)


def test_codes_that_are_empty_in_one_table_do_not_matter() -> None:
    one = Table.from_frame(
        pd.DataFrame({"r": ["a", "b"], "s": ["x", "x"], "v": [1, 2]}), ["r", "s"], value="v"
    )
    two = Table.from_frame(
        pd.DataFrame({"r": ["b", "a", "c"], "t": ["y"] * 3, "v": [2, 1, 0]}), ["r", "t"], value="v"
    )
    table = link([one, two])
    assert table.values[table.find("Total")] == 3


def test_two_names_of_one_total_are_refused() -> None:
    one = Table.from_frame(pd.DataFrame({"r": ["a", "b", "T"], "v": [1, 2, 3]}), ["r"], value="v")
    two = Table.from_frame(pd.DataFrame({"r": ["a", "b", "ALL"], "v": [1, 2, 3]}), ["r"], value="v")
    with pytest.raises(InputError, match=r"total is called 'T'.*'ALL'.*Use one name"):
        link([one, two])


def test_contributors_are_matched_by_name_and_counts_merged() -> None:
    def with_people(values: list[int], axis: str, names: list[str]) -> Table:
        base = Table.from_array(values, names=(axis,))
        order = [base.find("Total"), base.find("1"), base.find("2")]
        amounts, who = np.zeros((3, 1), np.int64), np.full((3, 1), -1, np.int64)
        for cell, owner in zip(order, (0, 0, 1), strict=True):
            who[cell, 0] = owner
            amounts[cell, 0] = 5 if owner == 0 else 2
        people = Contributions(amounts, who, base.units.copy(), names)
        return Table(
            base.structure, base.units, integer=True, count=np.array([3, 2, 1]), contributions=people
        )

    table = link(
        {"a": with_people([5, 2], "r", ["ann", "bob"]), "b": with_people([5, 2], "s", ["ann", "eve"])}
    )
    assert table.contributions is not None
    assert table.count is not None
    owner = {
        table.name(c): table.contributions.name(table.contributions.who[c, 0]) for c in range(len(table))
    }
    assert owner["r=Total, s=Total"] == "ann"
    assert owner["r=2, s=Total"] == "bob"
    assert owner["r=Total, s=2"] == "eve"
    without = link(
        {"a": with_people([5, 2], "r", ["ann", "bob"]), "b": Table.from_array([3, 4], names=("s",))}
    )
    assert without.count is None
    assert any("counts left out" in note for note in without.notes)


def test_nothing_to_link() -> None:
    with pytest.raises(InputError, match="at least one"):
        link([])


def test_linked_tables_are_not_written_as_if_the_first_were_all(tmp_path: Path) -> None:
    one = Table.from_frame(pd.DataFrame({"r": ["a", "b", "Total"], "v": [1, 2, 3]}), ["r"], value="v")
    two = Table.from_frame(pd.DataFrame({"s": ["x", "y", "Total"], "v": [1, 2, 3]}), ["s"], value="v")
    with pytest.raises(InputError, match="2 linked tables do not fit into one file"):
        write_table(link({"one": one, "two": two}), tmp_path / "both.csv")
    assert list(tmp_path.iterdir()) == []
