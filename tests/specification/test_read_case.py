"""The signature of ``read_case``: what type checkers and editors see is what it takes and returns."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import get_overloads, get_type_hints

import pytest

import tacita as tc
from tacita.core.errors import InputError
from tacita.specification.read_case import CaseKeywords, read_case

CELLS = "region,size,value\nN,a,2\nN,b,20\nS,a,30\nS,b,3\n"


def test_keywords_are_the_fields_of_the_options_and_what_is_specified() -> None:
    named = get_type_hints(CaseKeywords)
    options = get_type_hints(tc.ReadOptions)
    assert {name: named.pop(name) for name in options} == options
    assert set(named) == {"attackers", "cost", "lower", "upper", "protection"}
    assert {each.name for each in fields(tc.ReadOptions)} == set(options)


def test_a_rule_makes_a_problem_for_type_checkers_too(tmp_path: Path) -> None:
    (tmp_path / "cells.csv").write_text(CELLS)
    with_rule, without = (get_type_hints(each)["return"] for each in get_overloads(read_case))
    assert with_rule is tc.Problem
    assert isinstance(tc.read_case(tmp_path / "cells.csv", rule="threshold(3)"), with_rule)
    assert without == tc.Problem | tc.Table
    assert isinstance(tc.read_case(tmp_path / "cells.csv"), tc.Table)


def test_lower_is_a_bound_or_a_word_for_levels(tmp_path: Path) -> None:
    (tmp_path / "cells.csv").write_text(CELLS)
    with pytest.raises(InputError, match=r"cells\.csv: lower: 'none' is no bound: give a number"):
        tc.read_case(tmp_path / "cells.csv", lower="none", rule="threshold(3)")
    for name, text in (("A.txt", "1,2\n3,4\n"), ("PSC.txt", "1\n"), ("VSC.txt", "1\n")):
        (tmp_path / name).write_text(text)
    problem = tc.read_case(tmp_path, lower="none")
    assert isinstance(problem, tc.Problem)
    assert not problem.levels.lower.any()
    with pytest.raises(InputError, match=r"lower: 3.0 is no word for .*: say 'symmetric' or 'none'"):
        tc.read_case(tmp_path, lower=3.0)


def test_options_that_a_kind_of_file_does_not_have(tmp_path: Path) -> None:
    for name, text in (("A.txt", "1,2\n3,4\n"), ("PSC.txt", "1\n"), ("VSC.txt", "1\n")):
        (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match="this kind of file has no option 'rule', only lower"):
        tc.read_case(tmp_path, rule="threshold(3)")
    (tmp_path / "project.toml").write_text('[table]\nfile = "A.txt"\n')
    with pytest.raises(InputError, match=r"project\.toml: a project has no option 'cost': write it into"):
        tc.read_case(tmp_path / "project.toml", cost="unit")
