"""Hierarchy files with another lead string than the usual one, in a project on a file of cells."""

from __future__ import annotations

from pathlib import Path

import pytest

import tacita as tc


@pytest.mark.parametrize("lead", ["  ", ".", "@"])
def test_the_lead_string_of_a_hierarchy_is_heeded(tmp_path: Path, lead: str) -> None:
    (tmp_path / "region.hrc").write_text(f"N\n{lead}N1\n{lead}N2\nS\n")
    (tmp_path / "cells.csv").write_text("region,value\nTotal,10\nN,7\nN1,3\nN2,4\nS,3\n")
    (tmp_path / "project.toml").write_text(
        '[table]\nfile = "cells.csv"\nhierarchies = { region = "region" }\n\n'
        f'[hierarchies]\nregion = {{ file = "region.hrc", lead = "{lead}" }}\n'
    )
    table = tc.load_project(tmp_path / "project.toml").data()
    tree = table.structure.dimensions[0].trees[0]
    assert tree.codes == ("Total", "N", "N1", "N2", "S")
