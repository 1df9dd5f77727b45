"""Adjudication: a researcher's decision about a disputed target. It does not change any vote."""

from django.db import transaction

from accounts.models import User
from accounts.services import record as record_in_audit_trail
from annotation.models import Study, Target
from annotation.schemes import Question
from evaluation.models import Adjudication


@transaction.atomic
def adjudicate(
    study: Study, target: Target, question: Question, answer: int | None, note: str, by: User
) -> bool:
    """Store a researcher's decision with its reason. Return whether the decision is new.

    Earlier decisions are kept. A second click stores nothing, because the newest row already holds
    the same decision by the same researcher.

    Args:
        answer: an answer of the question's scale; None: it cannot be decided.
    """
    # When two clicks arrive at once, the second waits here until it can read the first one's row.
    response = (
        Target.objects.select_for_update(of=("self",))
        .select_related("response")
        .get(pk=target.pk)
        .response
    )
    said = {"answer": answer, "note": note, "by": by}
    newest = Adjudication.objects.filter(study=study, target=target, question=question.key).first()
    if newest and all(getattr(newest, name) == value for name, value in said.items()):
        return False
    Adjudication.objects.create(study=study, target=target, question=question.key, **said)
    record_in_audit_trail(
        by,
        "study.adjudicated",
        study.name,
        response=response.key,
        question=question.key,
        answer="cannot be decided" if answer is None else question.scale.label(answer),
    )
    return True
