"""Batches: every command of the grammar is read, written back the same, and refused by line where wrong."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacita.core.errors import FormatError
from tacita.formats.argus.batch import (
    COMMANDS,
    KINDS,
    METHODS,
    OPTIONS,
    RULES,
    SOLVERS,
    Apriori,
    Batch,
    CellKey,
    Command,
    ControlledRounding,
    FileCommand,
    FrequencyRule,
    Modular,
    NKRule,
    OtherCommand,
    PRule,
    ReadTable,
    Recode,
    RequestRule,
    SafetyRule,
    Solver,
    SpecifyTable,
    Suppress,
    Term,
    WriteTable,
)
from tacita.formats.argus.batch_file import read_batch, write_batch

EVERYTHING = """\
<SILENT>
// a comment, then a blank line

<SOLVER> free, "no licence"
<VERSIONINFO> "version.txt"
<LOGBOOK> "a log.txt"
<OPENMICRODATA> "records.asc"
<openmetadata> "records.rda"
<SPECIFYTABLE> "Size""Region" "Year"|"Var2"|"Var3"|-3,0.5
<SAFETYRULE> P(10)|P(20,2)|NK(1,75)|FREQ(3,30)|REQ(1,2,3,20)|ZERO(10)|WGT(1)|MIS(0)|MAN(20)
<SPECIFYTABLE> "Size" | <freq> | | "Var5"
<SAFETYRULE> P(5,50,1)|REQ(1,2,20)
<READMICRODATA>
<RECODE> 1, "Region", "region.grc"
<RECODE> 2,Size,2
<APRIORY> "apriori.hst", 1, ";", 1, 0
<APRIORI> "apriori.hst",2,,
<SUPPRESS> GH(1,75,1,0)
<SUPPRESS> MOD(0,5,1,1,1,20000,1,2)
<SUPPRESS> OPT(1,10)   // as good as can be
<SUPPRESS> NET(1)
<SUPPRESS> CTA(1)
<SUPPRESS> RND(1,5,0,10,0,2,1)
<SUPPRESS> CKM(1) "ptable.csv"
<SUPPRESS> CKM(1) "cont.csv"|"sep.csv"|0.5
<WRITETABLE> (1, 1, , "a.csv")
<WRITETABLE> (1,5,AS+SE- qu+,"a b.tab")
<ANCO> anything (goes) "here"
<COVER>
<JJ> 5
<GOINTERACTIVE>
<CLEAR>
<OPENTABLEDATA> "a.tab"
<OPENMETADATA> "a.rda"
<SPECIFYTABLE> "Size"|"Var2"
<SAFETYRULE>
<OPENTABLEDATA> "b.tab"
<OPENMETADATA> "b.rda"
<SPECIFYTABLE> "Size"|"Var2"|"Var2"|-2|0
<SAFETYRULE> MAN(10)
<READTABLE> 1T
<WRITETABLE> (2,6,,"b.jj")
"""


def parse(folder: Path, text: str) -> tuple[Command, ...]:
    path = folder / "batch.arb"
    path.write_text(text, encoding="utf-8")
    return read_batch(path).commands


def test_every_command_and_parameter_is_read(tmp_path: Path) -> None:
    commands = parse(tmp_path, EVERYTHING)
    assert {command.keyword for command in commands} == set(COMMANDS)
    tables = [command for command in commands if isinstance(command, SpecifyTable)]
    assert tables[0] == SpecifyTable(("Size", "Region", "Year"), "Var2", "Var3", -3, 0.5)
    assert tables[1] == SpecifyTable(("Size",), None, None, "Var5")
    assert tables[3] == SpecifyTable(("Size",), "Var2", "Var2", -2, 0)
    rules = [command.rules for command in commands if isinstance(command, SafetyRule)]
    assert {type(rule) for rule in rules[0]} == set(RULES)
    assert [(rule.p, rule.q, rule.n) for rule in (*rules[0][:2], rules[1][0]) if isinstance(rule, PRule)] == [
        (10, 100, 1),
        (20, 100, 2),
        (5, 50, 1),
    ]
    requests = [rule for rules in rules for rule in rules if isinstance(rule, RequestRule)]
    assert [(rule.minimum, rule.percent) for rule in requests] == [(3, 20), (0, 20)]
    methods = [command.method for command in commands if isinstance(command, Suppress)]
    assert {type(method) for method in methods} == set(METHODS)
    assert methods[1] == Modular(0, 5, 1, 1, 1, 20000, 1, 2)
    assert methods[5] == ControlledRounding(1, 5, 0, 10, 0, 2, 1)
    assert methods[-1] == CellKey(1, ("cont.csv", "sep.csv", "0.5"))
    apriori = [command for command in commands if isinstance(command, Apriori)]
    assert apriori == [Apriori("apriori.hst", 1, ";", 1, 0), Apriori("apriori.hst", 2, ",")]
    written = [command for command in commands if isinstance(command, WriteTable)]
    assert written[1] == WriteTable(1, 5, (("AS", True), ("SE", False), ("QU", True)), "a b.tab")
    assert [command for command in commands if isinstance(command, Recode)][1] == Recode(2, "Size", 2)
    assert [command for command in commands if isinstance(command, ReadTable)] == [ReadTable(1, True)]
    assert commands[-1].place.endswith("line 42")


@pytest.mark.parametrize(
    ("line", "text", "said"),
    [
        (9, '<SPECIFYTABLE> "Size"', "where '|' is expected"),
        (9, "<SPECIFYTABLE> |", "a spanning variable is expected"),
        (9, '<SPECIFYTABLE> "Size"|"Var2"|"Var3"|-4', "-1, -2, -3 is expected"),
        (9, "<OPENMETADATA> x", "<OPENMETADATA> stands where <SPECIFYTABLE> is expected"),
        (10, "<SAFETYRULE> NK(3)", "where ',' is expected"),
        (10, "<SAFETYRULE> PP(3)", "P, NK, FREQ"),
        (10, "<SAFETYRULE> WGT(2)", "0, 1 is expected"),
        (10, "<SAFETYRULE> P(ten)", "a number (p of P) is expected"),
        (10, "<SAFETYRULE> P(1,2,3,4)", "P takes p, n or q, n"),
        (14, "<RECODE> 7, Size, 1", "there are 2 tables so far"),
        (20, "<SUPPRESS> OPT(0)", "only GH and MOD protect all tables together"),
        (20, "<SUPRESS> OPT(1)", "did you mean '<SUPPRESS>'?"),
        (20, "SUPPRESS OPT(1)", "a command such as <SUPPRESS>"),
        (20, '<SUPPRESS> OPT(1) "x"', "the end of the line is expected"),
        (26, "<WRITETABLE> (1, 8, , x)", "1, 2, 3, 4, 5, 6, 7 is expected"),
        (26, "<WRITETABLE> (1, 1, XX+, x)", "XX is none"),
        (26, "<WRITETABLE> (1, 1, AS, x)", "such as AS+"),
        (26, '<WRITETABLE> (1, 1, , "\0x")', "a null character"),
        (26, "<WRITETABLE> (1, 1, , )", "the name of a file is expected"),
        (26, '<WRITETABLE> (1, 1, , "x)', "a quote is opened"),
        (13, "<READTABLE>", "<SPECIFYTABLE> or <READMICRODATA> is expected"),
        (40, "<READTABLE> 3", "0, 1 or 2"),
        (4, "<SOLVER> gurobi", "CPLEX, XPRESS, FREE"),
    ],
)
def test_a_wrong_line_is_named_with_what_was_expected(
    tmp_path: Path, line: int, text: str, said: str
) -> None:
    lines = EVERYTHING.splitlines()
    lines[line - 1] = text
    with pytest.raises(FormatError) as caught:
        parse(tmp_path, "\n".join(lines))
    assert caught.value.place.endswith(f"batch.arb, line {line}")
    assert said in str(caught.value)
    assert caught.value.remedy


texts = st.text(
    st.characters(codec="utf-8", exclude_characters='"\t\r\n\0', exclude_categories=("Cs",)),
    min_size=1,
    max_size=6,
)
switches = st.integers(0, 1)
numbers = st.integers(-(10**12), 10**12) | st.floats(allow_nan=False, allow_infinity=False)


def terms(kind: type[Term], tables: int) -> st.SearchStrategy[Any]:
    wanted = [each for each in fields(kind) if "kind" in each.metadata]
    least = sum(each.default is not None for each in wanted)
    lowest = 0 if getattr(kind, "linked", False) else 1
    of = {"table": st.integers(lowest, tables), "switch": switches, "number": numbers}
    return st.integers(least, len(wanted)).flatmap(
        lambda n: st.builds(kind, *(of[each.metadata["kind"]] for each in wanted[:n]))
    )


@st.composite
def batches(draw: st.DrawFn) -> Batch:
    """Batches in a legal order with every kind of command and parameter."""

    def build(keyword: str, *given: Any, **named: Any) -> Command:
        return draw(st.builds(COMMANDS[keyword], *given, **named))

    anywhere = [
        kind
        for kind in COMMANDS.values()
        if issubclass(kind, OtherCommand) or kind.keyword in ("<SILENT>", "<GOINTERACTIVE>")
    ]
    other = st.one_of(
        *(
            st.builds(k, st.lists(texts).map(tuple)) if issubclass(k, OtherCommand) else st.builds(k)
            for k in anywhere
        ),
        *(st.builds(COMMANDS[k], texts) for k in ("<LOGBOOK>", "<VERSIONINFO>")),
        st.builds(Solver, st.sampled_from(SOLVERS), st.none() | texts),
    )
    found: list[Command] = draw(st.lists(other, max_size=2))
    records = draw(st.booleans())
    tables = draw(st.integers(1, 3))
    for number in range(tables):
        if number == 0 or (not records and draw(st.booleans())):
            found += [
                build("<OPENMICRODATA>" if records else "<OPENTABLEDATA>", texts),
                build("<OPENMETADATA>", texts),
            ]
        cost = st.none() | st.sampled_from((-1, -2, -3)) | texts
        found.append(
            build(
                "<SPECIFYTABLE>",
                st.lists(texts, min_size=1).map(tuple),
                *[st.none() | texts] * 2,
                cost,
                st.none() | numbers,
            )
        )
        rule = st.one_of(*(terms(kind, tables) for kind in RULES))
        found.append(build("<SAFETYRULE>", st.lists(rule).map(tuple)))
    read = build("<READTABLE>", st.none() | st.integers(0, 2), st.none() | st.booleans())
    found.append(build("<READMICRODATA>") if records else read)
    one = st.integers(1, tables)
    method = st.one_of(
        *(terms(kind, tables) for kind in METHODS),
        st.builds(CellKey, one, st.lists(texts, min_size=1, max_size=3).map(tuple)),
    )
    option = st.tuples(st.sampled_from(OPTIONS), st.booleans())
    apriori = st.one_of(
        st.builds(Apriori, texts, one, texts),
        st.builds(Apriori, texts, one, texts, switches),
        st.builds(Apriori, texts, one, texts, switches, switches),
    )
    work = st.one_of(
        st.builds(Recode, one, texts, texts | st.integers(0, 10**6)),
        apriori,
        st.builds(Suppress, method),
        st.builds(
            WriteTable, one, st.sampled_from(list(KINDS)), st.lists(option, max_size=4).map(tuple), texts
        ),
        other,
    )
    found += draw(st.lists(work, max_size=6))
    more = draw(st.none() | st.just(COMMANDS["<CLEAR>"]()))
    return Batch((*found, more) if more is not None else tuple(found))


@given(batches())
def test_a_batch_that_is_written_reads_back_the_same(
    tmp_path_factory: pytest.TempPathFactory, batch: Batch
) -> None:
    path = write_batch(batch, tmp_path_factory.mktemp("batch") / "batch.arb")
    assert read_batch(path) == batch


def test_commands_of_the_same_words_are_not_the_same() -> None:
    assert FileCommand("a") != COMMANDS["<LOGBOOK>"]("a")  # type: ignore[call-arg]
    assert FrequencyRule(3, 30) != NKRule(3, 30)
