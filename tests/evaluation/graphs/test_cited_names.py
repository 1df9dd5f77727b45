"""Names in citations, from stored answers to reports and pages: labels, aliases, other names.

The shown text calls Q1 'Ada Lovelace'; the store has the alias 'Ada King'. One member is needed:
Q1, occupation, writer.
"""

import pytest

from evaluation.graphs.pages.cited_answer import judged_answers
from evaluation.graphs.reports.alignment import alignment_report
from evaluation.graphs.reports.citations import CitationChoices, citations_report
from evaluation.graphs.reports.cited_answers import cited_answers, read_answers
from evaluation.measures.citation import CitationVerdict, Mode
from generation.models import Dataset
from tests.evaluation.hand_cited import entity, question, score_citations
from tests.makers import import_rows, response_row, statements

pytestmark = pytest.mark.once

ADA = [["Q1", "name", "Ada Lovelace"], ["Q1", "occupation", "writer"]]
WRITER = ["Q1", "occupation", "writer"]
TEXTS = {
    "label alone": "Ada [Q1, name: Ada Lovelace].",
    "alias alone": "Ada [Q1, name: Ada King].",
    "other alone": "Ada [Q1, name: Grace Hopper].",
    "label beside": "Ada wrote [Q1, name: Ada Lovelace, occupation: writer].",
    "alias beside": "Ada wrote [Q1, Ada King, occupation: writer].",
    "other beside": "Ada wrote [Q1, name: Grace Hopper, occupation: writer].",
}
# By hand: citations, correct, in the minimum set, different members hit, incomplete.
EXPECTED = {
    "label alone": (1, 1, 0, 0, 0),
    "alias alone": (1, 0, 0, 0, 0),
    "other alone": (1, 0, 0, 0, 0),
    "label beside": (1, 1, 1, 1, 0),
    "alias beside": (1, 1, 1, 1, 0),
    "other beside": (2, 1, 1, 1, 0),
}


@pytest.fixture(scope="module")
def named(tmp_path_factory, module_database):
    import_rows(
        tmp_path_factory.mktemp("named"),
        "named",
        entities=[entity("Q1", "Ada Lovelace", ADA) | {"aliases": ["Ada King"]}],
        kg_questions=[question(key, [WRITER]) for key in TEXTS],
        responses=[
            response_row(key, key, setup={"model": "small"}, text=text, graph_shown=ADA)
            for key, text in TEXTS.items()
        ],
    )
    return Dataset.objects.get(name="named")


@pytest.fixture(autouse=True)
def own_folder(own_cache_and_folder):
    """Keep this module's stored results apart from those of other tests."""


def test_each_answer_counts_as_by_hand(named):
    answers = cited_answers(named)
    keys = dict(named.responses.values_list("pk", "key"))
    columns = ("n_citations", "n_correct", "n_precise", "n_hit", "n_incomplete")

    counted = {
        keys[pk]: tuple(int(answers.column(Mode.PAPER, name)[place]) for name in columns)
        for place, pk in enumerate(answers.responses.tolist())
    }

    assert counted == EXPECTED


def test_figures_are_of_these_counts(named):
    [row] = citations_report(named).records
    [code] = citations_report(named, CitationChoices(Mode.AUTHORS_CODE)).records

    # Of 7 citations 4 are correct and 3 of them needed; 3 of 6 members are hit.
    assert (row["correctness"], row["precision"], row["recall"]) == pytest.approx(
        (4 / 7, 3 / 7, 3 / 6)
    )
    # There every `name: X` is a citation, a bare one never: 1 + 1 + 1 + 2 + 1 + 2, and the label is
    # correct: 1 + 0 + 0 + 2 + 1 + 1.
    assert (code["correctness"], code["precision"], code["recall"]) == pytest.approx(
        (5 / 8, 3 / 8, 3 / 6)
    )


def test_a_page_shows_another_name_first_in_its_bracket(named):
    answers = {each.response.key: each for each in judged_answers(named, named.responses.all())}

    said = {
        key: [(fact.number, fact.value, fact.verdict) for fact in answer.facts]
        for key, answer in answers.items()
    }
    assert said["label alone"] == [(1, "Ada Lovelace", CitationVerdict.CORRECT)]
    assert said["alias alone"] == [(1, "Ada King", CitationVerdict.WRONG)]
    assert said["alias beside"] == [(1, "writer", CitationVerdict.IN_MINIMUM)]
    assert said["other beside"] == [
        (2, "Grace Hopper", CitationVerdict.WRONG),
        (1, "writer", CitationVerdict.IN_MINIMUM),
    ]


def test_a_name_that_is_a_citation_is_a_pair_of_alignment(named):
    """Five of seven pairs have a score: the two of 'other beside' have none."""
    alone = {(key, 1): 0.9 for key in TEXTS if key != "other beside"}
    score_citations(named, alone)

    [row] = alignment_report(named).records

    assert (row["n_pairs"], row["n_answers"], row["n_not_asked"]) == (5, 5, 1)


def test_names_cost_one_query_and_none_where_the_text_has_them(named):
    n_queries = len(statements(lambda: read_answers(named)))
    named.responses.filter(key__in=["alias beside", "other beside"]).delete()

    assert len(statements(lambda: read_answers(named))) == n_queries - 1
