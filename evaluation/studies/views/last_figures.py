"""Figures of a study for whoever looks: the last ones, with newer ones asked for where it takes."""

from zlib import crc32

from django.core.cache import cache
from django.http import HttpResponse

from annotation.models import Study
from evaluation.reports.base import Choices
from evaluation.studies.reports.cached_figures import LastFigures, stored_figures
from evaluation.studies.tasks import compute_figures

ASKED_AGAIN_AFTER = 10  # seconds: pages that wait ask every two
RETRY_SECONDS = 10


def last_figures(study: Study, choices: Choices) -> LastFigures:
    """Return the last figures; a worker makes those of a large study when they are not current."""
    stored = stored_figures(study, choices)
    if stored.is_large and not stored.is_current:
        _ask_for_figures(study, choices)
    return stored


def come_back_later() -> HttpResponse:
    """Return the answer to whoever wants a file of figures that are still being computed."""
    answer = HttpResponse(
        "The figures are being computed.", status=503, content_type="text/plain; charset=utf-8"
    )
    answer["Retry-After"] = RETRY_SECONDS
    return answer


def _ask_for_figures(study: Study, choices: Choices) -> None:
    """Have a worker compute the figures, unless somebody asked just now."""
    if cache.add(
        f"figures-asked:{study.pk}:{crc32(repr(choices).encode())}", True, ASKED_AGAIN_AFTER
    ):
        compute_figures.delay_on_commit(study.pk, choices._asdict())
