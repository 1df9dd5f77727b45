"""Distilled sensibleness: a language model's scores of unlabelled responses teach a small model.

This is step 3 of the recipe in section 7.7 of the attribution/fluency paper. The training itself is
in `evaluation.backends.distillation_training`.
"""

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from django.conf import settings
from django.db import IntegrityError, transaction

from accounts.models import User
from accounts.services import record as record_in_audit_trail
from annotation.models import Vote
from annotation.ordering import random_key
from evaluation.backends.distillation_training import Lesson, Training, TrainingRecipe
from evaluation.backends.distilled_classifier import TAUGHT
from evaluation.backends.registry import BACKENDS
from evaluation.jobs.services import JobError, JobHold, request_job
from evaluation.metrics.base import ScoreRequest
from evaluation.metrics.registry import METRICS
from evaluation.models import AutoScore, Job, MetricRun
from evaluation.runs.materials import material_of
from evaluation.runs.services.prompt_search import check_name
from generation.backends.registry import LANGUAGE_MODELS
from generation.choices.declaration import Choice
from generation.limits import LARGEST_SEED
from generation.model_specs import BackendError, ModelSpec
from generation.models import Checkpoint, Example
from generation.services.checkpoints import pin_revision

FEWEST_LESSONS = 10  # scores to learn from, at least
HELD_OUT = 0.1  # share of the dialogs that is held out
READ_TOGETHER = 2000  # targets


class DistillationPlan(NamedTuple):
    """Every choice of a distillation that changes the model that it makes."""

    run: MetricRun  # the run whose scores are taught
    base: ModelSpec  # the encoder to start from: its name, location and revision
    name: str  # the new model's name
    epochs: Annotated[int, Choice("Epochs", low=1, high=100)] = 3
    learning_rate: Annotated[
        float,
        Choice(
            "Learning rate",
            help=(
                "The highest learning rate. The rate rises to it over the first tenth of the "
                "batches, then falls to 0."
            ),
            low=1e-7,
            high=0.1,
        ),
    ] = 5e-5
    batch_size: Annotated[int, Choice("Batch size", low=1, high=1024)] = 16
    seed: Annotated[
        int,
        Choice(
            "Seed",
            help="It fixes which dialogs are held out, the order of training and the new output.",
            low=0,
            high=LARGEST_SEED,
        ),
    ] = 0


class Data(NamedTuple):
    """The scores that a model is taught with, in two parts that have no dialog in common."""

    lessons: list[tuple[int, float]]  # targets with their scores
    held_out: list[tuple[int, float]]  # likewise
    n_labelled: int  # scored responses that are left out, because raters voted on their dialogs

    @property
    def digest(self) -> str:
        """A hash of the targets and scores of both parts."""
        content = json.dumps([self.lessons, self.held_out])
        return hashlib.sha256(content.encode()).hexdigest()[:16]


def request_distillation(plan: DistillationPlan, user: User | None) -> Job:
    """Return the distillation of these choices. One that was stopped goes on.

    Raises:
        JobError: the run is not by a language model, or it still goes on, or it has too few scores,
            or the name is taken.
    """
    check_name(plan.name, BACKENDS)
    check_run(plan.run)
    if Checkpoint.objects.filter(name=plan.name).exists():
        raise JobError(f"There is already a model named {plan.name}. Choose another name.", "name")
    data = data_of(plan.run, plan.seed)
    if min(len(data.lessons), len(data.held_out)) < 1 or len(data.lessons) < FEWEST_LESSONS:
        n = len(data.lessons) + len(data.held_out)
        raise JobError(
            f"The run has scores of {n} responses in dialogs that no rater has rated; "
            f"expected {FEWEST_LESSONS} or more, of several dialogs. {data.n_labelled} are rated.",
            "run",
        )
    return request_job(
        Job.Kind.DISTILLATION,
        plan.name,
        {
            "run": plan.run.pk,
            "run_signature": plan.run.full_signature,
            "metric": plan.run.metric,
            "base": plan.base.name,
            "base_location": plan.base.location,
            "base_revision": plan.base.revision,
            "epochs": plan.epochs,
            "learning_rate": plan.learning_rate,
            "batch_size": plan.batch_size,
            "seed": plan.seed,
        },
        data={
            "lessons": [target for target, _ in data.lessons],
            "held_out": [target for target, _ in data.held_out],
            "digest": data.digest,
            "n_lessons": len(data.lessons),
            "n_held_out": len(data.held_out),
            "n_labelled": data.n_labelled,
        },
        n_total=plan.epochs,
        user=user,
    )


def check_run(run: MetricRun) -> None:
    """Refuse a run whose scores cannot be taught.

    Raises:
        JobError: no model can be taught the run's metric, or the run is not by a language model, or
            it still goes on.
    """
    if run.metric not in TAUGHT or run.backend not in LANGUAGE_MODELS:
        raise JobError(
            f"Run {run.pk} is of {run.metric} by {run.backend or 'an unknown backend'}; expected "
            "one of "
            f"{' or '.join(TAUGHT)} by a language model.",
            "run",
        )
    if run.state == MetricRun.State.RUNNING:
        raise JobError(f"Run {run.pk} is going on. Wait until it has ended, or cancel it.", "run")


def data_of(run: MetricRun, seed: int) -> Data:
    """Return a run's scores of responses in dialogs that no rater has voted on, split by dialog."""
    scored = AutoScore.objects.filter(
        run=run, score__isnull=False, is_assumed=False, target__citation=None
    )
    rows = [
        (target, float(score or 0), dialog)
        for target, score, dialog in scored.order_by("target__response__key").values_list(
            "target", "score", "target__response__example__dialog"
        )
    ]
    rated = Example.objects.filter(
        dataset=run.dataset_id,
        responses__in=Vote.objects.filter(target__response__dataset=run.dataset_id)
        .order_by()
        .values("target__response"),
    )
    labelled = set(rated.values_list("dialog", flat=True))
    unlabelled = [row for row in rows if row[2] not in labelled]
    dialogs = sorted({row[2] for row in unlabelled}, key=lambda d: random_key(seed, "held out", d))
    is_held_out = set(dialogs[: max(1, round(HELD_OUT * len(dialogs)))])
    return Data(
        [(target, score) for target, score, dialog in unlabelled if dialog not in is_held_out],
        [(target, score) for target, score, dialog in unlabelled if dialog in is_held_out],
        len(rows) - len(unlabelled),
    )


# --- the distillation itself ----------------------------------------------------------------


def distil(hold: JobHold) -> Mapping[str, Any]:
    """Train the model of a claimed job, save it, and list it for runs.

    Raises:
        BackendError: the base model cannot be used, or it is not the one of the earlier epochs.
        JobError: the run's scores were deleted or have changed, or the name is taken.
    """
    parameters = hold.job.parameters
    run = MetricRun.objects.filter(pk=parameters["run"]).first()
    asked = parameters["data"]
    data = _data_again(run, asked) if run else None
    if run is None or data is None:
        raise JobError(
            "The scores of the run have changed since this was requested. Delete this "
            "distillation and begin a new one."
        )
    recipe = TrainingRecipe(**{name: parameters[name] for name in TrainingRecipe._fields})
    base = ModelSpec(
        "transformers",
        parameters["base"],
        parameters["base_location"],
        # For a name on the hub, this is the newest commit at the time when the first epoch began.
        parameters["base_revision"] or hold.job.result.get("base_revision", ""),
    )
    training = Training(
        base, recipe, _lessons(run, data.lessons), _lessons(run, data.held_out), _state(hold.job.pk)
    )
    earlier = hold.job.result.get("base_revision", training.base_revision)
    if earlier != training.base_revision:
        raise BackendError(
            f"{base.name}: this distillation was started with revision {earlier}, but the model "
            f"here is now revision {training.base_revision}. Put the earlier model back, or start "
            "a new distillation."
        )
    hold.note(base_revision=training.base_revision, mse_of_mean=training.mse_of_mean())
    pin_revision(base.name, training.base_revision)
    epochs = []
    for epoch in training.epochs(hold.keep):
        epochs.append(epoch._asdict())
        hold.store(epoch.number, epoch._asdict())
        if epoch.number < recipe.epochs:
            hold.next_step()
    card = {
        "name": hold.job.name,
        **recipe._asdict(),
        "base": base.name,
        "base_revision": training.base_revision,
        "run_signature": parameters["run_signature"],
        "data": {name: asked[name] for name in asked if name not in ("lessons", "held_out")},
        "n_left_out": training.n_left_out,
        "mse_of_mean": training.mse_of_mean(),
        "epochs_trained": epochs,
        "attest": settings.VERSION,
    }
    folder = models_folder() / hold.job.name
    hold.keep()
    training.save(folder, card)
    _offer(hold.job, folder)
    training.forget()
    return {
        "checkpoint": hold.job.name,
        "n_left_out": training.n_left_out,
        "held_out_mse": epochs[-1]["held_out_mse"],
    }


def _data_again(run: MetricRun, asked: Mapping[str, Any]) -> Data | None:
    """Return the data that was requested, even if raters have voted on some of it since.

    Return None when a score was deleted or has changed.
    """
    wanted = [*asked["lessons"], *asked["held_out"]]
    scores: dict[int, float] = {}
    for start in range(0, len(wanted), READ_TOGETHER):
        rows = AutoScore.objects.filter(run=run, target__in=wanted[start : start + READ_TOGETHER])
        found = rows.filter(score__isnull=False).values_list("target", "score")
        scores |= {target: float(score or 0) for target, score in found}
    if len(scores) < len(wanted):
        return None
    lessons = [(target, scores[target]) for target in asked["lessons"]]
    held_out = [(target, scores[target]) for target in asked["held_out"]]
    data = Data(lessons, held_out, asked["n_labelled"])
    return data if data.digest == asked["digest"] else None


def forget_files(pk: int, name: str) -> None:
    """Delete the files of a distillation, but keep its model if it is listed for runs."""
    shutil.rmtree(_state(pk), ignore_errors=True)
    if not Checkpoint.objects.filter(name=name).exists():
        shutil.rmtree(models_folder() / name, ignore_errors=True)


def models_folder() -> Path:
    """Return the folder of models that were made here. Workers on several machines share it."""
    folder = Path(settings.DATA_DIR) / "models"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _state(pk: int) -> Path:
    return Path(settings.DATA_DIR) / "distilling" / str(pk)


def _lessons(run: MetricRun, scores: Sequence[tuple[int, float]]) -> list[Lesson]:
    """Return the replies that a run has scored, in the form in which its metric asks about them."""
    metric = METRICS[run.metric].made({})
    score_of = dict(scores)
    found: list[Lesson] = []
    targets = list(score_of)
    for start in range(0, len(targets), READ_TOGETHER):
        some = targets[start : start + READ_TOGETHER]
        rows = AutoScore.objects.filter(run=run, target__in=some)
        response_of = dict(rows.values_list("target", "target__response"))
        for material in material_of(response_of, some, run):
            asked = metric.asked(material)
            if isinstance(asked, ScoreRequest):
                reply: Any = asked.asks[0]
                found.append(Lesson(reply, score_of[material.target]))
    return found


@transaction.atomic
def _offer(job: Job, folder: Path) -> None:
    """List the model among those that runs may use.

    Raises:
        JobError: another model has this name.
    """
    try:
        with transaction.atomic():
            _, is_new = Checkpoint.objects.get_or_create(
                name=job.name,
                backend="distilled",
                location=str(folder),
                defaults={"added_by": job.requested_by},
            )
    except IntegrityError as error:
        raise JobError(
            f"There is already a model named {job.name}. Choose another name.", "name"
        ) from error
    if is_new:
        record_in_audit_trail(
            job.requested_by, "checkpoint.added", job.name, location=str(folder), job=job.pk
        )
