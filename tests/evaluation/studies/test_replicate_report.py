"""Two sets of raters who both rated separately, beside merged raters: figures by hand."""

from collections.abc import Mapping
from random import Random

import numpy as np
import pytest

from annotation.models import Study
from evaluation.reports.base import USUAL, Choices, study_counts
from evaluation.statistics.intervals import share_interval
from evaluation.statistics.paired_difference import difference_interval
from evaluation.studies.reports.choices import usual_choices
from evaluation.studies.reports.scenarios import scenarios_report
from evaluation.studies.reports.timing import time_report
from evaluation.studies.reports.uncertainty import uncertainty_report
from evaluation.votes.export import export_folder
from evaluation.votes.people import people_of
from tests.evaluation.studies.hand_made import COOL, THREE_ARMS, WARM, two_arms
from tests.makers import forget, import_path, vote_row

pytestmark = pytest.mark.once
COOL_NAME, WARM_NAME = "m · T 0.0", "m · T 0.7"
Y, N = "yyy", "nnn"
# The second separate arm differs on 1 of ten responses, the merged arm on 4 of them. The next one
# has no majority in the second separate arm, and the last was never rated there.
ANSWERS = {
    "r0": (Y, N, Y),
    **{f"r{number}": (Y, Y, N) for number in (1, 2, 3, 4)},
    **{f"r{number}": (Y, Y, Y) for number in (5, 6, 7, 8, 9)},
    "tied": (Y, "yn", N),
    "unrated": (Y, "", Y),
}


def three_arms(folder, answers: Mapping[str, tuple[str, ...]] = ANSWERS, **more) -> Study:
    return two_arms(folder / "s", answers, arms=THREE_ARMS, **more)


def replicate(study: Study, setup: str | None = None, choices: Choices = USUAL):
    """Return the row about the replicate over all setups, or of one setup."""
    rows = uncertainty_report(study, choices).records
    [row] = [row for row in rows if "replicate_accuracy" in row and row["setup"] == setup]
    return row


def test_the_noise_between_two_sets_of_raters_is_taken_off_what_merging_does(tmp_path):
    row = replicate(three_arms(tmp_path))

    assert (row["question"], row["n"]) == ("q", 10)
    assert (row["n_left_out_waiting"], row["n_left_out_tied"]) == (0, 1)
    assert row["replicate_accuracy"] == pytest.approx(9 / 10)
    assert row["replicate_disagreement"] == pytest.approx(1 / 10)
    assert row["merged_disagreement"] == pytest.approx(4 / 10)
    assert row["difference"] == pytest.approx(3 / 10)
    assert row["replicate_shift"] == pytest.approx(-1 / 10)  # r0 from yes to no
    # The tied one is a yes, then ½, and a no side by side: it disagrees by ½ and by 1.
    assert row["replicate_accuracy_ties_half"] == pytest.approx(9.5 / 11)
    assert row["replicate_disagreement_ties_half"] == pytest.approx(1.5 / 11)
    assert row["merged_disagreement_ties_half"] == pytest.approx(5 / 11)
    assert row["difference_ties_half"] == pytest.approx(3.5 / 11)
    assert row["replicate_shift_ties_half"] == pytest.approx(-1.5 / 11)
    # Merged against separate has its own responses: all twelve, of which five differ.
    overall, *_ = uncertainty_report(Study.objects.get()).records
    assert (overall["n"], overall["disagreement"]) == (12, pytest.approx(5 / 12))


def test_what_some_arm_lacks_is_counted(tmp_path):
    left_out = uncertainty_report(three_arms(tmp_path)).left_out

    assert (left_out["replicate_waiting"], left_out["replicate_tied"]) == (0, 1)
    assert left_out["not_rated_in_every_arm"] == 1
    assert (left_out["tied"], left_out["rated_in_one_arm"]) == (0, 0)


def test_the_interval_of_the_difference_is_that_of_a_paired_difference_of_labels(tmp_path):
    row = replicate(three_arms(tmp_path))

    merged = np.array([0, 1, 1, 1, 1, 0, 0, 0, 0, 0.0])
    again = np.array([1, 0, 0, 0, 0, 0, 0, 0, 0, 0.0])
    expected = difference_interval(merged, again, np.arange(10), 10)
    assert (row["difference_low"], row["difference_high"]) == pytest.approx(expected)
    share = share_interval(np.column_stack([again, np.ones(10)]), 10)
    assert (row["replicate_disagreement_low"], row["replicate_disagreement_high"]) == pytest.approx(
        share
    )


def test_the_interval_resamples_dialogs_as_a_plain_loop_does(tmp_path):
    draw = Random(5)
    n_dialogs = 80
    differs = {  # dialog → for each of two responses, whether the second and the merged arm differ
        dialog: [(draw.random() < 0.15, draw.random() < hard) for _ in range(2)]
        for dialog in range(n_dialogs)
        for hard in [draw.choice([0.1, 0.6])]  # responses of a dialog go together
    }
    answers, dialogs = {}, {}
    for dialog, pair in differs.items():
        for place, (again, merged) in enumerate(pair):
            key = f"d{dialog:02}-{place}"
            answers[key] = (Y, N if again else Y, N if merged else Y)
            dialogs[key] = f"d{dialog:02}"
    row = replicate(three_arms(tmp_path, answers, dialogs=dialogs))

    found = []
    for _ in range(2000):
        some = [
            response for d in draw.choices(range(n_dialogs), k=n_dialogs) for response in differs[d]
        ]
        found.append(sum(merged - again for again, merged in some) / len(some))
    low, high = np.quantile(found, [0.025, 0.975])
    assert (row["difference_low"], row["difference_high"]) == pytest.approx((low, high), abs=0.02)


def test_each_setup_has_a_row_of_its_own(tmp_path):
    setups = {f"r{n}": COOL if n % 2 else WARM for n in range(10)}
    study = three_arms(tmp_path, {key: ANSWERS[key] for key in setups}, setups=setups)

    cool, warm = (replicate(study, name) for name in (COOL_NAME, WARM_NAME))

    # Warm are r0, r2, r4, r6, r8: the replicate differs on r0, the merged arm on r2 and r4.
    assert (warm["n"], warm["model"], warm["temperature"]) == (5, "m", 0.7)
    assert warm["replicate_disagreement"] == pytest.approx(1 / 5)
    assert warm["merged_disagreement"] == pytest.approx(2 / 5)
    assert warm["difference"] == pytest.approx(1 / 5)
    assert warm["replicate_shift"] == pytest.approx(-1 / 5)
    # Cool are the others: on none, and on r1 and r3.
    assert (cool["replicate_disagreement"], cool["difference"]) == (0, pytest.approx(2 / 5))
    assert replicate(study, WARM_NAME, Choices(setup=WARM_NAME)) == warm


def test_without_a_merged_arm_the_replicate_stands_alone(tmp_path):
    answers = {key: by_arm[:2] for key, by_arm in ANSWERS.items()}
    study = two_arms(tmp_path / "s", answers, arms=THREE_ARMS[:2])

    report = uncertainty_report(study)

    overall, cool = report.records
    assert (overall["setup"], cool["setup"]) == (None, COOL_NAME)
    assert (overall["n"], overall["replicate_disagreement"]) == (10, pytest.approx(1 / 10))
    assert (overall["merged_disagreement"], overall["difference"]) == (None, None)
    assert report.left_out["arms"] == 1


@pytest.mark.parametrize("arms", [("separate", "merged"), ("separate_2", "merged")])
def test_without_both_separate_arms_there_is_nothing_to_repeat(tmp_path, arms):
    study = two_arms(tmp_path / "s", {"a": (Y, N), "b": (N, N)}, arms=arms)

    report = uncertainty_report(study)

    assert not any("replicate_accuracy" in row for row in report.records)
    assert "replicate_tied" not in report.left_out
    assert "replicate" not in report.signature
    assert bool(report.records) == ("separate" in arms)


def test_a_scale_without_a_yes_says_why_there_are_no_figures(tmp_path):
    words = {"a": ("aab", "abb", "bbb"), "b": ("aaa", "aaa", "aaa")}
    row = replicate(three_arms(tmp_path, words, scale={"nominal": ["a", "b"]}, better=None))

    assert row["n"] == row["n_left_out_tied"] == 0
    assert row["why"]
    assert row["difference"] is None


# --- other reports --------------------------------------------------------------------------


def test_the_replicate_repeats_the_letter_of_its_scenario(tmp_path):
    setups = {"r0": COOL, "r1": WARM}
    study = three_arms(tmp_path, {key: ANSWERS[key] for key in setups}, setups=setups)

    rows = scenarios_report(study).records

    assert [(row["scenario"], row["arm"]) for row in rows] == [
        ("A", "separate"),
        ("A2", "separate_2"),
        ("B", "merged"),
        ("C", "separate"),
        ("C2", "separate_2"),
        ("D", "merged"),
    ]


def ceiling(study: Study, truth: str) -> tuple[float, float] | None:
    _, [people] = people_of(study, truth, study_counts(study, USUAL))
    found = people.ceilings.get("merged")
    return None if found is None else tuple(found.statistics.sum(axis=0).tolist())


def test_the_ceiling_leaves_the_replicate_out_unless_it_is_the_truth(tmp_path):
    study = three_arms(tmp_path)

    # Merged equals separate on 7 of 12 responses, and the second separate arm on r5 to r9.
    assert ceiling(study, "separate") == ceiling(study, "merged") == (7, 12)
    assert ceiling(study, "separate_2") == (5, 10)


def test_a_replicate_alone_is_no_ceiling(tmp_path):
    study = two_arms(tmp_path / "s", {"a": (Y, N)}, arms=THREE_ARMS[:2])

    assert ceiling(study, "separate") is None


def test_the_time_saved_compares_the_first_separate_arm_with_the_merged_one(tmp_path):
    timed = [
        vote_row("r0", f"{rater}9", "yes", "q", arm=arm, seconds=str(seconds))
        for arm, rater, seconds in zip(THREE_ARMS, "wvm", (40, 400, 30), strict=True)
    ]
    study = three_arms(tmp_path, {"r0": (Y, Y, Y)}, more_votes=timed)

    rows = {row["arm"]: row for row in time_report(study).records}

    assert list(rows) == [*THREE_ARMS, "saved"]
    assert rows["saved"]["saved_share"] == pytest.approx(1 - 30 / 40)
    assert rows["saved"]["n_judgements"] == 8  # four by each of the two arms


def test_three_arms_give_the_same_figures_after_export_and_import(tmp_path):
    study = three_arms(tmp_path)
    before = [uncertainty_report(study), scenarios_report(study)]
    export_folder(study.dataset, study, tmp_path / "out")
    name = study.dataset.name
    forget(study.dataset)

    again = import_path(tmp_path / "out", name).study

    assert again is not None
    assert [arm.kind for arm in again.arms.all()] == list(THREE_ARMS)
    after = [uncertainty_report(again), scenarios_report(again)]
    assert [report.records for report in after] == [report.records for report in before]


def test_the_truth_may_be_the_replicate_and_says_so(tmp_path):
    study = three_arms(tmp_path)

    assert (
        "truth of the second separate arm"
        in uncertainty_report(study, Choices(truth="separate_2")).signature
    )
    assert usual_choices(study).truth == "separate"
