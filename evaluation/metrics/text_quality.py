"""Text quality by a language model as judge, G-Eval (KaLMA, 4.1 and tables 11 to 14)."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from evaluation.measures.text_quality import (
    LABELS,
    NO_PROBABILITIES,
    TokenOdds,
    Weighed,
    parse_score,
    prompt,
    weigh,
)
from evaluation.metrics.base import (
    EMPTY,
    NO_DIALOG,
    Assumed,
    AutoMetric,
    Option,
    Refused,
    ResponseScore,
    ScoreRequest,
    ScoringMaterial,
)
from evaluation.metrics.controls import (
    MIXED_SENTENCES,
    MIXED_WORDS,
    NOTHING_SPECIFIC,
    OF_EVIDENCE,
    OTHER_REPLY,
)
from evaluation.metrics.replies import replies_said, storable_reply
from generation.backends.base import (
    Completion,
    Decoding,
    LanguageModel,
    Prompt,
    Token,
    probability_of,
)
from generation.backends.reasoning import THINKING_SIGNATURE, THINKING_TOKENS
from generation.text.citations import without_citations
from generation.text.cited_vocabulary import Vocabulary

MOST_TOKENS = 16 + THINKING_TOKENS  # tokens of a reply: 'Coherence: 4' and a little more
MOST_REPEATS = 10
N_TOP = 20  # tokens whose probabilities are asked for: the most that servers give
LONGEST_QUOTE = 80  # characters of a reply that a problem quotes
MODES = {
    "integer": "the integer of each reply; their mean",
    "logprob": "the labels weighted by their probabilities; their mean",
    "sampled": "the integer of each reply at temperature 1; their mean",
}
NO_EVIDENCE = "there is no evidence that the response could agree with"
NOTHING_LEFT = "nothing is left of the response without its citations"


class Rating(NamedTuple):
    """One question to a judge: a prompt, and the number of the repeat."""

    text: str
    repeat: int  # counted from 0; also used as the seed


@dataclass(frozen=True)
class TextQuality(AutoMetric):
    """A score from 1 to 5: the mean over the replies of a judge that is asked several times."""

    mode: str = "integer"
    repeats: int = 3

    backends = ("language-model", "openai")
    options = (
        Option(
            "mode",
            "Score",
            choices=[
                ("integer", "The integer in the reply"),
                ("logprob", "Labels weighted by their probabilities"),
                ("sampled", "Integers sampled at temperature 1"),
            ],
        ),
        Option(
            "repeats",
            "Times asked",
            low=1,
            high=MOST_REPEATS,
            help="The score is the mean of this many replies.",
        ),
    )
    family = "Text quality"
    scale = (float(LABELS[0]), float(LABELS[-1]))
    threshold = 3.0
    usual_sample = 100

    @classmethod
    def made(cls, parameters: Mapping[str, Any]) -> Self:
        mode, repeats = parameters.get("mode", cls.mode), parameters.get("repeats", cls.repeats)
        if mode not in MODES:
            raise ValueError(f"Found the mode {mode!r}; expected one of {', '.join(MODES)}.")
        if not isinstance(repeats, int) or not 1 <= repeats <= MOST_REPEATS:
            raise ValueError(f"Found {repeats!r} repeats; expected 1 to {MOST_REPEATS}.")
        return cls(mode, repeats)

    @property
    def parameters(self) -> dict[str, Any]:
        return {"mode": self.mode, "repeats": self.repeats}

    @property
    def signature_part(self) -> str:
        return f"{self.mode}:{self.repeats}{THINKING_SIGNATURE}"

    @property
    def in_title(self) -> list[str]:
        usual = self.mode == TextQuality.mode and self.repeats == TextQuality.repeats
        return [] if usual else [f"{self.mode} × {self.repeats}"]

    @property
    def described_choices(self) -> list[tuple[str, str]]:
        return [("Score", f"{self.mode}: {MODES[self.mode]}"), ("Times asked", str(self.repeats))]

    def asked(self, material: ScoringMaterial) -> ScoreRequest | Refused | Assumed:
        """Return this metric's prompt once for each time that the judge is asked."""
        if material.user_question is None:
            return Refused(NO_DIALOG)
        if material.says_nothing:
            return Refused(EMPTY)
        answer = without_citations(material.text, *Vocabulary.of(material.graph))
        if not answer:
            return Refused(NOTHING_LEFT)
        knowledge = "\n".join(each.text.strip() for each in material.evidence_texts).strip()
        if self.needs_evidence and not knowledge:
            return Refused(NO_EVIDENCE)
        text = prompt(self.key, material.user_question, answer, knowledge)
        return ScoreRequest([Rating(text, repeat) for repeat in range(self.repeats)])

    def answers(self, backend: LanguageModel, asks: Sequence[Rating]) -> Iterator[Completion]:
        """Yield the judge's reply to each ask; asks of the same repeat are sent together."""
        temperature = 1.0 if self.mode == "sampled" else 0.0
        decoding = Decoding(temperature=temperature, max_tokens=MOST_TOKENS, n_top=N_TOP)
        streams = {
            repeat: backend.complete(
                [Prompt(ask.text) for ask in asks if ask.repeat == repeat],
                decoding._replace(seed=repeat),
            )
            for repeat in dict.fromkeys(ask.repeat for ask in asks)
        }
        for ask in asks:
            yield next(streams[ask.repeat])

    def scored(self, asked: ScoreRequest, answers: Sequence[Completion]) -> ResponseScore:
        """Return the mean over replies. There is no score if one of the replies has none."""
        replies = [_read(answer, self.key) for answer in answers]
        details = {
            "mode": self.mode,
            **replies_said(
                [reply.text for reply in replies], [answer.reasoning for answer in answers]
            ),
            **_means(replies),
        }
        problems = [reply.problem for reply in replies if reply.problem]
        if self.mode == "logprob" and not problems and "weighted" not in details:
            problems = [reply.unweighed for reply in replies if reply.unweighed]
        if problems:
            return ResponseScore(None, problems[0], details=details)
        return ResponseScore(
            details["weighted" if self.mode == "logprob" else "integer"], details=details
        )


@dataclass(frozen=True)
class Coherence(TextQuality):
    """Whether the sentences form a well-structured whole."""

    key = "coherence"
    title = "Coherence (G-Eval)"
    lede = "How well-structured each response is, as a score from 1 to 5 by a language model."
    controls = (MIXED_SENTENCES,)


@dataclass(frozen=True)
class Consistency(TextQuality):
    """Whether the response agrees with the evidence and with itself."""

    key = "consistency"
    title = "Consistency (G-Eval)"
    lede = "How well each response agrees with its evidence, from 1 to 5 by a language model."
    version = 2  # since version 2, golden evidence includes the sub-graphs of the gold entities
    needs_evidence = True
    controls = OF_EVIDENCE


@dataclass(frozen=True)
class Fluency(TextQuality):
    """Whether the response is well written."""

    key = "fluency"
    title = "Fluency (G-Eval)"
    lede = "How well-written each response is, as a score from 1 to 5 by a language model."
    controls = (MIXED_WORDS,)


@dataclass(frozen=True)
class Relevance(TextQuality):
    """Whether the response answers the question, and nothing else."""

    key = "relevance"
    title = "Relevance (G-Eval)"
    lede = "How directly each response answers the question, from 1 to 5 by a language model."
    controls = (OTHER_REPLY, NOTHING_SPECIFIC)


class _Reply(NamedTuple):
    """The content of one reply: its score and probabilities, or why they are missing."""

    text: str
    integer: int | None = None
    weighed: Weighed | None = None
    unweighed: str = NO_PROBABILITIES  # why the labels were not weighed
    problem: str = ""


def _read(completion: Completion, metric: str) -> _Reply:
    """Return the score of a reply and the probability of each label, or why they are missing."""
    if completion.problem:
        return _Reply("", problem=completion.problem)
    text = storable_reply(completion.text)
    integer = parse_score(completion.text, metric)
    quoted = " ".join(text.split())[:LONGEST_QUOTE]
    if integer is None:
        return _Reply(text, problem=f"no score from 1 to 5 in the reply '{quoted}'")
    # A reply 'Score: 4' that was cut might have continued with '.5'.
    if completion.is_cut and len(completion.text.strip()) > 1:
        return _Reply(text, problem=f"the reply '{quoted}' was cut before its end")
    weighed = weigh([_odds(token) for token in completion.tokens], completion.text, metric)
    if isinstance(weighed, str):
        return _Reply(text, integer, unweighed=weighed)
    return _Reply(text, integer, weighed, unweighed="")


def _odds(token: Token) -> TokenOdds:
    top = [(text, probability_of(log)) for text, log in token.top]
    if token.text not in {text for text, _ in top}:
        top.append((token.text, probability_of(token.log_probability)))
    return TokenOdds(token.text, tuple(top))


def _means(replies: Sequence[_Reply]) -> dict[str, Any]:
    """Return the means over replies, for those values that all replies have."""
    integers = [reply.integer for reply in replies if reply.integer is not None]
    weighed = [reply.weighed for reply in replies if reply.weighed is not None]
    means: dict[str, Any] = {}
    if len(integers) == len(replies):
        means |= {"integers": integers, "integer": _mean(integers)}
    if len(weighed) == len(replies):
        means |= {
            "weighted": _mean([each.mean for each in weighed]),
            "discarded_mass": _mean([each.discarded_mass for each in weighed]),
            "probabilities": {
                str(label): _mean([each.probabilities[label] for each in weighed])
                for label in LABELS
            },
        }
    return means


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
