"""The promises that the database itself keeps, whatever code writes to it."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError, models, transaction
from django.db.models import RestrictedError

from accounts.models import User
from annotation.models import (
    Arm,
    Assignment,
    Draft,
    Exposure,
    Flag,
    Guideline,
    Rater,
    Skip,
    Study,
    Target,
    Unit,
    UnitTarget,
    Vote,
)
from evaluation.models import AutoScore, MetricRun
from generation.models import (
    Citation,
    Dataset,
    Example,
    ExamplePassage,
    Passage,
    Response,
    ResponsePassage,
    Setup,
    Turn,
)

pytestmark = pytest.mark.both
Make = Callable[..., Any]
THEN = "2026-01-02T03:04Z"


def refused(make: Make, **fields: Any) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        make(**fields)


class World:
    """One of everything, to be added to."""

    def __init__(self) -> None:
        self.dataset = Dataset.objects.create(name="pilot", slug="pilot")
        self.example = self.make(Example, key="e1", dialog="e1", dataset=self.dataset)
        self.passage = self.make(Passage, key="p1", text="Evidence.", dataset=self.dataset)
        self.setup = self.make(Setup, name="model-a", dataset=self.dataset)
        self.response = self.add_response("r1")
        self.target = self.make(Target, response=self.response)
        self.study = self.add_study("pilot")
        self.arm = self.make(Arm, study=self.study, kind="separate")
        self.anna = self.make(Rater, study=self.study, code="anna")
        self.ben = self.make(Rater, study=self.study, code="ben")
        self.unit = self.make(Unit, arm=self.arm, example=self.example)

    def make(self, model: type[models.Model], **fields: Any) -> Any:
        return model._default_manager.create(**fields)

    def add_response(self, key: str, dataset: Dataset | None = None) -> Any:
        return self.make(
            Response,
            key=key,
            text="It was in 1911.",
            example=self.example,
            setup=self.setup,
            dataset=dataset or self.dataset,
            is_evidence_stated=False,
        )

    def add_slot(self, slot: int, **fields: Any) -> Any:
        known = {"study": self.study, "unit": self.unit, "group": 0, "turn": 1, "key": 1}
        return self.make(Assignment, slot=slot, **known | fields)

    def add_study(self, name: str, **fields: Any) -> Any:
        known = {"slug": name, "dataset": self.dataset, "scheme": {}, "raters_per_unit": 5}
        return self.make(Study, name=name, **(known | fields))

    def vote(self, **fields: Any) -> Any:
        known = {"arm": self.arm, "target": self.target, "rater": self.anna}
        return self.make(Vote, **(known | {"question": "q", "answer": 1} | fields))


@pytest.fixture
def world(db: None) -> World:
    return World()


def test_dataset_and_study_have_a_name_and_an_address_of_their_own(world):
    refused(Dataset.objects.create, name="pilot", slug="other")
    refused(Dataset.objects.create, name="other", slug="pilot")
    refused(world.add_study, name="pilot", slug="other")
    refused(world.add_study, name="other", slug="pilot")


def test_a_study_says_how_many_raters_unless_it_is_imported(world):
    refused(world.add_study, name="planned", raters_per_unit=None)

    assert world.add_study("imported", raters_per_unit=None, is_imported=True).pk


def test_a_study_has_each_arm_once(world):
    refused(Arm.objects.create, study=world.study, kind="separate")

    assert Arm.objects.create(study=world.study, kind="merged").pk


def test_a_study_has_each_version_of_its_guidelines_once(world):
    world.make(Guideline, study=world.study, version=1, text="Read first.")

    refused(Guideline.objects.create, study=world.study, version=1, text="Read twice.")


def test_a_code_is_one_rater_in_a_study_and_may_be_another_in_the_next(world):
    refused(Rater.objects.create, study=world.study, code="anna")

    assert Rater.objects.create(study=world.add_study("next"), code="anna").pk


def test_a_person_is_one_rater_in_a_study(world):
    person = User.objects.create_user("rachel")
    world.make(Rater, study=world.study, code="R-1", user=person)

    refused(Rater.objects.create, study=world.study, code="R-2", user=person)
    assert Rater.objects.create(study=world.add_study("next"), code="R-1", user=person).pk


def test_a_person_who_rated_cannot_be_deleted(world):
    person = User.objects.create_user("rachel")
    world.make(Rater, study=world.study, code="R-1", user=person)

    with pytest.raises(models.ProtectedError):
        person.delete()


def test_a_response_is_one_target_and_each_citation_one_more(world):
    citation = world.make(Citation, response=world.response, number=1)
    world.make(Target, response=world.response, citation=citation)

    refused(Target.objects.create, response=world.response)
    refused(Target.objects.create, response=world.response, citation=citation)


def test_citations_are_numbered_from_1_each_once(world):
    world.make(Citation, response=world.response, number=1)

    refused(Citation.objects.create, response=world.response, number=1)
    refused(Citation.objects.create, response=world.response, number=0)


def test_a_rater_answers_a_question_about_a_target_once_in_an_arm(world):
    world.vote()
    merged = world.make(Arm, study=world.study, kind="merged")

    refused(world.vote)
    refused(world.vote, answer=0, is_implied=True)
    for other in ({"question": "p"}, {"rater": world.ben}, {"arm": merged}):
        assert world.vote(**other).pk


def test_a_surplus_vote_fills_no_slot(world):
    slot = world.add_slot(1, rater=world.anna, submitted_at=THEN)

    refused(world.vote, is_surplus=True, assignment=slot)
    assert world.vote(is_surplus=True).pk


def test_only_who_is_excluded_has_a_reason(world):
    anna = Rater.objects.filter(pk=world.anna.pk)

    refused(anna.update, excluded_reason="Clicks without reading.")
    assert anna.update(is_excluded=True, excluded_reason="Clicks without reading.")
    refused(anna.update, is_excluded=False)


def test_a_rater_flags_a_response_once_in_an_arm(world):
    flag = {"arm": world.arm, "response": world.response, "rater": world.anna}
    world.make(Flag, **flag)

    refused(Flag.objects.create, **flag, reason="again")
    assert Flag.objects.create(**flag | {"rater": world.ben}).pk


def test_a_slot_of_a_unit_is_planned_once_and_counts_from_1(world):
    world.add_slot(1)

    refused(world.add_slot, slot=1)
    refused(world.add_slot, slot=0)
    assert world.add_slot(2).pk


def test_a_rater_gets_a_unit_once_while_free_slots_are_many(world):
    world.add_slot(1, rater=world.anna, submitted_at=THEN)
    world.add_slot(2)
    free = world.add_slot(3)

    refused(Assignment.objects.filter(pk=free.pk).update, rater=world.anna)
    assert Assignment.objects.filter(pk=free.pk).update(rater=world.ben)


def test_a_rater_has_one_unit_in_hand(world):
    another = world.make(Unit, arm=world.arm, example=world.example)
    taken = world.add_slot(1, rater=world.anna)
    free = world.add_slot(1, unit=another)

    refused(Assignment.objects.filter(pk=free.pk).update, rater=world.anna)
    taken.submitted_at = THEN
    taken.save()
    assert Assignment.objects.filter(pk=free.pk).update(rater=world.anna)


def test_nobody_can_have_submitted_a_slot_that_nobody_took_or_that_was_let_go(world):
    refused(world.add_slot, slot=1, submitted_at=THEN)

    taken = world.add_slot(1, rater=world.anna, submitted_at=THEN)
    refused(Assignment.objects.filter(pk=taken.pk).update, rater=None)
    refused(Assignment.objects.filter(pk=taken.pk).update, is_let_go=True)


def test_a_rater_meets_a_target_once_or_once_in_each_arm_where_a_study_allows_it(world):
    met = {"rater": world.anna, "target": world.target, "unit": world.unit}
    world.make(Exposure, **met)
    world.make(Exposure, **met, scope="separate")
    world.make(Exposure, **met, scope="merged")

    refused(Exposure.objects.create, **met)
    refused(Exposure.objects.create, **met, scope="merged")


def test_a_unit_shows_a_target_once_and_one_target_in_each_place(world):
    other = world.make(Target, response=world.add_response("r2"))
    world.make(UnitTarget, unit=world.unit, target=world.target, place=0)

    refused(UnitTarget.objects.create, unit=world.unit, target=world.target, place=1)
    refused(UnitTarget.objects.create, unit=world.unit, target=other, place=0)


def test_a_rater_has_one_draft_of_a_unit_and_skips_it_once(world):
    draft = {"unit": world.unit, "rater": world.anna, "saved_at": THEN}
    skip = {"unit": world.unit, "rater": world.anna, "reason": "Another reason", "at": THEN}
    world.make(Draft, **draft)
    world.make(Skip, **skip)

    refused(Draft.objects.create, **draft)
    refused(Skip.objects.create, **skip)


def test_a_rater_with_votes_cannot_be_deleted_alone(world):
    world.vote()

    with pytest.raises(RestrictedError):
        world.anna.delete()


@pytest.mark.parametrize(("index", "parent"), [(0, 0), (0, -2), (1, 1), (1, 2)])
def test_a_turn_answers_an_earlier_turn_or_none(world, index, parent):
    turn = {"example": world.example, "speaker": "user", "text": "Why?"}

    refused(Turn.objects.create, index=index, parent_index=parent, **turn)
    assert Turn.objects.create(index=index, parent_index=-1, **turn).pk


def test_a_dialog_has_each_turn_once(world):
    turn = {"example": world.example, "index": 0, "parent_index": -1, "speaker": "user"}
    world.make(Turn, text="Why?", **turn)

    refused(Turn.objects.create, text="When?", **turn)


@pytest.mark.parametrize("kind", ["example", "passage", "response", "setup"])
def test_an_id_is_there_once_in_a_dataset_and_may_come_again_in_another(world, kind):
    other = Dataset.objects.create(name="other", slug="other")
    make: dict[str, Make] = {
        "example": lambda d: world.make(Example, key="e1", dialog="e1", dataset=d),
        "passage": lambda d: world.make(Passage, key="p1", text="Other.", dataset=d),
        "response": lambda d: world.add_response("r1", d),
        "setup": lambda d: world.make(Setup, name="model-a", dataset=d),
    }

    with pytest.raises(IntegrityError), transaction.atomic():
        make[kind](world.dataset)
    assert make[kind](other).pk


def test_a_passage_is_evidence_of_an_example_once_and_has_a_place_of_its_own(world):
    second = world.make(Passage, key="p2", text="More.", dataset=world.dataset)
    evidence = {"example": world.example, "is_golden": True}
    world.make(ExamplePassage, passage=world.passage, position=0, **evidence)

    refused(ExamplePassage.objects.create, passage=world.passage, position=1, **evidence)
    refused(ExamplePassage.objects.create, passage=second, position=0, **evidence)


def test_a_passage_may_be_shown_twice_but_at_different_places(world):
    shown = {"response": world.response, "passage": world.passage}
    world.make(ResponsePassage, position=0, **shown)

    refused(ResponsePassage.objects.create, position=0, **shown)
    assert ResponsePassage.objects.create(position=1, **shown).pk


def test_a_run_scores_a_target_once(world):
    run = world.make(MetricRun, dataset=world.dataset, metric="rouge")
    world.make(AutoScore, run=run, target=world.target, score=0.5)

    refused(AutoScore.objects.create, run=run, target=world.target, score=0.6)


@pytest.mark.parametrize("is_imported", [True, False])
def test_a_run_is_one_per_metric_and_signature_here_and_imported(world, is_imported):
    run = {"dataset": world.dataset, "metric": "rouge", "signature": "v1"}
    world.make(MetricRun, is_imported=is_imported, **run)

    refused(MetricRun.objects.create, is_imported=is_imported, **run)
    assert MetricRun.objects.create(is_imported=not is_imported, **run).pk
