"""One worker gets a piece that several claim at the same moment, whatever its kind reads."""

import time
from functools import partial

import pytest
from django.db import transaction

from evaluation.runs.services.chunks import RUN_CHUNKS
from generation.sample_choices import SampleChoices
from generation.services.grid_chunks import GRID_CHUNKS
from generation.services.planning import PLANNINGS
from generation.services.samples import SAMPLES, request_sample
from tests.annotation.crowd import at_once
from tests.evaluation.metric_runs import mill, requested
from tests.generation import grid_runs


@transaction.atomic
def claim(kind, piece):
    """Claim a piece, and end the transaction when the other workers wait for it."""
    claimed = kind.claim(piece.pk)
    time.sleep(0.2 if claimed else 0)
    return claimed


@pytest.mark.both(transaction=True)
def test_of_many_workers_at_once_one_gets_the_piece(tmp_path):
    dataset = mill(tmp_path, 3)
    requested(dataset)
    grid_runs.started(dataset, name="asked")
    grid_runs.requested(dataset, name="planned")
    request_sample(dataset, SampleChoices(), None)

    for kind in (RUN_CHUNKS, GRID_CHUNKS, PLANNINGS, SAMPLES):
        piece = kind.rows().filter(state="queued").earliest("pk")
        claims = at_once(*[partial(claim, kind, piece)] * 4)
        assert len([each for each in claims if each]) == 1, kind.task_name
