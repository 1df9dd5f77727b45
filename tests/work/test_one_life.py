"""Only the package of long work knows how work is claimed, lost and sent again."""

import io
import tokenize
from pathlib import Path

import pytest

pytestmark = pytest.mark.once

ROOT = Path(__file__).resolve().parents[2]
NAMES = {"attempts", "lease", "lease_until", "resend"}
# A rater's slot has a lease too, which is no work of a worker.
OTHERS = ("accounts", "config", "evaluation", "generation")


def names_of(path: Path) -> set[str]:
    """Return the names in the code of a module, without its comments and texts."""
    source = io.StringIO(path.read_text("utf-8"))
    return {
        token.string
        for token in tokenize.generate_tokens(source.readline)
        if token.type == tokenize.NAME
    }


def test_no_other_module_knows_attempts_leases_and_resending():
    modules = [
        path
        for app in OTHERS
        for path in (ROOT / app).rglob("*.py")
        if "migrations" not in path.parts
    ]
    found = {str(path.relative_to(ROOT)): names_of(path) & NAMES for path in modules}
    foreign = {"accounts/throttling.py"}  # a module of django-axes has this name

    assert len(modules) > 300
    assert {path: names for path, names in found.items() if names and path not in foreign} == {}
