"""Auto-SSA: how sensible and how specific a reply is (attribution/fluency paper, 5.2 and 9.4)."""

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, NamedTuple, Self

from evaluation.backends.base import Backend, Judged, Reply
from evaluation.measures.sensibleness import SEPARATOR, YES, parse_reply, preamble_of, prompt
from evaluation.metrics.base import (
    NO_DIALOG,
    Assumed,
    AutoMetric,
    Refused,
    ResponseScore,
    ScoreRequest,
    ScoringMaterial,
)
from evaluation.metrics.controls import (
    GOLDEN_ANSWER,
    NO_SENSE,
    NOTHING_SPECIFIC,
    OTHER_REPLY,
)
from evaluation.metrics.replies import replies_said, storable_reply
from generation.backends.base import Completion, Decoding, LanguageModel, Prompt
from generation.backends.reasoning import THINKING_SIGNATURE, THINKING_TOKENS
from generation.backends.registry import LANGUAGE_MODELS
from generation.model_specs import BackendError

MOST_TOKENS = 16 + THINKING_TOKENS  # ' Answer: 0.8 ' has about seven
LONGEST_QUOTE = 80  # characters of a reply that a problem quotes
_FIRST = Decoding(max_tokens=MOST_TOKENS, stop=(SEPARATOR,))
READING = 2  # version of the rules for reading replies; a reply that is read is not asked again
# Later tries have a higher temperature: at temperature 0 a model would give the same reply again.
TRIES = (_FIRST, _FIRST._replace(temperature=0.5, seed=1), _FIRST._replace(temperature=0.5, seed=2))


class SsaPrompt(NamedTuple):
    """The prompt that is given to a language model."""

    name: str
    text: str  # instructions and demonstrations, '###' at the end; see `sensibleness.prompt`
    built_on: str = ""  # setup whose responses it was built on; "": no setup of this installation
    dataset: str = ""  # the slug of that setup's dataset

    @property
    def signature_part(self) -> str:
        """The prompt in the form used in a signature: 'prompt:paper@1a2b3c4d'."""
        return f"prompt:{self.name}@{hashlib.sha256(self.text.encode()).hexdigest()[:8]}"

    @property
    def parameters(self) -> dict[str, str]:
        """The prompt in the form in which a run stores it."""
        return {
            "prompt": self.name,
            "prompt_text": self.text,
            "built_on": self.built_on,
            "built_on_dataset": self.dataset,
        }


@cache
def usual_prompt(metric: str) -> SsaPrompt:
    """Return the prompt of 'sensible' (the paper's) or 'specific' (ours)."""
    return SsaPrompt({"sensible": "paper"}.get(metric, "ours"), preamble_of(metric))


class RatedReply(NamedTuple):
    """The judgement of one reply, with the literal replies of the language model."""

    judged: Judged
    replies: tuple[str, ...] = ()
    n_asked: int = 0  # number of completions that the language model was asked for
    reasoning: tuple[str, ...] = ()  # what the model thought before its replies, if it did


@dataclass(frozen=True)
class AutoSsa(AutoMetric):
    """A score from 0 to 1 by a few-shot prompt, or by a backend that needs no prompt."""

    prompt: SsaPrompt | None  # None: the backend needs no prompt

    family = "Auto-SSA"
    assumed_when = "empty response"
    asks_again = (
        f"A reply without a number is asked for again, up to {len(TRIES) - 1} times. Those calls "
        "are not counted here."
    )
    version = 2  # in version 1, an empty response had no score
    threshold = YES
    is_yes_at_threshold = True

    @classmethod
    def made(cls, parameters: Mapping[str, Any]) -> Self:
        usual = usual_prompt(cls.key)
        name = parameters.get("prompt", usual.name)
        if not name:
            return cls(None)
        text = parameters.get("prompt_text", usual.text if name == usual.name else "")
        if not text.rstrip().endswith(SEPARATOR):
            raise ValueError(
                f"Found the prompt {name!r}; expected its text, with {SEPARATOR} at the end."
            )
        built_on, dataset = (parameters.get(key, "") for key in ("built_on", "built_on_dataset"))
        return cls(SsaPrompt(name, text, built_on, dataset))

    @property
    def parameters(self) -> dict[str, Any]:
        return self.prompt.parameters if self.prompt else {"prompt": ""}

    @property
    def signature_part(self) -> str:
        if self.prompt is None:
            return ""
        tries = f"tries:{len(TRIES)}@{TRIES[-1].temperature:g}"
        return f"{self.prompt.signature_part}|{tries}|read:{READING}{THINKING_SIGNATURE}"

    @property
    def in_title(self) -> list[str]:
        usual = usual_prompt(self.key)
        return [f"prompt {self.prompt.name}"] if self.prompt not in (None, usual) else []

    @property
    def described_choices(self) -> list[tuple[str, str]]:
        if self.prompt is None:
            return []
        place = ", ".join(filter(None, [self.prompt.dataset, self.prompt.built_on]))
        built_on = [("Built on", place)] if self.prompt.built_on else []
        tries = f"{len(TRIES)}: the first at temperature 0, then {TRIES[-1].temperature:g}"
        return [("Prompt", self.prompt.name), *built_on, ("Tries", tries)]

    def asked_of(self, backend: str) -> Self:
        """Return the metric without its prompt where the backend is no language model."""
        return self if backend in LANGUAGE_MODELS else replace(self, prompt=None)

    def ready(self, backend: Any) -> Backend:
        """Return the backend.

        Raises:
            BackendError: the backend was taught another metric, or it needs a prompt and the run
                has none.
        """
        taught = getattr(backend, "metric", self.key)
        if taught != self.key:
            raise BackendError(
                f"This model was taught {taught}; expected one that was taught {self.key}"
            )
        if self.prompt is None and not hasattr(backend, "sensibleness"):
            raise BackendError(
                "The run has no prompt, and a language model needs one. Start a new run"
            )
        return super().ready(backend)

    def asked(self, material: ScoringMaterial) -> ScoreRequest | Refused | Assumed:
        """Return the response in its dialog. The prompt is made from it when the model is asked."""
        if material.says_nothing:
            return Assumed()
        if material.turns is None:
            return Refused(NO_DIALOG)
        return ScoreRequest([Reply(material.turns, material.text)])

    def answers(self, backend: Any, asks: Sequence[Reply]) -> Iterator[RatedReply]:
        """Yield the backend's judgement of each reply; a language model is given the prompt."""
        if hasattr(backend, "sensibleness"):
            yield from map(RatedReply, backend.sensibleness(asks))
            return
        preamble = (self.prompt or usual_prompt(self.key)).text
        prompts = [Prompt(prompt(preamble, ask.turns, ask.text)) for ask in asks]
        completions = backend.complete(prompts, TRIES[0])
        for asked, completion in zip(prompts, completions, strict=True):
            yield _rated(backend, asked, completion)

    def scored(self, asked: ScoreRequest, answers: Sequence[RatedReply]) -> ResponseScore:
        """Return the score, and the replies of the language model from which it was read."""
        [(judged, replies, _, reasoning)] = answers
        has_score = not math.isnan(judged.score)
        problem = "" if has_score else judged.problem or "the backend gave no score"
        return ResponseScore(
            float(judged.score) if has_score else None,
            problem,
            n_truncated=int(judged.is_truncated),
            details=replies_said(replies, reasoning) if replies or any(reasoning) else {},
        )


@dataclass(frozen=True)
class AutoSensible(AutoSsa):
    """Whether the reply makes sense in its dialog."""

    prompt: SsaPrompt | None = field(default_factory=lambda: usual_prompt("sensible"))

    key = "sensible"
    title = "Auto-SSA: sensible"
    lede = "How much sense each response makes in its dialog, as a score from 0 to 1."
    backends = ("heuristic", "distilled", "language-model", "openai")
    controls = (OTHER_REPLY, GOLDEN_ANSWER, NO_SENSE)


@dataclass(frozen=True)
class AutoSpecific(AutoSsa):
    """Whether the reply is specific to its dialog."""

    prompt: SsaPrompt | None = field(default_factory=lambda: usual_prompt("specific"))

    key = "specific"
    title = "Auto-SSA: specific"
    lede = "How specific each response is to its dialog, as a score from 0 to 1."
    backends = ("language-model", "openai", "distilled")
    controls = (OTHER_REPLY, GOLDEN_ANSWER, NOTHING_SPECIFIC)


def _rated(model: LanguageModel, asked: Prompt, completion: Completion) -> RatedReply:
    """Return a model's judgement of a reply; if its answer cannot be read, it is asked again."""
    replies: list[str] = []
    reasoning: list[str] = []

    def rated(score: float, problem: str = "") -> RatedReply:
        judged = Judged(score, problem=problem)
        return RatedReply(judged, tuple(replies), len(reasoning), tuple(reasoning))

    for retry in (*TRIES[1:], None):
        reasoning.append(completion.reasoning)
        if completion.problem:  # the model's backend has already tried again
            return rated(math.nan, completion.problem)
        replies.append(storable_reply(completion.text))
        score = parse_reply(completion.text)
        if score is not None:
            return rated(score)
        if retry is not None:
            [completion] = model.complete([asked], retry)
    quoted = " ".join(replies[-1].split())[:LONGEST_QUOTE]
    return rated(math.nan, f"no number in 0 to 1 in {len(replies)} replies, the last: '{quoted}'")
