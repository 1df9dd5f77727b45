"""Entries that are added to the text of guidelines, as Markdown: answers and worked examples."""

import re

ANSWERS = "Questions and answers"  # headings of the sections that entries go into
EXAMPLES = "Worked examples"

# Characters of a plain text that Markdown would read as marks. Others stay as they are, so that
# the text is easy to edit.
MARKS = (
    re.compile(r"\\(?=[!-/:-@\[-`{-~]|$)", re.MULTILINE),
    re.compile(r"[*`]"),
    re.compile(r"(?<![^\W_])_|_(?![^\W_])"),  # between two letters it is no mark
    re.compile(r"<(?=[a-z][a-z0-9+.-]*:|[^\s<>@]+@)", re.IGNORECASE),
    re.compile(r"&(?=#?\w+;)"),
    re.compile(r"^(?:[#>=|:]|~~~|[-+](?=[\s:|-]|$))", re.MULTILINE),
)
LINKS = re.compile(r"\][(\[:]")
NUMBER_OF_ITEM = re.compile(r"^(\d{1,9})([.)])(?=\s|$)", re.MULTILINE)


def plain_as_markdown(text: str) -> str:
    """Return Markdown that shows a plain text as it was typed, with its line ends."""
    lines = [line.strip() for line in text.strip().splitlines()]
    marked = "\n".join(lines)
    for mark in MARKS:
        marked = mark.sub(r"\\\g<0>", marked)
    if LINKS.search(marked):
        marked = marked.replace("[", r"\[")
    marked = NUMBER_OF_ITEM.sub(r"\1\\\2", marked)
    # Two spaces at its end keep a line apart from the next one.
    return re.sub(r"(?<=[^\n])\n(?=[^\n])", "  \n", marked)


def quoted(markdown: str) -> str:
    """Return Markdown as a quote."""
    return "\n".join(f"> {line}" if line else ">" for line in markdown.split("\n"))


def answered_question(question: str, answer: str) -> str:
    """Return the entry of a question and its answer, both plain texts."""
    return f"{quoted(plain_as_markdown(question))}\n\n{plain_as_markdown(answer)}"


def with_entry(text: str, heading: str, entry: str) -> str:
    """Return guidelines with an entry at the end of a section, which is added if it is missing.

    Args:
        heading: the heading of the section, of level 2.
    """
    lines = text.rstrip().splitlines()
    title = f"## {heading}"
    if title not in lines:
        return "\n\n".join(filter(None, [text.rstrip(), title, entry])) + "\n"
    start = lines.index(title) + 1
    ends = (place for place in range(start, len(lines)) if re.match("##? ", lines[place]))
    end = next(ends, len(lines))
    before, after = "\n".join(lines[:end]).rstrip(), "\n".join(lines[end:])
    return "\n\n".join(filter(None, [before, entry, after])) + "\n"
