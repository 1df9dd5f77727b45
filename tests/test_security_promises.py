"""Each promise of docs/security.md names a test that is there."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def test_the_test_of_each_promise_is_there():
    page = (ROOT / "docs/security.md").read_text(encoding="utf-8")
    promises = page[page.index("## Promises") :].split("|---|---|\n")[1].splitlines()

    named = [NAMED.search(line) for line in promises]

    assert [line for line, found in zip(promises, named, strict=True) if not found] == []
    assert [
        found.group()
        for found in named
        if found and f"\ndef {found[2]}(" not in (ROOT / found[1]).read_text(encoding="utf-8")
    ] == []
