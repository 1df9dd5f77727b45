"""Names in the code: each class has its own, and a module's or function's says what is in it."""

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
APPS = ("accounts", "annotation", "evaluation", "generation", "work")
# Django finds these by their names.
OF_DJANGO = {"Command", "Migration"}


@cache
def modules() -> list[tuple[str, ast.Module]]:
    return [
        (str(path.relative_to(ROOT)), ast.parse(path.read_text("utf-8")))
        for app in APPS
        for path in (ROOT / app).rglob("*.py")
        if path.parent.name != "migrations"
    ]


def test_no_two_classes_have_one_name():
    places = defaultdict(list)
    for path, module in modules():
        for node in module.body:
            if isinstance(node, ast.ClassDef) and node.name not in OF_DJANGO:
                places[node.name].append(path)

    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}


# Prepositions, participles and fillers, which say nothing of what is inside.
NO_MODULE = {
    "asked",
    "asking",
    "behind",
    "drawn",
    "draws",
    "judged",
    "kept",
    "left_out",
    "lots",
    "made_with",
    "of_graph",
    "of_study",
    "places",
    "rows",
    "seen",
    "sides",
    "state",
    "stored",
    "view",
    "who_spoke",
}
NO_FUNCTION = {"drawn", "found", "in_words", "kept", "said", "shown"}


def test_a_module_is_called_by_what_is_in_it():
    assert [path for path, _ in modules() if Path(path).stem in NO_MODULE] == []


def test_a_function_is_called_by_what_it_does_or_returns():
    found = [
        f"{path}: {node.name}"
        for path, module in modules()
        for node in ast.walk(module)
        if isinstance(node, ast.FunctionDef) and node.name in NO_FUNCTION
    ]

    assert found == []


# What pages, forms, commands and errors said before they spoke plain English.
OLD_PHRASES = (
    "Mend the file",
    "content of no format that is known",
    "that they can be told again",
    "Every answer begins them anew",
    "not where they lie",
    "Each choice with each of the others",
    "Between commas",
    "Evidence stands",
    "the same, which flatters",
    "It needs something more",
    "Without a choice: what came",
    "What a closed gate implies may be left out",
    "over the examples that both speak about",
    "Open counts as in",
    "An admin’s to change",
    "raters of one mind",
)


def test_no_page_or_message_says_it_the_old_way():
    texts = [path for app in APPS for path in (ROOT / app).rglob("*.py")]
    texts += (ROOT / "templates").rglob("*.html")
    found = [
        f"{path.relative_to(ROOT)}: {phrase}"
        for path in texts
        for phrase in OLD_PHRASES
        if phrase in path.read_text("utf-8")
    ]

    assert found == []
