"""Links of reports about a graph: to the answers behind a row, and to the run it is made from."""

from typing import Any, Protocol

from django.urls import reverse

from accounts.http import query_string
from evaluation.reports.setups import SetupColumns
from generation.models import Dataset


class SetupRow(Protocol):
    """A row about one setup."""

    @property
    def of(self) -> SetupColumns: ...


def answers_address(dataset: Dataset, **chosen: Any) -> str:
    """Return the address of the list of answers with these choices."""
    return reverse("graphs:answers", args=[dataset.slug]) + query_string(chosen)


def to_answers(dataset: Dataset, choices: object, row: SetupRow) -> str:
    """Return the address of the answers of a row's setup."""
    return answers_address(dataset, setup=row.of.setup_id)


def to_run(dataset: Dataset, choices: object, row: Any) -> str:
    """Return the address of the run that a row is made from."""
    return reverse("evaluation:run", args=[row.by.metric_run])
