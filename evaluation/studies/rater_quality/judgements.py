"""The votes of a study one by one, in each rater's order, as the checks of raters need them."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

import numpy as np

from annotation.models import Arm, Flag, Rater, Study, Target, Vote
from annotation.schemes import Scheme, load_scheme
from evaluation.statistics.intervals import Floats, Indexes
from evaluation.statistics.rater_forms import Forms
from evaluation.statistics.rater_votes import Bools, RaterVotes
from evaluation.votes.counts import flagged_by_most, gold_targets, is_always_full, n_gold_items


class JudgedItem(NamedTuple):
    """One target in one arm. Items are sorted by their fields, which are names."""

    arm: str
    response: str  # key
    citation: int  # 0: the target is a response
    dialog: str
    example: str  # key
    target_id: int
    response_id: int
    example_id: int


@dataclass(frozen=True)
class RaterJudgements:
    """The votes that count, sorted by rater, item and question; arrays are (n_votes,).

    Votes on gold items, on responses that most of their raters flagged, and surplus votes are left
    out. Implied votes are there, but no check uses them on their own.
    """

    scheme: Scheme
    raters: Sequence[Rater]  # sorted by code
    items: Sequence[JudgedItem]
    of_rater: Indexes  # place in `raters`
    of_item: Indexes  # place in `items`
    of_question: Indexes  # place in the scheme
    answers: Indexes  # place on the scale of the question
    is_implied: Bools
    seconds: Floats  # NaN: not known
    moments: Floats  # seconds since 1970; NaN: not known
    units: Indexes  # number of the unit of each vote, the same for all votes of a rater on it
    turns: Indexes  # place of the unit in the rater's order, from 0; -1: not known
    is_first: Bools  # whether the response was shown first in its unit
    is_compared: Bools  # False where the study may have stopped asking before all raters came
    has_random_order: bool  # whether Attest dealt the units out, in random order
    left_out: Mapping[str, int]

    @property
    def counted(self) -> Bools:
        """Whether a rater's votes count in the figures of the study, (n_raters,)."""
        return np.array([not rater.is_excluded for rater in self.raters], np.bool_)

    @cached_property
    def dialogs(self) -> Indexes:
        """The dialog of each vote, as a number, (n_votes,)."""
        names = [item.dialog for item in self.items]
        numbers = np.unique(names, return_inverse=True)[1] if names else np.zeros(0, np.int64)
        return numbers[self.of_item]

    def votes(self, question: int) -> RaterVotes:
        """Return the given votes on one question, by its place in the scheme."""
        here = np.flatnonzero((self.of_question == question) & ~self.is_implied)
        scale = self.scheme.questions[question].scale
        return RaterVotes(
            raters=self.of_rater[here],
            items=np.where(self.is_compared[here], self.of_item[here], -1),
            answers=self.answers[here],
            kind=scale.kind,
            values=scale.values,
        )

    def places(self, question: int) -> Indexes:
        """Return the places of the votes that `votes` returns."""
        return np.flatnonzero((self.of_question == question) & ~self.is_implied)

    def forms(self) -> Forms:
        """Return all answers of a rater about an item as one, also the implied ones."""
        starts = self.form_starts()
        said: dict[bytes, int] = {}
        ends = np.append(starts, len(self.answers))[1:]
        answers = np.column_stack([self.of_question, self.answers])
        codes = [
            said.setdefault(answers[start:end].tobytes(), len(said))
            for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
        ]
        return Forms(
            raters=self.of_rater[starts],
            items=np.where(self.is_compared[starts], self.of_item[starts], -1),
            codes=np.array(codes, np.int64),
            # Responses of one unit are alike, so only the one that was shown first has a turn.
            turns=np.where(self.is_first[starts], self.turns[starts], -1),
            moments=self.moments[starts],
        )

    def form_starts(self) -> Indexes:
        """Return the place of the first vote of each form: a rater's votes on an item."""
        names = self.of_rater * max(1, len(self.items)) + self.of_item
        return np.flatnonzero(np.diff(names, prepend=-1))


def judgements_of(study: Study, about: Rater | None = None) -> RaterJudgements:
    """Return the votes of a study, in a fixed number of statements.

    Args:
        study: the study.
        about: the only rater whose items are wanted, with the votes of all raters on them; None:
            all items. What is left out is then counted among the items that this rater voted on.
            The rater's own turns are the same, and those of others count only these items.
    """
    scheme, arms = load_scheme(study.scheme), list(study.arms.all())
    # Sorted here, because databases differ in the order of names.
    raters = sorted(Rater.objects.filter(study=study), key=lambda rater: rater.code)
    gold = dict(gold_targets(study).values_list("target", "target__response"))
    stored = _stored_votes(arms, about)
    wanted = {vote.item for vote in stored if about is None or vote.rater == about.pk}
    n_surplus = sum(
        vote.is_surplus for vote in stored if vote.target not in gold and vote.item in wanted
    )
    votes = [vote for vote in stored if vote.target not in gold and not vote.is_surplus]
    items = _items(study, arms, {vote.item for vote in votes})
    flags = list(
        Flag.objects.counted().filter(arm__in=arms).values_list("arm", "response", "rater")
    )
    about_gold, excluded = set(gold.values()), {rater.pk for rater in raters if rater.is_excluded}
    flagged = _flagged(
        study,
        [flag for flag in flags if flag[1] not in about_gold and flag[2] not in excluded],
        [vote for vote in votes if vote.rater not in excluded] if flags else (),
        items,
    )
    votes = [vote for vote in votes if (vote.arm, items[vote.item].response_id) not in flagged]
    if about is None:
        n_gold = n_gold_items(study) if study.is_imported else len(gold)
    else:
        n_gold = len({target for _, target in wanted} & gold.keys())
        flagged &= {(arm, items[arm, target].response_id) for arm, target in wanted & items.keys()}
        judged = {vote.item for vote in votes if vote.rater == about.pk}
        votes = [vote for vote in votes if vote.item in judged]
    places = {rater.pk: place for place, rater in enumerate(raters)}
    named = sorted({items[vote.item] for vote in votes})
    is_full = np.array([is_always_full(study, item.example) for item in named], np.bool_)
    columns = _columns(scheme, votes, items, named, places)
    return RaterJudgements(
        scheme=scheme,
        raters=raters,
        items=named,
        is_compared=is_full[columns.of_item],
        has_random_order=not study.is_imported or "mixing" in study.settings,
        left_out={
            "flagged_responses": len({response for _, response in flagged}),
            "gold_items": n_gold,
            "surplus_votes": n_surplus,
            "items_outside_full_share": int(np.count_nonzero(~is_full)),
        },
        **columns._asdict(),
    )


class StoredVote(NamedTuple):
    """One row of the table of votes."""

    rater: int
    arm: int
    target: int
    question: str
    answer: int
    is_implied: bool
    is_surplus: bool
    seconds: float | None
    at: datetime | None
    position: int | None

    @property
    def item(self) -> tuple[int, int]:
        """The ids of the arm and the target."""
        return self.arm, self.target


def _stored_votes(arms: Sequence[Arm], about: Rater | None) -> list[StoredVote]:
    """Return the votes of the arms, or only those on responses that one rater has voted on.

    These are all votes on a response, because flags leave out responses and not targets.
    """
    votes = Vote.objects.filter(arm__in=arms)
    if about is not None:
        own = Vote.objects.filter(arm__in=arms, rater=about)
        votes = votes.filter(target__response__in=own.values("target__response"))
    rows = votes.order_by().values_list(*StoredVote._fields)
    return [StoredVote(*row) for row in rows.iterator(chunk_size=20_000)]


def _items(
    study: Study, arms: Iterable[Arm], rated: set[tuple[int, int]]
) -> dict[tuple[int, int], JudgedItem]:
    """Return the items by arm and target, ids both."""
    kinds = {arm.pk: arm.kind for arm in arms}
    targets = {target for _, target in rated}
    rows = Target.objects.filter(response__dataset=study.dataset_id).values_list(
        "pk",
        "response__key",
        "citation__number",
        "response__example__dialog",
        "response__example__key",
        "response",
        "response__example",
    )
    facts = {row[0]: row for row in rows.iterator(chunk_size=20_000) if row[0] in targets}
    found = {}
    for arm, target in rated:
        pk, response, citation, dialog, example, response_id, example_id = facts[target]
        found[arm, target] = JudgedItem(
            kinds[arm], response, citation or 0, dialog, example, pk, response_id, example_id
        )
    return found


def _flagged(
    study: Study,
    flags: Iterable[tuple[int, int, int]],
    votes: Iterable[StoredVote],
    items: Mapping[tuple[int, int], JudgedItem],
) -> set[tuple[int, int]]:
    """Return the arm and response, by their ids, that most of their raters flagged."""
    flaggers: dict[int, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    voters: dict[int, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    for arm, response, rater in flags:
        flaggers[arm][response].add(rater)
    for vote in votes:
        voters[vote.arm][items[vote.item].response_id].add(vote.rater)
    return {
        (arm, response)
        for arm, by_response in flaggers.items()
        for response in flagged_by_most(study, by_response, voters[arm])
    }


# --- columns ----------------------------------------------------------------------------------


class _Columns(NamedTuple):
    """The columns of `RaterJudgements`."""

    of_rater: Indexes
    of_item: Indexes
    of_question: Indexes
    answers: Indexes
    is_implied: Bools
    seconds: Floats
    moments: Floats
    units: Indexes
    turns: Indexes
    is_first: Bools


def _columns(
    scheme: Scheme,
    votes: Sequence[StoredVote],
    items: Mapping[tuple[int, int], JudgedItem],
    named: Sequence[JudgedItem],
    raters: Mapping[int, int],
) -> _Columns:
    place_of = {item: place for place, item in enumerate(named)}
    questions = {key: place for place, key in enumerate(scheme.keys)}
    values = [question.scale.values for question in scheme.questions]
    rows = np.array(
        [
            (
                raters[vote.rater],
                place_of[items[vote.item]],
                questions[vote.question],
                values[questions[vote.question]].index(vote.answer),
                vote.is_implied,
                vote.position or 0,
            )
            for vote in votes
        ],
        np.int64,
    ).reshape(-1, 6)
    known = np.array([(_or_nan(vote.seconds), _moment(vote.at)) for vote in votes]).reshape(-1, 2)
    order = np.lexsort([rows[:, 2], rows[:, 1], rows[:, 0]])
    rows, known = rows[order], known[order]
    # A form is all votes of a rater on an item.
    starts = np.flatnonzero((np.diff(rows[:, :2], axis=0, prepend=-1) != 0).any(axis=1))
    form = np.cumsum(np.bincount(starts, minlength=len(rows))) - 1
    seconds = np.fmax.reduceat(known[:, 0], starts) if len(starts) else np.zeros(0)
    moments = np.fmin.reduceat(known[:, 1], starts) if len(starts) else np.zeros(0)
    units, turns, is_first = _units(rows[starts], moments, named)
    return _Columns(
        of_rater=rows[:, 0],
        of_item=rows[:, 1],
        of_question=rows[:, 2],
        answers=rows[:, 3],
        is_implied=rows[:, 4].astype(np.bool_),
        seconds=seconds[form],
        moments=moments[form],
        units=units[form],
        turns=turns[form],
        is_first=is_first[form],
    )


def _or_nan(number: float | None) -> float:
    return math.nan if number is None else number


def _moment(at: datetime | None) -> float:
    return math.nan if at is None else at.timestamp()


def _units(
    forms: Indexes, moments: Floats, named: Sequence[JudgedItem]
) -> tuple[Indexes, Indexes, Bools]:
    """Return the unit of each form, the turn of that unit, and whether the form is its first.

    The forms of a merged unit are submitted at the same moment. A form of another arm is a unit.
    """
    numbers: dict[tuple[object, ...], int] = {}
    units: list[int] = []
    firsts: dict[int, tuple[int, int, int]] = {}
    for place, ((rater, item, *_, position), moment) in enumerate(
        zip(forms.tolist(), moments.tolist(), strict=True)
    ):
        arm, example = named[item].arm, named[item].example
        is_merged = arm == Arm.Kind.MERGED
        when = "" if math.isnan(moment) else moment
        key = (rater, arm, example, when) if is_merged else (rater, item)
        unit = numbers.setdefault(key, len(numbers))
        units.append(unit)
        firsts[unit] = min(firsts.get(unit, (position, item, place)), (position, item, place))
    is_first = np.zeros(len(units), np.bool_)
    is_first[[place for *_, place in firsts.values()]] = True
    of_form = np.array(units, np.int64)
    first = np.flatnonzero(is_first & ~np.isnan(moments))
    first = first[np.lexsort([forms[first, 1], moments[first], forms[first, 0]])]
    n = np.bincount(forms[first, 0])
    of_unit = np.full(len(numbers), -1)
    of_unit[of_form[first]] = np.arange(len(first)) - np.repeat(np.cumsum(n) - n, n)
    turns = of_unit[of_form]
    return of_form, turns, is_first
