"""Replies that go on with the form of their prompt, told from answers."""

import pytest

from generation.text.debris import debris_in


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        # As a small chat model answered dialogs in the native form.
        ("13 12 1", "turn numbers"),
        ("10 1 0 The California coast is long.", "turn numbers"),
        ("2 -1 0", "turn numbers"),
        ("1.1 1.1 1.1", "no words"),
        ("1. 1 0 1\n2. 2 1 0\n3. 3 0 1\n4. 4 1 0\n5. 5 0 1", "no words"),
        ("In 1971. [eot] 6 5 0 Why?", "labels of the prompt"),
        ("In 1971.\nUser: Why?", "labels of the prompt"),
        ("Fact 2: Mills closed.", "labels of the prompt"),
        ("12 11 1111111111", "turn numbers"),
        # The run of six words comes twice and covers all nine words; in six words it comes once.
        ("It is closed. It is closed.\nIt is closed.", "repeats itself"),
        ("It is closed. It is closed.", None),
        # Two runs of seven words are 14 of 27 words, then 14 of 28, which is no more than half.
        ("a b c d e f g 1 2 3 4 5 6 a b c d e f g 7 8 9 10 11 12 13", "repeats itself"),
        ("a b c d e f g 1 2 3 4 5 6 a b c d e f g 7 8 9 10 11 12 13 14", None),
        # Answers.
        ("", None),
        ("1971", None),
        ("1939–1945", None),
        ("£1,200,000", None),
        ("10/10/2010", None),
        ("1,000,000,000", None),
        ("10.0.0.1, 10.0.0.2 and 10.0.0.3", None),
        ("555 123 4567", None),
        ("12 05 1998", None),
        ("1939 1945 1971", None),
        ("| 1 | 1 |\n|---|---|\n| 1 | 1 |\n| 1 | a |", None),
        ("😀😀😀", None),
        ("मिल 1971 में बंद हो गई थी।", None),
        ("a" + "\n" * 100_000 + "b", None),  # in no time
        ("In 1971, 12 mills closed.", None),
        ("1. Open the door.\n2. Close the window.\n3. Go.", None),
        ("The user: he says so.", None),
        ("磨坊在1971年关闭了。", None),
    ],
)
def test_a_reply_is_debris_or_an_answer(reply, found):
    assert debris_in(reply) == found
