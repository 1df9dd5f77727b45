"""Values that the settings refuse, and the proxies whose word about an address they take."""

import os
import subprocess
import sys
from collections.abc import Sequence

import pytest

from config.middleware import client_address

SERVER = {"DJANGO_SECRET_KEY": "s" * 50, "DJANGO_ALLOWED_HOSTS": "attest.example.org"}


def start(
    environment: dict[str, str], how: Sequence[str] = ("manage.py", "check")
) -> subprocess.CompletedProcess[str]:
    kept = {name: os.environ[name] for name in ("PATH", "ATTEST_DATA_DIR") if name in os.environ}
    return subprocess.run(
        [sys.executable, *how],
        env=kept | environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("environment", "says"),
    [
        ({"DJANGO_DEBUG": "0"}, "DJANGO_SECRET_KEY"),
        (SERVER | {"DJANGO_DEBUG": "0", "DJANGO_SECRET_KEY": "s" * 49}, "49 characters"),
        (SERVER | {"DJANGO_DEBUG": "0", "DJANGO_ALLOWED_HOSTS": ""}, "DJANGO_ALLOWED_HOSTS"),
        (SERVER | {"DJANGO_DEBUG": "0", "DJANGO_ALLOWED_HOSTS": "*"}, "DJANGO_ALLOWED_HOSTS"),
        (SERVER | {"DJANGO_DEBUG": "1"}, "DJANGO_DEBUG=1 is only for a site on your"),
    ],
)
def test_the_site_does_not_start_with_settings_that_let_others_in(environment, says):
    ended = start(environment)

    assert ended.returncode != 0
    assert says in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("environment", [SERVER | {"DJANGO_DEBUG": "0"}, {"DJANGO_DEBUG": "1"}])
def test_the_site_starts_as_a_server_and_as_a_developer_s(environment):
    assert start(environment).returncode == 0


WRITES_EVERYWHERE = """
import os
os.umask(0o022)
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
import django
django.setup()
from django.core.cache import cache
from django.core.files.base import ContentFile
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.files.storage import default_storage
from django.db import connection
connection.cursor().execute("CREATE TABLE rows (number INTEGER)")
cache.set("key", "value")
default_storage.save("folder/upload.zip", ContentFile(b"x"))
staticfiles_storage.save("style.css", ContentFile(b"x"))
"""


def test_files_of_the_data_folder_are_for_the_site_alone(tmp_path):
    folder = tmp_path / "data"
    environment = {"DJANGO_DEBUG": "1", "ATTEST_DATA_DIR": str(folder)}

    assert start(environment, ("-c", WRITES_EVERYWHERE)).returncode == 0

    modes = {path: path.stat().st_mode & 0o077 for path in folder.rglob("*")}
    names = {path.name for path in modes}
    assert {"attest.sqlite3", "upload.zip", "folder", "style.css", "cache", "messages"} <= names
    assert not any(modes.values())


@pytest.mark.parametrize("before", [None, 0o755])
def test_the_data_folder_is_for_the_site_alone(tmp_path, before):
    folder = tmp_path / "data"
    if before is not None:
        folder.mkdir(before)

    environment = {"DJANGO_DEBUG": "1", "ATTEST_DATA_DIR": str(folder)}
    assert start(environment, ("-c", "from config import settings")).returncode == 0

    assert oct(folder.stat().st_mode & 0o777) == "0o700"


def test_a_folder_that_all_share_is_no_data_folder(tmp_path):
    tmp_path.chmod(0o1777)

    ended = start({"DJANGO_DEBUG": "1", "ATTEST_DATA_DIR": str(tmp_path)})

    assert ended.returncode != 0
    assert f"{tmp_path} is open to others (mode 1777)" in ended.stderr
    assert tmp_path.stat().st_mode & 0o7777 == 0o1777
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("n_proxies", "forwarded", "address"),
    [
        (0, "6.6.6.6", "127.0.0.1"),  # sent by the caller
        (1, "6.6.6.6, 9.9.9.9", "9.9.9.9"),  # what our proxy added
        (2, "6.6.6.6, 9.9.9.9, 10.0.0.1", "9.9.9.9"),
        (2, "9.9.9.9", "127.0.0.1"),  # it did not come through both
        (1, "6.6.6.6, nonsense", "127.0.0.1"),
        (1, "6.6.6.6,", "127.0.0.1"),
        (1, "9.9.9.9:4711", "127.0.0.1"),
        (1, "::ffff:9.9.9.9", "9.9.9.9"),
        # RFC 6177: a site gets at least 64 bits, so all of its addresses are one caller.
        (1, "2001:DB8:0:7:1:2:3:4", "2001:db8:0:7::"),
    ],
)
def test_the_caller_s_address_is_what_our_proxies_say(rf, settings, n_proxies, forwarded, address):
    settings.N_PROXIES = n_proxies

    assert client_address(rf.get("/", HTTP_X_FORWARDED_FOR=forwarded)) == address


@pytest.mark.parametrize(
    ("peer", "address"), [("", None), ("fe80::1%eth0", "fe80::"), ("unix:", None)]
)
def test_a_peer_without_an_address_has_none(rf, peer, address):
    assert client_address(rf.get("/", REMOTE_ADDR=peer)) == address
