"""The worklist: which targets raters and an auto-metric disagree on, in which order."""

import pytest

from annotation.models import GoldAnswer, Rater, Target, Vote
from annotation.schemes import load_scheme
from evaluation.models import AutoScore
from evaluation.reports.base import Choices
from evaluation.studies.disagreements.worklist import disagreements, worklist
from tests.evaluation.makers_of_scores import (
    disputed,
    make_run,
    make_score,
    make_scores,
)
from tests.makers import (
    rated,
    scheme_of,
    vote_row,
)

pytestmark = pytest.mark.once


def found_in(study, run, question="attributable", **choices):
    """Return key and kind of each disagreement, in order."""
    asked = load_scheme(study.scheme).question(question)
    assert asked is not None
    keys = dict(Target.objects.values_list("pk", "response__key"))
    items = disagreements(study, run, asked, Choices(**choices))
    return [(keys[item.target], item.kind) for item in items]


def test_a_disagreement_is_missed_or_a_false_alarm_and_the_closest_votes_come_first(tmp_path):
    study, run = disputed(tmp_path)

    # Votes apart: 1 (3:2), 3 (1:4), 5 (5:0). r-same agrees, r-even is tied.
    assert found_in(study, run) == [
        ("r-miss", "missed"),
        ("r-false", "false alarm"),
        ("r-far", "missed"),
    ]
    first = disagreements(study, run, load_scheme(study.scheme).questions[1], Choices())[0]
    assert (first.n_yes, first.n_no, first.score) == (3, 2, 0.3)
    assert first.margin == pytest.approx(0.3 - 0.5)


def test_of_equally_close_votes_the_widest_margin_comes_first_then_the_key(tmp_path):
    votes = {key: {"attributable": ["yes", "yes", "no"]} for key in ("c", "b", "a", "d")}
    study = rated(tmp_path, votes)
    run = make_run(study.dataset)
    make_scores(run, {"a": 0.4, "b": 0.4, "c": 0.1, "d": 0.5})

    assert [key for key, _ in found_in(study, run)] == ["c", "a", "b", "d"]


def test_a_score_on_the_threshold_is_a_no(tmp_path):
    study = rated(tmp_path, {"a": {"q": ["yes"]}, "b": {"q": ["no"]}})
    run = make_run(study.dataset, threshold=0.7)
    make_scores(run, {"a": 0.7, "b": 0.7})

    assert found_in(study, run, "q") == [("a", "missed")]


def test_what_is_not_compared_is_counted_by_its_reason(tmp_path):
    votes = {key: {"q": ["yes", "yes"]} for key in ("failed", "assumed", "unscored", "fine")}
    study = rated(tmp_path, votes | {"even": {"q": ["yes", "no"]}})
    run = make_run(study.dataset)
    make_score(run, "failed", None, problem="the response is empty")
    make_score(run, "assumed", 0.0, is_assumed=True)
    make_scores(run, {"fine": 0.2, "even": 0.2})

    found = worklist(study, run, load_scheme(study.scheme).questions[0], Choices())

    assert len(found.items) == found.n_compared == 1
    assert found.left_out == {"failed": 1, "assumed": 1, "unscored": 1, "tied": 1}


def test_flagged_responses_and_gold_items_are_no_disagreements(tmp_path):
    votes = {key: {"q": ["yes", "yes", "yes"]} for key in ("flagged", "gold", "fine")}
    flags = [{"response": "flagged", "rater": rater} for rater in ("w1", "w2")]
    study = rated(tmp_path, votes, flags=flags)
    gold = Target.objects.get(response__key="gold")
    GoldAnswer.objects.create(study=study, target=gold, question="q", answer=0)
    run = make_run(study.dataset)
    make_scores(run, dict.fromkeys(votes, 0.1))

    assert found_in(study, run, "q") == [("fine", "missed")]


def test_surplus_votes_and_excluded_raters_do_not_make_the_majority(tmp_path):
    study = rated(tmp_path, {"a": {"q": ["yes", "no", "no"]}})
    run = make_run(study.dataset)
    make_scores(run, {"a": 0.1})
    assert found_in(study, run, "q") == []

    Rater.objects.filter(code="w2").update(is_excluded=True)
    Vote.objects.filter(rater__code="w3").update(is_surplus=True)

    assert found_in(study, run, "q") == [("a", "missed")]
    # Of one yes and one no there is no majority.
    assert found_in(study, run, "q", with_excluded=True) == []


def test_the_truth_is_the_chosen_arm_and_the_setup_the_chosen_one(tmp_path):
    merged = [vote_row("a", f"m{n}", "no", "q", arm="merged") for n in (1, 2)]
    votes = {"a": {"q": ["yes", "yes"]}, "b": {"q": ["yes", "yes"]}}
    study = rated(tmp_path, votes, setups={"b": "warm"}, more_votes=merged)
    run = make_run(study.dataset)
    make_scores(run, {"a": 0.1, "b": 0.1})

    assert found_in(study, run, "q") == [("a", "missed"), ("b", "missed")]
    assert found_in(study, run, "q", truth="merged") == []
    assert found_in(study, run, "q", setup="warm") == [("b", "missed")]


def test_an_ordinal_question_is_cut_in_the_middle_of_its_scale(tmp_path):
    votes = {
        "high": {"q": ["3", "4", "1"]},
        "low": {"q": ["1", "2", "4"]},
        "mid": {"q": ["2", "3"]},
    }
    study = rated(tmp_path, votes, scheme=scheme_of({"q": {"ordinal": [1, 4]}}))
    run = make_run(study.dataset)
    make_scores(run, {"high": 0.1, "low": 0.9, "mid": 0.1})

    # Medians 3, 2 and 2.5; the cut is 2.5.
    assert found_in(study, run, "q") == [("high", "missed"), ("low", "false alarm")]


def test_citations_are_targets_of_their_own(tmp_path):
    votes = [vote_row("a", rater, "yes", "q", citation=n) for rater in ("x", "y") for n in (1, 2)]
    study = rated(tmp_path, {"a": {"q": []}}, more_votes=votes, scheme=scheme_of({"q": "yes_no"}))
    run = make_run(study.dataset)
    for target, number in Target.objects.values_list("pk", "citation__number"):
        if number:
            AutoScore.objects.create(run=run, target_id=target, score=0.1 * number)

    items = disagreements(study, run, load_scheme(study.scheme).questions[0], Choices())

    numbers = dict(Target.objects.values_list("pk", "citation__number"))
    assert [numbers[item.target] for item in items] == [1, 2]
