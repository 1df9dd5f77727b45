"""Checkpoints of the transformers library: real ones, made small in the test."""

import csv
import json
import math
import os
import shutil
import subprocess
import sys

import pytest
import torch
from sklearn.metrics import accuracy_score, roc_auc_score
from transformers import AutoModelForSequenceClassification, AutoTokenizer, BertConfig, BertModel

from evaluation.backends.classifier import OBVIOUS, OBVIOUSLY_NOT, SequenceClassifier
from evaluation.backends.registry import open_backend
from evaluation.measures.entailment import Pair
from generation.model_specs import BackendError, ModelSpec
from tests.tiny_models import replace_by_untrained, tiny_checkpoint

MAX_TOKENS = 128
FEVER_LABELS = ("REFUTES", "NOT ENOUGH INFO", "SUPPORTS")
NO_ROOM = "the response leaves no room for evidence in 128 tokens: split it into sentences"


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    return tiny_checkpoint(tmp_path_factory.mktemp("tiny"), max_tokens=MAX_TOKENS)


@pytest.fixture(scope="module")
def classifier(checkpoint):
    return SequenceClassifier(spec(checkpoint))


@pytest.fixture
def own_copy(checkpoint, tmp_path):
    """Return a copy of the checkpoint that the test may spoil."""
    return shutil.copytree(checkpoint, tmp_path / "copy")


def spec(folder, entailment_index=None):
    return ModelSpec("transformers", location=str(folder), entailment_index=entailment_index)


def one_at_a_time(folder, pairs, entailment=1):
    """Return P(entailment) as plain transformers code gives it, without batch or padding."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    found = []
    for pair in pairs:
        encoded = tokenizer(*pair, return_token_type_ids=True, return_tensors="pt")
        with torch.no_grad():
            found.append(float(model(**encoded).logits[0].softmax(-1)[entailment]))
    return found


def probabilities(classifier, pairs):
    return [found.probability for found in classifier.entailment(pairs)]


def refusal(folder, *index):
    """Return why a checkpoint is refused; it is one line that begins with where."""
    with pytest.raises(BackendError) as refused:
        SequenceClassifier(spec(folder, *index))
    assert str(refused.value).startswith(f"{folder}: ")
    assert "\n" not in str(refused.value)
    return str(refused.value)


# Probabilities

MANY = [
    Pair(f"On day {n} the museum opens at {n % 12}. " + "It is large. " * (n % 7), "It opens. " * k)
    for n in range(60)
    for k in (1, 3, 6)
]


def test_batches_give_what_one_pair_at_a_time_gives(checkpoint, classifier):
    found = classifier.entailment(MANY)

    assert [each.probability for each in found] == pytest.approx(
        one_at_a_time(checkpoint, MANY), abs=1e-5
    )
    assert not any(each.is_truncated or each.problem for each in found)
    assert len({round(each.probability, 5) for each in found}) > 100  # the answers do differ


def test_answers_come_in_the_order_of_the_questions_also_of_repeated_ones(classifier):
    pairs = [MANY[5], OBVIOUS, MANY[170], OBVIOUS, OBVIOUSLY_NOT, MANY[5]]

    found = probabilities(classifier, pairs)

    assert found == pytest.approx(
        [classifier.entailment([p])[0].probability for p in pairs], abs=1e-5
    )
    assert found[0] == found[5]
    assert found[1] == found[3] > found[4]
    assert classifier.entailment([]) == []


@pytest.mark.parametrize("family", ["roberta", "distilbert"])
def test_models_without_token_types_are_asked_without_them(family, own_copy):
    replace_by_untrained(family, own_copy)
    tokenizer = AutoTokenizer.from_pretrained(own_copy)
    model = AutoModelForSequenceClassification.from_pretrained(own_copy).eval()

    # Untrained, its answer to the two plain pairs is a matter of luck: one index is right.
    classifier, index = either_way_round(own_copy)

    [found] = classifier.entailment([MANY[9]])
    encoded = tokenizer(*MANY[9], return_token_type_ids=False, return_tensors="pt")
    with torch.no_grad():
        either = model(**encoded).logits[0].softmax(-1).tolist()
    assert found.probability == pytest.approx(either[index], abs=1e-5)
    # Two of 130 positions are RoBERTa's padding.
    assert f"max_tokens:{128 if family == 'roberta' else 130}|" in classifier.signature


def either_way_round(folder):
    try:
        return SequenceClassifier(spec(folder, 1)), 1
    except BackendError:
        return SequenceClassifier(spec(folder, 0)), 0


# Long pairs


def ids_by_hand(folder, pair, n_premise):
    """Return [CLS] + the premise's first tokens + [SEP] + the whole hypothesis + [SEP]."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    premise = tokenizer(pair.premise, add_special_tokens=False)["input_ids"][:n_premise]
    hypothesis = tokenizer(pair.hypothesis, add_special_tokens=False)["input_ids"]
    cls, sep = tokenizer.cls_token_id, tokenizer.sep_token_id
    ids = [cls, *premise, sep, *hypothesis, sep]
    types = [0] * (len(premise) + 2) + [1] * (len(hypothesis) + 1)
    return torch.tensor([ids]), torch.tensor([types])


def test_a_long_premise_is_cut_at_its_end_and_the_hypothesis_never(checkpoint, classifier):
    # 'a' is one token: 300 + 20 + 3 special ones; 105 of the premise's have room in 128.
    cut = Pair("9 " + "a " * 299, "b " * 20)
    fits = Pair("9 " + "a " * 104, "b " * 20)

    of_cut, of_fits = classifier.entailment([cut, fits])

    ids, types = ids_by_hand(checkpoint, cut, n_premise=105)
    assert ids.shape == (1, MAX_TOKENS)
    model = AutoModelForSequenceClassification.from_pretrained(checkpoint).eval()
    with torch.no_grad():
        expected = float(model(ids, token_type_ids=types).logits[0].softmax(-1)[1])
    assert of_cut.probability == pytest.approx(expected, abs=1e-5)
    assert of_fits.probability == pytest.approx(expected, abs=1e-5)
    assert (of_cut.is_truncated, of_fits.is_truncated) == (True, False)


def test_a_hypothesis_that_leaves_no_room_is_a_problem_and_no_number(classifier):
    # 128 − 3 special tokens − 117 leave the premise 8.
    eight, seven = Pair("a " * 50, "b " * 117), Pair("a " * 50, "b " * 118)
    short_but_whole, none = Pair("a " * 7, "b " * 118), Pair("a", "b " * 500)

    found = classifier.entailment([eight, seven, short_but_whole, none, OBVIOUS])

    assert [each.problem for each in found] == ["", NO_ROOM, "", NO_ROOM, ""]
    assert [math.isnan(each.probability) for each in found] == [False, True, False, True, False]
    assert [each.is_truncated for each in found] == [True, False, False, False, False]


# Labels


@pytest.mark.parametrize(
    ("labels", "entailment"),
    [
        (("contradiction", "neutral", "entailment"), 2),
        (("entailment", "neutral", "contradiction"), 0),
        (("Contradict", "Entailed", "Neutral"), 1),
        (FEVER_LABELS, 2),
        (("unsupported", "Supported"), 1),
    ],
)
def test_entailment_is_found_by_name_wherever_it_stands(labels, entailment, tmp_path):
    tiny_checkpoint(tmp_path, labels=labels, entailment=entailment)

    found = probabilities(SequenceClassifier(spec(tmp_path)), MANY[:3])

    assert found == pytest.approx(one_at_a_time(tmp_path, MANY[:3], entailment), abs=1e-5)


def test_labels_without_names_are_refused_unless_the_index_is_stated(tmp_path):
    tiny_checkpoint(tmp_path, labels=("LABEL_0", "LABEL_1"), entailment=0)

    assert "labels 0: LABEL_0, 1: LABEL_1; expected one that begins with" in refusal(tmp_path)
    found = probabilities(SequenceClassifier(spec(tmp_path, 0)), MANY[:3])
    assert found == pytest.approx(one_at_a_time(tmp_path, MANY[:3], 0), abs=1e-5)


def test_a_stated_index_must_exist_and_not_contradict_the_names(checkpoint, tmp_path):
    tiny_checkpoint(tmp_path, labels=("LABEL_0", "LABEL_1"))

    assert "expected one that means entailment as 2" in refusal(tmp_path, 2)
    assert "1: entailment; expected one that means entailment as 0" in refusal(checkpoint, 0)
    assert SequenceClassifier(spec(checkpoint, 1)).revision


def test_two_labels_for_entailment_are_refused(tmp_path):
    tiny_checkpoint(tmp_path, labels=("entails", "supports"))

    assert "labels 0: entails, 1: supports; expected one" in refusal(tmp_path)


def test_one_output_is_no_choice(tmp_path):
    tiny_checkpoint(tmp_path, labels=("entailment",), entailment=0)

    assert "labels 0: entailment; expected two or more" in refusal(tmp_path)


def test_labels_the_wrong_way_round_are_refused_loudly(tmp_path):
    tiny_checkpoint(tmp_path / "reversed", is_reversed=True)
    tiny_checkpoint(tmp_path / "unnamed", labels=("LABEL_0", "LABEL_1"), entailment=1)

    for folder, index in [(tmp_path / "reversed", None), (tmp_path / "unnamed", 0)]:
        # Logits −2 and 0, so that P = 1 / (1 + e²) = 0.119 and 1 / (1 + e⁻²) = 0.881.
        assert "gives an obvious entailment 0.119 and an obvious non-entailment 0.881" in refusal(
            folder, index
        )


# What is no checkpoint


def test_a_place_without_a_checkpoint_is_refused_with_what_is_there(tmp_path, own_copy):
    file = tmp_path / "model.safetensors"
    file.touch()
    empty = tmp_path / "empty"
    empty.mkdir()
    (own_copy / "model.safetensors").rename(own_copy / "pytorch_model.bin")

    assert "found nothing; expected a folder with config.json" in refusal(tmp_path / "no")
    assert "found a file; expected a folder with config.json" in refusal(file)
    assert "a folder without config.json" in refusal(empty)
    assert "expected weights as .safetensors" in refusal(own_copy)
    with pytest.raises(BackendError, match="Found no model; expected a folder"):
        open_backend(ModelSpec("transformers"))


def test_half_a_download_is_refused(own_copy):
    weights = own_copy / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1000])

    assert "as its header says" in refusal(own_copy)


def test_a_pointer_in_place_of_weights_is_refused(own_copy):
    (own_copy / "model.safetensors").write_text("version https://git-lfs.github.com/spec/v1\n")

    assert "found a git-lfs pointer of 43 bytes" in refusal(own_copy)


def test_a_checkpoint_without_its_tokenizer_is_refused(own_copy):
    for file in own_copy.glob("tokenizer*"):
        file.unlink()

    assert "a tokenizer that knows no words" in refusal(own_copy)


def test_a_model_that_is_no_classifier_is_refused(own_copy):
    BertModel.from_pretrained(own_copy).save_pretrained(own_copy)

    assert "no fitting weights for classifier.bias, classifier.weight" in refusal(own_copy)


def test_weights_of_another_size_are_refused(own_copy):
    config = BertConfig.from_pretrained(own_copy)
    config.intermediate_size = 48
    config.save_pretrained(own_copy)

    assert "no fitting weights for bert.encoder.layer" in refusal(own_copy)


def test_a_tokenizer_with_more_words_than_the_model_is_refused(own_copy):
    model = AutoModelForSequenceClassification.from_pretrained(own_copy)
    model.resize_token_embeddings(50)
    model.save_pretrained(own_copy)

    assert "does not answer a test: index out of range" in refusal(own_copy)


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ("{", "config.json: found no JSON"),
        ("{}", "the model cannot be loaded. Are its files complete?"),
        ('{"model_type": "no-such"}', "the model cannot be loaded. Are its files complete?"),
        ("[]", "config.json: found []; expected an object"),
    ],
)
def test_a_config_that_says_nothing_is_refused(config, said, own_copy):
    (own_copy / "config.json").write_text(config)

    assert said in refusal(own_copy)


def test_code_that_comes_with_a_checkpoint_is_not_run(own_copy, tmp_path):
    config = json.loads((own_copy / "config.json").read_text())
    config |= {
        "model_type": "own",
        "auto_map": {
            "AutoConfig": "own.OwnConfig",
            "AutoModelForSequenceClassification": "own.OwnModel",
        },
    }
    (own_copy / "config.json").write_text(json.dumps(config))
    (own_copy / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")

    refusal(own_copy)

    assert not (tmp_path / "ran").exists()


# Revision and registry


def test_the_revision_changes_with_weights_tokenizer_and_config_and_with_nothing_else(own_copy):
    def revision():
        return SequenceClassifier(spec(own_copy)).revision

    first = revision()
    assert len(first) == 16
    (own_copy / "README.md").write_text("new")
    assert revision() == first

    seen = {first}
    for name in ("config.json", "tokenizer_config.json"):
        content = json.loads((own_copy / name).read_text())
        (own_copy / name).write_text(json.dumps(content | {"note": 1}))
        seen.add(revision())
    tiny_checkpoint(own_copy, seed=1)
    seen.add(revision())
    assert len(seen) == 4


def test_a_model_stays_open_under_its_location_and_index(checkpoint):
    first = open_backend(spec(checkpoint))

    assert open_backend(spec(checkpoint)) is first
    assert open_backend(spec(checkpoint, 1)) is not first
    assert first.signature == "transformers|max_tokens:128|fp32|v:1"


HUB = """
import sys
from evaluation.backends.registry import open_backend
from generation.model_specs import BackendError, ModelSpec
print(open_backend(ModelSpec("transformers", location="attest/tiny")).revision)
try:
    open_backend(ModelSpec("transformers", location="attest/not-there"))
except BackendError as exc:
    print(exc)
"""


def test_a_name_is_looked_up_on_the_hub_and_its_revision_is_the_commit(checkpoint, tmp_path):
    # What a download leaves behind, so that no network is needed.
    commit = "0123456789abcdef0123456789abcdef01234567"
    repository = tmp_path / "hub" / "models--attest--tiny"
    shutil.copytree(checkpoint, repository / "snapshots" / commit)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(commit)

    done = subprocess.run(
        [sys.executable, "-c", HUB],
        env=os.environ | {"HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert done.returncode == 0, done.stderr
    revision, error = done.stdout.splitlines()
    assert revision == commit
    assert error.startswith("attest/not-there: there is no such folder here, and the Hugging")


# A model that understands something

SENSIBLE = [
    (1, "The museum opens at nine and closes at six.", "The museum closes at six."),
    (1, "Marie Curie was born in Warsaw in 1867.", "Marie Curie was born in Warsaw."),
    (1, "Two children are kicking a ball in the park.", "Children are playing outside."),
    (1, "The bridge, built in 1932, crosses the harbour.", "The bridge was built in 1932."),
    (0, "The museum opens at nine and closes at six.", "The museum is closed all day."),
    (0, "Marie Curie was born in Warsaw in 1867.", "Marie Curie never left Argentina."),
    (0, "Two children are kicking a ball in the park.", "The children are asleep in bed."),
    (0, "The bridge, built in 1932, crosses the harbour.", "A tunnel was dug under the river."),
]


@pytest.fixture
def minilm(shared):
    folder = shared / "models" / "entailment-minilm"
    if not folder.is_dir():
        pytest.skip("no entailment-minilm among the real data")
    return open_backend(spec(folder))


@pytest.mark.models
def test_a_real_checkpoint_tells_what_follows_from_what_does_not(minilm):
    found = probabilities(minilm, [Pair(*texts) for _, *texts in SENSIBLE])

    follows = [p for p, (label, *_) in zip(found, SENSIBLE, strict=True) if label]
    not_so = [p for p, (label, *_) in zip(found, SENSIBLE, strict=True) if not label]
    in_order = sum(yes > no for yes in follows for no in not_so)
    assert in_order >= 15  # 15 of 4 × 4 pairs: an AUC above 0.9
    assert minilm.signature == "transformers|max_tokens:512|fp32|v:1"
    [long] = minilm.entailment([Pair("The sky is blue. " * 300, "The sky is blue.")])
    assert long.is_truncated


@pytest.mark.models
def test_a_real_checkpoint_gives_the_figures_that_were_published_with_it(minilm, shared):
    # BEGIN, Wizard of Wikipedia, 430 pairs: the README beside the checkpoint has accuracy 0.805
    # and AUC 0.880; 'a product figure may differ in the second decimal'.
    with (shared / "data" / "begin" / "begin_dev_wow.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    is_attributable = [row["begin_label"] == "Fully attributable" for row in rows]

    found = probabilities(minilm, [Pair(row["knowledge"], row["response"]) for row in rows])

    assert len(rows) == 430
    labels = [probability > 0.5 for probability in found]
    assert accuracy_score(is_attributable, labels) == pytest.approx(0.805, abs=0.01)
    assert roc_auc_score(is_attributable, found) == pytest.approx(0.880, abs=0.01)
