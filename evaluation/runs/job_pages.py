"""The contents of pages of prompt searches and distillations, and the choices for new ones."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.db.models import Q, QuerySet

from annotation.models import Study
from annotation.schemes import load_scheme
from evaluation.backends.distilled_classifier import TAUGHT
from evaluation.models import Job, MetricRun
from evaluation.runs.prompts import PROMPTED
from generation.backends.registry import LANGUAGE_MODELS
from generation.models import Checkpoint, Response

WIDTH, HEIGHT, INSET = 240, 60, 4  # size and inner margin of the line of errors, in px
ENCODERS = ("transformers", "distilled")  # backends whose checkpoints are encoders with an output


class TriedPrompt(NamedTuple):
    """One prompt of a search, as its page shows it."""

    number: int
    shown: str  # key of the response that is its newest demonstration; "": none
    response: int | None  # id of this response; None: it was deleted
    mse: float | None
    mse_before: float | None
    n_scored: int
    n_failed: int
    is_kept: bool
    text: str
    problems: list[tuple[str, str]]  # key of a response, and why it has no score


class FallingLine(NamedTuple):
    """A falling line as SVG: the path through its corners, and a dot at each corner."""

    path: str
    dots: list[tuple[float, float]]
    width: int = WIDTH
    height: int = HEIGHT


def tried_prompts(job: Job) -> list[TriedPrompt]:
    """Return every prompt that a search has tried so far, in order. This takes two statements."""
    steps = list(job.steps.all())
    keys = [step.content["demonstrations"][-1] for step in steps if step.content["demonstrations"]]
    dataset = job.study.dataset_id if job.study else None
    there = Response.objects.filter(dataset=dataset, key__in=keys)
    ids = dict(there.values_list("key", "pk"))
    return [_tried(step.number, step.content, ids) for step in steps]


def _tried(number: int, content: Mapping[str, Any], ids: Mapping[str, int]) -> TriedPrompt:
    shown = content["demonstrations"][-1] if content["demonstrations"] else ""
    return TriedPrompt(
        number=number,
        shown=shown,
        response=ids.get(shown),
        mse=content["mse"],
        mse_before=content["mse_before"],
        n_scored=content["n_scored"],
        n_failed=content["n_failed"],
        is_kept=content["is_kept"],
        text=content["text"],
        problems=list(content["problems"].items()),
    )


def line_of(errors: Sequence[float | None]) -> FallingLine | None:
    """Return a line through errors in their order, with 0 at the bottom.

    Return None when there are fewer than two errors, or all are 0.
    """
    known = [error for error in errors if error is not None]
    highest = max(known, default=0.0)
    if len(known) < 2 or not highest:
        return None
    step = (WIDTH - 2 * INSET) / (len(known) - 1)
    room = HEIGHT - 2 * INSET
    dots = [
        (round(INSET + step * place, 1), round(INSET + room * (1 - error / highest), 1))
        for place, error in enumerate(known)
    ]
    return FallingLine("M" + "L".join(f"{x} {y}" for x, y in dots), dots)


# --- choices for new jobs -------------------------------------------------------------------


def slices() -> list[tuple[Study, str, list[str]]]:
    """Return the studies with votes on a question that has prompts, each with it and its setups.

    Archived studies are left out.
    """
    found = []
    voted = Study.objects.filter(arms__votes__question__in=PROMPTED, archived_at=None)
    for study in voted.distinct().order_by("name").prefetch_related("setups"):
        asked = [q.key for q in load_scheme(study.scheme).questions if q.key in PROMPTED]
        setups = sorted(setup.name for setup in study.setups.all())
        found += [(study, question, setups) for question in asked]
    return found


def language_models() -> QuerySet[Checkpoint]:
    """Return the listed models that can be asked with a prompt, by name."""
    return Checkpoint.objects.filter(backend__in=LANGUAGE_MODELS).order_by("name")


def encoders() -> QuerySet[Checkpoint]:
    """Return the listed models that a distillation may start from, by name."""
    return Checkpoint.objects.filter(backend__in=ENCODERS).order_by("name")


def teachers() -> QuerySet[MetricRun]:
    """Return the runs whose scores a distillation can teach, newest first. None is archived."""
    is_taught = Q(metric__in=TAUGHT, backend__in=LANGUAGE_MODELS, is_imported=False)
    runs = MetricRun.objects.filter(is_taught, archived_at=None).exclude(
        state=MetricRun.State.RUNNING
    )
    return runs.select_related("dataset").order_by("-pk")
