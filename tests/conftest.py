"""Hypothesis profiles: `ci` repeats the same examples on every run, `few` less, `long` finds new ones."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import tempfile

from hypothesis import HealthCheck, settings

# A busy machine is no defect of the code: neither a deadline nor slow data generation fails a test.
settings.register_profile(
    "ci", max_examples=10, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("few", settings.get_profile("ci"), max_examples=5)
settings.register_profile(
    "long", max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("TACITA_HYPOTHESIS_PROFILE", "ci"))

# A runner in the background ignores Ctrl-C, and so would the code that tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# What servers keep of recent work is kept for nobody.
os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="tacita-tests-state-")
atexit.register(shutil.rmtree, os.environ["XDG_STATE_HOME"], ignore_errors=True)
