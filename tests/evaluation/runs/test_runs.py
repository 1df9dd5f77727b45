"""Runs of Auto-AIS: requesting, cancelling, resuming, deleting, and their progress."""

import math
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from annotation.models import Target
from evaluation.backends.base import Entailment
from evaluation.measures.entailment import AutoAis, Pair
from evaluation.metrics.auto_ais import AutoAisMetric
from evaluation.models import AutoScore, MetricRun, RunChunk
from evaluation.runs.plan import RunPlan, responses_of_study
from evaluation.runs.progress import run_progress, title_of
from evaluation.runs.services import runs
from evaluation.runs.services.chunks import RUN_CHUNKS
from evaluation.runs.services.runs import RunError, cancel_run, delete_run, resume_run, retry_failed
from generation.model_specs import ModelSpec
from tests.annotation.crowd import at_once
from tests.annotation.makers import material, planned
from tests.evaluation.metric_runs import mill, requested, work
from tests.evaluation.told import claimed, problems_of, rows_of
from tests.makers import audit_actions, import_rows, response_row, statements

pytestmark = pytest.mark.both

State, ChunkState = MetricRun.State, RunChunk.State


# --- asking for a run -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_responses", "sizes"),
    [(3, [3]), (12, [5, 5, 2]), (240, [12] * 20), (1030, [40] * 25 + [30])],
)
def test_a_run_is_cut_into_about_twenty_chunks_of_5_to_200(
    tmp_path, monkeypatch, n_responses, sizes
):
    monkeypatch.setattr(runs, "LARGEST_CHUNK", 40)  # 200 of 4,000 and more take long to make
    run = requested(mill(tmp_path, n_responses))

    assert [len(chunk.targets) for chunk in run.chunks.all()] == sizes
    assert run.state == State.RUNNING
    targets = [target for chunk in run.chunks.all() for target in chunk.targets]
    assert sorted(targets) == sorted(Target.objects.values_list("pk", flat=True))


def test_asking_twice_for_the_same_is_asking_once(tmp_path, rosa):
    dataset = mill(tmp_path)

    first, second = requested(dataset, rosa), requested(dataset, rosa)

    assert first == second
    assert sum(len(chunk.targets) for chunk in first.chunks.all()) == 12
    assert Target.objects.count() == 12
    assert [action for action, _ in audit_actions()].count("run.requested") == 1


@pytest.mark.both(transaction=True)
def test_asking_at_the_same_moment_is_asking_once(tmp_path):
    dataset = mill(tmp_path)

    runs = at_once(*[lambda: requested(dataset)] * 4)

    assert len(set(runs)) == 1
    targets = [target for chunk in RunChunk.objects.all() for target in chunk.targets]
    assert sorted(targets) == sorted(Target.objects.values_list("pk", flat=True))


@pytest.mark.parametrize(
    "change",
    [
        {"flavor": "v1"},
        {"window": 0},
        {"hypothesis": "min"},
        {"evidence": "golden"},
        {"threshold": 0.6},
        {"entailment_index": 1},
        {"model_name": "other"},
    ],
    ids=str,
)
def test_every_choice_that_changes_a_number_makes_a_run_of_its_own(tmp_path, change):
    dataset = mill(tmp_path, 1)

    assert requested(dataset, **change) != requested(dataset)


def test_the_signature_names_every_choice():
    model = RunPlan(
        ModelSpec("transformers", "deberta", "/x", entailment_index=2),
        AutoAisMetric(AutoAis("v1", 0, "mean")),
        "golden",
        0.25,
    )

    words = "tokens:unicode-words"
    assert RunPlan().signature == f"auto_ais|lexical|v3|localized:2|whole|shown|{words}|t:0.5|v:3"
    assert model.signature == (
        "auto_ais|deberta|v1|whole|sentences:mean|golden|entailment:2|t:0.25|v:3"
    )


def test_responses_that_came_later_are_added_to_the_run_that_is_there(tmp_path):
    dataset = mill(tmp_path, 3)
    run = work(requested(dataset))
    before = rows_of(run)
    import_rows(
        tmp_path / "more", "mill", responses=[response_row("r9", setup="s9", evidence_shown=["p1"])]
    )

    again = requested(dataset)

    assert (again, again.state) == (run, State.RUNNING)
    assert [len(chunk.targets) for chunk in again.chunks.all()] == [0, 1]
    assert work(again).state == State.DONE
    after = rows_of(run)
    assert set(after) - set(before) == {"r9"}
    assert all(after[key].pk == row.pk for key, row in before.items())


def test_a_run_over_nothing_is_done(tmp_path):
    assert requested(mill(tmp_path, 0)).state == State.DONE


def test_a_study_s_run_covers_its_setups_and_its_sample(tmp_path):
    dataset = material(tmp_path, n_examples=6)
    study = planned(dataset, n_sampled=2)
    study.setups.set(dataset.setups.filter(name="cool"))

    covered = responses_of_study(study)

    assert covered.count() == 2
    assert {response.setup.name for response in covered} == {"cool"}


def test_the_study_whose_votes_chose_a_run_is_noted_and_makes_no_other_run(tmp_path):
    dataset = mill(tmp_path)
    run = requested(dataset)

    chosen = requested(dataset, chosen_by_votes_of="pilot")
    assert (chosen, chosen.parameters["calibrated_on"]) == (run, ["pilot"])

    requested(dataset, chosen_by_votes_of="other")
    requested(dataset, chosen_by_votes_of="pilot")
    again = requested(dataset)
    assert (again, again.parameters["calibrated_on"]) == (run, ["pilot", "other"])
    tuned = requested(dataset, threshold=0.4, chosen_by_votes_of="pilot")
    assert tuned.parameters["calibrated_on"] == ["pilot"]
    # The first run was asked for before the choice; the second was made for it, until it is asked.
    assert (again.parameters["made_for"], tuned.parameters["made_for"]) == ("", "threshold choice")
    assert requested(dataset, threshold=0.4).parameters["made_for"] == ""


# --- a sample of each model's responses -----------------------------------------------------


def of_two_models(folder, name="mill"):
    """Import ten responses of model a, by two setups, and five by a setup that names no model."""
    setups = {"a0": {"model": "a", "run": 0}, "a1": {"model": "a", "run": 1}, "b": "b"}
    return mill(
        folder,
        name=name,
        responses=[
            response_row(f"{key}-{n}", setup=setup, text=f"It closed in {n}.")
            for key, setup in setups.items()
            for n in range(5)
        ],
    )


def sampled_keys(dataset, n, seed=0):
    run = requested(dataset, n_sampled=n, seed=seed)
    targets = [target for chunk in run.chunks.all() for target in chunk.targets]
    keys = Target.objects.filter(pk__in=targets).values_list("response__key", flat=True)
    return run, sorted(keys)


def test_a_sample_holds_so_many_responses_of_each_model(tmp_path):
    run, keys = sampled_keys(of_two_models(tmp_path), 3)

    assert [key[0] for key in keys] == ["a", "a", "a", "b", "b", "b"]
    assert "|shown|tokens:unicode-words|sample:3@0|t:0.5|" in run.signature
    assert (run.parameters["n_sampled"], run.parameters["seed"]) == (3, 0)
    assert work(run).state == State.DONE


def test_a_sample_is_drawn_by_its_seed_alone_and_grows_with_its_size(tmp_path):
    dataset = of_two_models(tmp_path)
    of_three = sampled_keys(dataset, 3)[1]
    other = of_two_models(tmp_path, "other")

    # Elsewhere, with other ids, the same responses are drawn.
    assert sampled_keys(other, 3)[1] == of_three
    assert set(of_three) < set(sampled_keys(dataset, 4)[1])
    assert sampled_keys(dataset, 3, seed=1)[1] != of_three
    assert len(sampled_keys(dataset, 50)[1]) == 15


# --- cancel, resume, retry, delete ----------------------------------------------------------


def test_cancelling_stops_at_the_next_batch_and_keeps_what_is_scored(tmp_path, told, rosa):
    run = requested(mill(tmp_path, 120), rosa, backend="told")  # chunks of 6: one first, then 5

    def cancel_at_the_sixth(pair: Pair) -> Entailment:
        if pair.hypothesis.endswith("1975."):
            cancel_run(run, rosa)
        return Entailment(0.9)

    told(cancel_at_the_sixth)
    work(run)

    assert run.state == State.CANCELLED
    assert len(rows_of(run)) == 1
    assert {chunk.state for chunk in run.chunks.all()} == {ChunkState.QUEUED}
    before = {row.pk for row in rows_of(run).values()}
    backend = told(0.9)

    assert resume_run(run, rosa)
    assert work(run).state == State.DONE

    assert len(backend.asked) == 119
    assert before < {row.pk for row in rows_of(run).values()}
    actions = [action for action, _ in audit_actions() if action.startswith("run.")]
    assert actions == ["run.requested", "run.cancelled", "run.resumed"]


def test_cancelling_and_resuming_twice_change_nothing(tmp_path):
    run = requested(mill(tmp_path))

    assert [cancel_run(run, None), cancel_run(run, None)] == [True, False]
    assert [resume_run(run, None), resume_run(run, None)] == [True, False]
    assert not resume_run(work(run), None)


def test_asking_for_a_cancelled_run_takes_it_up_again(tmp_path):
    dataset = mill(tmp_path)
    run = requested(dataset)
    cancel_run(run, None)

    assert requested(dataset).state == State.RUNNING


def test_failed_scores_are_retried_and_the_others_stay(tmp_path, told):
    told(lambda p: Entailment(0.6 if "1971" not in p.hypothesis else math.nan))
    run = work(requested(mill(tmp_path), backend="told"))
    before = {key: row.pk for key, row in rows_of(run).items()}
    assert set(problems_of(run)) == {"r1"}
    backend = told(0.7)

    assert retry_failed(run, None) == 1
    run.refresh_from_db()
    assert run.state == State.RUNNING
    work(run)

    assert len(backend.asked) == 1
    assert problems_of(run) == {}
    after = {key: row.pk for key, row in rows_of(run).items()}
    assert {key for key in after if after[key] != before[key]} == {"r1"}
    assert retry_failed(run, None) == 0
    run.refresh_from_db()
    assert run.state == State.DONE


def test_a_failure_that_a_worker_stores_during_a_retry_stays(tmp_path, told):
    told(lambda p: Entailment(0.6 if "1971" not in p.hypothesis else math.nan))
    run = work(requested(mill(tmp_path), backend="told"), 1)
    later = run.chunks.order_by("number")[1].targets[0]
    stored: list[int] = []

    def store_before_the_deletion(execute, sql, params, many, context):
        if sql.startswith("DELETE") and not stored:
            stored.append(later)
            AutoScore.objects.create(run=run, target_id=later, problem="came meanwhile")
        return execute(sql, params, many, context)

    with connection.execute_wrapper(store_before_the_deletion):
        assert retry_failed(run, None) == 1

    assert stored
    assert AutoScore.objects.get(run=run, target=later).problem == "came meanwhile"


def test_failed_scores_are_retried_while_the_run_goes_on(tmp_path, told):
    told(lambda p: Entailment(0.6 if "1971" not in p.hypothesis else math.nan))
    run = work(requested(mill(tmp_path), backend="told"), 1)
    told(0.7)

    assert retry_failed(run, None) == 1

    assert work(run).state == State.DONE
    assert len(rows_of(run)) == 12
    assert problems_of(run) == {}


def test_a_run_is_deleted_with_its_scores_and_not_while_it_goes_on(tmp_path, rosa):
    run = work(requested(mill(tmp_path), rosa), 1)
    with pytest.raises(RunError, match="Cancel it first"):
        delete_run(run, rosa)
    cancel_run(run, rosa)

    delete_run(run, rosa)

    assert not any(model.objects.exists() for model in (MetricRun, RunChunk, AutoScore))
    assert Target.objects.count() == 12
    assert audit_actions()[-1][0] == "run.deleted"


@pytest.mark.both(transaction=True)
def test_a_worker_whose_run_is_deleted_stops(tmp_path, told, rosa):
    run = requested(mill(tmp_path), rosa, backend="told")

    def delete(pair: Pair) -> Entailment:
        if MetricRun.objects.filter(pk=run.pk).exists():
            cancel_run(run, rosa)
            delete_run(run, rosa)
        return Entailment(0.9)

    told(delete)
    RUN_CHUNKS.do(claimed(run))

    assert not AutoScore.objects.exists()


# --- progress -------------------------------------------------------------------------------


def progress_of(run: MetricRun):
    (progress,) = run_progress(MetricRun.objects.filter(pk=run.pk))
    return progress


def test_progress_counts_what_is_scored_and_what_is_left(tmp_path):
    run = requested(mill(tmp_path))
    assert progress_of(run).state == "queued"
    assert (progress_of(run).n_targets, progress_of(run).share) == (12, 0.0)
    assert progress_of(run).responses_per_second is None

    work(run, 1)
    MetricRun.objects.update(resumed_at=timezone.now() - timedelta(seconds=10))
    AutoScore.objects.update(created_at=timezone.now())

    progress = progress_of(run)
    assert (progress.state, progress.n_scored, progress.n_left) == ("running", 5, 7)
    assert progress.share == pytest.approx(5 / 12)
    assert progress.responses_per_second == pytest.approx(0.5, rel=0.05)  # 5 in 10 seconds
    assert progress.seconds_left == pytest.approx(14, rel=0.05)  # 7 at 0.5 a second
    assert progress.n_pairs == 5


def test_the_rate_counts_from_when_the_run_was_taken_up_again(tmp_path):
    run = work(requested(mill(tmp_path)), 1)
    AutoScore.objects.update(created_at=timezone.now() - timedelta(days=1))
    cancel_run(run, None)
    resume_run(run, None)

    progress = progress_of(run)

    assert (progress.state, progress.responses_per_second) == ("queued", None)
    assert (progress.n_scored, progress.n_targets) == (5, 12)


def test_progress_adds_up_while_a_chunk_is_half_scored(tmp_path, told):
    seen = []
    run = requested(mill(tmp_path, 120), backend="told")  # chunks of 6: one first, then 5

    def look(pair: Pair) -> Entailment:
        seen.append((progress_of(run).n_scored, progress_of(run).n_targets))
        return Entailment(0.9)

    told(look)
    work(run, 1)

    assert seen == [(0, 120)] + [(1, 120)] * 5


def test_progress_of_many_runs_costs_as_many_statements_as_of_one(tmp_path):
    dataset = mill(tmp_path, 30)
    for window in range(5):
        work(requested(dataset, window=window), window)

    def everything():
        assert len(run_progress(MetricRun.objects.select_related("dataset"))) == 5

    assert len(statements(everything)) == 3
    assert len(statements(lambda: progress_of(MetricRun.objects.all()[0]))) == 4  # one to find it


def test_runs_are_called_by_their_choices(tmp_path):
    dataset = mill(tmp_path, 1)

    assert title_of(requested(dataset)) == "Auto-AIS, v3, localized K = 2"
    whole = requested(dataset, window=0, hypothesis="mean", flavor="v2")
    assert title_of(whole) == "Auto-AIS, v2, whole, sentences (mean)"
    assert title_of(MetricRun(metric="rouge", is_imported=True)) == "rouge"
