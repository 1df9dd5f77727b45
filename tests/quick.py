"""Run the tests that a change touches (`make quick`), on SQLite, nearest first, under a minute.

The change is the difference from the last commit, or from a given revision (`make quick
SINCE=main~3`); without any difference, it is the last commit. The nearest tests are those of the
same app whose names share a word with a changed file, because pages reach their views by addresses,
which imports do not show. After these, a test file is nearer when fewer imports (for templates:
includes) lie between it and a changed file.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.run import IN_THREE, NO_MIGRATIONS, NO_TESTS, ORDINARY, Round, run_pytest

ROOT = Path(__file__).resolve().parent.parent
FARTHEST = 2  # imports between a changed file and a test file, at most
MOST_FILES = 40
SECONDS = 40.0  # not counting start and end
CODE = ("accounts", "annotation", "config", "evaluation", "generation", "tests", "work")
TEMPLATE = re.compile(r"""["']([\w/]+\.html)["']""")


def main(arguments: list[str]) -> int:
    changed = changed_files(*arguments[:1])
    there = all_files()
    files = nearest_tests(changed, there, users_of(there))
    print(f"{len(changed)} changed files touch {len(files)} test files.")  # noqa: T201 - for the terminal
    if not files:
        return 0
    how = [*NO_MIGRATIONS, *IN_THREE]
    part = Round("quick", None, f"{ORDINARY} and not e2e", [], how, SECONDS)
    status = run_pytest(part, ["-q", *files[:MOST_FILES]])
    print("All tests, in a browser and on PostgreSQL too: make test")  # noqa: T201 - for the terminal
    return 0 if status == NO_TESTS else status


def changed_files(since: str = "HEAD") -> set[str]:
    """Return paths that differ from a revision, including new ones; if none, the last commit's."""
    found = _git("diff", "--name-only", since) | _git("ls-files", "-o", "--exclude-standard")
    return found or _git("diff", "--name-only", "HEAD~1")


def all_files() -> list[str]:
    """Return the paths of code and templates on disk."""
    folders = (*CODE, "templates")
    found = (path for folder in folders for path in (ROOT / folder).rglob("*.[ph]*"))
    return [str(path.relative_to(ROOT)) for path in found if path.suffix in (".py", ".html")]


def users_of(files: Iterable[str]) -> dict[str, set[str]]:
    """Return for each file the files that import it, or that name it as a template."""
    users: dict[str, set[str]] = {}
    for file in files:
        text = (ROOT / file).read_text("utf-8")
        for used in {*_imported(file, text), *_templates(text)}:
            users.setdefault(used, set()).add(file)
    return users


def nearest_tests(
    changed: Iterable[str], files: Iterable[str], users: dict[str, set[str]]
) -> list[str]:
    """Return the test files that a change touches, the nearest first."""
    here = set(changed)
    found = sorted(filter(_is_test, here))
    found += _namesakes(here, filter(_is_test, files))
    for _ in range(FARTHEST):
        here = {user for file in here for user in users.get(file, ())}
        found += sorted(filter(_is_test, here))
    return [file for file in dict.fromkeys(found) if (ROOT / file).exists()]


def _namesakes(changed: Iterable[str], tests: Iterable[str]) -> list[str]:
    """Return tests whose names share words with changed files of their app, most words first."""
    n_shared = {
        test: max(
            (len(_words(test) & _words(file)) for file in changed if _app(file) == _app(test)),
            default=0,
        )
        for test in tests
    }
    return sorted((test for test, n in n_shared.items() if n), key=lambda test: -n_shared[test])


def _words(file: str) -> set[str]:
    """Return the words of a file's name in the singular, without words that many names have."""
    words = Path(file).stem.removeprefix("test_").split("_")
    return {word.removesuffix("s") for word in words} - {"", "page", "report", "base"}


def _app(file: str) -> str:
    """Return the app that code, templates or tests belong to."""
    parts = Path(file).parts
    return parts[1] if parts[0] in ("templates", "tests") and len(parts) > 1 else parts[0]


def _is_test(file: str) -> bool:
    path = Path(file)
    return (
        path.name.startswith("test_") and path.is_relative_to("tests") and "e2e" not in path.parts
    )


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
