"""SDMX-CSV as a case: both versions, labels, chosen rows, confidentiality, structure files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from budget import examples
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.cli import main
from tacita.core.errors import FormatError, InputError
from tacita.formats.sdmx.header import find_version
from tacita.formats.sdmx.structure_file import read_structure

CELLS = {
    ("_T", "_T"): (460, "F"),
    ("_T", "A"): (210, "F"),
    ("_T", "B"): (250, ""),
    ("N", "_T"): (190, "F"),
    ("N", "A"): (80, "O"),
    ("N", "B"): (110, "D"),
    ("S", "_T"): (270, "F"),
    ("S", "A"): (130, "F"),
    ("S", "B"): (140, "F"),
}


def rows(first: str, year: str = "2024", factor: int = 1) -> str:
    return "".join(
        f"{first},A,{area},{activity},{year},{factor * value},A,{code}\n"
        for (area, activity), (value, code) in CELLS.items()
    )


COLUMNS = "FREQ,REF_AREA,ACTIVITY,TIME_PERIOD,OBS_VALUE,OBS_STATUS,CONF_STATUS\n"
TWO = f"STRUCTURE,STRUCTURE_ID,ACTION,{COLUMNS}" + rows("dataflow,XX:TURN(1.0),I")
ONE = f"DATAFLOW,{COLUMNS}" + rows("XX:TURN(1.0)")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def read(text: str, **options: object) -> tc.Problem | tc.Table:
    Path("in.csv").write_text(text, encoding="utf-8")
    return tc.read_case("in.csv", **options)


def values(table: tc.Table) -> dict[tuple[str, ...], float]:
    return {table.structure.key(i): value for i, value in enumerate(table.values.tolist())}


@pytest.mark.parametrize(
    "text",
    [
        TWO,
        ONE,
        TWO.replace(",", ";"),
        "\ufeff" + ONE,
        TWO.replace("STRUCTURE,STRUCTURE_ID", "STRUCTURE[;],STRUCTURE_ID"),
        ONE.replace("CONF_STATUS", "OBS_CONF"),
    ],
)
def test_both_versions_give_the_same_problem(text: str) -> None:
    problem = read(text)
    assert isinstance(problem, tc.Problem)
    assert [d.name for d in problem.table.structure.dimensions] == ["REF_AREA", "ACTIVITY"]
    assert values(problem.table) == {key: value for key, (value, _) in CELLS.items()}
    assert [problem.table.structure.key(c) for c in problem.sensitive.tolist()] == [("N", "A")]
    assert any("FREQ=A, TIME_PERIOD=2024" in note for note in problem.table.notes)
    assert any("hidden by an earlier run: 1 cell" in note for note in problem.table.notes)


@pytest.mark.parametrize("code", ["C", "A", "O", "T", "G", "N", "E", "?"])
def test_what_is_confidential_or_not_for_publication_is_sensitive(code: str) -> None:
    problem = read(TWO.replace(",O\n", f",{code}\n"))
    assert isinstance(problem, tc.Problem)
    assert len(problem.levels) == 1


def test_without_a_confidential_cell_only_a_rule_makes_a_problem() -> None:
    free = TWO.replace(",O\n", ",F\n").replace(",D\n", ",\n")
    assert isinstance(read(free), tc.Table)
    assert len(tc.read_case("in.csv", rule="threshold(100)").levels) == 1
    assert len(read(TWO, rule="threshold(120)").levels) == 2


def test_labels_of_columns_and_codes_are_taken_off_and_kept_as_labels() -> None:
    text = TWO.replace("REF_AREA", "REF_AREA: Reference area")
    for code, label in (("N", "North"), ("S", "South: with coast"), ("_T", "All")):
        text = text.replace(f"A,{code},", f"A,{code}: {label},")
    problem = read(text)
    assert isinstance(problem, tc.Problem)
    dimension = problem.table.structure.dimensions[0]
    assert dimension.name == "REF_AREA"
    assert [dimension.label(code) for code in ("_T", "N", "S")] == ["All", "North", "South: with coast"]


def test_several_periods_are_several_tables_of_which_one_is_chosen() -> None:
    text = TWO + rows("dataflow,XX:TURN(1.0),I", "2025", 2)
    with pytest.raises(FormatError, match=r"'TIME_PERIOD' has 2 codes \(2024, 2025\)"):
        read(text)
    table = read(text, only={"TIME_PERIOD": "2025"})
    assert isinstance(table, tc.Problem)
    assert values(table.table)["N", "A"] == 160
    with pytest.raises(InputError, match="no row has TIME_PERIOD=2023"):
        tc.read_case("in.csv", only={"TIME_PERIOD": "2023"})
    with pytest.raises(InputError, match="there is no column 'TIME'"):
        tc.read_case("in.csv", only={"TIME": "2025"})


def test_a_period_is_a_dimension_if_its_total_is_named() -> None:
    lines = {
        year: rows("XX:TURN(1.0)", year, factor) for year, factor in (("2024", 1), ("2025", 2), ("ALL", 3))
    }
    table = read(f"DATAFLOW,{COLUMNS}" + "".join(lines.values()), total={"TIME_PERIOD": "ALL"})
    assert isinstance(table, tc.Problem)
    assert [d.name for d in table.table.structure.dimensions] == ["REF_AREA", "ACTIVITY", "TIME_PERIOD"]


def test_rows_of_other_tables_are_chosen_too() -> None:
    Path("plain.csv").write_text("year,region,value\n2024,N,1\n2024,S,2\n2025,N,3\n2025,S,4\n")
    table = tc.read_case("plain.csv", only={"year": "2025"})
    assert isinstance(table, tc.Table)
    assert [d.name for d in table.structure.dimensions] == ["region"]
    assert values(table) == {("N",): 3, ("S",): 4, ("Total",): 7}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (
            TWO.replace("dataflow,XX:TURN(1.0),I,A,N,A", "dataflow,XX:OTHER(1.0),I,A,N,A"),
            "'STRUCTURE_ID' has 2",
        ),
        (TWO.replace("I,A,N,A", "D,A,N,A"), "action D deletes"),
        (TWO.replace("OBS_VALUE", "VALUE_OF"), "without a column 'OBS_VALUE'"),
        (ONE.replace("TURN(1.0),A,N,A", "TURN(1.0),Q,N,A"), "'FREQ' has 2 codes"),
        (TWO.replace("A,N,A,2024", "A,,A,2024"), "no code in column 'REF_AREA'"),
    ],
)
def test_what_is_no_table_is_refused_by_name(text: str, named: str) -> None:
    with pytest.raises(InputError, match=named):
        read(text)


def test_other_files_are_no_sdmx() -> None:
    assert find_version(["DATAFLOW", "OBS_VALUE"]) == "1.0"
    assert find_version(["region", "DATAFLOW", "OBS_VALUE"]) is None
    assert find_version(["STRUCTURE", "value"]) is None
    Path("plain.csv").write_text("region,value\nN,1\nS,2\n")
    with pytest.raises(InputError, match="a structure file is for SDMX-CSV"):
        tc.read_case("plain.csv", structure="x.xml")


SPACES = 'xmlns:str="urn:s" xmlns:com="urn:c" xmlns:xml="http://www.w3.org/XML/1998/namespace"'
XML_2 = f"""<?xml version="1.0" encoding="UTF-8"?>
<mes:Structure xmlns:mes="urn:m" {SPACES}><str:Codelists><str:Codelist id="CL_PLACE">
<str:Code id="_T"><com:Name xml:lang="fr">Tout</com:Name><com:Name xml:lang="en">All</com:Name></str:Code>
<str:Code id="M"><com:Name xml:lang="en">Main</com:Name><str:Parent><Ref id="_T"/></str:Parent></str:Code>
<str:Code id="N"><com:Name xml:lang="en">North</com:Name><str:Parent><Ref id="M"/></str:Parent></str:Code>
<str:Code id="S"><com:Name xml:lang="en">South</com:Name><str:Parent><Ref id="M"/></str:Parent></str:Code>
<str:Code id="X"><com:Name xml:lang="en">Elsewhere</com:Name></str:Code></str:Codelist></str:Codelists>
<str:DataStructures><str:DataStructure id="DSD"><str:DataStructureComponents><str:DimensionList>
<str:Dimension id="FREQ"/><str:Dimension id="REF_AREA">
<str:ConceptIdentity><Ref id="REF_AREA"/></str:ConceptIdentity><str:LocalRepresentation><str:Enumeration>
<Ref id="CL_PLACE"/></str:Enumeration></str:LocalRepresentation></str:Dimension>
<str:Dimension id="ACTIVITY"/><str:TimeDimension id="TIME_PERIOD"/>
</str:DimensionList></str:DataStructureComponents></str:DataStructure></str:DataStructures></mes:Structure>
"""
CONCEPT_URN = "urn:sdmx:org.sdmx.infomodel.conceptscheme.Concept=XX:CS(1.0).REF_AREA"
URN = "urn:sdmx:org.sdmx.infomodel.codelist.Codelist=XX:CL_PLACE(1.0)"
XML_3 = (
    XML_2.replace('<Ref id="CL_PLACE"/>', URN)
    .replace('<str:Parent><Ref id="_T"/></str:Parent>', "<str:Parent>_T</str:Parent>")
    .replace('<str:Parent><Ref id="M"/></str:Parent>', "<str:Parent>M</str:Parent>")
)
CODES = [
    {"id": "_T", "names": {"fr": "Tout", "en": "All"}},
    {"id": "M", "name": "Main", "parent": "_T"},
    {"id": "N", "name": "North", "parent": "M"},
    {"id": "S", "name": "South", "parent": "M"},
    {"id": "X", "name": "Elsewhere"},
]
PLACE = {"id": "REF_AREA", "localRepresentation": {"enumeration": URN}}
JSON = json.dumps(
    {
        "data": {
            "codelists": [{"id": "CL_PLACE", "codes": CODES}],
            "dataStructures": [
                {
                    "id": "DSD",
                    "dataStructureComponents": {
                        "dimensionList": {
                            "dimensions": [{"id": "FREQ"}, PLACE, {"id": "ACTIVITY"}],
                            "timeDimensions": [{"id": "TIME_PERIOD"}],
                        }
                    },
                }
            ],
        }
    }
)
CONCEPT = json.dumps(
    {
        "data": {
            "codelists": [{"id": "CL_PLACE", "codes": CODES}],
            "conceptSchemes": [
                {"id": "CS", "concepts": [{"id": "REF_AREA", "coreRepresentation": {"enumeration": URN}}]}
            ],
            "dataStructures": [
                {
                    "id": "DSD",
                    "dataStructureComponents": {
                        "dimensionList": {
                            "dimensions": [
                                {
                                    "id": "REF_AREA",
                                    "conceptIdentity": CONCEPT_URN,
                                }
                            ]
                        }
                    },
                }
            ],
        }
    }
)


@pytest.mark.parametrize(
    ("name", "text"), [("a.xml", XML_2), ("b.xml", XML_3), ("c.json", JSON), ("d.json", CONCEPT)]
)
def test_structure_files_give_hierarchies_and_labels(name: str, text: str) -> None:
    Path(name).write_text(text, encoding="utf-8")
    found = read_structure(name)
    assert found.code_lists["CL_PLACE"].parents == {"M": "_T", "N": "M", "S": "M"}
    if name == "d.json":
        assert found.structures["DSD"]["REF_AREA"] == "CL_PLACE"
        return
    main_rows = "".join(
        line.replace(",_T,", ",M,", 1) for line in rows("dataflow,XX:TURN(1.0),I").splitlines(True)[:3]
    )
    problem = read(TWO + main_rows, structure=name)
    assert isinstance(problem, tc.Problem)
    area = problem.table.structure.dimensions[0]
    assert (area.trees[0].parent("N"), area.trees[0].parent("M")) == ("M", "_T")
    assert (area.label("N"), area.label("_T")) == ("North", "All")
    assert "X" not in area.codes


def test_a_code_list_without_parents_gives_labels_and_keeps_the_checks_of_flat_dimensions() -> None:
    Path("flat.xml").write_text(
        '<S><Codelist id="CL_ACTIVITY"><Code id="A"><Name>Farms</Name></Code><Code id="B"/></Codelist></S>'
    )
    problem = read(TWO, structure="flat.xml")
    assert isinstance(problem, tc.Problem)
    assert problem.table.structure.dimensions[1].label("A") == "Farms"
    with pytest.raises(InputError, match="sum"):
        read(TWO.replace("_T,2024", "K,2024"), structure="flat.xml")


@pytest.mark.parametrize(
    ("name", "text", "named"),
    [
        ("a.xml", '<!DOCTYPE s [<!ENTITY a "b">]><s>&a;</s>', "document type"),
        ("a.xml", "<s><unclosed></s>", "cannot be parsed"),
        ("a.xml", "<s/>", "no code list"),
        ("a.json", "{", "cannot be parsed"),
        ("a.json", "[" * 100_000, "cannot be parsed"),
        ("a.json", '{"data": []}', "not where a structure message has them"),
        ("a.json", '{"data": {"codelists": [{"codes": []}]}}', "not where a structure message has them"),
    ],
)
def test_hostile_structure_files_are_refused(name: str, text: str, named: str) -> None:
    Path(name).write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=named):
        read_structure(name)


def test_a_code_list_with_a_cycle_is_refused() -> None:
    codes = "".join(f'<Code id="{a}"><Parent>{b}</Parent></Code>' for a, b in (("A", "B"), ("B", "A")))
    Path("cycle.xml").write_text(f'<S><Codelist id="CL_ACTIVITY">{codes}</Codelist></S>')
    with pytest.raises(InputError):
        read(TWO, structure="cycle.xml")


def test_command_line_and_projects_choose_rows_and_structures(capsys: pytest.CaptureFixture[str]) -> None:
    Path("dsd.xml").write_text(XML_2, encoding="utf-8")
    Path("in.csv").write_text(TWO + rows("dataflow,XX:TURN(1.0),I", "2025", 2))
    assert main(["assess", "in.csv", "--json"]) == 1
    assert "--only" in json.loads(capsys.readouterr().out)["error"]
    assert main(["assess", "in.csv", "--only", "TIME_PERIOD=2025", "--structure", "dsd.xml", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sensitive"] == 1
    Path("project.toml").write_text(
        '[table]\nfile = "in.csv"\nstructure = "dsd.xml"\nonly = { TIME_PERIOD = "2025" }\n'
    )
    problem = tc.read_case("project.toml")
    assert isinstance(problem, tc.Problem)
    assert values(problem.table)["N", "A"] == 160
    assert problem.table.structure.dimensions[0].label("N") == "North"
    assert any(path.name == "dsd.xml" for path in tc.load_project("project.toml").files)


@given(
    st.lists(st.lists(st.integers(0, 99), min_size=2, max_size=4), min_size=2, max_size=4).filter(
        lambda grid: len({len(row) for row in grid}) == 1
    ),
    st.sampled_from([0, 2]),
    st.booleans(),
)
@examples(40)
def test_a_table_that_is_written_whole_is_read_as_it_was(
    grid: list[list[int]], decimals: int, named: bool
) -> None:
    from tacita.formats.sdmx.release_write import SdmxOptions

    values_given = np.array(grid) / 10**decimals
    table = tc.Table.from_array(values_given, decimals=decimals, counts=decimals == 0)
    options = SdmxOptions("XX:TURN(1.0)") if named else None
    reason = "every value may be seen by all"
    tc.write_release(tc.Release.suppress(table, []), "all.csv", unaudited=reason, format="sdmx", sdmx=options)
    again = tc.read_case("all.csv", undeclared_sums="ignore", counts=table.integer, decimals=decimals)
    assert isinstance(again, tc.Table)
    assert again.structure.same_cells(table.structure)
    assert again.units.tolist() == table.units.tolist()


def test_other_files_with_columns_hold_sdmx_too() -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    keys = list(CELLS)
    columns = {
        "DATAFLOW": ["XX:TURN(1.0)"] * len(keys),
        "REF_AREA": [area for area, _ in keys],
        "ACTIVITY": [activity for _, activity in keys],
        "TIME_PERIOD": [2024] * len(keys),
        "OBS_VALUE": [value / 2 for value, _ in CELLS.values()],
    }
    pq.write_table(pa.table(columns), "in.parquet")
    table = tc.read_case("in.parquet")
    assert isinstance(table, tc.Table)
    assert values(table) == {key: value / 2 for key, (value, _) in CELLS.items()}
