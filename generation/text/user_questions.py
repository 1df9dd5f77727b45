"""The user question of a dialog."""

from collections.abc import Sequence


def user_question(turns: Sequence[tuple[str, str]]) -> str:
    """Return the last turn of the user in a dialog, else its last turn.

    Args:
        turns: pairs of speaker and text, one or more.
    """
    of_user = [text for speaker, text in turns if speaker.lower() == "user"]
    return of_user[-1] if of_user else turns[-1][1]
