"""Records of ten firms, and a project of the table that they make, for tests of what keeps or saves them."""

from __future__ import annotations

RECORDS = """firm,group,region,size,turnover
F1,G1,N,a,900
F2,G1,N,a,80
F3,G2,N,a,60
F4,G2,N,b,400
F5,G3,N,b,300
F6,G3,S,a,700
F7,G3,S,a,30
F8,G4,S,b,250
F9,G5,S,b,240
F10,G6,S,b,10
"""
MICRODATA = """[table]
microdata = "records.csv"
by = ["region", "size"]
value = "turnover"
respondent = "firm"
holding = "group"
[rules]
"""
"""Rules follow."""
TURNOVER = {
    ("11", "A"): (50,),
    ("11", "B"): (40, 30, 60),
    ("12", "A"): (80, 70, 90),
    ("12", "B"): (30, 45, 50),
    ("21", "A"): (60, 50, 40),
    ("21", "B"): (70, 60, 80),
    ("22", "A"): (20, 25, 30),
    ("22", "B"): (40, 35, 30),
}
"""Turnover of the firms of each region and industry: one cell has a single firm."""


def list_firms() -> str:
    """Records of these firms."""
    lines = ["firm,region,industry,size,turnover"]
    for (region, industry), numbers in TURNOVER.items():
        for number in numbers:
            size = "big" if number > 45 else "small"
            lines.append(f"F{len(lines)},{region},{industry},{size},{number}")
    return "\n".join([*lines, ""])
