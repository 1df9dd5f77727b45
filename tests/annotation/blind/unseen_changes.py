"""Changes of hidden things only. No page of a rater may differ after them."""

from django.db.models import Case, F, Value, When

from annotation.models import (
    Draft,
    Enquiry,
    Flag,
    GoldAnswer,
    Participant,
    QualificationItem,
    Rater,
    Skip,
    Unit,
    Vote,
)
from evaluation.models import Adjudication, AutoScore
from generation.models import Example, ExamplePassage, Response, Setup
from tests.annotation.blind.hidden_material import MARK, SETUPS

OTHER_WAY_ROUND = Case(When(is_gold=True, then=Value(False)), default=Value(True))


def others_have_not_worked() -> None:
    """Delete the votes, drafts, flags, skips and questions of Anna and Ben, and the decisions."""
    others = Rater.objects.filter(user__username__startswith=MARK)
    for model in (Vote, Draft, Flag, Skip, Enquiry):
        n_deleted, _ = model.objects.filter(rater__in=others).delete()
        assert n_deleted
    Adjudication.objects.all().delete()


def scores_are_others() -> None:
    assert AutoScore.objects.update(score=0.9)


def responses_are_of_one_setup() -> None:
    one = Setup.objects.get(model=f"{MARK}-model-{SETUPS[0]}", studies__name="The mill")
    assert Response.objects.filter(dataset=one.dataset).update(setup=one)
    Setup.objects.update(temperature=0.1, prompt="other")


def gold_is_other_way_round() -> None:
    """Let gold be what is none, and none what is gold; turn the known answers round."""
    assert Unit.objects.filter(is_gold=True).exists()
    Unit.objects.update(is_gold=OTHER_WAY_ROUND)
    GoldAnswer.objects.update(answer=1 - F("answer"))
    known_as = Case(When(is_golden=True, then=Value(False)), default=Value(True))
    ExamplePassage.objects.update(is_golden=known_as)
    Example.objects.update(golden_answer="another one")


def people_are_paid_and_judged() -> None:
    assert Participant.objects.update(review="approved", review_reason="", submission="APPROVED")
    others = Rater.objects.filter(user__username__startswith=MARK)
    assert others.update(gold_score=0.1, n_gold=9)
    Rater.objects.filter(is_excluded=True).update(excluded_reason="another one")


CHANGES = (
    others_have_not_worked,
    scores_are_others,
    responses_are_of_one_setup,
    gold_is_other_way_round,
    people_are_paid_and_judged,
)


def right_answers_are_others() -> None:
    """Change the item of the qualification round that Lee has not answered yet."""
    item = QualificationItem.objects.filter(place=2)
    assert item.update(answers={"understand": 0}, explanation="another one")
