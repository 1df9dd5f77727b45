"""Votes as counts: for each question of an arm, how many raters gave each answer to each target.

All reports on human votes start from these counts, so that all figures leave out the same votes.
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
from annotation.schemes import YES_NO, Scheme
from annotation.voting import NO
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
    dialog_names: tuple[str, ...]  # (n_dialogs,) sorted; names are the same in both arms
    setups: Ints  # (n_items,) ids
    responses: Ints  # (n_items,) ids; a response may be several items, one for each citation
    examples: Ints  # (n_items,) place of each item's example in the sorted list of examples
    # (n_items,) False where a study that stops when decided may have stopped asking. The number of
    # votes of such an item depends on the answers, so agreement uses only the other items.
    is_always_full: NDArray[np.bool_]


class ArmCounts(NamedTuple):
    """Counts of one arm: question → (n_items, n_categories), columns in the scale's order.

    `votes` hold every counted vote, and `given` only those that a rater gave and no gate implied.
    `behind` hold those of `given` whose own rater closed a gate of the question. It is empty unless
    `arm_counts` was called with `by_gates`.
    """

    arm: Arm
    items: Items
    votes: Mapping[str, Ints]
    given: Mapping[str, Ints]
    behind: Mapping[str, Ints]
    flagged: list[int]  # ids of responses left out because most of their raters flagged them
    data_hash: str
    assumed: AssumedResponses  # assumed responses without a vote or flag; they are in no count

    @property
    def all_dialogs(self) -> "AllDialogs":
        """The dialogs of the items and of the assumed responses, with numbers for both."""
        names = sorted({*self.items.dialog_names, *self.assumed.dialogs})
        of_items = np.searchsorted(names, self.items.dialog_names).astype(np.int64)
        of_assumed = np.searchsorted(names, self.assumed.dialogs).astype(np.int64)
        return AllDialogs(of_items[self.items.dialogs], of_assumed, names)


class AllDialogs(NamedTuple):
    """Numbers of dialogs, from 0, in the order of their names."""

    of_items: Ints  # (n_items,)
    of_assumed: Ints  # (n_assumed,)
    names: list[str]

    @property
    def n(self) -> int:
        return len(self.names)


def arm_counts(
    arm: Arm,
    scheme: Scheme,
    assumed: AssumedResponses,
    *,
    with_excluded: bool,
    by_gates: bool = False,
) -> ArmCounts:
    """Return the counts of an arm's votes, without surplus votes and votes on flagged responses.

    Args:
        arm: the arm.
        scheme: the scheme of the study.
        assumed: the assumed responses of the whole study.
        with_excluded: whether the votes of excluded raters count too.
        by_gates: whether answers given behind closed gates are also counted separately.
    """
    flagged = flagged_responses(arm, with_excluded=with_excluded)
    votes_there = counted_votes(arm, with_excluded=with_excluded)
    if flagged:  # usually there are none, and then the query needs no join
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
    """Return rows of target, question, answer, whether it was implied, and the number of votes."""
    rows = votes.order_by().values_list("target", "question", "answer", "is_implied")
    return np.array(rows.annotate(n=Count("pk")), dtype=object).reshape(-1, 5)


def _by_item(rows: Objects, items: Items, scheme: Scheme) -> dict[str, Ints]:
    """Return the rows of `_answers` as counts: question → (n_items, n_categories)."""
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
    """Return the counts of only the items of some setups, which are given by their ids."""
    here = np.isin(of_arm.items.setups, list(setups))
    items = of_arm.items._replace(
        targets=of_arm.items.targets[here],
        dialogs=of_arm.items.dialogs[here],
        setups=of_arm.items.setups[here],
        responses=of_arm.items.responses[here],
        examples=of_arm.items.examples[here],
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
    """Return the votes of an arm that count.

    Surplus votes, votes on gold items and votes of excluded raters (unless `with_excluded`) do not
    count. Votes on flagged responses are included.
    """
    votes = Vote.objects.filter(arm=arm, is_surplus=False)
    gold = list(gold_targets(arm.study))
    if gold:
        votes = votes.exclude(target__in=gold)
    if with_excluded:
        return votes
    # Ids are used instead of a subquery: usually no rater is excluded, and then no join is needed.
    excluded = Rater.objects.filter(study=arm.study_id, is_excluded=True)
    return votes.exclude(rater__in=list(excluded.values_list("pk", flat=True)))


def gold_targets(study: Study) -> QuerySet[GoldAnswer, int]:
    """Return the ids of the targets whose answers are known. No figure includes them."""
    answers = GoldAnswer.objects.filter(study=study)
    return answers.order_by().values_list("target", flat=True).distinct()


def flagged_responses(arm: Arm, *, with_excluded: bool) -> list[int]:
    """Return the ids of responses that more than half of their raters flagged as malformed.

    The raters of a response are those who voted on it or flagged it, without surplus votes, and
    without flags that fill no slot. If the study wants more raters than that per unit, the flags
    must be more than half of the wanted number.
    """
    flaggers: dict[int, set[int]] = {}
    gold = Target.objects.filter(pk__in=list(gold_targets(arm.study)))
    flags = Flag.objects.counted().filter(arm=arm).exclude(response__in=gold.values("response"))
    if not with_excluded:
        flags = flags.exclude(rater__is_excluded=True)
    for response, rater in flags.values_list("response", "rater"):
        flaggers.setdefault(response, set()).add(rater)
    voters: dict[int, set[int]] = {}
    votes = counted_votes(arm, with_excluded=with_excluded).filter(target__response__in=flaggers)
    for response, rater in votes.values_list("target__response", "rater").distinct():
        voters.setdefault(response, set()).add(rater)
    return flagged_by_most(arm.study, flaggers, voters)


def flagged_by_most(
    study: Study, flaggers: Mapping[int, set[int]], voters: Mapping[int, set[int]]
) -> list[int]:
    """Return the responses of one arm that most of their raters flagged; see `flagged_responses`.

    Args:
        study: the study.
        flaggers: ids of raters who flagged a response, by its id.
        voters: ids of raters who voted on a response, by its id.
    """
    return [
        response
        for response, by in flaggers.items()
        if 2 * len(by) > study.n_raters(len(by | voters.get(response, set())))
    ]


def n_gold_items(study: Study) -> int:
    """Return how many gold items a study has, or had in the installation that exported it."""
    said = study.settings.get("n_gold_items")
    return said if isinstance(said, int) else len(gold_targets(study))


def n_responses(study: Study, setup: str = "") -> int:
    """Return how many responses a study is about, rated or not, without gold items.

    For an imported study it is the number in its file, else the number of all responses of its
    setups. With the name of a setup, only responses of that setup are counted.
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
    """The numbers of unrated responses of a study: those to rate, and those that are assumed."""

    n: int
    n_assumed: int  # see `evaluation.votes.assumed_answers`


def unrated_responses(study: Study, seen: Collection[int], setup: str = "") -> Unrated:
    """Return how many responses of a study are neither rated nor flagged.

    Args:
        study: the study.
        seen: ids of the responses that were rated or flagged.
        setup: the name of the only setup that counts; "" for all.
    """
    assumed = assumed_responses(study).unseen(seen)
    if setup:
        assumed = assumed.of_setups(study.setups.filter(name=setup).values_list("pk", flat=True))
    n_assumed = len(assumed.responses)
    n = n_responses(study, setup) - len(seen)
    says_how_many = isinstance(study.settings.get("n_responses"), int) and not setup
    # Planned units, and numbers in files, leave out assumed responses. For other imports every
    # response of the setups was counted, so the assumed ones are subtracted.
    return Unrated(n if not study.is_imported or says_how_many else n - n_assumed, n_assumed)


def n_raters(study: Study, votes: Ints) -> Ints:
    """Return N, the number of raters, of each item: (n_items, n_categories) to (n_items,).

    It is the number that the study wants per unit, or the item's number of votes if that is higher.
    """
    raters: Ints = np.maximum(study.n_raters(0), votes.sum(axis=1))
    return raters


def missing_behind_gates(of_arm: ArmCounts, scheme: Scheme) -> int:
    """Return how many answers are missing on questions behind gates.

    An item has at least as many raters as votes on any of its questions. Votes given in Attest have
    no such gaps, because a closed gate implies a no. An import implies only the noes of raters who
    closed a gate, unless it leaves them out.
    """
    n_raters_here = np.max([votes.sum(axis=1) for votes in of_arm.votes.values()], axis=0)
    missing = 0
    for question in scheme.questions:
        if gates := scheme.gates_of(question):
            n_asked = n_raters_here
            if question.scale != YES_NO:  # behind a closed gate it has no answer
                n_asked = n_asked - np.max([of_arm.votes[gate][:, NO] for gate in gates], axis=0)
            n_given = of_arm.votes[question.key].sum(axis=1)
            missing += int(np.maximum(0, n_asked - n_given).sum())
    return missing


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
        examples=np.unique([row[6] for row in named], return_inverse=True)[1].astype(np.int64),
        is_always_full=np.array([is_always_full(study, row[6]) for row in named], bool),
    )


def n_outside_full_share(of_arm: ArmCounts) -> int:
    """Return how many items may have stopped early, in a study that stops when decided."""
    return int(np.count_nonzero(~of_arm.items.is_always_full))


def is_always_full(study: Study, example: str) -> bool:
    """Return whether the units of an example, given by its key, always get all raters."""
    return not study.stops_when_decided or share_is_drawn(
        study.seed, example, "full", study.full_share
    )


def _hash(items: Items, *counts: Mapping[str, Ints]) -> str:
    """Return a hash of the counts in their order. Equal data have equal hashes on any database."""
    content = hashlib.sha256(items.dialogs.tobytes())
    for by_question in counts:
        for question, array in by_question.items():
            content.update(question.encode())
            content.update(array.tobytes())
    return content.hexdigest()[:16]
