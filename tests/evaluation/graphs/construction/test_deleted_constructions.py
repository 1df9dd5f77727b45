"""Deleting a construction from its page, with the job that carries it out."""

import pytest

from accounts.models import AuditEntry
from evaluation.models import Job
from tests.construction_material import make_construction
from tests.evaluation.graphs.construction.reviewed_constructions import address

pytestmark = pytest.mark.once


def test_the_audit_trail_names_both(client_for, adam):
    client_for(adam).post(address("delete", make_construction().pk))

    assert not Job.objects.exists()
    noted = AuditEntry.objects.filter(subject="Bards").values_list("action", flat=True)
    assert set(noted) == {"job.deleted", "construction.deleted"}
