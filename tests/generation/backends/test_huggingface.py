"""Language models run here, against plain transformers code on the same tiny checkpoints."""

import json
import math
import shutil
from pathlib import Path
from typing import Any

import pytest

from generation.backends import checkpoint_loader
from generation.backends.base import Decoding, Prompt, prompt_of_chat
from generation.backends.huggingface import TransformersLanguageModel
from generation.model_specs import BackendError, ModelSpec
from generation.text.chat_messages import Message
from tests.tiny_language_models import (
    CHAT,
    CHAT_IN_TURNS,
    CHAT_THAT_DROPS_SYSTEM,
    CHAT_WITHOUT_SYSTEM,
    tiny_causal,
    tiny_text_to_text,
)
from tests.tiny_models import tiny_checkpoint

PROMPTS = [
    Prompt("Rome"),
    Prompt("The museum opens at nine and closes at six."),
    Prompt("Is it? Yes or no, in one word, please. Answer:"),
    Prompt("Dialog: A: who? Final reply: B: nobody. ###"),
    Prompt("123 "),
]
FAMILIES = ["llama", "gpt2", "t5"]


def opened(folder: Path, **spec: Any) -> TransformersLanguageModel:
    return TransformersLanguageModel(ModelSpec("language-model", location=str(folder), **spec))


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[str, Path]:
    """One random model of each family, which need never end."""
    made = tmp_path_factory.mktemp("language-models")
    return {
        "llama": tiny_causal(made / "llama", context=64, seed=3),
        "gpt2": tiny_causal(made / "gpt2", family="gpt2", context=64, seed=4),
        "t5": tiny_text_to_text(made / "t5", context=64, seed=5),
    }


@pytest.fixture(scope="module")
def models(folders) -> dict[str, TransformersLanguageModel]:
    return {family: opened(folder) for family, folder in folders.items()}


def plainly(folder: Path, prompt: str, max_tokens: int = 8):
    """Return what the transformers library makes of one prompt: new tokens, logits, tokenizer."""
    import torch
    from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

    is_t5 = folder.name == "t5"
    kind: Any = AutoModelForSeq2SeqLM if is_t5 else AutoModelForCausalLM
    model, tokenizer = kind.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    ids = tokenizer(prompt, return_tensors="pt")["input_ids"]
    made = model.generate(
        ids,
        attention_mask=torch.ones_like(ids),
        max_new_tokens=max_tokens,
        do_sample=False,
        return_dict_in_generate=True,
        output_logits=True,
    )
    new = made.sequences[0, 1 if is_t5 else ids.shape[1] :].tolist()
    return new, [logits[0] for logits in made.logits], tokenizer


@pytest.mark.parametrize("family", FAMILIES)
def test_completions_are_those_of_plain_code_one_prompt_at_a_time(family, folders, models):
    found = list(models[family].complete(PROMPTS, Decoding(max_tokens=8)))

    for prompt, completion in zip(PROMPTS, found, strict=True):
        new, _, tokenizer = plainly(folders[family], prompt.text)
        assert completion.text == tokenizer.decode(new, skip_special_tokens=True), prompt
        is_ended = tokenizer.eos_token_id in new
        assert (completion.is_cut, completion.problem) == (not is_ended, "")
        assert completion.n_tokens == len(new) - is_ended
        assert completion.n_prompt_tokens == len(tokenizer(prompt.text)["input_ids"])
    assert len({completion.text for completion in found}) > 2  # there was something to confuse


@pytest.mark.parametrize("family", FAMILIES)
def test_log_probabilities_are_those_of_the_raw_logits(family, folders, models):
    [found] = models[family].complete([PROMPTS[1]], Decoding(max_tokens=4, n_top=3))

    new, logits, tokenizer = plainly(folders[family], PROMPTS[1].text, max_tokens=4)
    assert len(found.tokens) == found.n_tokens > 0
    for token, chosen, at in zip(found.tokens, new, logits, strict=False):
        expected = at.float().log_softmax(dim=-1)
        best = expected.topk(3)
        assert token.text == tokenizer.decode([chosen])
        assert token.log_probability == pytest.approx(expected[chosen].item(), abs=1e-4)
        assert [text for text, _ in token.top] == [tokenizer.decode([i]) for i in best.indices]
        assert [p for _, p in token.top] == pytest.approx(best.values.tolist(), abs=1e-4)


@pytest.mark.parametrize(
    "decoding", [Decoding(max_tokens=8), Decoding(1.3, 0.9, 20, max_tokens=8, seed=7)]
)
@pytest.mark.parametrize("family", FAMILIES)
def test_what_stands_beside_a_prompt_changes_nothing(family, decoding, models):
    together = list(models[family].complete(PROMPTS + PROMPTS[:2], decoding))

    alone = [next(models[family].complete([prompt], decoding)) for prompt in PROMPTS]
    assert together == alone + alone[:2]


def test_small_batches_give_the_same_in_the_same_order(models, monkeypatch):
    model = models["llama"]
    whole = list(model.complete(PROMPTS, Decoding(max_tokens=6)))
    monkeypatch.setattr(model, "_batch_tokens", 40)

    assert list(model.complete(PROMPTS, Decoding(max_tokens=6))) == whole


def test_a_seed_gives_the_same_text_again_and_another_seed_another(models):
    model, draw = models["llama"], Decoding(temperature=1.0, max_tokens=8)

    texts = [next(model.complete(PROMPTS, draw._replace(seed=seed))).text for seed in range(5)]

    assert texts[0] == next(model.complete(PROMPTS, draw)).text
    assert len(set(texts)) > 1
    # Of one token there is nothing to choose.
    greedy = Decoding(max_tokens=8)
    for narrow in (draw._replace(top_p=1e-9), draw._replace(top_k=1)):
        assert list(model.complete(PROMPTS, narrow)) == list(model.complete(PROMPTS, greedy))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_stop_string_ends_a_completion_before_it(family, models):
    model, prompt = models[family], PROMPTS[1]
    [whole] = model.complete([prompt], Decoding(max_tokens=8))
    middle = whole.text[3:5]
    assert len(middle) == 2, whole
    assert whole.n_tokens == 8

    [cut] = model.complete([prompt], Decoding(max_tokens=8, stop=("never said", middle), n_top=1))

    assert cut.text == whole.text[: whole.text.index(middle)]
    assert "".join(token.text for token in cut.tokens).startswith(cut.text)
    assert cut.n_tokens < 8  # nothing was written behind it
    assert not cut.is_cut


def test_a_stop_string_of_one_prompt_does_not_end_its_neighbours(models):
    model = models["llama"]
    whole = list(model.complete(PROMPTS, Decoding(max_tokens=8)))
    stop = (whole[1].text[3:5],)

    found = [each.text for each in model.complete(PROMPTS, Decoding(max_tokens=8, stop=stop))]

    assert found == [each.text.split(stop[0])[0] for each in whole]


def test_a_fitted_model_says_what_it_was_fitted_to_and_ends(tmp_path):
    model = opened(tiny_causal(tmp_path, answers={"Is it?": "Yes", "Was it?": "No"}))

    found = list(model.complete([Prompt("Was it?"), Prompt("Is it?")], Decoding(max_tokens=9)))

    assert [each.text for each in found] == ["No", "Yes"]
    assert [(each.n_tokens, each.is_cut) for each in found] == [(1, False)] * 2


# --- what a model is given --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("template", "form", "given"),
    [
        ("", "plain", "Be brief.\n\nIs it?"),
        (CHAT, "chat", "<system>Be brief.\n<user>Is it?\n<assistant>"),
        (CHAT_WITHOUT_SYSTEM, "chat-of-user", "<user>Be brief.\n\nIs it?\n<assistant>"),
        (CHAT_THAT_DROPS_SYSTEM, "chat-of-user", "<user>Be brief.\n\nIs it?\n<assistant>"),
    ],
)
def test_a_prompt_is_put_in_the_form_that_the_tokenizer_names(template, form, given, tmp_path):
    """The fitted answer follows these very tokens only."""
    model = opened(tiny_causal(tmp_path, answers={given: "Yes"}, chat_template=template))

    [found] = model.complete([Prompt("Is it?", system="Be brief.")], Decoding(max_tokens=4))

    assert found.text == "Yes"
    assert model.signature == f"language-model|{form}|context:512|fp32|v:1"


CHAT_PROMPT = prompt_of_chat(
    [Message("system", "Be brief."), Message("assistant", "Ask."), Message("user", "Is it?")]
)


@pytest.mark.parametrize(
    ("template", "prompt", "given"),
    [
        (CHAT, CHAT_PROMPT, "<system>Be brief.\n<assistant>Ask.\n<user>Is it?\n<assistant>"),
        (
            CHAT_WITHOUT_SYSTEM,
            CHAT_PROMPT,
            "<user>Be brief.\n<assistant>Ask.\n<user>Is it?\n<assistant>",
        ),
        (
            CHAT_IN_TURNS,
            CHAT_PROMPT,
            "<system>Be brief.\n<user>\n<assistant>Ask.\n<user>Is it?\n<assistant>",
        ),
    ],
    ids=["system", "no system", "in turns"],
)
def test_a_chat_is_put_in_the_words_of_the_template(template, prompt, given, tmp_path):
    model = opened(tiny_causal(tmp_path, answers={given: "Yes"}, chat_template=template))

    [found] = model.complete([prompt], Decoding(max_tokens=4))

    assert found.text == "Yes"


def test_a_text_to_continue_is_no_message_for_a_chat_model_either(tmp_path):
    """Both models have the same weights, and continue the text in the same way."""
    plain = opened(tiny_causal(tmp_path / "plain"))
    chat = opened(tiny_causal(tmp_path / "chat", chat_template=CHAT))
    decoding = Decoding(max_tokens=6)

    [expected] = plain.complete([Prompt("Rome is")], decoding)
    [found] = chat.complete([Prompt("Rome is", kind="continued")], decoding)

    assert (found.text, found.n_prompt_tokens) == (expected.text, expected.n_prompt_tokens)


def test_a_model_without_a_chat_template_refuses_a_chat(models):
    with pytest.raises(BackendError, match="found no chat template"):
        list(models["llama"].complete([CHAT_PROMPT], Decoding()))


def test_a_prompt_that_does_not_fit_has_a_problem_and_its_neighbour_an_answer(models):
    long = Prompt("Yes" * 44)  # one token each, and one at the start

    found, other = models["llama"].complete([long, PROMPTS[0]], Decoding(max_tokens=20))

    assert found.n_prompt_tokens == 45
    assert found.problem == (
        "the prompt has 45 tokens and the model reads 64, of which 20 are for its answer"
    )
    assert (found.text, found.tokens) == ("", ())
    assert other.text
    assert other.problem == ""


def test_a_model_from_text_to_text_reads_as_much_as_it_can_whatever_it_writes(models):
    fits, longer = Prompt("Yes" * 63), Prompt("Yes" * 64)  # one token each, and one at the end

    found = list(models["t5"].complete([fits, longer], Decoding(max_tokens=20)))

    assert [each.n_prompt_tokens for each in found] == [64, 65]
    assert [each.problem for each in found] == [
        "",
        "the prompt has 65 tokens and the model reads 64",
    ]


def test_half_precision_shows_in_the_signature(folders):
    model = opened(folders["llama"], precision="bf16")

    assert model.signature == "language-model|plain|context:64|bf16|v:1"
    assert next(model.complete(PROMPTS, Decoding(max_tokens=4))).n_tokens


def test_what_a_checkpoint_wants_of_generation_is_left_out(folders, models, tmp_path):
    """Else the same decoding would mean another thing with each model."""
    folder = shutil.copytree(folders["llama"], tmp_path / "penalised")
    settings = folder / "generation_config.json"
    own = json.loads(settings.read_text())
    settings.write_text(json.dumps(own | {"repetition_penalty": 9.0, "do_sample": True}))

    again = opened(folder)

    greedy = Decoding(max_tokens=8)
    assert list(again.complete(PROMPTS, greedy)) == list(models["llama"].complete(PROMPTS, greedy))


def test_where_memory_does_for_one_prompt_only_all_are_answered(models, monkeypatch):
    import torch

    model = models["llama"]
    generated, expected = model._generated, list(model.complete(PROMPTS, Decoding(max_tokens=4)))
    tried = []

    def tight(batch, decoding):
        tried.append(len(batch))
        if len(batch) > 1 or batch[0].prompt == PROMPTS[0]:
            raise torch.OutOfMemoryError
        return generated(batch, decoding)

    monkeypatch.setattr(model, "_generated", tight)
    first, *others = model.complete(PROMPTS, Decoding(max_tokens=4))

    assert others == expected[1:]
    assert first.problem == f"the memory does not do for a prompt of {first.n_prompt_tokens} tokens"
    assert sorted(tried) == [1] * 5 + [2, 2, 3, 5]


# --- what is no model -------------------------------------------------------------------------


def test_files_and_revision_are_said(folders, models):
    model = models["llama"]

    assert set(model.files) >= {"config.json", "model.safetensors", "tokenizer.json"}
    assert len(model.revision) == 16
    assert model.revision != models["gpt2"].revision
    assert model.device == "cpu" or model.device.startswith("cuda: ")


def refused(folder: Path) -> str:
    with pytest.raises(BackendError) as caught:
        opened(folder)
    said = str(caught.value)
    assert "\n" not in said
    return said


def test_a_model_of_another_kind_is_refused(tmp_path):
    said = refused(tiny_checkpoint(tmp_path))

    assert "found BertForSequenceClassification; expected a language model" in said


def test_a_missing_model_is_refused(tmp_path):
    assert "found nothing" in refused(tmp_path / "gone")


def test_a_model_that_is_too_large_for_memory_is_refused(folders, monkeypatch):
    monkeypatch.setattr(checkpoint_loader, "free_memory", lambda: 1000)

    assert "too large for the memory" in refused(folders["llama"])


def test_half_a_download_is_refused(folders, tmp_path):
    folder = shutil.copytree(folders["llama"], tmp_path / "half")
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1000])

    assert "as its header says" in refused(folder)


def test_a_tokenizer_that_does_not_fit_is_refused(folders, tmp_path):
    """Its numbers go beyond the words that the model has."""
    folder = tiny_causal(tmp_path / "model")
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    vocabulary = tokenizer["model"]["vocab"]
    tokenizer["model"]["vocab"] = {
        word: number + 1000 if len(word) == 1 else number for word, number in vocabulary.items()
    }
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))

    assert "does not answer a test" in refused(folder)


def test_weights_that_are_no_numbers_are_refused(tmp_path):
    from safetensors.torch import load_file, save_file

    weights = tiny_causal(tmp_path) / "model.safetensors"
    tensors = load_file(weights)
    tensors["lm_head.weight"].fill_(math.nan)
    save_file(tensors, weights, {"format": "pt"})

    assert "gave no numbers" in refused(tmp_path)
