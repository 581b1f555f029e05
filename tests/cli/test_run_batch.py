"""``tacita run batch.arb``: exit codes, remarks, and the log."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from argus_files import write_files

from tacita.cli import main

TABLE = """\
<OPENTABLEDATA> "table.tab"
<OPENMETADATA> "table.rda"
<SPECIFYTABLE> "Region""Size"|"Turnover"
<SAFETYRULE>
<READTABLE>
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write_files(tmp_path)


def run(text: str, *more: str) -> int:
    Path("batch.arb").write_text(text)
    return main(["run", "batch.arb", *more])


def test_a_safe_batch_is_done_with_remarks(capsys: pytest.CaptureFixture[str]) -> None:
    text = TABLE + '<SUPPRESS> OPT(1)\n<WRITETABLE> (1,1,,"out/a.csv")\n'
    assert run(text) == 0
    shown = capsys.readouterr()
    assert "1 safe" in shown.out
    assert "batch.arb, line 6: OPT is carried out as suppression of least loss" in shown.err
    assert Path("out/publication/a.csv").read_text().splitlines()[1] == "N,x,x,110"
    record = json.loads(Path("run.jsonl").read_text().splitlines()[-1])
    assert (record["verdict"], record["sensitive"], record["changed"]) == ("safe", 1, 4)
    assert "../" not in json.dumps(record["inputs"])
    assert "out/publication/a.csv" in record["results"]
    # What is done already is not done again.
    assert run(text) == 0
    assert "done before" in capsys.readouterr().err


def test_exit_codes_are_as_everywhere(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(TABLE + '<WRITETABLE> (1,1,,"out/a.csv")\n') == 2
    assert "not safe: batch.arb, line 6: no method has protected the table" in capsys.readouterr().err
    assert run(TABLE + '<SUPPRESS> CKM(1)\n<WRITETABLE> (1,7,,"out/a.csv")\n') == 1
    assert run(TABLE + "<SUPPRESS> OPT(7)\n") == 1
    assert "batch.arb, line 6: OPT(7): there is 1 table so far" in capsys.readouterr().err
    assert run(TABLE.replace("table.tab", "nowhere.tab") + "<SUPPRESS> OPT(1)\n") == 1
    assert not Path("out").exists()


def test_data_may_lie_in_a_folder_of_their_own(folder: Path) -> None:
    Path("batches").mkdir()
    Path("batches/b.arb").write_text(TABLE + '<SUPPRESS> OPT(1)\n<WRITETABLE> (1,1,,"a.csv")\n')
    assert main(["run", "batches/b.arb"]) == 1
    assert main(["run", "batches/b.arb", "--data", "."]) == 0
    assert Path("batches/publication/a.csv").is_file()


def test_batches_of_the_same_records_that_are_judged_apart_are_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = (
        '<OPENMICRODATA> "records.asc"\n<OPENMETADATA> "records.rda"\n<SPECIFYTABLE> BY|RESPONSE\n'
        '<SAFETYRULE> FREQ(3,30)\n<READMICRODATA>\n<SUPPRESS> OPT(1)\n<WRITETABLE> (1,3,,"NAME/a.csv")\n'
    )
    for name, by, response in (
        ("one", '"Region"', '"Turnover"'),
        ("two", '"Size"', '"TURNOVER"'),
        ("wages", '"Size"', '"Wages"'),
    ):
        changed = text.replace("BY", by).replace("RESPONSE", response).replace("NAME", name)
        Path(f"{name}.arb").write_text(changed)
    assert main(["run", "*.arb"]) == 1
    shown = capsys.readouterr().err
    assert "warning: one.arb, two.arb: each was judged alone, and not what they tell together" in shown
    assert "Make projects of the batch" in shown
    assert "✗ 3 safe; 1 group not judged together." in Path("run.html").read_text()
    assert main(["run", "one.arb", "wages.arb", "--log", "apart.jsonl"]) == 0
