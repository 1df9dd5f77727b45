"""Check the lines of templates: none opens a comment and does not close it, which would be shown.

The number of lines that are too long to read may only fall. `make lint` calls it. A change that
wraps such lines must lower `MOST` accordingly.
"""

import sys
from pathlib import Path

LONGEST = 120  # characters in a line, at most
MOST = 116
TEMPLATES = Path(__file__).parent.parent / "templates"


def main() -> int:
    every = [
        line for path in TEMPLATES.rglob("*.html") for line in path.read_text("utf-8").splitlines()
    ]
    if broken := [line for line in every if line.count("{#") != line.count("#}")]:
        sys.stderr.write(f"A comment ends on the line where it begins: {broken[0]}\n")
        return 1
    lines = [line for line in every if len(line) > LONGEST]
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
