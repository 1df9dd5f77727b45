"""The page of a new construction: the check of its file, then its start."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from evaluation.models import Job
from generation.models import Checkpoint, Construction
from tests.evaluation.graphs.construction.reviewed_constructions import address
from tests.shown import shown

pytestmark = pytest.mark.once

HEAD = "paragraph,name_1,relation,name_2\n"
GOOD = "Anne married William.,Anne Hathaway,spouse,William Shakespeare\n"
SHORT = "Anne married William.,Anne,spouse,William Shakespeare\n"
STRANGE = "Anne met William.,Anne Hathaway,met by <b>chance</b>,William Shakespeare\n"


@pytest.fixture
def admin(client_for, adam):
    return client_for(adam)


@pytest.fixture
def model():
    return Checkpoint.objects.create(name="small", backend="openai", location="http://127.0.0.1:1")


def file_of(text, name="entries.csv"):
    return SimpleUploadedFile(name, text.encode())


def counts(page):
    """Return the number of entries by what will happen to them."""
    return dict(page.table("Entries by").rows)


class TestNew:
    def check(self, client, text, **more):
        return client.post(address("new"), {"do": "check", "file": file_of(text)} | more)

    def test_researchers_do_not_start_any(self, researcher):
        assert researcher.get(address("new")).status_code == 403
        assert researcher.post(address("new"), {"do": "check"}).status_code == 403

    def test_the_check_counts_what_is_left_out_and_stores_nothing(self, admin, model):
        page = shown(self.check(admin, HEAD + GOOD * 3 + SHORT * 2 + STRANGE))

        assert counts(page) == {
            "Entries": "6",
            "Left out: incomplete name": "2",
            "Left out: unknown relation": "1",
            "To be looked up": "3",
        }
        assert any(item.startswith("entries.csv, line 5: found “Anne”") for item in page.items)
        assert "met by <b>chance</b> 1" in page.items
        assert not Construction.objects.exists()

    def test_bad_rows_are_named_by_line_and_field_and_nothing_can_be_started(self, admin, model):
        answer = self.check(admin, HEAD + GOOD + "Anne.,Anne Hathaway,,William Shakespeare\n")

        assert answer.status_code == 422
        page = shown(answer)
        assert any("1 problem in the rows of the file." in message for message in page.messages)
        [[line, field, *_]] = page.table("Rows that cannot be read").rows
        assert (line, field) == ("3", "relation")
        assert "Start the construction" not in page.text

    @pytest.mark.parametrize(
        ("files", "why"),
        [
            ({}, "Choose a file of entries."),
            ({"file": file_of("{}", "entries.zip")}, "expected"),
            ({"file": file_of("x" * (1024**2 + 1))}, "expected at most 1.0 MB"),
            ({"file": file_of(HEAD + GOOD), "relations": file_of("[]", "r.json")}, "r.json"),
            ({"checked": "forged"}, "Choose the file again."),
        ],
    )
    def test_what_is_no_file_of_entries_is_said_where_it_stands(self, admin, files, why):
        answer = admin.post(address("new"), {"do": "check"} | files)

        assert answer.status_code == 422
        assert why in shown(answer).errors["file"]

    def test_relations_of_ones_own_count(self, admin, model):
        own = {"relations": {"met by chance": {"properties": ["P9"]}}}
        strange = "A.,Anne Hathaway,met by chance,William Shakespeare\n"
        answer = self.check(admin, HEAD + strange, relations=file_of(json.dumps(own), "own.json"))

        assert counts(shown(answer))["To be looked up"] == "1"

    def test_without_a_model_there_is_nobody_to_ask(self, admin):
        page = shown(self.check(admin, HEAD + GOOD))

        assert any("No language model is listed." in message for message in page.messages)
        assert "Start the construction" not in page.text

    def start(self, client, **more):
        checked = self.check(client, HEAD + GOOD + SHORT).context["entries"].upload.signed
        choices = {
            "do": "start",
            "seen_calls": "1000",  # the plan that the person has seen has no more calls
            "checked": checked,
            "name": "Bards",
            "model": "small",
            "precision": "fp32",
            "temperature": "0.1",
            "n_rounds": "2",
            "seed": "7",
            "endpoint": "https://query.wikidata.org/sparql",
            "entities": "http://www.wikidata.org/entity/",
            "language": "en",
        }
        return client.post(address("new"), choices | more)

    def test_what_was_checked_is_what_starts(self, admin, model):
        answer = self.start(admin, endpoint="http://127.0.0.1:1/", allow_private="on")

        made = Construction.objects.get()
        assert answer.url == address("construction", made.pk)
        assert made.parameters["n_rounds"] == 2
        assert [(e.number, e.state) for e in made.entries.all()] == [
            (1, "waiting"),
            (2, "left_out"),
        ]
        assert made.job.state == Job.State.QUEUED
        assert str(made.requested_by) == "adam"

    @pytest.mark.parametrize(
        ("choice", "why"),
        [
            ({"name": ""}, "required"),
            ({"endpoint": "http://127.0.0.1:1/"}, "tick “Allow an endpoint in our own network”"),
            ({"n_rounds": "7"}, "less than or equal to 6"),
            ({"precision": "bf16"}, "This model has only fp32."),
        ],
    )
    def test_a_choice_that_cannot_be_used_is_said_and_the_check_stays(
        self, admin, model, choice, why
    ):
        answer = self.start(admin, **choice)

        assert answer.status_code == 422
        page = shown(answer)
        assert any("Not started." in message for message in page.messages)
        [field] = choice
        assert why in page.errors[field]
        assert counts(page)["To be looked up"] == "1"
        assert not Construction.objects.exists()
