"""A language model behind a server that writes questions as it is told, sometimes badly.

It answers the prompts of a construction, and knows round and attempt by the seed that it is sent.
So the same request gets the same completion, also after a worker has been killed in between.
"""

import re
from collections.abc import Mapping

from generation.models.constructions import LAST_ROUND, SIMPLE_STYLE
from generation.seeded_random import random_key
from tests.language_model_server import Reply, Request, says

SEED = 13
ROUNDS = (*range(1, LAST_ROUND + 1), SIMPLE_STYLE)
MOST_ATTEMPTS = 6
OF_SEED = {
    random_key(SEED, "construction", number, attempt): (number, attempt)
    for number in ROUNDS
    for attempt in range(1, MOST_ATTEMPTS + 1)
}
# The citations of round 1, by entry.
CITED = {
    1: "[qid: Q367360, name: Orazio Gentileschi] [qid: Q367360, child: Artemisia Gentileschi]",
    2: "[qid: Q212657, father: Orazio Gentileschi]",
    # The graph does not say that she was born in London: this triple is no member.
    3: "[qid: Q232478, spouse: William Shakespeare] [qid: Q232478, place of birth: London]",
    4: "[qid: Q36301, spouse: Adam Shulman, occupation: actor]",
    5: "[qid: Q692, child: Susanna Hall]",
    7: "",  # no citation at all
    8: "[qid: Q2000009, child: Otto Klein]",
    17: "[qid: Q2000007, spouse: Ida Klein]",
    19: "[qid: Q212657, spouse: Pierantonio Stiattesi]",
}
# Completions that cannot be read, by entry, round and attempt.
BAD: Mapping[tuple[int, int, int], str] = {
    (1, 1, 1): "Orazio was a painter. That is all.",
    (2, 2, 1): "",
    (4, 1, 1): "They married [qid: Q36301, spouse: Adam Shulman]. Generated Question:",
    (7, SIMPLE_STYLE, 1): "question: ",
    **{(18, 1, attempt): "I cannot help with that." for attempt in range(1, MOST_ATTEMPTS)},
}
SAYS_NOTHING_OF_IT = (5, 3)  # (entry, round): this round does not cite the triple that it brings in
_ENTRY = re.compile(r"\(entry (\d+)\)")
_BROUGHT_IN = re.compile(r"knowledge: \{qid: (?P<qid>\S+), name: .*?, (?P<said>.*)\}")


def entry_of(request: Request) -> int:
    """Return the number of the entry that a request is about."""
    return int(_ENTRY.findall(request.prompt)[-1])


def round_of(request: Request) -> tuple[int, int]:
    """Return the round and the attempt of a request."""
    return OF_SEED[request.body["seed"]]


def writes(request: Request) -> Reply:
    """Answer a prompt of a construction; answer any other prompt with 'Yes.'."""
    if not _ENTRY.search(request.prompt):
        return says("Yes.")(request)
    return says(completion(request))(request)


def completion(request: Request) -> str:
    """Return the completion of a prompt of a construction."""
    entry, (number, attempt) = entry_of(request), round_of(request)
    if (bad := BAD.get((entry, number, attempt))) is not None:
        return bad
    parts = request.prompt.split("\n\n")
    if number == 1:
        text = parts[-3].removeprefix("sentence: ")
        return f"{text} {CITED[entry]}\n\nGenerated Question: Who is meant in entry {entry}?"
    if number == SIMPLE_STYLE:
        return f"question: What of entry {entry}?"
    answer, question = parts[-4].removeprefix("answer: "), parts[-3].removeprefix("question: ")
    brought = _BROUGHT_IN.fullmatch(parts[-2])
    assert brought, parts[-2]
    more = f"There is more [qid: {brought['qid']}, {brought['said']}]."
    if (entry, number) == SAYS_NOTHING_OF_IT:
        more = "There is more."
    asks = f"{question.rstrip('?')}, and what in round {number}?"
    return f"{answer} {more}\n\nGenerated Question: {asks}"
