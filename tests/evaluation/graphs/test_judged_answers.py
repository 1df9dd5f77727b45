"""Answers as their pages show them: the same citations as reports count and runs score."""

from pathlib import Path

import pytest

from evaluation.graphs.pages.cited_answer import CitedAnswer, judged_answers
from evaluation.measures.citation import CitationVerdict
from evaluation.models import MetricRun
from generation.models import Citation, Dataset
from tests.evaluation.hand_cited import ADA, entity, import_cited, question, score_citations
from tests.makers import Row, import_rows, response_row

pytestmark = pytest.mark.once

# The graph has 'occupation' and 'birth', and an entity called 'ada'. So 'ada' begins a citation,
# and 'Notes', a name that no graph has, is a part of the value before it.
TEXT = "She was both [ada, title: Sketch, Notes: A, occupation: writer]."
FACTS = [(1, "ada", "title", "Sketch, Notes: A"), (2, "ada", "occupation", "writer")]


def answers_of(dataset: Dataset) -> dict[str, CitedAnswer]:
    found = judged_answers(dataset, list(dataset.responses.all()))
    return {answer.response.key: answer for answer in found}


@pytest.fixture
def own_names(tmp_path: Path) -> Dataset:
    """One text, shown the graph, shown nothing, and who knows what."""
    graph = [["ada", *rest] for _, *rest in ADA]
    shown: dict[str, Row] = {
        "whole": {"graph_shown": graph},
        "empty": {"graph_shown": []},
        "unknown": {},
    }
    import_rows(
        tmp_path,
        "own",
        entities=[entity("ada", "Ada", graph)],
        kg_questions=[question("q1", [["ada", "occupation", "writer"]])],
        responses=[
            response_row(key, "q1", setup=key, text=TEXT, **more) for key, more in shown.items()
        ],
    )
    return Dataset.objects.get()


def test_where_no_graph_was_shown_a_page_reads_citations_as_they_are_stored(own_names):
    run = score_citations(own_names, {(key, 2): 0.75 for key in ("whole", "empty", "unknown")})

    answers = answers_of(own_names)

    verdicts = {
        "whole": [CitationVerdict.WRONG, CitationVerdict.IN_MINIMUM],
        "empty": [CitationVerdict.WRONG, CitationVerdict.WRONG],
        "unknown": [None, None],
    }
    for key, answer in answers.items():
        stored = Citation.objects.filter(response=answer.response).order_by("number")
        assert list(stored.values_list("number", "qid", "relation", "value")) == FACTS
        assert [fact[:4] for fact in answer.facts] == FACTS
        assert [fact.verdict for fact in answer.facts] == verdicts[key]
        first, second = (fact.alignment for fact in answer.facts)
        assert (first, second and (second.run, second.score)) == (None, (run, 0.75))
        assert [[fact.number for fact in part.facts] for part in answer.parts if part.facts] == [
            [1, 2]
        ]


def test_a_page_shows_the_alignment_that_reports_quote(tmp_path):
    """The run that is still at work is newer, and says something else so far."""
    dataset = import_cited(tmp_path)
    done = score_citations(dataset, {("c1", 1): 0.9})
    score_citations(dataset, {("c1", 1): 0.1}, signature="new", state=MetricRun.State.RUNNING)

    shown = answers_of(dataset)["c1"].facts[0].alignment

    assert shown is not None
    assert (shown.run, shown.score) == (done, 0.9)


def test_more_answers_take_no_more_queries(own_names, django_assert_num_queries):
    every = own_names.responses.order_by("key")
    score_citations(own_names, {("whole", 2): 0.75})

    for some in (list(every[:1]), list(every)):  # the empty one; all
        with django_assert_num_queries(6):
            judged_answers(own_names, some)
