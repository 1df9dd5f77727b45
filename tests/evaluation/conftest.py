"""Uploads of their own: a cache and a folder that no other test sees."""

import pytest

from evaluation.uploads import request_import
from tests.uploading import zipped


@pytest.fixture
def own_cache_and_folder(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "uploads"
    backend = "django.core.cache.backends.locmem.LocMemCache"
    settings.CACHES = {"default": {"BACKEND": backend, "LOCATION": str(tmp_path)}}


@pytest.fixture
def upload(tmp_path, adam):
    return request_import(zipped(tmp_path / "pilot"), "pilot", "", adam)


@pytest.fixture
def bad_upload(tmp_path, adam):
    return request_import(zipped(tmp_path / "pilot", bad=True), "pilot", "", adam)
