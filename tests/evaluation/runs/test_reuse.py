"""A pair that was scored before is not asked again; pairs planned together are asked once."""

import math
import time
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from evaluation.backends.base import Entailment
from evaluation.backends.registry import BACKENDS
from evaluation.measures.entailment import Pair
from evaluation.models import AutoScore, MetricRun
from evaluation.runs import scoring
from evaluation.runs.progress import run_progress
from evaluation.runs.services.chunks import RUN_CHUNKS
from tests.evaluation.metric_runs import mill, requested, work
from tests.evaluation.told import claimed, material_of, rows_of
from tests.makers import example_row, response_row, statements

pytestmark = pytest.mark.both


def progress_of(run: MetricRun):
    (progress,) = run_progress(MetricRun.objects.filter(pk=run.pk))
    return progress


def is_reused(run: MetricRun) -> dict[str, bool]:
    return {key: row.is_reused for key, row in rows_of(run).items()}


# --- scored before --------------------------------------------------------------------------


def test_another_threshold_costs_nothing(tmp_path, told):
    dataset = mill(tmp_path, 3)
    told(0.7)
    first = work(requested(dataset, backend="told"))
    backend = told(0.1)

    run = work(requested(dataset, backend="told", threshold=0.8))

    assert backend.asked == []
    assert [row.score for row in rows_of(run).values()] == [0.7] * 3
    assert set(is_reused(run).values()) == {True}
    assert set(is_reused(first).values()) == {False}
    assert (progress_of(run).n_reused, progress_of(first).n_reused) == (3, 0)


def test_the_same_material_in_another_dataset_costs_nothing_and_shows_its_own_passage(
    tmp_path, told
):
    told(0.7)
    work(requested(mill(tmp_path, 2, "mill"), backend="told", window=1))
    backend = told(0.1)
    copy = mill(tmp_path, 3, "copy")

    run = work(requested(copy, backend="told", window=1))

    # The third was not there. 'The mill closed in 1971.' and 'A flood had ruined it.'
    assert {pair.hypothesis for pair in backend.asked} == {
        "When did the mill close? It closed in 1972."
    }
    assert is_reused(run) == {"r0": True, "r1": True, "r2": False}
    passage = copy.examples.get(key="e1").passages.get()
    windows = [window for row in rows_of(run).values() for window in row.windows]
    assert {window["passage"] for window in windows} == {passage.pk}
    assert [passage.text[w["start"] : w["end"]] for w in windows] == [
        "The mill closed in 1971."
    ] * 3
    assert progress_of(run).n_pairs == 6
    assert progress_of(run).n_pairs_asked == 2


@pytest.mark.parametrize(
    "change",
    [{"flavor": "v1"}, {"window": 1}, {"hypothesis": "mean"}, {"entailment_index": 1}],
    ids=str,
)
def test_another_choice_is_another_score(tmp_path, told, change):
    dataset = mill(tmp_path, 1)
    told(0.7)
    work(requested(dataset, backend="told"))
    told(0.1)

    assert rows_of(work(requested(dataset, backend="told", **change)))["r0"].score == 0.1


def test_another_revision_of_the_model_is_asked(tmp_path, told):
    told(0.7, revision="1f2e")
    work(requested(mill(tmp_path, 1, "mill"), backend="told", model_name="nli"))
    told(0.1, revision="9a9a")

    run = work(requested(mill(tmp_path, 1, "copy"), backend="told", model_name="nli"))

    assert rows_of(run)["r0"].score == 0.1


def test_the_same_files_under_another_name_are_the_same_model(tmp_path, told):
    told(0.7, revision="1f2e")
    work(requested(mill(tmp_path, 1, "mill"), backend="told", model_name="nli"))
    backend = told(0.1, revision="1f2e")

    work(requested(mill(tmp_path, 1, "copy"), backend="told", model_name="renamed"))

    assert backend.asked == []


@pytest.mark.parametrize("change", [{"location": "http://b"}, {"served_name": "b"}], ids=str)
def test_a_server_is_known_by_its_address_and_its_model_s_name(tmp_path, told, monkeypatch, change):
    server: dict[str, Any] = {"location": "http://a", "served_name": "a", "model_name": "judge"}
    told(0.7, revision="same")
    monkeypatch.setitem(BACKENDS, "told", BACKENDS["told"]._replace(is_server=True))
    work(requested(mill(tmp_path, 1, "mill"), backend="told", **server))
    told(0.1, revision="same")
    monkeypatch.setitem(BACKENDS, "told", BACKENDS["told"]._replace(is_server=True))

    run = work(requested(mill(tmp_path, 1, "copy"), backend="told", **server | change))

    assert rows_of(run)["r0"].score == 0.1


def test_an_edited_response_and_edited_evidence_are_asked_about(tmp_path, told):
    told(0.7)
    dataset = mill(tmp_path, 2)
    work(requested(dataset, backend="told"))
    backend = told(0.1)
    dataset.responses.filter(key="r1").update(text="It never closed.")

    run = work(requested(dataset, backend="told", threshold=0.6))

    assert [row.score for row in rows_of(run).values()] == [0.7, 0.1]
    assert len(backend.asked) == 1
    dataset.passages.update(text="The mill is open.")
    assert set(is_reused(work(requested(dataset, backend="told", threshold=0.4))).values()) == {
        False
    }


def test_what_failed_is_asked_again(tmp_path, told):
    told(lambda pair: Entailment(math.nan, problem="no answer"))
    dataset = mill(tmp_path, 1)
    work(requested(dataset, backend="told"))
    told(0.7)

    row = rows_of(work(requested(dataset, backend="told", threshold=0.6)))["r0"]

    assert (row.score, row.is_reused) == (0.7, False)


def test_what_was_assumed_is_assumed_again_and_never_a_score_of_something_asked(tmp_path, told):
    told(0.7)
    dataset = material_of(tmp_path, responses=[response_row("r1", evidence_shown=[])])
    work(requested(dataset, backend="told"))

    row = rows_of(work(requested(dataset, backend="told", threshold=0.6)))["r1"]

    assert (row.is_assumed, row.is_reused, row.content_key) == (True, False, "")


def test_imported_scores_are_not_reused(tmp_path, told):
    told(0.7)
    scores = [{"response": "r0", "metric": "auto_ais", "score": "0.2"}]

    run = work(requested(mill(tmp_path, 1, scores=scores), backend="told"))

    assert rows_of(run)["r0"].score == 0.7


# --- asked together -------------------------------------------------------------------------


def test_the_same_response_twice_is_asked_about_once(tmp_path, told):
    backend = told(lambda pair: Entailment(0.7, is_truncated=True))
    texts = {"r0": "In 1971.", "r1": "In 1980.", "r2": "In 1971."}
    responses = [response_row(key, setup=key, text=text) for key, text in texts.items()]
    dataset = material_of(tmp_path, responses=responses)
    scoring.pace_of.cache_clear()

    run = work(requested(dataset, backend="told"))

    assert len(backend.asked) == 2
    assert is_reused(run) == {"r0": False, "r1": False, "r2": True}
    assert [row.n_truncated for row in rows_of(run).values()] == [1, 1, 1]
    assert len({row.digest for row in rows_of(run).values()}) == 2


def test_of_two_alike_that_fail_both_say_why(tmp_path, told):
    backend = told(lambda pair: Entailment(math.nan, problem="no answer"))
    responses = [response_row(key, setup=key, text="In 1971.") for key in ("r0", "r1")]

    run = work(requested(material_of(tmp_path, responses=responses), backend="told"))

    assert len(backend.asked) == 1
    assert {row.problem for row in rows_of(run).values()} == {"no answer"}
    assert set(is_reused(run).values()) == {False}


@pytest.mark.parametrize(
    ("seconds", "there_before"),
    [(1000.0, [0, 1, 1, 1, 1]), (0.0, [0, 1, 2, 3, 4])],
    ids=["a quick model", "a slow one"],
)
def test_a_batch_is_what_the_model_answers_between_two_commits(
    tmp_path, told, monkeypatch, seconds, there_before
):
    # One response until the speed is known, then as many as take so long: all the others, or one.
    monkeypatch.setattr(scoring, "SECONDS_BETWEEN_COMMITS", seconds)
    stored: list[int] = []

    def look(pair: Pair) -> Entailment:
        stored.append(AutoScore.objects.count())
        return Entailment(0.9)

    told(look)
    work(requested(mill(tmp_path, 5), backend="told"))

    assert stored == there_before


def _targets(run: MetricRun) -> list[int]:
    responses = run.dataset.responses.all()
    return [target for each in responses for target in each.targets.values_list("pk", flat=True)]


def test_the_longest_pairs_are_asked_first(tmp_path, told):
    backend = told()
    run = requested(mill(tmp_path, 1), backend="told", window=1, hypothesis="mean", flavor="v1")
    work(run)

    lengths = [len(pair.premise) + len(pair.hypothesis) for pair in backend.asked]
    assert lengths == sorted(lengths, reverse=True)
    assert len(set(lengths)) > 1


def test_a_chunk_costs_as_many_statements_with_five_responses_as_with_fifty(tmp_path, told):
    told()

    def costs(n_responses: int, flavor: str) -> int:
        dataset = mill(tmp_path, n_responses, f"m{n_responses}")
        run = requested(dataset, backend="told", window=1, flavor=flavor)  # nothing is reused
        run.chunks.all().delete()
        run.chunks.create(number=1, targets=_targets(run))
        claim = claimed(run)
        taken = len(statements(lambda: RUN_CHUNKS.do(claim)))
        assert len(rows_of(run)) == n_responses
        return taken

    assert costs(5, "v1") == costs(50, "v2")


def test_rates_tell_of_what_was_asked_alone(tmp_path, told):
    told()
    dataset = mill(tmp_path, 12)
    work(requested(dataset, backend="told"), 1)  # five of them
    run = requested(dataset, backend="told", threshold=0.6)
    MetricRun.objects.filter(pk=run.pk).update(resumed_at=timezone.now() - timedelta(seconds=100))

    work(run, 2)  # five that were scored before, and five more

    progress = progress_of(run)
    assert (progress.n_scored, progress.n_reused, progress.n_left) == (10, 5, 2)
    assert progress.responses_per_second == pytest.approx(0.05, rel=0.1)  # 5 in 100 seconds
    assert progress.pairs_per_second == pytest.approx(0.05, rel=0.1)
    assert progress.seconds_left == pytest.approx(40, rel=0.1)


def test_a_sign_of_life_is_given_between_two_answers(tmp_path, told, settings):
    settings.CHUNK_LEASE_SECONDS = 1
    backend = told()
    run = requested(mill(tmp_path, 2), backend="told")
    claim = claimed(run)
    kept: list[Any] = []

    def one_by_one(pairs):
        for _ in pairs:
            time.sleep(0.3)
            kept.append(run.chunks.get(pk=claim.pk).lease_until)
            yield Entailment(0.9)

    backend.entailment = one_by_one
    RUN_CHUNKS.do(claim)

    assert len(rows_of(run)) == 2
    assert kept[1] > kept[0]


def test_examples_stand_together_in_chunks(tmp_path):
    evidence = [{"id": "p1", "text": "The mill closed in 1971.", "golden": True}]
    examples = [example_row(key, evidence=evidence) for key in ("e1", "e2", "e3")]
    responses = [
        response_row(f"{example}-{setup}", example, setup=setup)
        for setup in ("s1", "s2", "s3")
        for example in ("e2", "e1", "e3")
    ]
    dataset = material_of(tmp_path, responses=responses, examples=examples)

    run = requested(dataset)

    targets = [target for chunk in run.chunks.all() for target in chunk.targets]
    of = dict(dataset.responses.values_list("targets", "example__key"))
    assert [of[target] for target in targets] == [e for e in ("e1", "e2", "e3") for _ in range(3)]
