"""How time to a first safe release, loss and memory grow with the table, from 5,000 to 1,000,000 cells.

    python benchmarks/growth.py [--limit 600] [--picture docs/images/growth.svg] [--no-audit]

Tables with two hierarchies of three levels, one leaf cell in a hundred sensitive, measured as in
``scale.py``. The exponent of the growth is the slope of a straight line through the logarithms.
"""

from __future__ import annotations

import argparse
import multiprocessing
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from scale import Case, Generated, Result, measured

SHAPES = ((66, 54), (100, 75), (145, 115), (320, 256), (560, 450), (1000, 800))
LEFT, RIGHT, TOP, BOTTOM = 70, 620, 40, 300
"""Edges of the picture's axes."""
WIDTHS, HEIGHTS = (4e3, 1.2e6), (0.1, 1e4)
"""Least and largest cells, and seconds or megabytes, on the axes."""
COLOURS = {"first release, CPU s": "#1d4ed8", "memory, MB": "#b45309"}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--limit", type=float, default=600.0, help="CPU seconds per table")
    parser.add_argument("--picture", type=Path, help="file for the picture, as SVG")
    parser.add_argument("--no-audit", action="store_true", help="leave out the audits")
    options = parser.parse_args()
    heads = (f"{'cells':>9s} {'sensitive':>9s} {'first s':>8s}", f"{'CPU s':>7s} {'loss':>16s}")
    print(*heads, f"{'gap':>6s} {'GB':>5s}  verdict")
    found = list[Result]()
    for shape in SHAPES:
        case = Case(Generated(shape, 0.01, (3, 3)), 600)
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
            one = process.submit(measured, case, options.limit, Path(), not options.no_audit).result()
        assert one is not None
        if one.first is None or one.outcome is None:
            print(f"{one.cells:9,d} {one.sensitive:9,d} no release after {one.seconds:.0f} s", flush=True)
            continue
        found.append(one)
        print(
            f"{one.cells:9,d} {one.sensitive:9,d} {one.first:8.1f} {one.seconds:7.1f} "
            f"{one.outcome.loss:16,.0f} {one.outcome.gap:6.1%} {one.gigabytes:5.2f}  {one.verdict}",
            flush=True,
        )
    exponent = fit_exponent(found)
    print(f"time to the first release grows as n^{exponent:.2f}")
    if options.picture is not None:
        options.picture.write_text(draw(found, exponent), encoding="utf-8")


def fit_exponent(results: Sequence[Result]) -> float:
    """Return the exponent with which the time to a first release grows with the cells."""
    cells, first = ([getattr(one, name) for one in results] for name in ("cells", "first"))
    return float(np.polyfit(np.log(cells), np.log(first), 1)[0])


def draw(results: Sequence[Result], exponent: float) -> str:
    """Return a picture, as SVG, of first release and memory by cells, both axes logarithmic."""
    series = {
        "first release, CPU s": [one.first or 0.0 for one in results],
        "memory, MB": [1024.0 * one.gigabytes for one in results],
    }
    parts = []
    for power in range(-1, 5):
        y = _place(10.0**power, *HEIGHTS, BOTTOM, TOP)
        parts.append(f'<line x1="{LEFT}" x2="{RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#e5e7eb"/>')
        parts.append(
            f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{10.0**power:,.{max(0, -power)}f}</text>'
        )
    for cells in (5_000, 20_000, 100_000, 300_000, 1_000_000):
        x = _place(cells, *WIDTHS, LEFT, RIGHT)
        parts.append(f'<text x="{x:.1f}" y="{BOTTOM + 20}" text-anchor="middle">{cells:,}</text>')
    for number, (name, values) in enumerate(series.items()):
        points = [
            (_place(one.cells, *WIDTHS, LEFT, RIGHT), _place(value, *HEIGHTS, BOTTOM, TOP))
            for one, value in zip(results, values, strict=True)
        ]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{COLOURS[name]}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{COLOURS[name]}"/>' for x, y in points]
        parts.append(
            f'<text x="{LEFT + 10}" y="{TOP + 20 + 16 * number}" fill="{COLOURS[name]}">{name}</text>'
        )
    title = f"First release and memory by cells; the first release takes n^{exponent:.2f}"
    parts.append(f'<text x="{(LEFT + RIGHT) / 2}" y="{BOTTOM + 40}" text-anchor="middle">cells</text>')
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 660 350" font-family="sans-serif" '
        f'font-size="12" role="img" aria-label="{title}"><rect width="660" height="350" fill="#fff"/>'
        f"{''.join(parts)}</svg>\n"
    )


def _place(value: float, least: float, most: float, start: float, end: float) -> float:
    """Return where a value lies on a logarithmic axis."""
    share = np.log(max(value, least) / least) / np.log(most / least)
    return float(start + share * (end - start))


if __name__ == "__main__":
    main()
