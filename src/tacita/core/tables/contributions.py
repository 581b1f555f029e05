"""The contributors of a cell: its largest contributions, in order, and who made them.

For cell ``i`` with contributions ``x_1 >= x_2 >= ...`` the first ``depth`` of them are ``values[i]``, made
by ``who[i]`` (positions in ``names``, -1 where there are fewer). A respondent counts once per cell with the
sum of their records in it. Where contributions can be negative they are ordered by and stored as absolute
values, and ``sums`` holds the sum of all absolute contributions: what a concentration rule compares with.

Contributors that are in no list may still be known to ``query``. ``beyond`` tells who there is beside those
who are known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from tacita.core.exact import Cells, Mask, Units, freeze_fields, rescale


class Beyond(Enum):
    """Contributors beside those that :attr:`Contributions.query` knows."""

    NOBODY = "nobody"
    """Everyone is known."""
    SMALLER = "smaller"
    """Each has a single leaf cell, of which contributors no smaller than they are known, as many as are
    stored per cell; and these have no other leaf cell either.
    """
    ANYONE = "anyone"
    """Nothing is known of them."""


@dataclass(frozen=True, eq=False)
class Contributions:
    """The largest contributions per cell, in the table's units.

    Attributes
    ----------
    asked
        Per contributor in ``names`` the requests for protection in the microdata, as bits: 1 for the first
        code, 2 for the second, and so on. None: the microdata have no such column.
    consented
        A mask of the contributors in ``names`` who by the microdata have consented to be recognised.
    unnamed_records
        How many records count as a contributor each, since the microdata do not say whose amounts they hold;
        0 where respondents are named, and where records themselves are counted.
    """

    values: Units
    who: Cells
    sums: Units
    names: Sequence[object] = ()
    query: Callable[[Cells], Shares] | None = None
    beyond: Beyond = Beyond.ANYONE
    asked: Cells | None = None
    consented: Mask | None = None
    unnamed_records: int = 0

    def __post_init__(self) -> None:
        freeze_fields(self, "values", "who", "sums", "asked", "consented")

    @property
    def depth(self) -> int:
        """How many of the largest contributions are known per cell."""
        return int(self.values.shape[1])

    def name(self, who: int) -> str:
        """Return the name of a contributor as it is in the data, given their position."""
        return str(self.names[who]) if len(self.names) else f"#{who}"

    def largest(self, n: int) -> Units:
        """Return the sum of the ``n`` largest contributions per cell, ``x_1 + .. + x_n``, in units."""
        return np.asarray(self.values[:, :n].sum(axis=1))

    def everyone(self) -> Cells:
        """Return the positions in ``names`` of all known contributors; without ``query`` of the largest."""
        if self.query is not None and len(self.names):
            return np.arange(len(self.names))
        return np.unique(self.who[self.who >= 0])

    def with_finer_units(self, decimals: int) -> Contributions:
        """Return the same contributions in units that are so many decimals finer."""
        if decimals == 0:
            return self
        query, factor = self.query, 10**decimals

        def ask(who: Cells) -> Shares:
            shares = self.shares_of(who)
            return Shares(shares.who, shares.cells, shares.units * factor)

        return replace(
            self,
            values=rescale(self.values, 0, decimals),
            sums=rescale(self.sums, 0, decimals),
            query=None if query is None else ask,
        )

    def without_source(self) -> Contributions:
        """Return the same contributions, looked up once and for all instead of in the microdata."""
        if self.query is None or isinstance(self.query, KnownShares):
            return self
        return replace(self, query=KnownShares(self.shares_of(self.everyone())))

    def shares_of(self, who: Cells) -> Shares:
        """Return everything that some contributors put into any cell, in units.

        Uses the microdata where they can be queried again; else the stored largest contributions.
        """
        if self.query is not None:
            return self.query(who)
        wanted = np.isin(self.who, who) & (self.who >= 0)
        cells, ranks = np.nonzero(wanted)
        return Shares(self.who[cells, ranks], cells.astype(np.int64), self.values[cells, ranks])


@dataclass(frozen=True, eq=False)
class Shadow:
    """Contributions to another variable in the same cells, by which rules judge them; it is not published.

    ``decimals`` are those of its units; ``holdings`` is None where they are not known.
    """

    name: str
    decimals: int
    contributions: Contributions
    holdings: Contributions | None = None

    def with_decimals(self, decimals: int) -> Shadow:
        """Return the same contributions counted in a finer last decimal place."""
        finer = decimals - self.decimals
        holdings = None if self.holdings is None else self.holdings.with_finer_units(finer)
        return Shadow(self.name, decimals, self.contributions.with_finer_units(finer), holdings)


@dataclass(frozen=True, eq=False)
class Shares:
    """Triples: contributor ``who[r]`` put ``units[r]`` into cell ``cells[r]``."""

    who: Cells
    cells: Cells
    units: Units


@dataclass(frozen=True, eq=False)
class KnownShares:
    """A :attr:`Contributions.query` that looks up what everyone put in: a value, which can be written to
    files.
    """

    everyone: Shares

    def __call__(self, who: Cells) -> Shares:
        wanted = np.isin(self.everyone.who, who)
        return Shares(self.everyone.who[wanted], self.everyone.cells[wanted], self.everyone.units[wanted])
