"""A language model as a judge of entailment: our own prompt asks it for Yes or No."""

import hashlib
import math
import re
from collections.abc import Iterator, Sequence
from weakref import WeakKeyDictionary

from evaluation.backends.base import LONGEST_SIGNATURE, Entailment, EntailmentBackend
from evaluation.backends.classifier import OBVIOUS, OBVIOUSLY_NOT
from evaluation.measures.entailment import Pair
from evaluation.measures.labelled_replies import MARKS, labelled_value
from generation.backends.base import (
    Completion,
    Decoding,
    LanguageModel,
    Prompt,
    Token,
    probability_of,
)
from generation.backends.reasoning import THINKING_SIGNATURE, THINKING_TOKENS
from generation.model_specs import BackendError
from generation.text.prompts import prompt_text

YES, NO = "yes", "no"
LONGEST_QUOTE = 80  # characters of a reply that cannot be read
LEAST_MASS = 0.5  # probability of Yes and No together; with less, the word was said by chance
VERSION = 2  # version of the decoding and of the rules for reading replies
# Some models begin with a space, a line break or a mark, so the word may be a later token.
_DECODING = Decoding(max_tokens=5 + THINKING_TOKENS, n_top=20)
_SPECIAL = re.compile(r"<[^<>]*>")  # a token that stands for no text: '<s>', '<|channel|>'
_AT_ITS_ENDS = re.compile(r"^[\W_ĠĊ]+|[\W_]+$")  # 'Ġ' and 'Ċ' are white space in some tokenizers
_MARKS = re.compile(r"[\W_ĠĊ]+")
_NAMES = ("entailment", "entailed", "conclusion")
_CHOICE = r"\(\s*yes\s*(?:/|or)\s*no\s*\)"  # 'Answer (Yes or No): No'
# After the word comes a mark or a line break, and then whatever the model says about it.
_REST = rf"(?: [{MARKS}]{{0,12}} | [{MARKS}]{{0,12}}? (?:[.,;:!…\n—–]|\s-\s) .* )"
_END_OF_SENTENCE = re.compile(r"[.!?\n]")
_BARE_NO = re.compile(r"\bno\b(?!\s+\w)")  # not the first word of 'no doubt'


# Whether each model gives log-probabilities, as found when it was tested. The references are weak,
# so that a large model is not kept in memory when no other code uses it. A judge is cheap to make
# again.
_TESTED: WeakKeyDictionary[LanguageModel, bool] = WeakKeyDictionary()


def judge_of(model: LanguageModel) -> EntailmentBackend:
    """Return a judge that asks this model. A model is tested the first time.

    Raises:
        BackendError: the model cannot distinguish an obvious entailment from an obvious
            non-entailment.
    """
    tested = getattr(model, "itself", model)  # the model under one that only counts its calls
    if tested not in _TESTED:
        _TESTED[tested] = _gives_probabilities(model)
    return Judge(model, _TESTED[tested])


class Judge:
    """A judge of entailment by the word Yes or No of a language model.

    Its answer is P(Yes) / (P(Yes) + P(No)) if the model gives log-probabilities, else 1 or 0.
    """

    def __init__(self, model: LanguageModel, gives_probabilities: bool) -> None:
        self._model = model
        self._read = _by_token if gives_probabilities else _by_word
        mode = "logprob" if gives_probabilities else "text"
        prompt = hashlib.sha256(prompt_text("entailment").encode()).hexdigest()[:8]
        self.signature = _signed(
            f"judge|{mode}|v:{VERSION}|prompt@{prompt}{THINKING_SIGNATURE}|", model.signature
        )
        self.revision, self.files, self.device = model.revision, model.files, model.device

    def entailment(self, pairs: Sequence[Pair]) -> Iterator[Entailment]:
        """Yield P(entailment) for each pair, in the same order, when its reply arrives."""
        return map(self._read, _replies(self._model, pairs))


def _gives_probabilities(model: LanguageModel) -> bool:
    """Ask a model about two plain pairs, and return whether it gave log-probabilities.

    Raises:
        BackendError: a reply cannot be read, or the answers are not in the expected order.
    """
    replies = list(_replies(model, [OBVIOUS, OBVIOUSLY_NOT]))
    has_probabilities = all(reply.tokens for reply in replies)
    yes, no = map(_by_token if has_probabilities else _by_word, replies)
    if problem := yes.problem or no.problem:
        raise BackendError(f"The language model cannot judge entailment: {problem}")
    if not yes.probability > no.probability:
        raise BackendError(
            f"The language model gives an obvious entailment {yes.probability:.3f} and an obvious "
            f"non-entailment {no.probability:.3f}; expected the first to be higher"
        )
    return has_probabilities


def _replies(model: LanguageModel, pairs: Sequence[Pair]) -> Iterator[Completion]:
    question = prompt_text("entailment")
    prompts = [Prompt(question.format(**pair._asdict())) for pair in pairs]
    return model.complete(prompts, _DECODING)


def _by_token(reply: Completion) -> Entailment:
    """Return P(Yes) against P(No) at the token that holds the reply's word."""
    if reply.problem:
        return _failed(reply.problem)
    found = _first_word(reply.text)
    if found is None:
        return _unreadable(reply)
    if not reply.tokens:
        return _failed("the model gave no log-probabilities this time")
    token = _token_at(found.start("value"), reply)
    if token is None or _word(token.text) != found["value"].lower():
        return _failed(f"the model's reply has its word in several tokens: {_quoted(reply)}")
    shares = _shares(token)
    mass = sum(shares.values())
    if mass <= LEAST_MASS:
        return _failed(
            f"Yes and No have {mass:.3f} of the probability, expected more than {LEAST_MASS}: "
            f"{_quoted(reply)}"
        )
    return Entailment(shares[YES] / mass)


def _by_word(reply: Completion) -> Entailment:
    """Return 1 for a reply that is Yes and 0 for one that is No."""
    if reply.problem:
        return _failed(reply.problem)
    found = _first_word(reply.text)
    if found is None:
        return _unreadable(reply)
    return Entailment(float(found["value"].lower() == YES))


def _shares(token: Token) -> dict[str, float]:
    """Return the probabilities of Yes and No at a token, each added up over ' Yes', 'yes' etc."""
    shares = {YES: 0.0, NO: 0.0}
    top = token.top
    if token.text not in {text for text, _ in top}:
        top = (*top, (token.text, token.log_probability))
    for text, log_probability in top:
        word = _word(text)
        if word in shares:
            shares[word] += probability_of(log_probability)
    return shares


def _first_word(text: str) -> re.Match[str] | None:
    """Return the match of the reply's word; None if the reply is not just Yes or No.

    A label may be before the word, marks may be around it, and a closing sentence may follow:
    '**Answer:** No. The text gives another year.' A reply that says the other word too has none:
    'Yes/No: No', 'Yes. No.', 'Yes, but no'. The 'no' of 'Yes. There is no doubt.' is no such word.
    """
    found = labelled_value(text, f"{YES}|{NO}", names=_NAMES, scale=_CHOICE, rest=_REST)
    if not found:
        return None
    rest = found["rest"].lower()
    own, *_ = _END_OF_SENTENCE.split(rest, maxsplit=1)
    other = NO if found["value"].lower() == YES else YES
    says_other = re.search(rf"\b{other}\b", own if other == NO else rest)
    return None if says_other or (other == NO and _BARE_NO.search(rest)) else found


def _token_at(place: int, reply: Completion) -> Token | None:
    """Return the token with the first letters of a reply from `place` on; None without one."""
    before = _MARKS.sub("", reply.text[:place])
    for token in reply.tokens:
        letters = "" if _SPECIAL.fullmatch(token.text.strip()) else _MARKS.sub("", token.text)
        if not before.startswith(letters):
            return token if not before else None
        before = before.removeprefix(letters)
    return None


def _word(token: str) -> str:
    """Return the word of a token, without the marks around it; "" for a special token."""
    return "" if _SPECIAL.fullmatch(token.strip()) else _AT_ITS_ENDS.sub("", token).lower()


def _signed(judge: str, model: str) -> str:
    """Return the signature of a judge; if the model's is too long, a digest replaces its end."""
    room = LONGEST_SIGNATURE - len(judge)
    if len(model) <= room:
        return judge + model
    return f"{judge}{model[: room - 9]}~{hashlib.sha256(model.encode()).hexdigest()[:8]}"


def _unreadable(reply: Completion) -> Entailment:
    return _failed(f"the model's reply is neither Yes nor No: {_quoted(reply)}")


def _quoted(reply: Completion) -> str:
    return repr(reply.text[:LONGEST_QUOTE])


def _failed(problem: str) -> Entailment:
    return Entailment(math.nan, problem=problem)
