"""Examples of invented words, and answers that are attributable, or sensible, by construction.

Every example has its own name and thing, so that a prompt says which example it is about. Its
golden passage has four sentences; two rivals are about the same name. An answer is attributable
when it is a sentence of the golden passage, and else of words that are nowhere; it is sensible when
it is said once, and not when it is said four times over. `lexical` and `heuristic` see just that:

- attributable: all its content words are in the passage (share 1); else eight of the eleven of
  question and answer are in no passage (share 3/11).
- sensible: whole, and no three words come again: at least (1 + 0 + 1) / 3 = 0.67; else of
  4n - 2 runs of three words only n differ: at most n / (4n - 2) · 1 ≤ 1/3 for n of three or more.

Golden passages rank first, second and third by BM25 in 3, 1 and 1 of 5 examples.
"""

from functools import cache
from random import Random
from typing import Any

DIALOG_SIZE = 2  # examples
N_SENTENCES = 4  # of a golden passage
N_RIVALS = 2
TIMES_OVER = 4
_CONSONANTS, _VOWELS = "bdfgklmnprstvz", "aeiou"


@cache
def word(key: str) -> str:
    """Return an invented word of four syllables, another for each key."""
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
    """Return speaker and text of five turns; the first two are those of the whole dialog."""
    dialog = example // DIALOG_SIZE
    return [
        ("user", f"Tell me about {words(f'opening {dialog}', 4)}."),
        ("assistant", f"It is known for {words(f'told {dialog}', 4)}."),
        ("user", f"And what of {words(f'asked {example}', 3)}?"),
        ("assistant", f"Few have seen {words(f'heard {example}', 3)}."),
        ("user", f"When did {name_of(example)} buy {thing_of(example)}?"),
    ]


def golden_sentences(example: int) -> list[str]:
    """Return the sentences of the golden passage; each has eight content words of its own."""
    opening = f"{name_of(example)} got {thing_of(example)} with {words(f'fact {example} 0', 6)}."
    return [
        opening,
        *(
            f"{words(f'fact {example} {number}', 8).capitalize()}."
            for number in range(1, N_SENTENCES)
        ),
    ]


def rival_text(example: int, number: int) -> str:
    """Return a passage that says nothing about it; before the golden one all of the question."""
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
        example: None where nobody knows which; nothing about it is attributable then.
        attributable: to its golden passage.
        sensible: in its dialog.
        draw: answers of other draws are other sentences.
    """
    if attributable and example is not None:
        said = golden_sentences(example)[draw % N_SENTENCES]
    else:
        said = f"{words(f'invented {example} {draw}', 8).capitalize()}."
    return said if sensible else " ".join([said] * TIMES_OVER)
