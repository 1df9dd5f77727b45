"""Check the number of template lines that are too long to read: it may only fall.

`make lint` calls it. A change that wraps such lines must lower `MOST` accordingly.
"""

import sys
from pathlib import Path

LONGEST = 120  # characters in a line, at most
MOST = 135
TEMPLATES = Path(__file__).parent.parent / "templates"


def main() -> int:
    lines = [
        line
        for path in TEMPLATES.rglob("*.html")
        for line in path.read_text("utf-8").splitlines()
        if len(line) > LONGEST
    ]
    if len(lines) == MOST:
        return 0
    wanted = "wrap yours" if len(lines) > MOST else "lower MOST in tests/template_lines.py"
    sys.stderr.write(
        f"{len(lines):,} lines of templates have more than {LONGEST} characters; "
        f"expected {MOST:,}: {wanted}.\n"
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
