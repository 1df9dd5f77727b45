"""Keys made of ids that may be too long for the database, such as long addresses."""

import hashlib

from generation.importers.fields import LONGEST_KEY

_N_HASH = 16  # characters


def short_key(id: str) -> str:
    """Return an id unchanged, or its beginning with '~' and a hash of the whole id."""
    if len(id) <= LONGEST_KEY:
        return id
    digest = hashlib.sha256(id.encode()).hexdigest()[:_N_HASH]
    return f"{id[: LONGEST_KEY - _N_HASH - 1]}~{digest}"
