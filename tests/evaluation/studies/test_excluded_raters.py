"""Figures follow when raters are excluded, filled anew, or included, and reports say so."""

from collections.abc import Mapping

import pytest

from annotation.models import Rater, Study
from annotation.services.refilling import refill_units
from annotation.services.study_raters import set_excluded
from evaluation.reports.base import Choices
from evaluation.reports.report import Record
from evaluation.studies.reports.cached_figures import stored_figures
from evaluation.studies.reports.raters import raters_report
from evaluation.studies.reports.study import ON_PAGE, Figures
from tests.annotation.makers import material, opened, rate_next, raters_of, researcher
from tests.evaluation.studies.hand_made import row_of
from tests.evaluation.studies.pages.address import page_of
from tests.makers import import_rows, pilot_rows
from tests.shown import shown

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("own_cache_and_folder")]

WHY = "Clicks without reading."
YES, NO = {"sensible": 1, "specific": 1}, {"sensible": 0}


@pytest.fixture
def study(tmp_path) -> Study:
    """Return a study of one response: y y n of three raters, y y of two more, and two to come."""
    study = opened(material(tmp_path, n_examples=1, setups=["a"]), scheme="SSA", raters=7)
    for rater, answer in zip(raters_of(study), (YES, YES, NO, YES, YES), strict=False):
        rate_next(rater, answer)
    return study


@pytest.fixture
def reader(rosa, client_for):
    return client_for(rosa)


def exclude(*raters: Rater) -> None:
    for rater in raters:
        set_excluded(rater, True, WHY, researcher())


def current(study: Study) -> Figures:
    stored = stored_figures(study, Choices())
    assert stored.figures
    assert stored.is_current
    return stored.figures


def sensible(study: Study) -> Mapping[str, object]:
    """Return the figures of the first question, which are the same where they are cached."""
    found: Record = row_of(study, "sensible")
    cached = next(row for row in current(study).raters.records if row["question"] == "sensible")
    assert cached == found
    return {name: found[name] for name in ("n_votes", "mean", "waiting", "percent_agreement")}


def test_figures_follow_the_exclusion_the_new_judgements_and_the_inclusion(study):
    fourth, fifth, *newcomers = raters_of(study)[3:]
    # y y n y y: 4 yes of N = 5. Pairs that agree: 6 of yes, 0 of no, of 10.
    assert sensible(study) == {
        "n_votes": 5, "mean": 1.0, "waiting": 0, "percent_agreement": 0.6
    }  # fmt: skip

    exclude(fourth, fifth)
    # y y n: no answer has more than half of 5, and two votes are missing. One pair of three agrees.
    assert sensible(study) == {
        "n_votes": 3, "mean": None, "waiting": 1, "percent_agreement": pytest.approx(1 / 3)
    }  # fmt: skip

    refill_units(study, researcher())
    assert sensible(study)["n_votes"] == 3
    for rater in newcomers:
        rate_next(rater, NO)
    # y y n n n: 3 no of 5. Pairs that agree: 1 + 3 of 10.
    in_full = {"n_votes": 5, "mean": 0.0, "waiting": 0, "percent_agreement": 0.4}
    assert sensible(study) == in_full

    set_excluded(fourth, False, "Read after all.", researcher())
    assert sensible(study) == in_full
    assert row_of(study, "sensible", with_excluded=True)["n_votes"] == 5


def test_every_report_says_who_is_left_out(study):
    fourth, fifth = raters_of(study)[3:5]
    exclude(fourth, fifth)

    for kind in ON_PAGE:
        left_out = current(study).reports[kind.key].left_out
        assert (left_out["excluded_raters"], left_out["excluded_votes"]) == (2, 4), kind.key
    counted = raters_report(study, Choices(with_excluded=True))
    assert (counted.left_out["excluded_raters"], counted.left_out["excluded_votes"]) == (0, 0)

    refill_units(study, researcher(), fourth)

    left_out = current(study).raters.left_out
    assert left_out["excluded_raters"] == 2
    assert (left_out["excluded_votes"], left_out["surplus_votes"]) == (2, 2)


def test_the_methods_list_each_excluded_rater_with_the_reason(study, reader):
    fourth = raters_of(study)[3]
    assert "Excluded raters, and why" not in shown(page_of(reader, study, "study-methods")).text
    exclude(fourth)

    page = shown(page_of(reader, study, "study-methods"))

    assert page.table("Excluded raters").row(fourth.code)["Reason"] == WHY
    row = page.table("What the numbers leave out").row("excluded raters")
    assert row["How many"] == "1"
    assert "a researcher or the gold threshold excluded them" in row["Why"]


def test_an_imported_rater_without_a_reason_has_a_dash(tmp_path, reader):
    study = import_rows(tmp_path, **pilot_rows()).study
    assert study is not None

    page = shown(page_of(reader, study, "study-methods"))

    assert page.table("Excluded raters").row("ben")["Reason"] == "—"
