"""A language model that is attributable and sensible as often as the grid of known truth says.

It reads which example a prompt is about, how much of dialog and evidence the prompt shows, and
whether there are instructions. It draws labels by the true chances of such a prompt
(`tests.tradeoff_grid`), and answers with a text that has these labels by construction
(`tests.tradeoff_texts`). So the results that real grids, `lexical` and `heuristic` must find are
known beforehand.
"""

import zlib
from collections.abc import Iterator, Sequence
from functools import cache, partial
from math import sqrt
from random import Random
from typing import NamedTuple

import pytest
from scipy.special import ndtri

from generation.backends.base import Completion, Decoding, Prompt, cut_at
from generation.backends.registry import LANGUAGE_MODELS, LanguageModelKind
from generation.text.native_dialog import STOP
from generation.text.native_reading import ReadPrompt, read_prompt
from generation.text.prompt_types import prompt_type
from generation.text.tokens import count_tokens
from tests.tradeoff_grid import BAND_OF, MODELS, WEIGHTS, Truth, restricted_truth, truth_of
from tests.tradeoff_texts import DIALOG_SIZE, answer, golden_sentences, turns_of

N_KNOWN = 200  # examples


class Construction(NamedTuple):
    """The parts that a completion is made of."""

    example: int | None  # None: the prompt does not tell which
    truth: Truth
    is_attributable: bool  # judged against the example's golden evidence
    is_sensible: bool


class Constructed:
    """A model of one size, by name."""

    signature = "constructed|v:1"
    revision = ""
    files: dict[str, str] = {}
    device = "cpu"

    def __init__(self, model: str) -> None:
        self.model = model

    def complete(self, prompts: Sequence[Prompt], decoding: Decoding) -> Iterator[Completion]:
        for prompt in prompts:
            made = construction(self.model, prompt.text, decoding.temperature)
            draw = zlib.crc32(prompt.text.encode())
            said = answer(made.example, made.is_attributable, made.is_sensible, draw)
            text = cut_at(f" {said} {STOP}", decoding.stop)
            n_tokens = count_tokens(prompt.text), count_tokens(text)
            yield Completion(text, n_prompt_tokens=n_tokens[0], n_tokens=n_tokens[1])


@pytest.fixture
def constructed_models(monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """Return the names of three models that grids may ask."""
    for model in MODELS:
        kind = LanguageModelKind(model, lambda spec: Constructed(spec.name), needs_model=False)
        monkeypatch.setitem(LANGUAGE_MODELS, model, kind)
    return MODELS


def construction(model: str, prompt: str, temperature: float) -> Construction:
    """Return the parts of a model's completion of a prompt; they are the same each time."""
    read = read_prompt(prompt)
    assert read is not None, prompt
    example = _example_of(read)
    truth = seen_truth(model, temperature, prompt)
    own = Random(f"{model} {temperature} {prompt}")
    labels = [_is_yes(chance, side, example, own) for side, chance in enumerate(truth)]
    return Construction(example, truth, labels[0] and example is not None, labels[1])


def seen_truth(model: str, temperature: float, prompt: str) -> Truth:
    """Return the chances of a prompt, determined by what it shows."""
    read = read_prompt(prompt)
    assert read is not None, prompt
    example = _example_of(read)
    turns = [text for _, text in turns_of(example)] if example is not None else [""]
    dialog_share = _n_tokens(read.branch) / _n_tokens(turns) if read.branch else 0.0
    golden = golden_sentences(example) if example is not None else []
    shown = [sentence for sentence in golden if any(sentence in fact for fact in read.facts)]
    has_history = len(read.branch) == len(turns)
    is_last_alone = len(read.branch) == 1

    of_type = partial(_of_type, model, temperature, read, prompt)
    if shown and len(shown) == len(golden) and (has_history or is_last_alone):
        return of_type(has_golden=True, has_history=has_history)
    if not shown and (has_history or (is_last_alone and not read.facts)):
        return of_type(has_golden=False, has_history=has_history)
    evidence_share = _n_tokens(shown) / _n_tokens(golden) if shown else 1 - dialog_share
    return restricted_truth(
        BAND_OF[model, temperature], dialog_share, evidence_share, golden=bool(shown)
    )


def _of_type(
    model: str,
    temperature: float,
    read: ReadPrompt,
    prompt: str,
    *,
    has_golden: bool,
    has_history: bool,
) -> Truth:
    """Return the chances of that one of the twelve prompt types that shows the same."""
    if not has_golden:
        key = "no-history-no-evidence" if not has_history else "no-evidence"
        key = "random" if read.facts else key
    elif not has_history:
        key = "no-history-golden"
    elif "\n\n" in prompt:
        key = "one-shot"
    else:
        n_facts = len(read.facts)
        key = "golden" if n_facts == 1 else f"retrieved-{min(3, n_facts)}"
        key += "-instructions" * read.has_instructions
    return truth_of(model, temperature, prompt_type(key))


def _is_yes(chance: float, side: int, example: int | None, own: Random) -> bool:
    """Return a drawn label; labels correlate within an example, and within its dialog."""
    if example is None:
        return own.random() < chance
    dialog = Random(f"dialog {side} {example // DIALOG_SIZE}").gauss()
    of_example = Random(f"example {side} {example}").gauss()
    parts = dialog, of_example, own.gauss()
    decides = sum(sqrt(w) * part for w, part in zip(WEIGHTS, parts, strict=True))
    return bool(decides < ndtri(chance))


def _example_of(read: ReadPrompt) -> int | None:
    """Return the example that the last turn belongs to; without turns, that of the evidence."""
    if read.branch:
        return _by_question().get(read.branch[-1])
    return next((n for s, n in _by_sentence().items() if any(s in f for f in read.facts)), None)


@cache
def _by_question() -> dict[str, int]:
    return {turns_of(number)[-1][1]: number for number in range(N_KNOWN)}


@cache
def _by_sentence() -> dict[str, int]:
    return {s: number for number in range(N_KNOWN) for s in golden_sentences(number)}


def _n_tokens(texts: Sequence[str]) -> int:
    return sum(map(count_tokens, texts))
