"""Entailment from text to text in TRUE's manner: a real T5, made small in the test."""

import math
import shutil

import pytest
import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

from evaluation.backends.pair_model import OBVIOUS, OBVIOUSLY_NOT
from evaluation.backends.registry import BACKENDS, open_backend
from evaluation.backends.seq2seq import Seq2SeqClassifier
from evaluation.measures.entailment import Pair
from generation.model_specs import BackendError, ModelSpec
from tests.tiny_models import tiny_checkpoint
from tests.tiny_seq2seq import ONE, SPACE, tiny_t5

MAX_TOKENS = 128
NO_ROOM = "the response leaves no room for evidence in 128 tokens: split it into sentences"
MANY = [
    Pair(f"on day {n} the museum opens at {n % 12}. " + "it is big. " * (n % 3), "it opens. " * k)
    for n in range(20)
    for k in (1, 2)
]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    return tiny_t5(tmp_path_factory.mktemp("tiny-t5"), max_tokens=MAX_TOKENS)


@pytest.fixture(scope="module")
def judge(checkpoint):
    return Seq2SeqClassifier(spec(checkpoint))


def spec(folder, precision="fp32"):
    return ModelSpec("seq2seq", location=str(folder), precision=precision)


def refusal(folder):
    with pytest.raises(BackendError) as refused:
        Seq2SeqClassifier(spec(folder))
    assert str(refused.value).startswith(f"{folder}: ")
    assert "\n" not in str(refused.value)
    return str(refused.value)


@pytest.fixture(scope="module")
def plain(checkpoint):
    return Plain(checkpoint)


class Plain:
    """The checkpoint in plain transformers code, one pair at a time."""

    def __init__(self, folder):
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.model = AutoModelForSeq2SeqLM.from_pretrained(folder).eval()

    def asked(self, pair):
        text = f"premise: {pair.premise} hypothesis: {pair.hypothesis}"
        return self.tokenizer(text)["input_ids"]

    def pieces(self, text):
        return self.tokenizer(text, add_special_tokens=False)["input_ids"]

    def first_step(self, ids):
        """Return p(1) against p(first piece of 0), as `generate` scores its first token."""
        found = self.model.generate(
            torch.tensor([ids]),
            max_new_tokens=1,
            do_sample=False,
            num_beams=1,
            output_scores=True,
            return_dict_in_generate=True,
        )
        one, zero = (self.tokenizer.convert_tokens_to_ids(piece) for piece in (ONE, SPACE))
        return float(found.scores[0][0, [one, zero]].softmax(-1)[0])


def test_probabilities_are_those_of_the_first_token_that_generate_gives(plain, judge):
    found = judge.entailment(MANY)

    expected = [plain.first_step(plain.asked(pair)) for pair in MANY]
    assert [each.probability for each in found] == pytest.approx(expected, abs=1e-5)
    assert len({round(each.probability, 4) for each in found}) > 20  # the answers do differ
    assert not any(each.is_truncated or each.problem for each in found)
    assert judge.signature == "seq2seq|true|max_tokens:128|fp32|v:1"
    assert judge.device == "cpu" or judge.device.startswith("cuda: ")
    assert len(judge.revision) == 16
    assert "model.safetensors" in judge.files


def test_one_is_one_piece_and_zero_begins_with_another_as_in_the_real_t5(plain, judge):
    assert plain.tokenizer.tokenize("1") == [ONE]
    assert plain.tokenizer.tokenize("0") == [SPACE, "0"]
    yes, no = judge.entailment([OBVIOUS, OBVIOUSLY_NOT])
    # Fitted so that the logit of `1` is that of `0` ± 2: 1 / (1 + e⁻²) and 1 / (1 + e²).
    assert (yes.probability, no.probability) == pytest.approx((0.881, 0.119), abs=1e-3)


def test_a_long_premise_is_cut_at_its_end_and_the_hypothesis_never(plain, judge):
    # A letter by itself is two pieces, the space and itself; 'a' is a word of its own here.
    cut, fits = Pair("a " * 300, "b " * 20), Pair("a " * 10, "b " * 20)

    of_cut, of_fits = judge.entailment([cut, fits])

    hypothesis = plain.pieces("hypothesis: " + "b " * 20)
    room = MAX_TOKENS - len(hypothesis) - 1  # 1 is for </s>
    premise = plain.pieces("premise: " + "a " * 300)[:room]
    ids = [*premise, *hypothesis, plain.tokenizer.eos_token_id]
    assert len(ids) == MAX_TOKENS
    assert of_cut.probability == pytest.approx(plain.first_step(ids), abs=1e-5)
    assert (of_cut.is_truncated, of_fits.is_truncated) == (True, False)


def test_a_hypothesis_that_leaves_no_room_is_a_problem_and_no_number(judge):
    found = judge.entailment([Pair("a " * 50, "b " * 200), OBVIOUS])

    assert [each.problem for each in found] == [NO_ROOM, ""]
    assert [math.isnan(each.probability) for each in found] == [True, False]


def test_bf16_shows_in_the_signature_and_stays_near(checkpoint, judge):
    found = Seq2SeqClassifier(spec(checkpoint, "bf16"))

    assert found.signature == "seq2seq|true|max_tokens:128|bf16|v:1"
    near = [each.probability for each in judge.entailment(MANY)]
    assert [each.probability for each in found.entailment(MANY)] == pytest.approx(near, abs=0.25)
    assert "bf16" in BACKENDS["seq2seq"].precisions


def test_answers_the_wrong_way_round_are_refused_loudly(tmp_path):
    tiny_t5(tmp_path, is_reversed=True)

    assert "gives an obvious entailment 0.119 and an obvious non-entailment 0.881" in refusal(
        tmp_path
    )


def test_a_tokenizer_that_does_not_know_1_is_refused(tmp_path):
    tiny_t5(tmp_path, is_one_known=False)

    assert "the tokenizer makes 2 tokens of '1'; expected one that it knows" in refusal(tmp_path)


def test_a_classifier_is_no_model_from_text_to_text(tmp_path):
    tiny_checkpoint(tmp_path)

    assert "cannot be loaded" in refusal(tmp_path)


def test_a_pair_may_be_tokenised_whole_where_parts_would_differ(checkpoint, judge, monkeypatch):
    expected = [each.probability for each in judge.entailment(MANY)]
    monkeypatch.setattr(judge, "_joins", False)

    assert [each.probability for each in judge.entailment(MANY)] == pytest.approx(expected)


def test_the_registry_opens_it(checkpoint, tmp_path):
    copy = shutil.copytree(checkpoint, tmp_path / "copy")

    assert isinstance(open_backend(spec(copy)), Seq2SeqClassifier)
