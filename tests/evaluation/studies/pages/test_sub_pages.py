"""The pages of a study: which there are, how they lead to each other, and old addresses."""

import re

import pytest
from django.urls import reverse

from tests.evaluation.makers_of_scores import disputed, make_run, make_scores
from tests.evaluation.studies.hand_made import COOL, WARM, two_arms
from tests.evaluation.studies.pages.address import NAMES, page_of
from tests.shown import markup, shown

pytestmark = pytest.mark.once

# Each page with the tab and the title by which it is open.
PLACES = {
    "study": ("Results", "Answer"),
    "study-merged": ("Results", "Merged against separate"),
    "study-raters": ("Raters", "Agreement"),
    "rater-quality": ("Raters", "Quality"),
    "study-metrics": ("Metrics", "Human–auto agreement"),
    "threshold-choice": ("Metrics", "Threshold choice"),
    "disagreements": ("Cases", ""),
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


def links_of(answer):
    """Return title → address of the tabs and of the pages of the open tab."""
    parts = [*shown(answer).parts("place-tabs"), *shown(answer).parts("place-pages")]
    return {title: to for part in parts for title, to in part.links.items()}


def open_in(answer) -> tuple[str, str]:
    """Return the titles of the open tab and of the open page; "" if its tab has no other page."""
    drawn = markup(answer).partition('class="place"')[2].partition("</nav>")[0]
    titles = {
        kind: re.findall(rf'aria-current="{kind}">([^<]+)</a>', drawn) for kind in ("true", "page")
    }
    [tab], pages = titles["true"], titles["page"]
    return tab, "".join(pages)


# --- from page to page ----------------------------------------------------------------------


@pytest.mark.parametrize(("name", "place"), PLACES.items())
def test_each_page_leads_to_all_tabs_and_says_which_is_open(researcher, study, name, place):
    answer = page_of(researcher, study, name)

    links = links_of(answer)
    assert open_in(answer) == place
    assert [links[tab] for tab in ("Results", "Raters", "Metrics", "Cases")] == [
        address(study, of) for of in ("study", "study-raters", "study-metrics", "disagreements")
    ]
    assert place[1] == "" or links[place[1]] == address(study, name)


@pytest.mark.parametrize("name", [name for name in PLACES if name != "threshold-choice"])
def test_what_is_counted_stays_from_page_to_page(researcher, study, name):
    chosen = CHOSEN | {"setup": study.setups.get(temperature=0.0).name}

    links = links_of(page_of(researcher, study, name, **chosen))

    asked = {"setup": chosen["setup"], "truth": "merged", "with_excluded": "on"}
    for title in ("Results", "Metrics"):
        page = shown(researcher.get(links[title]))
        fields = page.fields
        assert (fields["setup"], fields["truth"]) == (asked["setup"], "merged"), title
        assert fields["with_excluded"] == ["on"], title
    fields = shown(researcher.get(links["Cases"])).fields
    assert (fields["setup"], fields["truth"]) == (asked["setup"], "merged")


@pytest.mark.parametrize("name", NAMES)
def test_a_filter_asks_the_page_that_is_open(researcher, study, name):
    assert address(study, name) in shown(page_of(researcher, study, name)).actions


@pytest.mark.parametrize("name", NAMES)
def test_what_is_counted_is_said_and_unfolded_when_it_is_not_the_usual(researcher, study, name):
    usual, chosen = (page_of(researcher, study, name, **asked) for asked in ({}, CHOSEN))

    folded, unfolded = (shown(answer).parts("counted")[0] for answer in (usual, chosen))
    assert folded.text.startswith("Counted: all 2 setups; agreement over given votes")
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
