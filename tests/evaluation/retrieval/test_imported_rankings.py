"""The report on retrieval by a ranking that was imported, compared with BM25's."""

import json

import pytest
from django.core.management import call_command
from django.urls import reverse

from evaluation.retrieval.ranked_examples import RetrievalChoices
from evaluation.retrieval.report import retrieval_report
from generation.models import Ranking
from generation.retrieval import dataset_index
from tests.evaluation.commands import failure
from tests.makers import import_path, statements
from tests.shown import shown

pytestmark = pytest.mark.once

# Of e1 golden 'fire' is first. Of e2 golden 'mill' is third, behind z0 and a passage that is not in
# the dataset. Of e3, whose 'fire' and 'mill' are golden, there is nothing. e4 has nothing golden.
RUN = """e1 Q0 fire 1 3.5 dense
e1 Q0 x 2 2.5 dense
e2 Q0 z0 1 9 dense
e2 Q0 elsewhere 2 8 dense
e2 Q0 mill 3 7 dense
e4 Q0 x 1 1 dense
"""
DENSE = RetrievalChoices(ranking="dense")


@pytest.fixture(autouse=True)
def ranking(dataset, tmp_path):
    (tmp_path / "dense.run").write_text(RUN)
    import_path(tmp_path / "dense.run", skip_bad=True)


def address(name, dataset, *more):
    return reverse(f"evaluation:{name}", args=[dataset.slug, *more])


def test_recall_and_precision_are_means_over_examples_worked_out_by_hand(dataset):
    report = retrieval_report(dataset, DENSE)

    # Recall@1: e1 1/1, e2 0/1, e3 0/2. Recall@3: e1 1, e2 1, e3 0.
    recall = [row["recall"] for row in report.records]
    assert recall[:4] == pytest.approx([1 / 3, 1 / 3, 2 / 3, 2 / 3])
    # Precision@1: 1/1, 0/1, 0/1. @2: 1/2, 0/2, 0/2. @3: 1/3, 1/3, 0/3, also of e1, which has two.
    precision = [row["precision"] for row in report.records]
    assert precision[:3] == pytest.approx([1 / 3, (1 / 2) / 3, (1 / 3 + 1 / 3) / 3])
    assert {(row["n"], row["n_unranked"]) for row in report.records} == {(3, 1)}
    assert {row["n_without_shared_words"] for row in report.records} == {None}


def test_both_rankings_are_held_against_the_same_examples(dataset):
    here, dense = retrieval_report(dataset, RetrievalChoices()), retrieval_report(dataset, DENSE)

    assert {row["n"] for row in here.records} == {row["n"] for row in dense.records} == {3}
    assert {row["n_unranked"] for row in here.records} == {0}
    assert here.left_out == dense.left_out


def test_the_signature_says_which_ranking_and_nothing_of_bm25(dataset, tmp_path):
    signature = retrieval_report(dataset, DENSE).signature

    assert signature.startswith("retrieval | ranking dense, ")
    assert ", nothing for 1 of 3 | at most 500 examples, seed 0 | " in signature
    assert "query" not in signature
    assert "bm25" not in signature
    with_query = retrieval_report(dataset, DENSE._replace(query="dialog"))
    assert with_query.signature == signature
    (tmp_path / "more.run").write_text("e3 Q0 fire 1 1 dense\n")
    import_path(tmp_path / "more.run")
    assert retrieval_report(dataset, DENSE).signature != signature


def test_the_page_offers_rankings_by_name_and_shows_the_chosen_one(researcher, dataset):
    page = shown(researcher.get(address("retrieval", dataset)))
    assert page.fields["ranking"] == ""
    assert page.fields["k1"] == "1.5"

    page = shown(researcher.get(address("retrieval", dataset), {"ranking": "dense"}))

    assert page.fields == page.fields | {"ranking": "dense"}
    assert not {"query", "idf", "k1", "b"} & page.fields.keys()
    assert "for 1 of them the ranking lists no passage, which counts as nothing found" in page.text
    table = page.table("Recall and precision")
    assert [table.rows[place][1] for place in (0, 2)] == ["33.3", "66.7"]
    assert address("retrieval-file", dataset, "csv") + "?ranking=dense" in page.addresses
    assert address("missed-examples", dataset) + "?k=3&ranking=dense" in page.addresses


def test_a_ranking_needs_no_index(researcher, dataset, monkeypatch):
    monkeypatch.setattr(dataset_index, "MANY_PASSAGES", 5)

    for name, more in (("retrieval", ()), ("missed-examples", ()), ("retrieval-file", ("csv",))):
        here = address(name, dataset, *more)
        assert "Not indexed" not in researcher.get(here, {"ranking": "dense"}).text
        assert "1,3,2" in researcher.get(here, {"ranking": "dense"}).text or not more
    assert not dataset_index.has_index(dataset.pk)


def test_what_the_ranking_misses_is_listed_with_the_place_of_each_golden_passage(
    researcher, dataset
):
    page = shown(researcher.get(address("missed-examples", dataset), {"ranking": "dense", "k": 2}))

    table = page.table("Examples with their golden passages")
    assert table.columns[0] == "Question"
    assert [row[0].split()[-1] for row in table.rows] == ["e2", "e3"]
    assert table.rows[0][2].startswith("place 3 mill")
    assert table.rows[1][2].count("not among 10") == 2


def test_the_page_takes_a_fixed_number_of_queries(researcher, dataset):
    def n_statements():
        page = address("retrieval", dataset)
        return len(statements(lambda: researcher.get(page, {"ranking": "dense"})))

    n_statements()
    few = n_statements()
    Ranking.objects.bulk_create(Ranking(dataset=dataset, name=f"other {n}") for n in range(30))

    assert n_statements() == few


def test_the_page_of_the_report_offers_it_too(researcher, dataset):
    here = address("report-of-dataset", dataset, "retrieval")

    page = shown(researcher.get(here, {"ranking": "dense"}))

    assert page.fields["ranking"] == "dense"
    assert "33.3" in page.text


def test_command_and_api_take_it_by_name(researcher, dataset, capsys):
    call_command("report", "retrieval", dataset="pilot", ranking="dense", format="json")

    found = json.loads(capsys.readouterr().out)
    assert found == json.loads(json.dumps(retrieval_report(dataset, DENSE).as_json()))
    api = f"/api/v1/datasets/{dataset.slug}/reports/retrieval/"
    assert researcher.get(api, {"ranking": "dense"}).json() == found


def test_a_ranking_that_is_not_there_is_refused_or_bm25_is_shown(researcher, dataset):
    said = "There is no ranking 'x' here. There are: dense."
    asked = {"ranking": "x"}

    assert said in failure("report", "retrieval", "--dataset", "pilot", "--ranking", "x")
    answer = researcher.get(f"/api/v1/datasets/{dataset.slug}/reports/retrieval/", asked)
    assert (answer.status_code, answer.json()["ranking"]) == (400, [said])
    page = shown(researcher.get(address("retrieval", dataset), asked))
    assert "Ranked by, x:" in page.part("choice-ranking-error").text
    assert page.fields["ranking"] == ""
    assert "ranking x" not in researcher.get(address("retrieval-file", dataset, "csv"), asked).text
