"""Names in the code: each class has its own, and a module's or function's says what is in it."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
APPS = ("accounts", "annotation", "evaluation", "generation", "work")
# Django finds these by their names.
OF_DJANGO = {"Command", "Migration"}


def modules() -> Iterator[tuple[str, ast.Module]]:
    for app in APPS:
        for path in (ROOT / app).rglob("*.py"):
            if path.parent.name != "migrations":
                yield str(path.relative_to(ROOT)), ast.parse(path.read_text("utf-8"))


def test_no_two_classes_have_one_name():
    places = defaultdict(list)
    for path, module in modules():
        for node in module.body:
            if isinstance(node, ast.ClassDef) and node.name not in OF_DJANGO:
                places[node.name].append(path)

    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}
