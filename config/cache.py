"""Caches that may fail: every page is still shown when the disk is full or Redis is lost."""

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
    """Log an error of the cache, and go on after the block."""
    try:
        yield
    except (OSError, RedisError) as error:
        logger.warning("the cache cannot be used: %s", error)


class _Guarded(BaseCache):
    """A cache that answers, while it cannot be used, as an empty cache with no other users."""

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
        return True  # conditional updates of rows protect whatever this cache locks as well

    def delete(self, key: Any, version: int | None = None) -> bool:
        with _in_vain():
            return super().delete(key, version)
        return False


class FileCache(_Guarded, FileBasedCache):
    """A cache of files."""

    def _createdir(self) -> None:
        """Make the folder when the cache is made. Without it the site starts all the same."""
        with _in_vain():
            super()._createdir()  # type: ignore[misc]


class RedisCache(_Guarded, PlainRedisCache):
    """A cache in Redis."""
