"""The time for a judgement: as measured with the same questions, or else as estimated."""

import pytest

from annotation.models import Rater, Study
from annotation.rating_hours import MeasuredTime, pace_of, pace_with
from annotation.schemes import built_in_schemes
from tests.makers import example_row, import_rows, response_row, vote_row

pytestmark = pytest.mark.once

SSA = dict(built_in_schemes()["SSA"])


def timed(folder, name, seconds):
    """Return a study by SSA in which each of some judgements by one rater has its seconds."""
    keys = [f"r{n}" for n in range(len(seconds))]
    import_rows(
        folder,
        name,
        examples=[example_row("e1")],
        responses=[response_row(key, "e1", setup=key) for key in keys],
        votes=[
            # The time of a judgement is the longest of its votes.
            vote_row(key, "w1", "yes", question, seconds=took)
            for key, of_key in zip(keys, seconds, strict=True)
            for question, took in (("sensible", 1), ("specific", of_key))
        ],
        scheme=SSA,
    )
    return Study.objects.get(name=name)


def test_twenty_times_replace_the_estimate_on_their_dataset_and_elsewhere(tmp_path):
    # Ten of 30 s, nine of 50 s and one of 900 s: the median is 40 s, and the mean would be 82.5 s.
    study = timed(tmp_path, "there", [30] * 10 + [50] * 9 + [900])
    of_another = timed(tmp_path / "few", "here", [30] * 19)  # one too few

    there, here = pace_of(study), pace_of(of_another)

    assert (there.alone, there.merged) == (MeasuredTime(40, 20, is_of_dataset=True), None)
    assert here.alone == MeasuredTime(40, 20, is_of_dataset=False)
    # Three responses at the median; and 238 characters in 10 s, and 2 answers of 4 s for each.
    assert there.seconds("separate_2", n_characters=238, n_responses=3) == 120
    assert there.seconds("merged", n_characters=238, n_responses=3) == pytest.approx(10 + 24)
    assert here.source(["separate", "merged"]) == (
        "separate: the median of 20 judgements with SSA on other datasets, 40 s for a response; "
        "merged: reading at 238 words a minute and 4 s for each of 2 answers"
    )
    assert pace_with(study.dataset_id, SSA | {"title": "Mine"}).alone == there.alone
    assert pace_with(of_another.dataset_id, SSA | {"title": "Mine"}).alone is None


@pytest.mark.parametrize("mark", ["is_excluded", "is_simulated"])
def test_times_of_excluded_and_simulated_raters_do_not_count(tmp_path, mark):
    study = timed(tmp_path, "pilot", [30] * 20)

    Rater.objects.update(**{mark: True})

    assert pace_of(study).alone is None
