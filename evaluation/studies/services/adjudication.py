"""Adjudication: a researcher's decision about a disputed target. It does not change any vote."""

from collections.abc import Sequence

from django.db import transaction
from django.db.models.functions import Coalesce

from accounts.models import User
from accounts.services import record as record_in_audit_trail
from annotation.models import Study, Target
from annotation.schemes import Question, Scheme
from annotation.services.imported_votes import targets_of
from evaluation.models import Adjudication
from generation.records import AdjudicationRecord


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
        Target.objects.select_for_update(of=("self",), no_key=True)  # votes do not wait
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


def store_adjudications(study: Study, scheme: Scheme, records: Sequence[AdjudicationRecord]) -> int:
    """Store decisions from a file that fit the scheme; return how many are new.

    Decisions that the study has are skipped, whether their researcher has an account here or not.
    """
    targets = targets_of(study.dataset, {(row.response, row.citation) for row in records})
    stored = Adjudication.objects.filter(study=study, target__in=targets.values())
    by = Coalesce("by__rater_code", "code")
    known = set(stored.values_list("target", "question", by, "at"))
    scales = {question.key: question.scale for question in scheme.questions}
    decisions = [
        Adjudication(
            study=study,
            target_id=targets[row.response, row.citation],
            question=row.question,
            answer=scales[row.question].number(row.answer) if row.answer else None,
            note=row.note,
            code=row.by,
            at=row.at,
        )
        for row in records
    ]
    new = [d for d in decisions if (d.target_id, d.question, d.code, d.at) not in known]
    Adjudication.objects.bulk_create(new)
    return len(new)
