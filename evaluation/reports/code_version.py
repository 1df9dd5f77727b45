"""The version of the code that makes reports. Cache entries of other versions are never read."""

import hashlib
from pathlib import Path

from django.conf import settings

PACKAGES = ("annotation", "evaluation", "generation")  # packages whose code makes figures


def _code_version() -> str:
    digest = hashlib.sha256(settings.VERSION.encode())
    for package in PACKAGES:
        for path in sorted(Path(settings.BASE_DIR, package).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


CODE_VERSION = _code_version()  # read at the start of the process, which loads its code then
