"""[NA]: whether an answer admits what was removed from its graph (KaLMA, 4.4)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from evaluation.backends.base import Entailment, EntailmentBackend
from evaluation.measures.alignment import hypothesis
from evaluation.measures.entailment import Pair
from evaluation.measures.incompetence import Best, absent_knowledge, best_of, pairs_of
from evaluation.metrics.base import (
    Assumed,
    Refused,
    ResponseScore,
    ScoreRequest,
    ScoringMaterial,
    failed,
)
from evaluation.metrics.pair_metric import PairMetric, has_words, problem_among
from generation.text.citations import parse_citations
from generation.text.cited_vocabulary import Vocabulary
from generation.text.flat_graph import Triple

NOT_KNOWN = "it is not known what was removed"
NOTHING_REMOVED = "nothing was removed from its graph"


class _AnswerParts(NamedTuple):
    """The parts of one answer's pairs: its sentences with [NA], and the removed triples."""

    na_sentences: Sequence[str]
    absent: Sequence[Triple]


@dataclass(frozen=True)
class IncompetenceMetric(PairMetric):
    """The probability that sentences with [NA] are about the triples that were removed.

    The score of a response is the mean, over removed triples, of the highest probability that a
    sentence with [NA] entails the triple. If probabilities are 0 or 1, this is the recall. The
    score needs no threshold; the report counts precision, recall and F1 from `details`, at the
    run's threshold. A bracket without words beside it is about nothing, so its pairs have a
    probability of 0 without asking. `details` holds:

        na_sentences: [{"text": the sentence, "probability": the highest of any removed triple}]
        removed: [{"text": "relation: value", "probability": the highest of any such sentence}]
    """

    key = "incompetence"
    title = "[NA]"
    lede = "Whether sentences marked [NA] are about what was removed from the graph: 0 to 1."
    family = "Citations"
    assumed_when = "no sentence has [NA]"
    needs_removed = True

    @property
    def described_choices(self) -> list[tuple[str, str]]:
        return [
            ("Premise", "each sentence with [NA], without citations"),
            ("Hypothesis", "relation: value of each triple removed from the graph"),
            ("Score", "mean, over removed triples, of their highest probability"),
        ]

    def asked(self, material: ScoringMaterial) -> ScoreRequest | Refused | Assumed:
        """Return all pairs of a sentence with [NA] and a removed triple."""
        if material.removed is None:
            return Refused(NOT_KNOWN)
        absent = absent_knowledge(material.removed)
        if not absent:
            return Refused(NOTHING_REMOVED)
        parsed = parse_citations(material.text, *Vocabulary.of(material.graph))
        about = _AnswerParts(parsed.na_sentences, absent)
        pairs = pairs_of(*about)
        if not any(has_words(pair.premise) for pair in pairs):
            nothing = best_of(np.zeros(len(pairs)), len(about.na_sentences), len(absent))
            return Assumed(_details(about, nothing))
        return ScoreRequest(pairs, about)

    def answers(self, backend: EntailmentBackend, asks: Sequence[Pair]) -> Iterable[Entailment]:
        """Yield the backend's answer to each pair; 0 if the sentence has no words."""
        asked = [pair for pair in asks if has_words(pair.premise)]
        found = iter(super().answers(backend, asked)) if asked else iter(())
        for pair in asks:
            yield next(found) if has_words(pair.premise) else Entailment(0.0)

    def scored(self, asked: ScoreRequest, answers: Sequence[Entailment]) -> ResponseScore:
        """Return the score, with the highest probability of each sentence and each triple."""
        if problem := problem_among(answers):
            return failed(problem)
        about: _AnswerParts = asked.context
        probabilities = [answer.probability for answer in answers]
        best = best_of(probabilities, len(about.na_sentences), len(about.absent))
        return ResponseScore(
            float(np.mean(best.of_removed)),
            n_truncated=sum(answer.is_truncated for answer in answers),
            details=_details(about, best),
        )


def _details(about: _AnswerParts, best: Best) -> dict[str, Any]:
    triples = [hypothesis(relation, value) for _, relation, value in about.absent]
    return {
        "na_sentences": _listed(about.na_sentences, best.of_sentences.tolist()),
        "removed": _listed(triples, best.of_removed.tolist()),
    }


def _listed(texts: Sequence[str], probabilities: Sequence[float]) -> list[dict[str, Any]]:
    return [
        {"text": text, "probability": probability}
        for text, probability in zip(texts, probabilities, strict=True)
    ]
