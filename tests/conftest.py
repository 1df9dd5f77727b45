"""Fixtures for all tests: their database, services, the folder of real data, people by name.

Rachel rates, Rosa researches, Adam administers.
"""

import gc
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings as django_settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import Group
from django.contrib.sessions.backends.cached_db import SessionStore
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models.signals import post_migrate
from django.dispatch import receiver
from django.test import Client
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from pytest_django import DjangoDbBlocker

from accounts.access import Role
from accounts.models import User
from tests.oxigraph_server import Oxigraph, oxigraph_server
from tests.published import shared_folder
from tests.services import need, url_of
from tests.small_models import LANGUAGE_MODEL, PIPELINE
from tests.wikidata_shape import ntriples, world
from work.worker_health import watch

# How long an example takes says how busy the machine is, and nothing about the code. In CI each
# property is tried with the same examples again, so that it says something about the change alone.
hypothesis_settings.register_profile(
    "any machine",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=bool(os.environ.get("CI")),
)
hypothesis_settings.load_profile("any machine")

DATABASE_FIXTURES = {"db", "transactional_db", "live_server"}
DATABASE_MARKS = ("once", "both", "walk")
OWN_ROUNDS = {"faults": "test-faults", "models": "test-models"}  # mark → command


def pytest_itemcollected(item: pytest.Item) -> None:
    """Give a test with one of `DATABASE_MARKS` its database."""
    for name in DATABASE_MARKS:
        if marker := item.get_closest_marker(name):
            item.add_marker(pytest.mark.django_db(**marker.kwargs))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes long, so that two processes end at about the same time."""
    items.sort(key=lambda item: item.get_closest_marker("early") is None)


def pytest_collection_finish() -> None:
    """Spare the garbage collector what lives as long as the tests: modules and the tests' own."""
    gc.collect()
    gc.freeze()


class SaysWhatToRun:
    """Says at once what to run to see a failure again, long before the round ends."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        terminal = self._config.pluginmanager.get_plugin("terminalreporter")
        if report.failed and terminal:
            terminal.ensure_newline()
            own = (command for mark, command in OWN_ROUNDS.items() if mark in report.keywords)
            command = next(own, "test")
            terminal.write_line(f"failed; again: make {command} ARGS=\"'{report.nodeid}'\"")


def pytest_configure(config: pytest.Config) -> None:
    if "PYTEST_XDIST_WORKER" not in os.environ:
        config.pluginmanager.register(SaysWhatToRun(config))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip or fail a test whose services are not there; fail one that uses a database unmarked."""
    uses_database = DATABASE_FIXTURES.intersection(getattr(item, "fixturenames", ()))
    if uses_database and not any(map(item.get_closest_marker, (*DATABASE_MARKS, "e2e"))):
        pytest.fail(
            "uses the database: mark it `once`, `both` or `walk` (see CONTRIBUTING)", pytrace=False
        )
    for marker in item.iter_markers("service"):
        for service in marker.args:
            need(service)


@pytest.fixture(autouse=True)
def workers_were_heard_just_now() -> None:
    """Let no page say that workers are silent: tests have none from the first to the last."""
    watch.begin_again()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """Give each run test databases of its own: two runs on one machine do not meet."""
    database = django_settings.DATABASES["default"]
    test = database.setdefault("TEST", {})
    test["NAME"] = f"{test.get('NAME') or 'test_attest'}_{os.getpid()}"


@pytest.fixture(scope="module")
def module_database(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Let fixtures of a whole file write rows: all its tests see them, no other file does.

    Each test works behind a savepoint of its own, as always. Transactional tests cannot use it. A
    fixture that writes many rows ends with `connection.check_constraints()`. Otherwise PostgreSQL
    checks them all again after each test.
    """
    with django_db_blocker.unblock(), transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.fixture
def redis_url() -> str:
    need("redis")
    return url_of("redis")


@pytest.fixture
def rabbitmq_url() -> str:
    need("rabbitmq")
    return url_of("rabbitmq")


@pytest.fixture
def postgresql_url() -> str:
    need("postgresql")
    return url_of("postgresql")


@pytest.fixture(scope="session")
def small_language_model() -> Path:
    """Return the folder of SmolLM2-135M-Instruct, for tests marked `models`."""
    return _small_model(LANGUAGE_MODEL)


@pytest.fixture(scope="session")
def small_pipeline() -> Path:
    """Return the folder of spaCy's small English pipeline, for tests marked `models`."""
    return _small_model(PIPELINE)


def _small_model(folder: Path) -> Path:
    if not folder.is_dir():
        pytest.skip(f"no small model at {folder}: run `make small-models`")
    return folder


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of real data; without it the test is skipped, also in CI."""
    folder = shared_folder()
    if not folder.is_dir():
        pytest.skip(f"no folder of real data at {folder}: set ATTEST_SHARED")
    return folder


@pytest.fixture(scope="session")
def oxigraph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Oxigraph]:
    """Return a real endpoint with the whole world of `tests.wikidata_shape`."""
    with oxigraph_server(ntriples(world()), tmp_path_factory.mktemp("oxigraph")) as server:
        yield server


@receiver(post_migrate, sender=apps.get_app_config("accounts"))
def make_groups_again(**kwargs: object) -> None:
    """Make the groups of the roles, which a transactional test empties with all other tables."""
    for role in Role:
        Group.objects.get_or_create(name=role)


def person(username: str, *roles: Role) -> User:
    """Return a user without a password; `client_for` needs none."""
    user = User.objects.create_user(username)
    user.groups.set(Group.objects.filter(name__in=roles))
    return user


@pytest.fixture
def rachel(db: None) -> User:
    return person("rachel", Role.RATER)


@pytest.fixture
def rosa(db: None) -> User:
    return person("rosa", Role.RESEARCHER)


@pytest.fixture
def adam(db: None) -> User:
    return person("adam", Role.ADMIN)


@pytest.fixture
def client_for() -> Callable[[User], Client]:
    """Return a function from a user to a browser in which they are signed in."""

    def signed_in(user: User) -> Client:
        client = Client()
        client.cookies[django_settings.SESSION_COOKIE_NAME] = session_of(user)
        return client

    return signed_in


@pytest.fixture
def researcher(rosa: User, client_for: Callable[[User], Client]) -> Client:
    """Return a browser in which Rosa is signed in."""
    return client_for(rosa)


def end_all_sessions() -> None:
    """End every session, as if the time of all was over."""
    for session in Session.objects.all():
        SessionStore(session.session_key).delete()


def session_of(user: User) -> str:
    """Return the key of a new session, as signing in leaves it."""
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = django_settings.AUTHENTICATION_BACKENDS[-1]
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.create()
    return str(session.session_key)


@pytest.fixture
def own_cache_and_folder(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "uploads"
    backend = "django.core.cache.backends.locmem.LocMemCache"
    settings.CACHES = settings.CACHES | {"default": {"BACKEND": backend, "LOCATION": str(tmp_path)}}
