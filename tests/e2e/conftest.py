"""A browser, signed-in people, and a real worker beside the live server."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.conf import settings
from playwright.sync_api import Browser, ConsoleMessage, Page, Playwright, expect, sync_playwright

from accounts.models import User
from config.celery import app as celery_app
from tests.conftest import session_of
from tests.forked_programs import Programs, forked_programs
from tests.services import chromium, need
from work.processes import STARTS_WITHIN_SECONDS

# Playwright keeps an event loop in this thread, which Django takes for asynchronous code.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"

LAUNCH_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]
WORKER = ["--app=config", "worker", "-B", "--concurrency=1", "--loglevel=INFO"]
WORKER += ["--without-gossip", "--without-mingle", "--without-heartbeat"]
# What a worker imports, and with the addresses whatever its tasks need.
MODULES = ["config.urls", "evaluation.tasks", "celery.bin.celery", "celery.bin.worker"]
MODULES += ["celery.apps.worker", "celery.apps.beat", "celery.concurrency.prefork"]
LOOKS_EVERY_SECONDS = 0.02

PATIENCE = 10_000  # ms; a machine with more to do than its cores can takes long to answer
expect.set_options(timeout=PATIENCE)


def pytest_itemcollected(item: pytest.Item) -> None:
    item.add_marker("e2e")


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    need("chromium")
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    browser = playwright.chromium.launch(executable_path=chromium(), args=LAUNCH_ARGUMENTS)
    yield browser
    browser.close()


@pytest.fixture
def console_errors() -> list[str]:
    """Errors of the page's console; a test that provokes some takes them out of the list."""
    return []


@pytest.fixture
def page(browser: Browser, live_server, console_errors: list[str]) -> Iterator[Page]:
    """Return an empty page whose addresses begin at the live server."""

    def note(message: ConsoleMessage) -> None:
        # An invalid form answers 422, which Chromium reports for every status of 400 and above.
        if message.type == "error" and "status of 422" not in message.text:
            console_errors.append(f"{message.text} ({message.location['url']})")

    context = browser.new_context(base_url=live_server.url)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.on("console", note)
    page.on("pageerror", lambda error: console_errors.append(str(error)))
    yield page
    context.close()
    assert not console_errors


@pytest.fixture
def sign_in(page: Page, live_server) -> Callable[[User], None]:
    """Return a function that signs a user in without the form."""

    def sign_in(user: User) -> None:
        name, value = settings.SESSION_COOKIE_NAME, session_of(user)
        page.context.clear_cookies()
        page.context.add_cookies([{"name": name, "value": value, "url": live_server.url}])

    return sign_in


@pytest.fixture(scope="session")
def programs(django_db_setup: None) -> Iterator[Programs]:
    """Return what starts a worker in a tenth of the time that its imports take."""
    # What is waited for is logged at INFO.
    with forked_programs(settings.DATA_DIR, *MODULES, ATTEST_LOG_LEVEL="INFO") as programs:
        yield programs


@pytest.fixture
def worker(transactional_db: None, programs: Programs, tmp_path: Path) -> Iterator[None]:
    """Run a Celery worker with its beat on the test database, until the test ends."""
    celery_app.control.purge()  # messages of earlier tests that no worker took
    log = tmp_path / "worker.log"
    schedule = f"--schedule={tmp_path / 'beat-schedule'}"
    leader = programs.start("celery", [*WORKER, schedule], log)
    deadline = time.monotonic() + STARTS_WITHIN_SECONDS
    while not (log.exists() and " ready." in log.read_text("utf-8")):
        assert time.monotonic() < deadline, log.read_text("utf-8")
        time.sleep(LOOKS_EVERY_SECONDS)
    yield
    os.killpg(leader, signal.SIGKILL)
    programs.ended()
