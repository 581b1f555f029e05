"""Classifications in files of any name, recognised by what they hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacita.core.errors import HierarchyError
from tacita.formats.hierarchy import recognise_hierarchy

NORTH = {"N": {"N1": {}, "N2": {}}}


@pytest.mark.parametrize(
    "text",
    [
        "N\n@N1\n@N2\n",
        "N\n  N1\n  N2\n",
        "N\n\tN1\n\tN2\n",
        "parent;child\n;Total\nTotal;N\nN;N1\nN;N2\n",
        "child,parent,label\nN1,N,one\nN2,N,two\n",
        "N1;N\nN2;N\n",
        "N\tN1\nN\tN2\n",
        "district,region\nN1,N\nN2,N\n",
        "Total,N,N1\nTotal,N,N2\n",
    ],
)
def test_each_way_of_writing_gives_the_same_tree(text: str, tmp_path: Path) -> None:
    path = tmp_path / "groups.2024"
    path.write_text(text)
    tree = recognise_hierarchy(path, codes=["N1", "N2"])
    assert tree.to_dict() in (NORTH, NORTH["N"])
    assert tree.parent("N1") == "N"
    assert tree.leaves == ("N1", "N2")


def test_codes_with_their_meaning_and_lists_are_flat(tmp_path: Path) -> None:
    path = tmp_path / "codes"
    path.write_text("N1;North, one\nN2;North, two\n")
    tree = recognise_hierarchy(path, codes=["N1", "N2"])
    assert tree.parent("N2") == "Total"
    assert tree.labels == {"N1": "North, one", "N2": "North, two"}
    path.write_text("N1\nN2\n")
    assert recognise_hierarchy(path).to_dict() == {"N1": {}, "N2": {}}


def test_a_code_that_stands_twice_and_an_empty_file_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "codes"
    path.write_text("parent,child\nN,N1\nS,N1\n")
    with pytest.raises(HierarchyError, match="'N1'"):
        recognise_hierarchy(path)
    path.write_text("\n")
    with pytest.raises(HierarchyError, match="no code"):
        recognise_hierarchy(path)
