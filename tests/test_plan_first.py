"""Whatever can ask a model shows its plan first: every command, form and request is walked."""

import ast
import importlib
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest
from django.apps import apps
from django.core.management import find_commands, load_command_class
from django.urls import URLPattern, get_resolver

from evaluation.jobs.command import do_here
from evaluation.jobs.kinds import send_job
from evaluation.runs.command import requested_here
from evaluation.runs.services.chunks import send_run
from evaluation.runs.services.runs import retry_failed as retry_run
from generation.management.asking_command import AskingCommand
from generation.management.grid_commands import ask_grid
from generation.services.asked_questions import ask
from generation.services.grids import retry_failed as retry_calls
from generation.services.grids import start_grid

ROOT = Path(__file__).resolve().parent.parent
APPS = ("accounts", "annotation", "evaluation", "generation", "work")
# Whatever makes calls in a command takes the command, and asks it for a yes.
ASKS_HERE = {ask_grid, requested_here, do_here}
# Whatever makes workers ask, or sends them what asks.
STARTS = {send_run, send_job, start_grid, retry_run, retry_calls, ask}
NEEDS_NO_PLAN = {
    "generation.views.grids.start_grid": "It starts only a grid that is planned.",
    "generation.api_grids.Grids.start": "It starts only a grid that is planned.",
    "evaluation.runs.views.runs.start_default_run": "It asks a baseline, which is no model.",
    "evaluation.graphs.views.questions.ask": "Its page says that it makes one call.",
}


def commands() -> Iterator[tuple[str, str]]:
    """Yield the app's module and the name of each command of ours."""
    for config in apps.get_app_configs():
        if config.name.partition(".")[0] in APPS:
            for folder in Path(config.path).rglob("management"):
                app = ".".join(folder.parent.relative_to(ROOT).parts)
                yield from ((app, name) for name in find_commands(str(folder)))


COMMANDS = sorted(set(commands()))


def asks(function: Callable[..., Any], wanted: set[Any], seen: set[Any]) -> bool:
    """Return whether a function uses one of some functions, itself or by helpers beside it."""
    function = inspect.unwrap(function)
    if function in seen or not isinstance(function, FunctionType):
        return False
    seen.add(function)
    codes = [function.__code__]
    while codes:
        code = codes.pop()
        codes += [each for each in code.co_consts if inspect.iscode(each)]
        for name in code.co_names:
            for module in (function.__globals__, *_modules_in(function.__globals__, code)):
                found = module.get(name)
                if _is(found, wanted):
                    return True
                is_beside = getattr(found, "__module__", None) == function.__module__
                if is_beside and callable(found) and asks(found, wanted, seen):
                    return True
    return False


def _is(found: object, wanted: set[Any]) -> bool:
    return isinstance(found, FunctionType) and found in wanted


def _modules_in(names: dict[str, Any], code: Any) -> list[dict[str, Any]]:
    return [vars(names[n]) for n in code.co_names if inspect.ismodule(names.get(n))]


def views() -> dict[str, list[Callable[..., Any]]]:
    """Return the functions behind each address, by the name of the view or of its method."""
    found: dict[str, list[Callable[..., Any]]] = {}
    for pattern in _patterns(get_resolver().url_patterns):
        view = pattern.callback
        of_class = getattr(view, "cls", None) or getattr(view, "view_class", None)
        if of_class is None:
            function = inspect.unwrap(view)
            if function.__module__.partition(".")[0] in APPS:
                found[f"{function.__module__}.{function.__name__}"] = [function]
        elif of_class.__module__.partition(".")[0] in APPS:
            names = set((getattr(view, "actions", None) or {}).values())
            for name in names or {"get", "post", "put", "patch", "delete"}:
                if method := getattr(of_class, name, None):
                    named = f"{of_class.__module__}.{of_class.__name__}.{name}"
                    found[named] = [method, *_methods(of_class, method)]
    return found


def _methods(of_class: type, method: Callable[..., Any]) -> list[Callable[..., Any]]:
    """Return the methods of ours that a method calls on itself."""
    names = inspect.unwrap(method).__code__.co_names
    called = (getattr(of_class, name, None) for name in names)
    return [
        each
        for each in called
        if isinstance(each, FunctionType) and each.__module__.partition(".")[0] in APPS
    ]


def _patterns(patterns: list[Any]) -> Iterator[URLPattern]:
    for each in patterns:
        if isinstance(each, URLPattern):
            yield each
        else:
            yield from _patterns(each.url_patterns)


def shows_plan(functions: list[Callable[..., Any]]) -> bool:
    """Return whether one of some functions, or a helper beside it, shows a plan first."""
    sources = [inspect.getsource(inspect.unwrap(each)) for each in functions]
    return any("plan_first(" in source or "confirmed_first(" in source for source in sources)


@pytest.mark.parametrize(("app", "name"), COMMANDS, ids=lambda text: text)
def test_a_command_that_can_ask_a_model_shows_its_plan_and_wants_a_yes(app, name):
    command = load_command_class(app, name)
    module = importlib.import_module(f"{app}.management.commands.{name}")

    used = {value for value in vars(module).values() if isinstance(value, FunctionType)} & ASKS_HERE

    assert not used or isinstance(command, AskingCommand)
    if isinstance(command, AskingCommand):
        assert "--yes" in command.create_parser("manage.py", name).format_help()


def test_every_form_and_request_that_starts_asking_shows_its_plan():
    starting = {
        name
        for name, functions in views().items()
        if any(asks(function, STARTS, set()) for function in functions)
    }
    without = {name for name in starting if not shows_plan(views()[name])}

    assert starting >= {
        "evaluation.runs.views.runs.start_run",
        "evaluation.runs.api.Runs.create",
        "evaluation.studies.views.threshold_choice.score_grid",
        "evaluation.tradeoffs.views.recipe.score_recipe",
        "evaluation.graphs.experiments.views.experiments.score_experiment",
        "evaluation.graphs.construction.api.StartConstruction.post",
    }
    assert without == NEEDS_NO_PLAN.keys()


def test_only_these_modules_make_calls_or_start_grids():
    """A further one would get around the plan: it has to be looked at here."""
    callers: dict[str, set[str]] = {"start_grid": set(), "do": set()}
    for app in APPS:
        for path in (ROOT / app).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Call):
                    called = ast.unparse(node.func)
                    where = str(path.relative_to(ROOT))
                    if called.endswith("start_grid"):
                        callers["start_grid"].add(where)
                    if called in ("GRID_CHUNKS.do", "RUN_CHUNKS.do", "JOBS.do"):
                        callers["do"].add(where)

    assert callers == {
        "start_grid": {
            "evaluation/exchange/demo_small_model.py",  # SMALL_MODEL=1 asks for it
            "generation/api_grids.py",
            "generation/management/grid_commands.py",
            "generation/services/asked_questions.py",
            "generation/views/grids.py",
        },
        "do": {
            "evaluation/jobs/command.py",
            "evaluation/runs/command.py",
            "generation/management/grid_commands.py",
        },
    }
