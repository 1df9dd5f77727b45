"""Distillations, as jobs: what is taught, what is left out, and the model that runs may use."""

import json

import pytest

from annotation.models import Target, Vote
from evaluation.jobs.kinds import JOBS, kind_of
from evaluation.jobs.services import JobError, JobHold, cancel_job, resume_job
from evaluation.metrics.auto_ais import AutoAisMetric
from evaluation.metrics.auto_ssa import AutoSensible
from evaluation.models import AutoScore, Job
from evaluation.runs.services.distillation import DistillationPlan, data_of, request_distillation
from generation.model_specs import ModelSpec
from generation.models import Checkpoint
from tests.evaluation.metric_runs import done
from tests.evaluation.runs.teaching import N_DIALOGS, N_RATED, rated_and_unrated, teacher_run
from tests.tiny_encoder import BAD, GOOD, tiny_encoder

pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return tiny_encoder(tmp_path_factory.mktemp("models") / "base")


@pytest.fixture(autouse=True)
def own_folder(settings, tmp_path):
    settings.DATA_DIR = tmp_path / "data"


@pytest.fixture
def dataset(tmp_path):
    return rated_and_unrated(tmp_path)


@pytest.fixture
def run(dataset, told_model):
    return teacher_run(dataset, told_model)


def plan(run, encoder, **more):
    base = ModelSpec("transformers", "tiny", str(encoder))
    usual = DistillationPlan(run, base, "small", epochs=2, learning_rate=1e-2, batch_size=8)
    return usual._replace(**more)


def work(job):
    claim = JOBS.claim(job.pk)
    assert claim is not None
    JOBS.do(claim)
    job.refresh_from_db()
    return job


def work_to_the_first_epoch(job):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(JobHold, "next_step", lambda hold: cancel_job(job, None) and hold.keep())
        patched.setattr("work.claims.LOOKS_EVERY_SECONDS", 0)
        work(job)
    assert (job.state, job.steps.count()) == (Job.State.CANCELLED, 1)
    return job


def test_no_dialog_is_on_both_sides_and_rated_ones_are_on_neither(run):
    data = data_of(run, seed=0)
    dialog_of = dict(
        AutoScore.objects.values_list("target", "target__response__example__dialog").filter(run=run)
    )
    taught = {dialog_of[target] for target, _ in data.lessons}
    held_out = {dialog_of[target] for target, _ in data.held_out}

    assert not taught & held_out
    assert len(held_out) == 5  # a tenth of 54
    assert taught | held_out == {f"d{n}" for n in range(N_RATED, N_DIALOGS)}
    assert data.n_labelled == 2 * N_RATED
    assert data_of(run, seed=0) == data
    assert data_of(run, seed=1).held_out != data.held_out


def test_a_distilled_model_is_offered_and_repeats_its_teacher(run, dataset, encoder, rosa):
    job = work(request_distillation(plan(run, encoder), rosa))

    assert job.state == Job.State.DONE, job.error
    checkpoint = Checkpoint.objects.get()
    assert (checkpoint.name, checkpoint.backend, checkpoint.added_by) == (
        "small",
        "distilled",
        rosa,
    )
    first, second = (step.content for step in job.steps.all())
    assert second["loss"] < first["loss"]
    assert job.result["held_out_mse"] == second["held_out_mse"] < job.result["mse_of_mean"] / 2

    small = done(dataset, metric=AutoSensible(), **checkpoint.spec()._asdict())
    rated = AutoScore.objects.filter(run=small, target__response__example__dialog="d0")
    is_yes = {row.target.response.key: (row.score or 0) > 0.5 for row in rated}
    assert is_yes == {f"r0-{GOOD}": True, f"r0-{BAD}": False}


def test_the_card_says_what_the_model_is_made_of(run, encoder, settings):
    job = work(request_distillation(plan(run, encoder, seed=3), None))

    folder = settings.DATA_DIR / "models" / "small"
    card = json.loads((folder / "training.json").read_text())
    assert card["run_signature"] == run.full_signature
    assert card["data"] == {
        "digest": data_of(run, seed=3).digest,
        "n_lessons": 98,  # two of each dialog: 60, without 6 rated ones and 5 held out
        "n_held_out": 10,
        "n_labelled": 2 * N_RATED,
    }
    assert (card["base"], card["seed"], card["epochs"]) == ("tiny", 3, 2)
    assert card["base_revision"] == job.result["base_revision"]
    assert [epoch["number"] for epoch in card["epochs_trained"]] == [1, 2]
    assert str(encoder) not in json.dumps(card)
    assert not (settings.DATA_DIR / "distilling" / str(job.pk)).exists()


def test_a_cancelled_distillation_goes_on_behind_its_last_epoch(run, encoder):
    job = work_to_the_first_epoch(request_distillation(plan(run, encoder), None))

    resume_job(job, None)
    work(job)

    assert (job.state, job.steps.count()) == (Job.State.DONE, 2)


def test_a_vote_between_two_epochs_changes_nothing(run, dataset, encoder, tmp_path):
    job = work_to_the_first_epoch(request_distillation(plan(run, encoder), None))
    asked = data_of(run, seed=0)
    rated = Vote.objects.filter(target__response__example__dialog="d0")[:1]
    newly = Target.objects.get(pk=asked.lessons[0][0])
    Vote.objects.filter(pk__in=list(rated.values_list("pk", flat=True))).update(target=newly)
    assert data_of(run, seed=0) != asked

    resume_job(job, None)
    work(job)

    assert (job.state, job.error, job.steps.count()) == (Job.State.DONE, "", 2)
    assert job.parameters["data"]["digest"] == asked.digest


def test_a_base_of_the_hub_stays_at_the_commit_of_the_first_epoch(
    run, tmp_path, monkeypatch, settings
):
    # What downloads leave behind, so that no network is needed.
    one, other = "1" * 40, "2" * 40
    repository = tmp_path / "hub" / "models--attest--tiny"
    for seed, commit in enumerate((one, other)):
        tiny_encoder(repository / "snapshots" / commit, seed=seed)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(one)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    listed = Checkpoint.objects.create(name="tiny", location="attest/tiny")
    on_the_hub = plan(run, None)._replace(base=listed.spec())
    job = work_to_the_first_epoch(request_distillation(on_the_hub, None))
    listed.refresh_from_db()
    assert (job.result["base_revision"], listed.revision) == (one, one)

    (repository / "refs" / "main").write_text(other)
    resume_job(job, None)
    work(job)

    assert (job.state, job.error) == (Job.State.DONE, "")
    card = json.loads((settings.DATA_DIR / "models" / "small" / "training.json").read_text())
    assert card["base_revision"] == one


def test_scores_that_changed_since_are_refused(run, encoder):
    job = request_distillation(plan(run, encoder), None)
    AutoScore.objects.filter(run=run, target__response__key__startswith="r7").delete()

    work(job)

    assert job.state == Job.State.FAILED
    assert "have changed since this was requested" in job.error


def test_what_cannot_be_distilled_is_refused_in_one_line(run, dataset, encoder):
    ais = done(dataset, metric=AutoAisMetric())
    Checkpoint.objects.create(name="taken", location="/srv/x")
    cases = [
        (plan(ais, encoder), "is of auto_ais by lexical; expected one of sensible or specific"),
        (plan(run, encoder, name="taken"), "There is already a model named taken"),
        (plan(run, encoder, name="lexical"), "Attest itself uses the name"),
    ]
    for wanted, said in cases:
        with pytest.raises(JobError, match=said):
            request_distillation(wanted, None)
    AutoScore.objects.exclude(target__response__key__startswith="r7").delete()
    with pytest.raises(JobError, match="scores of 2 responses in dialogs that no rater has rated"):
        request_distillation(plan(run, encoder), None)
    assert not Job.objects.exists()


def test_a_base_that_is_not_there_fails_without_its_path(run, encoder, tmp_path):
    lost = ModelSpec("transformers", "tiny", str(tmp_path / "lost"))

    job = work(request_distillation(plan(run, encoder)._replace(base=lost), None))

    assert job.state == Job.State.FAILED
    assert job.error == "tiny: found nothing; expected a folder with config.json"


def test_deleting_a_distillation_leaves_only_a_model_that_runs_may_use(run, encoder, settings):
    models = settings.DATA_DIR / "models"
    kept = work(request_distillation(plan(run, encoder, epochs=1), None))
    orphan = work(request_distillation(plan(run, encoder, epochs=1, name="orphan"), None))
    Checkpoint.objects.get(name="orphan").delete()

    kind_of(kept).delete(kept, None)
    kind_of(orphan).delete(orphan, None)

    assert [folder.name for folder in models.iterdir()] == ["small"]
    assert not Job.objects.exists()
