"""The runs that are candidates of one choice, and the cells that their grid lacks."""

import pytest

from evaluation.models import MetricRun
from evaluation.runs.families import families_of, grid, possible_families
from tests.evaluation.makers_of_scores import make_run
from tests.evaluation.studies.hand_made import votes
from tests.evaluation.studies.test_threshold_choice_report import candidate
from tests.makers import rated, statements

pytestmark = pytest.mark.once

LEXICAL, ADDED_WORDS = "auto_ais|lexical|shown", "auto_ais|added_words|shown"
KEYS = [f"r{n}" for n in range(6)]


@pytest.fixture
def study(tmp_path):
    """A study of six responses that v1 whole, v3 K = 2 and v3 K = 1 have scored."""
    study = rated(tmp_path, votes(**dict.fromkeys(KEYS, "yyy")))
    for flavor, window in (("v1", 0), ("v3", 2), ("v3", 1)):
        candidate(study.dataset, flavor, window, dict.fromkeys(KEYS, 0.8))
    return study


def replaced(study):
    """Let v1 be of an earlier revision of the model, K = 2 of a later; K = 1 was never opened."""
    first, second, _ = MetricRun.objects.order_by("pk")
    for run, revision in ((first, "a" * 40), (second, "b" * 40)):
        MetricRun.objects.filter(pk=run.pk).update(backend_signature="fp32", revision=revision)
    return first, second


def test_runs_of_other_models_evidence_or_precision_are_other_families(study):
    dataset = study.dataset
    make_run(dataset, signature="golden", parameters={"evidence": "golden"})
    make_run(dataset, signature="bf16", parameters={"precision": "bf16"})
    make_run(dataset, signature="deberta", model_name="deberta")
    make_run(dataset, signature="tuned", threshold=0.41)  # the same scores, cut elsewhere

    families = families_of(study)

    assert [(each.key, len(each.candidates)) for each in families] == [
        ("auto_ais|lexical|shown", 3),
        ("auto_ais|deberta|shown", 1),
        ("auto_ais|lexical|bf16|shown", 1),
        ("auto_ais|lexical|golden", 1),
    ]
    assert [each.key for each in possible_families(study, families)] == [ADDED_WORDS]


def test_a_model_that_was_replaced_is_another_family_and_only_the_current_one_grows(study):
    first, _ = replaced(study)

    families = families_of(study)
    current, earlier = families

    # The one that was opened last is called as before, so that what links to it stays right.
    assert {each.key: len(each.candidates) for each in families} == {
        LEXICAL: 2,
        f"{LEXICAL}|aaaaaaaa": 1,
    }
    assert [each.title[-8:] for each in families] == ["bbbbbbbb", "aaaaaaaa"]
    assert (current.can_grow, current.can_start) == (True, True)
    assert (earlier.can_grow, earlier.can_start) == (False, False)
    assert earlier.runs == {first.pk}
    assert [each.key for each in possible_families(study, families)] == [ADDED_WORDS]


def test_of_two_ways_to_open_the_same_files_each_has_a_key_of_its_own(study):
    replaced(study)
    MetricRun.objects.filter(revision="b" * 40).update(
        revision="a" * 40, backend_signature="bf16|v:2"
    )

    keys = [each.key for each in families_of(study)]

    assert keys == [LEXICAL, f"{LEXICAL}|aaaaaaaa|fp32"]


def test_what_an_earlier_revision_has_scored_is_taken_and_not_missing(study):
    first, _ = replaced(study)
    current = families_of(study)[0]
    [v1_whole] = grid(current, study, ("v1",), (0,))
    # A run of these choices would have the signature of the one that is there.
    MetricRun.objects.filter(pk=first.pk).update(signature=current.plan(v1_whole.metric).signature)

    states = {
        p.metric.signature_part: p.state
        for p in grid(families_of(study)[0], study, ("v1",), (0, 1))
    }

    assert states == {"v1|whole|whole": "taken", "v1|localized:1|whole": "missing"}


def test_of_runs_that_differ_in_threshold_the_one_that_scored_most_of_the_study_is_compared(study):
    first = MetricRun.objects.order_by("pk")[0]
    first.scores.filter(target__response__key__in=KEYS[2:]).delete()
    tuned = candidate(
        study.dataset, "v1", 0, dict.fromkeys(KEYS[1:], 0.8), signature="t", threshold=0.4
    )
    candidate(study.dataset, "v1", 0, dict.fromkeys(KEYS, 0.8), signature="u", state="running")

    # 2 scores, 5 scores, and 6 of one that still goes on.
    [family] = families_of(study)

    assert family.candidates[0].run == tuned
    assert len(family.runs) == 5


def test_where_no_two_runs_are_alike_no_score_is_counted(study):
    costs = statements(lambda: families_of(study))

    assert len(costs) == 1


def test_the_grid_says_what_is_missing(study):
    family = families_of(study)[0]

    places = {(p.metric.choices.flavor, p.metric.choices.window): p for p in grid(family, study)}

    assert len(places) == 12
    assert (places["v1", 0].state, places["v1", 0].n_left) == ("scored", 0)
    assert (places["v2", 3].state, places["v2", 3].n_left) == ("missing", 6)
