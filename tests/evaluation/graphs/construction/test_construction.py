"""Constructions: entries looked up in a real graph, written about by a scripted model."""

import pytest

from evaluation.graphs.construction.services import constructions as service
from evaluation.models import Job
from generation.models import ConstructionCall, ConstructionEntry
from generation.models.constructions import SIMPLE_STYLE
from tests.constructed_entries import BUILT, ENTRIES, FAILS
from tests.evaluation.graphs.construction.constructions import (
    asked_for,
    construction,
    contents,
    entry,
    finished_construction,
    minimum,
    writer_server,
)
from tests.evaluation.graphs.pulls import HASTY, worked
from tests.scripted_writer import entry_of, round_of

pytestmark = pytest.mark.once

STATE = Job.State
Entry = ConstructionEntry.State
# By hand: entries built with 6 rounds and a simple question; Hans and Otto Klein have 4 triples
# that may be asked about (4 rounds), Otto and Ida 3. Bad completions come on top.
READABLE = 7 * 7 + (4 + 1) + (3 + 1)
UNREADABLE = 1 + 1 + 1 + 1 + 3


@pytest.fixture(scope="module")
def writer():
    with writer_server() as server:
        yield server


@pytest.fixture(scope="module")
def finished(writer, tmp_path_factory, family_graph, module_database):
    """Return what the model was asked until the construction was at its end."""
    folder = tmp_path_factory.mktemp("finished")
    with (
        finished_construction(writer, folder, family_graph.url),
    ):
        yield tuple(writer.requests)


@pytest.fixture
def built(finished):
    return Job.objects.get(name="Families")


def test_what_becomes_of_each_entry(built):
    found = {each.number: each for each in construction().entries.all()}

    assert (built.state, built.error) == (STATE.DONE, "")
    assert len(found) == len(ENTRIES) == 20
    for number, wanted in enumerate(ENTRIES, start=1):
        each = found[number]
        if isinstance(wanted.found, str):
            assert (each.state, each.problem) == (Entry.LEFT_OUT, wanted.found), number
            assert wanted.detail in each.detail
            assert not each.calls.exists()
            continue
        *people, property_ = wanted.found
        assert [graph["qid"] for graph in each.graphs or ()] == people, number
        assert each.property == property_
        assert each.state == (Entry.FAILED if number == FAILS else Entry.BUILT)
    assert [n for n, each in found.items() if each.state == Entry.BUILT] == BUILT


def test_every_call_is_kept_with_what_went_in_and_came_out(built, finished):
    calls = ConstructionCall.objects.filter(entry__construction=construction())

    assert (calls.filter(problem="").count(), calls.exclude(problem="").count()) == (
        READABLE,
        UNREADABLE,
    )
    assert len(finished) == READABLE + UNREADABLE
    for request in finished:
        number, attempt = round_of(request)
        call = calls.get(entry__number=entry_of(request), round=number, attempt=attempt)
        assert call.prompt == request.prompt
        assert call.n_prompt_tokens == len(request.prompt.split())
        assert call.seconds
    # All entries but 3 with incomplete names and 1 of an unknown relation were looked up.
    assert built.n_done == built.n_total == 16 + READABLE


def test_what_cannot_be_read_is_a_problem_and_asked_again(built):
    first, second = entry(1).calls.filter(round=1)

    assert (first.attempt, first.question) == (1, "")
    assert first.problem == (
        "found no question; expected 'Generated Question:' behind 'Generated Answer:'"
    )
    assert first.completion == "Orazio was a painter. That is all."
    assert (second.attempt, second.problem) == (2, "")
    assert second.question == "Who is meant in entry 1?"
    empty, _ = entry(2).calls.filter(round=2)
    assert empty.completion == ""
    assert (entry(7).calls.filter(round=SIMPLE_STYLE)[1].question) == "What of entry 7?"


def test_an_entry_that_nobody_can_write_about_fails_after_three_attempts(built):
    failed = entry(FAILS)

    assert failed.calls.count() == 3
    assert failed.detail.startswith("round 1, attempt 3: found no question")


def test_the_minimum_sets_of_the_kleins(built):
    """Round 1 cites the edge; what may be asked about besides comes in, a triple a round.

    Not 'instance of', nor names. Ida's spouse is a triple of her own.
    """
    hans = minimum(8)
    assert hans[0] == ("Q2000009", "child", "Otto Klein", 1)
    assert {member[:3] for member in hans[1:]} == {
        ("Q2000009", "occupation", "writer"),
        ("Q2000007", "spouse", "Ida Klein"),
        ("Q2000007", "occupation", "painter"),
    }
    assert [member[3] for member in hans] == [1, 2, 3, 4]
    otto = minimum(17)
    assert otto[0] == ("Q2000007", "spouse", "Ida Klein", 1)
    assert {member[:3] for member in otto[1:]} == {
        ("Q2000007", "occupation", "painter"),
        ("Q2000008", "spouse", "Otto Klein"),
    }
    assert [member[3] for member in otto] == [1, 2, 3]


def test_a_wrong_citation_is_no_member_and_what_is_not_cited_is_one(built):
    assert minimum(3)[0] == ("Q232478", "spouse", "William Shakespeare", 1)
    assert [member[3] for member in minimum(3)] == [1, 2, 3, 4, 5, 6]
    third = entry(5).calls.get(round=3)
    assert f"{third.relation}: {third.value}" not in third.answer
    assert (third.qid, third.relation, third.value, 3) in minimum(5)
    assert [member[3] for member in minimum(7)] == [2, 3, 4, 5, 6]  # round 1 cited nothing


def test_the_next_round_goes_on_from_the_answer_and_question_before(built):
    first, second = entry(17).calls.filter(round__lte=2)

    before = f"answer: {first.answer}\n\nquestion: {first.question}\n\nknowledge: "
    brought = f"{second.relation}: {second.value}"
    names = {"Q2000007": "Otto Klein", "Q2000008": "Ida Klein"}
    knowledge = f"{{qid: {second.qid}, name: {names[second.qid]}, {brought}}}"
    assert second.prompt.endswith(f"{before}{knowledge}\n\nGenerated Answer:")


def test_all_first_rounds_come_before_the_second(finished):
    rounds = [round_of(request)[0] for request in finished]

    assert rounds == sorted(rounds)


def test_the_same_again_is_the_same_and_failed_entries_have_one_more_attempt(
    built, family_graph, tmp_path, writer, monkeypatch
):
    monkeypatch.setattr(service, "PATIENCE", HASTY)
    before, n = contents(), len(writer.requests)
    again = asked_for(tmp_path, family_graph.url)
    assert (again.pk, again.state) == (built.pk, STATE.QUEUED)
    worked(again)

    assert len(writer.requests) == n + 1
    assert entry(FAILS).calls.count() == 4
    assert [row for row in contents() if row[0] != FAILS] == [r for r in before if r[0] != FAILS]
    assert again.state == STATE.DONE
    assert again.n_done == again.n_total
