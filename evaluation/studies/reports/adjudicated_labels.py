"""The part of adjudicated decisions in reports: in their signature, and in what they leave out."""

import hashlib
from collections.abc import Sequence

from evaluation.reports.base import Choices
from evaluation.reports.report import LeftOut
from evaluation.votes.people import People


def decisions_signature(people: Sequence[People], choices: Choices) -> str:
    """Return the part of a signature that names the decisions; "" if none were asked for.

    Its hash is made from the labels in the order of the items, so it is the same on any database.
    """
    if not choices.adjudicated:
        return ""
    content = hashlib.sha256()
    for each in people:
        content.update(each.question.key.encode())
        content.update(each.is_decided.tobytes())
        content.update(each.labels[each.is_decided].tobytes())
    return f" | decisions {content.hexdigest()[:16]}"


def labels_left_out(people: Sequence[People], choices: Choices) -> LeftOut:
    """Return how many labels of rated items are missing or replaced, by reason."""
    missing = {
        "waiting": sum(int(each.is_waiting.sum()) for each in people),
        "tied": sum(int(each.is_tied.sum()) for each in people),
    }
    if not choices.adjudicated:
        return missing
    return missing | {
        "cannot_be_decided": sum(int(each.is_undecidable.sum()) for each in people),
        "adjudicated": sum(int(each.is_decided.sum()) for each in people),
    }
