"""Template filters and tags for evidence, votes and scores.

The winning window is marked in the text of its passage, and votes are drawn as dots.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from django import template

from evaluation.models import AutoScore
from evaluation.studies.disagreements.cases import Winner, run_name

register = template.Library()
register.filter("run_name", run_name)

ROOM = 220  # characters of the passage that are shown before a window, and also after it
LONGEST = 900  # characters of a text in a list, at most
MOST_DOTS = 9
BAR = 60  # width of a score's rail, in px


class MarkedPiece(NamedTuple):
    """A piece of a text. It is marked when it is the window that gave a score."""

    text: str
    is_marked: bool = False


def pieces(text: str, spans: Iterable[tuple[int, int]]) -> list[MarkedPiece]:
    """Return a text cut into pieces at its spans. Spans that overlap or touch make one mark."""
    found, position = [], 0
    for start, end in _merged(spans, len(text)):
        found += [MarkedPiece(text[position:start]), MarkedPiece(text[start:end], True)]
        position = end
    return [piece for piece in [*found, MarkedPiece(text[position:])] if piece.text]


def _merged(spans: Iterable[tuple[int, int]], length: int) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted((max(0, start), min(end, length)) for start, end in spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        elif start < end:
            merged.append((start, end))
    return merged


def cut(text: str, most: int) -> str:
    """Return the beginning of a long text: whole words, then an ellipsis."""
    if len(text) <= most:
        return text
    whole_words, _, _ = text[:most].rpartition(" ")
    return f"{whole_words or text[:most]} …"


@register.filter
def shortened(text: str) -> str:
    """Return the beginning of a text that is too long for a list."""
    return cut(text, LONGEST)


@register.filter
def around(winner: Winner) -> list[MarkedPiece]:
    """Return a winning window with a part of the passage before and after it."""
    if winner.passage is None:
        return []
    text = winner.passage.text
    before, after = text[: winner.start], text[winner.end :]
    if len(before) > ROOM:
        before = f"… {before[-ROOM:].partition(' ')[2] or before[-ROOM:]}"
    window = text[winner.start : winner.end]
    found = [
        MarkedPiece(before),
        MarkedPiece(cut(window, LONGEST), True),
        MarkedPiece(cut(after, ROOM)),
    ]
    return [piece for piece in found if piece.text.strip()]


@register.filter
def marked(passage: Any, winners: Sequence[Winner]) -> list[MarkedPiece]:
    """Return the whole text of a passage, in which the winning windows are marked."""
    spans = [(w.start, w.end) for w in winners if w.passage and w.passage.pk == passage.pk]
    return pieces(passage.text, spans)


@register.inclusion_tag("evaluation/reports/_vote_dots.html")
def vote_dots(n_yes: int, n_no: int, n_between: int = 0) -> dict[str, Any]:
    """Draw votes as dots, with the number of each kind. Many votes have no dots."""
    said = f"{n_yes} yes, {n_no} no"
    return {
        "n_yes": n_yes,
        "n_no": n_no,
        "said": f"{said}, {n_between} between" if n_between else said,
        "dots": ["y"] * n_yes + ["m"] * n_between + [""] * n_no
        if n_yes + n_no + n_between <= MOST_DOTS
        else [],
    }


@register.inclusion_tag("evaluation/reports/_score_bar.html")
def score_bar(score: float, threshold: float | None) -> dict[str, Any]:
    """Draw a score and its threshold on a rail from 0 to 1, or longer if one of them is outside."""
    drawn = [score] if threshold is None else [score, threshold]
    low, high = min(0.0, *drawn), max(1.0, *drawn)

    def x(value: float) -> float:
        return round(1 + (BAR - 2) * (value - low) / (high - low), 1)

    at = None if threshold is None else x(threshold)
    return {"width": BAR, "tick": round(x(score) - 1.5, 1), "threshold": at}


@register.filter
def is_yes(score: AutoScore) -> bool | None:
    """Return whether a score is above its run's cut and so a yes; None: it has no label."""
    cut = score.run.cut
    return None if score.score is None or cut is None else score.score > cut
