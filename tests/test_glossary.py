"""Templates spell the terms of docs/glossary.md as it does."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROW = re.compile(r"^\| (\*\*.+?) \|", re.MULTILINE)
TERM = re.compile(r"\*\*(.+?)\*\*")
NOT_READ = re.compile(
    r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}|<(script|style|code)\b.*?</\1>|<[^>]*>|&\w+;", re.DOTALL
)
# What the words of a term may be joined by; the glossary says by which of them they are.
JOINTS = ("", " ", "-", "–")
# Spellings of terms of one word that other tools use.
ELSEWHERE = {"dialogue": "dialog", "data set": "dataset", "flavour": "flavor"}


def terms() -> list[str]:
    text = (ROOT / "docs" / "glossary.md").read_text("utf-8")
    return [term for row in ROW.findall(text) for term in TERM.findall(row)]


def texts() -> Iterator[tuple[str, str]]:
    """Yield the path of each template and what people read of it."""
    for path in sorted((ROOT / "templates").rglob("*.html")):
        words = NOT_READ.sub(" ", path.read_text("utf-8"))
        yield str(path.relative_to(ROOT)), " ".join(words.split())


def other_spellings(term: str) -> Iterator[str]:
    """Yield regular expressions of the ways to join the words of a term that are not its own."""
    words = re.split(r"[ –-]", term)
    if len(words) > 1 and all(word.isalpha() for word in words):
        joint = term[len(words[0])]
        for other in JOINTS:
            if other != joint:
                yield rf"{other.join(words)}s?"


@pytest.mark.parametrize(
    ("term", "spelled"),
    [
        ("trade-off", ["tradeoffs?", "trade offs?", "trade–offs?"]),
        ("majority vote", ["majorityvotes?", "majority-votes?", "majority–votes?"]),
        ("[NA]", []),
    ],
)
def test_other_spellings_join_the_words_otherwise(term: str, spelled: list[str]):
    assert list(other_spellings(term)) == spelled


def test_the_glossary_has_each_term_once():
    found = [term.lower() for term in terms()]

    assert len(found) > 50
    assert sorted(found) == sorted(set(found))


def test_templates_spell_terms_as_the_glossary_does():
    wrong = {pattern: term for term in terms() for pattern in other_spellings(term)}
    wrong |= {f"{other}s?": term for other, term in ELSEWHERE.items()}

    found = [
        f"{path}: '{match[0]}' should be '{term}'"
        for path, text in texts()
        for pattern, term in wrong.items()
        for match in re.finditer(rf"(?<![-\w]){pattern}(?![-\w])", text, re.IGNORECASE)
    ]

    assert found == []
