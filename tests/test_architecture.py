"""Allowed imports: between apps, between the rooms of evaluation, and inside a room.

The tables are those of docs/architecture.md, from top to bottom: each imports what is below it.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
APPS = ["evaluation", "annotation", "generation", "work", "accounts"]
# The rooms of evaluation. Those of one line do not know each other.
ROOMS = [
    ("urls", "tasks", "management", "apps"),
    ("material", "home"),
    ("exchange",),
    ("studies", "tradeoffs", "graphs"),
    ("templatetags",),
    ("retrieval",),
    ("runs",),
    ("jobs",),
    ("reports",),
    ("votes",),
    ("metrics",),
    ("backends",),
    ("measures",),
    ("statistics",),
    ("models",),
]
FLOORS = {room: floor for floor, rooms in enumerate(reversed(ROOMS)) for room in rooms}
# Inside a room or another app, by the name of a folder or a module; all others are plain modules.
LAYERS = [
    ("urls", "grid_urls"),
    (
        *("views", "api", "api_grids", "api_main_metrics", "api_new_job", "api_new_pull"),
        *("api_new_run", "api_samples", "authentication"),
    ),
    ("command", "management", "tasks"),
    (
        "cards",
        "pages",
        "downloads",
        "kinds",
        "work_kinds",
        "report_kinds",
        "named_answers",
        "templatetags",
    ),
    ("forms", "services", "reports", "figures"),
]
PURE = [
    "generation/seeded_random.py",
    "generation/filters.py",
    "generation/importers/*.py",
    "generation/importers/mapped/*.py",
    "generation/limits.py",
    "generation/batches.py",
    "generation/model_specs.py",
    "generation/records.py",
    "generation/server_addresses.py",
    "generation/toml_text.py",
    "generation/model_sizes.py",
    "generation/sample_choices.py",
    "generation/text/*.py",
    "generation/retrieval/bm25.py",
    "generation/retrieval/evidence_choice.py",
    "work/amounts.py",
    "generation/choices/declaration.py",
    "generation/retrieval/recall.py",
    "generation/retrieval/entity_rerank.py",
    "generation/retrieval/sparql_results.py",
    "generation/retrieval/wikibase.py",
    "generation/retrieval/disambiguation.py",
    "generation/retrieval/entity_types.py",
    "generation/retrieval/relations.py",
    "generation/grids/grid_file.py",
    "generation/grids/recipe.py",
    "generation/grids/restricted_context.py",
    "annotation/scheme_languages.py",
    "annotation/schemes.py",
    "annotation/voting.py",
    "annotation/ordering.py",
    "annotation/graph_tables.py",
    "evaluation/measures/*.py",
    "evaluation/statistics/*.py",
    "evaluation/reports/figures/free_places.py",
    "evaluation/graphs/figures/one_hop.py",
]
LIBRARIES = {"numpy", "scipy", "rank_bm25", "regex", "tomli_w", "pyoxigraph", "openpyxl", "pyarrow"}
NETWORK_AND_CLOCK = {"asyncio", "ftplib", "http", "secrets", "socket", "ssl", "time", "urllib"}
PARTS_WITHOUT_NETWORK = {"urllib.parse"}
SEEDED = {"Random", "Generator", "SeedSequence", "default_rng"}
MODELS = {"torch", "transformers", "spacy", "openai"}
MAY_LOAD_MODELS = [
    "generation/backends/*.py",
    "generation/retrieval/entities.py",
    "evaluation/backends/*.py",
]
TEMPLATE = re.compile(r"""["']evaluation/(\w+)/[\w/]+\.(?:html|svg)["']""")

MODULES = sorted(path.relative_to(ROOT) for app in APPS for path in (ROOT / app).rglob("*.py"))
PURE_MODULES = [path for path in MODULES if any(path.match(pattern) for pattern in PURE)]


def name_of(path: Path) -> str:
    """Return a module's dotted name."""
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse((ROOT / path).read_text("utf-8"))


@cache
def imports(path: Path) -> frozenset[str]:
    """Return what a module imports, at its top or inside functions, as dotted names."""
    package = path.parent.parts
    found: set[str] = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            source = ".".join([*above, *filter(None, [node.module])])
            # 'from generation import text' may name a module or what is in one.
            found.update(f"{source}.{alias.name}" for alias in node.names)
    return frozenset(found)


def top(name: str) -> str:
    return name.partition(".")[0]


def arrows(path: Path, names: Iterable[str]) -> list[str]:
    """Return imports as the failure of a test says them."""
    return [f"{path} imports {name}" for name in sorted(names)]


# --- between apps and rooms -----------------------------------------------------------------


def test_each_app_imports_those_below_it():
    wrong = []
    for path in MODULES:
        above = {"config", *APPS[: APPS.index(path.parts[0])]}
        wrong += arrows(path, (name for name in imports(path) if top(name) in above))

    assert not wrong


def test_evaluation_has_the_rooms_of_the_table_and_no_others():
    there = {path.stem for path in (ROOT / "evaluation").iterdir()} - {"__init__", "__pycache__"}

    assert there == FLOORS.keys() | {"migrations"}


def room_of(name: str) -> str:
    """Return the room of a module in evaluation; "" for all other modules."""
    parts = name.split(".")
    return parts[1] if parts[0] == "evaluation" and len(parts) > 1 else ""


def may_know(room: str, other: str) -> bool:
    """Return whether a room may import another, or show its templates."""
    return room == other or FLOORS[room] > FLOORS[other]


def test_each_room_imports_those_below_it():
    wrong = []
    for path in MODULES:
        room = room_of(name_of(path))
        if room in FLOORS:
            others = {name for name in imports(path) if room_of(name) in FLOORS}
            wrong += arrows(path, (name for name in others if not may_know(room, room_of(name))))

    assert not wrong


def home(name: str) -> list[str]:
    """Return where something lives: a room of evaluation, or another app."""
    return name.split(".")[: 2 if top(name) == "evaluation" else 1]


def layer(name: str) -> int:
    """Return how high in its room a module is, by the outermost name in `LAYERS`."""
    for part in name.split(".")[len(home(name)) :]:
        for floor, names in enumerate(reversed(LAYERS), 1):
            if part in names:
                return floor
    return 0


def test_each_layer_of_a_room_imports_those_below_it():
    wrong = []
    for path in MODULES:
        name = name_of(path)
        others = {other for other in imports(path) if home(other) == home(name)}
        wrong += arrows(path, (other for other in others if layer(other) > layer(name)))

    assert not wrong


@pytest.mark.parametrize("app", APPS)
def test_no_folders_of_an_app_import_each_other_in_a_circle(app: str):
    graph: dict[str, set[str]] = {}
    for path in MODULES:
        room = path.with_suffix("").parts[1]
        if path.parts[0] == app:
            others = {name.split(".")[1] for name in imports(path) if name.startswith(f"{app}.")}
            graph.setdefault(room, set()).update(others - {room})

    TopologicalSorter(graph).prepare()  # raises CycleError


def test_no_modules_import_each_other_in_a_circle():
    known = {name_of(path) for path in MODULES}
    graph = {
        name_of(path): {
            name if name in known else name.rpartition(".")[0] for name in imports(path)
        }
        & known - {name_of(path)}
        for path in MODULES
    }

    TopologicalSorter(graph).prepare()  # raises CycleError


def test_tasks_are_sent_from_their_rooms():
    """The module evaluation/tasks.py collects them for Celery only."""
    wrong = []
    for path in MODULES:
        names = (name for name in imports(path) if f"{name}.".startswith("evaluation.tasks."))
        wrong += arrows(path, names)

    assert not wrong


@pytest.mark.parametrize("room", FLOORS)
def test_a_room_shows_its_own_templates_and_those_below_it(room: str):
    files = [
        *(ROOT / "evaluation" / room).rglob("*.py"),
        *(ROOT / "templates/evaluation" / room).rglob("*.*"),
    ]

    shown = {of for file in files for of in TEMPLATE.findall(file.read_text("utf-8"))}

    assert not {other for other in shown if not may_know(room, other)}


@pytest.mark.parametrize("folder", ["templates/evaluation", "tests/evaluation"])
def test_templates_and_tests_lie_in_folders_named_like_rooms(folder: str):
    folders = {path.name for path in (ROOT / folder).iterdir() if path.is_dir()}

    assert folders - {"__pycache__"} <= FLOORS.keys()


# --- pure code, and models ------------------------------------------------------------------


def test_pure_modules_import_pure_code_only():
    pure = tuple(name_of(module) for module in PURE_MODULES)
    standard = sys.stdlib_module_names - NETWORK_AND_CLOCK | {"_typeshed"}

    def is_pure(name: str) -> bool:
        if top(name) in APPS:
            return any(name == module or name.startswith(f"{module}.") for module in pure)
        if name.rpartition(".")[0] in PARTS_WITHOUT_NETWORK:
            return True
        return top(name) in standard | LIBRARIES

    wrong = []
    for path in PURE_MODULES:
        wrong += arrows(path, (name for name in imports(path) if not is_pure(name)))
    assert not wrong


def test_pure_modules_draw_no_global_random_numbers():
    for path in PURE_MODULES:
        names = imports(path)
        for node in ast.walk(tree_of(path)):
            source, _, name = ast.unparse(node).rpartition(".") if is_dotted(node) else ("", "", "")
            # A generator that came in as an argument may be called 'random' too.
            if source in ("np.random", "numpy.random") or (
                source == "random" and "random" in names
            ):
                assert name in SEEDED, f"{path}: {source}.{name}"
        assert {name for name in names if name.startswith("random.")} <= {"random.Random"}


def is_dotted(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name | ast.Attribute)


def test_only_backends_and_entities_import_models():
    wrong = []
    for path in MODULES:
        if not any(path.match(pattern) for pattern in MAY_LOAD_MODELS):
            wrong += arrows(path, (name for name in imports(path) if top(name) in MODELS))

    assert not wrong


def loaded_by(code: str) -> str:
    """Run code in a fresh interpreter and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_no_pure_module_brings_django_or_a_model_library_along():
    names = [name_of(path) for path in PURE_MODULES]
    unwanted = {"django", *MODELS}

    printed = loaded_by(
        "import importlib, sys\n"
        f"for name in {names!r}:\n"
        "    importlib.import_module(name)\n"
        f"    came = {unwanted!r} & set(sys.modules)\n"
        "    if came: sys.exit(f'{name} loads {came}')\n"
        "    print(name)\n"
    )

    assert printed.split() == names


def test_site_and_reports_start_without_large_libraries():
    printed = loaded_by(
        "import os, sys\n"
        "os.environ['DJANGO_SETTINGS_MODULE'] = 'config.settings_test'\n"
        "import django; django.setup()\n"
        "import config.urls\n"
        "from evaluation.reports.registry import all_reports\n"
        "all_reports()\n"
        f"print(sorted(({MODELS!r} | {{'scipy.stats'}}) & set(sys.modules)))\n"
    )

    assert printed.strip() == "[]"
