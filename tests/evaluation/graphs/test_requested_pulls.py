"""Requesting a pull: refusals, requests that are the same again, and simultaneous requests."""

import pytest
from django.db import connection

from evaluation.graphs.services import graph_pull
from evaluation.graphs.services.graph_pull import PullPlan, request_pull, user_agent
from evaluation.jobs.kinds import kind_of
from evaluation.jobs.services import JobError
from evaluation.models import Job
from generation.models import Dataset
from generation.services.datasets import create_dataset, free_slug
from tests.evaluation.graphs.pulls import HASTY, asked_for, found, pulled, qids
from tests.makers import audit_actions

pytestmark = pytest.mark.both

NOWHERE = "http://127.0.0.1:1/"


@pytest.fixture(autouse=True)
def hasty(monkeypatch):
    monkeypatch.setattr(graph_pull, "PATIENCE", HASTY)


@pytest.mark.parametrize(
    ("change", "field", "said"),
    [
        ({"names": ()}, "names", "Found no name; expected a name or a qid"),
        ({"names": ("x" * 501,)}, "names", "expected at most 500"),
        ({"names": tuple(map(str, range(5001)))}, "names", "Found 5,001 names; expected at most"),
        ({"dataset": " "}, "dataset", "Expected the name of a dataset"),
        ({"names": ("a\0b",)}, "names", "Found a NUL character"),
        ({"names": ("\ud800",)}, "names", "Found a lone surrogate"),
        ({"dataset": "a\0"}, "dataset", "Expected the name of a dataset"),
        ({"dataset": "\udfff"}, "dataset", "Expected the name of a dataset"),
        ({"endpoint": "ftp://host/"}, "endpoint", "expected the address of an endpoint"),
        ({"endpoint": "http://10.0.0.1/"}, "endpoint", "expected a public one"),
        ({"language": "english!"}, "language", "expected the code of a language"),
        ({"entities": "http://a/> ?s ?p"}, "entities", "expected an address that ends in / or #"),
    ],
)
def test_choices_that_cannot_be_used_are_refused_and_nothing_is_made(change, field, said):
    plan = PullPlan("painters", ("Rome",))._replace(**change)

    with pytest.raises(JobError, match=said) as refused:
        request_pull(plan, None)

    assert refused.value.field == field
    assert not Job.objects.exists()
    assert not Dataset.objects.exists()


@pytest.mark.parametrize("name", ["a\0", "\ud800"])
def test_no_dataset_has_a_name_that_no_database_holds(name):
    assert graph_pull.dataset_named(name) is None


def test_names_are_asked_for_once_without_white_space_around_them():
    job = asked_for(NOWHERE, " Rome ", "", "Rome", "New\t York")

    assert job.parameters["names"] == ["Rome", "New York"]
    assert (str(job.dataset), job.n_total) == ("painters", 2)
    assert audit_actions() == [("job.requested", "painters, pull 1")]


def test_a_pull_that_ended_is_done_again_when_it_is_asked_for_again(oxigraph):
    first = pulled(oxigraph.url, "Aristotle")
    again = pulled(oxigraph.url, "Aristotle")

    assert (first.name, again.name) == ("painters, pull 1", "painters, pull 2")
    assert found(again) == {"Aristotle": [("Q868", False)]}


def test_a_dataset_that_somebody_makes_meanwhile_is_added_to(monkeypatch):
    """Not there when it is looked for, twice; there when it is made."""
    mine = create_dataset("painters")
    look, looks = graph_pull.dataset_named, iter([None, None])
    monkeypatch.setattr(graph_pull, "dataset_named", lambda each: next(looks, look(each)))

    assert asked_for(NOWHERE, "Rome").dataset == mine


def test_models_are_loaded_while_nothing_else_has_to_wait(monkeypatch):
    create_dataset("painters")
    began, inside = list(connection.savepoint_ids), []

    def has_model(_):
        inside.append(list(connection.savepoint_ids))
        return True

    monkeypatch.setattr(graph_pull, "has_model", has_model)
    asked_for(NOWHERE, with_mentions=True)

    assert inside == [began]


def test_other_choices_are_another_pull():
    first = asked_for(NOWHERE, "Rome")
    assert asked_for(NOWHERE, "Rome").pk == first.pk
    assert asked_for(NOWHERE, "Pisa").pk != first.pk


def test_deleting_a_pull_leaves_the_graph_and_deleting_the_dataset_deletes_the_pull(oxigraph):
    job = pulled(oxigraph.url, "Aristotle")
    kind_of(job).delete(job, None)
    assert qids() == ["Q868"]

    pulled(oxigraph.url, "Aristotle")
    Dataset.objects.get().delete()
    assert not Job.objects.exists()


def test_owners_of_endpoints_learn_who_asks_and_whom_to_write_to(settings):
    settings.CONTACT = "attest@example.org\n"
    assert user_agent() == (
        f"Attest/{settings.VERSION} (attest@example.org; knowledge-graph pull) SPARQLWrapper/2.0.0"
    )


def test_no_dataset_has_the_address_of_the_page_for_pulls():
    assert free_slug(Dataset, "Pull") == "pull-2"
