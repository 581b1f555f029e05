"""Small files of tau-ARGUS to run batches on: records of two dimensions with a hierarchy, and a table."""

from __future__ import annotations

import random
from pathlib import Path

METADATA = """\
<SEPARATOR> ";"
Region 4
 <RECODEABLE>
 <TOTCODE> "Total"
 <HIERARCHICAL>
 <HIERCODELIST> "regions.hrc"
 <HIERLEADSTRING> "@"
Size 1
 <RECODEABLE>
Group 4
 <HOLDING>
Asked 1
 <REQUEST> "1" "2"
Weight 5
 <NUMERIC>
 <DECIMALS> 1
 <WEIGHT>
Turnover 8
 <NUMERIC>
 <DECIMALS> 1
Wages 8
 <NUMERIC>
"""
HIERARCHY = "N\n@N1\n@N2\nS\n@S1\n@S2\n@S3\n"
TABLE_METADATA = """\
<SEPARATOR> ";"
<SAFE> s
<UNSAFE> u
<PROTECT> p
Region
 <RECODEABLE>
 <TOTCODE> Total
Size
 <RECODEABLE>
 <TOTCODE> Total
Turnover
 <NUMERIC>
n
 <FREQUENCY>
Max1
 <MAXSCORE>
Max2
 <MAXSCORE>
Status
 <STATUS>
"""

RECORDS = '<OPENMICRODATA> "records.asc"\n<OPENMETADATA> "records.rda"\n'
TABLE = '<OPENTABLEDATA> "table.tab"\n<OPENMETADATA> "table.rda"\n'
EVERY_COMMAND = f"""\
<SILENT>
<SOLVER> CPLEX, "licence"
<VERSIONINFO> "out/version.txt"
<LOGBOOK> "out/log.txt"
{RECORDS}\
<SPECIFYTABLE> "Region""Size"|"Turnover"|"Turnover"|"Wages"|0.5
<SAFETYRULE> P(10)|P(20,60,1)|NK(2,90)|FREQ(3,30)|REQ(10,10,2,20)|ZERO(10)|WGT(0)|MIS(1)|MAN(20)
<SPECIFYTABLE> "Size""Region"|<freq>|| -2
<SAFETYRULE> FREQ(4,30)
<READMICRODATA>
<RECODE> 1, "Region", 1
<RECODE> 2, "Region", "regions.grc"
<APRIORI> "decisions.hst", 1, ";", 0, 1
<SUPPRESS> GH(1,75,1,0)
<WRITETABLE> (1, 1, , "out/gh.csv")
<SUPPRESS> MOD(1,5,1,1,1,20000,1,2)
<WRITETABLE> (1, 2, AS-, "out/mod.csv")
<SUPPRESS> NET(1)
<SUPPRESS> OPT(1,5)
<WRITETABLE> (1, 3, QU+AR+, "out/opt.csv")
<WRITETABLE> (1, 3, AS+, "out/opt-status.csv")
<WRITETABLE> (1, 4, HL+, "out/opt-sbs.csv")
<WRITETABLE> (1, 5, SO+, "out/opt.tab")
<WRITETABLE> (1, 6, , "out/opt.jj")
<SUPPRESS> RND(2,5,0,1,0,2,1)
<WRITETABLE> (2, 3, , "out/rounded.csv")
<SUPPRESS> CKM(2) "ptable.csv"
<WRITETABLE> (2, 7, , "out/key.csv")
<ANCO>
<COVER>
<JJ> 1
<CLEAR>
{TABLE}\
<SPECIFYTABLE> "Region""Size"|"Turnover"
<SAFETYRULE>
<READTABLE> 0
<SUPPRESS> CTA(1)
<WRITETABLE> (1, 1, , "out/adjusted.csv")
<GOINTERACTIVE>
"""
"""Every command of the grammar."""


def write_files(folder: Path, seed: int = 1) -> Path:
    """Write records, a table, metadata, a hierarchy, a recoding and decisions to a folder."""
    rng = random.Random(seed)
    lines = []
    for group in range(40):
        for _ in range(rng.choice((1, 1, 2, 3))):
            region = rng.choice(("N1", "N2", "S1", "S2", "S3"))
            asked = rng.choice("00000001")
            turnover = round(rng.lognormvariate(3, 1.2), 1)
            weight = rng.choice((1, 1, 2.5))
            lines.append(
                f"{region};{rng.choice('abc')};g{group};{asked};{weight};{turnover};{rng.randint(1, 90)}"
            )
    (folder / "records.asc").write_text("\n".join(lines) + "\n")
    (folder / "records.rda").write_text(METADATA)
    (folder / "regions.hrc").write_text(HIERARCHY)
    (folder / "sizes.grc").write_text("small:a,b\nlarge:c\n")
    (folder / "regions.grc").write_text("<TREERECODE>\nS\n")
    (folder / "decisions.hst").write_text("N;b;S\nN;a;C;5\n")
    rows = {("N", "a"): (60, 9, 50, 4, "u"), ("N", "b"): (50, 9, 9, 8, "s"), ("S", "a"): (40, 8, 9, 8, "s")}
    rows[("S", "b")] = (30, 7, 8, 7, "s")
    for code in "NS":
        rows[code, "Total"] = total(rows, lambda key, code=code: key[0] == code)
    for code in "ab":
        rows["Total", code] = total(rows, lambda key, code=code: key[1] == code and key[0] != "Total")
    rows["Total", "Total"] = total(rows, lambda key: key[1] == "Total")
    cells = [";".join(map(str, (*key, *cell))) for key, cell in rows.items()]
    (folder / "table.tab").write_text("\n".join(cells) + "\n")
    (folder / "table.rda").write_text(TABLE_METADATA)
    return folder


def total(rows: dict, wanted: object) -> tuple:
    """Return the total of some cells of the table."""
    parts = [cell for key, cell in rows.items() if wanted(key)]  # type: ignore[operator]
    largest = sorted((number for cell in parts for number in cell[2:4]), reverse=True)
    return sum(cell[0] for cell in parts), sum(cell[1] for cell in parts), *largest[:2], "s"
