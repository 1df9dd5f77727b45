"""Precision, memory and speed of sequence classifiers: none changes what they say."""

import hashlib

import pytest
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer
from transformers.models.bert.modeling_bert import BertPooler

from evaluation.backends.classifier import SequenceClassifier
from evaluation.measures.entailment import Pair
from generation.backends import faster_layers
from generation.backends.faster_layers import _on_onednn
from generation.model_specs import BackendError, ModelSpec
from tests.tiny_models import tiny_checkpoint

MAX_TOKENS = 128
MANY = [
    Pair(f"On day {n} the museum opens at {n % 12}. " + "It is large. " * (n % 7), "It opens. " * k)
    for n in range(20)
    for k in (1, 3, 6)
]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    return tiny_checkpoint(tmp_path_factory.mktemp("tiny"), max_tokens=MAX_TOKENS)


@pytest.fixture(scope="module")
def classifier(checkpoint):
    return SequenceClassifier(spec(checkpoint))


def spec(folder):
    return ModelSpec("transformers", location=str(folder))


def one_at_a_time(folder, pairs):
    """Return P(entailment) as plain transformers code gives it, without batch or padding."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    found = []
    for pair in pairs:
        encoded = tokenizer(*pair, return_token_type_ids=True, return_tensors="pt")
        with torch.no_grad():
            found.append(float(model(**encoded).logits[0].softmax(-1)[1]))
    return found


def probabilities(classifier, pairs):
    return [found.probability for found in classifier.entailment(pairs)]


def test_bf16_shows_in_the_signature_and_stays_near(checkpoint, classifier):
    found = SequenceClassifier(spec(checkpoint)._replace(precision="bf16"))

    assert found.signature == "transformers|max_tokens:128|bf16|v:1"
    expected, near = probabilities(classifier, MANY), probabilities(found, MANY)
    changes = [abs(a - b) for a, b in zip(expected, near, strict=True)]
    # A model with weights as wide as its is the worst case: trained ones change by some 0.001.
    assert 0 < sum(changes) / len(changes) < 0.05
    with pytest.raises(BackendError, match="the precision int8; expected fp32 or bf16"):
        SequenceClassifier(spec(checkpoint)._replace(precision="int8"))


def test_the_device_and_the_hash_of_each_file_are_told(checkpoint, classifier):
    weights = (checkpoint / "model.safetensors").read_bytes()

    assert classifier.device == "cpu" or classifier.device.startswith("cuda: ")
    assert classifier.files["model.safetensors"] == hashlib.sha256(weights).hexdigest()
    assert set(classifier.files) >= {"config.json", "tokenizer.json", "tokenizer_config.json"}


def test_joined_tokens_are_those_of_pairs_and_pairs_are_asked_where_they_are_not(
    classifier, monkeypatch
):
    long = Pair("9 " + "a " * 299, "b " * 20)
    assert classifier._joins
    expected = classifier.entailment([*MANY, long])

    monkeypatch.setattr(classifier, "_joins", False)

    assert classifier.entailment([*MANY, long]) == expected


def test_layers_on_onednn_give_what_the_layers_gave(classifier, checkpoint):
    layers = [layer for layer in classifier._model.modules() if type(layer) is torch.nn.Linear]

    if classifier.device != "cpu" or not torch.backends.mkldnn.is_available():
        pytest.skip("only on a processor that oneDNN knows")
    assert layers
    assert all(layer.weight.device.type == "meta" for layer in layers)
    assert probabilities(classifier, MANY[:9]) == pytest.approx(
        one_at_a_time(checkpoint, MANY[:9]), abs=1e-5
    )


def test_a_model_that_looks_at_its_weights_itself_is_asked_as_it_came(checkpoint, monkeypatch):
    def forward(self, hidden):
        return torch.tanh(hidden[:, 0] @ self.dense.weight.T + self.dense.bias)

    monkeypatch.setattr(BertPooler, "forward", forward)

    found = SequenceClassifier(spec(checkpoint))

    assert found._model.bert.pooler.dense.weight.device.type != "meta"
    assert probabilities(found, MANY[:9]) == pytest.approx(
        one_at_a_time(checkpoint, MANY[:9]), abs=1e-5
    )


def test_without_memory_for_a_batch_half_of_it_is_asked(checkpoint, monkeypatch):
    found = SequenceClassifier(spec(checkpoint))
    expected = probabilities(found, MANY)
    ask, sizes = found._probabilities, []

    def asked(inputs):
        sizes.append(inputs["input_ids"].numel())
        if sizes[-1] > 300:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return ask(inputs)

    monkeypatch.setattr(found, "_probabilities", asked)

    assert probabilities(found, MANY) == pytest.approx(expected, abs=1e-5)
    assert max(sizes) > 300
    assert sum(size > 300 for size in sizes) <= 3


def test_without_memory_for_one_pair_the_model_cannot_be_used(checkpoint, monkeypatch):
    def asked(inputs):
        raise torch.OutOfMemoryError("CUDA out of memory.")

    found = SequenceClassifier(spec(checkpoint))
    monkeypatch.setattr(found, "_probabilities", asked)

    with pytest.raises(BackendError, match="one pair of 128 tokens does not fit into memory"):
        found.entailment([Pair("a " * 300, "b")])


def test_without_pytorch_s_private_operators_the_layers_stay_as_they_came(checkpoint, monkeypatch):
    changed: list[object] = []

    def gone_half_way(layer):
        if changed:
            raise AttributeError("'_OpNamespace' 'mkldnn' has no attribute '_linear_pointwise'")
        changed.append(layer)
        return _on_onednn(layer)

    monkeypatch.setattr(faster_layers, "_on_onednn", gone_half_way)
    found = SequenceClassifier(spec(checkpoint))

    layers = [layer for layer in found._model.modules() if type(layer) is torch.nn.Linear]
    assert all(layer.weight.device.type != "meta" for layer in layers)
    expected = one_at_a_time(checkpoint, MANY[:9])
    assert probabilities(found, MANY[:9]) == pytest.approx(expected, abs=1e-5)
