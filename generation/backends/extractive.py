"""A language model without a checkpoint: it answers with a sentence or triples of its prompt."""

import random
from collections.abc import Iterator, Sequence

from generation.backends.base import Completion, Decoding, Prompt, cut_at
from generation.backends.extractive_graph import graph_answer
from generation.backends.softmax_draw import drawn_place
from generation.text.graph_reading import read_graph_prompt
from generation.text.languages import function_words
from generation.text.native_dialog import STOP
from generation.text.native_reading import ReadPrompt, read_prompt
from generation.text.sentences import split_sentences
from generation.text.tokens import count_tokens, token_ends, tokens

Weighted = tuple[str, float]  # a sentence and its weight: how well it fits


class Extractive:
    """A language model that follows its prompt: without evidence it can only echo the dialog.

    It answers with the sentence of the facts that shares the most content words with the user's
    question. If several sentences tie, it takes the one that shares the most with the dialog before
    the question.

    With a temperature it draws one of the best sentences, by softmax of the number of shared words.
    If no instructions tell it to use the facts, sentences of the dialog are candidates too.

    It answers a question about a knowledge graph with the triples that are shown, and cites them;
    see `extractive_graph`. It answers any other prompt with the prompt's first sentence.
    """

    signature = "extractive|v:1"
    revision = ""
    files: dict[str, str] = {}
    device = "cpu"

    def complete(self, prompts: Sequence[Prompt], decoding: Decoding) -> Iterator[Completion]:
        """Yield a completion for each prompt, in the same order.

        Tokens are words and punctuation marks. Each prompt has its own random numbers, which depend
        only on the seed and the prompt.
        """
        for prompt in prompts:
            answer, ending = _answer(prompt, decoding)
            places = token_ends(answer)
            is_cut = len(places) > decoding.max_tokens
            text = answer[: places[decoding.max_tokens - 1]] if is_cut else answer + ending
            text = cut_at(text, decoding.stop)
            yield Completion(
                text,
                is_cut=is_cut,
                n_prompt_tokens=count_tokens(prompt.text) + count_tokens(prompt.system),
                n_tokens=count_tokens(text),
            )


def _answer(prompt: Prompt, decoding: Decoding) -> tuple[str, str]:
    """Return the answer to a prompt, and the mark that ends its turn."""
    draws = random.Random(repr((decoding.seed, *prompt.identity)))
    if graph := read_graph_prompt(prompt.text):
        return graph_answer(graph, decoding, draws), ""
    return _said(prompt, decoding, draws), f" {STOP}"


def _said(prompt: Prompt, decoding: Decoding, draws: random.Random) -> str:
    read = read_prompt(prompt.text)
    if read is None:
        return _first(_sentences([prompt.text]))
    facts = _sentences(read.facts)
    if not read.branch:
        return _first(facts)
    said = _sentences(read.branch[:-1])
    drifts = decoding.temperature > 0 and not read.has_instructions
    candidates = [*facts, *said] if drifts or not facts else facts
    if not candidates:
        return f"{read.branch[-1].rstrip('?!. ')}."
    return _chosen(_weighted(candidates, read), decoding, draws)


def _sentences(texts: Sequence[str]) -> list[str]:
    return [sentence.text for text in texts for sentence in split_sentences(text)]


def _first(sentences: Sequence[str]) -> str:
    return sentences[0] if sentences else ""


def _weighted(sentences: Sequence[str], read: ReadPrompt) -> list[Weighted]:
    """Return sentences with their weights, the best fitting first.

    A weight is the number of words shared with the question. Words shared with the dialog before
    the question add less than one in total.
    """
    *before, question = map(_content_words, read.branch)
    earlier = set().union(*before)
    weighted = [
        (sentence, len(words & question) + len(words & earlier) / (len(earlier) + 1))
        for sentence, words in zip(sentences, map(_content_words, sentences), strict=True)
    ]
    return sorted(weighted, key=lambda each: -each[1])  # stable: ties keep their order


def _content_words(text: str) -> set[str]:
    return set(tokens(text)) - function_words()


def _chosen(weighted: Sequence[Weighted], decoding: Decoding, draws: random.Random) -> str:
    """Return the best sentence; with a temperature, draw one of the best by its share."""
    weights = [weight for _, weight in weighted]
    return weighted[drawn_place(weights, decoding, draws)][0]
