"""The command pull_graph: run at once, or stopped and continued."""

import io

import pytest
from django.core.management import CommandError, call_command

from evaluation.graphs.services import graph_pull
from evaluation.models import Job
from generation.models import Entity
from generation.records import KGQuestionRecord, Where
from generation.retrieval.sparql import EndpointPatience
from generation.services.datasets import create_dataset
from generation.services.graphs import store_kg_questions
from tests.endpoint_server import endpoint_server, forwards, refuses
from tests.evaluation.commands import failure

pytestmark = pytest.mark.once


@pytest.fixture(autouse=True)
def hasty(monkeypatch):
    monkeypatch.setattr(graph_pull, "PATIENCE", EndpointPatience(query=5.0, n_tries=1, between=0.0))


def pull(url, *arguments):
    out = io.StringIO()
    call_command(
        *("pull_graph", "bards", *arguments, "--endpoint", url, "--allow-private", "--yes"),
        stdout=out,
        stderr=io.StringIO(),
    )
    return out.getvalue()


def test_it_pulls_names_of_the_command_line_and_of_a_file(oxigraph, tmp_path):
    file = tmp_path / "names.txt"
    file.write_text("Flannery O'Connor\n\nQ232478\nnobody\n", encoding="utf-8-sig")

    said = pull(oxigraph.url, "Anne Hathaway", "--names", str(file))

    assert said.splitlines() == [
        "Anne Hathaway: Anne Hathaway (Q36301, human); Anne Hathaway (Q232478, human)",
        "Flannery O'Connor: Flannery O'Connor (Q234579, human)",
        "Q232478: Anne Hathaway (Q232478, human), already there",
        "nobody: not found",
        "3 new entities with 23 triples, 1 already there, 1 of 4 names not found.",
        "Left out: 3 identifiers and files, 1 unknown values.",
    ]


def test_it_pulls_what_questions_name_and_the_graph_lacks_into_a_dataset_by_its_slug(oxigraph):
    dataset = create_dataset("Bards")
    where = Where("hand-made", 1)
    store_kg_questions(dataset, [KGQuestionRecord(where, "q", "?", ("Q692",), None, None)])

    assert "William Shakespeare (Q692, human)" in pull(oxigraph.url, "--missing")
    assert Entity.objects.get().dataset == dataset


def test_after_trouble_the_same_command_goes_on(oxigraph, monkeypatch):
    monkeypatch.setattr(graph_pull, "NAMES_TOGETHER", 1)
    with endpoint_server(*[forwards(oxigraph.url)] * 3, refuses(503)) as server:
        with pytest.raises(CommandError, match="503 Service Unavailable") as stopped:
            pull(server.url, "Aristotle", "Rome")
        assert str(stopped.value).endswith("1 of at most 2 names is kept.")
        server.plan = [forwards(oxigraph.url)]
        pull(server.url, "Aristotle", "Rome")

    assert Job.objects.get().result["totals"]["n_new"] == 2


def test_what_cannot_be_used_is_said_in_a_line(tmp_path):
    def refused(*arguments):
        return failure("pull_graph", "bards", *arguments)

    assert "expected a name or a qid, one on each line.\nNothing was pulled." in refused()
    assert "expected a public one" in refused("Rome", "--endpoint", "http://127.0.0.1:1/")
    assert "No such file" in refused("--names", tmp_path / "none.txt")
    (tmp_path / "latin.txt").write_bytes("Düsseldorf".encode("latin-1"))
    assert "not UTF-8. Save it" in refused("--names", tmp_path / "latin.txt")
    assert not Job.objects.exists()
