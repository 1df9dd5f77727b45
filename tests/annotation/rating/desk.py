"""A rater at a desk: one unit in hand, and the browser that shows it."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import (
    Assignment,
    Rater,
    Study,
)
from annotation.schemes import built_in_schemes
from generation.models import Entity
from tests.annotation.makers import claimed, material, opened, raters_of
from tests.makers import example_row, response_row
from tests.shown import Shown, shown

ALL_YES = dict.fromkeys([q["key"] for q in built_in_schemes()["AIS"]["questions"]], "1") | {
    "evidence_contradicts": "0"
}
OFFENSIVE = "<script>alert(1)</script> <b>bold</b> & 'quoted' \u202eright to left"
ClientFor = Callable[[Any], Client]


def filled_in(n: int = 1, **answers: str) -> dict[str, str]:
    """Return a complete form: all answers are in favour of n responses, except the given ones."""
    return {
        f"{key}-{position}": answer
        for position in range(1, n + 1)
        for key, answer in (ALL_YES | answers).items()
    }


class Desk:
    """One rater with a unit in hand, and the browser that they use."""

    def __init__(self, rater: Rater, client: Client, assignment: Assignment) -> None:
        self.rater, self.client, self.assignment = rater, client, assignment

    def url(self, page: str = "rate-unit") -> str:
        return reverse(f"annotation:{page}", args=[self.rater.study.slug, self.assignment.unit_id])

    def get(self, query: str = "") -> Any:
        return self.client.get(self.url() + query)

    def post(self, data: Mapping[str, Any], page: str = "rate-unit", **headers: str) -> Any:
        return self.client.post(self.url(page), data, headers=headers)

    def page(self, query: str = "") -> Shown:
        return shown(self.get(query))


def alignment(folder: Path) -> Study:
    """Open a study of two citations."""
    text = "He was born in 1871 [Q1, date of birth: 1871]. He died at 28 [Q1, age: 28]."
    graph = [["Q1", "date of birth", "1871"], ["Q1", "age", "28"]]
    dataset = material(
        folder / "cited",
        examples=[example_row("e1")],
        responses=[response_row("r1", "e1", text=text, graph_shown=graph)],
    )
    Entity.objects.create(dataset=dataset, qid="Q1", label="Stephen Crane", digest="d")
    return opened(dataset, scheme="ALIGNMENT", raters=2, raters_per_unit=2)


def take_over(desk: Desk, study: Study, client_for: ClientFor) -> Desk:
    """Let a unit's lease run out, and let a colleague claim its slot, the only one left."""
    Assignment.objects.exclude(pk=desk.assignment.pk).update(is_let_go=True)
    long_ago = timezone.now() - timedelta(minutes=1)
    Assignment.objects.filter(pk=desk.assignment.pk).update(lease_until=long_ago)
    rater = raters_of(study)[1]
    return Desk(rater, client_for(rater.user), claimed(rater))
