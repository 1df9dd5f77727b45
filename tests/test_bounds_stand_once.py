"""Bounds of a choice are given only where it is declared: in no form, serializer or command."""

import ast
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from django.conf import settings

from generation.choices.declaration import fields_of

APPS = ("accounts", "annotation", "evaluation", "generation")
BOUNDS = {"min_value", "max_value"}
# What is called like a declared choice, and is another one.
OTHERS = {
    ("evaluation/runs/api.py", "seed"): "of the responses that are scored in bf16 as well",
    ("evaluation/tradeoffs/forms/tradeoff.py", "k"): "of the lines in a figure",
    ("evaluation/tradeoffs/management/commands/rerank.py", "temperature"): "which pool",
    ("generation/forms/new_grid.py", "budget"): "of a grid, whose file is checked as a whole",
    ("generation/forms/prompts.py", "budget"): "of one prompt to look at",
    ("generation/management/commands/make_up_minimum.py", "seed"): "of what is made up",
    ("generation/management/commands/restrict_context.py", "budget"): "of a grid",
    ("generation/management/commands/restrict_context.py", "max_tokens"): "of a grid",
}


def test_no_form_serializer_or_command_gives_the_bounds_of_a_declared_choice_again():
    declared = bounded_choices()
    twice = {
        (path, name): sorted(declared[name])
        for path, name in written_bounds()
        if name in declared and (path, name) not in OTHERS
    }

    assert {"seed", "k1", "full_share", "learning_rate"} <= declared.keys()
    assert not twice, "make the field of the declaration: posted_fields, form_field, add_arguments"
    assert OTHERS.keys() <= set(written_bounds()), "what is not written any more is no exception"


def bounded_choices() -> dict[str, set[str]]:
    """Return the names of all declared choices with bounds, and the tuples that declare them."""
    found: dict[str, set[str]] = {}
    for module in modules():
        for declared in vars(module).values():
            is_own = getattr(declared, "__module__", "") == module.__name__
            for field in fields_of(declared) if is_own and is_of_choices(declared) else ():
                choice = field.choice
                if (choice.low, choice.high) != (None, None):
                    found.setdefault(field.name, set()).add(declared.__name__)
    return found


def is_of_choices(declared: Any) -> bool:
    if type(declared) is not type or not hasattr(declared, "_fields"):
        return False
    return any(hasattr(hint, "__metadata__") for hint in declared.__annotations__.values())


def modules() -> Iterator[ModuleType]:
    for app in APPS:
        for module in pkgutil.walk_packages([str(Path(settings.BASE_DIR) / app)], f"{app}."):
            if ".migrations" not in module.name:
                yield import_module(module.name)


def written_bounds() -> Iterator[tuple[str, str]]:
    """Yield each place where a field or an argument has bounds of its own, with its name."""
    for app in APPS:
        for path in sorted((Path(settings.BASE_DIR) / app).rglob("*.py")):
            if "migrations" in path.parts or "models" in path.parts or path.stem == "models":
                continue
            where = str(path.relative_to(settings.BASE_DIR))
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                match node:
                    case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(keywords=given)):
                        if BOUNDS & {each.arg for each in given}:
                            yield where, name
                    case ast.Call(
                        func=ast.Attribute(attr="add_argument"),
                        args=[ast.Constant(value=str(flag)), *_],
                        keywords=given,
                    ) if is_number(given):
                        yield where, flag.strip("-").replace("-", "_")


def is_number(given: list[ast.keyword]) -> bool:
    types = [each.value.id for each in given if isinstance(each.value, ast.Name)]
    return any(each.arg == "type" for each in given) and bool({"int", "float"} & set(types))
