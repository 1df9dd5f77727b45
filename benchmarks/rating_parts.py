"""Say where the milliseconds of a rated pair go: a submit with the next unit, in one process.

There is no server and one rater at a time, so the figures are the least that a pair can take. A
part is the time in one function; what is in none of them is 'the rest' (middleware, forms, urls).

    .venv/bin/python benchmarks/rating_parts.py --pairs 300 --database postgresql
"""

import argparse
import os
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT)]

from benchmarks.raters import environment, set_up  # noqa: E402 - needs the line above
from benchmarks.rating_load import HOST, filled_in, forms_of  # noqa: E402 - as above
from benchmarks.reports import database_url  # noqa: E402 - as above

VIEWS = "annotation.views.rating"
PARTS = {
    "session and account": ("django.contrib.auth.middleware", "get_user"),
    "roles": ("accounts.access", "roles_of"),
    "rater and study": (VIEWS, "rater_at_work"),
    "targets to judge": (VIEWS, "unit_to_judge"),
    "votes": ("annotation.services.rating", "submit_votes"),
    "claim": (VIEWS, "claim_next_unit"),
    "rows of the next unit": (VIEWS, "rated_unit"),
    "templates": (VIEWS, "render"),
}
HEADERS = {
    "host": HOST,
    "x-forwarded-proto": "https",
    "x-forwarded-for": "127.0.0.1",
    "origin": f"https://{HOST}",
    "hx-request": "true",
}
WARM_UP = 20  # pairs
# The seconds in each part.
Seconds = defaultdict[str, float]


def time_parts() -> Seconds:
    """Wrap the function of each part; return the seconds in it, which grow from now on."""
    took: Seconds = defaultdict(float)
    for part, (module, name) in PARTS.items():
        home: Any = import_module(module)
        setattr(home, name, _timed(getattr(home, name), part, took))
    return took


def _timed(function: Callable[..., Any], part: str, took: Seconds) -> Callable[..., Any]:
    @wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        began = time.perf_counter()
        try:
            return function(*arguments, **named)
        finally:
            took[part] += time.perf_counter() - began

    return call


def rate(sessions: Sequence[str], n_pairs: int, took: Seconds) -> float:
    """Let raters rate in turn; return the seconds of all pairs after some to warm up."""
    from django.test import Client

    desks: list[tuple[Any, str, str]] = []  # browser, address and page of the unit in hand
    for session in sessions:
        browser = Client(enforce_csrf_checks=True, headers=HEADERS)
        browser.cookies["sessionid"] = session
        mine = forms_of(browser.get("/studies/mine/").text)
        [start] = [form for form in mine if form.action.endswith("/next/")]
        address = browser.post(start.action, start.fields)["Location"]
        desks.append((browser, address, browser.get(address).text))
    seconds = 0.0
    for number in range(-WARM_UP, n_pairs):
        if number == 0:
            took.clear()
            seconds = 0.0
        place = number % len(desks)
        browser, address, page = desks[place]
        path = address.partition("?")[0]
        [form] = [form for form in forms_of(page) if form.action == path]
        body, kind = urlencode(filled_in(form)), "application/x-www-form-urlencoded"
        began = time.perf_counter()
        answer = browser.post(path, body, content_type=kind)
        seconds += time.perf_counter() - began
        desks[place] = (browser, answer["HX-Push-Url"], answer.text)
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=300)
    parser.add_argument("--database", choices=["postgresql", "sqlite"], default="postgresql")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="attest-rating-parts-") as temporary:
        folder = Path(temporary)
        with database_url(options.database, folder) as url:
            os.environ.update(environment(url, folder))
            import django
            from django.db import connections

            django.setup()
            _, sessions = set_up(folder, options.pairs + 100, n_raters=10)
            took = time_parts()
            seconds = rate(sessions, options.pairs, took)
            connections.close_all()
    took["the rest"] = seconds - sum(took.values())
    took["a pair"] = seconds
    for part in sorted(took, key=took.__getitem__):
        sys.stdout.write(f"{part:<24}{1000 * took[part] / options.pairs:>8.2f} ms\n")


if __name__ == "__main__":
    main()
