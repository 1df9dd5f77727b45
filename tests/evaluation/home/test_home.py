"""The page: who sees what, the steps of a person without data, and what it costs."""

import pytest
from django.test import override_settings
from django.urls import reverse
from django.utils import timezone

from accounts.access import Role
from accounts.models import User
from annotation.models import Arm, Study
from evaluation.models import MetricRun, RunChunk
from tests.annotation.makers import material
from tests.conftest import person
from tests.evaluation.metric_runs import mill, requested
from tests.makers import example_row, import_rows, pilot_rows, rated
from tests.shown import shown

pytestmark = pytest.mark.once

STEPS = ("Import", "Plan a study", "Run a metric", "Read")


@pytest.fixture
def home(client_for):
    """Return a function that opens home as a person sees it."""

    def home(user: User):
        answer = client_for(user).get(reverse("home"))
        assert answer.status_code == 200
        return shown(answer)

    return home


def states(page) -> list[str]:
    """Return the states of the four steps, in their order."""
    said = [next(h for h in page.headings if step in h) for step in STEPS]
    return [heading.split()[-1] for heading in said]


def test_a_person_without_data_begins_with_the_import(home, rosa):
    page = home(rosa)

    assert states(page) == ["next", "later", "later", "later"]
    assert page.links["Import data"] == reverse("evaluation:import")
    assert "Last results" not in page.headings
    assert "New grid" not in page.links


def test_questions_without_responses_lead_to_a_grid(home, rosa, tmp_path):
    import_rows(tmp_path / "asked", "asked", examples=[example_row()])

    page = home(rosa)

    assert states(page) == ["next", "later", "later", "later"]
    assert page.links["New grid"] == reverse("grids:new")


@override_settings(RESEARCHERS_IMPORT=False)
def test_researchers_who_may_not_import_are_told_who_does(home, rosa, adam):
    assert "an admin imports data" in home(rosa).text
    assert "Import data" not in home(rosa).links
    assert "Import data" in home(adam).links


def test_steps_are_done_in_any_order(home, rosa, tmp_path):
    material(tmp_path / "two")
    assert states(home(rosa)) == ["done", "next", "later", "later"]

    # Votes that are imported bring their study, and with it something to read.
    rated(tmp_path / "rated", {"x": {"attributable": ["yes", "no"]}}, name="rated")
    assert states(home(rosa)) == ["done", "done", "next", "done"]


def test_the_steps_are_folded_away_when_all_are_done(home, rosa, tmp_path):
    # The pilot has responses, votes and imported scores.
    import_rows(tmp_path / "pilot", **pilot_rows())

    page = home(rosa)

    assert "First steps: all done" in page.text
    assert page.links["New study"] == reverse("annotation:new-study")


def test_a_researcher_who_rates_too_is_led_to_their_own_studies(home, rosa, tmp_path):
    both = person("both", Role.RATER, Role.RESEARCHER)
    material(tmp_path / "two")

    assert "You rate too" in home(both).text
    assert "You rate too" not in home(rosa).text


def test_the_last_answer_is_asked_for_and_counts_as_a_look(client_for, rosa, tmp_path):
    votes = {"x": {"attributable": ["yes", "yes"]}}
    study = rated(tmp_path / "rated", votes, name="rated")
    Study.objects.update(state=Study.State.OPEN)
    address = reverse("home-answer", args=[study.slug])

    answer = client_for(rosa).get(address)

    assert address in client_for(rosa).get(reverse("home")).text
    assert "1 of 1" in shown(answer).text
    study.refresh_from_db()
    assert study.n_looks == 1


def test_only_researchers_may_ask_for_the_work(client_for, rachel, rosa):
    assert client_for(rachel).get(reverse("home-work")).status_code == 403
    assert client_for(rosa).get(reverse("home-work")).status_code == 200


@pytest.mark.parametrize("name", ["home", "home-work"])
def test_nothing_is_sent_to_home(client_for, rosa, name):
    assert client_for(rosa).post(reverse(name)).status_code == 405


def test_the_list_of_work_asks_for_itself_while_something_runs(client_for, rosa, tmp_path):
    browser = client_for(rosa)
    address = reverse("home-work")
    assert "hx-trigger" not in browser.get(address).text

    requested(mill(tmp_path), rosa)

    assert f'hx-get="{address}"' in browser.get(address).text
    assert '<meta http-equiv="refresh"' in browser.get(reverse("home")).text


def test_work_that_is_shown_again_is_no_visit(client_for, rosa):
    client_for(rosa).get(reverse("home-work"))

    rosa.refresh_from_db()
    assert rosa.home_seen_at is None


def test_home_costs_seven_queries_however_much_there_is(
    client_for, django_assert_num_queries, tmp_path
):
    # The user, the roles; the work, what waits, the results; and the visit. With a last answer, its
    # study; with a trade-off, its dataset, and whether it has a graph.
    early, late = (client_for(person(name, *Role)) for name in ("early", "late"))
    with django_assert_num_queries(6):
        early.get(reverse("home"))
    study = rated(tmp_path / "rated", {"x": {"attributable": ["yes", "no"]}}, name="rated")
    fill(study)

    with django_assert_num_queries(7):
        page = late.get(reverse("home"))

    assert "There is more:" in page.text
    assert "See all" in page.text


def fill(study: Study) -> None:
    """Add 1,000 studies in every state and 40 runs, 20 of which go on."""
    states = Study.State.values
    studies = Study.objects.bulk_create(
        Study(
            name=f"Study {n}",
            slug=f"study-{n}",
            dataset=study.dataset,
            scheme=study.scheme,
            state=states[n % len(states)],
            raters_per_unit=5,
        )
        for n in range(1000)
    )
    Arm.objects.bulk_create(Arm(study=each, kind="separate") for each in studies)
    runs = MetricRun.objects.bulk_create(
        MetricRun(
            dataset=study.dataset,
            metric="auto_ais",
            signature=f"run {n}",
            parameters={"flavor": "v3", "window": 2},
            state="running" if n % 2 else "done",
            finished_at=None if n % 2 else timezone.now(),
        )
        for n in range(40)
    )
    RunChunk.objects.bulk_create(RunChunk(run=run, number=1, targets=[1]) for run in runs)
