"""Synthetic studies: two setups rated separately and merged, with or without a planted shift.

Every response has a truth for each question; truths correlate within a dialog. A rater votes for
the truth with a chance that depends on the question. A planted shift moves votes of the merged arm:
towards yes for the cool setup, towards no for the warm one, each by the planted points of rater
score. Questions do not depend on each other (no gate implies anything), so a shift that is planted
in one question is in that one only.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

QUESTIONS = (
    "understand",
    "relevant",
    "consistent",
    "evidence_relevant",
    "evidence_contradicts",
    "evidence_supports",
    "attributable",
)
SETUPS = ("T 0.0", "T 0.7")
TEMPERATURES = {"T 0.0": 0.0, "T 0.7": 0.7}
ARMS = ("separate", "merged")
# Questions 2, 4 and 6.
PLANTED = {"relevant": 0.1, "evidence_relevant": 0.1, "evidence_supports": 0.1}
N_DIALOGS = 100
N_RATERS = 5

SHARE_TRUE = dict.fromkeys(QUESTIONS, 0.75) | {"evidence_contradicts": 0.2}
# A rater's chance to vote for the truth. With 0.832, three of five or more do so in 96.4 % of
# responses, so that two arms agree in 0.964² + 0.036² = 93 %.
CHANCE_RIGHT = dict.fromkeys(QUESTIONS, 0.9) | {"attributable": 0.832}


class SyntheticVote(NamedTuple):
    """One answer of one rater; no rater rates in both arms."""

    response: str
    dialog: str
    setup: str
    arm: str
    rater: str
    question: str
    answer: bool


def votes_by_question(
    seed: int, planted: Mapping[str, float] = PLANTED, n_dialogs: int = N_DIALOGS
) -> dict[str, np.ndarray]:
    """Return the votes on each question: booleans (n_dialogs, setups, arms, raters)."""
    random = np.random.default_rng(seed)
    votes = {}
    for question in QUESTIONS:
        of_dialog = random.normal(size=(n_dialogs, 1))
        of_response = random.normal(size=(n_dialogs, len(SETUPS)))
        is_true = (of_dialog + of_response) / np.sqrt(2) < ndtri(SHARE_TRUE[question])
        right = CHANCE_RIGHT[question]
        yes = np.where(is_true, right, 1 - right)[:, :, np.newaxis]
        yes = np.repeat(yes, len(ARMS), axis=2)
        points = planted.get(question, 0.0)
        on_average = SHARE_TRUE[question] * right + (1 - SHARE_TRUE[question]) * (1 - right)
        yes[:, 0, 1] += (1 - yes[:, 0, 1]) * points / (1 - on_average)
        yes[:, 1, 1] -= yes[:, 1, 1] * points / on_average
        drawn = random.random((*yes.shape, N_RATERS))
        votes[question] = drawn < yes[..., np.newaxis]
    return votes


def synthetic_votes(
    seed: int, planted: Mapping[str, float] = PLANTED, n_dialogs: int = N_DIALOGS
) -> Iterator[SyntheticVote]:
    """Yield the votes of a study as plain rows; with `planted={}` there is no shift."""
    for question, votes in votes_by_question(seed, planted, n_dialogs).items():
        for (dialog, setup, arm, rater), answer in np.ndenumerate(votes):
            yield SyntheticVote(
                response=f"d{dialog:03}-{setup}",
                dialog=f"d{dialog:03}",
                setup=SETUPS[setup],
                arm=ARMS[arm],
                rater=f"{ARMS[arm]}-{rater}",
                question=question,
                answer=bool(answer),
            )


def interchange_rows(votes: Iterable[SyntheticVote]) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of an interchange folder: examples, responses and votes."""
    examples: dict[str, dict[str, Any]] = {}
    responses: dict[str, dict[str, Any]] = {}
    rows = []
    for vote in votes:
        examples[vote.dialog] = {
            "id": vote.dialog,
            "dialog": vote.dialog,
            "turns": [{"speaker": "user", "text": f"Question of {vote.dialog}?"}],
            "evidence": [{"id": f"p-{vote.dialog}", "text": "A passage.", "golden": True}],
        }
        responses[vote.response] = {
            "id": vote.response,
            "example": vote.dialog,
            "setup": {"model": "synthetic", "temperature": TEMPERATURES[vote.setup]},
            "text": f"Text of {vote.response}.",
        }
        rows.append(
            {
                "response": vote.response,
                "rater": vote.rater,
                "question": vote.question,
                "answer": "yes" if vote.answer else "no",
                "arm": vote.arm,
            }
        )
    return {
        "examples": list(examples.values()),
        "responses": list(responses.values()),
        "votes": rows,
    }
