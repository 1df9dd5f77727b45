"""The list of constructions, and the page of one, over rows made by hand."""

import pytest
from django.urls import reverse

from evaluation.models import Job
from generation.models import Construction
from tests.construction_material import add_built, add_entry, make_construction
from tests.evaluation.graphs.construction.reviewed_constructions import (
    address,
    decide,
    entry_of,
    make_bards,
)
from tests.makers import statements
from tests.shown import shown

pytestmark = pytest.mark.once


@pytest.fixture
def admin(client_for, adam):
    return client_for(adam)


@pytest.fixture
def bards(rosa):
    return make_bards(rosa)


def card_of(construction):
    return reverse("work:card", args=["construction", construction.job.pk])


class TestList:
    def test_none_yet(self, researcher, admin):
        [message] = shown(researcher.get(address("constructions"))).messages
        assert "An admin can start a construction" in message
        assert address("new") in shown(admin.get(address("constructions"))).addresses

    def test_each_says_how_far_it_is(self, researcher, bards):
        [[name, *counts]] = shown(researcher.get(address("constructions"))).table().rows

        assert name.startswith("Bards scripted, ")
        assert counts == ["done", "6", "3", "0", "none"]

    def test_it_costs_the_same_however_many_there_are(self, researcher, bards):
        n_few = len(statements(lambda: researcher.get(address("constructions"))))
        for n in range(4):
            add_built(make_construction(f"More {n}"))

        assert len(statements(lambda: researcher.get(address("constructions")))) == n_few


class TestConstruction:
    def test_the_way_of_its_entries(self, researcher, bards):
        """There are 6 entries: one incomplete name, one not connected, one failed, 3 built."""
        page = shown(researcher.get(address("construction", bards.pk)))

        way = {step: left for step, *left, _ in page.table("The steps").rows}
        assert way["Entries"] == ["—", "6", "100.0"]
        assert way["Complete names"] == ["1", "5", "83.3"]
        assert way["Relation known"] == ["0", "5", "83.3"]
        assert way["Connected by an edge"] == ["1", "4", "66.7"]
        assert way["Built"] == ["1", "3", "50.0"]
        assert "1 entry failed, because the model wrote nothing that can be read." in page.text
        assert [page.facts[name] for name in ("Kept", "Dropped", "Open")] == ["0", "0", "3"]
        calls = dict(page.table("Choices").rows)["Calls"]
        assert calls.startswith("17, 5 of which could not be read")

    def test_it_costs_the_same_however_many_entries_it_has(self, researcher, bards):
        n_few = len(statements(lambda: researcher.get(address("construction", bards.pk))))
        for _ in range(10):
            add_built(bards)

        assert len(statements(lambda: researcher.get(address("construction", bards.pk)))) == n_few

    @pytest.mark.parametrize(
        ("query", "numbers"),
        [
            ("", [1, 2, 3, 4, 5, 6]),
            ("became=built", [4, 5, 6]),
            ("became=left_out", [1, 2]),
            ("became=not_connected", [2]),
            ("became=failed", [3]),
            ("verdict=open", [5, 6]),
            ("verdict=keep", [4]),
            ("became=failed&verdict=keep", []),
            ("became=nonsense", [1, 2, 3, 4, 5, 6]),
        ],
    )
    def test_entries_by_what_became_of_them(self, researcher, bards, query, numbers):
        bards.entries.filter(number=4).update(verdict="keep")

        page = researcher.get(f"{address('construction', bards.pk)}?{query}").context["page"]

        assert [entry.number for entry in page] == numbers

    @pytest.mark.parametrize(
        ("state", "said"),
        [
            (Job.State.QUEUED, "when a worker is free"),
            (Job.State.RUNNING, "Cancel"),
            (Job.State.CANCELLED, "Resume"),
            (Job.State.FAILED, "It stopped. http://127.0.0.1:1/: no connection"),
        ],
    )
    def test_states_of_its_job(self, admin, state, said):
        error = "http://127.0.0.1:1/: no connection" if state == Job.State.FAILED else ""
        construction = make_construction(state=state, error=error)
        add_entry(construction)

        page = shown(admin.get(address("construction", construction.pk)))

        places = [*page.facts.values(), *page.buttons, *page.messages]
        assert any(place.startswith(said) for place in places)
        assert "0 of 1 entry finished" in page.text
        assert "1 entry still waits to be looked up" in page.text

    def test_progress_says_when_the_page_is_out_of_date(self, researcher):
        construction = make_construction(state=Job.State.RUNNING)
        add_entry(construction)
        same = researcher.get(card_of(construction), {"seen": "0-0"})
        add_built(construction)
        other = researcher.get(card_of(construction), {"seen": "0-0"})

        assert "HX-Trigger" not in same
        assert "work-changed" in other["HX-Trigger"]

    def test_its_job_leads_to_it(self, researcher, admin, bards):
        answer = researcher.get(reverse("evaluation:job", args=[bards.job.pk]))
        assert answer.url == address("construction", bards.pk)
        assert "Questions about a graph" in shown(researcher.get(reverse("work:all"))).text

        admin.post(reverse("work:delete", args=["construction", bards.job.pk]))
        assert not Construction.objects.exists()

    def test_what_failed_is_tried_once_more(self, admin, researcher, bards):
        resume = reverse("work:resume", args=["construction", bards.job.pk])
        assert researcher.post(resume).status_code == 403
        admin.post(resume)

        bards.job.refresh_from_db()
        assert bards.job.state == Job.State.QUEUED
        assert entry_of(bards, 3).state == "writing"

    def test_it_says_how_many_are_tried_again(self, admin, researcher, bards):
        here = address("construction", bards.pk)
        buttons = shown(admin.get(here)).buttons
        assert any("Try 1 failed again" in button for button in buttons)
        assert "failed again" not in shown(researcher.get(here)).text
        bards.entries.filter(state="failed").delete()
        assert "failed again" not in shown(admin.get(here)).text

    def test_only_admins_delete_it(self, admin, researcher, bards):
        assert researcher.post(address("delete", bards.pk)).status_code == 403
        page = shown(admin.post(address("delete", bards.pk), follow=True))

        assert "Bards is deleted." in page.messages
        assert not Construction.objects.exists()


def test_raters_see_none_of_it(client_for, rachel, bards):
    client = client_for(rachel)

    assert client.get(address("construction", bards.pk)).status_code == 403
    assert decide(client, bards, 4, "keep").status_code == 403
