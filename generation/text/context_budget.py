"""The budget of a prompt: cuts evidence and dialog by whole sentences and whole turns.

Evidence is cut first. The longest fact loses its last sentence, again and again. Each fact keeps
its first sentence, so that no passage disappears. Then the oldest turns are left out; the last
turn, the user's question, stays. Tokens are those of `generation.text.tokens.count_tokens`, and
include labels and the numbers of turns.
"""

from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from itertools import accumulate, pairwise
from typing import NamedTuple

from generation.records import TurnRecord
from generation.text.dialog_forms import Form, dialog_lines, fact_label, fact_lines, turn_lines
from generation.text.languages import NOT_SAID
from generation.text.native_dialog import newest
from generation.text.sentences import split_sentences
from generation.text.tokens import count_tokens


class Context(NamedTuple):
    """The turns and facts of a prompt, and how much was left out of them."""

    turns: tuple[TurnRecord, ...]
    facts: tuple[str, ...]
    n_turns_left_out: int = 0
    n_sentences_left_out: int = 0


def n_dialog_tokens(turns: Sequence[TurnRecord], form: Form) -> int:
    """Return how many tokens a dialog has in a form, with the line to complete."""
    return sum(map(count_tokens, dialog_lines(turns, form)))


def n_evidence_tokens(facts: Sequence[str], form: Form) -> int:
    """Return how many tokens facts have in a form, with their labels."""
    return sum(map(count_tokens, fact_lines(facts, form)))


def fitted(
    turns: Sequence[TurnRecord],
    facts: Sequence[str],
    n_tokens: int,
    form: Form = "native",
    language: str = NOT_SAID,
) -> Context:
    """Return what fits into `n_tokens`; if nothing fits, the least that may be kept.

    As much as possible is kept: all turns with as many sentences as fit beside them, or else the
    newest turns that fit beside the first sentence of each fact.

    Args:
        language: what the dataset calls the language of its texts, see `languages`.
    """
    n_dialog = n_dialog_tokens(turns, form)
    if n_dialog + n_evidence_tokens(facts, form) <= n_tokens:
        return Context(tuple(turns), tuple(facts))

    kept, n_left_out = _facts_within(facts, n_tokens - n_dialog, form, language)
    room = n_tokens - n_evidence_tokens(kept, form)
    n_newest = _n_newest_within(turns, room, form)
    return Context(newest(turns, n_newest), kept, len(turns) - n_newest, n_left_out)


def _n_newest_within(turns: Sequence[TurnRecord], room: int, form: Form) -> int:
    """Return how many of the newest turns fit; it is at least 1 if there is any turn."""
    sizes = list(map(count_tokens, turn_lines(turns, form)))
    room -= n_dialog_tokens(turns, form) - sum(sizes)  # the line to complete
    n_gone = 0
    while n_gone < len(turns) - 1 and sum(sizes[n_gone:]) > room:
        for place, turn in enumerate(turns if form == "native" else ()):
            sizes[place] += turn.parent == n_gone  # the parent becomes -1, which is two tokens
        n_gone += 1
    return len(turns) - n_gone


def _facts_within(
    facts: Sequence[str], room: int, form: Form, language: str
) -> tuple[tuple[str, ...], int]:
    """Return the facts shortened until they fit, and how many sentences are left out.

    The longest fact loses its last sentence, again and again. Each fact keeps its first sentence.
    """
    # For each fact: the ends of its sentences, and its tokens up to each of these ends.
    ends, sizes = [], []
    for number, fact in enumerate(facts):
        label = count_tokens(fact_label(number, len(facts), form))
        places = [sentence.end for sentence in split_sentences(fact, language)] or [len(fact)]
        pieces = [fact[start:end] for start, end in pairwise([0, *places])]
        ends.append(places)
        # Sentences end between tokens, so their tokens add up to those of the whole fact.
        sizes.append(list(accumulate(map(count_tokens, pieces), initial=label))[1:])
    n_tokens = sum(each[-1] for each in sizes)
    longest = [(-each[-1], -place) for place, each in enumerate(sizes) if len(each) > 1]
    heapify(longest)
    n_left_out = 0
    while longest and n_tokens > room:
        place = -heappop(longest)[1]
        n_left_out += 1
        n_tokens -= sizes[place].pop()
        n_tokens += sizes[place][-1]
        if len(sizes[place]) > 1:
            heappush(longest, (-sizes[place][-1], -place))
    kept = zip(facts, ends, sizes, strict=True)
    return tuple(fact[: places[len(size) - 1]] for fact, places, size in kept), n_left_out
