"""How many examples a property draws: a share of what the profile of `tests/conftest.py` asks for."""

from __future__ import annotations

from hypothesis import settings

USUAL = 50
"""Examples per property in the profile of every day."""


def examples(usual: int) -> settings:
    """Return settings for ``usual`` examples every day, and in proportion in longer profiles."""
    return settings(max_examples=max(1, usual * settings.default.max_examples // USUAL))
