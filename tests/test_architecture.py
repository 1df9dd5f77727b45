"""Who may import whom: STYLE section 2, rules 1 to 3."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
# Each may import those before it.
APPS = ["accounts", "work", "generation", "annotation", "evaluation"]
PURE = [
    "generation/draws.py",
    "generation/filters.py",
    "generation/importers/*.py",
    "generation/lots.py",
    "generation/model_sizes.py",
    "generation/sample_choices.py",
    "generation/text/*.py",
    "generation/retrieval/bm25.py",
    "generation/retrieval/evidence_choice.py",
    "generation/retrieval/recall.py",
    "generation/retrieval/entity_rerank.py",
    "generation/retrieval/sparql_results.py",
    "generation/retrieval/wikibase.py",
    "generation/retrieval/disambiguation.py",
    "generation/retrieval/entity_types.py",
    "generation/retrieval/relations.py",
    "generation/grids/grid_file.py",
    "generation/grids/recipe.py",
    "generation/grids/restricted.py",
    "annotation/schemes.py",
    "annotation/voting.py",
    "annotation/ordering.py",
    "annotation/asked.py",
    "annotation/graph_tables.py",
    "evaluation/metrics/*.py",
    "evaluation/charts/free_places.py",
    "evaluation/charts/one_hop.py",
]
LIBRARIES = {"numpy", "scipy", "rank_bm25", "tomli_w", "pyoxigraph"}
NETWORK_AND_CLOCK = {"asyncio", "ftplib", "http", "secrets", "socket", "ssl", "time", "urllib"}
PARTS_WITHOUT_NETWORK = {"urllib.parse"}
SEEDED = {"Random", "Generator", "SeedSequence", "default_rng"}
MODELS = {"torch", "transformers", "spacy", "openai"}
MAY_LOAD_MODELS = [
    "generation/backends/*.py",
    "generation/retrieval/entities.py",
    "evaluation/backends/*.py",
]

MODULES = sorted(path.relative_to(ROOT) for app in APPS for path in (ROOT / app).rglob("*.py"))
PURE_MODULES = [path for path in MODULES if any(path.match(pattern) for pattern in PURE)]

each_module = pytest.mark.parametrize("path", MODULES, ids=str)
each_pure_module = pytest.mark.parametrize("path", PURE_MODULES, ids=str)


def name_of(path: Path) -> str:
    """Return a module's dotted name."""
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path) -> Iterator[str]:
    """Return what a module imports, at its top or inside functions, as dotted names."""
    package = path.parent.parts
    for node in ast.walk(ast.parse((ROOT / path).read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            source = ".".join([*above, *filter(None, [node.module])])
            # 'from generation import text' may name a module or what is in one.
            yield from (f"{source}.{alias.name}" for alias in node.names)


def top(name: str) -> str:
    return name.partition(".")[0]


@each_module
def test_imports_go_from_evaluation_towards_accounts(path: Path):
    app = path.parts[0]
    may_not = {"config", *APPS[APPS.index(app) + 1 :]}

    assert not {name for name in imports(path) if top(name) in may_not}


@each_pure_module
def test_pure_modules_import_pure_code_only(path: Path):
    pure = tuple(name_of(module) for module in PURE_MODULES)
    standard = sys.stdlib_module_names - NETWORK_AND_CLOCK | {"_typeshed"}

    def is_pure(name: str) -> bool:
        if top(name) in APPS:
            return any(name == module or name.startswith(f"{module}.") for module in pure)
        if name.rpartition(".")[0] in PARTS_WITHOUT_NETWORK:
            return True
        return top(name) in standard | LIBRARIES

    assert not {name for name in imports(path) if not is_pure(name)}


@each_pure_module
def test_pure_modules_draw_no_global_random_numbers(path: Path):
    names = set(imports(path))
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    for node in ast.walk(tree):
        source, _, name = ast.unparse(node).rpartition(".") if is_dotted(node) else ("", "", "")
        # A generator that came in as an argument may be called 'random' too.
        if source in ("np.random", "numpy.random") or (source == "random" and "random" in names):
            assert name in SEEDED, f"{source}.{name}"
    assert {name for name in names if name.startswith("random.")} <= {"random.Random"}


def is_dotted(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name | ast.Attribute)


@each_module
def test_only_backends_and_entities_import_models(path: Path):
    if not any(path.match(pattern) for pattern in MAY_LOAD_MODELS):
        assert not {name for name in imports(path) if top(name) in MODELS}


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


def test_the_site_starts_without_a_model_library():
    printed = loaded_by(
        "import os, sys\n"
        "os.environ['DJANGO_SETTINGS_MODULE'] = 'config.settings_test'\n"
        "import django; django.setup()\n"
        "import config.urls\n"
        f"print(sorted({MODELS!r} & set(sys.modules)))\n"
    )

    assert printed.strip() == "[]"
