"""Views saved by a name: saved, opened, replaced after a word, deleted."""

import pytest
from django.urls import reverse

from evaluation.models import SavedView
from evaluation.tradeoffs.forms.saved_views import SavedViewForm
from evaluation.tradeoffs.services.saved_views import delete_view, save_view
from tests.makers import example_row, import_rows, response_row
from tests.shown import markup

pytestmark = pytest.mark.once


@pytest.fixture
def dataset(tmp_path):
    scores = [{"response": "r1", "metric": m, "score": 0.9} for m in ("auto_ais", "sensible")]
    return import_rows(
        tmp_path / "own", "own", examples=[example_row()], responses=[response_row()], scores=scores
    ).dataset


def addresses():
    return dict(SavedView.objects.values_list("name", "address"))


def test_a_name_is_taken_once_and_replaced_when_told_so(dataset, rosa, adam):
    save_view(dataset, "Ours", "figure=2", rosa)

    assert save_view(dataset, "Ours", "figure=3", adam) is None
    assert addresses() == {"Ours": "figure=2"}
    again = save_view(dataset, "Ours", "figure=2", adam)
    assert again
    assert again.saved_by == rosa  # the same again is no other view

    replaced = save_view(dataset, "Ours", "figure=3", adam, replaces=True)

    assert addresses() == {"Ours": "figure=3"}
    assert replaced
    assert replaced.saved_by == adam
    delete_view(replaced)
    assert addresses() == {}


def test_a_view_is_saved_shown_and_deleted_on_the_page(dataset, rosa, client_for):
    client = client_for(rosa)
    here = reverse("tradeoffs:tradeoff", args=[dataset.slug])
    save = reverse("tradeoffs:save-view", args=[dataset.slug])

    saved = client.post(save, {"name": "Ours", "address": "figure=2&labels=1"})
    assert saved.headers["Location"] == f"{here}?figure=2&labels=1"
    page = markup(client.get(f"{here}?figure=2&labels=1"))
    assert "The view is saved as “Ours”." in page
    assert f'href="{here}?figure=2&amp;labels=1" aria-current="page"><bdi>Ours</bdi> <span' in page

    refused = client.post(save, {"name": "Ours", "address": "x_from=0.5"})
    assert refused.status_code == 422
    page = markup(refused)
    assert "There is another view with this name." in page
    # What was typed and seen is still there.
    assert 'value="Ours"' in page
    assert 'name="address" value="x_from=0.5"' in page
    assert 'name="x_from" min="0" max="1" step="any" value="0.5"' in page
    client.post(save, {"name": "Ours", "address": "", "replaces": "on"})
    assert addresses() == {"Ours": ""}

    view = SavedView.objects.get()
    client.post(reverse("tradeoffs:delete-view", args=[dataset.slug, view.pk]))
    assert addresses() == {}


@pytest.mark.parametrize(
    ("posted", "said"),
    [
        ({"name": " "}, "This field is required"),
        ({"name": "A", "address": "figure=2\r\nX"}, "address after the ?."),
        ({"name": "A" * 101}, "at most 100 characters"),
        ({"name": "\u202e\u200b"}, "Expected a letter, a digit or another visible character."),
        ({"name": "A", "address": "figure=2%00"}, "address after the ?."),
        ({"name": "A", "address": "model=" + "m" * 4000}, "at most 4,000 characters"),
    ],
)
def test_a_wrong_view_is_refused(dataset, rosa, client_for, posted, said):
    there = reverse("tradeoffs:save-view", args=[dataset.slug])

    answer = client_for(rosa).post(there, posted)

    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert not addresses()


@pytest.mark.parametrize(
    ("address", "kept"),
    [
        ("?//evil.com", ""),
        ("#x", ""),
        ("figure=2&next=//evil.com&prompt=&model=M+8B", "figure=2&prompt=&model=M+8B"),
        ("?figure=2#x", "figure=2%23x"),
    ],
)
def test_an_address_keeps_what_the_page_knows(address, kept):
    form = SavedViewForm({"name": "A", "address": address})

    assert form.is_valid()
    assert form.cleaned_data["address"] == kept


def test_raters_save_nothing(dataset, rachel, client_for):
    there = reverse("tradeoffs:save-view", args=[dataset.slug])

    assert client_for(rachel).post(there, {"name": "Ours"}).status_code == 403
