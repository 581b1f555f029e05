"""Whose end of a connection it is: from the kernel's own list, and from lists as it would write them."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tacita.app.serving.peer import TABLES, is_ours

CLIENT, SERVER = ("127.0.0.1", 0xABCD), ("127.0.0.1", 0x1F90)
LINUX = pytest.mark.skipif(not TABLES[0].exists(), reason="the kernel's list of sockets is Linux's")
LITTLE = pytest.mark.skipif(sys.byteorder != "little", reason="written down on a little-endian machine")
NEAR, FAR = "0100007F:1F90", "0100007F:ABCD"
MAPPED = "0000000000000000FFFF0000"
OURS = os.geteuid() if hasattr(os, "geteuid") else 0
OTHER = OURS + 1


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener


def listed(folder: Path, *entries: tuple[str, str, int, int]) -> list[Path]:
    """A table with these (local, remote, user, inode)."""
    table = folder / "tcp"
    lines = [
        f"   {number}: {local} {remote} 01 00000000:00000000 00:00000000 00000000 {user:5d} 0 {inode} 1 0 20"
        for number, (local, remote, user, inode) in enumerate(entries)
    ]
    heading = (
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode"
    )
    table.write_text("\n".join([heading, *lines]) + "\n")
    return [table, folder / "tcp6"]


@LINUX
def test_a_connection_of_our_own_is_ours(listening: socket.socket) -> None:
    with socket.create_connection(listening.getsockname()) as client:
        assert is_ours(client.getsockname(), listening.getsockname())


@LINUX
@pytest.mark.skipif(OURS != 0, reason="only root can act as another user")
@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_a_connection_of_another_user_is_not(listening: socket.socket, family: socket.AddressFamily) -> None:
    nobody = 65534
    os.seteuid(nobody)
    try:
        client = socket.socket(family)
    finally:
        os.seteuid(0)
    with client, socket.socket() as own:
        host, port = listening.getsockname()
        try:
            client.connect((host if family is socket.AF_INET else f"::ffff:{host}", port))
        except OSError:
            pytest.skip("this machine has no IPv6")
        # As root the owner is the effective user; for the question itself we are root again.
        accepted, (_, client_port, *_) = listening.accept()
        with accepted:
            assert not is_ours((host, client_port), (host, port))
        own.connect((host, port))
        assert is_ours(own.getsockname(), (host, port))


@LITTLE
@pytest.mark.parametrize("prefix", ["", MAPPED])
@pytest.mark.parametrize(("user", "ours"), [(OURS, True), (0, True), (OTHER, False)])
def test_the_owner_of_the_far_end_decides(tmp_path: Path, prefix: str, user: int, ours: bool) -> None:
    tables = listed(tmp_path, (NEAR, FAR, OURS, 7), (prefix + FAR, prefix + NEAR, user, 8))
    assert is_ours(CLIENT, SERVER, tables) is ours


@LITTLE
def test_an_end_that_was_let_go_belongs_to_nobody(tmp_path: Path) -> None:
    assert not is_ours(CLIENT, SERVER, listed(tmp_path, (NEAR, FAR, OURS, 7), (FAR, NEAR, 0, 0)))
    assert not is_ours(CLIENT, SERVER, listed(tmp_path, (NEAR, FAR, OURS, 7)))


@LITTLE
def test_other_connections_do_not_matter(tmp_path: Path) -> None:
    others = (("0100007F:ABCE", NEAR, OTHER, 9), (FAR, "0100007F:1F91", OTHER, 10))
    assert is_ours(CLIENT, SERVER, listed(tmp_path, (NEAR, FAR, OURS, 7), (FAR, NEAR, OURS, 8), *others))


def test_where_nobody_can_tell_nobody_is_refused(tmp_path: Path) -> None:
    assert is_ours(CLIENT, SERVER, listed(tmp_path))
    assert is_ours(CLIENT, SERVER, [tmp_path / "missing"])
