"""The last figures of a study, for its pages and files. Newer ones are requested when needed."""

from zlib import crc32

from django.core.cache import cache
from django.http import HttpResponse

from annotation.models import Study
from evaluation.reports.base import Choices
from evaluation.studies.reports.cached_figures import LastFigures, stored_figures
from evaluation.studies.tasks import compute_figures

ASKED_AGAIN_AFTER = 10  # seconds between two requests to a worker; waiting pages ask more often
RETRY_SECONDS = 10


def last_figures(study: Study, choices: Choices) -> LastFigures:
    """Return the last figures. Ask a worker for newer ones if a large study's are not current."""
    stored = stored_figures(study, choices)
    if stored.is_large and not stored.is_current:
        _ask_for_figures(study, choices)
    return stored


def come_back_later() -> HttpResponse:
    """Return the answer to a request for a file whose figures are still being computed."""
    answer = HttpResponse(
        "The numbers are being computed.", status=503, content_type="text/plain; charset=utf-8"
    )
    answer["Retry-After"] = RETRY_SECONDS
    return answer


def _ask_for_figures(study: Study, choices: Choices) -> None:
    """Ask a worker to compute the figures, unless a request has asked for the same just before."""
    if cache.add(
        f"figures-asked:{study.pk}:{crc32(repr(choices).encode())}", True, ASKED_AGAIN_AFTER
    ):
        compute_figures.delay_on_commit(study.pk, choices._asdict())
