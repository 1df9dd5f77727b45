"""A request for one of the pages of a study, for tests of that page."""

from typing import Any

from django.test import Client
from django.urls import reverse

from annotation.models import Study

# Names of the addresses of the pages that show a study's figures.
NAMES = ("study", "study-merged", "study-raters", "study-metrics", "study-methods")


def page_of(client: Client, study: Study | None, page: str = "study", /, **asked: Any) -> Any:
    """Return a page of a study by the name of its address, which has the choices."""
    assert study is not None
    return client.get(reverse(f"evaluation:{page}", args=[study.slug]), asked)
