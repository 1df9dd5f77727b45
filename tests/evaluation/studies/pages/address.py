"""A request for the page of a study, for tests of that page."""

from typing import Any

from django.test import Client
from django.urls import reverse

from annotation.models import Study


def page_of(client: Client, study: Study | None, **asked: Any) -> Any:
    """Return the page of a study; the choices are in its address."""
    assert study is not None
    return client.get(reverse("evaluation:study", args=[study.slug]), asked)
