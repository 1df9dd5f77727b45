"""Services that not every machine has; a test that needs a missing one is skipped.

With REQUIRE_SERVICES=1 the test fails instead, so that CI cannot pass by skipping.
"""

import os
import shutil
import signal
from functools import cache
from urllib.parse import quote

import psycopg
import pytest
import redis
from django.db import connection
from kombu.connection import Connection

URLS = {
    "postgresql": ("TEST_POSTGRESQL_URL", "postgres://postgres@127.0.0.1:5432/postgres"),
    "redis": ("TEST_REDIS_URL", "redis://127.0.0.1:6379/15"),
    "rabbitmq": ("TEST_RABBITMQ_URL", "amqp://guest:guest@127.0.0.1:5672//"),
}
ANSWERS_WITHIN_SECONDS = 3
# The headless shell is Chromium without its window; tests take a sixth less time with it.
CHROMIUM_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def url_of(service: str) -> str:
    """Return the address at which a service is expected."""
    variable, default = URLS[service]
    return os.environ.get(variable) or default


def chromium() -> str | None:
    """Return the path of an installed Chromium."""
    return next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)


@cache
def missing(service: str) -> str | None:
    """Return the reason why a service cannot be used; None when it can."""
    if service == "chromium":
        return None if chromium() else f"no {' or '.join(CHROMIUM_NAMES)} is installed"
    url = url_of(service)
    try:
        if service == "postgresql":
            psycopg.connect(url, connect_timeout=ANSWERS_WITHIN_SECONDS).close()
        elif service == "redis":
            redis.Redis.from_url(url, socket_timeout=ANSWERS_WITHIN_SECONDS).ping()
        else:
            with Connection(url, connect_timeout=ANSWERS_WITHIN_SECONDS) as connection:
                connection.ensure_connection(max_retries=1, timeout=ANSWERS_WITHIN_SECONDS)
    except Exception as error:  # each client has errors of its own
        reason = str(error).partition("\n")[0] or type(error).__name__
        return f"no {service} at {URLS[service][0]} ({reason})"
    return None


def is_required() -> bool:
    return os.environ.get("REQUIRE_SERVICES", "") not in ("", "0")


def need(service: str) -> None:
    """Skip the test without this service, or fail it with REQUIRE_SERVICES=1."""
    reason = missing(service)
    if reason and is_required():
        pytest.fail(f"REQUIRE_SERVICES=1: {reason}", pytrace=False)
    if reason:
        pytest.skip(reason)


def hear_signals() -> None:
    """Make SIGINT and SIGHUP end a child (`preexec_fn`), even where the tests ignore them.

    A process in the background or under nohup ignores these signals, and so do its children.
    """
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def database_url() -> str:
    """Return the address of the current test's database, for other processes."""
    database = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{database['NAME']}"
    who = f"{quote(database['USER'])}:{quote(database['PASSWORD'])}"
    where = f"{quote(database['HOST'] or '127.0.0.1')}:{database['PORT'] or 5432}"
    return f"postgres://{who}@{where}/{database['NAME']}"
