"""A language model as judge of entailment: by the probabilities of its first word, or by it."""

import hashlib
import math
from typing import Any

import pytest

from evaluation.backends.base import LONGEST_SIGNATURE, Entailment
from evaluation.backends.classifier import OBVIOUS, OBVIOUSLY_NOT
from evaluation.backends.judge import judge_of
from evaluation.measures.entailment import Pair
from evaluation.models import MetricRun
from generation.backends.base import Completion, Decoding, Prompt, Token
from generation.backends.huggingface import TransformersLanguageModel
from generation.model_specs import BackendError, ModelSpec
from generation.text.prompts import prompt_text
from tests.evaluation.told_language_model import ToldLanguageModel
from tests.tiny_language_models import tiny_causal

_PAIRS = [OBVIOUS, OBVIOUSLY_NOT]
MILL = Pair("The mill closed in 1971.", "The mill {is} closed.")


def token(**shares: float) -> Token:
    """Return a token whose likely ones have these shares, the first of them taken."""
    top = tuple((text.replace("_", " "), math.log(share)) for text, share in shares.items())
    return Token(*top[0], top)


def said(*tokens: Token) -> Completion:
    return Completion("".join(each.text for each in tokens), tokens=tokens)


YES, NO = said(token(Yes=0.9, No=0.1)), said(token(No=0.8, Yes=0.2))


def told(answer: Completion | str, yes: Completion | str = YES, no: Completion | str = NO):
    """Return a model that passes the test with `yes` and `no`, and then gives this answer."""

    def answered(prompt: Prompt, decoding: Decoding) -> Completion | str:
        if OBVIOUS.hypothesis in prompt.text:
            return yes
        return no if OBVIOUSLY_NOT.hypothesis in prompt.text else answer

    return ToldLanguageModel(answered)


def judged(*model, **more) -> Entailment:
    [found] = judge_of(told(*model, **more)).entailment([MILL])
    return found


# --- by log-probabilities -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        # 0.5 + 0.1 + 0.05 of yes, 0.2 + 0.05 of no, whatever else: 0.65 / 0.9.
        (said(token(Yes=0.5, No=0.2, _yes=0.1, YES=0.05, _no=0.05, Maybe=0.1)), 0.65 / 0.9),
        (said(token(No=0.6, Nobody=0.2)), 0.0),
        # A space first, where the tokenizer makes it a token.
        (said(token(_=0.99), token(No=0.6, Yes=0.2)), 0.25),
        (said(Token("Yes", math.log(0.7))), 1.0),
        # Marks before the word, in their own token or with it, and tokens that are no text.
        (said(token(**{"**": 1.0}), token(No=0.7, Yes=0.3), token(**{"**": 1.0})), 0.3),
        (said(token(**{'"': 1.0}), token(No=0.75, Yes=0.25), token(**{'"': 1.0})), 0.25),
        (said(token(**{'"No"': 0.6, '"Yes"': 0.2})), 0.25),
        (Completion("Yes", tokens=(token(**{"ĠYes": 0.6, "▁no": 0.2}),)), 0.75),
        (Completion("Yes", tokens=(token(**{"<s>": 1.0}), token(Yes=0.8, No=0.2))), 0.8),
        # A label in two tokens before it, whose places do not count.
        (
            said(
                token(An=0.9, No=0.1), token(swer=0.9), token(**{": ": 1}), token(No=0.8, Yes=0.2)
            ),
            0.2,
        ),
    ],
)
def test_the_share_of_yes_among_yes_and_no(answer, expected):
    assert judged(answer).probability == pytest.approx(expected)


def test_two_tokens_that_read_the_same_count_both():
    twice = Token("Yes", math.log(0.3), (("Yes", math.log(0.3)), ("Yes", math.log(0.3))))
    with_no = twice._replace(top=(*twice.top, ("No", math.log(0.2))))

    assert judged(said(with_no)).probability == pytest.approx(0.75)  # 0.6 / 0.8


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (said(token(The=0.9, It=0.1)), "the model's reply is neither Yes nor No: 'The'"),
        # 'I' is no answer, however likely Yes would have been in its place.
        (
            said(token(I=0.6, Yes=0.4), token(_cannot=0.9), token(_tell=0.9)),
            "the model's reply is neither Yes nor No: 'I cannot tell'",
        ),
        (
            said(token(No=0.6, Yes=0.4), token(body=0.9)),
            "the model's reply is neither Yes nor No: 'Nobody'",
        ),
        (
            said(token(Y=0.6, No=0.4), token(es=0.9)),
            "the model's reply has its word in several tokens: 'Yes'",
        ),
        (
            said(token(Yes=0.3, No=0.2, Perhaps=0.2, It=0.2)),
            "Yes and No have 0.500 of the probability, expected more than 0.5: 'Yes'",
        ),
        (
            said(token(Yes=0.6, No=0.4), token(_or=0.9), token(_No=0.9)),
            "the model's reply is neither Yes nor No: 'Yes or No'",
        ),
        (Completion(""), "the model's reply is neither Yes nor No: ''"),
        (Completion("Yes"), "the model gave no log-probabilities this time"),
        (Completion(problem="the server answered 500"), "the server answered 500"),
    ],
)
def test_no_probability_is_a_problem_and_never_a_number(answer, problem):
    found = judged(answer)

    assert math.isnan(found.probability)
    assert found.problem == problem


# --- by its word --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Yes", 1.0),
        (" no.", 0.0),
        ("**YES**, it is", 1.0),
        ("\nNo, never", 0.0),
        ("**Answer:** `No`", 0.0),
        ("- The final verdict is “yes”.", 1.0),
        ("Answer (Yes or No): no", 0.0),
        ("Entailment = Yes\n\nThe text says so.", 1.0),
        ("Yes. There is no doubt about it.", 1.0),
        ("No — it gives 1971", 0.0),
        ("no\u200b", 0.0),
    ],
)
def test_without_log_probabilities_the_word_counts(answer, expected):
    assert judged(answer, yes="Yes", no="No") == Entailment(expected)


@pytest.mark.parametrize(
    ("answer", "quoted"),
    [
        ("Nobody knows", "'Nobody knows'"),
        ("", "''"),
        ("x" * 200, f"'{'x' * 80}'"),
        *(
            (echo, f"'{echo}'")
            for echo in (
                "Yes or No",
                "Yes/No: No",
                "Yes | No",
                "No doubt: Yes",
                "Yes, no",
                "Yes. No.",
                "No. Yes, it is",
                "Answer: Yes and no",
                "No evidence says so",
                "I think yes",
                "Yesterday",
            )
        ),
    ],
)
def test_a_reply_that_is_neither_is_a_problem_with_its_words(answer, quoted):
    found = judged(answer, yes="Yes", no="No")

    assert math.isnan(found.probability)
    assert found.problem == f"the model's reply is neither Yes nor No: {quoted}"


# --- the judge ----------------------------------------------------------------------------------


def test_the_way_it_judges_is_found_out_once_and_stands_in_its_signature():
    by_token, by_word = told("Yes"), told("Yes", yes="Yes.", no="No.")

    digest = hashlib.sha256(prompt_text("entailment").encode()).hexdigest()
    assert judge_of(by_token).signature == f"judge|logprob|v:2|prompt@{digest[:8]}|told"
    assert judge_of(by_word).signature == f"judge|text|v:2|prompt@{digest[:8]}|told"
    assert judge_of(by_word).signature == f"judge|text|v:2|prompt@{digest[:8]}|told"
    assert len(by_word.asked) == 2
    assert judge_of(by_word).device == "cpu"


def test_a_signature_is_as_short_as_runs_keep_it_and_tells_models_apart():
    one, other = told(YES), told(YES)
    one.signature, other.signature = "x" * 99 + "1", "x" * 99 + "2"

    signatures = [judge_of(model).signature for model in (one, other)]

    assert MetricRun._meta.get_field("backend_signature").max_length == LONGEST_SIGNATURE
    assert [len(signature) for signature in signatures] == [LONGEST_SIGNATURE] * 2
    assert signatures[0] != signatures[1]


def test_it_says_of_each_pair_what_it_finds_before_it_goes_on():
    model = told(YES)
    judge = judge_of(model)  # asked about two
    found = iter(judge.entailment([MILL, MILL._replace(hypothesis="It burnt.")]))

    assert next(found).probability == pytest.approx(0.9)
    assert len(model.asked) == 3
    assert len(list(found)) == 1


def test_what_is_asked_has_both_texts_as_they_are():
    model = told(YES)
    list(judge_of(model).entailment([MILL]))

    prompt, decoding = model.asked[-1]
    assert "Text: The mill closed in 1971.\n\nClaim: The mill {is} closed.\n" in prompt.text
    assert not prompt.text.startswith("#")  # the file's source is not part of it
    assert (decoding.temperature, decoding.n_top) == (0.0, 20)


@pytest.mark.parametrize(
    ("yes", "no", "problem"),
    [
        (NO, YES, "0.200 and an obvious non-entailment 0.900; expected the first to be higher"),
        (YES, YES, "0.900 and an obvious non-entailment 0.900"),
        ("No", "Yes", "0.000 and an obvious non-entailment 1.000"),
        ("Yes", "Yes", "1.000 and an obvious non-entailment 1.000"),
        ("Yes", "Perhaps", "cannot judge entailment: the model's reply is neither Yes nor No"),
        (Completion(problem="no answer within 90 s"), NO, "no answer within 90 s"),
    ],
)
def test_a_model_that_cannot_tell_the_obvious_is_refused(yes, no, problem):
    with pytest.raises(BackendError) as caught:
        judge_of(told("Yes", yes, no))

    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_real_model_judges(tmp_path):
    """A tiny one that knows two answers by heart; the numbers are those of its own logits."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    asked = {pair: prompt_text("entailment").format(**pair._asdict()) for pair in _PAIRS}
    folder = tiny_causal(tmp_path, answers={asked[OBVIOUS]: " Yes", asked[OBVIOUSLY_NOT]: " No"})
    judge = judge_of(TransformersLanguageModel(ModelSpec("language-model", location=str(folder))))

    found = list(judge.entailment(_PAIRS))

    model: Any = AutoModelForCausalLM.from_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    words = [tokenizer.encode(word, add_special_tokens=False)[-1] for word in (" Yes", " No")]
    logits = model(torch.tensor([tokenizer(asked[OBVIOUS])["input_ids"]])).logits[0, -1]
    yes, no = logits.softmax(dim=-1)[words].tolist()
    assert judge.signature.endswith("|language-model|plain|context:512|fp32|v:1")
    assert judge.signature.startswith("judge|logprob|")
    assert found[0].probability > 0.99 * yes / (yes + no)  # 'Yes' without a space counts as well
    assert found[1].probability < 0.01
    assert judge.revision
    assert "model.safetensors" in judge.files
