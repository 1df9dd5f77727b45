"""The reports on a study."""

from dataclasses import replace
from functools import partial

from evaluation.reports.registry import register
from evaluation.studies.reports.cached_figures import as_on_page
from evaluation.studies.reports.study import ON_PAGE
from evaluation.studies.reports.threshold_choice import CALIBRATION

register(*(replace(kind, make=partial(as_on_page, kind)) for kind in ON_PAGE), CALIBRATION)
