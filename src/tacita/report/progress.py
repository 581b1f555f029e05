"""What a run tells on its way, in words."""

from __future__ import annotations

from tacita.core.outcome import gap_between
from tacita.core.run import Event


def known_so_far(event: Event) -> str:
    """``loss 120, bound 100, gap 16.67 %``, as far as it is known."""
    told = []
    if event.incumbent is not None:
        told.append(f"loss {event.incumbent:,.6g}")
    if event.bound is not None:
        told.append(f"bound {event.bound:,.6g}")
    if event.incumbent is not None and event.bound is not None:
        told.append(f"gap {gap_between(event.incumbent, event.bound):.2%}")
    return ", ".join(told)
