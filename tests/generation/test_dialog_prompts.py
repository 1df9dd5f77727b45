"""Prompts of all types against files written by hand, and what a budget leaves of them."""

import pytest

from generation.records import TurnRecord
from generation.text.dialog_prompts import (
    BudgetError,
    Demonstration,
    PromptParts,
    build_prompt,
    demonstration_lines,
    prompt_lines,
)
from generation.text.native_dialog import native_dialog, newest
from generation.text.native_reading import read_demonstration
from generation.text.prompt_types import TWELVE, prompt_type
from generation.text.prompts import prompt_text
from generation.text.tokens import count_tokens
from tests.generation.mill import BREAD, FLOOD, MILL, STRIKE, TURNS, WIND, written
from tests.generation.test_prompts import paper

FACTS = {
    "no-evidence": (),
    "golden": (MILL,),
    "golden-instructions": (MILL,),
    "retrieved-2": (FLOOD, MILL),
    "retrieved-3": (FLOOD, STRIKE, MILL),
    "retrieved-2-instructions": (FLOOD, MILL),
    "retrieved-3-instructions": (FLOOD, STRIKE, MILL),
    "one-shot": (MILL,),
    "no-history-no-evidence": (),
    "no-history-golden": (MILL,),
    "random": (BREAD,),
    "next-best": (FLOOD,),
    "top-3": (FLOOD, STRIKE, WIND),
}
# Words and marks of the files' lines, counted by hand.
# '0 - 1 0' + 5 + '[ eot ]', '1 0 1' + 6 + '[ eot ]', '2 1 0' + 6 + '[ eot ]', '3 2 1'
N_TURNS = 12 + 12 + 12 + 3
N_QUESTION = 13 + 3  # '0 - 1 0' + 6 + 3 | '1 0 1'
N_MILL = 2 + 6 + 4  # 'Fact :' and two sentences
N_OTHER = 2 + 8 + 1  # one sentence of eight words
N_INSTRUCTIONS = 15
THREE = PromptParts(TURNS, (FLOOD, STRIKE, MILL))  # 39 + 11 + 11 + 12 = 73 tokens


def parts_of(key, position="before-dialog"):
    kind = prompt_type(key)
    return PromptParts(
        TURNS if kind.has_history else newest(TURNS, 1),
        FACTS[key],
        prompt_text("instructions") if kind.has_instructions else "",
        read_demonstration(prompt_text("one_shot")) if kind.is_one_shot else None,
        position,
    )


# --- the types ------------------------------------------------------------------------------


@pytest.mark.parametrize("key", FACTS)
def test_a_prompt_of_each_type_is_as_written_by_hand(key):
    assert build_prompt(parts_of(key)).text == written(key)


def test_every_one_of_the_twelve_types_is_written():
    assert {kind.key for kind in TWELVE} == FACTS.keys() - {"top-3"}


def test_the_prompt_of_the_paper_is_what_its_parts_make():
    text = paper("003_e6980c69f71442db.txt")
    printed = text.partition("The full prompt might look something like this: ")[2]
    printed = printed.partition(" To better understand the impact")[0]
    fact = printed.partition(" Fact: ")[2].partition(" 0 -1 0 ")[0]
    turns = (
        TurnRecord("user", "When did Alan Kulwicki start racing?", -1),
        TurnRecord("assistant", "Kulwicki began his racing career as a 13-year-old kart racer.", 0),
        TurnRecord("user", "Was Alan Kulwicki able to race cars at the young age of 13?", 1),
    )

    built = build_prompt(PromptParts(turns, (fact,), prompt_text("instructions")))

    # Its last parent is read as a slip: the dialog is linear.
    assert " ".join(built.text.split()) == printed.removesuffix("3 0 1") + "3 2 1"
    facts, question, answer = prompt_text("one_shot").splitlines()
    assert facts == f"Fact: {fact.removesuffix(' (truncated)')}"
    shown = Demonstration(turns[:1], (facts.removeprefix("Fact: "),), turns[1].text)
    assert demonstration_lines(shown, "before-dialog", "native") == [facts, question, answer]


def test_evidence_may_stand_just_before_the_last_turn():
    assert build_prompt(parts_of("retrieved-2-instructions", "before-last-turn")).text == (
        "Instructions: use the information from the provided “fact” to answer the question\n"
        "0 -1 0 Who built the mill? [eot]\n"
        "1 0 1 Monks did, in 1200. [eot]\n"
        "Fact: One flood made every mill close for weeks.\n"
        "Fact: Mill wheels stopped in 1971. Visitors came later.\n"
        "2 1 0 When did the mill close? [eot]\n"
        "3 2 1"
    )


def test_with_one_turn_or_none_both_places_of_evidence_are_the_same():
    assert (
        build_prompt(parts_of("no-history-golden", "before-last-turn")).text
        == build_prompt(parts_of("no-history-golden")).text
    )
    assert build_prompt(PromptParts((), ("A.",), position="before-last-turn")).text == (
        "Fact: A.\n0 -1 1"
    )


def test_a_demonstration_has_its_evidence_in_the_same_place_and_its_answer():
    shown = Demonstration(TURNS, ("A.", "B."), "In 1971.")

    assert demonstration_lines(shown, "before-last-turn", "native") == [
        "0 -1 0 Who built the mill? [eot]",
        "1 0 1 Monks did, in 1200. [eot]",
        "Fact: A.",
        "Fact: B.",
        "2 1 0 When did the mill close? [eot]",
        "3 2 1 In 1971. [eot]",
    ]


def test_a_fact_is_one_line_whatever_it_holds():
    fact = "Racing\n\nFact: no.\n0 -1 0 Who? [eot]"

    assert build_prompt(PromptParts((), (fact,))).text == (
        "Fact: Racing Fact: no. 0 -1 0 Who? (eot)\n0 -1 1"
    )


# --- sizes ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "dialog", "evidence", "instructions"),
    [
        ("no-evidence", N_TURNS, 0, 0),
        ("golden", N_TURNS, N_MILL, 0),
        ("retrieved-3-instructions", N_TURNS, 2 * N_OTHER + N_MILL, N_INSTRUCTIONS),
        ("no-history-golden", N_QUESTION, N_MILL, 0),
    ],
)
def test_the_tokens_of_the_parts_are_those_of_the_whole(key, dialog, evidence, instructions):
    built = build_prompt(parts_of(key))

    sizes = (built.n_dialog_tokens, built.n_evidence_tokens, built.n_instruction_tokens)
    assert sizes == (dialog, evidence, instructions)
    assert built.n_tokens == sum(sizes) == count_tokens(written(key))
    assert (built.n_turns_left_out, built.n_sentences_left_out) == (0, 0)


def test_a_demonstration_counts_with_the_instructions():
    built = build_prompt(parts_of("one-shot"))

    assert built.n_instruction_tokens == count_tokens(prompt_text("one_shot"))
    assert (built.n_dialog_tokens, built.n_evidence_tokens) == (N_TURNS, N_MILL)
    assert built.n_tokens == count_tokens(built.text)


# --- a budget -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("budget", "n_tokens", "n_sentences", "n_turns"),
    [
        (73, 73, 0, 0),
        (72, 69, 1, 0),  # 'Visitors came later.' is cut
        (69, 69, 1, 0),
        # 30 of evidence stay. Without the first turn: '0 - 1 1' + 6 + 3, '1 0 0' + 6 + 3, '2 1 1'.
        (68, 30 + 28, 1, 1),
        (57, 30 + N_QUESTION, 1, 2),
        (46, 46, 1, 2),
    ],
)
def test_evidence_is_shortened_and_then_the_oldest_turns_go(budget, n_tokens, n_sentences, n_turns):
    built = build_prompt(THREE, budget)

    assert built.n_tokens == count_tokens(built.text) == n_tokens
    assert built.text.count("Fact: ") == 3
    assert (built.n_sentences_left_out, built.n_turns_left_out) == (n_sentences, n_turns)
    assert "When did the mill close?" in built.text


def test_the_turns_that_are_left_are_counted_from_0_again():
    assert build_prompt(THREE._replace(facts=(FLOOD,)), 49).text == (
        "Fact: One flood made every mill close for weeks.\n"
        "0 -1 1 Monks did, in 1200. [eot]\n"
        "1 0 0 When did the mill close? [eot]\n"
        "2 1 1"
    )


def test_a_sentence_is_never_cut():
    built = build_prompt(PromptParts(TURNS, (MILL,)), N_TURNS + N_MILL - 1)

    assert built.text.startswith("Fact: Mill wheels stopped in 1971.\n0 -1 0 ")


def test_the_longest_fact_is_shortened_first():
    # 'Fact :' + 5 + 6 and 'Fact :' + 3 + 2; then 'Fact :' + 5, no longer than the other's 7.
    long, short = "One two three four. Five six seven eight nine.", "Ten eleven. Twelve."

    def facts_within(n_tokens: int) -> list[str]:
        built = build_prompt(PromptParts(TURNS, (long, short)), N_TURNS + n_tokens)
        return built.text.splitlines()[:2]

    assert facts_within(19) == ["Fact: One two three four.", f"Fact: {short}"]
    assert facts_within(13) == ["Fact: One two three four.", "Fact: Ten eleven."]


def test_what_does_not_fit_at_all_is_an_error_with_the_counts():
    with pytest.raises(BudgetError) as error:
        build_prompt(THREE._replace(instructions=prompt_text("instructions")), 60)

    assert str(error.value) == (
        "61 tokens where all is left out that may be (dialog 16, evidence 30, instructions 15); "
        "expected at most 60"
    )


def test_instructions_and_demonstration_are_never_cut():
    parts = parts_of("one-shot")._replace(instructions=prompt_text("instructions"))
    n_fixed = N_INSTRUCTIONS + count_tokens(prompt_text("one_shot"))

    built = build_prompt(parts, n_fixed + N_TURNS + 8)

    assert built.text.startswith(f"{prompt_text('instructions')}\n{prompt_text('one_shot')}\n\n")
    assert (built.n_instruction_tokens, built.n_sentences_left_out) == (n_fixed, 1)


def test_no_turn_goes_that_would_have_fitted_in_a_branching_dialog():
    # Two turns answer the first one: without it both begin anew, with a parent of two tokens.
    turns = (
        TurnRecord("user", "One", -1),
        TurnRecord("assistant", "Two", 0),
        TurnRecord("guest", "Three", 0),
        TurnRecord("user", "Four", 2),
    )
    sizes = [count_tokens(native_dialog(newest(turns, n))) for n in (1, 2, 3, 4)]
    assert sizes == [11, 18, 26, 32]

    left = {
        budget: 4 - build_prompt(PromptParts(turns), budget).n_turns_left_out
        for budget in range(11, 34)
    }

    assert left == {budget: sum(size <= budget for size in sizes) for budget in range(11, 34)}


def test_without_turns_a_budget_leaves_the_line_to_complete():
    built = build_prompt(PromptParts((), (MILL,)), 12)  # 4 + 2 + 6

    assert built.text == "Fact: Mill wheels stopped in 1971.\n0 -1 1"
    assert (built.n_turns_left_out, built.n_sentences_left_out) == (0, 1)


# --- lines ----------------------------------------------------------------------------------


def test_each_line_of_a_prompt_says_which_part_it_belongs_to():
    parts = parts_of("one-shot", "before-last-turn")
    built = build_prompt(parts._replace(instructions=prompt_text("instructions")))

    lines = prompt_lines(built.text)

    assert [line.part for line in lines] == [
        "instructions",
        *["demonstration"] * 3,
        *["dialog"] * 2,
        "evidence",
        *["dialog"] * 2,
    ]
    assert [line.text for line in lines] == [line for line in built.text.split("\n") if line]
