"""Restricted context ([A] 7.4): parts of dialog and evidence whose shares add up to one whole.

Of the dialog, the newest turns are kept whose share d of its tokens is nearest to s. Of the
evidence, the first sentences are kept whose share is nearest to 1 − d, the rest that these turns
really leave. If two choices are equally near, the one that keeps more is taken. With s = 0 no turn
is left, not even the user's question. With s = 1 there is no evidence.

Tokens are counted by `generation.text.tokens.count_tokens` in the texts alone. The numbers of turns
and the labels of facts do not count, because they change when turns are counted from 0 again. If
that is nearer, a share above 0 may leave no turn, and a share below 1 may leave the whole dialog
and no sentence.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import NamedTuple

from generation.records import TurnRecord
from generation.text.languages import NOT_SAID
from generation.text.native_dialog import newest
from generation.text.sentences import split_sentences
from generation.text.tokens import count_tokens


class Shares(NamedTuple):
    """The shares of a dialog's and of its evidence's tokens that are left, each in [0, 1]."""

    dialog: float
    evidence: float

    @property
    def off_budget(self) -> float:
        """The distance of the sum of both shares from one whole, in [0, 1]."""
        return abs(self.dialog + self.evidence - 1)


class Restricted(NamedTuple):
    """The turns and facts that a prompt of restricted context shows."""

    turns: tuple[TurnRecord, ...]  # turns counted from 0 again
    facts: tuple[str, ...]  # facts of which at least one sentence is left
    shown: tuple[int, ...]  # their places among the facts given


def restricted(
    turns: Sequence[TurnRecord],
    facts: Sequence[str],
    dialog_share: float,
    language: str = NOT_SAID,
) -> Restricted:
    """Return the newest turns and the first sentences of the facts, in their order.

    Args:
        dialog_share: s, from 0 to 1, taken as the decimal number that is written.
        language: what the dataset calls the language of its texts, see `languages`.

    Raises:
        ValueError: s is not from 0 to 1.
    """
    if not 0 <= dialog_share <= 1:
        raise ValueError(f"a dialog share of {dialog_share}; expected from 0 to 1")
    share = Fraction(str(dialog_share))  # exact, so that ties are recognised
    said = [count_tokens(turn.text) for turn in reversed(turns)]
    n_turns = _n_nearest(said, share)
    rest = 1 - Fraction(sum(said[:n_turns]), sum(said) or 1)
    sentences = [
        (place, sentence)
        for place, fact in enumerate(facts)
        for sentence in split_sentences(fact, language)
    ]
    sizes = [count_tokens(sentence.text) for _, sentence in sentences]
    n_sentences = _n_nearest(sizes, rest)
    ends = {place: sentence.end for place, sentence in sentences[:n_sentences]}  # last end of each
    kept_facts = tuple(facts[place][:end] for place, end in ends.items())
    return Restricted(newest(turns, n_turns), kept_facts, tuple(ends))


def shares_kept(
    kept: tuple[Sequence[TurnRecord], Sequence[str]],
    whole: tuple[Sequence[TurnRecord], Sequence[str]],
) -> Shares:
    """Return the shares of a dialog and of its evidence that are kept.

    Args:
        kept: turns and facts that are kept.
        whole: all turns and facts.

    Raises:
        ValueError: the dialog or the evidence has no tokens, so it has no share.
    """
    n_kept = n_said_tokens(kept[0]), n_fact_tokens(kept[1])
    n_whole = n_said_tokens(whole[0]), n_fact_tokens(whole[1])
    if not all(n_whole):
        raise ValueError(
            f"{n_whole[0]} tokens of dialog and {n_whole[1]} of evidence; expected some of both"
        )
    return Shares(n_kept[0] / n_whole[0], n_kept[1] / n_whole[1])


def n_said_tokens(turns: Iterable[TurnRecord]) -> int:
    """Return how many tokens turns have, without their numbers."""
    return sum(count_tokens(turn.text) for turn in turns)


def n_fact_tokens(facts: Iterable[str]) -> int:
    """Return how many tokens facts have, without their labels."""
    return sum(map(count_tokens, facts))


def _n_nearest(sizes: Sequence[int], share: Fraction) -> int:
    """Return how many of the first pieces have the share of all tokens nearest to a given one.

    If two numbers are equally near, it is the larger one; for a share of 0 it is 0.
    """
    if not share:
        return 0
    wanted = share * sum(sizes)
    sums = list(accumulate(sizes, initial=0))
    return min(range(len(sums)), key=lambda n: (abs(sums[n] - wanted), -n))
