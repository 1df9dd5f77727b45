"""The notes that a construction stores as it goes on: further namesakes, duration of calls."""

import time

import pytest
from django.urls import reverse

from evaluation.graphs.construction.services.rounds import write_questions
from evaluation.jobs.kinds import JOBS
from evaluation.jobs.services import JobHold
from evaluation.models import Job
from generation.backends.base import Completion
from generation.model_specs import ModelSpec
from generation.models import ConstructionCall
from generation.records import EntityRecord, Where
from generation.retrieval.disambiguation import MOST_NAMESAKES, Named
from generation.retrieval.wikibase import Described, Match
from generation.services.construction_entries import store_people_graphs
from tests.construction_material import ANNE, WILL, add_entry, make_construction
from tests.shown import shown

pytestmark = pytest.mark.once

N_ENTRIES = 4
SECONDS = 0.1


def described(qid, label):
    return Described(EntityRecord(Where("", 0), qid, label, "human", (), "", ()), {})


@pytest.mark.parametrize(("n_matches", "n_left"), [(0, 0), (50, 0), (51, 1), (79, 29)])
def test_namesakes_beyond_fifty_are_not_looked_at(n_matches, n_left):
    named = Named("Maria Weber", [Match(f"Q{n}", "label") for n in range(1, n_matches + 1)])

    assert named.n_not_looked_at == n_left
    assert len(named.candidates) == min(n_matches, MOST_NAMESAKES)


def test_the_entry_says_that_a_second_pair_may_be_among_them(rosa, client_for):
    """29 more Annes were not looked at, one more William in another entry, none in the third."""
    construction = make_construction(user=rosa)
    for n_left in ([29, 0], [0, 1], [0, 0]):
        entry = add_entry(construction)
        store_people_graphs(
            entry, "P26", [described("Q1", "Anne"), described("Q3", "Will")], n_left
        )
    client = client_for(rosa)

    said = [
        shown(client.get(reverse("constructions:entry", args=[construction.pk, number]))).text
        for number in (1, 2, 3)
    ]

    assert "29 more namesakes of Anne Hathaway were not looked at" in said[0]
    assert "1 more namesake of William Shakespeare was not looked at" in said[1]
    assert "not looked at" not in said[2]


class Slow:
    """A model that needs its time for each completion of a batch."""

    signature, revision, device = "slow", "", "server"
    files: dict[str, str] = {}

    def complete(self, prompts, decoding):
        for _ in prompts:
            time.sleep(SECONDS)
            yield Completion("Anne wed Will. Generated Question: Whom did Anne wed?")


def test_seconds_of_a_batch_add_up_to_the_time_that_it_took():
    """Counted from the beginning of the batch, four calls would have 1, 2, 3 and 4 times it."""
    construction = make_construction(state=Job.State.QUEUED)
    construction.parameters["n_rounds"] = 1
    construction.save()
    for _ in range(N_ENTRIES):
        add_entry(construction, state="writing", property="P26", graphs=[ANNE, WILL])
    claim = JOBS.claim(construction.job.pk)
    assert claim is not None

    began = time.monotonic()
    write_questions(JobHold(claim), construction, ModelSpec("openai", "slow"), Slow())
    took = time.monotonic() - began

    seconds = [each.seconds or 0.0 for each in ConstructionCall.objects.all()]
    assert len(seconds) == 2 * N_ENTRIES  # a round, and the simple style
    assert min(seconds) >= SECONDS
    assert sum(seconds) <= took
