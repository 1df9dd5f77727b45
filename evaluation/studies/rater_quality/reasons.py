"""The reasons why a rater stands out, as short words for tables and as whole sentences."""

from typing import NamedTuple

from annotation.schemes import Question, Scheme
from evaluation.reports.columns import Format
from evaluation.reports.numbers import decimal, p_in_words, percent
from evaluation.statistics.rater_checks import RaterMark
from evaluation.statistics.rater_tests import Check
from evaluation.statistics.rater_votes import LEAST
from evaluation.studies.rater_quality.pace import PaceOfRater
from evaluation.studies.rater_quality.reading_time import FAST

FASTER = "faster than reading"
TOO_FEW = f"fewer than {LEAST} responses"


class Reason(NamedTuple):
    """One reason. `short` has a few words, `sentence` has the figures."""

    short: str
    sentence: str


def reason_of(mark: RaterMark, scheme: Scheme, partner: str) -> Reason:
    """Return a reason in words.

    Args:
        mark: what the checks found.
        scheme: the scheme of the study.
        partner: the code of the rater whose answers are the same; "" for other kinds.
    """
    question = scheme.question(mark.question)
    short, said = _words(mark, question, partner)
    said = f"{_spaced(mark.question)}: {said}" if question else said[0].upper() + said[1:]
    sentence = f"{said} ({p_in_words(mark.p)} after correction)."
    return Reason(f"{short}{f' ({_spaced(mark.question).lower()})' if question else ''}", sentence)


def faster_than_reading(pace: PaceOfRater) -> Reason:
    """Return the reason of a rater whom the rule of `pace` marks."""
    return Reason(
        FASTER,
        f"Half of the responses took {Format.SECONDS.write(pace.median_seconds)} or less, and "
        f"reading what is new in one takes {Format.SECONDS.write(pace.reading_seconds)}; "
        f"{percent(pace.fast_share, 0)} % of the units took less than {percent(FAST, 0)} % of "
        "their reading time. This does not depend on other raters.",
    )


def _words(mark: RaterMark, question: Question | None, partner: str) -> tuple[str, str]:
    is_ordinal = question is not None and question.scale.kind == "ordinal"
    seen, expected = (_figure(mark, each, is_ordinal) for each in (mark.observed, mark.expected))
    n = f"{mark.n:,} {'units' if mark.kind is Check.FAST else 'responses'}"
    match mark.kind:
        case Check.YES if is_ordinal:
            side = "higher" if mark.observed > mark.expected else "lower"
            return (
                f"{side} points",
                f"the mean answer is {seen} in {n}; the other raters’ answers to the same "
                f"responses make one expect {expected}",
            )
        case Check.YES:
            side = "more" if mark.observed > mark.expected else "less"
            return (
                f"says yes {side} often",
                f"the answer is yes in {seen} of {n}; the other raters’ answers to the same "
                f"responses make one expect {expected}",
            )
        case Check.AGREEMENT if is_ordinal:
            return (
                "far from the others",
                f"the answer is {seen} points away from the median of the others on average in "
                f"{n}; {expected} would be expected",
            )
        case Check.AGREEMENT:
            return (
                "agrees less with the others",
                f"of the answers to {n}, {seen} agree with the majority of the others, where there "
                f"is one; {expected} would be expected",
            )
        case Check.DRIFT:
            return (
                "agrees less and less",
                f"agreement with the majority of the others falls from {expected} in the first "
                f"half of {n} to {seen} in the second",
            )
        case Check.RUNS:
            return (
                "equal answers in a row",
                f"equal answers follow each other: there are {mark.observed:.0f} runs in {n}; "
                f"{mark.expected:.0f} would be expected of the same answers in random order",
            )
        case Check.FAST:
            return (
                FASTER,
                f"{seen} of {n} took less than {percent(FAST, 0)} % of the time that reading what "
                "is new in them takes",
            )
        case Check.COPIES:
            return (
                f"same answers as {partner}",
                f"all answers are the same as those of {partner} in {seen} of {n} that both "
                f"judged; {expected} would be expected",
            )


def _figure(mark: RaterMark, figure: float, is_ordinal: bool) -> str:
    if is_ordinal and mark.kind in (Check.YES, Check.AGREEMENT):
        return decimal(figure)
    return f"{percent(figure, 0)} %"


def _spaced(key: str) -> str:
    return key.replace("_", " ").capitalize()
