"""A scheme for votes that came without one, made from their questions and answers."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from annotation.schemes import MAX_CATEGORIES, MAX_POINTS, YES_NO, SchemeError
from annotation.usual_scales import worded_scale
from generation.importers.cell_meanings import folded, spelled, whole_number

USUAL_HIGHEST = 49  # a higher number is a slip, unless more than 1 in 20 are higher


def guess_scheme(
    key: str,
    answers: Mapping[str, Mapping[str, int]],
    stated: Callable[[str], object] = lambda question: None,
) -> Mapping[str, Any]:
    """Return a scheme made from the answers found: question → {answer as written: how often}.

    A question is yes/no when yes, no, 1 and 0 (or true and false) are more than half of its
    answers, ordinal when whole numbers are more than half, else nominal. So a few answers that do
    not fit do not change the scale: they are reported as problems of their rows. It is ordinal too
    when all answers are the words of a `worded_scale`.

    Args:
        stated: a function that returns the scale of a question, if it is known.

    Raises:
        SchemeError: the labels that a scale can have are less than half of a question's answers.
    """
    return {
        "key": key,
        "questions": [
            {"key": question, "wording": question}
            | ({"scale": scale} if (scale := stated(question)) else _guess_scale(question, counts))
            for question, counts in answers.items()
        ],
    }


def _guess_scale(question: str, counts: Mapping[str, int]) -> dict[str, object]:
    """Return the scale of a question, with the words of its ends where it has some."""
    worded = worded_scale(counts)
    if worded is None:
        return {"scale": _guess_plain_scale(question, counts)}
    scale = {"ordinal": [worded.low, worded.high], "words": worded.words}
    return {"scale": scale} | ({"ends": [*worded.ends]} if worded.ends else {})


def _guess_plain_scale(question: str, counts: Mapping[str, int]) -> object:
    n_answers = sum(counts.values())
    n_yes_no = _count_of_yes_no(counts)
    if 2 * n_yes_no > n_answers and not _is_wider_than_yes_no(counts):
        return "yes_no"
    numbers = list(_whole_numbers(counts))
    if 2 * sum(n for _, n in numbers) > n_answers:
        lowest, highest = min(numbers)[0], max(numbers)[0]
        return {"ordinal": [lowest, max(highest, lowest + 1)]}
    return {"nominal": _guess_labels(question, counts)}


def _guess_labels(question: str, counts: Mapping[str, int]) -> list[str]:
    """Return the most frequent labels of a nominal scale, from two to MAX_CATEGORIES."""
    by_frequency = sorted(counts, key=lambda word: -counts[word])
    spellings: dict[str, str] = {}
    frequency: Counter[str] = Counter()
    for word in by_frequency:
        frequency[spellings.setdefault(folded(word), spelled(word))] += counts[word]
    labels = [label for label, _ in frequency.most_common(MAX_CATEGORIES)]
    if 2 * sum(frequency[label] for label in labels) < frequency.total():
        raise SchemeError(
            f"question {question!r}: found {len(frequency):,} different answers; expected at most "
            f"{MAX_CATEGORIES} labels, or whole numbers from 0 to {MAX_POINTS - 1}"
        )
    if len(labels) == 1:  # all answers are the same, but a scale needs two
        labels.append("other" if "other" not in spellings else "another")
    return sorted(labels, key=str.lower)


def _count_of_yes_no(counts: Mapping[str, int]) -> int:
    """Return how many answers are yes or no. Letters are, where nothing but yes and no is said."""
    found = {word: n for word, n in counts.items() if YES_NO.answer(word) is not None}
    are_letters = len(found) == len(counts)
    return sum(n for word, n in found.items() if are_letters or not _is_letter(word))


def _is_letter(word: str) -> bool:
    said = folded(word)
    return len(said) == 1 and said.isalpha()


def _is_wider_than_yes_no(counts: Mapping[str, int]) -> bool:
    """Return whether answers are an ordinal scale that has 0 or 1, and not yes/no.

    They are if none is a word for yes or no, and more than 1 in 20 is another small number.
    """
    n_yes_no = _count_of_yes_no(counts)
    numbers = list(_whole_numbers(counts))
    n_words = n_yes_no - sum(n for number, n in numbers if number in YES_NO.values)
    n_others = sum(n for number, n in numbers if number not in YES_NO.values)
    return n_words == 0 and 20 * n_others > sum(counts.values())


def _whole_numbers(counts: Mapping[str, int]) -> Iterator[tuple[int, int]]:
    """Yield the whole numbers that may be points of a scale, and how often each was given."""
    numbers = [
        (number, n)
        for word, n in counts.items()
        if (number := whole_number(word)) is not None and 0 <= number < MAX_POINTS
    ]
    n_high = sum(n for number, n in numbers if number > USUAL_HIGHEST)
    has_high = 20 * n_high > sum(counts.values())
    yield from (each for each in numbers if has_high or each[0] <= USUAL_HIGHEST)
