"""The report on the quality of raters of studies that are rated here, and what it follows."""

import pytest
from django.db import connection

from annotation.models import Study, Vote
from annotation.schemes import built_in_schemes
from annotation.services.gold import set_gold
from annotation.services.rating import flag_responses, skip_unit
from annotation.services.studies import open_study
from annotation.services.study_raters import set_excluded
from evaluation.studies.rater_quality.reports import made_anew, rater_quality
from evaluation.votes.export import export_folder
from tests.annotation.makers import (
    claimed,
    material,
    opened,
    planned,
    rate,
    rate_next,
    raters_of,
    researcher,
)
from tests.evaluation.studies.rater_quality.rater_votes import row_about
from tests.makers import forget, import_path, statements

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("own_cache_and_folder")]


# --- all kinds of work ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def with_all_kinds(module_database, tmp_path_factory):
    """Two arms, eight raters: one flags a response, one skips a unit, one is excluded.

    There is a gold item, which is not sensible. Two raters say so, of it and of all others.
    """
    study = planned(
        material(tmp_path_factory.mktemp("data"), n_examples=24),
        scheme={**built_in_schemes()["SSA"], "evidence": "needed"},
        arms=["separate", "merged"],
        raters=8,
        raters_per_unit=3,
        seed=3,
    )
    set_gold(study, {"e1-cool": {"sensible": 0}}, researcher(), n_qualifying=1)
    open_study(study, researcher())
    first, second, third, *_ = raters = raters_of(study)
    for rater in (first, second):  # the gold item comes first
        rate_next(rater)
    unit = claimed(first).unit
    flag_responses(unit, first, [unit.targets.all()[0].pk], "cut off")
    skip_unit(claimed(second).unit, second, "other")
    busy = list(enumerate(raters))
    while busy:
        busy = [
            (place, rater)
            for place, rater in busy
            if rate_next(rater, {"sensible": 0} if place % 3 == 2 else None)
        ]
    Vote.objects.update(seconds=12.5)
    set_excluded(third, True, "Clicks without reading.", researcher())
    connection.check_constraints()
    return study


@pytest.fixture
def rated_here(with_all_kinds, db):
    return Study.objects.get(pk=with_all_kinds.pk)


def test_a_study_rated_here_gives_the_same_rows_after_export_and_import(rated_here, tmp_path):
    before = made_anew(rated_here)

    export_folder(rated_here.dataset, rated_here, tmp_path / "out")
    forget(rated_here.dataset)
    again = import_path(tmp_path / "out", "again").study

    assert again is not None
    after = made_anew(again)
    assert after.report.rows == before.report.rows
    assert (after.reasons, after.reference) == (before.reasons, before.reference)
    assert after.report.left_out == before.report.left_out
    assert after.report.left_out["gold_items"] == 1
    assert after.report.signature == before.report.signature
    assert all(row["first_half"] is not None for row in before.report.records)
    assert all(row["reading_seconds"] > 0 for row in before.report.records)


def test_the_rows_have_what_is_known_of_the_raters_beside_their_votes(rated_here):
    rows = [row_about(rated_here, rater.code) for rater in raters_of(rated_here)]

    assert [row["n_flags"] for row in rows] == [1, *[0] * 7]
    assert [row["n_skips"] for row in rows] == [0, 1, *[0] * 6]
    assert {row["n_surplus"] for row in rows} == {0}
    assert [row["is_excluded"] for row in rows] == [False, False, True, *[False] * 5]
    assert [row["gold_score"] for row in rows] == [0, 0, 1, 0, 0, 1, 0, 0]
    assert {row["qualified"] for row in rows} == {"yes"}  # there is no threshold


def test_it_takes_at_most_15_statements_for_a_study_that_is_rated_here(rated_here):
    assert len(statements(lambda: made_anew(rated_here))) <= 15


# --- what the report follows ----------------------------------------------------------------


@pytest.fixture(scope="module")
def of_yes(module_database, tmp_path_factory):
    """Three raters who said yes to all of 22 responses; the first has one still to judge."""
    dataset = material(tmp_path_factory.mktemp("yes"), n_examples=22, setups=["a"])
    study = opened(dataset, name="Of yes", scheme="SSA", raters=3)
    for rater, n in zip(raters_of(study), (21, 22, 22), strict=True):
        for _ in range(n):
            rate_next(rater)
    connection.check_constraints()
    return study


@pytest.fixture
def three_raters(of_yes, db):
    return Study.objects.get(pk=of_yes.pk)


def figures(study, name):
    """Return a figure of each rater, in the order of `raters_of`."""
    return [row_about(study, rater.code)[name] for rater in raters_of(study)]


def say_no(rater, n, like):
    """Change a rater's answers to no, on n responses that another rater has judged too."""
    judged = like.assignments.filter(submitted_at__isnull=False).order_by("pk")
    for unit in judged.values_list("unit", flat=True)[:n]:
        rate(rater, rater.assignments.get(unit=unit), {"sensible": 0})


def test_the_report_follows_a_new_unit(three_raters):
    assert figures(three_raters, "n") == [21, 22, 22]

    rate_next(raters_of(three_raters)[0])

    assert figures(three_raters, "n") == [22, 22, 22]


def test_the_report_follows_a_changed_vote(three_raters):
    assert figures(three_raters, "sensible_mean") == [1, 1, 1]

    first, *_ = raters_of(three_raters)
    say_no(first, 1, like=first)

    # The two others said yes. Beside each of those there is a yes and a no, which is a tie.
    assert figures(three_raters, "sensible_mean") == [pytest.approx(20 / 21), 1, 1]
    assert figures(three_raters, "sensible_agreement") == [pytest.approx(20 / 21), 1, 1]


def test_the_report_follows_a_gold_score(three_raters):
    assert figures(three_raters, "gold_score") == [None, None, None]

    three_raters.raters.filter(pk=raters_of(three_raters)[2].pk).update(gold_score=0.25)

    assert figures(three_raters, "gold_score") == [None, None, 0.25]


def test_the_report_follows_an_exclusion(three_raters):
    first, second, third = raters_of(three_raters)
    say_no(third, 2, like=first)
    # A no beside a yes makes the others' mean one half: twice of 22.
    assert figures(three_raters, "sensible_others_mean")[1] == pytest.approx(1 - 2 * 0.5 / 22)

    set_excluded(third, True, "Clicks.", researcher())

    # The only other of the second is now the first, who said yes to all.
    assert figures(three_raters, "sensible_others_mean")[1] == 1
    assert figures(three_raters, "is_excluded") == [False, False, True]
    assert rater_quality(three_raters).reference == {first.code, second.code}


def test_the_report_follows_a_skip(three_raters):
    assert figures(three_raters, "n_skips") == [0, 0, 0]
    first, *_ = raters_of(three_raters)

    skip_unit(claimed(first).unit, first, "other")

    assert figures(three_raters, "n_skips") == [1, 0, 0]
