"""Table 6: what two raters say of sentence-citation pairs, against the automatic metric."""

import pytest

from annotation.models import Study, Vote
from annotation.planning import plan_units
from annotation.services.alignment_studies import PairDraw, request_alignment_study
from annotation.services.studies import StudyError, extend_study, open_study
from evaluation.graphs.experiments.reports.human_alignment import human_alignment_report
from generation.models import Citation
from tests.annotation.makers import rater_users, raters_of, researcher
from tests.evaluation.hand_rated import pairs_of, rated

pytestmark = pytest.mark.once


def keys(study: Study) -> set[str]:
    citations = {c for unit in plan_units(study).units for _, c in unit.targets if c}
    return set(Citation.objects.filter(pk__in=citations).values_list("response__key", flat=True))


def test_a_larger_sample_of_pairs_of_each_model_contains_the_smaller(tmp_path):
    dataset = pairs_of(tmp_path, models=("one", "two"))
    few = keys(request_alignment_study(dataset, "few", draw=PairDraw(3, 7)))
    more = keys(request_alignment_study(dataset, "more", draw=PairDraw(6, 7)))

    assert sorted(key[:3] for key in few) == ["one"] * 3 + ["two"] * 3
    assert few < more
    assert len(more) == 12
    assert keys(request_alignment_study(dataset, "other", draw=PairDraw(3, 8))) != few


def test_a_running_study_grows_to_the_larger_sample(tmp_path):
    dataset = pairs_of(tmp_path)
    study = request_alignment_study(dataset, "few", raters=rater_users(2), draw=PairDraw(3))
    open_study(study, researcher())

    assert extend_study(study, researcher(), n_sampled=5) == 2


def test_asking_again_is_the_same_study_and_other_choices_are_refused(tmp_path):
    dataset = pairs_of(tmp_path)
    study = request_alignment_study(dataset, "few", draw=PairDraw(3))

    assert request_alignment_study(dataset, "few", draw=PairDraw(3)) == study
    with pytest.raises(StudyError, match="already a study named 'few'"):
        request_alignment_study(dataset, "few", draw=PairDraw(4))
    with pytest.raises(
        StudyError, match=r"There are no responses of three\. There are responses of: one"
    ):
        request_alignment_study(dataset, "no", ["three"])


def test_table_6_by_hand(tmp_path):
    """9 are scored: 7 aligned, human 6.5 / 9. Raters agree on 8 scored ones, of which 6 are right.

    Alpha: yes 14 and no 6 of 20 votes; observed 4 of 20 ordered pairs differ, by
    chance 2 * 14 * 6 of 20 * 19: 1 - (4 / 20) / (168 / 380) = 0.547619.
    """
    found = human_alignment_report(rated(tmp_path))

    one, everything = found.records
    assert (one["model"], everything["model"]) == ("one", None)
    assert (one["n_pairs"], one["n_scored"], one["n_agreed"], one["n_run"]) == (10, 9, 8, 9)
    assert one["human"] == pytest.approx(0.7)
    assert one["percent_agreement"] == pytest.approx(0.8)
    assert one["alpha"] == pytest.approx(1 - (4 / 20) / (168 / 380))
    assert one["automatic_same"] == one["automatic"] == pytest.approx(7 / 9)
    assert one["gap_same"] == pytest.approx(100 * (6.5 - 7) / 9)
    assert one["gap"] == pytest.approx(100 * (0.7 - 7 / 9))
    assert one["accuracy"] == pytest.approx(6 / 8)
    assert one["human_low"] < 0.7 < one["human_high"]
    assert one["run_n_sampled"] is None
    assert found.left_out["pairs_without_an_automatic_score"] == 1
    assert found.left_out["pairs_without_two_votes"] == 0


def test_a_pair_with_one_vote_is_counted_not_reported(tmp_path):
    study = rated(tmp_path)
    Vote.objects.filter(target__response__key="one-0", rater=raters_of(study)[0]).delete()

    found = human_alignment_report(study)

    assert found.records[0]["n_pairs"] == 9
    assert found.left_out["pairs_without_two_votes"] == 1


def test_the_mean_of_votes_has_the_interval_of_a_share(tmp_path):
    """A vote is a part of a whole. All of n dialogs say yes: the lower end is n / (n + t²)."""
    study = rated(tmp_path)
    for key in range(4, 10):
        Vote.objects.filter(target__response__key=f"one-{key}").delete()

    [one, _] = human_alignment_report(study).records

    assert (one["n_pairs"], one["human"]) == (4, 1.0)
    # t² of 3 degrees = 3.18245² = 10.128, and 4 / 14.128 = .2831.
    assert (one["human_low"], one["human_high"]) == (pytest.approx(0.2831, abs=1e-4), 1.0)
