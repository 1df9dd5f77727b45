"""The page of a threshold choice: who may see it, what it shows in every state, what it starts."""

import json
import re

import pytest
from django.urls import reverse

from accounts.access import Role
from evaluation.models import MetricRun, RunChunk
from evaluation.runs.families import families_of
from evaluation.runs.services.added_controls import request_controls
from evaluation.studies.reports import cached_figures
from evaluation.studies.reports.threshold_choice import threshold_choice_report
from tests.conftest import person
from tests.evaluation.makers_of_scores import make_run, make_scores
from tests.evaluation.metric_runs import work
from tests.evaluation.studies.hand_made import votes
from tests.evaluation.studies.test_threshold_choice_report import ANSWERS, candidate
from tests.makers import rated, scheme_of, statements
from tests.shown import markup, shown

pytestmark = pytest.mark.once

LEXICAL = "auto_ais|lexical|shown"


@pytest.fixture(autouse=True)
def own_cache(own_cache_and_folder):
    """Keep this module's computed results apart from those of other tests."""


@pytest.fixture
def study(tmp_path):
    """A study of 24 dialogs; v1 whole repeats people but for three, v3 K = 2 says no to all."""
    study = rated(tmp_path, votes(**ANSWERS))
    good = {key: 0.8 if (n % 3 > 0) != (n % 8 == 0) else 0.2 for n, key in enumerate(ANSWERS)}
    candidate(study.dataset, "v1", 0, good)
    candidate(study.dataset, "v3", 2, {key: score / 2 for key, score in good.items()})
    return study


def page_of(client, study, name="threshold-choice", *more, **asked):
    return client.get(reverse(f"evaluation:{name}", args=[study.slug, *more]), asked)


def press(client, study, name, **asked):
    address = reverse(f"evaluation:{name}", args=[study.slug])
    return client.post(address, {"family": LEXICAL, "question": "q"} | asked)


def choice_of(answer):
    """Return what the button of the page posts: the run and the threshold that it shows."""
    fields = shown(answer).fields
    return {name: fields[name] for name in ("run", "threshold") if name in fields}


def start(client, study, **asked):
    choice = choice_of(page_of(client, study, **asked))
    return press(client, study, "start-chosen-run", **asked | choice)


def test_the_page_says_the_honest_figure_beside_the_flattering_one(researcher, study):
    page = shown(page_of(researcher, study))

    # 21 of 24 either way: the threshold is clear, so that nothing is flattered.
    assert page.facts["In-sample (too optimistic)"] == "87.5 %"
    assert page.facts["Cross-validated (report this)"] == "87.5 %"
    assert "Here the two are equal" in page.text
    assert "2 candidates compared" in page.text
    assert "v1, whole, threshold 0.500" in page.text.partition("Chosen on all dialogs")[2]
    assert page.fields["threshold"] == "0.5"
    assert page.facts["Default settings"] == "33.3 %"
    assert "v3, localized K = 2, usual threshold" in page.text
    assert page.table("Combinations").row("v1, whole")["Accuracy"] == "87.5"
    assert "24 responses compared, 24 dialogs" in page.text
    assert "10 of 12 combinations" in page.part("grid").text
    assert "240 scores" in page.part("grid").text


def test_the_study_links_to_it_and_says_which_run_was_chosen_on_its_votes(researcher, study):
    start(researcher, study)
    work(MetricRun.objects.latest("pk"))

    page = shown(researcher.get(reverse("evaluation:study-metrics", args=[study.slug])))

    here = reverse("evaluation:threshold-choice", args=[study.slug])
    assert page.part("auto").links["Threshold choice"] == f"{here}?question=q"
    assert "flavor, K or threshold were chosen on these votes" in page.part("cm").text


def test_without_votes_without_runs_and_with_one_class_it_says_why(researcher, study, tmp_path):
    bare = rated(tmp_path / "bare", votes(a="yn"), name="Bare")
    alike = rated(tmp_path / "alike", votes(**dict.fromkeys("abcdefg", "yyy")), name="Alike")
    make_scores(make_run(alike.dataset), dict.fromkeys("abcdefg", 0.9))
    study.arms.get().votes.all().delete()

    assert "No votes yet" in shown(page_of(researcher, study)).headings
    page = shown(page_of(researcher, bare))
    assert "nothing scored yet" in page.choices("family")[LEXICAL]
    assert "4 of 4 combinations are missing (whole, K = 1 to 3)" in page.part("grid").text
    assert "4 scores" in page.part("grid").text
    [message] = shown(page_of(researcher, alike)).messages
    assert message.startswith("Nothing can be chosen here")
    assert "people said yes to all" in message


def test_what_is_missing_of_the_grid_is_asked_for_once(researcher, study):
    answer = press(researcher, study, "score-grid")
    press(researcher, study, "score-grid")

    assert answer.url.startswith(reverse("evaluation:threshold-choice", args=[study.slug]))
    runs = MetricRun.objects.filter(state="running")
    assert runs.count() == 10
    chunks = RunChunk.objects.filter(run__in=runs)
    assert sum(len(each.targets) for each in chunks.filter(is_of_controls=False)) == 240
    begun = page_of(researcher, study)
    page = shown(begun)
    assert "10 combinations" in page.part("grid-progress").text
    assert "240 scores to go" in page.part("grid-progress").text
    assert "Score the missing" not in page.text

    [polled] = re.findall(r'hx-get="([^"]*/progress/[^"]*)" hx-trigger="every 2s"', markup(begun))
    polled = polled.replace("&amp;", "&")
    first, *others = runs.order_by("pk")
    work(first)
    going = researcher.get(polled)
    assert "9 combinations" in shown(going).text
    assert "216 scores to go" in shown(going).text
    assert "HX-Trigger" not in going
    for run in others:
        work(run)
    assert "runs-finished" in researcher.get(polled)["HX-Trigger"]
    scored = shown(page_of(researcher, study)).part("grid")
    assert "All 12 combinations" in scored.text
    of_controls = scored.table("Controls of each combination")
    assert len(of_controls.column("Controls")) == 10  # the two runs of before have none
    # v3 asks the question on both sides, so that any text repeats some of its premise.
    assert of_controls.row("v3, whole")["Controls"] == "unfit"
    assert "v3, whole (unfit)" in scored.text

    chosen = MetricRun.objects.earliest("pk")
    request_controls(chosen, None)
    work(chosen)
    page = shown(page_of(researcher, study))
    assert "v1, whole is unfit for these data. Where the right label is known, it" in page.text


def test_to_ask_how_far_it_is_costs_one_statement_and_reads_no_score(researcher, study):
    press(researcher, study, "score-grid")
    runs = list(MetricRun.objects.filter(state="running").values_list("pk", flat=True))

    def asked(*which):
        return statements(
            lambda: page_of(researcher, study, "threshold-choice-progress", run=which)
        )

    few, many = asked(*runs[:1]), asked(*runs)

    assert len(few) == len(many)
    assert sum("runchunk" in each for each in many) == 1
    assert not any("autoscore" in each for each in many)
    # Session, user and study come before it.
    assert len(many) <= 5
    ended = page_of(researcher, study, "threshold-choice-progress", run=["x", "9" * 30, "-1"])
    assert "runs-finished" in ended["HX-Trigger"]


def test_the_chosen_run_says_by_whose_votes(researcher, study):
    answer = start(researcher, study)

    run = MetricRun.objects.latest("pk")
    assert answer.url == reverse("evaluation:run", args=[run.pk])
    assert run.parameters["calibrated_on"] == [study.slug]
    assert (run.parameters["flavor"], run.parameters["window"]) == ("v1", 0)
    assert run.threshold == pytest.approx(0.5)


def test_what_nobody_saw_is_not_started(researcher, study):
    choice = choice_of(page_of(researcher, study))
    # Meanwhile v2 is scored, and is right about all.
    candidate(study.dataset, "v2", 0, {k: 0.9 if n % 3 else 0.3 for n, k in enumerate(ANSWERS)})

    answer = press(researcher, study, "start-chosen-run", **choice)
    without = press(researcher, study, "start-chosen-run")

    assert MetricRun.objects.count() == 3
    assert answer.url == without.url
    page = shown(researcher.get(answer.url))
    assert all("No run was started: votes or scores" in message for message in page.messages)
    assert len(page.messages) == 2  # one for each click
    assert "v2, whole, threshold 0.600" in page.text.partition("Chosen on all dialogs")[2]
    assert page.fields["threshold"] == "0.6"
    start(researcher, study)
    assert MetricRun.objects.latest("pk").threshold == pytest.approx(0.6)


def test_the_started_run_gives_the_labels_that_were_recommended(researcher, tmp_path):
    # Sensible says yes at its threshold. No to all is right for 16 of 24, but at 1 no run says it.
    answers = {key: "nnn" if n % 3 else "yyy" for n, key in enumerate(ANSWERS)}
    study = rated(tmp_path, votes(**answers))
    scored = make_run(
        study.dataset, metric="sensible", parameters={}, signature="s", is_yes_at_threshold=True
    )
    low = [key for n, key in enumerate(ANSWERS) if n % 3][:4]
    make_scores(scored, {key: 0.5 if key in low else 1.0 for key in ANSWERS})
    [family] = families_of(study)

    start(researcher, study, family=family.key)

    run = MetricRun.objects.latest("pk")
    assert run.cut is not None
    labels = {key: (0.5 if key in low else 1.0) > run.cut for key in ANSWERS}
    assert (run.threshold, run.is_yes_at_threshold) == (0.75, True)
    assert labels == {key: key not in low for key in ANSWERS}
    n_right = sum(labels[key] == (answers[key] == "yyy") for key in ANSWERS)
    [row] = [row for row in threshold_choice_report(study).records if row["kind"] == "chosen"]
    assert row["flattering_accuracy"] == n_right / 24 == 0.5


def test_a_candidate_that_lacks_scores_is_named(researcher, study):
    candidate(study.dataset, "v2", 0, dict.fromkeys(list(ANSWERS)[:13], 0.9), state="cancelled")

    page = shown(page_of(researcher, study))

    [lacking] = [item for item in page.items if "left out" in item]
    assert lacking.startswith("11 responses")
    assert "v2, whole" in lacking


def test_a_large_study_is_left_to_the_command(researcher, study, monkeypatch):
    monkeypatch.setattr(cached_figures, "MOST_VOTES_AT_ONCE", 10)

    page = shown(page_of(researcher, study))

    assert f'report threshold_choice --study "{study.name}"' in page.part("grid").text
    assert "What the choice gains" not in page.text
    assert "10 of 12 combinations" in page.part("grid").text
    for answer in (
        page_of(researcher, study, "threshold-choice-file", "csv"),
        page_of(researcher, study, "threshold-choice-figure", "svg"),
        press(researcher, study, "start-chosen-run"),
    ):
        assert answer.status_code == 404


def test_nothing_is_started_where_nothing_can_be_chosen(researcher, tmp_path):
    study = rated(tmp_path, votes(a="yyy", b="nnn"))
    make_scores(make_run(study.dataset), {"a": 0.9, "b": 0.2})

    answer = press(researcher, study, "start-chosen-run")

    assert answer.status_code == 302
    assert MetricRun.objects.count() == 1
    assert press(researcher, study, "score-grid", family="nobody").status_code == 404


def test_question_and_scores_are_chosen_by_the_address(researcher, tmp_path):
    answers = {
        key: {"x": ["yes"], "y": ["no" if n % 2 else "yes"]} for n, key in enumerate("abcdef")
    }
    study = rated(tmp_path, answers, scheme=scheme_of({"x": "yes_no", "y": "yes_no"}))
    make_scores(make_run(study.dataset), dict.fromkeys("abcdef", 0.9))
    make_scores(
        make_run(study.dataset, metric="nli", is_imported=True, signature=""),
        {key: 0.9 - 0.5 * (n % 2) for n, key in enumerate("abcdef")},
    )

    first = shown(page_of(researcher, study))
    other = shown(page_of(researcher, study, question="y", family="imported|nli"))
    wrong = shown(page_of(researcher, study, question="?", family="?"))

    for page in (first, wrong):
        [message] = page.messages
        assert "people said yes to all" in message
    assert other.facts["Cross-validated (report this)"] == "100.0 %"
    assert "only the threshold can be chosen" in other.part("grid").text
    assert "Start a run with these choices" not in other.text


def test_tables_and_figures_are_taken_away(researcher, study):
    csv = page_of(researcher, study, "threshold-choice-file", "csv", question="q")
    rows = json.loads(page_of(researcher, study, "threshold-choice-file", "json").content)["rows"]
    svg = page_of(researcher, study, "threshold-choice-figure", "svg")

    assert csv.content.decode().startswith("study,question,label,truth,family,")
    assert [row["kind"] for row in rows] == ["chosen", "candidate", "candidate"]
    assert svg.content.startswith(b"<svg")
    assert b"majority label 66.7" in svg.content
    assert svg["Content-Disposition"] == f'attachment; filename="{study.slug}-threshold-choice.svg"'
    for name in ("threshold-choice-file", "threshold-choice-figure"):
        assert page_of(researcher, study, name, "docx").status_code == 404


def test_the_page_costs_the_same_for_two_and_for_ten_candidates(researcher, study):
    def costs():
        """The first visit computes, the next one looks it up."""
        return [len(statements(lambda: page_of(researcher, study))) for _ in range(2)]

    page_of(researcher, study)  # what no later visit asks: content types and the like
    candidate(study.dataset, "v2", 9, dict.fromkeys(ANSWERS, 0.4))
    first, again = costs()
    for window in range(1, 9):
        candidate(study.dataset, "v2", window, dict.fromkeys(ANSWERS, 0.4))

    assert costs() == [first, again]
    assert again < first < 50


def test_the_api_answers_what_the_report_says(researcher, study):
    answer = researcher.get(f"/api/v1/studies/{study.slug}/reports/threshold_choice/").json()

    assert answer["rows"] == threshold_choice_report(study).records


@pytest.mark.parametrize(
    "rest",
    ["/", "/progress/", ".csv", "/figure.svg", "/?question=q", "/score/"],
)
def test_addresses_with_the_former_name_lead_to_todays(researcher, client_for, study, rest):
    old = f"/studies/{study.slug}/calibration{rest}"

    answer = researcher.get(old)

    assert (answer.status_code, answer.url) == (308, old.replace("calibration", "threshold-choice"))
    assert researcher.post(old).status_code == 308, "a form that is open goes on working"
    assert client_for(person("rhea", Role.RATER)).get(old).status_code == 403


def test_the_report_has_its_page_and_its_api_under_the_former_key_too(researcher, study):
    old = researcher.get(f"/api/v1/studies/{study.slug}/reports/calibration/").json()

    assert old == researcher.get(f"/api/v1/studies/{study.slug}/reports/threshold_choice/").json()
    page = shown(researcher.get(f"/studies/{study.slug}/reports/calibration/"))
    assert "Threshold choice" in page.text


@pytest.mark.parametrize("button", ["score-grid", "start-chosen-run"])
def test_nothing_is_started_with_a_model_that_is_not_there(researcher, study, tmp_path, button):
    MetricRun.objects.update(
        backend="transformers", model_name="mini", model_location=str(tmp_path / "secret-place")
    )
    asked = {"question": "q", "family": "auto_ais|mini|shown"}
    asked |= choice_of(page_of(researcher, study, **asked))
    before = MetricRun.objects.count()

    answer = researcher.post(reverse(f"evaluation:{button}", args=[study.slug]), asked, follow=True)

    assert MetricRun.objects.count() == before
    [message] = shown(answer).messages
    assert message.startswith("No run was started: mini: its folder does not exist here")
    assert "secret-place" not in answer.text
