"""Adjudication: what a researcher decides about a disputed target; votes stay as they are."""

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
    """Add what somebody decided, with the reason; return whether that is new.

    Earlier rows stay. A second click changes nothing: the newest row says the same, by the same.

    Args:
        answer: of the question's scale; None: it cannot be decided.
    """
    # Of two clicks at once, the second waits here until the first can be seen.
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
