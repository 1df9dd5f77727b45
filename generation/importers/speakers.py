"""The speakers of the texts of a conversation from which some answers are missing.

We know that the user has one text in each turn, that the first text is the user's, and that no two
answers follow each other. So the only question is which turns have an answer. For earlier turns,
their own records tell that.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

LONGEST = 60  # texts; the work grows with their square, and published contexts have less than 30


class KnownTurn(NamedTuple):
    """The facts in the record of an earlier turn, stripped."""

    questions: Collection[str]  # the question, and the same question rewritten
    answer: str  # empty: the turn has no answer


class Speakers(NamedTuple):
    """Whether each text is the user's, and whether nothing else was possible."""

    is_users: list[bool]
    is_certain: bool


class _Reading(NamedTuple):
    """One way to read the first turns. The smallest reading is the best."""

    n_contradictions: int  # contradictions to records
    n_oddities: int  # questions without '?', and answers that end with it
    unanswered: tuple[bool, ...]


def who_spoke(
    texts: Sequence[str], n_turns: int, known: Mapping[int, KnownTurn]
) -> Speakers | None:
    """Return the speakers of `n_turns` turns. None: no reading fits the facts.

    The reading that contradicts the fewest records is taken. Of several, the one with the fewest
    odd texts is taken: user texts without '?' at their end, and answers with one. The first text
    and texts with records are not counted. Of several still, the one that answers earliest is
    taken.

    Args:
        known: the records of earlier turns, by turn from 1.
    """
    n_missing = 2 * n_turns - len(texts)
    if not 0 <= n_missing <= n_turns or len(texts) > LONGEST:
        return None
    texts = [text.strip() for text in texts]
    best = {0: _Reading(0, 0, ())}  # number of answers missing up to here → best reading
    n_fitting = Counter({0: 1})  # readings without a contradiction
    for turn in range(1, n_turns + 1):
        further: dict[int, _Reading] = {}
        fitting: Counter[int] = Counter()
        for n_before, reading in best.items():
            for is_unanswered in (False, True):
                n_out = n_before + is_unanswered
                if not n_missing - (n_turns - turn) <= n_out <= n_missing:
                    continue
                at = 2 * (turn - 1) - n_before
                answer = "" if is_unanswered else texts[at + 1]
                wrong, odd = _misfits(texts[at], answer, is_unanswered, known.get(turn), turn == 1)
                longer = _Reading(
                    reading.n_contradictions + wrong,
                    reading.n_oddities + odd,
                    (*reading.unanswered, is_unanswered),
                )
                further[n_out] = min(further.get(n_out, longer), longer)
                fitting[n_out] += 0 if wrong else n_fitting[n_before]
        best, n_fitting = further, fitting
    is_users: list[bool] = []
    for is_unanswered in best[n_missing].unanswered:
        is_users += [True] if is_unanswered else [True, False]
    return Speakers(is_users, n_fitting[n_missing] == 1 or n_missing in (0, n_turns))


def _misfits(
    question: str, answer: str, is_unanswered: bool, known: KnownTurn | None, is_first: bool
) -> tuple[int, int]:
    """Return how often one turn contradicts its record, and how often it looks odd."""
    if known is not None:
        return (question not in known.questions) + (answer != known.answer), 0
    n_wrong = int(not question)  # only an empty answer may be blank
    return n_wrong, (not is_first and not question.endswith("?")) + answer.endswith("?")
