"""Examples that retrieval misses: places of their golden passages, and links to their page."""

import pytest
from django.urls import reverse

from evaluation.retrieval.missed_examples import missed, with_passages
from evaluation.retrieval.ranked_examples import RetrievalChoices, ranked_examples
from generation.retrieval import dataset_index
from tests.evaluation.retrieval.searched_examples import asked, passage
from tests.makers import import_rows, statements
from tests.shown import shown

pytestmark = pytest.mark.once


def missed_page(client, dataset, **asked):
    return shown(client.get(reverse("evaluation:missed-examples", args=[dataset.slug]), asked))


def test_what_is_missed_is_listed_with_the_place_of_each_golden_passage(researcher, dataset):
    """By the rankings in the report's test: e2 has mill at 2, e3 fire at 1 and mill at 2."""
    page = missed_page(researcher, dataset, k=1)

    table = page.table("Examples with their golden passages")
    assert [row[0].split()[-1] for row in table.rows] == ["e2", "e3"]
    assert [row[1] for row in table.rows] == ["0 of 1", "1 of 2"]
    e2, e3 = (row[2] for row in table.rows)
    assert e2.startswith("place 2 mill")
    assert e3.index("place 1 fire") < e3.index("place 2 mill")
    assert "2 of 3 examples" in page.text


def test_where_every_golden_passage_is_found_nothing_is_missed(researcher, dataset):
    assert "Nothing is missed" in missed_page(researcher, dataset, k=2).headings


def test_a_golden_passage_far_behind_has_no_place(dataset):
    """Only one passage of the ranking fire, mill, … is looked at, so that mill has no place."""
    [e2] = missed(ranked_examples(dataset, RetrievalChoices(), most_k=1).examples, 1)[:1]

    [found] = with_passages([e2], 1)

    assert [(each.passage.key, each.place) for each in found.golden] == [("mill", None)]


def test_recall_leads_to_what_is_missed_with_the_choices(researcher, dataset):
    here = reverse("evaluation:missed-examples", args=[dataset.slug])
    report = reverse("evaluation:report-of-dataset", args=[dataset.slug, "retrieval"])

    page = shown(
        researcher.get(reverse("evaluation:retrieval", args=[dataset.slug]), {"query": "dialog"})
    )

    assert f"{here}?k=3&query=dialog" in page.addresses
    of_report = shown(researcher.get(report, {"query": "dialog"}))
    assert f"{here}?k=3&query=dialog" in of_report.addresses


def test_without_golden_evidence_nothing_can_be_missed(researcher, dataset):
    dataset.examples.exclude(key="e4").delete()

    assert "No golden evidence" in missed_page(researcher, dataset).headings


def test_what_is_missed_waits_for_the_index_of_many_passages(researcher, dataset, monkeypatch):
    monkeypatch.setattr(dataset_index, "MANY_PASSAGES", 5)

    assert "Not indexed yet" in missed_page(researcher, dataset).headings


def test_what_is_missed_takes_a_fixed_number_of_queries(researcher, dataset, tmp_path):
    def n_statements():
        return len(statements(lambda: missed_page(researcher, dataset, k=1)))

    missed_page(researcher, dataset)
    few = n_statements()
    more = [
        asked(f"m{n}", "nothing?", evidence=[passage(f"g{n}", f"golden{n}", True)])
        for n in range(20)
    ]
    import_rows(tmp_path / "more", examples=more)
    missed_page(researcher, dataset)

    assert n_statements() == few
