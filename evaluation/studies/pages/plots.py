"""The charts of a study's page: their specifications, made from the figures of the study."""

import hashlib
from collections.abc import Sequence
from typing import Any

from django.core.cache import cache

from evaluation.measures.ssa import SSA
from evaluation.reports.code_version import CODE_VERSION
from evaluation.reports.figures.themes import Spec, page_themes
from evaluation.studies.figures.charts import (
    accuracy_chart,
    calibration_chart,
    roc_chart,
    scenarios_chart,
    shifts_chart,
)
from evaluation.studies.pages.auto_table import AutoTable
from evaluation.studies.reports.scenarios import without_replicate
from evaluation.studies.reports.study import Figures

CHARTS = ("answer", "scenarios", "shifts", "accuracy", "roc", "calibration")
KEPT_SECONDS = 24 * 3600


def page_plots(figures: Figures, auto: AutoTable, names: Sequence[str]) -> dict[str, Any]:
    """Return the specifications of charts that have something to draw, and their themes.

    They are cached, because building them takes longer than the rest of the page.

    Args:
        figures: the figures of the study.
        auto: the table of metrics, for the charts of a chosen run.
        names: the charts of the page, of `CHARTS`.
    """
    run = auto.chosen.of_run.run if auto.chosen else None
    signatures = [figures.scenarios.signature, figures.agreement.signature]
    key = repr((CODE_VERSION, figures.computed_at, signatures, auto.question, run, names))
    plots = cache.get_or_set(
        f"plots:{hashlib.sha256(key.encode()).hexdigest()}",
        lambda: _page_plots(figures, auto, names),
        KEPT_SECONDS,
    )
    assert isinstance(plots, dict)
    return plots


def _page_plots(figures: Figures, auto: AutoTable, names: Sequence[str]) -> dict[str, Any]:
    drawn = {name: chart(name, figures, auto, on_page=True) for name in names}
    charts = {name: spec for name, spec in drawn.items() if spec}
    return {"charts": charts, "themes": page_themes() if charts else {}}


def chart(name: str, figures: Figures, auto: AutoTable, *, on_page: bool = False) -> Spec | None:
    """Return the specification of one of `CHARTS`, or None when there is nothing to draw."""
    if name == "answer":
        main = figures.overview.main
        rows = without_replicate(figures.scenarios.rows)
        shown = [row for row in rows if row.question in (*main, SSA)]
        return scenarios_chart(shown, on_page=on_page)
    if name == "scenarios":
        return scenarios_chart(figures.scenarios.rows, on_page=on_page)
    if name == "shifts":
        return shifts_chart(figures.uncertainty.rows)
    if auto.chosen is None:
        return None
    if name == "accuracy":
        return accuracy_chart([line.row for line in auto.rows], auto.chosen, beside_table=on_page)
    points = auto.curve.get(name)
    if not points:
        return None
    return roc_chart(points, auto.chosen) if name == "roc" else calibration_chart(points)
