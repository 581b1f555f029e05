"""The plot of risk against information lost: labels that can be read, axes that end where numbers do."""

from __future__ import annotations

from tacita.app.screens.compare.risk_plot import _make_options, label_points
from tacita.app.screens.compare.run_measures import measure_run
from tacita.app.work.job import Job
from tacita.app.work.open_case import open_case
from tacita.examples import example


def test_points_at_one_place_share_a_label() -> None:
    drawn = {3: (12.1, 0.0347), 4: (12.1, 0.0347), 10: (12.1, 1.0), 11: (12.4, 0.04), 6: (89.4, 1.0)}
    assert label_points(drawn, (2.7, 0.06)) == {3: "3, 4, 11", 4: "", 10: "10", 11: "", 6: "6"}


def test_the_axis_of_percents_ends_at_all_cells() -> None:
    case = open_case(example("nchs"), "nchs")
    jobs = [Job(number, case, "suppression", {}) for number in (1, 2)]
    for job in jobs:
        job.carry_out()
    points = {job.number: {**measure_run(job), "percent": 97.0} for job in jobs}
    options = _make_options(jobs, points, "percent")
    assert options["xAxis"]["max"] == 100
    assert [point["name"] for point in options["series"][0]["data"]] == ["1, 2", ""]
    assert "max" not in _make_options(jobs, points, "l1")["xAxis"]
