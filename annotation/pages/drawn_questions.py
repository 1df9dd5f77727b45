"""The questions of a scheme as HTML, which is drawn once for each answer and then kept.

It holds nothing of a unit and nothing of a rater, so everybody who rates under the scheme gets it.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from annotation.answer_words import answer_in_words
from annotation.forms.rating import field_name
from annotation.numbered_questions import AskedQuestion
from annotation.schemes import YES_NO, Scale

# Number of pieces of HTML, of 0.3 to 1.6 KB each in the built-in schemes. In a panel, AIS
# has 21: 7 questions without an answer, with yes and with no. In a merged unit, each position has
# pieces of its own.
MOST_KEPT = 2000
IN_PANEL = "annotation/_question.html"
IN_MATRIX = "annotation/_matrix_answer.html"
HEAD_OF_ROW = "annotation/_matrix_question.html"


class AnswerOption(NamedTuple):
    """One answer that can be chosen."""

    value: int
    label: str
    is_chosen: bool


def options_of(scale: Scale, answer: int | None) -> list[AnswerOption]:
    """Return the answers of a scale in the order in which a page offers them."""
    if scale == YES_NO:  # yes comes first, as in speech
        return [
            AnswerOption(1, answer_in_words(1, scale).capitalize(), answer == 1),
            AnswerOption(0, answer_in_words(0, scale).capitalize(), answer == 0),
        ]
    answers = zip(scale.values, scale.labels, strict=True)
    return [AnswerOption(value, label, answer == value) for value, label in answers]


@lru_cache(MOST_KEPT)
def kept_question(
    template: str,
    asked: AskedQuestion,
    position: int,
    answer: int | None,
    *,
    language: str | None,
    has_open_help: bool = False,
) -> SafeString:
    """Return a question about the response in a position, with the answer that is chosen so far.

    Args:
        language: the language of the page. Nothing is drawn by it: it keeps the languages apart.
    """
    return draw_question(template, asked, position, answer, {"has_open_help": has_open_help})


def draw_question(
    template: str, asked: AskedQuestion, position: int, answer: int | None, more: Mapping[str, Any]
) -> SafeString:
    """Draw a question that is not kept: with an error, or with evidence of its own in `more`."""
    context = {
        "asked": asked,
        "name": field_name(asked.question.key, position),
        "position": position,
        "options": options_of(asked.question.scale, answer),
    }
    return mark_safe(render_to_string(template, context | dict(more)))
