"""Functions that the reports on cited answers share: checks for a graph, and what counts.

All these reports resample dialogs with the same seed. Dialogs are numbered in the order of their
names, so that an exported and imported dataset gives the same figures to the last digit.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np
from django.db.models import QuerySet

from evaluation.models import AutoScore, MetricRun
from evaluation.reports.base import SetupName
from evaluation.reports.registry import CannotReport
from evaluation.reports.report import LeftOut
from evaluation.statistics.intervals import Statistic, share_from
from evaluation.votes.counts import Ints
from generation.choices.declaration import ChoiceError
from generation.models import Dataset, KGQuestion, Setup


class AnswerChoices(NamedTuple):
    """The choices of a reader about a report on answers."""

    setup: SetupName = ""


def need_graph(dataset: Dataset) -> None:
    """Check that a dataset has something about a graph: entities, questions or answers.

    Raises:
        CannotReport: it has none of them.
    """
    if (
        not dataset.entities.exists()
        and not KGQuestion.objects.filter(example__dataset=dataset).exists()
        and not dataset.responses.filter(graph_shown__isnull=False).exists()
    ):
        raise CannotReport(
            f"{dataset.name} has no knowledge graph. It has no entities and no questions about "
            "them. It does not say for any response which graph the model was shown."
        )


def chosen_setups(dataset: Dataset, name: str = "") -> dict[int, Setup]:
    """Return the setups of a dataset by id, in the order of their names, or only the named one.

    Raises:
        ChoiceError: there is no setup of that name.
    """
    found = sorted(dataset.setups.of_benchmark(), key=lambda setup: setup.name)
    if name and not any(setup.name == name for setup in found):
        there = ", ".join(setup.name for setup in found[:10]) or "none yet"
        raise ChoiceError("setup", f"{dataset.name} has no setup {name!r}. It has: {there}.")
    return {setup.pk: setup for setup in found if name in ("", setup.name)}


class Counted(NamedTuple):
    """The responses of a dataset that its reports count, and how many they leave out."""

    setups: Mapping[int, int]  # response id → setup id
    dialogs: Mapping[int, int]  # response id → number of its dialog, 0 .. n_dialogs - 1
    n_dialogs: int
    n_left_out: Mapping[str, Mapping[int, int]]  # reason → setup id → number of responses

    def left_out(self, setups: Collection[int]) -> LeftOut:
        """Return how many responses of some setups are left out, by reason."""
        return sums_of(self.n_left_out, setups)


def counted_responses(dataset: Dataset, *, any_graph: bool = False) -> Counted:
    """Return the first response, by key, of each setup to each example, by at most two queries.

    Answers to ad-hoc questions are left out.

    Dialogs are numbered over all setups, so that the interval of a setup does not depend on which
    other setups are shown.

    Args:
        any_graph: also count responses that do not say which graph their model was shown.
    """
    columns = "key", "pk", "setup", "example", "example__dialog"
    shown = dataset.responses.of_benchmark().order_by()
    without_graph: Counter[int] = Counter()
    if not any_graph:
        unknown = shown.filter(graph_shown__isnull=True)
        without_graph.update(unknown.values_list("setup", flat=True))
        shown = shown.filter(graph_shown__isnull=False)
    rows = sorted(shown.values_list(*columns).iterator(chunk_size=5000), reverse=True)
    first = {row[2:4]: row for row in rows}.values()
    repeated = Counter(row[2] for row in rows)
    repeated.subtract(row[2] for row in first)
    places = {name: place for place, name in enumerate(sorted({row[4] for row in first}))}
    left_out = {"responses_without_a_known_graph": without_graph, "repeated_responses": repeated}
    return Counted(
        setups={row[1]: row[2] for row in first},
        dialogs={row[1]: places[row[4]] for row in first},
        n_dialogs=len(places),
        n_left_out={"repeated_responses": repeated} if any_graph else left_out,
    )


def sums_of(by_setup: Mapping[str, Mapping[int, int]], setups: Collection[int]) -> LeftOut:
    """Return, for each reason, the sum of its counts over some setups."""
    return {reason: sum(of.get(pk, 0) for pk in setups) for reason, of in by_setup.items()}


def scores_of_answers(runs: Collection[MetricRun], setups: Collection[int]) -> QuerySet[AutoScore]:
    """Return the scores of some runs for whole answers under some setups, given by id."""
    return AutoScore.objects.filter(
        run__in=[run.pk for run in runs],
        target__citation=None,
        target__response__setup__in=list(setups),
    ).order_by()


def share_figure(part: Ints, whole: Ints, dialogs: Ints) -> Statistic:
    """Return a share of items that are counted in groups, where each group is in one dialog.

    The statistic has one row for each item, so that the interval is never narrower than the number
    of items allows.

    Args:
        part, whole: (n_groups,) counts, 0 <= part <= whole.
        dialogs: (n_groups,) the number of each group's dialog.
    """
    rest = whole - part
    label = np.concatenate([np.ones(part.sum()), np.zeros(rest.sum())])
    of_items = np.concatenate([np.repeat(dialogs, part), np.repeat(dialogs, rest)])
    return Statistic(np.column_stack([label, np.ones(len(label))]), of_items, share_from)
