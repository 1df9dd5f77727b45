"""Say how long the server takes for each page of the demo, warm: the median of several visits.

It visits home, the lists, and every page of every tab of the demo's datasets and studies, in this
process. The demo must have been started once with the same data folder, and its work have ended.

    ATTEST_DATA_DIR=FOLDER .venv/bin/python benchmarks/pages.py
"""

import os
import statistics
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT)]
N_VISITS = 5
LISTS = (
    *("home", "generation:datasets", "annotation:studies", "work:all", "grids:grids"),
    *("evaluation:runs", "tradeoffs:tradeoffs", "graphs:graphs"),
)
FORMS = ("/grids/new/?dataset=demo", "/metrics/new/?dataset=demo", "/studies/new/?dataset=demo")


def addresses() -> list[str]:
    """Return the addresses of the demo's pages: lists, forms, and what its tabs lead to."""
    from django.urls import reverse

    from annotation.models import Study
    from config.tabs import pages_of
    from generation.models import Dataset

    datasets = [link.url for each in Dataset.objects.order_by("pk") for link in pages_of(each)]
    studies = [link.url for each in Study.objects.order_by("pk") for link in pages_of(each)]
    explained = [
        reverse(f"tradeoffs:{name}", args=["demo"])
        for name in ("takeaways", "comparable", "restricted", "reranking")
    ]
    return [*map(reverse, LISTS), *FORMS, *datasets, *studies, *explained]


def seconds_of(address: str) -> float:
    """Return the median time of a page, after a first visit."""
    from django.test import Client

    from accounts.models import User

    client = Client(headers={"host": "localhost"})
    client.force_login(User.objects.get(username="researcher"))
    times = []
    for _ in range(N_VISITS + 1):
        began = time.perf_counter()
        answer = client.get(address, follow=True)
        times.append(time.perf_counter() - began)
        assert answer.status_code == 200, (address, answer.status_code)
    return statistics.median(times[1:])


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    os.environ.setdefault("DJANGO_DEBUG", "1")
    import django

    django.setup()
    found = sorted(((seconds_of(each), each) for each in addresses()), reverse=True)
    for seconds, address in found:
        sys.stdout.write(f"{seconds:8.3f} s  {address}\n")


if __name__ == "__main__":
    main()
