"""Which code reports are made by: what other code has cached is never read."""

import hashlib
from pathlib import Path

from django.conf import settings

PACKAGES = ("annotation", "evaluation", "generation")  # whose code figures are made by


def _code_version() -> str:
    digest = hashlib.sha256(settings.VERSION.encode())
    for package in PACKAGES:
        for path in sorted(Path(settings.BASE_DIR, package).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


CODE_VERSION = _code_version()  # read when the process begins: its code is that of then
