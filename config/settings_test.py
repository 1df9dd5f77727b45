"""Settings of the tests: those of settings.py, without what only costs time."""

import os
from pathlib import Path

os.environ.setdefault("DJANGO_DEBUG", "1")
# Tests have a queue and uploads of their own: a demo that runs here must not take their work.
os.environ.setdefault("ATTEST_DATA_DIR", str(Path(__file__).parent.parent / "var" / "test"))
# Names in questions are found by the labels of graphs, so that installed models make no difference.
os.environ.setdefault("ATTEST_SPACY_MODEL", "")
if "PYTEST_XDIST_WORKER" in os.environ:  # its workers and commands share its folder
    os.environ["ATTEST_DATA_DIR"] += f"/{os.environ.pop('PYTEST_XDIST_WORKER')}"
    os.environ["CACHE_URL"] = f"filecache://{os.environ['ATTEST_DATA_DIR']}/cache"

from config.settings import *  # noqa: F403 - a settings module is one namespace

DEBUG = IS_ON_OWN_MACHINE = False
WHITENOISE_USE_FINDERS = False  # each new client would look through static/
PROLIFIC_TOKEN = ""  # tests that need one name a server of their own
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
REST_FRAMEWORK = REST_FRAMEWORK | {"DEFAULT_THROTTLE_RATES": {"api": None}}  # noqa: F405 - above
CACHES["sessions"] = {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}  # noqa: F405
