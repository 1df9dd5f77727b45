"""Compares two collections byte by byte.

Only values that are new for each request or each commit are masked: CSRF tokens, session ids and
nonces, and the hashes of static files and of commits. A zip file is compared by its members, since
it also holds the moment of packing. Pages are compared as browsers read them: white space counts as
one space, and between two tags as none. The library that draws PDF files numbers and orders their
objects at random, so their lines are compared in alphabetical order, without these numbers.
"""

import difflib
import io
import re
import tomllib
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from .collection import Answer
from .words import without_words

MASKED = [
    re.compile(rb"""(?<=csrfmiddlewaretoken" value=")[A-Za-z0-9]{32,64}(?=")"""),
    re.compile(rb"""(?<=X-CSRFToken": ")[A-Za-z0-9]{32,64}(?=")"""),
    re.compile(rb"""(?<=X-CSRFTOKEN"\] = ")[A-Za-z0-9]{32,64}(?=")"""),
    re.compile(rb"""(?<=sessionid=)[A-Za-z0-9]{32}"""),
    re.compile(rb"""(?<=nonce=")[A-Za-z0-9+/=_-]+(?=")"""),
    re.compile(rb"""(?<=\.)[0-9a-f]{12}(?=\.(?:js|css|svg|woff2)\b)"""),
    re.compile(rb"""(?<="commit": ")[0-9a-f]{7,40}(?=")"""),
]
PDF_NUMBERS = re.compile(rb"\b\d+(?= 0 (?:R|obj)\b)|(?<=/xo)\d+|(?<=/gs)\d+|(?<=/fo)\d+")
MOST_LINES = 12  # printed lines of one difference
WIDEST = 240  # characters of a printed line


class Allowed(NamedTuple):
    """An intended difference: a pattern that matches whole addresses, and the reason."""

    address: str
    reason: str


class Difference(NamedTuple):
    address: str
    lines: list[str]


class Outcome(NamedTuple):
    """The result of a comparison: addresses of each kind, in order."""

    equal: list[str]
    different: list[Difference]
    only_before: list[str]
    only_after: list[str]
    allowed: list[str]
    unused: list[Allowed]  # patterns that allow nothing any more

    @property
    def is_same(self) -> bool:
        """Whether every difference is allowed."""
        return not (self.different or self.only_before or self.only_after)


def allowed_differences(path: Path) -> list[Allowed]:
    """Return the differences that a file allows."""
    found = tomllib.loads(path.read_text("utf-8"))
    return [Allowed(**each) for each in found.get("allowed", [])]


def compare(
    before: Mapping[str, Answer],
    after: Mapping[str, Answer],
    allowed: Iterable[Allowed] = (),
    *,
    may_differ_in_words: bool = False,
) -> Outcome:
    """Compare the answers to each address that either side has."""
    outcome = Outcome([], [], [], [], [], [])
    patterns = {each: re.compile(each.address) for each in allowed}
    used: set[Allowed] = set()
    for address in sorted({*before, *after}):
        lines = _difference(before.get(address), after.get(address), may_differ_in_words)
        if not lines:
            outcome.equal.append(address)
            continue
        allowing = {each for each, pattern in patterns.items() if pattern.fullmatch(address)}
        used |= allowing
        if allowing:
            outcome.allowed.append(address)
        elif address not in after:
            outcome.only_before.append(address)
        elif address not in before:
            outcome.only_after.append(address)
        else:
            outcome.different.append(Difference(address, lines))
    outcome.unused.extend(each for each in patterns if each not in used)
    return outcome


def _difference(
    before: Answer | None, after: Answer | None, may_differ_in_words: bool
) -> list[str]:
    """Return the lines of a difference; none for answers that are the same."""
    if before is None or after is None:
        return ["only in one"]
    if before == after:
        return []
    masked = [_masked(answer) for answer in (before, after)]
    if may_differ_in_words:
        masked = list(map(without_words, masked))
    if masked[0] == masked[1]:
        return []
    return _unified(*masked)


def _masked(answer: Answer) -> Answer:
    body = answer.body
    if body.startswith(b"PK\x03\x04"):
        body = _unpacked(body)
    elif body.startswith(b"%PDF-"):
        body = _in_order(body)
    elif answer.headers.get("Content-Type", "").startswith("text/html"):
        body = _as_read(body)
    for pattern in MASKED:
        body = pattern.sub(b"(masked)", body)
    return answer._replace(body=body)


def _as_read(page: bytes) -> bytes:
    """Return a page with a line for each tag, and no more white space than it shows."""
    in_one_line = b" ".join(page.split()).replace(b"> <", b"><").replace(b" >", b">")
    return in_one_line.replace(b"<", b"\n<")


def _unpacked(body: bytes) -> bytes:
    """Return the members of a zip file one after the other, each after its name."""
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        return b"".join(
            f"=== {member.filename}\n".encode() + archive.read(member) + b"\n"
            for member in archive.infolist()
        )


def _in_order(pdf: bytes) -> bytes:
    """Return the lines of a PDF file in alphabetical order, without its table of positions."""
    objects = pdf.partition(b"\nxref\n")[0]
    return b"\n".join(sorted(PDF_NUMBERS.sub(b"N", objects).split(b"\n")))


def _unified(before: Answer, after: Answer) -> list[str]:
    lines = [line for line in _diff_lines(_text(before), _text(after)) if line.strip()]
    shown = [line[:WIDEST] for line in lines[:MOST_LINES]]
    left = len(lines) - len(shown)
    return [*shown, f"... and {left:,} more lines"] if left else shown


def _text(answer: Answer) -> list[str]:
    headers = [f"{name}: {value}" for name, value in sorted(answer.headers.items())]
    # Bytes that are no text become escapes, so that two different bodies never look the same.
    body = answer.body.decode("utf-8", "backslashreplace").split("\n")
    return [f"status: {answer.status}", *headers, *body]


def _diff_lines(before: list[str], after: list[str]) -> Iterator[str]:
    """Yield a unified diff; a long line is cut to the place where the two versions differ."""
    diff = list(difflib.unified_diff(before, after, "before", "after", lineterm="", n=0))[2:]
    for line, following in zip(diff, [*diff[1:], ""], strict=True):
        if line.startswith("-") and following.startswith("+") and len(line) > WIDEST:
            yield line[:1] + _around_first_difference(line[1:], following[1:])
        elif line.startswith("+") and len(line) > WIDEST:
            yield line[:1] + "(the same line) " + line[1:WIDEST]
        else:
            yield line


def _around_first_difference(before: str, after: str) -> str:
    pairs = zip(before, after, strict=False)
    at = next((place for place, (one, other) in enumerate(pairs) if one != other), 0)
    begin = max(at - 40, 0)
    return f"(at {at}) {before[begin : at + 60]}  ->  {after[begin : at + 60]}"
