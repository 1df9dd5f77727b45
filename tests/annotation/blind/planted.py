"""Studies in which everything that raters must not see is easy to find, and their raters."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from django.utils import timezone

from accounts.access import Role
from accounts.models import User
from annotation.arrivals import Arrival
from annotation.models import (
    Assignment,
    CrowdPlatform,
    Enquiry,
    Participant,
    Rater,
    Study,
    StudyLink,
)
from annotation.qualification import next_item
from annotation.schemes import load_scheme
from annotation.services.enquiries import answer_enquiry, ask_researchers
from annotation.services.gold import set_gold
from annotation.services.guideline_reading import begin_with_newest
from annotation.services.joining import Newcomer, end_visit, join_study, write_link, write_platform
from annotation.services.qualification import ItemToStore, answer_item, set_qualification
from annotation.services.rating import flag_responses, save_draft, skip_unit
from annotation.services.studies import close_study, open_study
from annotation.services.study_raters import set_excluded
from evaluation.models import Adjudication
from generation.models import Dataset, Entity
from tests.annotation.blind.hidden_material import (
    GOLD_SCORE,
    SETUPS,
    THRESHOLD,
    example,
    hidden,
    hidden_material,
    response,
)
from tests.annotation.makers import (
    claimed,
    material,
    opened,
    planned,
    rate,
    rate_next,
    researcher,
    yes_where_possible,
)
from tests.conftest import person

SEED = 98765431
CODE_OF_MIA = hidden("code-screened-out")
IDS = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")


class Viewer(NamedTuple):
    """A rater who opens pages, and the hidden words that are no secret to them."""

    user: User
    may_see: frozenset[str] = frozenset()


class Planted(NamedTuple):
    """The studies, and the raters who open pages. `mill` has all that a study can have."""

    mill: Study
    others: list[Study]
    viewers: dict[str, Viewer]

    @property
    def studies(self) -> list[Study]:
        return [self.mill, *self.others]


def plant(folder: Path) -> Planted:
    """Make four studies. Anna and Ben are the raters whose work must stay hidden.

    Rachel has an account and units in every state. Rebecca has not read the newest guidelines. Kim,
    Lee and Mia came by the link: Kim has qualified, Lee has answered one item, Mia did not qualify.
    """
    users = {name: person(name, Role.RATER) for name in ("rachel", "rebecca")}
    users |= {name: person(hidden(name), Role.RATER) for name in ("anna", "ben")}
    dataset = hidden_material(folder / hidden("dataset"))
    mill = _mill(dataset, list(users.values()))
    of_mill = {
        name: mill.raters.select_related("study").get(user=user) for name, user in users.items()
    }
    _work_of_others(mill, of_mill["anna"], of_mill["ben"])
    _begin_and_wait(of_mill["rebecca"])
    _answer_to_all(mill)
    _every_state(of_mill["rachel"])
    viewers = {name: Viewer(users[name]) for name in ("rachel", "rebecca")} | _joined(mill)
    raters = [users["anna"], users["ben"], users["rachel"]]
    others = [_in_turn(dataset, raters), _of_citations(folder, raters), _closed(dataset, raters)]
    return Planted(mill, others, viewers)


# --- the study that has everything ----------------------------------------------------------


def _mill(dataset: Dataset, raters: list[User]) -> Study:
    """Open a study with both arms, gold, a platform, and a round of two items."""
    study = planned(
        dataset,
        raters=raters,
        name="The mill",
        arms=["separate", "merged"],
        may_meet_both_arms=True,
        raters_per_unit=9,
        seed=SEED,
        introduction="It is about a mill.",
    )
    right = yes_where_possible(load_scheme(study.scheme))
    gold = {hidden("response-1-a"): right}
    set_gold(study, gold, researcher(), n_qualifying=1, threshold=THRESHOLD)
    items = {
        hidden(f"response-2-{setup}"): ItemToStore(right, hidden(f"explanation-{place}"))
        for place, setup in enumerate(SETUPS, start=1)
    }
    set_qualification(study, items, 0.7, researcher())
    open_study(study, researcher())
    _platform(write_link(study, researcher(), most_per_group=50))
    return study


def _platform(link: StudyLink) -> None:
    codes = ("done", "screened_out", "no_work", "returned")
    platform = CrowdPlatform(
        link=link,
        consent="Do you agree?",
        is_prolific=False,
        silent_because=hidden("silence"),
        **{f"code_{code}": hidden(f"code-{code.replace('_', '-')}") for code in codes},
    )
    write_platform(platform, researcher())


def _work_of_others(study: Study, anna: Rater, ben: Rater) -> None:
    """Let Anna and Ben vote, skip, flag and ask; then researchers adjudicate and exclude."""
    for place in range(4):
        rate_next(anna)
        rate_next(ben, {"understand": 0} if place else None)  # the first one is gold
    skipped = claimed(anna)
    skip_unit(skipped.unit, anna, "Another reason", hidden("skip"))
    flagged = claimed(anna)
    flag_responses(flagged.unit, anna, _targets(flagged), hidden("flag"))
    ask_researchers(flagged.unit, anna, hidden("private-question"))
    private = Enquiry.objects.get()
    answer_enquiry(private, hidden("private-answer"), researcher(), is_for_all=False)
    in_hand = claimed(ben)
    save_draft(in_hand.unit, ben, {target: {"understand": 1} for target in _targets(in_hand)}, 1.0)
    for target in _targets(flagged):
        Adjudication.objects.create(
            study=study,
            target_id=target,
            question="understand",
            answer=1,
            note=hidden("adjudication"),
            by=researcher(),
        )
    Rater.objects.filter(pk=anna.pk).update(gold_score=GOLD_SCORE)
    set_excluded(ben, True, hidden("exclusion"), researcher())


def _targets(assignment: Assignment) -> list[int]:
    return list(assignment.unit.targets.values_list("pk", flat=True))


def _begin_and_wait(rater: Rater) -> None:
    begin_with_newest(rater)
    claimed(rater)


def _answer_to_all(study: Study) -> None:
    """Add to the guidelines. This makes a version that Rebecca has not read."""
    anna = study.raters.get(user__username=hidden("anna"))
    unit = anna.assignments.select_related("unit").filter(submitted_at__isnull=False)[0].unit
    ask_researchers(unit, anna, "Does a year count?")
    asked = Enquiry.objects.get(answered_at=None)
    answer_enquiry(asked, "A year counts.", researcher(), is_for_all=True)


def _every_state(rater: Rater) -> None:
    """Give a rater a unit in each state: gold and submitted, flagged, skipped, late, gone, open."""
    begin_with_newest(rater)
    rate(rater, claimed(rater))  # this one is gold
    rate(rater, claimed(rater))
    flagged = claimed(rater)
    flag_responses(flagged.unit, rater, _targets(flagged), "The river is missing")
    rate(rater, flagged)
    skipped = claimed(rater)
    skip_unit(skipped.unit, rater, "Another reason", "I know the author.")
    late = claimed(rater)
    rater.assignments.in_hand().give_back()
    rate(rater, late)
    claimed(rater)  # this one is gone
    rater.assignments.in_hand().give_back()
    asked = claimed(rater)
    ask_researchers(asked.unit, rater, "Does a month count?")


def _joined(study: Study) -> dict[str, Viewer]:
    """Let three people join: one qualifies, one has an item left, one does not qualify."""
    right = yes_where_possible(load_scheme(study.scheme))
    wrong = {"understand": 0}
    explained = [hidden("explanation-1"), hidden("explanation-2")]
    kim, lee, mia = (_comes(study, name) for name in ("kim", "lee", "mia"))
    _answer_items(kim, right, right)
    begin_with_newest(kim)
    rate(kim, claimed(kim))
    claimed(kim)
    _answer_items(lee, right)
    _answer_items(mia, wrong, wrong)
    ada = _comes(study, "ada")  # raters see nothing of this person
    end_visit(Participant.objects.get(rater=ada), Participant.Outcome.TIMED_OUT)
    Participant.objects.update(
        submission=hidden("submission"),
        review=Participant.Review.REJECTED,
        review_category=Participant.Reason.LOW_EFFORT,
        review_reason=hidden("rejection"),
        reviewed_by=researcher(),
        reviewed_at=timezone.now(),
    )
    may_see = {kim: explained, lee: explained[:1], mia: [*explained, CODE_OF_MIA]}
    names = {kim: "kim", lee: "lee", mia: "mia"}
    return {
        names[rater]: Viewer(rater.user, frozenset(words))
        for rater, words in may_see.items()
        if rater.user
    }


def _comes(study: Study, name: str) -> Rater:
    ids = Arrival(*(hidden(f"{part}-of-{name}") for part in ("person", "study", "session")))
    return join_study(study.link, uuid4(), Newcomer(arrival=ids)).rater


def _answer_items(rater: Rater, *answers: Mapping[str, int]) -> None:
    for given in answers:
        item = next_item(rater)
        assert item is not None
        answer_item(rater, item, given)
    rater.refresh_from_db()


# --- studies with other layouts -------------------------------------------------------------


def _in_turn(dataset: Dataset, raters: list[User]) -> Study:
    more = {"merged_layout": "in_turn", "text_format": "markdown", "scheme": "QUALITY"}
    study = opened(dataset, raters=raters, name="In turn", arms=["merged"], seed=SEED, **more)
    for rater in study.raters.select_related("study"):
        begin_with_newest(rater)
        rate_next(rater)
        claimed(rater)
    return study


def _of_citations(folder: Path, raters: list[User]) -> Study:
    text = "He was born in 1871 [Q1, date of birth: 1871]. He died at 28 [Q1, age: 28]."
    graph = [["Q1", "date of birth", "1871"], ["Q1", "age", "28"]]
    cited = {"text": text, "graph_shown": graph, "evidence_shown": []}
    examples = [example(number) | {"evidence": []} for number in (1, 2)]
    responses = [response(number, "a", **cited) for number in (1, 2)]
    dataset = material(folder / hidden("graph"), examples=examples, responses=responses)
    Entity.objects.create(dataset=dataset, qid="Q1", label="Stephen Crane", digest="d")
    study = opened(dataset, scheme="ALIGNMENT", raters=raters, name="Citations", raters_per_unit=3)
    for rater in study.raters.select_related("study"):
        begin_with_newest(rater)
        rate_next(rater)
        claimed(rater)
    return study


def _closed(dataset: Dataset, raters: list[User]) -> Study:
    study = opened(dataset, scheme="SSA", raters=raters, name="Closed", seed=SEED)
    for rater in study.raters.select_related("study"):
        rate_next(rater)
        claimed(rater)
    close_study(study, researcher())
    return study
