"""The rating pages as a server sees them: who may open what, what is stored, what is shown."""

import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import (
    Assignment,
    Draft,
    Flag,
    Rater,
    Skip,
    Study,
    Target,
    Vote,
    VoteChange,
)
from annotation.schemes import built_in_schemes
from annotation.services.claiming import claim_next_unit
from annotation.services.studies import add_raters, close_study, pause_study
from generation.models import Entity, Response
from tests.annotation.makers import claimed, material, opened, rate_next, raters_of, researcher
from tests.makers import example_row, response_row
from tests.shown import Shown, shown

pytestmark = pytest.mark.once

ALL_YES = dict.fromkeys([q["key"] for q in built_in_schemes()["AIS"]["questions"]], "1") | {
    "evidence_contradicts": "0"
}
OFFENSIVE = "<script>alert(1)</script> <b>bold</b> & 'quoted' \u202eright to left"
ClientFor = Callable[[Any], Client]


def filled_in(n: int = 1, **answers: str) -> dict[str, str]:
    """Return a whole form with all answers in favour of n responses, but for these."""
    return {
        f"{key}-{position}": answer
        for position in range(1, n + 1)
        for key, answer in (ALL_YES | answers).items()
    }


class Desk:
    """One rater with a unit in hand, and the browser they sit at."""

    def __init__(self, rater: Rater, client: Client, assignment: Assignment) -> None:
        self.rater, self.client, self.assignment = rater, client, assignment

    def url(self, page: str = "rate-unit") -> str:
        return reverse(f"annotation:{page}", args=[self.rater.study.slug, self.assignment.unit_id])

    def get(self, query: str = "") -> Any:
        return self.client.get(self.url() + query)

    def post(self, data: Mapping[str, Any], page: str = "rate-unit", **headers: str) -> Any:
        return self.client.post(self.url(page), data, headers=headers)

    def page(self, query: str = "") -> Shown:
        return shown(self.get(query))


@pytest.fixture
def study(tmp_path: Path, db: None) -> Study:
    return opened(material(tmp_path / "material"), raters=6)


@pytest.fixture
def sit_down(client_for: ClientFor) -> Callable[..., Desk]:
    """Return a function that gives a rater of a study the next unit."""

    def sit_down(study: Study, number: int = 0) -> Desk:
        rater = raters_of(study)[number]
        return Desk(rater, client_for(rater.user), claimed(rater))

    return sit_down


@pytest.fixture
def desk(study: Study, sit_down: Callable[..., Desk]) -> Desk:
    return sit_down(study)


# --- refusals -------------------------------------------------------------------------------

POSTED = ["save-draft", "skip-unit", "flag-unit"]
OF_A_UNIT = ["rate-unit", *POSTED]


@pytest.mark.parametrize("page", OF_A_UNIT)
def test_a_unit_is_not_shown_to_who_was_not_given_it(desk, study, client_for, page):
    colleague = client_for(raters_of(study)[1].user)

    assert colleague.post(desk.url(page), filled_in()).status_code == 404
    assert not Vote.objects.exists()
    assert not Draft.objects.exists()


@pytest.mark.parametrize("page", OF_A_UNIT)
def test_a_unit_is_not_shown_to_a_rater_of_no_study(desk, rachel, client_for, page):
    assert client_for(rachel).post(desk.url(page), filled_in()).status_code == 404


@pytest.mark.parametrize("page", OF_A_UNIT)
def test_researchers_and_admins_do_not_rate(desk, rosa, adam, client_for, page):
    for user in (rosa, adam):
        assert client_for(user).post(desk.url(page), filled_in()).status_code == 403


@pytest.mark.parametrize("page", OF_A_UNIT)
def test_nobody_rates_without_signing_in(desk, client, page):
    response = client.post(desk.url(page), filled_in())

    assert response.status_code == 302
    assert response.url.startswith("/accounts/sign-in/")
    assert not Vote.objects.exists()


@pytest.mark.parametrize("page", POSTED)
def test_what_writes_is_not_a_get(desk, page):
    assert desk.client.get(desk.url(page)).status_code == 405


def test_the_next_unit_is_a_post_for_raters_of_the_study(study, rachel, client_for):
    url = reverse("annotation:next-unit", args=[study.slug])

    assert client_for(rachel).post(url).status_code == 404
    assert client_for(raters_of(study)[0].user).get(url).status_code == 405


def test_a_rater_s_answers_are_shown_to_nobody_else(desk, study, rachel, rosa, client_for):
    url = reverse("annotation:my-answers", args=[study.slug])
    desk.post(filled_in())

    assert client_for(rachel).get(url).status_code == 404
    assert client_for(rosa).get(url).status_code == 403
    [message] = shown(client_for(raters_of(study)[1].user).get(url)).messages
    assert "No answers" in message


# --- rating ---------------------------------------------------------------------------------


def test_next_hands_out_a_unit_and_submit_goes_on_to_another(study, client_for):
    rater = raters_of(study)[0]
    client = client_for(rater.user)
    seen = set()

    url = client.post(reverse("annotation:next-unit", args=[study.slug])).url
    for _ in range(4):  # 2 examples × 2 setups
        assert client.get(url).status_code == 200
        seen.add(url)
        url = client.post(url, filled_in() | {"seconds": "20.0"}).url

    assert url == reverse("annotation:my-studies")
    assert len(seen) == 4
    [message] = shown(client.get(url)).messages
    assert "Nothing is left to rate" in message
    assert Vote.objects.filter(rater=rater).count() == 4 * 7


def test_a_hole_answers_422_and_moves_to_it(desk):
    data = filled_in()
    del data["consistent-1"]

    response = desk.post(data)

    assert response.status_code == 422
    page = shown(response)
    [message] = page.messages
    assert "question 3 has no answer" in message
    assert "#consistent-1" in page.addresses
    assert page.fields["relevant-1"] == "1"
    assert response.text.count("autofocus") == 3  # the radio, and the first of each popover
    assert 'name="consistent-1" value="1" autofocus' in response.text
    assert response["HX-Push-Url"] == "false"
    assert not Vote.objects.exists()


@pytest.mark.parametrize("layout", ["side_by_side", "in_turn"])
def test_a_hole_in_a_merged_unit_names_the_response(tmp_path, db, sit_down, layout):
    study = opened(material(tmp_path / "m"), arms=["merged"], merged_layout=layout)
    desk = sit_down(study)
    data = filled_in(2)
    del data["consistent-2"]

    response = desk.post(data)

    assert response.status_code == 422
    page = shown(response)
    [message] = page.messages
    assert "question 3 of response 2 has no answer" in message
    assert "13 of 14" in page.text
    assert desk.post({}).status_code == 422


def test_answers_that_cannot_stand_together_are_refused(desk):
    response = desk.post(filled_in(evidence_contradicts="1"))

    assert response.status_code == 422
    [message] = shown(response).messages
    assert "5 and 7 cannot both be yes" in message
    assert not Vote.objects.exists()


def test_what_a_gate_closes_is_stored_as_implied(desk):
    desk.post({"understand-1": "0"})

    votes = {vote.question: vote for vote in Vote.objects.all()}
    assert len(votes) == 7
    assert not votes["understand"].is_implied
    assert all(
        vote.is_implied and vote.answer == 0 for key, vote in votes.items() if key != "understand"
    )


def test_a_second_submit_of_the_same_form_changes_nothing(desk):
    first, second = desk.post(filled_in()), desk.post(filled_in())

    assert first.url == second.url  # the same next unit
    assert Vote.objects.count() == 7
    assert not VoteChange.objects.exists()


def test_merged_answers_reach_the_response_that_was_shown_there(tmp_path, db, sit_down):
    study = opened(material(tmp_path / "m", setups=["a", "b", "c"]), arms=["merged"])
    desk = sit_down(study)
    text = desk.page().text
    in_order = sorted(
        desk.assignment.unit.targets.select_related("response"),
        key=lambda target: text.index(target.response.text),
    )

    desk.post(filled_in(3) | {"understand-2": "0"})

    for position, target in enumerate(in_order, start=1):
        vote = Vote.objects.get(target=target, question="understand")
        assert vote.position == position
        assert vote.answer == (0 if position == 2 else 1)


def test_votes_of_one_pair_go_with_the_button(tmp_path, db, sit_down):
    desk = sit_down(alignment(tmp_path))

    response = desk.post({"supports-1": "0"})

    assert Vote.objects.get().answer == 0
    assert response.url.endswith(f"?last={desk.assignment.unit_id}&said=0")
    answer = desk.client.get(response.url)
    assert "Last answer: no" in shown(answer).text
    assert f'href="{desk.url()}" data-undo' in answer.text


@pytest.mark.parametrize("query", ["?last=x&said=y", "?last=-1", "?last=%3Cb%3E", "?said=1"])
def test_a_made_up_last_answer_does_no_harm(tmp_path, db, sit_down, query):
    assert sit_down(alignment(tmp_path)).get(query).status_code == 200


def alignment(folder: Path) -> Study:
    """Open a study of two citations."""
    text = "He was born in 1871 [Q1, date of birth: 1871]. He died at 28 [Q1, age: 28]."
    graph = [["Q1", "date of birth", "1871"], ["Q1", "age", "28"]]
    dataset = material(
        folder / "cited",
        examples=[example_row("e1")],
        responses=[response_row("r1", "e1", text=text, graph_shown=graph)],
    )
    Entity.objects.create(dataset=dataset, qid="Q1", label="Stephen Crane", digest="d")
    return opened(dataset, scheme="ALIGNMENT", raters=2, raters_per_unit=2)


def test_a_pair_names_its_subject(tmp_path, db, sit_down):
    page = sit_down(alignment(tmp_path)).page()

    assert page.facts["Subject"] == "Stephen Crane Q1"


# --- blinding -------------------------------------------------------------------------------


def test_a_page_says_nothing_of_setups_models_scores_votes_and_ids(tmp_path, db, sit_down):
    fill_tables(tmp_path / "others")
    secret = {"model": "secret-model", "temperature": 0.7, "prompt": "secret-prompt"}
    dataset = material(
        tmp_path / "m",
        examples=[example_row("e1", evidence=[{"id": "secret-p", "text": "A passage."}])],
        responses=[
            response_row(
                f"secret-{run}",
                "e1",
                setup=secret | {"run": run},
                text=f"Text {run}.",
                evidence_shown=["secret-p"],
            )
            for run in ("1", "2")
        ],
    )
    study = opened(dataset, arms=["merged"], raters=3, seed=987654)
    rate_next(raters_of(study)[1])
    desk = sit_down(study)

    page = desk.get().text

    assert "Text 1." in page
    for word in ("secret", "0.7", "987654", raters_of(study)[1].code, str(desk.assignment.key)):
        assert word not in page, word
    # Fields are named by question and place; no other field and no attribute names a target.
    names = set(re.findall(r' name="([^"]+)"', page)) - {"viewport", "htmx-config"}
    asked = {f"{key}-{position}" for key in ALL_YES for position in (1, 2)}
    around = {"csrfmiddlewaretoken", "seconds", "reason", "note", "responses", "take_back", "on"}
    assert names == asked | around
    ids = {
        str(pk) for row in desk.assignment.unit.targets.values_list("pk", "response") for pk in row
    }
    attributes = set(re.findall(r' data-[a-z-]+="([^"]*)"', page))
    assert len(ids) == 4
    assert min(map(int, ids)) > 100
    assert attributes
    assert not ids & attributes
    assert not re.search(r"target[-_]id|data-target", page)


def fill_tables(folder: Path) -> None:
    """Store responses and targets of another dataset, so that no id is as small as a position.

    There are fewer targets than responses: what comes next has another id as a target.
    """
    material(folder, n_examples=50, setups=list("abcdef"))
    responses = Response.objects.order_by("pk")[:150]
    Target.objects.bulk_create(Target(response=response) for response in responses)


def test_time_on_task_is_counted_and_never_shown(desk):
    desk.post({"understand-1": "1", "seconds": "73.5"}, "save-draft")

    page = desk.get().text

    assert '<input type="hidden" name="seconds" value="73.5" data-seconds>' in page
    assert page.count("73.5") == 1


# --- drafts ---------------------------------------------------------------------------------

JSON = {"Accept": "application/json"}


def test_a_draft_is_kept_and_comes_back(desk):
    response = desk.post({"understand-1": "1", "relevant-1": "0"}, "save-draft", **JSON)

    said = response.json()
    assert said.keys() == {"saved_at", "lease_until"}
    page = desk.page()
    assert (page.fields["understand-1"], page.fields["relevant-1"]) == ("1", "0")
    assert "2 of 7" in page.text
    assert "Draft saved" in page.text


def test_a_draft_may_contradict_itself(desk):
    desk.post(filled_in(evidence_contradicts="1"), "save-draft", **JSON)

    assert len(next(iter(Draft.objects.get().answers.values()))) == 7


def test_without_a_script_a_draft_comes_back_to_the_unit(desk):
    browser = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}

    assert desk.post({"understand-1": "1"}, "save-draft", **browser).url == desk.url()


def take_over(desk: Desk, study: Study, client_for: ClientFor) -> Desk:
    """Let a unit's lease run out and give it to a colleague who needs this very slot."""
    Assignment.objects.exclude(pk=desk.assignment.pk).update(is_let_go=True)
    long_ago = timezone.now() - timedelta(minutes=1)
    Assignment.objects.filter(pk=desk.assignment.pk).update(lease_until=long_ago)
    rater = raters_of(study)[1]
    return Desk(rater, client_for(rater.user), claimed(rater))


def test_a_late_answer_is_kept_beside_the_vote(desk, study, client_for):
    desk.post({"understand-1": "1"}, "save-draft")
    colleague = take_over(desk, study, client_for)
    assert colleague.assignment.unit_id == desk.assignment.unit_id

    page = desk.page()
    [message] = page.messages
    assert "went to another rater" in message
    assert page.fields["understand-1"] == "1"
    assert any("Submit all the same" in button for button in page.buttons)
    assert desk.post({"understand-1": "1"}, "save-draft", **JSON).json() == {"state": "gone"}

    desk.post(filled_in())
    colleague.post(filled_in())

    assert Vote.objects.filter(rater=desk.rater, is_surplus=True).count() == 7
    assert Vote.objects.filter(rater=colleague.rater, is_surplus=False).count() == 7
    assert any("Kept beside the vote" in message for message in desk.page().messages)
    answers = shown(desk.client.get(reverse("annotation:my-answers", args=[study.slug])))
    assert "kept beside the vote" in answers.text


# --- skip and flag --------------------------------------------------------------------------

CANNOT = "I cannot judge this topic"
GARBLED = "Text is cut off or garbled"


def test_a_skip_has_a_reason_and_goes_on(desk):
    response = desk.post({"reason": CANNOT, "note": "Law."}, "skip-unit")

    assert Skip.objects.get().note == "Law."
    assert response.url != desk.url()
    [message] = desk.page().messages
    assert "You skipped this unit" in message


@pytest.mark.parametrize("page", ["skip-unit", "flag-unit"])
@pytest.mark.parametrize("reason", ["", "Made up"])
def test_no_skip_and_no_flag_without_a_reason_of_the_list(desk, page, reason):
    response = desk.post({"reason": reason, "responses": "1"}, page)

    assert response.status_code == 422
    [message] = shown(response).messages
    assert "say w" in message
    assert not Skip.objects.exists()
    assert not Flag.objects.exists()


def test_a_flagged_response_may_be_submitted_without_answers(desk):
    assert desk.post({}).status_code == 422

    desk.post({"reason": GARBLED, "note": "Ends early.", "responses": "1"}, "flag-unit")
    [message] = desk.page().messages
    assert "Text is cut off or garbled: Ends early." in message
    response = desk.post({})

    assert response.status_code == 302
    assert Flag.objects.get().reason == "Text is cut off or garbled: Ends early."
    assert not Vote.objects.exists()
    assert not Assignment.objects.filter(pk=desk.assignment.pk, submitted_at=None).exists()


def test_flags_are_for_the_responses_that_are_named_and_can_be_taken_back(tmp_path, db, sit_down):
    desk = sit_down(opened(material(tmp_path / "m", setups=["a", "b", "c"]), arms=["merged"]))

    desk.post({"reason": GARBLED, "responses": ["1", "3"]}, "flag-unit")
    page = desk.page()
    [message] = page.messages
    assert "response 1, response 3:" in message
    assert ["flagged" in column for column in page.table().columns] == [False, True, False, True]
    assert desk.post({"reason": GARBLED}, "flag-unit").status_code == 422
    assert desk.post({"reason": GARBLED, "responses": "4"}, "flag-unit").status_code == 422

    desk.post({"take_back": "1"}, "flag-unit")
    assert not Flag.objects.exists()


def test_in_a_closed_study_nothing_is_flagged(desk, study):
    close_study(study, researcher())

    desk.post({"reason": GARBLED, "responses": "1"}, "flag-unit")

    assert not Flag.objects.exists()


# --- own history ----------------------------------------------------------------------------


def test_submitted_answers_are_listed_and_can_be_changed(desk, study):
    desk.post(filled_in(relevant="0"))

    answers = shown(desk.client.get(reverse("annotation:my-answers", args=[study.slug])))
    assert "relevant no" in answers.text
    assert f"{desk.url()}?from_answers=1" in answers.addresses
    page = desk.page("?from_answers=1")
    [message] = page.messages
    assert "You have submitted this unit" in message
    assert any("Save changes" in button for button in page.buttons)
    response = desk.post(filled_in() | {"from_answers": "1"})

    assert response.url == reverse("annotation:my-answers", args=[study.slug])
    [message] = shown(desk.client.get(response.url)).messages
    assert "changes are saved" in message
    assert Vote.objects.get(question="relevant").answer == 1
    assert VoteChange.objects.get().old_answer == 0


def test_when_the_study_is_closed_answers_stay(desk, study):
    desk.post(filled_in())
    close_study(study, researcher())

    answer = desk.get()
    page = shown(answer)
    [message] = page.messages
    assert "answers stay as they are" in message
    assert '<fieldset class="as-one" disabled>' in answer.text
    assert "Save changes" not in page.text
    assert desk.post(filled_in(relevant="0")).url == desk.url()
    assert Vote.objects.get(question="relevant").answer == 1


def test_a_paused_study_takes_what_was_begun_and_hands_out_no_more(desk, study):
    pause_study(study, researcher())

    response = desk.post(filled_in())

    assert Vote.objects.count() == 7
    assert response.url == reverse("annotation:my-studies")
    page = shown(desk.client.get(response.url))
    [message] = page.messages
    assert "is paused now" in message
    assert "Rate next" not in page.text


def test_the_list_of_answers_has_pages_and_costs_the_same_for_each(
    tmp_path, db, client_for, django_assert_num_queries
):
    study = opened(material(tmp_path / "m", n_examples=22, setups=["a"]))
    rater = raters_of(study)[0]
    client = client_for(rater.user)
    url = reverse("annotation:my-answers", args=[study.slug])
    rate_next(rater)

    def cost() -> int:
        with django_assert_num_queries(12, exact=False) as queries:
            client.get(url)
        return len(queries)

    with_one = cost()
    while rate_next(rater):
        pass

    assert cost() == with_one
    first, second = shown(client.get(url)), shown(client.get(url + "?page=2"))
    assert "1 to 20 of 22" in first.text
    assert len([address for address in second.addresses if "from_answers" in address]) == 2


# --- my studies -----------------------------------------------------------------------------


def test_a_half_answered_unit_comes_first_with_its_time(desk):
    desk.post({"understand-1": "1", "relevant-1": "1"}, "save-draft")

    page = shown(desk.client.get(reverse("annotation:my-studies")))

    [message] = page.messages
    for said in ("half answered in Pilot", "2 answers", "30 minutes"):
        assert said in message
    [primary] = page.parts("btn--primary")
    assert primary.addresses == [desk.url()]


def test_my_studies_have_one_primary_button_and_a_fixed_cost(
    tmp_path, db, client_for, django_assert_num_queries
):
    dataset = material(tmp_path / "m")
    study = opened(dataset, introduction="Read, then answer.")
    rater = raters_of(study)[0]
    client = client_for(rater.user)
    url = reverse("annotation:my-studies")

    with django_assert_num_queries(6):  # session, user, groups, studies, units in hand, drafts
        page = shown(client.get(url))
    assert "Read, then answer." in page.text
    assert "7 questions" in page.text
    assert "Guidelines v1" in page.links
    for name in ("Second", "Third"):
        opened(dataset, name=name, raters=[rater.user])
    with django_assert_num_queries(6):
        page = shown(client.get(url))

    assert page.buttons.count("Rate next unit") == 3
    assert len(page.parts("btn--primary")) == 1


def test_a_study_in_which_nothing_is_left_is_finished(study, client_for):
    rater = raters_of(study)[0]
    while rate_next(rater):
        pass

    page = shown(client_for(rater.user).get(reverse("annotation:my-studies")))

    assert "Pilot 4 units done" in page.headings
    assert "Rate next" not in page.text
    assert reverse("annotation:my-answers", args=[study.slug]) in page.addresses


def test_a_planned_study_is_not_shown_and_a_closed_one_is_finished(desk, study, client_for):
    close_study(study, researcher())

    page = shown(desk.client.get(reverse("annotation:my-studies")))

    assert "Pilot closed" in page.headings
    assert "cannot be changed any more" in page.text
    assert desk.url() not in page.addresses


# --- what a page is made of -----------------------------------------------------------------


def test_texts_are_shown_as_text(tmp_path, db, sit_down):
    row = example_row("e1", evidence=[{"id": "p", "text": OFFENSIVE, "title": OFFENSIVE}])
    row["turns"][0]["text"] = OFFENSIVE
    dataset = material(
        tmp_path / "m",
        examples=[row],
        responses=[response_row("r1", "e1", text=OFFENSIVE, evidence_shown=["p"])],
    )

    answer = sit_down(opened(dataset)).get()

    assert "<script>alert" not in answer.text
    assert "<b>bold" not in answer.text
    assert shown(answer).text.count(OFFENSIVE) == 4
    assert answer.text.count('dir="auto"') >= 4


def test_a_unit_stays_out_of_the_browser_s_cache(desk):
    assert "no-store" in desk.get()["Cache-Control"]
    assert '"historyCacheSize": 0' in desk.get().text


def test_a_rating_page_costs_a_fixed_number_of_queries(
    tmp_path, db, sit_down, django_assert_max_num_queries
):
    one = sit_down(opened(material(tmp_path / "one", setups=["a"]), name="one"))
    many = sit_down(
        opened(material(tmp_path / "many", setups=list("abcdefgh")), name="many", arms=["merged"])
    )

    with django_assert_max_num_queries(14) as queries:
        one.get()
    with django_assert_max_num_queries(len(queries)):
        many.get()


def test_letter_keys_can_be_switched_off(desk):
    assert "data-no-letters" not in desk.get().text

    response = desk.client.post(
        reverse("accounts:letter-keys"),
        {"on": "0"},
        headers={"Referer": f"http://testserver{desk.url()}"},
    )

    assert response.url == desk.url()
    assert "data-no-letters" in desk.get().text
    assert desk.client.get(reverse("accounts:letter-keys")).status_code == 405


def test_somebody_who_joins_late_can_begin(study, rachel, client_for):
    add_raters(study, [rachel], researcher())

    response = client_for(rachel).post(reverse("annotation:next-unit", args=[study.slug]))

    assert client_for(rachel).get(response.url).status_code == 200
    assert claim_next_unit(Rater.objects.get(user=rachel)) is not None
