"""The page of a plan: the answer in each state, and one click that makes the study."""

import json

import pytest
from django.urls import reverse
from lxml import html

from accounts.access import Role
from annotation.models import Study
from generation.models import Dataset
from tests.conftest import person
from tests.evaluation.makers_of_scores import make_run, make_scores
from tests.evaluation.studies.hand_made import two_arms, votes
from tests.makers import example_row, import_rows, rated, statements
from tests.shown import shown

pytestmark = pytest.mark.once


@pytest.fixture(autouse=True)
def own_cache(own_cache_and_folder):
    """Keep this module's computed results apart from those of other tests."""


@pytest.fixture
def pilot(tmp_path):
    """Forty dialogs of one example; of its three raters one always differs."""
    return rated(tmp_path, votes(**{f"r{n:02}": "yyn" if n % 2 else "nny" for n in range(40)}))


def page_of(client, dataset, **asked):
    return client.get(reverse("evaluation:plan", args=[dataset.slug]), asked)


def test_the_answer_is_a_sentence_with_its_hours(researcher, pilot):
    page = shown(page_of(researcher, pilot.dataset, wish=20))

    # z² · .25 / .2² = 24.01; 7 answers take 28 s, and about 45 characters 1.9 s to read:
    # 25 responses · 5 raters · 29.9 s = 1.04 h; z √(.25 / 25) = .196
    assert "Rate 25 dialogs with 5 raters each: 25 responses, 1.0 rater hours." in page.text
    assert page.table("Assumptions of the plan").row("Seconds per response")["From"] == (
        "reading at 238 words a minute and 4 s for each of 7 answers"
    )
    assert "The interval of the mean will be about ± 19.6 points." in page.text
    assert "With fewer than 30 dialogs they promise too much." in page.text
    assert page.table("How many dialogs").row("25")["Enough"] == "yes"
    assert "How many raters" not in page.headings


def test_a_wish_beyond_the_dataset_is_said(researcher, pilot):
    page = shown(page_of(researcher, pilot.dataset))

    assert "385 dialogs would be needed, and the dataset has 40." in page.text
    assert "Rate all 40 dialogs with 5 raters each" in page.text


def test_a_metric_that_needs_fewer_dialogs_is_offered(researcher, pilot):
    asked = {"wish": 18, "metric_correlation": 0.9, "goal": "mean"}

    page = shown(page_of(researcher, pilot.dataset, **asked))

    # z² · .25 / .18² = 29.6. With the metric: .25 · .19 / ((.18 / z)² - .25 · .81 / 40) = 14.1
    assert "Rate 30 dialogs" in page.text
    assert "With the metric, 15 dialogs are enough" in page.text


def test_a_difference_is_found_with_a_probability(researcher, tmp_path):
    study = two_arms(tmp_path, {f"r{n}": ("y", "n" if n % 5 else "y") for n in range(30)})

    page = shown(page_of(researcher, study.dataset, goal="arms", pilot=study.slug, wish=40))

    assert "will be detected with a probability of 80 %" in page.text
    assert "Which arms" not in page.headings


def test_a_pilot_fills_the_assumptions_and_simulates_raters(researcher, pilot):
    make_scores(make_run(pilot.dataset), {f"r{n:02}": n % 2 for n in range(40)})

    page = shown(page_of(researcher, pilot.dataset, pilot=pilot.slug, wish=20))

    assumed = page.table("Assumptions of the plan")
    assert assumed.row("Expected share")["Value"] == "50.0 %"
    assert assumed.row("Correlation of metric and label")["Value"] == "1.00"
    assert page.table("How many raters").row("3")["Majority as in the pilot, %"] == "100.0"


def test_one_click_plans_the_study_of_a_row(researcher, pilot):
    answer = page_of(researcher, pilot.dataset, pilot=pilot.slug, wish=20)
    document = html.document_fromstring(answer.content)
    [form] = [each for each in document.forms if each.get("id") == "plan-study"]
    [row] = document.xpath("//input[@type='radio' and @aria-label='30 dialogs']")
    assert document.xpath("count(//button[.='Plan this study'])") == 1
    posted: dict[str, list[str]] = {}
    for name, value in [*form.form_values(), (row.get("name"), row.get("value"))]:
        posted.setdefault(name, []).append(value)

    answer = researcher.post(form.action, posted)

    study = Study.objects.latest("pk")
    assert answer["Location"] == reverse("annotation:study-setup", args=[study.slug])
    assert (study.n_sampled, study.raters_per_unit, study.state) == (30, 5, "planned")
    assert list(study.setups.all()) == list(pilot.setups.all())
    assert [arm.kind for arm in study.arms.all()] == ["separate"]


def test_an_even_number_of_raters_has_no_button(researcher, pilot):
    page = page_of(researcher, pilot.dataset, raters=4)

    assert "A study needs an odd number of raters" in shown(page).text
    assert "Plan this study" not in page.content.decode()


def test_without_responses_there_is_an_answer_but_no_button(researcher, tmp_path):
    dataset = import_rows(tmp_path, examples=[example_row("e1"), example_row("e2")]).dataset

    page = page_of(researcher, dataset)

    assert "The dataset has no responses yet" in shown(page).text
    assert "Plan this study" not in page.content.decode()


def test_a_study_without_votes_and_one_dialog_can_be_pilots(researcher, tmp_path):
    one = rated(tmp_path / "one", votes(a="yyn"), name="One")
    bare = rated(tmp_path / "bare", votes(a="yyn", b="yyn"), name="Bare")
    bare.arms.get().votes.all().delete()

    assert "Rate 1 dialog" in shown(page_of(researcher, one.dataset, pilot=one.slug, wish=50)).text
    page = shown(page_of(researcher, bare.dataset, pilot=bare.slug))
    assert "usual value; the pilot has none" in page.text


def test_a_dataset_without_examples_says_so(researcher):
    page = page_of(researcher, Dataset.objects.create(name="Empty", slug="empty"))

    assert "Nothing can be planned" in shown(page).headings


def test_wrong_choices_are_marked_and_the_usual_ones_taken(researcher, pilot):
    page = page_of(researcher, pilot.dataset, wish="-3", pilot="nothing", goal="x")

    assert page.status_code == 200
    assert "greater than or equal to 0.1" in shown(page).text
    assert "385 dialogs would be needed" in shown(page).text


@pytest.mark.parametrize("goal", ["mean", "difference", "arms", "accuracy"])
def test_a_second_separate_arm_alone_cannot_be_planned(researcher, pilot, goal):
    """It repeats the separate arm, so the page marks the choice and takes the usual arm."""
    asked = {"pilot": pilot.slug, "arm": "separate_2", "goal": goal}

    answer = page_of(researcher, pilot.dataset, **asked)

    assert answer.status_code == 200
    if goal != "arms":  # Merged against separate has both arms, so no arm is chosen.
        assert "separate_2 is not one of the available choices" in shown(answer).text


def test_links_lead_to_it(researcher, pilot):
    here = reverse("evaluation:plan", args=[pilot.dataset.slug])
    new = reverse("annotation:new-study") + f"?dataset={pilot.dataset.slug}"

    of_dataset = researcher.get(reverse("generation:dataset", args=[pilot.dataset.slug]))
    of_study = researcher.get(reverse("evaluation:study", args=[pilot.slug]))

    assert shown(of_dataset).links["How many to rate?"] == here
    assert shown(researcher.get(new)).links["How many do I need?"] == here
    assert shown(of_study).links["How many more to rate?"] == f"{here}?pilot={pilot.slug}"


def test_the_api_and_a_file_have_the_same_rows(researcher, pilot):
    of_api = researcher.get(f"/api/v1/datasets/{pilot.dataset.slug}/reports/plan/?wish=20")
    names = [pilot.dataset.slug, "plan", "json"]
    of_file = researcher.get(
        reverse("evaluation:report-file-of-dataset", args=names), {"wish": "20"}
    )

    assert of_api.json()["rows"] == json.loads(of_file.content)["rows"]
    refused = researcher.get(f"/api/v1/datasets/{pilot.dataset.slug}/reports/plan/?wish=99")
    assert refused.status_code == 400
    assert "wish" in refused.json()


def test_only_researchers_may_see_it(client, client_for, pilot):
    address = reverse("evaluation:plan", args=[pilot.dataset.slug])

    assert client.get(address)["Location"].startswith(reverse("accounts:sign-in"))
    assert client_for(person("rachel", Role.RATER)).get(address).status_code == 403


def test_only_get_is_answered_and_only_datasets_have_plans(researcher, pilot):
    address = reverse("evaluation:plan", args=[pilot.dataset.slug])

    assert researcher.post(address).status_code == 405
    assert researcher.get(reverse("evaluation:plan", args=["nothing"])).status_code == 404


def test_more_votes_take_no_more_queries(researcher, tmp_path):
    def asked(n, name):
        study = rated(tmp_path / name, votes(**{f"r{k}": "yyn" for k in range(n)}), name=name)
        make_scores(make_run(study.dataset), {f"r{k}": 0.5 for k in range(n)})
        return lambda: page_of(researcher, study.dataset, pilot=study.slug, goal="accuracy")

    few, many = asked(3, "few"), asked(30, "many")
    few()  # what is read once for all

    assert len(statements(many)) == len(statements(asked(3, "again")))
