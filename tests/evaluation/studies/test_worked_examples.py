"""An adjudicated case becomes a worked example of the guidelines, which raters then read."""

import pytest
from django.urls import reverse

from annotation.models import Study, Target
from annotation.schemes import load_scheme
from annotation.services.studies import close_study, write_guideline
from evaluation.studies.services.adjudication import adjudicate
from tests.annotation.makers import material, opened, rate_next, raters_of, researcher
from tests.evaluation.makers_of_scores import disputed
from tests.makers import example_row, response_row, statements
from tests.shown import shown

pytestmark = pytest.mark.once

MILL = "The mill closed in 1971. " + "It ground corn for two villages. " * 20


@pytest.fixture
def study(tmp_path, db):
    return opened(material(tmp_path / "m", **rows()), raters=6)


@pytest.fixture
def target(study):
    target = Target.objects.get()
    decide(study, target)
    return target


@pytest.fixture
def browser(rosa, client_for):
    return client_for(rosa)


def rows(**response):
    turns = [
        {"speaker": "user", "text": "Tell me about the mill."},
        {"speaker": "assistant", "text": "It stood by the river."},
        {"speaker": "user", "text": "When did it *close*?"},
    ]
    evidence = [{"id": f"p{n}", "text": f"{n}. {MILL}"} for n in (1, 2, 3)]
    said = {"text": "It closed in 1971.", "setup": "secret-setup", "evidence_shown": ["p1", "p2"]}
    return {
        "examples": [example_row("e1", turns=turns, evidence=evidence)],
        "responses": [response_row("r1", "e1", **(said | response))],
    }


def decide(study, target, answer=1, note="The first passage says so.", key="attributable"):
    question = load_scheme(study.scheme).question(key)
    assert question
    adjudicate(study, target, question, answer, note, researcher())


def address(study, target, **query):
    path = reverse("evaluation:worked-example", args=[study.slug, target.pk])
    return path + "?question=" + query.get("question", "attributable")


def text_of(answer):
    return shown(answer).fields["text"].strip()


# --- the example ----------------------------------------------------------------------------


def test_the_editor_opens_with_the_case_below_the_text(browser, study, target):
    answer = browser.get(address(study, target))

    # "1. The mill" begins like a list, so its point is escaped. A passage is cut at 400
    # characters: 3 + 25 + 11 × 33 = 391 characters are whole sentences, and 'It' has room.
    passage = MILL[:25] + "It ground corn for two villages. " * 11 + "It …"
    assert text_of(answer) == "\n\n".join(
        [
            "Read, then judge.",
            "## Worked examples",
            "### Attributable: yes",
            "**The user asks**",
            "> When did it \\*close\\*?",
            "**Response**",
            "> It closed in 1971.",
            "**Evidence**",
            f"> 1\\. {passage}",
            f"> 2\\. {passage}",
            "**Is all of it attributable to the evidence?** Yes. The first passage says so.",
        ]
    )
    assert study.guidelines.count() == 1


def test_it_is_saved_as_a_version_and_raters_see_it(browser, study, target):
    page = shown(browser.get(address(study, target)))

    assert page.actions[-1] == reverse("annotation:edit-guidelines", args=[study.slug])
    answer = browser.post(page.actions[-1], page.fields, follow=True)

    assert "Version 2 is in use from now on." in shown(answer).messages
    assert "Attributable: yes" in shown(answer).headings
    assert study.guidelines.count() == 2


def test_the_preview_beside_it_has_the_example(browser, study, target):
    page = shown(browser.get(address(study, target)))

    assert "The user asks When did it *close*?" in page.part("preview").text


def test_it_says_nothing_of_setups_votes_and_people(browser, study, target):
    rate_next(raters_of(study)[0])

    text = text_of(browser.get(address(study, target)))

    people = [researcher().username, researcher().rater_code]
    for word in ["secret-setup", *people, *(rater.code for rater in raters_of(study))]:
        assert word not in text


def test_a_case_that_cannot_be_decided_is_an_example_too(browser, study, target):
    decide(study, target, answer=None, note="Two readings.")

    text = text_of(browser.get(address(study, target)))

    assert text.endswith("This cannot be decided. Two readings.")


def test_markdown_stays_markdown_where_raters_read_it_so(tmp_path, db, browser):
    dataset = material(tmp_path / "md", **rows(text="It **closed** in 1971."))
    study = opened(dataset, raters=6, text_format="markdown")
    target = Target.objects.get()
    decide(study, target)

    text = text_of(browser.get(address(study, target)))

    assert "> It **closed** in 1971." in text
    assert "> When did it \\*close\\*?" in text  # users' texts are always plain


def test_without_evidence_in_the_scheme_none_is_shown(tmp_path, db, browser):
    study = opened(material(tmp_path / "ssa", **rows()), scheme="SSA", raters=6)
    target = Target.objects.get()
    decide(study, target, key="sensible")

    text = text_of(browser.get(address(study, target, question="sensible")))

    assert "Evidence" not in text


def test_a_citation_is_shown_with_its_sentence_and_fact(tmp_path, db, browser):
    text = "He was born in 1871 [Q1, date of birth: 1871]."
    graph = [["Q1", "date of birth", "1871"]]
    dataset = material(
        tmp_path / "cited",
        examples=[example_row("e1")],
        responses=[response_row("r1", "e1", text=text, graph_shown=graph)],
    )
    study = opened(dataset, scheme="ALIGNMENT", raters=2, raters_per_unit=2)
    target = Target.objects.exclude(citation=None).get()
    decide(study, target, key="supports")

    text = text_of(browser.get(address(study, target, question="supports")))

    assert "**Sentence**\n\n> He was born in 1871" in text
    assert "**Cited fact**\n\n> date of birth: 1871" in text
    assert "**Response**" not in text


def test_the_same_example_is_not_added_twice(browser, study, target, rosa):
    text = text_of(browser.get(address(study, target)))
    write_guideline(study, f"{text}\n", rosa)

    answer = browser.get(address(study, target), follow=True)

    assert "This worked example is in the guidelines already." in shown(answer).messages


# --- raters who have yet to rate it ------------------------------------------------------------


def test_the_page_says_how_many_may_still_rate_it(browser, study, target):
    for rater in raters_of(study)[:3]:
        rate_next(rater)

    [message] = shown(browser.get(address(study, target))).messages

    # 6 raters, of whom 3 have rated; 5 slots, of which 3 are filled
    assert message.startswith("3 raters have not rated this response yet, and 2 of its slots")


def test_when_all_slots_are_filled_nobody_rates_it_after_reading(browser, study, target):
    for rater in raters_of(study)[:5]:
        rate_next(rater)

    [message] = shown(browser.get(address(study, target))).messages

    assert message.startswith("No slot of this response is open")


def test_the_page_costs_the_same_however_many_raters_and_decisions_there_are(
    browser, study, target
):
    browser.get(address(study, target))
    before = len(statements(lambda: browser.get(address(study, target))))
    for rater in raters_of(study)[:4]:
        rate_next(rater)
    for number in range(5):
        decide(study, target, note=f"Reason {number}.")

    assert len(statements(lambda: browser.get(address(study, target)))) == before


# --- where the button is, and who may ---------------------------------------------------------


def test_a_decided_case_leads_there(browser, study, target):
    case = reverse("evaluation:disagreement", args=[study.slug, target.pk])

    page = shown(browser.get(f"{case}?question=attributable"))

    button = "Add to the guidelines as a worked example"
    assert page.links[button] == address(study, target)
    assert button not in shown(browser.get(f"{case}?question=relevant")).links


def test_a_closed_study_says_that_its_guidelines_cannot_change(browser, study, target, rosa):
    close_study(study, rosa)
    case = reverse("evaluation:disagreement", args=[study.slug, target.pk])

    answer = browser.get(address(study, target), follow=True)

    assert "worked example" not in shown(browser.get(f"{case}?question=attributable")).text
    assert "Pilot is closed, so you cannot change its guidelines." in shown(answer).messages


def test_an_imported_study_has_no_guidelines_to_edit(browser, tmp_path, db):
    study, _ = disputed(tmp_path)
    target = Target.objects.get(response__key="r-miss")
    decide(study, target)
    case = reverse("evaluation:disagreement", args=[study.slug, target.pk])

    assert "worked example" not in shown(browser.get(f"{case}?question=attributable")).text
    assert browser.get(address(study, target)).status_code == 404


@pytest.mark.parametrize("question", ["relevant", "none", ""])
def test_without_a_decision_there_is_no_example(browser, study, target, question):
    assert browser.get(address(study, target, question=question)).status_code == 404


def test_a_target_of_another_dataset_is_no_example(browser, tmp_path, study, target):
    material(tmp_path / "other", **rows())
    other = opened(Study.objects.get().dataset, name="Other", raters=6)
    foreign = Target.objects.filter(response__dataset=disputed(tmp_path)[0].dataset)[0]

    assert browser.get(address(other, foreign)).status_code == 404


def test_it_is_for_researchers_and_reads_only(browser, client_for, client, study, target):
    rater = client_for(raters_of(study)[0].user)

    assert rater.get(address(study, target)).status_code == 403
    assert client.get(address(study, target)).status_code == 302
    assert browser.post(address(study, target)).status_code == 405
