"""People that the tests know by name: Rachel rates, Rosa researches, Adam administers.

Also what a test may need beyond Python: a service, a folder of real data, a database of its own.
"""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from django.contrib.auth.models import Group
from django.test import Client

from accounts.access import Role
from accounts.models import User
from tests.oxigraph_server import Oxigraph, oxigraph_server
from tests.published import shared_folder
from tests.services import need, url_of
from tests.wikidata_shape import ntriples, world

DATABASE_FIXTURES = {"db", "transactional_db", "live_server"}
PAGES = re.compile(r"test_\w*pages?(_\w+)?\.py")  # files of tests that ask for pages
API = Path(__file__).parent / "api"
READING = re.compile(r"test_\w*(report|figure|chart)\w*\.py")  # of tests that make figures of rows
# Of tests that ask as people do, by forms and commands, for what services do: these are tested on
# both databases.
ASKING = re.compile(
    r"test_(\w*_(command|choices|setup)|adjudication|checkpoints|create_study|disagreements|"
    r"guidelines|upload_limit|uploads)\.py"
)
ACCOUNTS = Path(__file__).parent / "accounts"
TRADEOFFS = Path(__file__).parent / "evaluation" / "tradeoffs"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "database: uses the database (set by conftest.py)")
    config.addinivalue_line(
        "markers",
        "once: one database is enough (set by conftest.py: pages, commands, reports, real data …)",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what uses the database, so that it can be run on another, and what needs only one."""
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        if DATABASE_FIXTURES.intersection(fixtures) or item.get_closest_marker("django_db"):
            item.add_marker("database")
        asks_for_pages = PAGES.fullmatch(item.path.name) or API in item.path.parents
        reads = READING.fullmatch(item.path.name) or TRADEOFFS in item.path.parents
        asks = ASKING.fullmatch(item.path.name) or ACCOUNTS in item.path.parents
        if asks_for_pages or reads or asks or "shared" in fixtures:
            item.add_marker("once")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip or fail a test whose services are not there."""
    for marker in item.iter_markers("service"):
        for service in marker.args:
            need(service)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """Give each run test databases of its own: two runs on one machine do not meet."""
    database = django_settings.DATABASES["default"]
    test = database.setdefault("TEST", {})
    test["NAME"] = f"{test.get('NAME') or 'test_attest'}_{os.getpid()}"


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


def person(username: str, *roles: Role) -> User:
    """Return a user without a password; `client_for` needs none."""
    user = User.objects.create_user(username)
    # A test with transactions of its own empties all tables behind it, the groups' too.
    user.groups.set([Group.objects.get_or_create(name=role)[0] for role in Role if role in roles])
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
        client.force_login(user)
        return client

    return signed_in
