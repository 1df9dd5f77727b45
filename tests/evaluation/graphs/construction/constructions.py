"""Constructions that tests request and execute, of the twenty entries by the scripted writer."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from accounts.models import AuditEntry
from evaluation.graphs.construction.services import constructions as service
from evaluation.graphs.construction.services.constructions import (
    ConstructionPlan,
    request_construction,
)
from evaluation.graphs.construction.services.entries_check import Upload, checked
from evaluation.models import Job
from generation.models import Checkpoint, Construction, ConstructionEntry
from generation.services.construction_entries import minimum_of
from generation.services.constructions import Review
from tests.constructed_entries import written_file
from tests.evaluation.graphs.pulls import HASTY, worked
from tests.language_model_server import StandIn, stand_in
from tests.scripted_writer import writes

MODEL = "writer"
KEEP = Review(ConstructionEntry.Verdict.KEEP)


@contextmanager
def writer_server() -> Iterator[StandIn]:
    """Yield the scripted writer."""
    with stand_in() as server:
        server.otherwise = writes
        yield server


def listed(server: StandIn, **limits: int) -> Checkpoint:
    """List the writer as a model at its present address."""
    found, _ = Checkpoint.objects.update_or_create(
        name=MODEL,
        defaults={
            "backend": "openai",
            "location": server.url,
            "served_name": "scripted",
            **limits,
        },
    )
    return found


def plan(folder: Path, url: str, **choices: Any) -> ConstructionPlan:
    """Return the plan of the twenty entries."""
    path = written_file(folder)
    check = checked(Upload(path.name, path.read_bytes()))
    return ConstructionPlan(
        **{
            "name": "Families",
            "entries": check.entries,
            "entries_hash": check.content_hash,
            "file": check.file,
            "relations": check.relations,
            "model": MODEL,
            "endpoint": url,
            "allow_private": True,
            **choices,
        }
    )


def asked_for(folder: Path, url: str, **choices: Any) -> Job:
    return request_construction(plan(folder, url, **choices), None)


@contextmanager
def finished_construction(
    server: StandIn, folder: Path, url: str, **choices: Any
) -> Iterator[Construction]:
    """Yield the finished construction, for tests that share it; delete all of it afterwards."""
    with pytest.MonkeyPatch.context() as hasty:
        hasty.setattr(service, "PATIENCE", HASTY)
        listing = listed(server)
        worked(asked_for(folder, url, **choices))
    yield construction()
    construction().delete()
    listing.delete()
    AuditEntry.objects.filter(subject="Families").delete()


def construction() -> Construction:
    return Construction.objects.get(name="Families")


def entry(number: int, name: str = "Families") -> ConstructionEntry:
    return ConstructionEntry.objects.get(construction__name=name, number=number)


def minimum(number: int) -> list[tuple[str, str, str, int]]:
    found = entry(number)
    return [(*member.triple, member.round) for member in minimum_of(found, found.calls.all())]


def contents(name: str = "Families") -> list[Any]:
    """Return everything that a construction has made, without times and ids."""
    calls = ("calls__round", "calls__attempt", "calls__qid", "calls__relation", "calls__value")
    texts = ("calls__prompt", "calls__completion", "calls__question", "calls__problem")
    entries = Construction.objects.get(name=name).entries
    rows = entries.order_by("number", "calls__round", "calls__attempt")
    return list(rows.values_list("number", "state", "problem", "detail", *calls, *texts))
