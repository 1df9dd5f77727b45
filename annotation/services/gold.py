"""Writes of gold items: responses of a study whose answers are known."""

from collections.abc import Mapping

from django.db import transaction

from accounts.models import User
from accounts.services import record
from annotation.known_answers import problem_with, stored_known_answers
from annotation.models import Arm, Study
from annotation.planning import responses_of
from annotation.schemes import load_scheme
from annotation.services.studies import StudyError, lock_study
from annotation.services.units import store_known_answers, target_ids
from annotation.voting import with_implied


@transaction.atomic
def set_gold(
    study: Study,
    answers: Mapping[str, Mapping[str, int]],
    by: User | None,
    *,
    n_qualifying: int = 0,
    threshold: float | None = None,
) -> None:
    """Set the gold items of a planned study: response key → question → known answer.

    All raters rate them, one at a time, among the other units; the first `n_qualifying` come
    before all others. A rater who gives less than the share `threshold` of the known answers gets
    no further units and is excluded.

    Raises:
        StudyError: a response is not in this study, answers are not a full form, or a number does
            not fit.
    """
    lock_study(study, Study.State.PLANNED)
    scheme = load_scheme(study.scheme)
    if scheme.target == "citation" or not study.arms.filter(kind=Arm.Kind.SEPARATE).exists():
        raise StudyError(
            "This study has no separate arm. Known answers are about single responses, so they "
            "need it."
        )
    ids = dict(responses_of(study).filter(key__in=answers).values_list("key", "pk"))
    for key, given in answers.items():
        if problem := problem_with(scheme, ids, key, given):
            raise StudyError(f"Known answers, {problem}")
    if n_qualifying > len(answers):
        raise StudyError(
            f"Found {n_qualifying} known answers to qualify; expected at most {len(answers)}, "
            "because the study has no more."
        )
    if threshold is not None and not 0 <= threshold <= 1:
        raise StudyError(f"Found the threshold {threshold:g}; expected a share from 0 to 1.")
    targets = target_ids({(pk, None) for pk in ids.values()})
    known = {targets[ids[key], None]: with_implied(scheme, answers[key]) for key in answers}
    store_known_answers(study, known, n_qualifying, threshold)
    record(by, "study.gold-set", study.name, n_items=len(answers))


@transaction.atomic
def add_known_answers(study: Study, response: str, answers: Mapping[str, int], by: User) -> None:
    """Make one response a gold item of a planned study, or change its known answers.

    The other gold items, the number of those to qualify, and the threshold stay.

    Raises:
        StudyError: as `set_gold`.
    """
    lock_study(study, Study.State.PLANNED)
    known = stored_known_answers(study) | {response: answers}
    set_gold(study, known, by, n_qualifying=study.n_qualifying, threshold=study.gold_threshold)
