"""A PostgreSQL server of its own for tests: in a temporary folder, on a socket in it, and gone afterwards."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from system_packages import list_installations, run_quietly

if TYPE_CHECKING:
    import pyarrow as pa

REMEDY = "install PostgreSQL (Debian: apt-get install postgresql)"
USER = "office"
TYPES = {
    "string": "text",
    "bool": "boolean",
    "int16": "smallint",
    "int64": "bigint",
    "float": "real",
    "double": "double precision",
    "decimal128(12, 3)": "numeric(12, 3)",
    "date32[day]": "date",
    "timestamp[us]": "timestamp",
}
"""Types of the server, by those of Arrow."""
PATIENCE = 30
"""Seconds until the server must answer."""


@dataclass(frozen=True)
class Server:
    """A running server: the folder of its socket, the password of its only user, its process."""

    folder: Path
    password: str
    process: subprocess.Popen[bytes]

    def cpu_seconds(self) -> float:
        """CPU seconds of the server and of all connections that are closed, on Linux."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")

    def address(self, table: str, password: str | None = None) -> str:
        """The address of a table; with the password in it if one is given."""
        user = USER if password is None else f"{USER}:{quote(password, safe='')}"
        return f"postgres://{user}@/postgres?host={quote(str(self.folder), safe='')}&table={table}"

    def connect(self) -> Any:
        """A connection of psycopg, each statement its own transaction."""
        import psycopg

        return psycopg.connect(
            host=str(self.folder), user=USER, password=self.password, dbname="postgres", autocommit=True
        )

    def store(self, records: pa.Table, name: str = "records") -> str:
        """Put records into a table, the last first, and return its address."""
        from psycopg import sql

        columns = sql.SQL(", ").join(
            sql.SQL("{} {}").format(sql.Identifier(field.name), sql.SQL(TYPES[str(field.type)]))
            for field in records.schema
        )
        table = sql.Identifier(name)
        with self.connect() as connection, connection.cursor() as cursor:
            cursor.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(table))
            cursor.execute(sql.SQL("CREATE TABLE {} ({})").format(table, columns))
            with cursor.copy(sql.SQL("COPY {} FROM STDIN").format(table)) as copy:
                for row in reversed(records.to_pylist()):
                    copy.write_row(list(row.values()))
        return self.address(name)


def find_postgres() -> Path | None:
    """The folder of the server's programs: on the path, else the newest that Debian has installed."""
    if initdb := shutil.which("initdb"):
        return Path(initdb).parent
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    return found[-1].parent if found else None


def get_postgres() -> Path | None:
    """Install it where that can be done without asking anybody."""
    for command in list_installations("postgresql"):
        if find_postgres() is None:
            run_quietly(command)
    return find_postgres()


@contextmanager
def run_server(programs: Path) -> Iterator[Server]:
    """A server that runs as another user where the tests run as root, which it refuses."""
    # Not pytest's folder, into which other users cannot look.
    folder = Path(tempfile.mkdtemp(prefix="tacita-postgres-"))
    user = pwd.getpwnam("nobody") if os.geteuid() == 0 else pwd.getpwuid(os.geteuid())
    identity = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []} if os.geteuid() == 0 else {}
    password = f"pass/word@{secrets.token_hex(8)}"
    (folder / "password").write_text(password)
    for path in (folder, folder / "password"):
        os.chown(path, user.pw_uid, user.pw_gid)
    made = [programs / "initdb", "-D", folder / "data", "-U", USER, "--pwfile", folder / "password"]
    how = ["--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync"]
    running: subprocess.Popen[bytes] | None = None
    try:
        subprocess.run([*made, *how], cwd=folder, check=True, capture_output=True, **identity)
        settings = ["listen_addresses=", "fsync=off", "full_page_writes=off", "log_destination=stderr"]
        with (folder / "log").open("wb") as log:
            running = subprocess.Popen(
                [programs / "postgres", "-D", folder / "data", "-k", folder]
                + [part for setting in settings for part in ("-c", setting)],
                cwd=folder,
                stdout=log,
                stderr=log,
                **identity,
            )
        _wait(folder, running)
        yield Server(folder, password, running)
    finally:
        if running is not None:
            running.send_signal(signal.SIGINT)
            running.wait(PATIENCE)
        shutil.rmtree(folder)


def _wait(folder: Path, running: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + PATIENCE
    while "ready to accept connections" not in (said := (folder / "log").read_text()):
        if running.poll() is not None or time.monotonic() > end:
            raise RuntimeError(f"the server does not start: {said}")
        time.sleep(0.05)
