"""The model that answers with a sentence of its prompt, and does as the prompt says."""

import math
from collections import Counter

import pytest

from generation.backends.base import Decoding, Prompt
from generation.backends.registry import open_language_model
from generation.model_specs import ModelSpec
from generation.records import TurnRecord
from generation.text.dialog_forms import reply_text
from generation.text.dialog_prompts import PromptParts, build_prompt
from generation.text.native_reading import read_demonstration
from generation.text.prompts import prompt_text
from tests.generation.mill import MILL, TURNS

GREEDY = Decoding(max_tokens=50, stop=("[eot]",))
MODEL = open_language_model(ModelSpec("extractive", "extractive"))


def completion(prompt: str, decoding: Decoding = GREEDY):
    [found] = MODEL.complete([Prompt(prompt)], decoding)
    return found


def answer(decoding: Decoding = GREEDY, **parts) -> str:
    prompt = build_prompt(PromptParts(**{"turns": TURNS, **parts})).text
    return reply_text(completion(prompt, decoding).text, "native")


# --- without a temperature ------------------------------------------------------------------


def test_the_sentence_that_shares_most_with_the_question_is_the_answer():
    # 'When did the mill close?' shares 'mill' with the first, 'mill' and 'close' with the second.
    facts = ("A mill stood here. The mill had to close in 1971.",)

    assert answer(facts=facts) == "The mill had to close in 1971."


def test_of_sentences_that_tie_one_about_the_dialog_wins_and_then_the_first():
    # Each shares 'mill'; the second also 'monks' and '1200' of the turns before.
    facts = ("A mill stood here.", "Monks had a mill in 1200.", "Another mill burnt down.")

    assert answer(facts=facts) == "Monks had a mill in 1200."
    assert answer(facts=(facts[0], facts[2])) == "A mill stood here."


def test_without_evidence_it_can_only_echo_the_dialog():
    # Of 'Who built the mill?' and 'Monks did, in 1200.' the first shares 'mill'.
    assert answer() == "Who built the mill?"
    assert answer(turns=(TurnRecord("user", "Who built the mill?", -1),)) == "Who built the mill."


def test_without_a_dialog_it_gives_the_first_sentence_of_the_facts():
    assert answer(turns=(), facts=(MILL,)) == "Mill wheels stopped in 1971."


def test_a_demonstration_is_no_evidence():
    assert answer(facts=(MILL,), demonstration=read_demonstration(prompt_text("one_shot"))) == (
        "Mill wheels stopped in 1971."
    )


def test_whatever_is_no_dialog_is_answered_with_its_first_sentence():
    assert completion("Is it so? Answer yes or no.").text.strip() == "Is it so?"
    assert completion("").text.strip() == ""


# --- with a temperature ---------------------------------------------------------------------

# With 'mill' and 'close', with 'mill', with neither; the turns before share nothing but 'mill',
# built and so on, which the last two of these do not have.
FACTS = ("The mill had to close.", "A mill stood.", "Bread was baked.")


def drawn(n: int, **choices) -> Counter[str]:
    parts = {name: choices.pop(name) for name in ("instructions", "turns") if name in choices}
    decoding = GREEDY._replace(temperature=1.0, **choices)
    return Counter(answer(decoding._replace(seed=seed), facts=FACTS, **parts) for seed in range(n))


def test_the_same_seed_draws_the_same_answer():
    warm = GREEDY._replace(temperature=1.0, seed=7)

    assert len({answer(warm, facts=FACTS) for _ in range(5)}) == 1
    assert len(drawn(40)) > 1


def test_sentences_are_drawn_by_softmax_of_the_words_shared():
    # One turn, so that nothing is shared with earlier ones: weights 2, 1 and 0.
    question = (TurnRecord("user", "When did the mill close?", -1),)
    total = math.exp(2) + math.exp(1) + 1
    n = 2000

    found = drawn(n, turns=question)

    for sentence, weight in zip(FACTS, (2, 1, 0), strict=True):
        # Three standard deviations of a share near one half are 0.034.
        assert found[sentence] / n == pytest.approx(math.exp(weight) / total, abs=0.034)


def test_top_k_and_top_p_keep_the_likeliest_sentences():
    question = (TurnRecord("user", "When did the mill close?", -1),)

    assert set(drawn(60, turns=question, top_k=2)) == set(FACTS[:2])
    # The best has e² of e² + e + 1: .665; with the second .91.
    assert set(drawn(60, turns=question, top_p=0.6)) == {FACTS[0]}
    assert set(drawn(60, turns=question, top_p=0.9)) == set(FACTS[:2])


def test_instructions_keep_it_to_the_facts():
    told = drawn(60, instructions=prompt_text("instructions"))

    assert set(told) <= set(FACTS)
    assert "Who built the mill?" in drawn(60)  # a turn of the dialog


# --- what it says of itself -----------------------------------------------------------------


def test_a_completion_is_as_long_as_it_may_be_and_says_so():
    short = completion("0 -1 0 Who? [eot]\n1 0 1", GREEDY._replace(max_tokens=1))
    whole = completion("0 -1 0 Who built it? [eot]\n1 0 1")

    assert (short.text, short.is_cut, short.n_tokens) == ("Who", True, 1)
    # 'Who built it .'; the prompt: '0 - 1 0', four tokens, '[ eot ]', '1 0 1'.
    assert (reply_text(whole.text, "native"), whole.is_cut, whole.n_tokens) == (
        "Who built it.",
        False,
        4,
    )
    assert whole.n_prompt_tokens == 4 + 4 + 3 + 3


def test_it_needs_no_files_and_tells_its_version():
    assert (MODEL.signature, MODEL.revision, MODEL.files, MODEL.device) == (
        "extractive|v:1",
        "",
        {},
        "cpu",
    )
