"""Metadata of τ-ARGUS: every attribute is kept, what is written reads back, faults name their line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacita.core.errors import FormatError
from tacita.formats.argus.metadata import Metadata, Variable
from tacita.formats.argus.metadata_file import parse_metadata, write_metadata
from tacita.formats.argus.tokens import find_beside, format_token, read_lines, split_tokens

FIXED = """\
// records of a survey
Year      1 2 "99"
  <RECODEABLE> <TOTCODE> All
Industry  4 5 99999
  <RECODABLE>
  <HIERARCHICAL>
  <HIERLEVELS> 3 1 1 0 0
Region    12 2 " 0" 99
  <recodeable>
  <TOTCODE> "All of it"
  <CODELIST> "région code list.cdl"
  <HIERCODELIST> region2.hrc
  <HIERLEADSTRING> "@ "
  <DISTANCE> 1 3
Weight    15 4 9.9
  <NUMERIC> <DECIMALS> 1
  <WEIGHT>
Firm      20 6
  <HOLDING>
Ask       99 1
  <REQUEST> 1 2   // two kinds of request
Key       30 8
  <RECORDKEY>
Turnover  38 10
  <NUMERIC>
  <DECIMALS> 2
  <CKM> T(2)
  <SCALING> F(0.1, 0.2, 3, 4)
"""
TABLE = """\
<SEPARATOR> ,
<SAFE> v
Size 99
  <RECODEABLE>
  <TOTCODE> Total
Income
  <NUMERIC>
Shade
  <NUMERIC> <SHADOW>
Price
  <NUMERIC>
  <COST>
N
  <FREQUENCY>
First
  <MAXSCORE>
Second
  <MAXSCORE>
Code
  <STATUS>
Below
  <NUMERIC> <LOWERPL>
Above
  <NUMERIC> <UPPERPL>
"""


def write(folder: Path, text: str, name: str = "data.rda") -> Path:
    path = folder / name
    path.write_bytes(text.encode("cp1252"))
    return path


def test_attributes_of_records_are_read(tmp_path: Path) -> None:
    found = parse_metadata(write(tmp_path, FIXED))
    assert (found.kind, found.separator, found.notes) == (
        "microdata",
        None,
        ("data.rda is not UTF-8 and was read as cp1252",),
    )
    year, industry, region, weight, firm, ask, key, turnover = found.variables
    assert year == Variable("Year", 1, 2, ("99",), recodable=True, total="All")
    assert industry.levels == (3, 1, 1, 0, 0)
    assert (region.missing, region.total, region.lead) == ((" 0", "99"), "All of it", "@ ")
    assert (region.codelist, region.distance) == ("région code list.cdl", (1, 3, 3, 3, 3))
    assert (weight.weight, weight.decimals, ask.request) == (True, 1, ("1", "2"))
    assert found.spanning == (year, industry, region)
    assert found.responses == (turnover,)
    assert (found.first("weight"), found.first("holding"), found.first("request")) == (weight, firm, ask)
    assert key.cell_key == (("<RECORDKEY>",),)
    assert turnover.cell_key == (("<CKM>", "T(2)"), ("<SCALING>", "F(0.1,", "0.2,", "3,", "4)"))
    assert [remark.split(":")[0] for remark in found.remarks] == [
        "<RECORDKEY> of 'Key'",
        "<CKM>, <SCALING> of 'Turnover'",
    ]
    assert found.find("REGION") == region


def test_attributes_of_tables_are_read(tmp_path: Path) -> None:
    found = parse_metadata(write(tmp_path, TABLE))
    assert (found.kind, found.separator, found.safe, found.unsafe) == ("table", ",", "v", "U")
    roles = [None, None, "shadow", "cost", "frequency", "largest", "largest", "status"]
    assert [v.role for v in found.variables] == [*roles, "lower_level", "upper_level"]
    assert [v.name for v in found.spanning] == ["Size"]
    assert [v.name for v in found.responses] == ["Income"]


def test_records_in_free_format_have_no_place(tmp_path: Path) -> None:
    found = parse_metadata(write(tmp_path, '<SEPARATOR> ";"\nA 5 99\n<RECODEABLE>\nV 9\n<NUMERIC>\n'))
    assert found.variables[0] == Variable("A", None, 5, ("99",), recodable=True)
    assert (found.kind, found.separator) == ("microdata", ";")
    overlap = parse_metadata(write(tmp_path, "A 1 5\n<RECODEABLE>\nV 5 9\n<NUMERIC>\n"))
    assert overlap.notes == ("the fields of 'A' and 'V' overlap",)


@pytest.mark.parametrize(
    ("text", "line", "fault"),
    [
        ("A\n<RECODEABLE>\n<WEIGHT>\n", 1, "START of 'A' is nothing"),
        ("A 1 x\n<WEIGHT>\n", 1, "LENGTH of 'A' is 'x'"),
        ("A 1 2\n<RECODEABEL>\n<WEIGHT>", 2, "did you mean '<RECODEABLE>'"),
        ("<WEIGHT>\nA 1 2\n", 1, "before the first variable"),
        ("A 1 2\n<HIERLEVELS> 1 2\n<HOLDING>", 1, "add up to 3, its length is 2"),
        ("A 1 2\n<HIERLEVELS> 1 0 1\n<HOLDING>", 1, "a level adds no digit"),
        ("A 1 2\n<HIERLEVELS> 1 x\n<HOLDING>", 2, "is no number"),
        ("A 1 2\n<WEIGHT>\nB 4 2\n<WEIGHT>\n", 3, "second variable with <WEIGHT>"),
        ('A 1 2\n<TOTCODE> "All\n<HOLDING>', 2, "a quote is opened"),
        ("A 1 2\n<TOTCODE> All of it\n<HOLDING>", 2, "takes one text, and 3 texts"),
        ("A 1 2\n<PARITY> Y\n<HOLDING>", 2, "before <CKM>"),
        ("A 1 2\nA 3 4\n<WEIGHT>", 2, "two variables 'A'"),
        ("A\n<RECODEABLE>\nV\n<NUMERIC>\n", 1, "'A' has no <TOTCODE>"),
        ("A\n<TOTCODE> T\nV\n<NUMERIC>\nB\n", 5, "what 'B' holds is not said"),
        ("A\n<TOTCODE> T\nV\n<COST>\nB\n<COST>\n", 5, "second column of the kind cost"),
        ("A\n<TOTCODE> T\nV\n<STATUS>\n", None, "no variable is the response"),
        ("", None, "no variable"),
    ],
)
def test_faults_name_line_and_remedy(tmp_path: Path, text: str, line: int | None, fault: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(FormatError, match=fault.replace("(", r"\(")) as caught:
        parse_metadata(path)
    assert caught.value.place == (f"{path}, line {line}" if line else str(path))
    assert caught.value.remedy


def test_tokens_are_quoted_texts_signs_and_runs_to_the_next_blank() -> None:
    texts = [token.text for token in split_tokens('"e 1""e2" | a,b (c) // rest')]
    assert texts == ["e 1", "e2", "|", "a,b", "(", "c)"]
    texts = [token.text for token in split_tokens("P(10,2)|FREQ(3)", ends=",|()")]
    assert texts == ["P", "(", "10", ",", "2", ")", "|", "FREQ", "(", "3", ")"]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=6), max_size=5))
def test_tokens_read_back_as_they_were_written(texts: list[str]) -> None:
    written = []
    for text in texts:
        try:
            written.append((text, format_token(text)))
        except FormatError:
            assert any(sign in text for sign in '\t\n\r\0"')
    line = " ".join(token for _, token in written)
    assert [token.text for token in split_tokens(line)] == [text for text, _ in written]
    assert all(token.keyword is None for token in split_tokens(line))


def test_files_are_found_as_on_windows(tmp_path: Path) -> None:
    (tmp_path / "Régions 2.HRC").write_text("a\n")
    assert find_beside("C:\\data\\régions 2.hrc", tmp_path) == tmp_path / "Régions 2.HRC"
    for name in ("lost.hrc", "x" * 999, "null\0.hrc"):
        assert find_beside(name, tmp_path) == tmp_path / name
    assert read_lines(tmp_path / "Régions 2.HRC").lines[0].text == "a"


WORDS = st.text(st.characters(exclude_categories=["C"], exclude_characters='"'), min_size=1, max_size=6)
NAMES = WORDS.filter(lambda text: bool(text.strip()))


@st.composite
def spanning(draw: st.DrawFn, name: str, kind: str) -> Variable:
    tree = draw(st.sampled_from(["flat", "levels", "file"]))
    levels = tuple(draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))) if tree == "levels" else ()
    zeros = (0,) * draw(st.integers(0, 2)) if levels else ()
    return Variable(
        name,
        length=None if kind == "table" else sum(levels) or draw(st.integers(1, 9)),
        missing=tuple(draw(st.lists(WORDS, max_size=2))),
        recodable=True,
        total=draw(NAMES if kind == "table" else st.none() | NAMES),
        codelist=draw(st.none() | NAMES),
        distance=() if kind == "table" else draw(st.just(()) | st.tuples(*[st.integers(0, 9)] * 5)),
        hierarchical=tree != "flat",
        levels=(*levels, *zeros),
        hierarchy=draw(NAMES) if tree == "file" else None,
        lead=draw(st.none() | WORDS) if tree == "file" else None,
        truncable=kind == "microdata" and draw(st.booleans()),
    )


@st.composite
def metadata(draw: st.DrawFn) -> Metadata:
    kind = draw(st.sampled_from(["table", "microdata"]))
    names = draw(st.lists(NAMES, min_size=9, max_size=9, unique=True))
    variables = [draw(spanning(name, kind)) for name in names[: draw(st.integers(1, 3))]]
    response = Variable(names[3], numeric=True, decimals=draw(st.none() | st.integers(0, 4)))
    if kind == "table":
        variables.append(response)
        roles = ("shadow", "cost", "frequency", "largest", "status")
        chosen = draw(st.lists(st.sampled_from(roles), unique=True, max_size=5))
        variables += [
            Variable(name, role=role, numeric=role in ("shadow", "cost"))  # type: ignore[arg-type]
            for name, role in zip(names[4:], chosen, strict=False)
        ]
        letters = draw(st.permutations(["S", "U", "P", "v", "/x", "c d"]))
        return Metadata(tuple(variables), "table", draw(st.sampled_from(";,|\t x")), False, *letters[:3])
    separator = draw(st.sampled_from([None, ";", ",", "\t", " "]))
    keys = (("<CKM>", "T(3)"), ("<PARITY>", "Y"))
    extra = [
        Variable(names[4], length=1, request=tuple(draw(st.lists(WORDS, min_size=1, max_size=2)))),
        Variable(names[5], length=3, holding=True),
        Variable(names[6], length=3, numeric=True, weight=True),
        Variable(names[7], length=3, numeric=True, cell_key=keys),
    ]
    variables += [Variable(response.name, length=7, numeric=True, decimals=response.decimals)]
    variables += draw(st.lists(st.sampled_from(extra), unique=True, max_size=4))
    if separator is None:
        places = [draw(st.integers(1, 99)) for _ in variables]
        variables = [
            Variable(**{**vars(v), "start": start}) for v, start in zip(variables, places, strict=True)
        ]
    return Metadata(tuple(variables), "microdata", separator, separator is None and draw(st.booleans()))


@given(metadata())
def test_metadata_read_back_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, made: Metadata
) -> None:
    path = tmp_path_factory.mktemp("metadata") / "data.rda"
    write_metadata(made, path)
    assert parse_metadata(path, made.kind) == made
