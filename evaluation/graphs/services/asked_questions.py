"""Deletion of ad-hoc questions. A question that a study is about cannot be deleted."""

from django.db import transaction

from accounts.models import User
from annotation.models import Unit
from generation.models import Example
from generation.services.asked_questions import QuestionError, delete_question


@transaction.atomic
def delete_asked_question(example: Example, actor: User) -> None:
    """Delete an ad-hoc question with its answers, its grids, and everything stored about them.

    Raises:
        QuestionError: people rate its answers, it is being asked, or it is no ad-hoc question.
    """
    unit = Unit.objects.filter(example=example).select_related("arm__study").first()
    if unit:
        raise QuestionError(
            f"Answers to this question are rated in {unit.arm.study}, so it cannot be deleted."
        )
    delete_question(example, actor)
