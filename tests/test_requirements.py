"""Installed packages: only those that the site needs, and on servers exactly those of the lock."""

import ast
import re
import subprocess
from functools import cache
from itertools import product
from pathlib import Path

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements.lock"
SITE = ["accounts", "generation", "annotation", "evaluation", "config"]
# What is imported under another name than that of its package.
IMPORTED_AS = {
    "django-axes": "axes",
    "django-csp": "csp",
    "django-environ": "environ",
    "django-filter": "django_filters",
    "djangorestframework": "rest_framework",
    "markdown-it-py": "markdown_it",
    "pyjwt": "jwt",
    "scikit-learn": "sklearn",
    "sparqlwrapper": "SPARQLWrapper",
    "vl-convert-python": "vl_convert",
}
# What is named in settings or by a command, and imported by others: a server, a driver, …
NAMED = {"gunicorn", "psycopg", "redis", "whitenoise"}
PYTHONS = ["3.11", "3.12", "3.13"]
PLATFORMS = [("linux", "x86_64"), ("linux", "aarch64"), ("darwin", "arm64"), ("win32", "AMD64")]


def required(path: Path) -> list[Requirement]:
    """Return the lines of a requirements file, without those that name another file."""
    text = path.read_text("utf-8").replace("\\\n", " ")
    lines = [re.sub(r"--hash=\S+", "", line).strip() for line in text.splitlines()]
    return [Requirement(line) for line in lines if line and not line.startswith("-r ")]


def name_of(requirement: Requirement) -> str:
    return re.sub(r"[-_.]+", "-", requirement.name).lower()


def names_in(path: Path) -> set[str]:
    return {name_of(each) for each in required(path)}


def imported_as(name: str) -> str:
    return IMPORTED_AS.get(name, name.replace("-", "_"))


OF_SITE = names_in(ROOT / "requirements.txt")


@cache
def imported() -> set[str]:
    """Return the top-level names that the site imports."""
    names: set[str] = set()
    for path in (each for folder in SITE for each in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                names.update(alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module.partition(".")[0])
    return names


def test_the_site_imports_each_of_its_requirements():
    unused = {name for name in OF_SITE - NAMED if imported_as(name) not in imported()}

    assert not unused


def test_the_site_imports_nothing_that_only_tests_need():
    of_tests = names_in(ROOT / "requirements-dev.txt") - OF_SITE

    assert not {name for name in of_tests if imported_as(name) in imported()}


@pytest.mark.parametrize(
    "path", [LOCK, *sorted(ROOT.glob("requirements*.txt"))], ids=lambda path: path.name
)
def test_every_version_is_pinned_and_is_one_for_all_machines(path):
    specifiers = [str(each.specifier) for each in required(path)]

    assert specifiers
    assert all(re.fullmatch(r"==[0-9][0-9a-z.]*", each) for each in specifiers)  # no '+cpu', no '*'


def test_the_lock_has_the_versions_of_the_requirements():
    locked = {(name_of(each), str(each.specifier)) for each in required(LOCK)}

    for each in required(ROOT / "requirements.txt"):
        assert (name_of(each), str(each.specifier)) in locked, "make lock"


@pytest.mark.parametrize(("python", "platform"), [*product(PYTHONS, PLATFORMS)], ids=str)
def test_the_lock_names_each_package_once_on_every_machine(python, platform):
    system, machine = platform
    environment = default_environment() | {
        "python_version": python,
        "python_full_version": f"{python}.9",
        "sys_platform": system,
        "platform_machine": machine,
    }

    here = [
        name_of(each)
        for each in required(LOCK)
        if each.marker is None or each.marker.evaluate(environment)
    ]

    assert len(here) == len(set(here))
    assert set(here) >= OF_SITE


def test_the_lock_has_hashes_of_the_files_of_all_platforms_and_names_no_host():
    text = LOCK.read_text("utf-8")
    pins = re.split(r"\n(?=\S)", text.strip())
    n_hashes = {Requirement(pin.split()[0]).name: pin.count("--hash=sha256:") for pin in pins}

    assert all(n_hashes.values())
    for compiled in ("numpy", "torch", "psycopg-binary", "pydantic-core"):
        assert n_hashes[compiled] >= len(PYTHONS) * len(PLATFORMS)
    assert not re.search(r"://|@|--(?!hash=)", text)


@pytest.mark.parametrize(
    ("arguments", "file"), [([], "requirements.txt"), (["LOCKED=1"], "requirements.lock")]
)
def test_a_server_installs_what_the_lock_names(arguments, file):
    printed = subprocess.run(
        ["make", "--dry-run", "install", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    assert f" -r {file} " in printed
