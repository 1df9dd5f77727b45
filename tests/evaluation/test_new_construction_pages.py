"""The page of a new construction: the check of its file, then its start."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from evaluation.models import Job
from generation.models import Checkpoint, Construction
from tests.evaluation.pages import words
from tests.evaluation.reviewed_constructions import address

pytestmark = pytest.mark.once

HEAD = "paragraph,name_1,relation,name_2\n"
GOOD = "Anne married William.,Anne Hathaway,spouse,William Shakespeare\n"
SHORT = "Anne married William.,Anne,spouse,William Shakespeare\n"
STRANGE = "Anne met William.,Anne Hathaway,met by <b>chance</b>,William Shakespeare\n"


@pytest.fixture
def browser(client_for, rosa):
    return client_for(rosa)


@pytest.fixture
def admin(client_for, adam):
    return client_for(adam)


@pytest.fixture
def model():
    return Checkpoint.objects.create(name="small", backend="openai", location="http://127.0.0.1:1")


def file_of(text, name="entries.csv"):
    return SimpleUploadedFile(name, text.encode())


class TestNew:
    def check(self, client, text, **more):
        return client.post(address("new"), {"do": "check", "file": file_of(text)} | more)

    def test_researchers_do_not_start_any(self, browser):
        assert browser.get(address("new")).status_code == 403
        assert browser.post(address("new"), {"do": "check"}).status_code == 403

    def test_the_check_counts_what_is_left_out_and_stores_nothing(self, admin, model):
        said = words(self.check(admin, HEAD + GOOD * 3 + SHORT * 2 + STRANGE))

        assert "Entries 6 Left out: incomplete name 2 Left out: unknown relation 1" in said
        assert "To be looked up 3" in said
        assert "entries.csv, line 5: found “Anne”; expected two words or more" in said
        assert "met by &lt;b&gt;chance&lt;/b&gt; 1" in said
        assert not Construction.objects.exists()

    def test_bad_rows_are_named_by_line_and_field_and_nothing_can_be_started(self, admin, model):
        answer = self.check(admin, HEAD + GOOD + "Anne.,Anne Hathaway,,William Shakespeare\n")

        assert answer.status_code == 422
        assert "1 problem in its rows." in answer.text
        assert '<td>3</td><th scope="row">relation</th>' in answer.text
        assert "Start the construction" not in answer.text

    @pytest.mark.parametrize(
        ("files", "why"),
        [
            ({}, "Choose a file of entries."),
            ({"file": file_of("{}", "entries.zip")}, "expected"),
            ({"file": file_of("x" * (1024**2 + 1))}, "1.0\xa0MB is the most"),
            ({"file": file_of(HEAD + GOOD), "relations": file_of("[]", "r.json")}, "r.json"),
            ({"checked": "forged"}, "Choose the file again."),
        ],
    )
    def test_what_is_no_file_of_entries_is_said_where_it_stands(self, admin, files, why):
        answer = admin.post(address("new"), {"do": "check"} | files)

        assert answer.status_code == 422
        assert 'id="id_file_error"' in answer.text
        assert why in answer.text

    def test_relations_of_ones_own_count(self, admin, model):
        own = {"relations": {"met by chance": {"properties": ["P9"]}}}
        strange = "A.,Anne Hathaway,met by chance,William Shakespeare\n"
        answer = self.check(admin, HEAD + strange, relations=file_of(json.dumps(own), "own.json"))

        assert "To be looked up 1" in words(answer)

    def test_without_a_model_there_is_nobody_to_ask(self, admin):
        said = words(self.check(admin, HEAD + GOOD))

        assert "No language model is listed." in said
        assert "Start the construction" not in said

    def start(self, client, **more):
        checked = self.check(client, HEAD + GOOD + SHORT).context["entries"].upload.signed
        choices = {
            "do": "start",
            "checked": checked,
            "name": "Bards",
            "model": "small",
            "precision": "fp32",
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
            ({"name": ""}, 'id="id_name_error"'),
            ({"endpoint": "http://127.0.0.1:1/"}, "Tick “The endpoint may be in our own network”"),
            ({"n_rounds": "7"}, 'id="id_n_rounds_error"'),
            ({"precision": "bf16"}, "It is asked in fp32."),
        ],
    )
    def test_a_choice_that_cannot_be_used_is_said_and_the_check_stays(
        self, admin, model, choice, why
    ):
        answer = self.start(admin, **choice)

        assert answer.status_code == 422
        assert "Not started." in answer.text
        assert why in answer.text
        assert "To be looked up 1" in " ".join(words_of(answer).split())
        assert not Construction.objects.exists()


def words_of(answer):
    """Return the text of a page that was refused."""
    answer.status_code = 200
    return words(answer)
