"""Whose process is at the other end of a loopback connection?

A loopback port is open to every user of the machine. Tokens and cookies can leak to them: the address that a
browser is started with is in the list of processes, and browsers send cookies to every port of a host. Linux
tells the owner of each end of a connection, so there a leaked secret is of no use to another user.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

Endpoint = tuple[str, int]

TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
"""The kernel's connections, one per line."""
ROOT = 0


def is_ours(client: Endpoint, server: Endpoint, tables: Sequence[Path] = TABLES) -> bool:
    """Return whether the browser's end of a connection is held by a process of our user, or of root.

    Root could read our memory anyway, and carries connections into containers and virtual machines. Where the
    kernel does not list even our own end (other systems than Linux, some sandboxes), nobody can tell, and
    token and cookie decide alone.
    """
    if not hasattr(os, "geteuid"):
        return True
    near, far = _format_address(server), _format_address(client)
    seen, users = False, set()
    for local, remote, user, inode in _list_connections(tables):
        seen = seen or (local in near and remote in far)
        # An end without inode was closed by its process: nobody owns it any more.
        if local in far and remote in near and inode:
            users.add(user)
    return not seen or (bool(users) and users <= {os.geteuid(), ROOT})


def _list_connections(tables: Sequence[Path]) -> Iterator[tuple[str, str, int, int]]:
    """Yield local end, remote end, user and inode of each TCP connection, to tell whose browser it is."""
    for table in tables:
        try:
            lines = table.read_text(encoding="ascii").splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            parts = line.split()
            yield parts[1], parts[2], int(parts[7]), int(parts[9])


def _format_address(end: Endpoint) -> set[str]:
    """Return how the kernel's lists of connections write the address of the browser or server: an IPv4
    address in the machine's byte order, alone or within an IPv6 address.
    """
    address, marker = (
        f"{int.from_bytes(part, sys.byteorder):08X}" for part in (socket.inet_aton(end[0]), b"\0\0\xff\xff")
    )
    return {f"{address}:{end[1]:04X}", f"{0:016X}{marker}{address}:{end[1]:04X}"}
