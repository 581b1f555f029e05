from __future__ import annotations

from collections.abc import Iterator

import pytest
from postgres_server import REMEDY, Server, find_postgres, run_server


@pytest.fixture(scope="session")
def started() -> Iterator[Server]:
    programs = find_postgres()
    if programs is None:
        pytest.skip(f"no PostgreSQL. Remedy: {REMEDY}")
    with run_server(programs) as running:
        yield running


@pytest.fixture(scope="module")
def server(started: Server) -> Iterator[Server]:
    """A PostgreSQL server, whose password the environment holds."""
    pytest.importorskip("ibis", reason="no Ibis. Remedy: pip install 'tacita[ibis]'")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PGPASSWORD", started.password)
        yield started
