"""Alignment: whether a sentence says what a citation in it claims (KaLMA, 4.3)."""

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.backends.base import Entailment
from evaluation.measures.alignment import pair_of
from evaluation.metrics.base import (
    Assumed,
    Refused,
    ResponseScore,
    ScoreRequest,
    ScoringMaterial,
    failed,
)
from evaluation.metrics.controls import OF_CITATIONS
from evaluation.metrics.pair_metric import PairMetric, has_words, problem_among

UNKNOWN = "it is not known what the citation claims"


@dataclass(frozen=True)
class AlignmentMetric(PairMetric):
    """The probability that a sentence, without its citations, entails one cited triple."""

    key = "alignment"
    title = "Alignment"
    lede = "Whether each sentence says what a citation in it claims: a score from 0 to 1 for each."
    family = "Citations"
    judges = "citations"
    assumed_when = "it stands in no sentence"
    controls = OF_CITATIONS

    @property
    def described_choices(self) -> list[tuple[str, str]]:
        return [("Premise", "the sentence without citations"), ("Hypothesis", "relation: value")]

    def asked(self, material: ScoringMaterial) -> ScoreRequest | Refused | Assumed:
        """Return the pair of sentence and triple. Nothing is asked if the sentence has no words."""
        cited = material.citation
        if cited is None or not cited.is_complete:
            return Refused(UNKNOWN)
        if not has_words(cited.sentence):
            return Assumed()
        return ScoreRequest([pair_of(cited.sentence, cited.relation, cited.value)])

    def scored(self, asked: ScoreRequest, answers: Sequence[Entailment]) -> ResponseScore:
        """Return the probability as the score."""
        if problem := problem_among(answers):
            return failed(problem)
        [answer] = answers
        return ResponseScore(float(answer.probability), n_truncated=int(answer.is_truncated))
