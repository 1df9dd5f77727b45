"""The dataset on which a form opens: the one that its address names, or the usual one."""

import pytest
from django.utils import timezone

from generation.dataset_menus import datasets_with_examples, usual_dataset
from generation.models import Dataset, Grid, Import
from generation.services.datasets import create_dataset
from tests.makers import example_row, import_rows, rated
from tests.shown import shown

pytestmark = pytest.mark.once


@pytest.mark.parametrize(
    ("address", "wrong", "field"),
    [
        ("/grids/new/", "dataset tower", "over"),
        ("/grids/new/", "sample 99", "over"),
        ("/grids/new/file/", "dataset tower", "dataset"),
        ("/studies/new/", "dataset tower", "dataset"),
        ("/metrics/new/", "dataset tower", "over"),
        ("/metrics/new/", "study tower", "over"),
        ("/graphs/pull/", "dataset tower", "dataset"),
    ],
)
def test_an_address_that_names_what_is_not_there_chooses_nothing(
    client_for, adam, tmp_path, address, wrong, field
):
    rated(tmp_path, {"a": {"q": ["yes"]}}, name="mill")
    kind, _, key = wrong.partition(" ")

    page = shown(client_for(adam).get(address, {kind: key}))

    said = [page.errors.get(field, ""), *page.messages]
    assert [words for words in said if f"There is no {wrong}." in words]
    offered = [*page.choices(field)] if address != "/graphs/pull/" else [""]
    assert offered[0] == ""
    assert page.fields[field] in ("", f"{kind}:{key}")


def test_a_dataset_that_a_form_cannot_work_with_is_said_to_be_there(client_for, rosa, tmp_path):
    import_rows(tmp_path, "Tower", examples=[example_row()])
    for address, words in [
        ("/metrics/new/", "Tower has no responses to score."),
        ("/studies/new/", "Tower has no responses to rate."),
    ]:
        rated(tmp_path / address[1], {"a": {"q": ["yes"]}}, name="mill")
        page = shown(client_for(rosa).get(address, {"dataset": "tower"}))
        assert words in f"{page.errors} {page.messages}"


def test_a_form_opens_on_the_dataset_that_a_person_last_used(rosa, adam, tmp_path):
    for name in ("old", "used", "newest", "put away"):
        import_rows(tmp_path / name, name, examples=[example_row()])
    create_dataset("empty")
    there = {each.name: each for each in Dataset.objects.all()}
    Dataset.objects.filter(name="put away").update(archived_at=timezone.now())

    def opened(user):
        found = usual_dataset(datasets_with_examples(), user)
        return found and found.name

    assert opened(rosa) == "newest"
    Import.objects.create(requested_by=rosa, file_name="a", name="old", dataset=there["old"])
    assert opened(rosa) == "old"
    Grid.objects.create(requested_by=rosa, dataset=there["used"], name="g", choices={})
    assert opened(rosa) == "used"
    Grid.objects.create(requested_by=rosa, dataset=there["put away"], name="h", choices={})
    assert opened(rosa) == "used"
    assert opened(adam) == "newest"
