"""The time that raters would take for a dataset's responses, before there is a study of them.

It is what the plan of a study with these responses, questions and arms says.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from django.db.models import QuerySet

from annotation.models import Arm
from annotation.rateable_responses import (
    MOST_IN_A_UNIT,
    RateableResponse,
    ShownEvidence,
    candidates_of,
    dialog_lengths,
    evidence_shown,
    passage_lengths,
    with_same_evidence,
)
from annotation.rating_hours import RatingPace, pace_with
from annotation.schemes import load_scheme
from generation.models import Example, Response, Setup

MOST_EXAMPLES = 500  # examples that are read; of more, every second one, every third, and so on


class ExpectedTime(NamedTuple):
    """The number of responses that raters get, and the time for one."""

    n_per_example: float  # mean number of responses
    seconds: Mapping[str, float]  # kind of arm → mean seconds for a response
    pace: RatingPace


def expected_time(
    dataset: int, setups: QuerySet[Setup], scheme: Mapping[str, Any], evidence_choice: str
) -> ExpectedTime | None:
    """Return the time for the responses of some setups. None: raters could judge none of them.

    If nothing can be merged and no merged time was measured, a response in the merged arm takes as
    long as alone.

    Args:
        dataset: its id.
        setups: setups of the dataset.
        scheme: the questions as data; they are about responses.
        evidence_choice: the evidence that is shown.
    """
    examples = _some_examples(dataset, setups)
    responses = Response.objects.filter(example__in=examples, setup__in=setups)
    dialogs = dialog_lengths(dataset, examples)
    left_out: Counter[str] = Counter()
    candidates = candidates_of(responses, dialogs.keys(), left_out)
    evidence = evidence_shown(responses, evidence_choice, load_scheme(scheme), candidates, left_out)
    shown = {passage for each in evidence.values() for passage in each.passages}
    lengths = passage_lengths(dataset, shown)
    pace = pace_with(dataset, scheme)
    n: Counter[str] = Counter()
    seconds: defaultdict[str, float] = defaultdict(float)
    for example, of_example in candidates.items():
        for arm, unit in _units(of_example, evidence):
            n_characters = dialogs[example] + evidence[unit[0].pk].n_characters(lengths)
            n_characters += sum(response.n_characters for response in unit)
            seconds[arm] += pace.seconds(arm, n_characters, len(unit))
            n[arm] += len(unit)
    if not n:
        return None
    means = {arm: seconds[arm] / n_of_arm for arm, n_of_arm in n.items()}
    alone = means[Arm.Kind.SEPARATE]
    means.setdefault(Arm.Kind.MERGED, pace.merged.seconds if pace.merged else alone)
    return ExpectedTime(n[Arm.Kind.SEPARATE] / len(examples), means, pace)


def _some_examples(dataset: int, setups: QuerySet[Setup]) -> list[int]:
    """Return the ids of examples with responses: all, or some that are evenly spread."""
    answered = Example.objects.of_benchmark().filter(dataset=dataset, responses__setup__in=setups)
    every = list(answered.order_by("pk").distinct().values_list("pk", flat=True))
    return every[:: max(1, -(-len(every) // MOST_EXAMPLES))]


def _units(
    responses: Collection[RateableResponse], evidence: Mapping[int, ShownEvidence]
) -> Iterator[tuple[str, list[RateableResponse]]]:
    """Yield what raters of an example would be shown at once: each response alone, and merged."""
    for response in responses:
        yield Arm.Kind.SEPARATE, [response]
    for together in with_same_evidence(responses, evidence):
        if len(together) > 1:
            yield Arm.Kind.MERGED, together[:MOST_IN_A_UNIT]
