"""Figures that are kept: they are those of the reports, and any change makes new ones."""

from typing import Any

import pytest
from django.core.cache import cache

from annotation.models import Rater, Study
from annotation.services.rating import flag_responses, take_flags_back
from evaluation.models import MetricRun
from evaluation.reports.base import Choices
from evaluation.studies.reports import cached_figures
from evaluation.studies.reports.cached_figures import compute_and_store, stored_figures
from evaluation.studies.reports.study import ON_PAGE, Figures, study_figures
from evaluation.studies.tasks import compute_figures
from tests.annotation.makers import claimed, material, opened, rate, rate_next, raters_of
from tests.evaluation.makers_of_scores import make_run, make_scores
from tests.evaluation.studies.hand_made import two_arms
from tests.makers import import_rows, statements, vote_row

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("own_cache_and_folder")]


@pytest.fixture
def study(tmp_path):
    found = two_arms(tmp_path / "pilot", {"a": ("yyn", "yyy"), "b": ("nny", "nnn")})
    make_scores(make_run(found.dataset), {"a": 0.9, "b": 0.6})
    return found


@pytest.fixture
def rated_here(tmp_path):
    study = opened(material(tmp_path / "data", n_examples=2), scheme="SSA", raters=5)
    for rater in raters_of(study):
        rate_next(rater)
    return study


def figures_of(study: Study, **choices: Any) -> Figures:
    """Return the figures that a visit shows, current or not."""
    found = stored_figures(study, Choices(**choices)).figures
    assert found is not None
    return found


def made_at(study: Study, **choices: Any) -> str:
    """Return when the figures that a visit shows were made; they must be current."""
    assert stored_figures(study, Choices(**choices)).is_current
    return figures_of(study, **choices).computed_at.isoformat()


def assert_made_anew(study: Study, before: str) -> None:
    after = made_at(study)
    assert after != before
    assert made_at(study) == after


# --- what they are --------------------------------------------------------------------------


def test_they_are_those_of_each_report(study):
    figures = figures_of(study)

    for name, report in ((kind.key, kind.make) for kind in ON_PAGE):
        assert figures.reports[name] == report(study, Choices()), name
    assert [row.setup for row in figures.by_setup.rows] == ["m · T 0.0"] * 2
    assert list(figures.curves) == [f"{MetricRun.objects.get().pk}/q"]
    overview = figures.overview
    assert (overview.n_votes, overview.n_raters, overview.n_responses) == (12, 6, 2)
    assert (overview.arms, overview.setups) == (["separate", "merged"], ["m · T 0.0"])
    assert figures.seconds > 0


def test_all_figures_cost_as_many_statements_for_a_large_study(tmp_path):
    def n_statements(n):
        answers = {f"r{i}": ("yn", "yy") for i in range(n)}
        study = two_arms(tmp_path / f"{n}-responses", answers)
        return len(statements(lambda: study_figures(study, Choices())))

    assert n_statements(2) == n_statements(25) <= 60


def test_a_second_visit_reads_them_with_few_statements(study):
    first = made_at(study)

    cost = statements(lambda: stored_figures(study, Choices()))

    assert made_at(study) == first
    assert len(cost) <= 13
    assert not any('FROM "annotation_vote" ' in statement for statement in cost)


def test_other_choices_have_figures_of_their_own(study):
    first = made_at(study)

    merged = figures_of(study, truth="merged")

    assert merged.agreement.rows[0].truth == "merged"
    assert made_at(study) == first
    assert made_at(study, by_setup=True) == first  # both are among the figures


# --- what makes them anew -------------------------------------------------------------------


def import_votes(study, tmp_path):
    new = [vote_row("a", "w9", "no", "q")]
    import_rows(tmp_path / "more", "pilot", votes=new, scheme=study.scheme)


def import_flags(study, tmp_path):
    import_rows(tmp_path / "more", "pilot", flags=[{"response": "a", "rater": "w1"}])


def import_excluded(study, tmp_path):
    import_rows(tmp_path / "more", "pilot", raters=[{"rater": "w3", "excluded": "yes"}])


def import_scores(study, tmp_path):
    scores = [{"response": "a", "metric": "rouge", "score": "0.1", "signature": "v1"}]
    import_rows(tmp_path / "more", "pilot", scores=scores)


def score_more(study, tmp_path):
    make_scores(make_run(study.dataset, signature="another"), {"a": 0.1})


def change_threshold(study, tmp_path):
    MetricRun.objects.update(threshold=0.95)


def delete_run(study, tmp_path):
    MetricRun.objects.all().delete()


def set_cut(study, tmp_path):
    study.settings = {"cuts": {"q": 0.2}}
    study.save()


@pytest.mark.parametrize(
    "change",
    [
        import_votes,
        import_flags,
        import_excluded,
        import_scores,
        score_more,
        change_threshold,
        delete_run,
        set_cut,
    ],
)
def test_a_change_of_an_imported_study_makes_them_anew(study, tmp_path, change):
    before = made_at(study)

    change(study, tmp_path)

    assert_made_anew(Study.objects.get(pk=study.pk), before)


def submit(study, rater):
    rate_next(rater)


def change_votes(study, rater):
    assignment = rater.assignments.filter(submitted_at__isnull=False).get()
    rate(rater, assignment, {"sensible": 0})


def flag(study, rater):
    unit = rater.assignments.filter(submitted_at__isnull=False).get().unit
    flag_responses(unit, rater, [unit.targets.get().pk], "garbled")


def exclude(study, rater):
    Rater.objects.filter(pk=rater.pk).update(is_excluded=True)


@pytest.mark.parametrize("change", [submit, change_votes, flag, exclude])
def test_whatever_raters_do_makes_them_anew(rated_here, change):
    before = made_at(rated_here)

    change(rated_here, raters_of(rated_here)[0])

    assert_made_anew(rated_here, before)


def test_a_flag_that_was_taken_back_makes_them_anew(rated_here):
    rater = raters_of(rated_here)[0]
    flag(rated_here, rater)
    before = made_at(rated_here)

    take_flags_back(rater.assignments.get().unit, rater)

    assert_made_anew(rated_here, before)


def test_claims_and_votes_elsewhere_leave_them_as_they_are(rated_here, tmp_path):
    before = made_at(rated_here)
    other = opened(material(tmp_path / "other"), scheme="SSA", raters=5, name="Other")

    claimed(raters_of(rated_here)[0])
    rate_next(raters_of(other)[0])

    assert made_at(rated_here) == before


# --- large studies, and two at once ---------------------------------------------------------


def test_a_large_study_is_computed_by_the_task_while_the_last_figures_are_shown(
    study, tmp_path, monkeypatch
):
    monkeypatch.setattr(cached_figures, "MOST_VOTES_AT_ONCE", 5)

    assert stored_figures(study, Choices()) == (None, False, True)
    compute_figures(study.pk, Choices()._asdict())
    first = figures_of(study)
    assert stored_figures(study, Choices()) == (first, True, True)

    import_votes(study, tmp_path)
    assert stored_figures(study, Choices()) == (first, False, True)

    compute_figures(study.pk, Choices()._asdict())
    assert made_at(study) != first.computed_at.isoformat()


def test_current_figures_are_not_made_again(study):
    before = made_at(study)

    compute_and_store(study.pk, Choices())

    assert made_at(study) == before


def test_while_somebody_makes_them_nobody_else_does(study, tmp_path):
    before = figures_of(study)
    import_votes(study, tmp_path)
    key = cached_figures._key(study, Choices())
    cache.add(f"{key}:lock", True)

    compute_and_store(study.pk, Choices())

    assert stored_figures(study, Choices()) == (before, False, False)
    cache.delete(f"{key}:lock")
    assert made_at(study) != before.computed_at.isoformat()


def test_without_any_figures_nobody_waits_for_another(study):
    cache.add(f"{cached_figures._key(study, Choices())}:lock", True)

    assert stored_figures(study, Choices()).is_current


def test_the_lock_is_released_when_the_figures_cannot_be_made(study, monkeypatch):
    def broken(study, choices):
        raise RuntimeError("no figures today")

    monkeypatch.setattr(cached_figures, "study_figures", broken)
    with pytest.raises(RuntimeError):
        compute_and_store(study.pk, Choices())
    monkeypatch.undo()

    compute_and_store(study.pk, Choices())

    assert stored_figures(study, Choices()).is_current


def test_a_study_that_is_gone_has_none(study):
    compute_figures(study.pk + 1, Choices()._asdict())
