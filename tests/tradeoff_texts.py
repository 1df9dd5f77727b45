"""Examples of invented words, and answers that are attributable, or sensible, by construction.

Every example has its own name and thing, so that a prompt tells which example it is about. Its
golden passage has four sentences; two rival passages may contain the same name. An attributable
answer is a sentence of the golden passage; any other consists of words that are in no passage. A
sensible answer is said once; one that is not sensible is said four times over. `lexical` and
`heuristic` measure exactly this:

- attributable: all its content words are in the passage (share 1); otherwise eight of the eleven
  content words of question and answer are in no passage (share 3/11).
- sensible: the answer is whole, and no three words come again: at least (1 + 0 + 1) / 3 = 0.67;
  otherwise only n of 4n - 2 runs of three words differ: at most n / (4n - 2) · 1 ≤ 1/3 for n of
  three or more.

Golden passages rank first, second and third by BM25 in 3, 1 and 1 of 5 examples.
"""

from functools import cache
from random import Random
from typing import Any

DIALOG_SIZE = 2  # examples
N_SENTENCES = 4  # sentences in a golden passage
N_RIVALS = 2
TIMES_OVER = 4
_CONSONANTS, _VOWELS = "bdfgklmnprstvz", "aeiou"


@cache
def word(key: str) -> str:
    """Return an invented word of four syllables; each key has its own."""
    draws = Random(key)
    return "".join(draws.choice(_CONSONANTS) + draws.choice(_VOWELS) for _ in range(4))


def words(key: str, n: int) -> str:
    return " ".join(word(f"{key} {number}") for number in range(n))


def name_of(example: int) -> str:
    return word(f"name {example}").capitalize()


def thing_of(example: int) -> str:
    return word(f"thing {example}")


def example_key(example: int) -> str:
    return f"e{example:03}"


def golden_key(example: int) -> str:
    return f"p{example:03}-golden"


def rival_keys(example: int) -> list[str]:
    return [f"p{example:03}-rival-{number}" for number in range(1, N_RIVALS + 1)]


def n_better(example: int) -> int:
    """Return how many rivals rank before the golden passage."""
    return max(0, example % 5 - 2)


def turns_of(example: int) -> list[tuple[str, str]]:
    """Return speaker and text of five turns; the first two are the same in the whole dialog."""
    dialog = example // DIALOG_SIZE
    return [
        ("user", f"Tell me about {words(f'opening {dialog}', 4)}."),
        ("assistant", f"It is known for {words(f'told {dialog}', 4)}."),
        ("user", f"And what of {words(f'asked {example}', 3)}?"),
        ("assistant", f"Few have seen {words(f'heard {example}', 3)}."),
        ("user", f"When did {name_of(example)} buy {thing_of(example)}?"),
    ]


def golden_sentences(example: int) -> list[str]:
    """Return the sentences of the golden passage; each has its own eight content words."""
    opening = f"{name_of(example)} got {thing_of(example)} with {words(f'fact {example} 0', 6)}."
    return [
        opening,
        *(
            f"{words(f'fact {example} {number}', 8).capitalize()}."
            for number in range(1, N_SENTENCES)
        ),
    ]


def rival_text(example: int, number: int) -> str:
    """Return a passage without an answer; if above the golden one, with the question's words."""
    name, thing = name_of(example), thing_of(example)
    asked = f"{name} will buy {thing}, {name} and {thing}" if number <= n_better(example) else ""
    return f"{asked or 'Here is'} {words(f'rival {example} {number}', 8)}."


def example_row(example: int) -> dict[str, Any]:
    """Return the row of an interchange file."""
    rivals = [
        {"id": key, "text": rival_text(example, number)}
        for number, key in enumerate(rival_keys(example), start=1)
    ]
    golden = {
        "id": golden_key(example),
        "text": " ".join(golden_sentences(example)),
        "golden": True,
    }
    return {
        "id": example_key(example),
        "dialog": f"d{example // DIALOG_SIZE:03}",
        "turns": [{"speaker": speaker, "text": text} for speaker, text in turns_of(example)],
        "golden_answer": golden_sentences(example)[0],
        "evidence": [golden, *rivals],
    }


def answer(example: int | None, attributable: bool, sensible: bool, draw: int = 0) -> str:
    """Return an answer about an example.

    Args:
        example: None where it is not known; the answer is not attributable then.
        attributable: whether the answer is attributable to the golden passage.
        sensible: whether the answer is sensible in its dialog.
        draw: a number; other draws give other sentences.
    """
    if attributable and example is not None:
        said = golden_sentences(example)[draw % N_SENTENCES]
    else:
        said = f"{words(f'invented {example} {draw}', 8).capitalize()}."
    return said if sensible else " ".join([said] * TIMES_OVER)
