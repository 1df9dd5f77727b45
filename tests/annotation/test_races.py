"""What may happen at the same moment as a submit, each race twenty times by real threads.

After each race the promises of the queue hold, and every submit that was answered is stored as the
answer says. `test_late_facts.py` forces the narrow interleavings.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import OperationalError
from django.utils import timezone

from annotation.models import Assignment, Rater, Study, Target, Vote
from annotation.schemes import load_scheme
from annotation.services.claiming import claim_next_unit
from annotation.services.gold import set_gold
from annotation.services.rating import SubmitOutcome, skip_unit, submit_votes
from annotation.services.refilling import refill_units
from annotation.services.studies import (
    StudyError,
    close_study,
    extend_study,
    open_study,
    pause_study,
    resume_study,
    write_guideline,
)
from annotation.services.study_raters import set_excluded, take_out_rater
from evaluation.models import Adjudication
from evaluation.studies.services.adjudication import adjudicate
from tests.annotation.crowd import at_once
from tests.annotation.makers import (
    judged,
    material,
    opened,
    planned,
    raters_of,
    researcher,
)
from tests.annotation.promises import broken_promises

pytestmark = [pytest.mark.faults, pytest.mark.both(transaction=True)]

N_TIMES = 20
YES, NO = {"sensible": 1, "specific": 1}, {"sensible": 0}
Race = Callable[[Study], Iterable[Callable[[], Any]]]


def fresh(rater: Rater) -> Rater:
    """Return a rater as another request reads them."""
    return Rater.objects.select_related("study", "user").get(pk=rater.pk)


def submit(rater: Rater, held: Assignment, answers: dict[str, int] = YES) -> SubmitOutcome:
    return submit_votes(held.unit, fresh(rater), judged(rater, held, answers), 5.0)


def in_hand(study: Study) -> list[tuple[Rater, Assignment]]:
    """Let each rater take a unit; return those who got one."""
    taken = [(rater, claim_next_unit(rater)) for rater in raters_of(study)]
    return [(rater, held) for rater, held in taken if held]


def submits(study: Study) -> list[Callable[[], SubmitOutcome]]:
    return [partial(submit, rater, held) for rater, held in in_hand(study)]


def change_of_mind(study: Study) -> Callable[[], SubmitOutcome]:
    """Submit one unit now; return the change of its votes."""
    rater, held = in_hand(study)[0]
    submit(rater, held)
    return partial(submit, rater, held, NO)


# --- the races ------------------------------------------------------------------------------


def close_beside_submit(study: Study) -> list[Callable[[], Any]]:
    change = change_of_mind(study)
    return [*submits(study), change, partial(close_study, study, None)]


def take_out_beside_submit(study: Study) -> list[Callable[[], Any]]:
    first = fresh(raters_of(study)[0])
    return [*submits(study), partial(take_out_rater, first, None)]


def exclusion_and_refill_while_rating(study: Study) -> list[Callable[[], Any]]:
    change_of_mind(study)()
    first = fresh(raters_of(study)[0])
    return [
        *submits(study),
        partial(set_excluded, first, True, "They clicked at random.", None),
        partial(refill_units, Study.objects.get(pk=study.pk), None),
    ]


def skip_storm(study: Study) -> list[Callable[[], Any]]:
    taken = in_hand(study)
    skips = [partial(skip_unit, held.unit, fresh(rater), "other") for rater, held in taken]
    return [*skips, *skips, *[partial(claim_next_unit, fresh(rater)) for rater, _ in taken]]


def two_admins_on_one_study(study: Study) -> list[Callable[[], Any]]:
    each = [Study.objects.get(pk=study.pk) for _ in range(5)]
    return [
        *submits(study),
        partial(pause_study, each[0], None),
        partial(resume_study, each[1], None),
        partial(close_study, each[2], None),
        partial(close_study, each[3], None),
        partial(extend_study, each[4], None),
    ]


def expiry_beside_submit(study: Study) -> list[Callable[[], Any]]:
    [(late, held), *others] = in_hand(study)
    past = timezone.now() - timedelta(minutes=1)
    Assignment.objects.filter(pk=held.pk).update(lease_until=past)
    return [
        partial(submit, late, held),
        *[partial(submit_and_claim, rater, other) for rater, other in others],
    ]


def submit_and_claim(rater: Rater, held: Assignment) -> SubmitOutcome:
    outcome = submit(rater, held)
    claim_next_unit(fresh(rater))
    return outcome


def guidelines_beside_submit(study: Study) -> list[Callable[[], Any]]:
    texts = [f"Version {number}" for number in range(3)]
    return [*submits(study), *[partial(write_guideline, study, text, None) for text in texts]]


RACES: list[Race] = [
    close_beside_submit,
    take_out_beside_submit,
    exclusion_and_refill_while_rating,
    skip_storm,
    two_admins_on_one_study,
    expiry_beside_submit,
    guidelines_beside_submit,
]


def refused_or_done(action: Callable[[], Any]) -> Any:
    """Return what an action answers; a refusal in words is an answer too."""
    try:
        return action()
    except (StudyError, OperationalError) as error:
        if isinstance(error, OperationalError) and "locked" not in str(error):
            raise
        return error


@pytest.mark.parametrize("race", RACES, ids=lambda race: race.__name__)
def test_a_race_breaks_no_promise(race, tmp_path):
    dataset = material(tmp_path, n_examples=3, setups=["cool"])
    outcomes: Counter[str] = Counter()

    for number in range(N_TIMES):
        study = opened(dataset, scheme="SSA", raters=5, name=f"Race {number}", raters_per_unit=3)
        before = Vote.objects.filter(arm__study=study).count()
        answers = at_once(*[partial(refused_or_done, action) for action in race(study)])

        assert broken_promises(study) == {}
        said = [answer for answer in answers if isinstance(answer, SubmitOutcome)]
        outcomes.update(answer.value for answer in said)
        stored = Vote.objects.filter(arm__study=study)
        submitted = {SubmitOutcome.STORED, SubmitOutcome.SURPLUS}
        by_submit = [answer for answer in said if answer in submitted]
        assert stored.count() >= before + 2 * len(by_submit)  # two questions each
        state = Study.objects.get(pk=study.pk).state
        if state == Study.State.CLOSED:
            late = Assignment.objects.filter(study=study, submitted_at=None, rater__isnull=False)
            assert not late.exists()
            assert all(vote.answer == 1 for vote in stored) is (SubmitOutcome.CHANGED not in said)

    assert outcomes.keys() & {"stored", "surplus"} or race is skip_storm


def test_gold_that_is_set_while_the_study_opens_is_there_or_refused(tmp_path):
    dataset = material(tmp_path, n_examples=3, setups=["cool"])
    seen = set()
    for number in range(N_TIMES):
        study = planned(dataset, scheme="SSA", raters=3, name=f"Gold {number}", raters_per_unit=3)
        opening, setting = (Study.objects.get(pk=study.pk) for _ in range(2))
        at_once(
            partial(refused_or_done, partial(open_study, opening, researcher())),
            partial(refused_or_done, partial(set_gold, setting, {"e1-cool": YES}, None)),
        )
        study.refresh_from_db()
        n_gold = sum(unit.is_gold for arm in study.arms.all() for unit in arm.units.all())
        assert study.state == Study.State.OPEN
        assert n_gold == study.n_gold_units
        seen.add(n_gold)
    assert seen <= {0, 1}


def test_two_adjudications_of_one_click_are_one(tmp_path):
    study = opened(material(tmp_path), scheme="SSA", raters=3, raters_per_unit=3)
    scheme, by = load_scheme(study.scheme), researcher()
    [*targets] = Target.objects.filter(units__arm__study=study).distinct()
    for number in range(N_TIMES):
        target = targets[number % len(targets)]
        note = f"reason {number}"
        at_once(*[partial(adjudicate, study, target, scheme.questions[0], 1, note, by)] * 3)
        assert Adjudication.objects.filter(note=note).count() == 1
