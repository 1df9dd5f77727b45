"""The types of prompts of a grid ([A] 6.2 and 9.3): what evidence, instructions and history."""

import re
from typing import Literal, NamedTuple

Evidence = Literal["none", "golden", "retrieved", "top", "random", "next-best"]
MOST_FACTS = 20  # k of a retrieved or top prompt


class PromptType(NamedTuple):
    """What a prompt holds beside the user's question.

    `evidence`: `retrieved` always holds the golden passages, `top` is the real ranking, `random`
    and `next-best` are passages that are not golden.
    """

    key: str  # in grid files and setups
    title: str
    number: int  # in labels of figures; those of one type with other k share it
    evidence: Evidence
    k: int = 1  # passages, of `retrieved` and `top`
    has_instructions: bool = False
    has_history: bool = True
    is_one_shot: bool = False  # a demonstration comes first
    # Of restricted context: the share of the dialog's tokens to keep, 0 to 1, beside the first
    # sentences of the evidence that are 1 minus that; None: all of both.
    dialog_share: float | None = None

    @property
    def needs_golden(self) -> bool:
        """Whether there is no such prompt for an example without golden evidence."""
        return self.evidence in ("golden", "retrieved")


TWELVE: tuple[PromptType, ...] = (
    PromptType("no-evidence", "No evidence", 1, "none"),
    PromptType("golden", "Golden", 2, "golden"),
    PromptType("golden-instructions", "Golden, instructions", 3, "golden", has_instructions=True),
    PromptType("retrieved-2", "Retrieved 2", 4, "retrieved", 2),
    PromptType("retrieved-3", "Retrieved 3", 5, "retrieved", 3),
    PromptType(
        "retrieved-2-instructions",
        "Retrieved 2, instructions",
        6,
        "retrieved",
        2,
        has_instructions=True,
    ),
    PromptType(
        "retrieved-3-instructions",
        "Retrieved 3, instructions",
        7,
        "retrieved",
        3,
        has_instructions=True,
    ),
    PromptType("one-shot", "One-shot, golden", 8, "golden", is_one_shot=True),
    PromptType("no-history-no-evidence", "No history, no evidence", 9, "none", has_history=False),
    PromptType("no-history-golden", "No history, golden", 10, "golden", has_history=False),
    PromptType("random", "Random non-evidence", 11, "random"),
    PromptType("next-best", "Next-best non-evidence", 12, "next-best"),
)
_BY_KEY = {kind.key: kind for kind in TWELVE}
_WITH_K = re.compile(
    r"(?P<evidence>retrieved|top)-(?P<k>[1-9][0-9]?)(?P<instructions>-instructions)?"
)


def prompt_type(key: str) -> PromptType:
    """Return the type of a key: one of the twelve, `top-3`, or `retrieved-5` and the like.

    Raises:
        ValueError: there is none; the message says what was expected.
    """
    if key in _BY_KEY:
        return _BY_KEY[key]
    found = _WITH_K.fullmatch(key)
    if found is None or int(found["k"]) > MOST_FACTS:
        raise ValueError(
            f"prompt type {key!r}; expected {', '.join(_BY_KEY)}, or retrieved-K or top-K with K "
            f"from 1 to {MOST_FACTS}, with -instructions behind it or without"
        )
    k, has_instructions = int(found["k"]), bool(found["instructions"])
    if found["evidence"] == "top":
        number, evidence, title = 13, "top", f"Top {k}"
    else:
        # The twelve number two k of it; others have the number of the nearest.
        number, evidence, title = (
            (4 if k < 3 else 5) + 2 * has_instructions,
            "retrieved",
            f"Retrieved {k}",
        )
    return PromptType(
        key,
        title + ", instructions" * has_instructions,
        number,
        evidence,  # type: ignore[arg-type]
        k,
        has_instructions,
    )
