"""Prompts of a dialog in each form, each written out by hand."""

import json

import pytest

from generation.records import TurnRecord
from generation.text.chat_messages import Message, alternating, read_messages, without_system
from generation.text.dialog_forms import reply_text
from generation.text.dialog_prompts import (
    BudgetError,
    Demonstration,
    PromptParts,
    build_prompt,
    prompt_lines,
)
from generation.text.native_dialog import newest
from generation.text.prompts import prompt_text
from generation.text.restricted_context import restricted

# Two questions in a row, an answer without a text, and an even number of turns before the question.
TURNS = (
    TurnRecord("assistant", "Ask me about\nmills.", -1),
    TurnRecord("user", "Who built it?", 0),
    TurnRecord("user", "And when?", 1),
    TurnRecord("assistant", "", 2),
    TurnRecord("user", "When did it close?", 3),
)
MILL = "Mill wheels stopped in 1971. Visitors came later."
FLOOD = "One flood made every\nmill close."
SHOWN = Demonstration((TurnRecord("user", "Is it old?", -1),), ("It is of 1200.",), "Yes.")
INSTRUCTIONS = prompt_text("instructions")
SAID = "use the information from the provided “fact” to answer the question"
LAST = "And when?\n\nWhen did it close?"
FACTS = f"Fact 1: {MILL}\nFact 2: One flood made every mill close."


def built(form, turns=TURNS, facts=(MILL, FLOOD), budget=None, **more):
    return build_prompt(PromptParts(turns, facts, form=form, **more), budget)


def chat(**parts):
    """Return role and text of each message, as they are stored and sent."""
    prompt = built("messages", **parts)
    assert read_messages(prompt.text) == prompt.messages
    return [(each["role"], each["content"]) for each in json.loads(prompt.text)]


SPOKEN = [("assistant", "Ask me about\nmills."), ("user", "Who built it?\n\n" + LAST)]


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ({}, [("system", FACTS), *SPOKEN]),
        ({"facts": (MILL,)}, [("system", f"Fact: {MILL}"), *SPOKEN]),
        ({"facts": ()}, SPOKEN),
        ({"instructions": INSTRUCTIONS}, [("system", f"{SAID}\n\n{FACTS}"), *SPOKEN]),
        (
            {"instructions": INSTRUCTIONS, "position": "before-last-turn"},
            [("system", SAID), SPOKEN[0], ("user", f"{FACTS}\n\nWho built it?\n\n{LAST}")],
        ),
        (
            {"turns": newest(TURNS, 1), "position": "before-last-turn"},
            [("user", f"{FACTS}\n\nWhen did it close?")],
        ),
        ({"turns": newest(TURNS, 1)}, [("system", FACTS), ("user", "When did it close?")]),
        (
            {"demonstration": SHOWN, "facts": (MILL,)},
            [
                ("system", f"Fact: {MILL}"),
                ("user", "Fact: It is of 1200.\n\nIs it old?"),
                ("assistant", "Yes."),
                ("user", ""),  # it parts two messages of the assistant
                *SPOKEN,
            ],
        ),
        # The user has the last word, with or without a text.
        (
            {"turns": TURNS[:1], "position": "before-last-turn", "facts": (MILL,)},
            [("assistant", "Ask me about\nmills."), ("user", f"Fact: {MILL}")],
        ),
        ({"turns": (TurnRecord("user", " ", -1),), "facts": ()}, [("user", "")]),
        # Without a turn there is nothing that the facts could open.
        ({"turns": ()}, [("user", FACTS)]),
        (
            {"turns": (TurnRecord("Anna", "Is it so?", -1), TurnRecord("User", "Well?", 0))},
            [("system", FACTS), ("user", "Anna: Is it so?\n\nWell?")],
        ),
    ],
    ids=[
        "two facts",
        "one fact",
        "no fact",
        "instructions",
        "before the last turn",
        "no history, before the last turn",
        "no history",
        "one-shot",
        "no question",
        "a question without a text",
        "no dialog",
        "a third person",
    ],
)
def test_messages(parts, expected):
    assert chat(**parts) == expected


def test_plain_lines():
    prompt = built("plain", instructions=INSTRUCTIONS, demonstration=SHOWN, facts=(MILL,))
    late = built("plain", facts=(MILL,), turns=newest(TURNS, 2), position="before-last-turn")

    assert prompt.text.split("\n") == [
        f"Instructions: {SAID}",
        "Fact: It is of 1200.",
        "User: Is it old?",
        "Assistant: Yes.",
        "",
        f"Fact: {MILL}",
        "Assistant: Ask me about mills.",
        "User: Who built it?",
        "User: And when?",
        "Assistant:",
        "User: When did it close?",
        "Assistant:",
    ]
    assert late.text.split("\n") == [
        "Assistant:",
        f"Fact: {MILL}",
        "User: When did it close?",
        "Assistant:",
    ]


def test_the_native_form_is_that_of_the_paper():
    assert built("native", facts=(MILL,), demonstration=SHOWN).text.split("\n") == [
        "Fact: It is of 1200.",
        "0 -1 0 Is it old? [eot]",
        "1 0 1 Yes. [eot]",
        "",
        f"Fact: {MILL}",
        "0 -1 1 Ask me about mills. [eot]",
        "1 0 0 Who built it? [eot]",
        "2 1 0 And when? [eot]",
        "3 2 1 [eot]",
        "4 3 0 When did it close? [eot]",
        "5 4 1",
    ]


def test_restricted_context_keeps_the_same_turns_and_facts_in_every_form():
    """Half of the dialog: its turns have 5, 4, 3, 0 and 5 tokens, and 8 or 5 of 17 are kept.

    8 is nearest to 8.5. The rest, 9 of 17, is the share of the evidence: of its sentences of 6, 4,
    4 and 3 tokens, 10 of 17 are nearer to 9 than 6 or 14 are.
    """
    left = restricted(TURNS, (MILL, FLOOD), 0.5)

    assert chat(turns=left.turns, facts=left.facts) == [
        ("system", f"Fact: {MILL}"),
        ("user", LAST),
    ]
    assert built("plain", left.turns, left.facts).text == (
        f"Fact: {MILL}\nUser: And when?\nAssistant:\nUser: When did it close?\nAssistant:"
    )


def test_a_budget_counts_the_tokens_of_the_form():
    """The texts of the turns have 17 tokens, the facts 10 and 7, and the labels 'Fact 1:' 3 each.

    One token less than all takes the last sentence of the longest fact, 4 tokens. In the end the
    first sentences stay (a line break ends one), and turns go: 6 + 3 and 4 + 3 tokens of evidence,
    and 8 of three turns, of which the last has 5.
    """
    whole = built("messages")
    assert (whole.n_dialog_tokens, whole.n_evidence_tokens) == (17, 10 + 7 + 3 + 3)

    assert built("messages", budget=40).n_sentences_left_out == 0
    assert built("messages", budget=39).n_sentences_left_out == 1
    cut = built("messages", budget=16 + 8)
    assert (cut.n_turns_left_out, cut.n_tokens) == (2, 24)
    with pytest.raises(BudgetError, match="21 tokens"):
        built("messages", budget=20)


def test_the_lines_of_messages_say_their_part_and_role():
    prompt = built(
        "messages", turns=newest(TURNS, 1), instructions=INSTRUCTIONS, demonstration=SHOWN
    )

    found = prompt_lines(prompt.text, prompt.n_demonstrating)

    assert [(line.part, line.role) for line in found] == [
        ("instructions", "system"),
        ("evidence", ""),
        ("evidence", ""),
        ("demonstration", "user"),
        ("demonstration", ""),
        ("demonstration", "assistant"),
        ("dialog", "user"),
    ]


@pytest.mark.parametrize(
    ("form", "completion", "reply"),
    [
        ("native", " In 1971. [eot]\n6 5 0 Why?", "In 1971."),
        ("plain", " In 1971.\nIt is shut.\nUser: Why?", "In 1971.\nIt is shut."),
        ("plain", "User: Why?", ""),
        ("plain", "The User: a book", "The User: a book"),
        ("messages", " In 1971.\nUser: [eot]\n", "In 1971.\nUser: [eot]"),
    ],
)
def test_a_reply_ends_where_its_form_ends(form, completion, reply):
    assert reply_text(completion, form) == reply


S, U, A = (lambda text, role=role: Message(role, text) for role in ("system", "user", "assistant"))


@pytest.mark.parametrize(
    ("given", "alternate", "no_system"),
    [
        ([S("s"), U("u")], [S("s"), U("u")], [U("s\n\nu")]),
        ([S("s"), A("a"), U("u")], [S("s"), U(""), A("a"), U("u")], [U("s"), A("a"), U("u")]),
        ([U("u"), A("a"), A("b"), U("v")], [U("u"), A("a\n\nb"), U("v")], None),
        ([U("u"), A("a"), U("")], [U("u"), A("a"), U("")], None),
    ],
)
def test_templates_that_want_turns_or_no_system_get_them(given, alternate, no_system):
    assert alternating(given) == alternate
    assert without_system(given) == (no_system or given)
