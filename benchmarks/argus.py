"""Records of τ-ARGUS by their metadata: 42,723 enterprises by size and region (`../shared/data/tau_testW`).

    python benchmarks/argus.py

The metadata are written here after the layout of the records. τ-ARGUS counts 162 cells, 9 by 18 codes with
those for "missing"; 119 of them are not empty. 9 are primary by the p% rule with p = 10.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path

import tacita as tc

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "tau_testW"
METADATA = """\
Size 9 2 99
  <RECODEABLE>
Region 12 2 99
  <RECODEABLE>
  <CODELIST> REGION.CDL
  <HIERCODELIST> region2.hrc
  <HIERLEADSTRING> @
Weight 15 4
  <NUMERIC> <DECIMALS> 1 <WEIGHT>
Value 28 10
  <NUMERIC> <DECIMALS> 2
Request 99 1
  <REQUEST> 1
"""


def main() -> None:
    """Print cells, primary cells, the total, and the CPU seconds from the files to the problem."""
    if not DATA.is_dir():
        print("nothing was measured: there is no folder ../shared/data/tau_testW")
        return
    with tempfile.TemporaryDirectory() as folder:
        for file in DATA.iterdir():
            shutil.copy(file, folder)
        metadata = Path(folder, "tau_testW.rda")
        metadata.write_text(METADATA)
        started = time.process_time()
        table = tc.tabulate(metadata.with_suffix(".asc"), ["Size", "Region"], "Value", metadata=metadata)
        problem = tc.Problem(table, "p-percent(10)")
        seconds = time.process_time() - started
    size, region = (len(dimension.codes) for dimension in table.structure.dimensions)
    print(
        f"{size * region} cells, {len(table)} of them not empty; {len(problem.levels)} primary; total "
        f"{table.text(table.find('Total', 'Total'))}; {seconds:.1f} CPU seconds"
    )


if __name__ == "__main__":
    main()
