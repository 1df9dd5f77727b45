"""Run what a change touches (`make quick`), on SQLite, nearest tests first, for under a minute.

A change is what differs from the last commit, or with a revision (`make quick SINCE=main~3`) from
that; without any difference, the last commit. A test file is the nearer to a changed file, the
fewer imports (of templates: includes) lie between them.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.run import IN_TWO, NO_MIGRATIONS, NO_TESTS, Round, run_pytest

ROOT = Path(__file__).resolve().parent.parent
FARTHEST = 2  # what a file imports, and what that imports
MOST_FILES = 40
SECONDS = 40.0  # without starting and ending
CODE = ("accounts", "annotation", "config", "evaluation", "generation", "tests")
TEMPLATE = re.compile(r"""["']([\w/]+\.html)["']""")


def main(arguments: list[str]) -> int:
    changed = changed_files(*arguments[:1])
    files = nearest_tests(changed, users_of(all_files()))
    print(f"{len(changed)} changed files touch {len(files)} test files.")  # noqa: T201
    if not files:
        return 0
    part = Round("quick", None, "not faults and not e2e", [], [*NO_MIGRATIONS, *IN_TWO])
    status = run_pytest(part, ["-q", *files[:MOST_FILES]], SECONDS)
    print("All tests, in a browser and on PostgreSQL too: make test")  # noqa: T201
    return 0 if status == NO_TESTS else status


def changed_files(since: str = "HEAD") -> set[str]:
    """Return paths that differ from a revision, new ones too; else those of the last commit."""
    found = _git("diff", "--name-only", since) | _git("ls-files", "-o", "--exclude-standard")
    return found or _git("diff", "--name-only", "HEAD~1")


def all_files() -> list[str]:
    """Return the paths of code and templates, as they are on disk."""
    folders = (*CODE, "templates")
    found = (path for folder in folders for path in (ROOT / folder).rglob("*.[ph]*"))
    return [str(path.relative_to(ROOT)) for path in found if path.suffix in (".py", ".html")]


def users_of(files: Iterable[str]) -> dict[str, set[str]]:
    """Return for each file those that import it, or that name it as a template."""
    users: dict[str, set[str]] = {}
    for file in files:
        text = (ROOT / file).read_text("utf-8")
        for used in {*_imported(file, text), *_templates(text)}:
            users.setdefault(used, set()).add(file)
    return users


def nearest_tests(changed: Iterable[str], users: dict[str, set[str]]) -> list[str]:
    """Return the test files that a change touches, the nearest first."""
    found: list[str] = []
    seen: set[str] = set()
    here = set(changed)
    for _ in range(FARTHEST + 1):
        found += sorted(filter(_is_test, here - seen))
        seen |= here
        here = {user for file in here for user in users.get(file, ())}
    return [file for file in found if (ROOT / file).exists()]


def _is_test(file: str) -> bool:
    return Path(file).name.startswith("test_") and file.startswith("tests/")


def _imported(file: str, text: str) -> Iterator[str]:
    """Yield the paths of our own modules that a module imports."""
    if not file.endswith(".py"):
        return
    for node in ast.walk(ast.parse(text)):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for path in (name.replace(".", "/") for name in names):
            yield from (f"{path}.py", f"{path}/__init__.py")


def _templates(text: str) -> Iterator[str]:
    return (f"templates/{name}" for name in TEMPLATE.findall(text))


def _git(*arguments: str) -> set[str]:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stdout.split("\n")) - {""}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
