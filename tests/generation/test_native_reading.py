"""Reading a prompt for a dialog gives the parts that it was made of."""

from generation.records import TurnRecord
from generation.text.dialog_prompts import PromptParts, build_prompt
from generation.text.native_reading import ReadPrompt, read_demonstration, read_prompt
from generation.text.prompts import prompt_text
from tests.generation.mill import BREAD, MILL, TURNS

SAID = tuple(turn.text for turn in TURNS)


def read(**parts):
    return read_prompt(build_prompt(PromptParts(**{"turns": TURNS, **parts})).text)


def test_facts_and_dialog_are_told_apart_wherever_the_facts_stand():
    for position in ("before-dialog", "before-last-turn"):
        assert read(facts=(MILL, BREAD), position=position) == ReadPrompt(
            False, (MILL, BREAD), SAID
        )


def test_instructions_are_seen():
    assert read(facts=(MILL,), instructions=prompt_text("instructions")) == ReadPrompt(
        True, (MILL,), SAID
    )


def test_a_demonstration_is_not_what_is_asked():
    assert read(
        facts=(MILL,), demonstration=read_demonstration(prompt_text("one_shot"))
    ) == ReadPrompt(False, (MILL,), SAID)


def test_without_any_turn_there_is_nothing_to_answer():
    assert read(turns=(), facts=(MILL,)) == ReadPrompt(False, (MILL,), ())


def test_of_a_dialog_with_branches_only_the_one_to_answer_is_read():
    # 0 ← 1 ← 3, and 0 ← 2, which is another branch.
    turns = (
        TurnRecord("user", "Who built it?", -1),
        TurnRecord("assistant", "Monks did.", 0),
        TurnRecord("assistant", "Nobody knows.", 0),
        TurnRecord("user", "When?", 1),
    )

    assert read(turns=turns) == ReadPrompt(False, (), ("Who built it?", "Monks did.", "When?"))


def test_any_other_text_is_no_prompt_for_a_dialog():
    assert read_prompt("Does the evidence support the claim?\nFact: yes") is None
    assert read_prompt("0 0 0 A turn that answers itself. [eot]\n1 0 1") == ReadPrompt(
        False, (), ("A turn that answers itself.",)
    )
