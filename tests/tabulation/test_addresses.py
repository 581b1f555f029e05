"""Addresses of records in databases: how they are read, and that no password of theirs is ever shown."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pytest
from postgres_server import USER, Server

from tacita.cli import main
from tacita.core.errors import InputError
from tacita.problem.problem import Problem
from tacita.specification.project import load_project
from tacita.specification.project_write import write_project
from tacita.specification.sections import Source
from tacita.specification.specification import Specification
from tacita.tabulation.address import is_address, mask_passwords, parse_address
from tacita.tabulation.database import open_table
from tacita.tabulation.overview import survey_records
from tacita.tabulation.tabulate import tabulate

RECORDS = pa.table({"region": ["N", "N", "S"], "firm": ["a", "b", "a"], "turnover": [5, 7, 2]})
SECRET = "s3cret"


def test_an_address_names_database_and_table() -> None:
    found = parse_address("postgres://u@h:5433/db?sslmode=require&table=survey.firms")
    assert (found.url, found.schema, found.table) == (
        "postgresql://u@h:5433/db?sslmode=require",
        "survey",
        "firms",
    )
    assert parse_address("postgresql://h/db?table=firms").schema is None
    odd = parse_address("postgres:///db?schema=My.Survey&table=firms.2024%20%26")
    assert (odd.url, odd.schema, odd.table) == ("postgresql:///db", "My.Survey", "firms.2024 &")
    assert is_address("postgres://h/db")
    assert is_address(Path("postgres://h/db"))
    assert not is_address("2024/*.parquet")
    assert not is_address("C:/records.csv")


@pytest.mark.parametrize(
    ("address", "fault"),
    [
        (f"postgres://u:{SECRET}@h/db", "does not say which table"),
        (f"postgres://u:{SECRET}@h/db?table=", "does not say which table"),
        (f"mysql://u:{SECRET}@h/db?table=t", "begin with postgres://, not with mysql://"),
        (f"postgres://u:{SECRET}@1@h/db?table=t", "cannot be read"),
        (f"postgres://u:{SECRET}/1@h/db?table=t", "cannot be read"),
        (f"postgres://u:{SECRET}?1@h/db?table=t", "cannot be read|which table"),
        (f"postgres://u@h/db?table=t&password={SECRET}&x=1", "cannot be read"),
    ],
)
def test_wrong_addresses_are_refused_without_their_password(address: str, fault: str) -> None:
    pytest.importorskip("ibis")
    with pytest.raises(InputError, match=fault) as caught:
        tabulate(address, ["region"])
    assert SECRET not in str(caught.value)
    assert SECRET not in repr(caught.value)
    assert caught.value.remedy


@pytest.mark.parametrize(
    "address",
    [
        f"postgres://u:{SECRET}@h/db?table=t",
        f"postgres:/u:{SECRET}@h/db?table=t",
        f"postgres://u:{SECRET}@{SECRET}@h/db?table=t",
        f"postgres://:{SECRET}@h/db",
        f"postgres://h/db?password={SECRET}&table=t",
        f"postgres://h/db?sslpassword={SECRET}",
        f"anything://u:{SECRET}/{SECRET}@h",
        f"cannot reach jdbc:postgresql://h/db?user=u&password={SECRET}",
    ],
)
def test_passwords_are_masked(address: str) -> None:
    assert SECRET not in mask_passwords(address)
    assert mask_passwords("postgres://u@h:5432/db?table=t") == "postgres://u@h:5432/db?table=t"


def test_an_overview_of_records_takes_no_address() -> None:
    with pytest.raises(InputError, match="not read here") as caught:
        survey_records(f"postgres://u:{SECRET}@h/db?table=t")
    assert SECRET not in str(caught.value)


def test_without_ibis_the_remedy_is_one_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ibis", None)
    with pytest.raises(
        InputError, match=r"with Ibis, which is not installed. Install it with: pip install"
    ) as e:
        tabulate(f"postgres://u:{SECRET}@h/db?table=t", ["region"])
    assert SECRET not in str(e.value)


def test_a_wrong_password_is_reported_but_not_shown(
    server: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    address = server.address("records", f"{SECRET}@/:")
    with pytest.raises(InputError, match="password authentication failed for user"):
        tabulate(address, ["region"])
    assert main(["tabulate", address, "--by", "region", "--debug", "--json"]) == 1
    shown = capsys.readouterr()
    for text in (SECRET, quote(SECRET), server.password):
        assert text not in shown.out + shown.err


def test_the_password_may_be_in_the_address(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.store(RECORDS)
    monkeypatch.delenv("PGPASSWORD")
    assert len(tabulate(server.address("records", server.password), ["region"])) == 3
    with pytest.raises(InputError, match="no password supplied"):
        tabulate(server.address("records"), ["region"])


def test_tables_are_named_exactly_and_with_their_schema(server: Server) -> None:
    with server.connect() as connection:
        connection.execute('CREATE SCHEMA IF NOT EXISTS "My.Survey"')
        connection.execute('CREATE TABLE "My.Survey"."Firms; DROP" AS SELECT \'N\' AS region')
        connection.execute('CREATE VIEW seen AS SELECT * FROM "My.Survey"."Firms; DROP"')
    odd = server.address(f"{quote('Firms; DROP')}&schema=My.Survey")
    assert len(tabulate(odd, ["region"])) == 1
    assert len(tabulate(server.address("public.seen"), ["region"])) == 1
    with pytest.raises(InputError, match=r"no table 'sean' in schema 'public' \(did you mean 'seen'\?\)"):
        tabulate(server.address("public.sean"), ["region"])
    with pytest.raises(InputError, match=r"there is no column 'Region' \(did you mean 'region'"):
        tabulate(server.address("seen"), ["Region"])


def test_the_database_is_only_read(server: Server) -> None:
    with open_table(server.store(RECORDS)) as (table, _), pytest.raises(Exception, match="read-only"):
        table.get_backend().raw_sql("CREATE TABLE written (a int)")


@pytest.mark.parametrize(
    ("where", "fault"),
    [
        ("turnover > 2; DROP TABLE records", "is not one in SQL"),
        ("turnover > 2) OR (TRUE", "is not one in SQL"),
        ("TRUE UNION SELECT 1", "is not one in SQL"),
        ("DELETE FROM records", "is not one in SQL"),
        (
            "EXISTS (WITH gone AS (DELETE FROM records RETURNING 1) SELECT 1 FROM gone)",
            "more than a condition",
        ),
        ("nowhere > 2", 'column "nowhere" does not exist'),
        ("turnover", "must be type boolean"),
    ],
)
def test_a_condition_is_nothing_but_a_condition(server: Server, where: str, fault: str) -> None:
    address = server.store(RECORDS)
    with pytest.raises(InputError, match=fault) as caught:
        tabulate(address, ["region"], where=where)
    assert "where" in caught.value.options
    assert len(tabulate(address, ["region"], where="turnover > 2 AND firm ILIKE 'A%' -- chosen")) == 1


def test_the_command_line_and_projects_read_a_database(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    address = server.store(RECORDS)
    chosen = ["--by", "region", "--value", "turnover", "--respondent", "firm"]
    assert main(["tabulate", address, *chosen, "--out", str(tmp_path / "cells.csv"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["notes"] == ["3 records tabulated into 3 cells"]
    (tmp_path / "project.toml").write_text(
        f'[table]\nmicrodata = "{address}"\nby = ["region"]\nvalue = "turnover"\nrespondent = "firm"\n'
        'where = "turnover > 1"\n[rules]\nrule = "threshold(2)"\n'
    )
    specification = load_project(tmp_path / "project.toml")
    assert specification.files == []
    problem = specification.problem()
    assert isinstance(problem, Problem)
    assert main(["tabulate", str(tmp_path / "project.toml")]) == 0
    again = tmp_path / "again"
    write_project(problem, again, method="suppression", specification=specification)
    assert load_project(again / "project.toml").table == specification.table
    assert address in (again / "project.toml").read_text()


@pytest.mark.parametrize(
    "given",
    [{"microdata": f"postgres://u:{SECRET}@h/db?table=t"}, {"file": f"postgres://u:{SECRET}@h/db?table=t"}],
)
def test_specifications_hold_no_password(given: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        Specification(Source(by=["region"], **given))
    assert SECRET not in str(caught.value)
    ((key, address),) = given.items()
    (tmp_path / "project.toml").write_text(f'[table]\n{key} = "{address}"\nby = ["region"]\n')
    with pytest.raises(InputError) as caught:
        load_project(tmp_path / "project.toml")
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("verb", ["assess", "protect", "audit", "info", "convert"])
def test_other_verbs_do_not_show_passwords(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    main([verb, f"postgres://{USER}:{SECRET}@h/db?table=t", "--debug"])
    shown = capsys.readouterr()
    assert SECRET not in shown.out + shown.err
