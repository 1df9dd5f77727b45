"""An endpoint of which one copy knows an entity by name, and another does not know it yet."""

import pytest

from evaluation.graphs.construction.services import constructions as service
from evaluation.jobs.kinds import kind_of
from evaluation.models import Job
from generation.models import ConstructionEntry
from tests.endpoint_server import endpoint_server, forwards, gives
from tests.evaluation.graphs.construction.constructions import (
    asked_for,
    construction,
    listed,
    writer_server,
)
from tests.evaluation.graphs.pulls import HASTY, worked

pytestmark = pytest.mark.once


@pytest.fixture
def writer():
    with writer_server() as server:
        listed(server)
        yield server


def test_an_entry_waits_and_the_job_says_why(writer, family_graph, tmp_path, monkeypatch):
    monkeypatch.setattr(service, "ENTRIES_TOGETHER", 1)
    monkeypatch.setattr(service, "PATIENCE", HASTY)
    there = forwards(family_graph.url)
    # Names and edges of the first entry; then neither labels nor statements.
    with endpoint_server(there, there, gives()) as server:
        job = worked(asked_for(tmp_path, server.url, n_rounds=1))
        assert job.state == Job.State.FAILED
        assert "by name, but then returned nothing about it; expected its label" in job.error
        assert construction().entries.get(number=1).state == ConstructionEntry.State.WAITING

        server.plan = [there]
        kind_of(job).take_up(job, None)
        assert worked(job).state == Job.State.DONE
    assert not construction().entries.filter(state=ConstructionEntry.State.WAITING).exists()
