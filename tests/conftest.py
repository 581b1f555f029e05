"""Hypothesis profiles: `ci` repeats the same examples on every run, `few` less, `long` finds new ones."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# A busy machine is no defect of the code: neither a deadline nor slow data generation fails a test.
settings.register_profile(
    "ci", max_examples=50, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("few", settings.get_profile("ci"), max_examples=5)
settings.register_profile(
    "long", max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("TACITA_HYPOTHESIS_PROFILE", "ci"))
