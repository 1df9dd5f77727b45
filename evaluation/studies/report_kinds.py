"""The registration of the reports on a study, and of plans for one, with the chart of each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from annotation.models import Study
from evaluation.reports.figures.themes import Spec
from evaluation.reports.registry import ReportKind, register
from evaluation.studies.figures.charts import scenarios_chart, shifts_chart
from evaluation.studies.figures.comparison import comparison_chart, system_correlation_chart
from evaluation.studies.figures.few_labels import few_labels_chart
from evaluation.studies.figures.plan import plan_chart
from evaluation.studies.figures.timing import position_chart, time_chart
from evaluation.studies.rater_quality.reports import RATER_QUALITY
from evaluation.studies.reports.alternative_annotator import ALTERNATIVE_ANNOTATOR
from evaluation.studies.reports.cached_figures import as_on_page, cached_report
from evaluation.studies.reports.comparison import COMPARISON
from evaluation.studies.reports.plan import PLAN
from evaluation.studies.reports.prediction_powered import PREDICTION_POWERED
from evaluation.studies.reports.study import ON_PAGE
from evaluation.studies.reports.system_correlation import SYSTEM_CORRELATION
from evaluation.studies.reports.threshold_choice import THRESHOLD_CHOICE
from evaluation.studies.reports.transfer import TRANSFER
from evaluation.studies.reports.uniform_draw import WITH_ANY_DRAW, made_of_uniform_draw

ON_REQUEST: Sequence[ReportKind[Study, Any]] = (
    replace(PREDICTION_POWERED, figure=few_labels_chart),
    replace(COMPARISON, figure=comparison_chart),
    replace(SYSTEM_CORRELATION, figure=system_correlation_chart),
    ALTERNATIVE_ANNOTATOR,
)
FIGURES: Mapping[str, Callable[[Sequence[Any]], Spec | None]] = {
    "scenarios": scenarios_chart,
    "uncertainty": shifts_chart,
    "time": time_chart,
    "position": position_chart,
}


def _of_uniform_draw(kind: ReportKind[Study, Any]) -> ReportKind[Study, Any]:
    """Return a report that is refused where dialogs were drawn with different probabilities."""
    if kind.key in WITH_ANY_DRAW:
        return kind
    return replace(kind, make=partial(made_of_uniform_draw, kind.make))


for kind in ON_PAGE:
    on_page = replace(kind, make=partial(as_on_page, kind), figure=FIGURES.get(kind.key))
    register(_of_uniform_draw(on_page))
register(_of_uniform_draw(THRESHOLD_CHOICE), TRANSFER, replace(PLAN, figure=plan_chart))
register(RATER_QUALITY)
for asked in ON_REQUEST:
    register(_of_uniform_draw(replace(asked, make=partial(cached_report, asked))))
