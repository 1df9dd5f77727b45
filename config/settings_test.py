"""Settings of the tests: as settings.py, with what only costs time taken out."""

import os
from pathlib import Path

os.environ.setdefault("DJANGO_DEBUG", "1")
# A queue and uploads of their own: a demo that runs here must not take the tests' work.
os.environ.setdefault("ATTEST_DATA_DIR", str(Path(__file__).parent.parent / "var" / "test"))
# Names in questions are found by the graphs' own labels, whatever models this machine has.
os.environ.setdefault("ATTEST_SPACY_MODEL", "")
if "PYTEST_XDIST_WORKER" in os.environ:  # what it starts (workers, commands) shares its folder
    os.environ["ATTEST_DATA_DIR"] += f"/{os.environ.pop('PYTEST_XDIST_WORKER')}"
    os.environ["CACHE_URL"] = f"filecache://{os.environ['ATTEST_DATA_DIR']}/cache"

from config.settings import *  # noqa: F403 - a settings module is one namespace

DEBUG = False
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
REST_FRAMEWORK = REST_FRAMEWORK | {"DEFAULT_THROTTLE_RATES": {"api": None}}  # noqa: F405 - above
