"""The part of adjudicated decisions in reports: in their signature, and in what they leave out."""

import hashlib
from collections.abc import Sequence

import numpy as np

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
    has_no_label = [each.is_rated & np.isnan(each.labels) for each in people]
    pairs = list(zip(people, has_no_label, strict=True))
    undecided = sum(int((without & ~each.is_decided).sum()) for each, without in pairs)
    if not choices.adjudicated:
        return {"undecided": undecided}
    return {
        "undecided": undecided,
        "cannot_be_decided": sum(int((w & each.is_decided).sum()) for each, w in pairs),
        "adjudicated": sum(int(each.is_decided.sum()) for each in people),
    }
