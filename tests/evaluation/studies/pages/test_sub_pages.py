"""The pages of a study: which there are, how they lead to each other, and old addresses."""

import re

import pytest
from django.urls import reverse

from tests.evaluation.makers_of_scores import disputed, make_run, make_scores
from tests.evaluation.studies.hand_made import COOL, WARM, two_arms
from tests.evaluation.studies.pages.address import NAMES, page_of
from tests.shown import markup, shown

pytestmark = pytest.mark.once

TITLES = {
    "Results": "study",
    "Merged against separate": "study-merged",
    "Raters": "study-raters",
    "Rater quality": "rater-quality",
    "Metrics": "study-metrics",
    "Disagreements": "disagreements",
    "Methods": "study-methods",
}
CHOSEN = {"truth": "merged", "with_implied": "on", "with_excluded": "on"}


@pytest.fixture
def study(tmp_path):
    """A study of two arms, two setups and a run. One rater is excluded, so you may count them."""
    arms = {"a": ("yyy", "yyn"), "b": ("nnn", "yyn")}
    study = two_arms(tmp_path / "s", arms, setups={"a": COOL, "b": WARM})
    study.raters.filter(code="w1").update(is_excluded=True)
    make_scores(make_run(study.dataset), {"a": 0.9, "b": 0.1})
    return study


def address(study, name):
    return reverse(f"evaluation:{name}", args=[study.slug])


def tabs_of(answer):
    """Return title → address of each page of the study, and the title of the open one."""
    [tabs] = shown(answer).parts("tabs--pages")
    drawn = markup(answer).partition("tabs--pages")[2].partition("</nav>")[0]
    [here] = re.findall(r'aria-current="page">([^<]+)</a>', drawn)
    return tabs.links, here


# --- from page to page ----------------------------------------------------------------------


@pytest.mark.parametrize(("title", "name"), TITLES.items())
def test_each_page_leads_to_all_of_them_and_says_which_is_open(researcher, study, title, name):
    links, here = tabs_of(page_of(researcher, study, name))

    assert links == {each: address(study, of) for each, of in TITLES.items()}
    assert here == title


def test_the_page_of_a_threshold_choice_belongs_to_metrics(researcher, study):
    assert tabs_of(page_of(researcher, study, "threshold-choice"))[1] == "Metrics"


@pytest.mark.parametrize("name", NAMES)
def test_what_is_counted_stays_from_page_to_page(researcher, study, name):
    chosen = CHOSEN | {"setup": study.setups.get(temperature=0.0).name}

    links, _ = tabs_of(page_of(researcher, study, name, **chosen))

    quality = links.pop("Rater quality")  # it has no such choices, and hands them on
    assert tabs_of(researcher.get(quality))[0] == links | {"Rater quality": quality}
    for title, to in links.items():
        page = shown(researcher.get(to))
        fields = page.fields
        assert (fields["setup"], fields["truth"]) == (chosen["setup"], "merged"), title
        assert fields["with_excluded"] == ["on"], title
        if title != "Disagreements":  # implied votes only count for agreement
            assert fields["with_implied"] == ["on"], title


def test_from_the_disagreements_arm_and_setup_stay(researcher, study):
    chosen = {"truth": "merged", "setup": study.setups.get(temperature=0.0).name}

    links, _ = tabs_of(page_of(researcher, study, "disagreements", kind="missed", **chosen))

    fields = shown(researcher.get(links["Raters"])).fields
    assert (fields["setup"], fields["truth"]) == (chosen["setup"], "merged")
    assert "kind" not in links["Raters"]


@pytest.mark.parametrize("name", NAMES)
def test_a_filter_asks_the_page_that_is_open(researcher, study, name):
    assert address(study, name) in shown(page_of(researcher, study, name)).actions


@pytest.mark.parametrize("name", NAMES)
def test_what_is_counted_is_said_and_unfolded_when_it_is_not_the_usual(researcher, study, name):
    usual, chosen = (page_of(researcher, study, name, **asked) for asked in ({}, CHOSEN))

    folded, unfolded = (shown(answer).parts("counted")[0] for answer in (usual, chosen))
    assert folded.text.startswith("What is counted: all 2 setups; agreement over given votes")
    assert "agreement over given and implied votes, excluded raters counted" in unfolded.text
    assert "truth of the merged arm" in unfolded.text
    assert '<details class="counted">' in usual.text
    assert '<details class="counted" open>' in chosen.text


def test_a_page_has_the_data_of_its_own_charts_alone(researcher, study):
    charts = {
        name: set(shown(page_of(researcher, study, name)).data("plots")["charts"]) for name in NAMES
    }

    assert charts == {
        "study": {"answer", "scenarios"},
        "study-merged": {"shifts"},
        "study-raters": set(),
        "study-metrics": {"accuracy", "roc", "calibration"},
        "study-methods": set(),
    }


# --- old addresses --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "query", ["run=7&question=q&truth=merged", "question=q", "run=7&setup=m%20%C2%B7%20T%200.0"]
)
def test_an_old_address_with_a_run_or_a_question_leads_to_metrics(researcher, study, query):
    answer = researcher.get(f"{address(study, 'study')}?{query}")

    assert answer.status_code == 302
    assert answer.url == f"{address(study, 'study-metrics')}?{query}"


def test_an_old_address_with_a_run_shows_this_run(researcher, tmp_path):
    study, run = disputed(tmp_path)
    make_scores(make_run(study.dataset, signature="other"), {"r-miss": 0.9})

    page = shown(researcher.get(address(study, "study"), {"run": run.pk}, follow=True))

    assert "3 disagreements in 4 cases" in page.part("cm").text


# --- which do not exist ---------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_study_that_does_not_exist_has_no_pages(researcher, db, name):
    assert researcher.get(reverse(f"evaluation:{name}", args=["nothing"])).status_code == 404
