"""Records in a PostgreSQL server against the same records in a file: CPU seconds, and what travels.

    python benchmarks/databases.py [--records 1000000] [--rounds 3]

The server is one of its own, in a temporary folder. Both tables are compared cell by cell. CPU seconds are
those of this process (DuckDB included) and of the server; the best of the rounds counts. No more travels than
groups: pairs of respondent and leaf cell, or per leaf cell its two largest records and the rest.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

from tacita.core.tables.table import Table
from tacita.generate import microdata
from tacita.tabulation.database import DatabaseRecords
from tacita.tabulation.tabulate import tabulate

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from postgres_server import REMEDY, Server, find_postgres, run_server

DIMENSIONS = {"region": (96, 3), "industry": (88, 3), "size": (9, 1)}


class Travel:
    """Counts the rows and bytes of all answers of databases, as Arrow holds them."""

    def __init__(self) -> None:
        self.rows = self.bytes = 0
        run = DatabaseRecords._run

        def count(records: DatabaseRecords, tree: Any, kinds: dict[str, Any]) -> Iterator[pa.RecordBatch]:
            for batch in run(records, tree, kinds):
                self.rows, self.bytes = self.rows + batch.num_rows, self.bytes + batch.nbytes
                yield batch

        DatabaseRecords._run = count  # type: ignore[method-assign]


def store(server: Server, records: pa.Table) -> str:
    """Put the records into the server, and return their address."""
    lines = BytesIO()
    pc.write_csv(records, lines, pc.WriteOptions(include_header=False))
    with server.connect() as connection:
        connection.execute(
            "CREATE TABLE firms "
            "(region text, industry text, size text, value double precision, respondent bigint)"
        )
        with connection.cursor() as cursor, cursor.copy("COPY firms FROM STDIN (FORMAT csv)") as copy:
            copy.write(lines.getvalue())
        connection.execute("VACUUM ANALYZE firms")
    return server.address("firms", server.password)


def measure(
    server: Server, source: str, by: Any, respondent: str | None, rounds: int
) -> tuple[Table, float, float]:
    """The table, and the fewest CPU seconds here and in the server."""
    here = there = float("inf")
    for _ in range(rounds):
        own, theirs = time.process_time(), server.cpu_seconds()
        table = tabulate(source, by, value="value", respondent=respondent)
        here = min(here, time.process_time() - own)
        # The server counts a connection when it is gone.
        time.sleep(0.5)
        there = min(there, server.cpu_seconds() - theirs)
    return table, here, there


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    if (programs := find_postgres()) is None:
        print(f"skipped: no PostgreSQL. Remedy: {REMEDY}")
        return
    made = microdata(options.records, DIMENSIONS, respondents=options.records * 6 // 10, spread=0.1)
    travel = Travel()
    with tempfile.TemporaryDirectory() as folder, run_server(programs) as server:
        file = str(Path(folder) / "records.parquet")
        pq.write_table(made.records, file)
        address = store(server, made.records)
        print(f"{options.records:,} records, {made.records.nbytes / 1e6:,.1f} MB in Arrow")
        for what, respondent in (("each record a respondent", None), ("respondents", "respondent")):
            plain, seconds, _ = measure(server, file, made.hierarchies, respondent, options.rounds)
            travel.rows = travel.bytes = 0
            table, here, there = measure(server, address, made.hierarchies, respondent, options.rounds)
            same = (table.units == plain.units).all() and (table.count == plain.count).all()
            print(
                f"{what}: {len(table):,} cells, {'the same' if same else 'DIFFERENT'}\n"
                f"  file       CPU {seconds:6.2f} s\n"
                f"  PostgreSQL CPU {here:6.2f} s here, {there:6.2f} s in the server; "
                f"{travel.rows // options.rounds:,} rows and "
                f"{travel.bytes / options.rounds / 1e6:,.1f} MB travel",
                flush=True,
            )


if __name__ == "__main__":
    main()
