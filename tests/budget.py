"""How many examples a property draws: a share of what the profile of `tests/conftest.py` asks for."""

from __future__ import annotations

from hypothesis import settings

USUAL = 50
"""Examples to which the numbers in tests refer; the profile of every day draws three tenths of them."""


def examples(usual: int) -> settings:
    """Return settings for ``usual`` examples where others draw 50, in proportion to the profile."""
    return settings(max_examples=max(1, usual * settings.default.max_examples // USUAL))
