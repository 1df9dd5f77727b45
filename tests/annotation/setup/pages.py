"""The forms that tests of set-up post, and their addresses."""

from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from tests.annotation.planned import (
    setups_named,
)

NEW = "/studies/new/"
POLITE: dict[str, Any] = {
    "key": "POLITE",
    "title": "Politeness",
    "evidence": "none",
    "questions": [
        {
            "key": "polite",
            "scale": "yes_no",
            "help": "Yes when nobody could mind.",
            "examples": [{"answer": "yes", "text": "Gladly.", "reason": "It is."}],
        }
    ],
}


def page_of(study, name="study-setup"):
    return reverse(f"annotation:{name}", args=[study.slug])


def filled(dataset, *setups, **more):
    """Return what a browser posts when only the name and the setups were filled in."""
    chosen = setups_named(dataset, *(setups or ("model-a", "model-b")))
    return {"name": "Mills", "setups": [setup.pk for setup in chosen]} | more


def plan_it(client, dataset, **more):
    body = urlencode(filled(dataset, **more), doseq=True)
    form = "application/x-www-form-urlencoded"  # browsers send forms without uploads so
    return client.post(f"{NEW}?dataset={dataset.slug}", body, content_type=form)


def act(client, study, action, **more):
    return client.post(page_of(study, "change-state"), {"action": action} | more)


def state_of(study):
    study.refresh_from_db()
    return study.state
