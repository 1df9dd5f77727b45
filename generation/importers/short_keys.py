"""Keys made of ids that may be longer than the database has room for: addresses may be long."""

import hashlib

from generation.importers.fields import LONGEST_KEY

_N_HASH = 16  # characters


def short_key(id: str) -> str:
    """Return an id as it is, or its beginning with a hash of all of it behind '~'."""
    if len(id) <= LONGEST_KEY:
        return id
    digest = hashlib.sha256(id.encode()).hexdigest()[:_N_HASH]
    return f"{id[: LONGEST_KEY - _N_HASH - 1]}~{digest}"
