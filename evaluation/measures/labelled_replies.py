"""The one word or number that a model was asked for, with a label before it and marks around it.

All judges read replies by this grammar. A reply is read only if it consists of its value, so that
no number or word is taken that was meant otherwise: '4', '**Score:** 4/5', 'Answer: 0.8'.
"""

import re
from collections.abc import Collection
from functools import cache

# The names that a reply may give to its value, besides those of what was asked.
NAMES = ("score", "rating", "grade", "answer", "verdict", "judgement", "judgment", "result")

# White space, Markdown, quotation marks, brackets, and characters that have no width.
MARKS = r"""\s*_#`"'“”„\u2018’«»()\[\]\u200b-\u200f\u2060\ufeff"""
_AROUND = rf"[{MARKS}]{{0,12}}"
_GRAMMAR = rf"""
    (?: {_AROUND}[-–•]\s{{1,3}} )?  # a list of one
    {_AROUND}
    (?: (?:(?:the|my|final)\s+){{0,2}} (?:NAMES)(?:\s+(?:score|rating))?(?![a-z0-9])
        {_AROUND} (?: (?:(?:SCALE){_AROUND})?[:=] | \bis\b )? {_AROUND} )?
    (?P<value>VALUE)
    (?: {_AROUND}(?:UNIT) )?
    (?P<rest>REST)
"""
WHOLE = rf"{_AROUND}\.?{_AROUND}"  # nothing but marks and a full stop follows the value


@cache
def _grammar(
    value: str, names: Collection[str], scale: str, unit: str, rest: str
) -> re.Pattern[str]:
    fields = {
        "NAMES": "|".join(map(re.escape, (*NAMES, *names))),
        "SCALE": scale or r"(?!)",  # never matches
        "UNIT": unit or r"(?!)",
        "VALUE": value,
        "REST": rest,
    }
    filled = re.sub("|".join(fields), lambda field: fields[field[0]], _GRAMMAR)
    return re.compile(filled, re.VERBOSE | re.IGNORECASE | re.DOTALL)


def labelled_value(
    reply: str,
    value: str,
    *,
    names: tuple[str, ...] = (),
    scale: str = "",
    unit: str = "",
    rest: str = WHOLE,
) -> re.Match[str] | None:
    """Return the match of a reply's `value`, and of its `rest`; None if it cannot be read.

    Args:
        reply: what the model wrote.
        value: a verbose pattern of the value.
        names: further names that the value may have in the reply.
        scale: a pattern of the scale, which may be between name and colon: 'Score (1-5): 4'.
        unit: a pattern of what may be right after the value: '/5'.
        rest: a pattern of what follows.
    """
    start, end = len(reply) - len(reply.lstrip()), len(reply.rstrip())
    grammar = _grammar(value, names, scale, unit, rest)
    return grammar.fullmatch(reply, start, max(start, end))
