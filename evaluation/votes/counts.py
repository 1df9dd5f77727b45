"""Votes as counts: for each question of an arm, how many raters gave each answer to each target.

Everything that reports on human votes starts here, so that all figures leave out the same votes.
"""

import hashlib
from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np
from django.db.models import Count, QuerySet
from numpy.typing import NDArray

from annotation.closed_gates import given_behind_closed_gates
from annotation.models import Arm, Flag, GoldAnswer, Rater, Study, Target, UnitTarget, Vote
from annotation.ordering import share_is_drawn
from annotation.schemes import Scheme
from evaluation.votes.assumed_answers import AssumedResponses, assumed_responses
from generation.models import Response

Ints = NDArray[np.int64]
Objects = NDArray[np.object_]


class Items(NamedTuple):
    """The rated targets of an arm, ordered by response key and citation number.

    The order is that of the names, not of the database's ids, so that an exported and imported
    study gives the same figures to the last digit.
    """

    targets: Ints  # (n_items,) ids
    dialogs: Ints  # (n_items,) place of each item's dialog in the sorted list of dialogs
    n_dialogs: int
    dialog_names: tuple[str, ...]  # (n_dialogs,) sorted: what the two arms have in common
    setups: Ints  # (n_items,) ids
    responses: Ints  # (n_items,) ids; a response may be several items, one for each citation
    # (n_items,) False where a study that stops when decided may have stopped asking: which votes
    # an item then has depends on what they say, so agreement is taken from the others alone.
    is_always_full: NDArray[np.bool_]


class ArmCounts(NamedTuple):
    """Counts of one arm: question → (n_items, n_categories), columns in the scale's order.

    `votes` hold every counted vote, `given` those that somebody gave and no gate implied. `behind`
    hold those of `given` whose own rater closed a gate of the question, where that was asked for;
    else it is empty.
    """

    arm: Arm
    items: Items
    votes: Mapping[str, Ints]
    given: Mapping[str, Ints]
    behind: Mapping[str, Ints]
    flagged: list[int]  # ids of responses left out because most of their raters flagged them
    data_hash: str
    assumed: AssumedResponses  # in no count; those that nobody rated or flagged

    @property
    def all_dialogs(self) -> "AllDialogs":
        """The dialogs of the items and of what is assumed, with numbers for both."""
        names = sorted({*self.items.dialog_names, *self.assumed.dialogs})
        of_items = np.searchsorted(names, self.items.dialog_names).astype(np.int64)
        of_assumed = np.searchsorted(names, self.assumed.dialogs).astype(np.int64)
        return AllDialogs(of_items[self.items.dialogs], of_assumed, len(names))


class AllDialogs(NamedTuple):
    """Numbers of dialogs, from 0, in the order of their names."""

    of_items: Ints  # (n_items,)
    of_assumed: Ints  # (n_assumed,)
    n: int


def arm_counts(
    arm: Arm,
    scheme: Scheme,
    assumed: AssumedResponses,
    *,
    with_excluded: bool,
    by_gates: bool = False,
) -> ArmCounts:
    """Return the counts of an arm's votes: not surplus, not on flagged responses.

    `assumed` are those of the whole study. `with_excluded` counts the votes of excluded raters too;
    `by_gates` counts apart what was given behind closed gates.
    """
    flagged = flagged_responses(arm, with_excluded=with_excluded)
    votes_there = counted_votes(arm, with_excluded=with_excluded)
    if flagged:  # the usual case is none, and then nothing is joined
        votes_there = votes_there.exclude(target__response__in=flagged)
    rows = _answers(votes_there)
    items = _items(arm.study, np.unique(rows[:, 0].astype(np.int64)))
    votes = _by_item(rows, items, scheme)
    given = _by_item(rows[~rows[:, 3].astype(bool)], items, scheme)
    behind: Mapping[str, Ints] = {}
    if by_gates:
        closed = [_answers(some) for some in given_behind_closed_gates(votes_there, scheme)]
        behind = _by_item(np.concatenate([rows[:0], *closed]), items, scheme)
    content = _hash(items, votes, given, behind)
    unseen = assumed.unseen({*items.responses.tolist(), *flagged})
    return ArmCounts(arm, items, votes, given, behind, flagged, content, unseen)


def _answers(votes: QuerySet[Vote]) -> Objects:
    """Return rows of target, question, answer, whether it was implied, and how many said so."""
    rows = votes.order_by().values_list("target", "question", "answer", "is_implied")
    return np.array(rows.annotate(n=Count("pk")), dtype=object).reshape(-1, 5)


def _by_item(rows: Objects, items: Items, scheme: Scheme) -> dict[str, Ints]:
    """Return rows of `_answers` as counts: question → (n_items, n_categories)."""
    place = {target: i for i, target in enumerate(items.targets.tolist())}
    item = np.fromiter((place[target] for target in rows[:, 0]), np.int64, len(rows))
    answers, n_votes = rows[:, 2].astype(np.int64), rows[:, 4].astype(np.int64)
    counts: dict[str, Ints] = {}
    for question in scheme.questions:
        here = rows[:, 1] == question.key
        column = np.searchsorted(question.scale.values, answers[here])
        counts[question.key] = np.zeros((len(items.targets), len(question.scale.values)), np.int64)
        np.add.at(counts[question.key], (item[here], column), n_votes[here])
    return counts


def of_setup(of_arm: ArmCounts, setups: Collection[int]) -> ArmCounts:
    """Return the counts of the items that belong to some setups alone, by their ids."""
    here = np.isin(of_arm.items.setups, list(setups))
    items = of_arm.items._replace(
        targets=of_arm.items.targets[here],
        dialogs=of_arm.items.dialogs[here],
        setups=of_arm.items.setups[here],
        responses=of_arm.items.responses[here],
        is_always_full=of_arm.items.is_always_full[here],
    )
    votes = {question: counts[here] for question, counts in of_arm.votes.items()}
    given = {question: counts[here] for question, counts in of_arm.given.items()}
    behind = {question: counts[here] for question, counts in of_arm.behind.items()}
    flagged = Response.objects.filter(pk__in=of_arm.flagged, setup__in=setups)
    return ArmCounts(
        of_arm.arm,
        items,
        votes,
        given,
        behind,
        list(flagged.values_list("pk", flat=True)),
        _hash(items, votes, given, behind),
        of_arm.assumed.of_setups(setups),
    )


def counted_votes(arm: Arm, *, with_excluded: bool) -> QuerySet[Vote]:
    """Return the votes of an arm that count: not surplus, not on gold, not of excluded raters.

    Those on flagged responses are among them.
    """
    votes = Vote.objects.filter(arm=arm, is_surplus=False)
    gold = list(gold_targets(arm.study))
    if gold:
        votes = votes.exclude(target__in=gold)
    if with_excluded:
        return votes
    # The ids, not a subquery: without excluded raters, the usual case, nothing is joined.
    excluded = Rater.objects.filter(study=arm.study_id, is_excluded=True)
    return votes.exclude(rater__in=list(excluded.values_list("pk", flat=True)))


def gold_targets(study: Study) -> QuerySet[GoldAnswer, int]:
    """Return the ids of the targets whose answers are known: they are in no figure."""
    answers = GoldAnswer.objects.filter(study=study)
    return answers.order_by().values_list("target", flat=True).distinct()


def flagged_responses(arm: Arm, *, with_excluded: bool) -> list[int]:
    """Return the ids of responses that more than half of their raters flagged as malformed.

    Raters of a response are those who voted on it or flagged it.
    """
    flaggers: dict[int, set[int]] = {}
    gold = Target.objects.filter(pk__in=list(gold_targets(arm.study)))
    flags = Flag.objects.filter(arm=arm).exclude(response__in=gold.values("response"))
    if not with_excluded:
        flags = flags.exclude(rater__is_excluded=True)
    for response, rater in flags.values_list("response", "rater"):
        flaggers.setdefault(response, set()).add(rater)
    raters = {response: set(by) for response, by in flaggers.items()}
    voters = counted_votes(arm, with_excluded=with_excluded).filter(target__response__in=flaggers)
    for response, rater in voters.values_list("target__response", "rater").distinct():
        raters[response].add(rater)
    return [
        response
        for response, by in flaggers.items()
        if 2 * len(by) > arm.study.n_raters(len(raters[response]))
    ]


def n_gold_items(study: Study) -> int:
    """Return how many gold items a study has, or had where it was exported."""
    said = study.settings.get("n_gold_items")
    return said if isinstance(said, int) else len(gold_targets(study))


def n_responses(study: Study, setup: str = "") -> int:
    """Return how many responses a study is about, rated or not; gold items are not among them.

    Of an imported study that is what its file says, else every response of its setups. With the
    name of a setup: how many of that one.
    """
    if study.is_imported:
        said = study.settings.get("n_responses")
        if isinstance(said, int) and not setup:
            return said
        of_setups = Response.objects.filter(setup__in=study.setups.all())
        return (of_setups.filter(setup__name=setup) if setup else of_setups).count()
    planned = UnitTarget.objects.filter(unit__arm__study=study, unit__is_gold=False)
    if setup:
        planned = planned.filter(target__response__setup__name=setup)
    return planned.values("target__response").distinct().count()


class Unrated(NamedTuple):
    """Responses of a study that nobody rated: those that somebody might, and the assumed ones."""

    n: int
    n_assumed: int  # the answer follows from what was made, see `evaluation.votes.assumed_answers`


def unrated_responses(study: Study, seen: Collection[int], setup: str = "") -> Unrated:
    """Return how many responses of a study are neither rated nor flagged, by the ids of those.

    Args:
        setup: its name; counts the responses of that one alone.
    """
    assumed = assumed_responses(study).unseen(seen)
    if setup:
        assumed = assumed.of_setups(study.setups.filter(name=setup).values_list("pk", flat=True))
    n_assumed = len(assumed.responses)
    n = n_responses(study, setup) - len(seen)
    says_how_many = isinstance(study.settings.get("n_responses"), int) and not setup
    # Units are planned without them; else every response of the setups was counted.
    return Unrated(n if not study.is_imported or says_how_many else n - n_assumed, n_assumed)


def n_raters(study: Study, votes: Ints) -> Ints:
    """Return N of each item: (n_items, n_categories) to (n_items,)."""
    raters: Ints = np.maximum(study.n_raters(0), votes.sum(axis=1))
    return raters


def _items(study: Study, rated: Ints) -> Items:
    """Return the rated targets in the order of their names."""
    rows = Target.objects.filter(response__dataset=study.dataset_id).values_list(
        "pk",
        "response__key",
        "citation__number",
        "response__example__dialog",
        "response__setup",
        "response",
        "response__example__key",
    )
    wanted = set(rated.tolist())
    named = sorted(
        (key, citation or 0, dialog, pk, setup, response, example)
        for pk, key, citation, dialog, setup, response, example in rows.iterator()
        if pk in wanted
    )
    names, dialogs = np.unique([row[2] for row in named], return_inverse=True)
    return Items(
        targets=np.array([row[3] for row in named], np.int64),
        dialogs=dialogs.astype(np.int64),
        n_dialogs=len(names),
        dialog_names=tuple(names.tolist()),
        setups=np.array([row[4] for row in named], np.int64),
        responses=np.array([row[5] for row in named], np.int64),
        is_always_full=np.array([_is_always_full(study, row[6]) for row in named], bool),
    )


def n_outside_full_share(of_arm: ArmCounts) -> int:
    """Return how many items may have stopped early, in a study that stops when decided."""
    return int(np.count_nonzero(~of_arm.items.is_always_full))


def _is_always_full(study: Study, example: str) -> bool:
    return not study.stops_when_decided or share_is_drawn(
        study.seed, example, "full", study.full_share
    )


def _hash(items: Items, *counts: Mapping[str, Ints]) -> str:
    """Return a hash of the counts in their order: equal data, equal hash, on every database."""
    content = hashlib.sha256(items.dialogs.tobytes())
    for by_question in counts:
        for question, array in by_question.items():
            content.update(question.encode())
            content.update(array.tobytes())
    return content.hexdigest()[:16]
