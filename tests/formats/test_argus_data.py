"""Data of τ-ARGUS: records and tables without a header by their metadata, recodings, decisions by hand."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tacita import Hierarchy, Problem, Table
from tacita.core.errors import FormatError, InputError
from tacita.core.exact import to_text
from tacita.core.levels import Levels
from tacita.formats.argus.apriori import Apriori, Decision, apply_apriori, parse_apriori, write_apriori
from tacita.formats.argus.code_trees import read_labels, write_labels
from tacita.formats.argus.metadata_file import parse_metadata
from tacita.formats.argus.microdata import ArgusRecords, read_microdata
from tacita.formats.argus.recodings import Item, Recoding, parse_recoding, write_recoding
from tacita.formats.argus.table_data import read_table_data
from tacita.formats.argus.table_write import write_argus_table

METADATA = """\
Industry 1 3 999
  <RECODEABLE>
  <HIERLEVELS> 1 2
Size 4 2 " 0" 99
  <RECODEABLE>
  <TOTCODE> All
Region 6 3 "  -"
  <RECODEABLE>
  <CODELIST> Régions.cdl
  <HIERCODELIST> "the regions.hrc"
  <HIERLEADSTRING> "> "
Weight 9 4
  <NUMERIC>
  <WEIGHT>
Turnover 13 7
  <NUMERIC>
  <DECIMALS> 2
Group 20 2
  <HOLDING>
"""
TREE = "N.1\n>   1\n>  é2\nS\n> S a\n"
LABELS = "  1,One, two\nN.1,Nørth\nS,South\n"
RECORDS = [
    ("111", " 5", "  1", "1,5", "10.25", "A"),
    ("112", "10", " é2", " 2 ", "3", "A"),
    ("211", " 5", "S a", "1", "0.5", "B"),
    ("211", "99", "  -", "1", "100", "C"),
]


def write_records(folder: Path, records: list[tuple[str, ...]] = RECORDS) -> Path:
    (folder / "the regions.hrc").write_text(TREE, encoding="cp1252")
    (folder / "Régions.cdl").write_text(LABELS, encoding="utf-8")
    (folder / "data.rda").write_text(METADATA, encoding="utf-8")
    widths = (3, 2, 3, 4, 7, 2)
    lines = ["".join(text.rjust(width) for text, width in zip(row, widths, strict=True)) for row in records]
    (folder / "data.asc").write_text("\r\n".join(lines) + "\r\n\x1a", encoding="cp1252")
    return folder / "data.asc"


def read(path: Path) -> ArgusRecords:
    return read_microdata(path, parse_metadata(path.with_suffix(".rda")))


def show(table: Table) -> dict[tuple[str, ...], str]:
    return {
        table.structure.key(cell): to_text(int(table.units[cell]), table.decimals)
        for cell in range(len(table))
    }


def test_records_of_fixed_format_become_a_table_by_their_metadata(tmp_path: Path) -> None:
    table = read(write_records(tmp_path)).tabulate(["Size", "Region"], "Turnover")
    size, region = table.structure.dimensions
    assert size.codes == ("All", "5", "10", "0", "99")
    assert region.codes == ("Total", "N.1", "1", "é2", "S", "S a", "-")
    assert dict(region.trees[0].labels) == {"N.1": "Nørth", "1": "One, two", "S": "South"}
    shown = show(table)
    assert (shown["All", "Total"], shown["5", "N.1"], shown["All", "N.1"]) == ("113.75", "10.25", "13.25")
    assert shown["99", "-"] == "100"
    assert table.decimals == 2
    # The only part of S is the same cell.
    assert table.find("5", "S") == table.find("5", "S a")
    assert table.holding_count is not None
    assert table.holding_count[table.find("All", "Total")] == 3
    assert "the weights 'Weight' were not applied: name them as the weight to apply them" in table.notes
    assert "data.asc is not UTF-8 and was read as cp1252" in table.notes


def test_digits_per_level_weights_and_counts(tmp_path: Path) -> None:
    records = read(write_records(tmp_path))
    table = records.tabulate(["Industry"], "Turnover", weight=True)
    assert show(table)[("1",)] == "21.375"
    assert table.structure.dimensions[0].codes == ("Total", "1", "111", "112", "2", "211", "999")
    assert show(records.tabulate(["Industry"]))[("2",)] == "2"


def test_recodings_join_codes_or_close_branches(tmp_path: Path) -> None:
    records = read(write_records(tmp_path))
    flat = tmp_path / "size.grc"
    flat.write_text("// sizes\n<CODELIST> new.cdl\nsmall: -9\nlarge:10-98\n")
    (tmp_path / "new.cdl").write_text("small,Small ones\n")
    joined = records.recode("Size", parse_recoding(flat)).tabulate(["Size"], "Turnover")
    # Zero, a missing code, lies in the range as well.
    assert show(joined) == {("All",): "113.75", ("small",): "10.75", ("large",): "3", ("99",): "100"}
    assert joined.structure.dimensions[0].trees[0].labels["small"] == "Small ones"
    tree = tmp_path / "region.grc"
    tree.write_text("<TREERECODE>\nN.1\n")
    closed = records.recode("region", parse_recoding(tree)).tabulate(["Region"], "Turnover")
    assert closed.structure.dimensions[0].codes == ("Total", "N.1", "S", "S a", "-")
    assert show(closed)[("N.1",)] == "13.25"
    level = records.recode("Industry", 1).tabulate(["Industry"], "Turnover")
    assert level.structure.dimensions[0].codes == ("Total", "1", "2", "999")
    with pytest.raises(InputError, match="has 2 levels below its total, and 3 are asked for"):
        records.recode("Industry", 3)
    with pytest.raises(FormatError, match="codes of a hierarchy cannot be joined"):
        records.recode("Region", parse_recoding(flat))
    tree.write_text("<TREERECODE>\nN1\n")
    with pytest.raises(FormatError, match=r"code 'N1' \(did you mean 'N.1'\?\) is not in the classification"):
        records.recode("Region", parse_recoding(tree))
    flat.write_text("a: 5\nb: 1-9\n")
    with pytest.raises(FormatError, match="code '5' is joined to 'a' and to 'b'"):
        records.recode("Size", parse_recoding(flat))


@pytest.mark.parametrize(
    ("record", "fault"),
    [
        (("111", " 5", "x", "1", "1", "D"), "code '  x' of 'Region' is not in its classification"),
        (("111", " 5", "", "1", "1", "D"), "no code of 'Region'"),
        (("111", " 5", "  1", "1", "1.2.3", "D"), "'1.2.3' in 'Turnover' is not a number"),
        (("111", " 5", "  1", "1", "", "D"), "no number in 'Turnover'"),
        (("111", " 5", "  1", "1", "1", "A"), "holding 'A' of 'Group' begins again"),
    ],
)
def test_faults_of_records_name_their_line(tmp_path: Path, record: tuple[str, ...], fault: str) -> None:
    path = write_records(tmp_path, [*RECORDS, record])
    with pytest.raises(FormatError, match=fault) as caught:
        read(path).tabulate(["Size", "Region"], "Turnover")
    assert caught.value.place == f"{path}, line 5"


FIXED = "Region 1 2\n<RECODEABLE>\nTurnover 3 4\n<NUMERIC>\nAsk 7 1\n<REQUEST> y\nGroup 8 3\n<HOLDING>\n"


def write_fixed(folder: Path, text: str, metadata: str = FIXED) -> Path:
    (folder / "data.rda").write_text(metadata)
    (folder / "data.asc").write_text(text)
    return folder / "data.asc"


@pytest.mark.parametrize(
    ("text", "metadata", "line", "fault"),
    [
        # The last digits of a number may be lost, in one line or in all.
        ("N  123yAB1\nS  1", FIXED, 2, r"ends at column 4, and 'Turnover' is in columns 3 to 6"),
        ("N  123\nS  145\n", FIXED.replace("3 4", "3 6"), 1, r"columns 3 to 8 \(1 more line likewise\)"),
        # No line has the field: its place is wrong, and nobody would have asked for protection.
        ("N  123\nS  145\n", FIXED, 1, "'Ask' is in columns 7 to 7"),
        ("N  123y\nS  145\n", FIXED, 1, "'Group' is in columns 8 to 10"),
        ("N  123yA\nS  145 A\n", FIXED, 1, "'Group' is in columns 8 to 10"),
        # Blanks were not trimmed, so a short line is cut.
        ("N  123yA  \nS  145 A", FIXED, 2, "'Group' is in columns 8 to 10"),
        ("N  123yA  \nS  145", FIXED, 2, "'Ask' is in columns 7 to 7"),
        # Codes that are padded on the left do not end with blanks.
        ("N  123y  1\nS  145y 1", FIXED, 2, "'Group' is in columns 8 to 10"),
        (
            "110N\n1 1N\n110\n11",
            "A 1 3\n<HIERLEVELS> 1 2\nB 4 1\n<RECODEABLE>\n",
            4,
            "'A' is in columns 1 to 3",
        ),
    ],
)
def test_lines_that_end_inside_a_field_are_refused(
    tmp_path: Path, text: str, metadata: str, line: int, fault: str
) -> None:
    path = write_fixed(tmp_path, text, metadata)
    with pytest.raises(FormatError, match=fault) as caught:
        read(path)
    assert caught.value.place == f"{path}, line {line}"
    assert "data.rda" in caught.value.remedy


def test_blanks_at_the_ends_of_lines_may_be_trimmed(tmp_path: Path) -> None:
    whole = ["N  123yA  ", "N  145 AB1", "S   12    "]
    tables = []
    for lines in (whole, [line.rstrip() for line in whole]):
        records = read(write_fixed(tmp_path, "\n".join(lines)))
        tables.append(
            (show(records.tabulate(["Region"], "Turnover")), records.fields.columns["Group"].to_pylist())
        )
    assert tables[0] == tables[1]
    assert tables[1][1] == ["A", "AB1", ""]


def test_records_of_free_format_may_have_names_and_quotes(tmp_path: Path) -> None:
    (tmp_path / "data.rda").write_text('<SEPARATOR> ";"\nA 3\n<RECODEABLE>\nV 9\n<NUMERIC>\n')
    path = tmp_path / "data.csv"
    path.write_text('a;v\n"x;1";1,5\n y ;-2;\n')
    table = read(path).tabulate(["A"], "V")
    assert show(table) == {("Total",): "-0.5", ("x;1",): "1.5", ("y",): "-2"}
    assert "line 1 holds the names of the variables and was left out" in table.notes
    path.write_text("x;1\ny\n")
    with pytest.raises(FormatError, match="1 field, not 2 as in the metadata") as caught:
        read(path)
    assert caught.value.place == f"{path}, line 2"


TABLE = """\
<UNSAFE> x
Size
  <RECODEABLE>
  <TOTCODE> T
Region
  <RECODEABLE>
  <TOTCODE> T
Income
  <NUMERIC>
N
  <FREQUENCY>
Price
  <NUMERIC> <COST>
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
CELLS = """\
T;T;30,5;9;;12;5;S;;
"a";T;20,5;5;0;12;5;s;;
b;T;10;4;7;4;3;P;;
T;"N";20;6;;12;4;m;;
T;S;10,5;3;;5;2,5;S;;
a;N;17;3;-;12;4;X;3;4
a;S;3,5;2;;2,5;1;S;;
b;N;3;3;;1;1;S;-;
b;S;7;1;;7;0;x;;
"""


def write_cells(folder: Path, cells: str = CELLS) -> Path:
    (folder / "table.rda").write_text(TABLE)
    (folder / "table.tab").write_text(cells)
    return folder / "table.tab"


def test_a_table_without_header_is_read_with_all_its_columns(tmp_path: Path) -> None:
    path = write_cells(tmp_path)
    problem = read_table_data(path, parse_metadata(path.with_suffix(".rda")))
    assert isinstance(problem, Problem)
    table = problem.table
    assert (len(table), table.decimals, table.text(table.find("T", "T"))) == (9, 1, "30.5")
    assert table.count is not None
    assert table.contributions is not None
    assert table.count[table.find("a", "T")] == 5
    assert table.contributions.values[table.find("a", "S")].tolist() == [25, 10]
    with_levels, without = table.find("a", "N"), table.find("b", "S")
    assert problem.sensitive.tolist() == sorted([with_levels, without])
    assert (problem.levels.lower[with_levels], problem.levels.upper[with_levels]) == (30, 40)
    assert (problem.levels.lower[without], problem.levels.upper[without]) == (14, 14)
    assert problem.must_publish.nonzero()[0].tolist() == [table.find("b", "T")]
    assert problem.cost[table.find("a", "T")] == 0.0001
    assert (problem.cost[table.find("b", "T")], problem.cost[with_levels]) == (7.0, 17.0)


def test_rules_look_at_the_shadow_variable(tmp_path: Path) -> None:
    path = write_cells(tmp_path, "T;10;30;19;5\na;4;20;19;1\nb;6;10;1;1\n")
    shadow = "Size\n<TOTCODE> T\nIncome\n<NUMERIC>\nShade\n<NUMERIC> <SHADOW>\nX\n<MAXSCORE>\nY\n<MAXSCORE>\n"
    path.with_suffix(".rda").write_text(shadow)
    problem = read_table_data(path, parse_metadata(path.with_suffix(".rda")), rule="p-percent(10)")
    assert isinstance(problem, Problem)
    assert problem.sensitive.tolist() == [problem.table.find("a")]


@pytest.mark.parametrize(
    ("old", "new", "line", "fault"),
    [
        ("a;S;3,5;2;", "a;S;;2;", 7, "'Income' is missing beside a frequency"),
        ("a;S;3,5;2;", "a;S;3,5;0;", 7, "'Income' is not 0, and the frequency is"),
        ("b;T;10;4;7;", "b;T;10;4;-7;", 3, "the cost 'Price' is negative"),
        ("7;0;x;;", "7;0;?;;", 9, "the status in 'Code' is none of S, x, P, M and E"),
        ("7;0;x;;", "7;0;;;", 9, "the status is empty, and the cell is not"),
        ("12;4;X;3;4", "12;4;X;3;-4", 6, "'Above' is negative"),
        ("12;4;X;3;4", "4;12;X;3;4", 6, "do not descend"),
        ("12;4;X;3;4", "12;7;X;3;4", 6, "exceed the value"),
        ("12;4;X;3;4", "12;4;X;3", 6, "9 fields, not 10"),
        ("12;4;X;3;4", "12;4;X;3;y", 6, "'y' in 'Above' is not a number"),
    ],
)
def test_faults_of_a_table_name_their_line(tmp_path: Path, old: str, new: str, line: int, fault: str) -> None:
    assert old in CELLS
    path = write_cells(tmp_path, CELLS.replace(old, new))
    with pytest.raises(InputError, match=fault.replace("?", r"\?")) as caught:
        read_table_data(path, parse_metadata(path.with_suffix(".rda")))
    assert f"{path}, line {line}" in caught.value.place
    assert caught.value.remedy


def test_frequencies_are_imputed_and_empty_cells_can_be_nothing_else(tmp_path: Path) -> None:
    cells = CELLS.replace("a;S;3,5;2;", "a;S;3,5;;").replace("b;N;3;3;;1;1;S;-;", "b;N;0;0;;0;0;E;-;")
    cells = (
        cells.replace("b;T;10;4;7;4", "b;T;7;4;7;4").replace('T;"N";20;', "T;N;17;").replace("30,5", "27,5")
    )
    path = write_cells(tmp_path, cells)
    problem = read_table_data(path, parse_metadata(path.with_suffix(".rda")))
    assert isinstance(problem, Problem)
    table = problem.table
    assert table.count is not None
    assert table.structural is not None
    assert table.count[table.find("a", "S")] == 1
    assert "a frequency of 1 was taken where there is none: 1 cell" in table.notes
    assert table.structural.nonzero()[0].tolist() == [table.find("b", "N")]


def test_a_table_is_spanned_by_some_of_its_variables_or_by_leaf_cells(tmp_path: Path) -> None:
    from tacita import ReadOptions

    path = write_cells(tmp_path)
    metadata = parse_metadata(path.with_suffix(".rda"))
    short = read_table_data(path, metadata, ReadOptions(by=["size"]))
    assert isinstance(short, Problem)
    assert show(short.table) == {("T",): "30.5", ("a",): "20.5", ("b",): "10"}
    plain = TABLE.replace("First\n  <MAXSCORE>\nSecond\n  <MAXSCORE>\n", "")
    (tmp_path / "table.rda").write_text(plain)
    path.write_text(
        "\n".join(";".join(line.split(";")[:5] + line.split(";")[7:]) for line in CELLS.split("\n")[:-1])
    )
    made = read_table_data(path, parse_metadata(tmp_path / "table.rda"), ReadOptions(totals="compute"))
    assert isinstance(made, Problem)
    assert show(made.table)["T", "T"] == "30.5"


DECISIONS = """\
// decided in March
a;N;s
b;N;U
b;N;PL;1;2,5
a;S;ML
T;N;c;0
b;T;s
b;T;p
"""


def test_decisions_by_hand_are_applied_after_the_rules(tmp_path: Path) -> None:
    path = write_cells(tmp_path)
    problem = read_table_data(path, parse_metadata(path.with_suffix(".rda")))
    (tmp_path / "file.hst").write_text(DECISIONS)
    apriori = parse_apriori(tmp_path / "file.hst")
    changed = apply_apriori(problem, apriori)
    table = changed.table
    assert changed.sensitive.tolist() == sorted([table.find("b", "N"), table.find("b", "S")])
    assert changed.exempt.nonzero()[0].tolist() == [table.find("a", "N")]
    cell = table.find("b", "N")
    assert (changed.levels.lower[cell], changed.levels.upper[cell]) == (10, 25)
    assert changed.must_hide.nonzero()[0].tolist() == [table.find("a", "S")]
    assert changed.must_publish.nonzero()[0].tolist() == [table.find("b", "T")]
    assert changed.cost[table.find("T", "N")] == 1.0


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("a;N;P", "P on a cell that is unsafe: only one that is safe can be"),
        ("b;T;U", "U on a cell that is protected"),
        ("a;S;PL;1;2", "PL on a cell that is safe"),
        ("a;S;AB;1;2", "bounds of single cells are not possible"),
        ("a;S;C;-1", "a number beside C is negative"),
        ("a;S;C;x", "'x' is not a number"),
        ("a;S;Q", "no command follows the codes"),
        ("a;Z;S", "code 'Z' is none of 'Region'"),
        ("a;S;N;S", "3 codes, and cells of the table have 2"),
        ('a;"S;S', "a quote is opened"),
    ],
)
def test_decisions_that_cannot_be_name_their_line(tmp_path: Path, line: str, fault: str) -> None:
    path = write_cells(tmp_path)
    problem = read_table_data(path, parse_metadata(path.with_suffix(".rda")))
    hst = tmp_path / "file.hst"
    hst.write_text(f"// first\n{line}\n")
    with pytest.raises(FormatError, match=fault) as caught:
        apply_apriori(problem, parse_apriori(hst))
    assert caught.value.place == f"{hst}, line 2"
    assert caught.value.remedy
    if "command" not in fault and "number" not in fault and "quote" not in fault:
        kept = apply_apriori(problem, parse_apriori(hst), ignore_errors=True)
        assert any(note.startswith("left out: ") for note in kept.table.notes)


CODES = st.text(st.characters(exclude_categories=["C", "Z"], exclude_characters='"'), min_size=1, max_size=5)
ITEMS = st.lists(st.builds(Item, CODES, CODES) | st.builds(Item.of, CODES), min_size=1, max_size=3)
NUMBERS = st.decimals(0, 10**6, places=2)


@given(
    st.lists(
        st.builds(Decision, st.tuples(CODES, CODES), st.sampled_from(["S", "U", "P", "M", "ML"]))
        | st.builds(Decision, st.tuples(CODES, CODES), st.sampled_from(["C", "W"]), st.tuples(NUMBERS))
        | st.builds(Decision, st.tuples(CODES, CODES), st.just("PL"), st.tuples(NUMBERS, NUMBERS)),
        min_size=1,
        max_size=5,
    ),
    st.sampled_from(";,|\t "),
)
def test_decisions_read_back_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, decisions: list[Decision], separator: str
) -> None:
    path = tmp_path_factory.mktemp("hst") / "file.hst"
    written = Apriori(tuple(decisions), separator)
    write_apriori(written, path)
    assert parse_apriori(path, separator, 2) == written


@given(
    st.lists(st.tuples(CODES, ITEMS), min_size=1, max_size=3, unique_by=lambda group: group[0]),
    st.lists(CODES, max_size=2),
    st.none() | CODES,
)
def test_recodings_read_back_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory,
    groups: list[tuple[str, list[Item]]],
    missing: list[str],
    codelist: str | None,
) -> None:
    path = tmp_path_factory.mktemp("grc") / "file.grc"
    listed = tuple((new, tuple(items)) for new, items in groups)
    for made in (Recoding(listed, (), tuple(missing), codelist), Recoding(closed=tuple(dict(groups)))):
        write_recoding(made, path)
        assert parse_recoding(path) == made


@given(st.dictionaries(CODES.filter(lambda code: "," not in code), CODES, max_size=4))
def test_labels_read_back_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, labels: dict[str, str]
) -> None:
    path = tmp_path_factory.mktemp("cdl") / "file.cdl"
    write_labels(labels, path)
    assert read_labels(path) == (labels, ())


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """Problems of a hierarchy and a flat dimension, with labels, empty cells and costs."""
    names = draw(st.lists(CODES, min_size=7, max_size=7, unique_by=str.casefold))
    total, a, b, *leaves = names
    # Files of labels have no way to write a comma in a code; only these two have labels.
    assume("," not in a + b)
    tree = Hierarchy.from_dict({a: leaves[:3], b: leaves[3:]}, total=total, labels={a: "A, b", b: "ü"})
    flat = Hierarchy.flat(leaves[:2], total=total)
    decimals = draw(st.integers(0, 2))
    units = np.array(draw(st.lists(st.integers(1, 10**6), min_size=8, max_size=8))).reshape(4, 2)
    rows = [
        {"region": leaf, "size": size, "value": units[i, j] / 10**decimals, "freq": 2 + i}
        for i, leaf in enumerate(leaves)
        for j, size in enumerate(leaves[:2])
    ]
    import pyarrow as pa

    table = Table.from_frame(
        pa.Table.from_pylist(rows), by={"region": tree, "size": flat}, value="value", count="freq"
    )
    cells = draw(st.lists(st.integers(0, len(table) - 1), max_size=3, unique=True))
    lower = draw(st.integers(1, 50))
    levels = Levels.on_cells(table, cells, lower=0, upper=lower)
    cost = np.array(draw(st.lists(st.integers(1, 99), min_size=len(table), max_size=len(table))), dtype=float)
    free = [cell for cell in range(len(table)) if cell not in cells]
    return Problem(table, levels, cost=cost, must_publish=free[:1])


@given(problems())
def test_tables_read_back_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, made: Problem
) -> None:
    path = tmp_path_factory.mktemp("tab") / "a table.tab"
    written = write_argus_table(made, path)
    assert {file.suffix for file in written} == {".tab", ".rda", ".hrc", ".cdl"}
    found = read_table_data(path, parse_metadata(path.with_suffix(".rda"), "table"))
    assert isinstance(found, Problem)
    assert [d.trees for d in found.table.structure.dimensions] == [
        d.trees for d in made.table.structure.dimensions
    ]
    assert (found.table.units == made.table.with_decimals(found.table.decimals).units).all()
    assert (found.table.count == made.table.count).all()
    assert (found.levels.sensitive == made.levels.sensitive).all()
    assert (
        found.levels.upper == made.levels.upper * 10 ** (found.table.decimals - made.table.decimals)
    ).all()
    assert (found.cost == made.cost).all()
    assert (found.must_publish == made.must_publish).all()


def test_numbers_of_decisions_are_exact(tmp_path: Path) -> None:
    (tmp_path / "f.hst").write_text("a,b,PL,1.10,2\n")
    assert parse_apriori(tmp_path / "f.hst").decisions[0].numbers == (Decimal("1.10"), Decimal(2))
