"""Docstrings and comments are whole sentences and name the person they mean."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = (
    *("accounts", "annotation", "benchmarks", "config", "evaluation", "generation", "tests"),
    "work",
)
# A docstring that begins so is a clause without a main verb: 'What a grid would ask.'
STARTS_OF_FRAGMENTS = {
    *("About", "Among", "How", "Of", "So", "Than", "That", "What", "Where", "Which", "Who"),
    *("Whoever", "Whom", "Whose", "Why"),
}
# A comment behind code that begins so continues the name before it: `MOST = 3  # of them, that …`
CONTINUATIONS = {
    *("and", "as", "but", "by", "from", "of", "or", "so", "than", "that", "to", "until", "where"),
    *("which", "whoever", "whom", "whose", "with", "without"),
}
NO_ONE_IN_PARTICULAR = re.compile(r"\b(anybody|nobody|somebody|whoever)\b", re.IGNORECASE)
# Without such a line, no comment of a module is wrong.
MAY_BE_WRONG = re.compile(
    rf"#[#: ]*({'|'.join(CONTINUATIONS)})\b|#.*{NO_ONE_IN_PARTICULAR.pattern}", re.IGNORECASE
)


def modules() -> Iterator[Path]:
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if path.parent.name != "migrations":
                yield path


def docstrings(code: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each docstring."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, kinds) and (text := ast.get_docstring(node)):
            yield node.body[0].lineno, text


def comments(code: str) -> Iterator[tuple[int, str, bool]]:
    """Yield the line and the text of each comment, and whether code is on the same line."""
    last_line_of_code = 0
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        if token.type == tokenize.COMMENT:
            line = token.start[0]
            yield line, token.string.lstrip("#: "), line == last_line_of_code
        elif token.string.strip():
            last_line_of_code = token.end[0]


def fragments(code: str) -> Iterator[str]:
    """Yield what is wrong with the docstrings and comments of a module, with its line."""
    for line, text in docstrings(code):
        first_paragraph = text.split("\n\n")[0].rstrip()
        first_word = re.split(r"[^A-Za-z']", text, maxsplit=1)[0]
        if first_word in STARTS_OF_FRAGMENTS or text[0].islower():
            yield f"{line}: a docstring is a fragment: {first_paragraph}"
        if first_paragraph[-1] not in ".?!:":
            yield f"{line}: a docstring has no full stop: {first_paragraph}"
        if found := NO_ONE_IN_PARTICULAR.search(text):
            yield f"{line}: '{found[0]}' in a docstring; say who is meant"
    if not MAY_BE_WRONG.search(code):  # Cutting a module into tokens takes long.
        return
    for line, text, is_behind_code in comments(code):
        if found := NO_ONE_IN_PARTICULAR.search(text):
            yield f"{line}: '{found[0]}' in a comment; say who is meant"
        if is_behind_code and text.split()[:1] and text.split()[0] in CONTINUATIONS:
            yield f"{line}: a comment continues the code before it: {text}"


@pytest.mark.parametrize(
    "code",
    [
        '"""What a grid would ask."""',
        '"""the grid."""',
        '"""The grid"""',
        '"""Return what nobody has asked."""',
        "# whoever holds it\n",
        "MOST = 3  # that end without a word\n",
    ],
)
def test_a_fragment_is_found(code: str):
    assert len(list(fragments(code))) == 1


def test_sentences_are_no_fragments():
    code = '"""The plan of a grid."""\nMOST = 3  # attempts that may fail\n# That is enough.\n'

    assert list(fragments(code)) == []


def test_docstrings_and_comments_are_no_fragments():
    found = [
        f"{path.relative_to(ROOT)}:{fragment}"
        for path in modules()
        for fragment in fragments(path.read_text("utf-8"))
    ]

    assert found == []
