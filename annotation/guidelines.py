"""Guidelines: a study's first text, the HTML of a text, and the changes between versions."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Literal, NamedTuple

from django.http import QueryDict
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify
from django.utils.translation import gettext

from annotation.answer_words import answer_in_words
from annotation.schemes import YES_NO, Scheme
from generation.text_html import MARKDOWN, give_languages, is_rendered, unrendered_html

GUIDELINE_FILES = Path(__file__).parent / "guideline_files"
LONGEST_GUIDELINE = 100_000  # characters
LINES_AROUND = 1  # number of unchanged lines that are shown above and below a change


class Heading(NamedTuple):
    """A heading of a guideline's own text, for the list of contents."""

    anchor: str
    text: str


class NotAsked(NamedTuple):
    """One row of the table 'what is not asked': an answer, and what the form does after it."""

    answers: str
    consequence: str
    stored_as: str


class ChangedLine(NamedTuple):
    """One line of a comparison of two versions. A `gap` replaces lines that are left out."""

    kind: Literal["same", "added", "removed", "gap"]
    text: str


def default_guideline(scheme_key: str) -> str:
    """Return the first guideline of a study with this built-in scheme; "" for other schemes."""
    files = {file.stem.upper(): file for file in GUIDELINE_FILES.glob("*.md")}
    return files[scheme_key].read_text(encoding="utf-8") if scheme_key in files else ""


def render_guideline(text: str, asked: QueryDict) -> tuple[SafeString, list[Heading]]:
    """Return a guideline's Markdown as HTML, and its headings. HTML in the text stays text.

    A long text is plain, without headings, unless the choices in the address ask for more.

    The page has the one heading of level 1, so '#' and '##' both become headings of level 2. A
    heading in a quote is a line in bold: it belongs to what is quoted.
    """
    if not is_rendered(text, asked):
        return unrendered_html(text, asked), []
    tokens = MARKDOWN.parse(text)
    give_languages(tokens)
    headings: list[Heading] = []
    for place, token in enumerate(tokens):
        if token.type not in ("heading_open", "heading_close"):
            continue
        is_opened = token.nesting > 0
        if token.level:
            token.tag = "p"
            if is_opened:
                token.attrSet("class", "heading-line")
            continue
        if is_opened:
            words = "".join(part.content for part in tokens[place + 1].children or [])
            anchor = f"text-{len(headings) + 1}-{slugify(words)}".rstrip("-")
            headings.append(Heading(anchor, words))
            token.attrSet("id", anchor)
        if token.tag == "h1":
            token.tag = "h2"
    html = MARKDOWN.renderer.render(tokens, MARKDOWN.options, {})
    return mark_safe(html), headings  # the parser escapes what is not Markdown


def not_asked(scheme: Scheme) -> list[NotAsked]:
    """Return the questions that an answer closes, and the answers that exclude each other."""
    place = {question.key: number for number, question in enumerate(scheme.questions, start=1)}

    def named(key: str, answer: str) -> str:
        return f"{place[key]} {key.replace('_', ' ')}: {answer}"

    rows: list[NotAsked] = []
    for gate in scheme.keys:
        behind = [
            question for question in scheme.questions if _is_behind(scheme, question.key, gate)
        ]
        if behind:
            numbers = ", ".join(str(place[question.key]) for question in behind)
            is_yes_no = all(question.scale == YES_NO for question in behind)
            stored_as = gettext("implied no")
            if not is_yes_no:
                stored_as = gettext("implied no (yes/no); else no answer")
            rows.append(NotAsked(named(gate, answer_in_words(0, YES_NO)), numbers, stored_as))
    for together in scheme.impossible:
        answers = [
            named(question.key, answer_in_words(together[question.key], question.scale))
            for question in scheme.questions
            if question.key in together
        ]
        said = gettext(" and ").join(answers)
        rows.append(
            NotAsked(said, gettext("the form asks you to change one"), gettext("not stored"))
        )
    return rows


def _is_behind(scheme: Scheme, key: str, gate: str) -> bool:
    """Return whether a no to `gate` closes a question, directly or by way of another gate."""
    question = scheme.question(key)
    gates = question.after if question else ()
    return gate in gates or any(_is_behind(scheme, other, gate) for other in gates)


def changed_lines(before: str, after: str) -> list[ChangedLine]:
    """Return the lines that were added and removed, with one unchanged line around each change."""
    old, new = before.splitlines(), after.splitlines()
    matcher = SequenceMatcher(a=old, b=new, autojunk=False)
    lines: list[ChangedLine] = []
    for number, group in enumerate(matcher.get_grouped_opcodes(LINES_AROUND)):
        if number:
            lines.append(ChangedLine("gap", ""))
        lines += _lines_of(group, old, new)
    return lines


def _lines_of(
    group: Sequence[tuple[str, int, int, int, int]], old: Sequence[str], new: Sequence[str]
) -> Iterator[ChangedLine]:
    for tag, old_start, old_end, new_start, new_end in group:
        if tag == "equal":
            yield from (ChangedLine("same", line) for line in old[old_start:old_end])
        else:
            yield from (ChangedLine("removed", line) for line in old[old_start:old_end])
            yield from (ChangedLine("added", line) for line in new[new_start:new_end])
