"""Auto-AIS: how strongly the evidence entails a response (attribution/fluency paper, 5.1)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

from evaluation.backends.base import Entailment
from evaluation.measures.entailment import (
    APART,
    QUESTION_IN_HYPOTHESIS,
    QUESTION_IN_PREMISE,
    WITHOUT_QUESTION,
    AutoAis,
    EntailmentError,
    EntailmentQuestion,
    ask,
    verdict,
)
from evaluation.metrics.base import (
    NO_DIALOG,
    Assumed,
    Option,
    Refused,
    ResponseScore,
    ScoreRequest,
    ScoringMaterial,
    failed,
)
from evaluation.metrics.controls import OF_EVIDENCE
from evaluation.metrics.pair_metric import PairMetric, problem_among
from generation.evidence import EvidenceChoice

NO_GOLDEN = "no golden evidence"
NOTHING_FOUND = "no passage was found for its dialog"
MOST_SENTENCES = 50  # the most sentences that a window may have
ADDED_WORDS = "added_words"  # the backend that gets evidence, question and response apart
ADDS_NOTHING = "adds_nothing"  # the detail of a score that is 0 because no word was added
HYPOTHESES = {
    "whole": "response",
    "mean": "each sentence of the response; their mean",
    "min": "each sentence of the response; the lowest",
}


@dataclass(frozen=True)
class AutoAisMetric(PairMetric):
    """The highest probability, over windows of the evidence, that one entails the response."""

    choices: AutoAis = field(default_factory=AutoAis)

    key = "auto_ais"
    title = "Auto-AIS"
    lede = "How strongly the evidence entails each response, as a score from 0 to 1."
    assumed_when = "no evidence shown, or empty response"
    # In version 1, empty responses had no score, and golden evidence no sub-graphs. In version 2,
    # sentences ended at English marks only.
    version = 3
    options = (
        Option(
            "flavor",
            "Flavor",
            choices=[
                ("v0", "v0: evidence ⇒ response"),
                ("v1", "v1: evidence + question ⇒ response"),
                ("v2", "v2: evidence ⇒ question + response"),
                ("v3", "v3: evidence + question ⇒ question + response"),
            ],
        ),
        Option(
            "window",
            "Window K",
            high=MOST_SENTENCES,
            help="Sentences per window; 0 means the whole evidence.",
        ),
        Option(
            "hypothesis",
            "Hypothesis",
            choices=[
                ("whole", "The whole response"),
                ("mean", "Its sentences: their mean"),
                ("min", "Its sentences: the lowest"),
            ],
        ),
    )
    backends: ClassVar[tuple[str, ...]] = (ADDED_WORDS, *PairMetric.backends)
    needs_evidence = True
    family = "Attribution"
    controls = OF_EVIDENCE

    @classmethod
    def made(cls, parameters: Mapping[str, Any]) -> Self:
        given = {name: parameters[name] for name in AutoAis._fields if name in parameters}
        return cls(AutoAis(**given))

    @classmethod
    def usual_choices(cls, *, knows_questions: bool) -> Mapping[str, Any]:
        return {} if knows_questions else {"flavor": WITHOUT_QUESTION}

    @classmethod
    def options_for(cls, backend: str) -> Sequence[Option]:
        is_apart = backend == ADDED_WORDS
        return [option for option in cls.options if not (is_apart and option.name == "flavor")]

    def asked_of(self, backend: str) -> Self:
        """Return the metric with the flavor that this kind of backend has, which may be none."""
        if backend == ADDED_WORDS:
            return replace(self, choices=self.choices._replace(flavor=APART))
        return self

    @property
    def parameters(self) -> dict[str, Any]:
        return self.choices._asdict()

    @property
    def signature_part(self) -> str:
        return str(self.choices)

    @property
    def in_title(self) -> list[str]:
        window = f"localized K = {self.choices.window}" if self.choices.window else "whole"
        is_whole = self.choices.hypothesis == "whole"
        split = [] if is_whole else [f"sentences ({self.choices.hypothesis})"]
        flavor = [] if self.choices.flavor == APART else [self.choices.flavor]
        return [*flavor, window, *split]

    @property
    def described_choices(self) -> list[tuple[str, str]]:
        window, flavor = self.choices.window, self.choices.flavor
        premise = f"window of {window} sentences" if window else "whole evidence"
        if flavor == APART:
            added_by = f"words that it adds to the question: {HYPOTHESES[self.choices.hypothesis]}"
            return [("Looked for", added_by), ("Looked for in", premise)]
        if QUESTION_IN_PREMISE[flavor]:
            premise += " + question"
        hypothesis = HYPOTHESES[self.choices.hypothesis]
        if QUESTION_IN_HYPOTHESIS[flavor]:
            hypothesis = f"question + {hypothesis}"
        return [("Flavor", flavor), ("Premise", premise), ("Hypothesis", hypothesis)]

    def asked(self, material: ScoringMaterial) -> ScoreRequest | Refused | Assumed:
        """Return the asks about a response, windows first within each hypothesis."""
        if material.says_nothing:
            return Assumed()
        evidence = material.evidence_texts
        if not evidence:
            return _without_evidence(material)
        if material.user_question is None and self.choices.flavor not in (WITHOUT_QUESTION, APART):
            return Refused(NO_DIALOG)
        try:
            question = ask(
                self.choices,
                evidence,
                material.user_question or "",
                material.text,
                material.language,
            )
        except EntailmentError as error:
            return Refused(str(error))
        return ScoreRequest(question.asks, question)

    def scored(self, asked: ScoreRequest, answers: Sequence[Entailment]) -> ResponseScore:
        """Return the score, and for each hypothesis the window that decided."""
        if problem := problem_among(answers):
            return failed(problem)
        question: EntailmentQuestion = asked.context
        if question.adds_nothing:
            return ResponseScore(0.0, details={ADDS_NOTHING: True})
        probabilities = [answer.probability for answer in answers]
        result = verdict(self.choices, question, probabilities)
        n_windows = len(question.windows)
        windows = [
            {
                "sentence": None if self.choices.hypothesis == "whole" else number,
                **_place(question, chosen),
                "probability": float(probabilities[number * n_windows + chosen]),
            }
            for number, chosen in enumerate(result.best)
            if question.windows[chosen].passage is not None
        ]
        n_truncated = sum(answer.is_truncated for answer in answers)
        return ResponseScore(result.score, n_truncated=n_truncated, windows=windows)

    def windows_again(
        self, asked: ScoreRequest, windows: Sequence[Mapping[str, Any]]
    ) -> list[Mapping[str, Any]]:
        return [{**window, **_place(asked.context, window["window"])} for window in windows]


def _place(question: EntailmentQuestion, number: int) -> dict[str, Any]:
    """Return the place of one of a question's windows in its passage."""
    window = question.windows[number]
    return {
        "window": number,
        "passage": window.passage,
        "first": window.first,
        "last": window.last,
        "start": window.start,
        "end": window.end,
    }


def _without_evidence(material: ScoringMaterial) -> Refused | Assumed:
    if material.evidence == EvidenceChoice.RETRIEVED:
        return Refused(NOTHING_FOUND)
    if material.evidence == EvidenceChoice.SHOWN and material.is_evidence_stated:
        return Assumed()
    return Refused(NO_GOLDEN)
