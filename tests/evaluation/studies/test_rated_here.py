"""Studies rated in this site, not imported: their reports and their export."""

import pytest

from annotation.models import Assignment, Study, Unit, Vote
from annotation.ordering import share_is_drawn
from annotation.services.claiming import claim_next_unit
from annotation.services.rating import flag_responses, submit_votes
from evaluation.studies.reports.raters import raters_report
from evaluation.votes.export import export_folder
from tests.annotation.makers import (
    claimed,
    judged,
    material,
    opened,
    rate,
    rate_next,
    raters_of,
)
from tests.evaluation.studies.hand_made import row_of
from tests.makers import forget, import_path

pytestmark = pytest.mark.once


def rate_by_care(study: Study) -> None:
    """Let all raters rate; every third rater calls all responses not sensible."""
    raters = raters_of(study)
    busy = list(enumerate(raters))
    while busy:
        busy = [
            (place, rater)
            for place, rater in busy
            if rate_next(rater, {"sensible": 0} if place % 3 == 2 else None)
        ]


def test_a_study_rated_here_gives_the_same_figures_after_export_and_import(tmp_path):
    study = opened(
        material(tmp_path / "data", n_examples=6),
        scheme="SSA",
        arms=["separate", "merged"],
        raters=10,
        stops_when_decided=True,
        full_share=0.5,
        seed=3,
        text_format="markdown",
    )
    flagging, *_ = raters_of(study)
    unit = claimed(flagging).unit
    flag_responses(unit, flagging, [unit.targets.all()[0].pk], "cut off")
    rate_by_care(study)
    before = raters_report(study)

    export_folder(study.dataset, study, tmp_path / "out")
    forget(study.dataset)
    again = import_path(tmp_path / "out", "again").study

    assert again is not None
    after = raters_report(again)
    assert after.rows == before.rows
    assert after.left_out == before.left_out
    assert again.settings["merged_layout"] == "side_by_side"
    assert again.text_format == "markdown"


def test_a_flag_without_answers_is_done_and_its_response_is_counted_as_flagged(tmp_path):
    study = opened(material(tmp_path, n_examples=1, setups=["cool"]), scheme="SSA")

    for rater in raters_of(study)[:3]:
        held = claimed(rater)
        flag_responses(held.unit, rater, [held.unit.targets.get().pk], "garbled")
        nothing = [target._replace(answers={}) for target in judged(rater, held)]
        submit_votes(held.unit, rater, nothing, None)
        assert claim_next_unit(rater) is None

    assert not Vote.objects.exists()
    assert Assignment.objects.filter(submitted_at__isnull=False).count() == 3
    assert raters_report(study).left_out["flagged_responses"] == 1


def test_agreement_of_a_study_that_stops_is_taken_from_the_full_share_alone(tmp_path):
    dataset = material(tmp_path, n_examples=12, setups=["cool"])
    study = opened(dataset, scheme="SSA", stops_when_decided=True, full_share=0.5, seed=2)

    rate_by_care(study)

    full = [e for e in dataset.examples.all() if share_is_drawn(2, e.key, "full", 0.5)]
    assert 0 < len(full) < 12
    row = row_of(study, "sensible")
    # Raters 1 to 5 of five; the third says no. A full item has 4 yes and 1 no: 6 of 10 pairs agree.
    assert row["percent_agreement"] == pytest.approx(0.6)
    assert row["alpha_items"] == len(full)
    assert row["n"] == 12
    assert raters_report(study).left_out["items_outside_full_share"] == 12 - len(full)
    n_votes = {
        unit.example_id: Vote.objects.filter(
            target__in=unit.targets.all(), question="sensible"
        ).count()
        for unit in Unit.objects.all()
    }
    assert all(n_votes[example.pk] == 5 for example in full)
    assert set(n_votes.values()) <= {3, 4, 5}


def test_majorities_are_the_same_whether_a_study_stops_or_not(tmp_path):
    dataset = material(tmp_path, n_examples=20, setups=["cool"])

    def majorities(name, **plan):
        study = opened(dataset, scheme="SSA", name=name, **plan)
        for number, rater in enumerate(raters_of(study)):
            while (held := claim_next_unit(rater)) is not None:
                # what a rater says of an example depends on both alone
                is_bad = (held.unit.example_id * 7 + number * 3) % 5 < 2
                rate(rater, held, {"sensible": 0} if is_bad else None)
        row = row_of(study, "sensible")
        return row["majority_yes"], row["majority_no"], Vote.objects.filter(arm__study=study)

    *all_five, five_votes = majorities("all")
    *stopped, fewer_votes = majorities("stops", stops_when_decided=True, full_share=0.0)

    assert stopped == all_five
    assert fewer_votes.count() < five_votes.count()


def test_a_sample_counts_only_its_own_responses_as_unrated(tmp_path):
    dataset = material(tmp_path, n_examples=10)
    study = opened(dataset, scheme="SSA", n_sampled=3)

    assert raters_report(study).left_out["unrated_responses"] == 3 * 2
