"""The first page of a study while it is rated, and what it says after the study was closed."""

import pytest

from annotation.models import Study
from annotation.services.studies import close_study
from annotation.study_progress import unit_progress
from evaluation.reports.base import Choices
from evaluation.studies.pages.ssa_answer import ssa_findings
from evaluation.studies.reports.study import study_figures
from tests.annotation.makers import material, opened, rate_next, raters_of, researcher
from tests.evaluation.studies.pages.address import page_of
from tests.makers import rated, statements
from tests.shown import shown

pytestmark = pytest.mark.once


def test_the_page_says_how_many_units_wait_and_a_closed_study_what_was_left(
    tmp_path, client_for, rosa
):
    # Two units of one response each; N is 3.
    dataset = material(tmp_path / "m", setups=("cool",))
    study = opened(dataset, scheme="SSA", raters=3, raters_per_unit=3)
    first, second, third = raters_of(study)
    page = page_of(client_for(rosa), study)
    assert "Interim: 2 of 2 units still wait for votes" in shown(page).text

    for rater in (first, first, second, second, third):
        rate_next(rater)
    assert unit_progress(study) == (2, 1, 1, 1)
    assert (
        "Interim: 1 of 2 units still waits for votes"
        in shown(page_of(client_for(rosa), study)).text
    )

    close_study(study, researcher())
    closed = Study.objects.get()
    text = shown(page_of(client_for(rosa), closed)).text
    assert "Interim" not in text
    assert "Closed with 1 of 2 units left without all their votes : 1 response." in text


def test_a_study_with_all_its_votes_is_interim_until_it_is_closed(tmp_path, client_for, rosa):
    dataset = material(tmp_path / "m", n_examples=1, setups=("cool",))
    study = opened(dataset, scheme="SSA", raters=3, raters_per_unit=3)
    for rater in raters_of(study):
        rate_next(rater)

    text = shown(page_of(client_for(rosa), study)).text
    assert "Interim: the unit has its votes" in text
    close_study(study, researcher())
    assert "left without all" not in shown(page_of(client_for(rosa), Study.objects.get())).text


def test_interim_ssa_says_on_how_many_responses_it_rests(tmp_path):
    # Two units; N is 3. All say yes to both questions: three raters of one, and two of the other.
    dataset = material(tmp_path / "m", setups=("cool",))
    study = opened(dataset, scheme="SSA", raters=3, raters_per_unit=3)
    first, second, third = raters_of(study)
    for rater in (first, first, second, second, third):
        rate_next(rater, {"sensible": 1, "specific": 1})

    [found] = ssa_findings(study, study_figures(study, Choices()))

    [sentence] = found.sentences
    plain = sentence.replace("\N{NO-BREAK SPACE}", " ")
    assert plain.startswith("SSA is 100 % (2 responses")
    assert " by majorities and 100 % (2 responses" in plain
    assert not found.has_lead  # two are fewer than twenty


def test_interim_ssa_does_not_set_two_arms_side_by_side(tmp_path):
    study = opened(material(tmp_path / "m"), scheme="SSA", arms=["separate", "merged"], raters=5)
    for rater in raters_of(study):
        rate_next(rater)

    assert ssa_findings(study, study_figures(study, Choices())) == []


def test_an_imported_study_has_no_units_to_wait_for(tmp_path, client_for, rosa):
    study = rated(tmp_path, {"a": {"q": ["yes", "no"]}})

    assert "Interim" not in shown(page_of(client_for(rosa), study)).text


def test_progress_of_units_costs_two_statements(tmp_path):
    study = opened(material(tmp_path / "m"), scheme="SSA", raters=5)

    assert len(statements(lambda: unit_progress(study))) == 2
