"""The controls of metrics: texts of which the right label is known, made from a run's own targets.

A metric declares its controls. A *floor* and a text that says *nothing* are wrong, so that a metric
should call them no; a *top* is right, so that it should call it yes.
"""

from collections.abc import Sequence
from functools import partial

from evaluation.measures.control_texts import (
    FORMS,
    in_random_order,
    saying_nothing,
    sentence_among,
)
from evaluation.metrics.base import Control, MadeControl, ScoringMaterial
from evaluation.models import ControlScore
from generation.text.sentences import split_sentences

FLOOR, TOP, NOTHING = ControlScore.Kind


# --- evidence -------------------------------------------------------------------------------


def _with_evidence_of(
    own: ScoringMaterial, other: ScoringMaterial, draw: int
) -> MadeControl | None:
    """Return a response with the evidence of another dialog."""
    if own.says_nothing:
        return None
    return MadeControl(own._replace(passages=other.passages, evidence_graph=other.judged_graph))


def _shares_no_evidence(own: ScoringMaterial, other: ScoringMaterial) -> bool:
    if not other.evidence_texts:
        return False
    texts = {passage.text for passage in own.passages}
    return texts.isdisjoint(passage.text for passage in other.passages) and set(
        own.judged_graph
    ).isdisjoint(other.judged_graph)


def _evidence_itself(own: ScoringMaterial, other: ScoringMaterial, draw: int) -> MadeControl | None:
    """Return a sentence of the evidence as the response to its question."""
    text = sentence_among([passage.text for passage in own.evidence_texts], draw, own.language)
    return MadeControl(own._replace(text=text)) if text else None


def _nothing(
    own: ScoringMaterial, other: ScoringMaterial, draw: int, forms: Sequence[str] = FORMS
) -> MadeControl:
    """Return a text that says nothing as the response."""
    text, form = saying_nothing(own.text, own.user_question or "", draw, forms, own.language)
    return MadeControl(own._replace(text=text), form)


def _nothing_beside_evidence(
    own: ScoringMaterial, other: ScoringMaterial, draw: int
) -> MadeControl | None:
    return _nothing(own, other, draw) if own.evidence_texts else None


OTHER_EVIDENCE = Control(
    FLOOR,
    "Wrong evidence",
    "the response with the evidence of another dialog",
    _with_evidence_of,
    "the response is empty",
    _shares_no_evidence,
)
EVIDENCE_ITSELF = Control(
    TOP,
    "The evidence itself",
    "a sentence of the evidence as the response",
    _evidence_itself,
    "the evidence has no sentence of four words",
)
NO_STATEMENT = Control(
    NOTHING,
    "Nothing said",
    "a response that says nothing, with the evidence",
    _nothing_beside_evidence,
    "there is no evidence",
)
OF_EVIDENCE = (OTHER_EVIDENCE, EVIDENCE_ITSELF, NO_STATEMENT)


# --- replies --------------------------------------------------------------------------------


def _with_text_of(own: ScoringMaterial, other: ScoringMaterial, draw: int) -> MadeControl:
    """Return the response of another dialog as the response to this one."""
    return MadeControl(own._replace(text=other.text))


def _says_something_else(own: ScoringMaterial, other: ScoringMaterial) -> bool:
    return not other.says_nothing and other.text.strip() != own.text.strip()


def _golden_answer(own: ScoringMaterial, other: ScoringMaterial, draw: int) -> MadeControl | None:
    return MadeControl(own._replace(text=own.golden_answer)) if own.golden_answer.strip() else None


OTHER_REPLY = Control(
    FLOOR,
    "Another response",
    "the response of another dialog",
    _with_text_of,
    "",
    _says_something_else,
)
GOLDEN_ANSWER = Control(
    TOP,
    "Golden answer",
    "the golden answer as the response",
    _golden_answer,
    "its example has no golden answer",
)
# 'I do not know.' is a sensible reply, but says nothing specific.
NO_SENSE = Control(
    NOTHING,
    "Nothing said",
    "a response that says nothing",
    partial(_nothing, forms=("numbers", "question", "cut")),
    "",
)
NOTHING_SPECIFIC = Control(NOTHING, "Nothing said", "a response that says nothing", _nothing, "")


# --- text quality ---------------------------------------------------------------------------


def _sentences_mixed(own: ScoringMaterial, other: ScoringMaterial, draw: int) -> MadeControl | None:
    sentences = [sentence.text for sentence in split_sentences(own.text, own.language)]
    text = in_random_order(sentences, draw)
    return MadeControl(own._replace(text=text)) if text else None


def _words_mixed(own: ScoringMaterial, other: ScoringMaterial, draw: int) -> MadeControl | None:
    text = in_random_order(own.text.split(), draw)
    return MadeControl(own._replace(text=text)) if text else None


MIXED_SENTENCES = Control(
    FLOOR,
    "Sentences in random order",
    "the sentences of the response in random order",
    _sentences_mixed,
    "the response has one sentence only",
)
MIXED_WORDS = Control(
    FLOOR,
    "Words in random order",
    "the words of the response in random order",
    _words_mixed,
    "the response has one word only",
)


# --- citations ------------------------------------------------------------------------------


def _with_claim_of(own: ScoringMaterial, other: ScoringMaterial, draw: int) -> MadeControl | None:
    """Return a sentence with what a citation of another dialog claims."""
    if own.citation is None or other.citation is None:
        return None
    claim = other.citation
    cited = own.citation._replace(qid=claim.qid, relation=claim.relation, value=claim.value)
    return MadeControl(own._replace(citation=cited))


def _claims_something_else(own: ScoringMaterial, other: ScoringMaterial) -> bool:
    here, there = own.citation, other.citation
    if here is None or there is None or not there.is_complete:
        return False
    return (here.relation, here.value) != (there.relation, there.value)


def _claim_itself(own: ScoringMaterial, other: ScoringMaterial, draw: int) -> MadeControl | None:
    """Return the citation in a sentence that says what it claims."""
    if own.citation is None or not own.citation.is_complete:
        return None
    said = f"Its {own.citation.relation} is {own.citation.value}."
    return MadeControl(own._replace(citation=own.citation._replace(sentence=said)))


def _nothing_cited(own: ScoringMaterial, other: ScoringMaterial, draw: int) -> MadeControl | None:
    """Return the citation in a sentence that says nothing."""
    if own.citation is None:
        return None
    text, form = saying_nothing(own.citation.sentence, own.user_question or "", draw)
    return MadeControl(own._replace(citation=own.citation._replace(sentence=text)), form)


UNKNOWN_CLAIM = "it is not known what the citation claims"
OF_CITATIONS = (
    Control(
        FLOOR,
        "Another claim",
        "the sentence with the claim of another dialog",
        _with_claim_of,
        UNKNOWN_CLAIM,
        _claims_something_else,
    ),
    Control(
        TOP, "The claim itself", "the claim itself as the sentence", _claim_itself, UNKNOWN_CLAIM
    ),
    Control(NOTHING, "Nothing said", "a sentence that says nothing", _nothing_cited, UNKNOWN_CLAIM),
)
