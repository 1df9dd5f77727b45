"""The pages of set-up: their number of queries, the users who may see them, and links to them."""

import pytest
from django.urls import reverse

from annotation.models import Study
from annotation.services.claiming import claim_next_unit
from annotation.services.studies import pause_study
from tests.annotation.planned import (
    make_dataset,
    make_open_study,
    make_raters,
    make_study,
)
from tests.annotation.setup.pages import NEW, page_of, plan_it
from tests.makers import import_rows, pilot_rows, statements
from tests.shown import shown

pytestmark = pytest.mark.once


# --- costs -----------------------------------------------------------------------------------


@pytest.mark.parametrize("is_open", [False, True])
def test_the_page_costs_the_same_statements_however_large_the_study(
    client_for, rosa, tmp_path, is_open
):
    client = client_for(rosa)
    raters = make_raters(8)
    make = make_open_study if is_open else make_study
    # Times of another study with the same questions are looked for.
    make(make_dataset(tmp_path, 1, "other"), rosa, raters[:5], name="other")

    def cost(n_examples, n_raters):
        dataset = make_dataset(tmp_path, n_examples, f"d{n_examples}")
        study = make(dataset, rosa, raters[:n_raters], name=f"s{n_examples}")
        if is_open:
            for rater in study.raters.all():
                claim_next_unit(rater)
        client.get(page_of(study))  # what a first page loads once
        return len(statements(lambda: client.get(page_of(study))))

    small, large = cost(2, 5), cost(40, 8)

    assert small == large
    assert large <= 40


# --- who may ---------------------------------------------------------------------------------


POSTS = ["change-state", "extend-study", "add-raters"]
PAGES = ["study-setup", "edit-study", "preview", "edit-guidelines"]


@pytest.mark.parametrize("name", POSTS)
def test_get_changes_nothing(researcher, planned, name):
    assert researcher.get(page_of(planned, name)).status_code == 405


@pytest.mark.parametrize("name", [*POSTS, *PAGES])
def test_an_imported_study_has_no_set_up(researcher, tmp_path, name):
    import_rows(tmp_path / "pilot", **pilot_rows())
    study = Study.objects.get()

    url = page_of(study, name)
    answer = researcher.post(url) if name in POSTS else researcher.get(url)

    assert answer.status_code == 404


@pytest.mark.parametrize("name", [*POSTS, *PAGES])
def test_a_rater_sees_no_set_up(client_for, opened, raters, name):
    client = client_for(raters[0])

    url = page_of(opened, name)
    answer = client.post(url) if name in POSTS else client.get(url)

    assert answer.status_code == 403


def test_an_admin_sets_studies_up_too(client_for, adam, planned):
    assert client_for(adam).get(page_of(planned)).status_code == 200


# --- ways there ------------------------------------------------------------------------------


def test_studies_and_datasets_lead_to_a_new_study(researcher, dataset):
    studies = shown(researcher.get(reverse("annotation:studies")))
    page = shown(researcher.get(reverse("generation:dataset", args=[dataset.slug])))

    assert NEW in studies.addresses
    assert f"{NEW}?dataset={dataset.slug}" in page.addresses


def test_report_and_set_up_lead_to_each_other(researcher, opened):
    report = reverse("evaluation:study", args=[opened.slug])

    assert page_of(opened) in shown(researcher.get(report)).addresses
    assert report in shown(researcher.get(page_of(opened))).addresses


def test_no_study_takes_the_address_of_the_form(researcher, dataset):
    plan_it(researcher, dataset, name="New")

    assert Study.objects.get().slug == "new-2"


def test_pausing_stops_what_is_handed_out(researcher, opened, rosa):
    pause_study(opened, rosa)
    rater = opened.raters.select_related("study").get(code="R-1")

    assert claim_next_unit(rater) is None
