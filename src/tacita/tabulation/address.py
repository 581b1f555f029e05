"""The address of records in a database, ``postgres://user@host:port/database?table=schema.name``.

Whatever stands before the table is libpq's own form of an address. Passwords may be in it; everything that
errors show of an address goes through :func:`mask_passwords`.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from tacita.core.errors import InputError, SpecificationError

SCHEMES = ("postgres", "postgresql")
REMEDY = "Write it as in 'postgres://user@host:5432/database?table=schema.name'."

# As a path, an address has one slash less.
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://|postgres(ql)?:/")
# Up to the last @, so that no part of a password that holds one is shown.
_USER_PASSWORD = re.compile(r"(:/+[^:@/?]*):.*@", re.DOTALL)
_SECRET = re.compile(r"pass|secret|token|options", re.IGNORECASE)


@dataclass(frozen=True)
class Address:
    """Where records are in a database.

    Attributes
    ----------
    url
        The address of the database alone, passwords included.
    schema, table
        The table or view; without a schema the database looks for it where it always does.
    place
        The whole address as errors show it, without passwords.
    passwords
        What must never be shown, as it is written and as it is meant.
    """

    url: str = field(repr=False)
    schema: str | None
    table: str
    place: str
    passwords: tuple[str, ...] = field(repr=False)

    def mask(self, message: str) -> str:
        """Return a message about the database without the passwords of its address."""
        for password in self.passwords:
            message = message.replace(password, "***")
        return message


def is_address(source: object) -> bool:
    """Return whether a source of microdata is an address, such as ``postgres://...``, and not a path."""
    return isinstance(source, str | os.PathLike) and _ADDRESS.match(str(source)) is not None


def locate(folder: Path, source: str) -> str:
    """Return where microdata are that are named from a folder: the path, or an address as it is."""
    return source if is_address(source) else os.fspath(folder / source)


def mask_passwords(address: str) -> str:
    """Return the address of a database as it may be shown."""
    shown, mark, query = _USER_PASSWORD.sub(r"\1:***@", address).partition("?")
    return shown + mark + "&".join(_mask_parameter(each) for each in query.split("&"))


def parse_address(address: str) -> Address:
    """Return the parts of the address of records in a database.

    Raises
    ------
    InputError
        It is of another database than PostgreSQL, or does not say which table to read.
    """
    place = mask_passwords(address)
    scheme, _, rest = address.partition("://")
    if scheme.lower() not in SCHEMES:
        raise InputError(
            f"addresses of databases begin with postgres://, not with {scheme}://",
            place=place,
            remedy="In Python, give tacita.tabulate an Ibis table of any other database.",
        )
    server, _, query = rest.partition("?")
    if "@" in server.partition("@")[2] or "/" in server.rpartition("@")[0]:
        remedy = "In user and password write @ as %40, / as %2F, : as %3A, ? as %3F and % as %25."
        raise InputError("the address cannot be read", place=place, remedy=remedy)
    given = [part for part in query.split("&") if part]
    named = {key: unquote(value) for key, _, value in (part.partition("=") for part in given)}
    table, schema = named.get("table", ""), named.get("schema")
    if schema is None and "." in table:
        schema, _, table = table.partition(".")
    if not table:
        raise InputError("the address does not say which table to read", place=place, remedy=REMEDY)
    kept = "&".join(part for part in given if part.partition("=")[0] not in ("schema", "table"))
    return Address(
        url=f"postgresql://{server}" + (f"?{kept}" if kept else ""),
        schema=schema,
        table=table,
        place=place,
        passwords=_find_passwords(server, given),
    )


def check_addresses(file: str | None, microdata: str | None) -> None:
    """Refuse addresses in a specification: for a file of cells, and with a password, as it would be written.

    Raises
    ------
    SpecificationError, InputError
        With the remedy.
    """
    if is_address(file):
        raise SpecificationError("a database holds records: give microdata", place="file")
    if microdata is not None and is_address(microdata) and (parsed := parse_address(microdata)).passwords:
        raise SpecificationError(
            "an address has no password here, since it is written to files",
            place=parsed.place,
            remedy="put it into the environment as PGPASSWORD, or into the file ~/.pgpass",
        )


def _mask_parameter(parameter: str) -> str:
    name, mark, value = parameter.partition("=")
    return f"{name}=***" if mark and value and _SECRET.search(name) else parameter


def _find_passwords(server: str, parameters: list[str]) -> tuple[str, ...]:
    """Return the passwords of an address, each as it is written and as it is meant, the longest first."""
    user = server.rpartition("@")[0]
    written = [user.partition(":")[2]]
    written += [value for name, _, value in (p.partition("=") for p in parameters) if _SECRET.search(name)]
    found = {text for each in written for text in (each, unquote(each)) if text}
    return tuple(sorted(found, key=len, reverse=True))
