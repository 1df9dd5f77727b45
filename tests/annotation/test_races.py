"""Raters and researchers who change one study at the same moment, each in a thread of their own.

Each race opens a small study of the same material, lets everybody go, and looks at what is stored.
The ordinary suite runs every race once, `make test-faults` twenty times.
"""

import random
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from typing import Any, NamedTuple

import pytest
from django.utils import timezone

from accounts.models import AuditEntry, User
from annotation.models import Assignment, Rater, Skip, Study, Target, Vote, VoteChange
from annotation.schemes import load_scheme
from annotation.services.claiming import claim_next_unit
from annotation.services.gold import set_gold
from annotation.services.rating import SubmitOutcome, flag_responses, skip_unit
from annotation.services.refilling import refill_units
from annotation.services.studies import (
    StudyError,
    add_raters,
    close_study,
    extend_study,
    open_study,
    pause_study,
    write_guideline,
)
from annotation.services.study_raters import set_excluded, take_out_rater
from evaluation.models import Adjudication
from evaluation.studies.services.adjudication import adjudicate
from generation.models import Dataset
from tests.annotation.crowd import at_once
from tests.annotation.makers import material, opened, planned, rate, rater_users, raters_of
from tests.annotation.promises import broken_promises

pytestmark = [pytest.mark.both(transaction=True)]

PLAN: dict[str, Any] = {"scheme": "SSA", "raters": 5, "raters_per_unit": 3}
TIMES = 20
YES, NO = {"sensible": 1, "specific": 1}, {"sensible": 1, "specific": 0}
LATE = timedelta(seconds=1)
WITHIN_SECONDS = 0.15  # a disturbance comes at a random moment of this time


class Said(NamedTuple):
    """The answers of a rater to a unit that were acknowledged last, and whether they count."""

    answers: Mapping[str, int]
    counts: bool


# Keys are the ids of rater and unit.
Acknowledged = dict[tuple[int, int], Said]


# --- who takes part -------------------------------------------------------------------------


def rate_all(rater: Rater, *, is_late: bool = False) -> Acknowledged:
    """Rate every unit that a rater gets, each yes at first and then changed to no."""
    said: Acknowledged = {}
    while held := claim_next_unit(rater):
        if is_late:
            mine = Assignment.objects.filter(pk=held.pk, rater=rater, submitted_at=None)
            mine.update(lease_until=timezone.now() - LATE)
        for answers in (YES, NO):
            outcome = rate(rater, held, answers)
            if outcome is SubmitOutcome.CLOSED:
                continue
            before = said.get((rater.pk, held.unit_id))
            counts = before.counts if before else outcome is SubmitOutcome.STORED
            said[rater.pk, held.unit_id] = Said(answers, counts)
    return said


def skip_all(rater: Rater) -> Acknowledged:
    """Skip every unit that a rater gets."""
    while held := claim_next_unit(rater):
        skip_unit(held.unit, rater, "I cannot judge this topic")
    return {}


def soon(draw: random.Random, action: Callable[[], object]) -> Callable[[], Acknowledged]:
    """Return an action that begins at a random moment; a refusal does nothing."""
    seconds = draw.uniform(0, WITHIN_SECONDS)

    def act() -> Acknowledged:
        time.sleep(seconds)
        with suppress(StudyError):
            action()
        return {}

    return act


def all_at_once(actions: Iterable[Callable[[], Acknowledged]]) -> Acknowledged:
    said: Acknowledged = {}
    for each in at_once(*actions):
        said |= each
    return said


def rating(study: Study, *, is_late: bool = False) -> list[Callable[[], Acknowledged]]:
    return [partial(rate_all, rater, is_late=is_late) for rater in raters_of(study)]


def fresh(rater: Rater) -> Rater:
    """Return a rater as another request reads it."""
    return Rater.objects.select_related("study").get(pk=rater.pk)


def again(study: Study) -> Study:
    return Study.objects.get(pk=study.pk)


# --- what must be true ----------------------------------------------------------------------


def check(study: Study, said: Acknowledged, *, excluded: Rater | None = None) -> None:
    """Check that no unit has more than N raters, and that all that was acknowledged is stored."""
    assert broken_promises(study) == {}
    stored: dict[tuple[int, int], dict[str, int]] = {}
    surplus = set()
    for vote in Vote.objects.filter(arm__study=study).prefetch_related("target__units__arm"):
        [unit] = [unit.pk for unit in vote.target.units.all() if unit.arm_id == vote.arm_id]
        stored.setdefault((vote.rater_id, unit), {})[vote.question] = vote.answer
        if vote.is_surplus:
            surplus.add((vote.rater_id, unit))
    assert stored == {place: dict(each.answers) for place, each in said.items()}
    uncounted = {place for place, each in said.items() if not each.counts}
    if excluded:  # their units may be filled anew
        surplus, uncounted = (
            {place for place in places if place[0] != excluded.pk}
            for places in (surplus, uncounted)
        )
    assert surplus == uncounted


def check_nothing_after(at: datetime, study: Study, rater: Rater | None = None) -> None:
    """Check that no vote of a study, or of one rater, counts or changes after a moment."""
    votes = Vote.objects.filter(arm__study=study)
    votes = votes.filter(rater=rater) if rater else votes
    assert not votes.filter(is_surplus=False, at__gt=at).exists()
    assert not VoteChange.objects.filter(vote__in=votes, at__gt=at).exists()


def moment_of(action: str, study: Study) -> datetime:
    return AuditEntry.objects.get(action=action, subject=study.name).at


# --- races ----------------------------------------------------------------------------------


def close_beside_submit(dataset: Dataset, name: str, draw: random.Random) -> None:
    study = opened(dataset, name=name, **PLAN)

    said = all_at_once([*rating(study), soon(draw, partial(close_study, again(study), None))])

    check(study, said)
    check_nothing_after(moment_of("study.closed", study), study)
    assert not study.assignments.in_hand().exists()


def take_out_beside_submit(dataset: Dataset, name: str, draw: random.Random) -> None:
    study = opened(dataset, name=name, **PLAN)
    out = raters_of(study)[0]

    taking_out = soon(draw, partial(take_out_rater, fresh(out), None))
    said = all_at_once([*rating(study), taking_out])

    check(study, said)
    check_nothing_after(moment_of("study.rater-taken-out", study), study, out)
    assert not out.assignments.in_hand().exists()


def exclusion_and_refill_while_rating(dataset: Dataset, name: str, draw: random.Random) -> None:
    study = opened(dataset, name=name, **PLAN)
    out = raters_of(study)[0]

    excluding = soon(draw, partial(set_excluded, fresh(out), True, "Clicked at random.", None))
    refilling = [soon(draw, partial(refill_units, again(study), None)) for _ in range(2)]
    said = all_at_once([*rating(study), excluding, *refilling])

    check(study, said, excluded=out)
    excluded_at = moment_of("study.rater-excluded", study)
    counted = Vote.objects.filter(arm__study=study, rater=out, is_surplus=False)
    assert not counted.filter(at__gt=excluded_at).exists()
    assert not out.assignments.in_hand().exists()


def gold_changed_while_open(dataset: Dataset, name: str, draw: random.Random) -> None:
    study = planned(dataset, name=name, **PLAN | {"raters_per_unit": 5})  # gold goes to everybody
    yes, no = {"e1-cool": YES}, {"e1-cool": NO, "e2-cool": NO}
    set_gold(study, yes, None, n_qualifying=1)

    opening = soon(draw, partial(open_study, again(study), None))
    changing = [soon(draw, partial(set_gold, again(study), known, None)) for known in (no, yes)]
    said = all_at_once([opening, *changing])
    study = again(study)
    changing = [soon(draw, partial(set_gold, again(study), known, None)) for known in (no, yes)]
    said |= all_at_once([*rating(study), *changing])

    check(study, said)
    planned_gold = study.gold_answers.values("target").distinct().count()
    assert study.n_gold_units == planned_gold
    assert Target.objects.filter(units__arm__study=study, units__is_gold=True).count() == (
        planned_gold
    )
    set_at = AuditEntry.objects.filter(action="study.gold-set", subject=name).latest("at").at
    assert set_at < moment_of("study.opened", study)
    # Everybody ends with no for an answer: half of each item that is yes, all of each that is no.
    known = {answer.answer for answer in study.gold_answers.filter(question="specific")}
    for rater in raters_of(study):
        assert (rater.n_gold, rater.gold_score) == (planned_gold, 0.5 if known == {1} else 1.0)


def skip_storm(dataset: Dataset, name: str, draw: random.Random) -> None:
    study = opened(dataset, name=name, **PLAN)
    raters = raters_of(study)
    two_tabs = [partial(skip_all, rater) for rater in raters[:3] for _ in range(2)]

    said = all_at_once([*two_tabs, *[partial(rate_all, rater) for rater in raters[3:]]])
    # Who asked while others had every slot in hand got nothing. They ask again.
    for rater in raters:
        said |= skip_all(rater) if rater in raters[:3] else rate_all(rater)

    check(study, said)
    n_units = study.assignments.values("unit").distinct().count()
    skips = Skip.objects.filter(rater__study=study)
    assert skips.count() == len(skips.values("rater", "unit").distinct()) == 3 * n_units
    assert len(said) == 2 * n_units
    assert not study.assignments.in_hand().exists()


def two_admins_on_one_study(dataset: Dataset, name: str, draw: random.Random) -> None:
    study = opened(dataset, name=name, **PLAN | {"n_sampled": 2})
    more, leaver = rater_users(7), raters_of(study)[0]
    done: list[str] = []

    def admin(text: str) -> list[Callable[[], object]]:
        def note(action: Callable[[], object], what: str) -> None:
            if action() is not False:
                done.append(what)

        here = partial(again, study)
        return [
            lambda: note(partial(write_guideline, here(), text, None, based_on=1), "wrote"),
            lambda: note(lambda: add_raters(here(), more, None) > 0, "added"),
            lambda: note(partial(take_out_rater, fresh(leaver), None), "took out"),
            lambda: note(partial(extend_study, here(), None, n_sampled=3), "extended"),
            lambda: note(partial(pause_study, here(), None), "paused"),
            lambda: note(partial(close_study, here(), None), "closed"),
        ]

    everything = [soon(draw, action) for text in ("One.", "Two.") for action in admin(text)]
    said = all_at_once([*rating(study), *everything])

    check(study, said)
    check_nothing_after(moment_of("study.closed", study), study)
    assert done.count("closed") == 1
    assert max(map(done.count, ("wrote", "added", "took out", "paused"))) <= 1
    assert study.guidelines.count() == 1 + done.count("wrote")
    assert study.raters.count() == 5 + 2 * done.count("added")
    assert study.assignments.count() == 3 * (3 if "extended" in done else 2)


def adjudicating_twice(dataset: Dataset, name: str, draw: random.Random) -> None:
    study = opened(dataset, name=name, **PLAN)
    target = Target.objects.filter(units__arm__study=study).first()
    assert target is not None
    question = load_scheme(study.scheme).questions[0]
    by, _ = User.objects.get_or_create(username="who-decides")

    clicks = [soon(draw, lambda: adjudicate(study, target, question, 1, "So.", by))] * 4
    said = all_at_once([*rating(study), *clicks])

    check(study, said)
    assert Adjudication.objects.filter(study=study).count() == 1


def expiry_beside_submit(dataset: Dataset, name: str, draw: random.Random) -> None:
    study = opened(dataset, name=name, **PLAN)

    said = all_at_once(rating(study, is_late=True))

    check(study, said)


def guidelines_changed_beside_submit(dataset: Dataset, name: str, draw: random.Random) -> None:
    study = opened(dataset, name=name, **PLAN)
    texts = ("Be strict.", "Be kind.", "Be quick.")

    writing = [soon(draw, partial(write_guideline, again(study), text, None)) for text in texts]
    said = all_at_once([*rating(study), *writing])

    check(study, said)
    versions = list(study.guidelines.all())
    assert [each.version for each in versions] == [1, 2, 3, 4]
    for vote in Vote.objects.filter(arm__study=study).select_related("guideline"):
        assert vote.guideline
        assert vote.at
        assert vote.guideline == max(
            (each for each in versions if each.created_at < vote.at), key=lambda each: each.version
        )


def flags_beside_close(dataset: Dataset, name: str, draw: random.Random) -> None:
    study = opened(dataset, name=name, **PLAN)
    units = {rater: claim_next_unit(rater) for rater in raters_of(study)}

    def flag(rater: Rater, held: Assignment) -> Acknowledged:
        flagged.append(
            flag_responses(held.unit, rater, held.unit.targets.values_list("pk", flat=True), "cut")
        )
        return {}

    flagged: list[bool] = []
    flagging = [soon(draw, partial(flag, r, held)) for r, held in units.items() if held]
    said = all_at_once([*flagging, soon(draw, partial(close_study, again(study), None))])

    check(study, said)
    assert study.arms.get().flags.count() == sum(flagged)


RACES = [
    close_beside_submit,
    take_out_beside_submit,
    exclusion_and_refill_while_rating,
    gold_changed_while_open,
    skip_storm,
    two_admins_on_one_study,
    adjudicating_twice,
    expiry_beside_submit,
    guidelines_changed_beside_submit,
    flags_beside_close,
]


def test_every_race_keeps_every_promise(tmp_path):
    dataset = material(tmp_path, n_examples=3, setups=["cool"])

    for race in RACES:
        race(dataset, race.__name__, random.Random(1))


@pytest.mark.faults
@pytest.mark.parametrize("race", RACES)
def test_every_race_keeps_every_promise_again_and_again(tmp_path, race):
    dataset = material(tmp_path, n_examples=3, setups=["cool"])

    for number in range(TIMES):
        race(dataset, f"{race.__name__} {number}", random.Random(number))
