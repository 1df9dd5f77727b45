"""Caches without which every page still comes: a full disk or a lost Redis breaks none."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.cache.backends.base import DEFAULT_TIMEOUT, BaseCache
from django.core.cache.backends.filebased import FileBasedCache
from django.core.cache.backends.redis import RedisCache as PlainRedisCache
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)


@contextmanager
def _in_vain() -> Iterator[None]:
    """Go on behind what a cache cannot do."""
    try:
        yield
    except (OSError, RedisError) as error:
        logger.warning("the cache cannot be used: %s", error)


class _Guarded(BaseCache):
    """Where it cannot be used, it answers as if nothing were there, and nobody else."""

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        with _in_vain():
            return super().get(key, default, version)
        return default

    def set(
        self,
        key: Any,
        value: Any,
        timeout: float | None = DEFAULT_TIMEOUT,
        version: int | None = None,
    ) -> None:
        with _in_vain():
            super().set(key, value, timeout, version)

    def add(
        self,
        key: Any,
        value: Any,
        timeout: float | None = DEFAULT_TIMEOUT,
        version: int | None = None,
    ) -> bool:
        with _in_vain():
            return super().add(key, value, timeout, version)
        return True  # what is locked by it, conditional updates of rows protect as well

    def delete(self, key: Any, version: int | None = None) -> bool:
        with _in_vain():
            return super().delete(key, version)
        return False


class FileCache(_Guarded, FileBasedCache):
    """A cache of files."""

    def _createdir(self) -> None:
        """Make the folder, as the cache is made: without it the site starts all the same."""
        with _in_vain():
            super()._createdir()  # type: ignore[misc]


class RedisCache(_Guarded, PlainRedisCache):
    """A cache in Redis."""
