"""The queue of metric runs, and what can be done about a run."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Study
from annotation.schemes import built_in_schemes
from evaluation.models import AutoScore, MetricRun
from evaluation.runs.main_metrics import is_asked
from tests.evaluation.metric_runs import BARE, cancelled, done, failed, mill, requested, work
from tests.makers import (
    audit_actions,
    rated,
    response_row,
    statements,
)
from tests.shown import shown

pytestmark = pytest.mark.once

RUNS = "/metrics/"
NEW = "/metrics/new/"
HTML = "<script>alert(1)</script>"
LOCALIZED = "Auto-AIS, v3, localized K = 2"


@pytest.fixture
def dataset(tmp_path):
    return mill(tmp_path)


@pytest.fixture
def study(tmp_path):
    """Two rated responses by one setup; both say 'Text of …', as nothing was shown to say."""
    return rated(tmp_path / "rated", {"a": {"q": ["yes"]}, "b": {"q": ["no"]}}, name="rated")


def address(name, run):
    return reverse(f"evaluation:{name}", args=[run.pk])


def tabs_of(answer):
    """Return label → number of the tabs above the queue."""
    [tabs] = shown(answer).parts("tabs")
    return {label: int(n) for label, n in map(str.split, tabs.links)}


def row_of(answer, run):
    """Return what the queue shows of one run."""
    return shown(answer).part(f"metric-run-{run.pk}")


def card_of(run):
    return reverse("work:card", args=["metric-run", run.pk])


def change(action, run):
    """Return the address of a change: retrying is for runs only, the others for all work."""
    if action == "retry":
        return address("retry-run", run)
    return reverse(f"work:{action}", args=["metric-run", run.pk])


def said_by_bar(row):
    [bar] = row.parts("bar")
    return bar.text


def listed_in(answer):
    """Return the addresses of the runs in the queue."""
    return [row.addresses[0] for row in shown(answer).parts("run")]


# --- the queue ------------------------------------------------------------------------------


def test_without_responses_the_queue_leads_to_the_data(researcher):
    assert "Nothing to score yet" in shown(researcher.get(RUNS)).headings


def test_without_runs_the_queue_leads_to_a_new_one(researcher, dataset):
    page = shown(researcher.get(RUNS))

    assert "No metric runs yet" in page.headings
    assert page.links["New run"] == NEW


def test_a_queued_run_waits_for_a_worker(researcher, dataset):
    run = requested(dataset)

    row = row_of(researcher.get(RUNS), run)
    assert row.headings == [f"{LOCALIZED} queued"]
    assert "Auto-AIS, lexical, v3, localized K = 2, shown evidence; mill" in row.text
    assert said_by_bar(row) == "0 of 12 responses 0 %"
    assert "worker" in row.facts["Starts"]
    assert row.actions == [change("cancel", run)]


def test_a_running_run_says_how_far_it_is_and_is_asked_again(researcher, dataset):
    run = work(requested(dataset), 1)  # chunks of 5, as there are 12 responses
    MetricRun.objects.update(resumed_at=timezone.now() - timedelta(seconds=10))
    AutoScore.objects.update(created_at=timezone.now())

    answer = researcher.get(RUNS)

    row = row_of(answer, run)
    assert row.headings == [f"{LOCALIZED} running"]
    assert said_by_bar(row) == "5 of 12 responses 41 %"
    # One passage of two sentences is one window, so 5 pairs in 10 seconds; 7 more take 14.
    assert row.facts == {"Rate": "0.5 pairs a second", "Ready in": "about 14 s", "Failed": "0"}
    assert f'hx-get="{card_of(run)}?seen=" hx-trigger="every 2s"' in answer.text
    assert '<meta http-equiv="refresh"' in answer.text


def test_what_is_polled_ends_with_an_event_that_the_queue_waits_for(researcher, dataset):
    run = work(requested(dataset), 1)
    assert "HX-Trigger" not in researcher.get(card_of(run)).headers

    work(run)

    answer = researcher.get(card_of(run))
    assert "work-changed" in answer.headers["HX-Trigger"]
    assert 'hx-trigger="every' not in answer.text
    queue = researcher.get(RUNS, headers={"HX-Request": "true"})
    assert "<html" not in queue.text
    assert 'hx-trigger="work-changed from:body"' in queue.text
    assert 'hx-trigger="every' not in queue.text


def test_a_done_run_leads_to_the_studies_that_show_it(researcher, study, tmp_path):
    run = done(study.dataset)
    agreement = f"{reverse('evaluation:study-metrics', args=[study.slug])}?run={run.pk}#auto"

    row = row_of(researcher.get(RUNS), run)
    assert "2 responses" in row.text
    assert row.links[f"Compare with raters {LOCALIZED}"] == agreement
    assert row.actions == []
    assert address("archive-run", run) in shown(researcher.get(address("run", run))).actions

    # With two studies the choice is on the run's own page; a planned one shows nothing yet.
    for state in ("closed", "planned"):
        Study.objects.create(
            name=state, slug=state, dataset=study.dataset, scheme={}, state=state, is_imported=True
        )
    assert f"{address('run', run)}#studies" in row_of(researcher.get(RUNS), run).addresses
    own = shown(researcher.get(address("run", run))).addresses
    assert agreement in own
    assert agreement.replace(study.slug, "closed") in own
    assert not any(there.startswith("/studies/planned/") for there in own)


@pytest.mark.parametrize(
    ("metric", "key", "is_offered"),
    [
        ("auto_ais", "AIS", True),
        ("auto_ais", "SSA", False),
        ("sensible", "AIS", False),
        ("sensible", "SSA", True),
        ("fluency", "SSA", False),
    ],
)
def test_a_run_is_compared_with_raters_who_answer_what_it_scores(metric, key, is_offered):
    study = Study(scheme=built_in_schemes()[key])

    assert is_asked(MetricRun(metric=metric), study) is is_offered
    assert is_asked(MetricRun(metric=metric, is_imported=True), study)


def test_a_cancelled_run_can_be_resumed_or_deleted(researcher, dataset):
    run = cancelled(dataset)

    row = row_of(researcher.get(RUNS), run)
    assert row.headings[0] == f"{LOCALIZED} cancelled"
    assert row.facts["Remaining"] == "7 responses"
    assert said_by_bar(row).startswith("5 of 12 ")
    assert row.parts("is-paused")
    assert row.actions == [
        change("resume", run),
        address("archive-run", run),
        change("delete", run),
    ]


def test_what_failed_is_named_with_its_number(researcher, tmp_path):
    examples = ["e1", BARE, BARE]
    rows = [response_row(f"r{n}", each, setup=f"s{n}") for n, each in enumerate(examples)]
    run = done(mill(tmp_path, responses=rows))

    row = row_of(researcher.get(RUNS), run)
    assert row.headings == [f"{LOCALIZED} failed in part"]
    assert said_by_bar(row) == "1 of 3 responses 33 %"
    [message] = row.messages
    assert "2 responses have no score" in message
    retry, _ = row.buttons  # the other one archives
    assert retry.startswith("Retry 2 failed")
    assert row.actions == [address("retry-run", run), address("archive-run", run)]


def test_a_run_whose_model_cannot_be_used_says_why_but_not_where(researcher, dataset):
    run = failed(dataset, "/srv/nowhere/model")

    answer = researcher.get(RUNS)

    row = row_of(answer, run)
    [message] = row.messages
    assert message.startswith("The run stopped.")
    assert "lost-model" in row.text
    assert "/srv/nowhere/model" not in answer.text
    assert "/srv/nowhere/model" not in researcher.get(address("run", run)).text
    assert row.actions == [
        change("resume", run),
        address("archive-run", run),
        change("delete", run),
    ]


def test_an_imported_run_is_listed_as_imported(researcher, tmp_path):
    scores = [{"response": "r1", "metric": "rouge", "score": "25", "signature": HTML}]
    mill(tmp_path, scores=scores)
    run = MetricRun.objects.get()

    answer = researcher.get(RUNS)

    row = row_of(answer, run)
    assert row.headings == ["rouge imported"]
    assert "1 score" in row.text
    assert HTML in row.text
    assert HTML not in answer.text
    assert row.actions == [address("archive-run", run)]


def test_assumed_and_truncated_are_counted(researcher, tmp_path):
    rows = [response_row("r1", evidence_shown=[]), response_row("r2", setup="s2")]
    run = done(mill(tmp_path, responses=rows))
    AutoScore.objects.filter(is_assumed=False).update(n_truncated=3)

    [row] = shown(researcher.get(address("run", run))).parts("run")

    assert row.facts["Scored 0"] == "1 no evidence shown, or empty response"
    assert row.facts["Truncated"] == "3 pairs"


def test_tabs_count_and_filter_by_state(researcher, dataset, tmp_path):
    bare = mill(tmp_path, name="bare", responses=[response_row("r1", BARE)])
    runs = {
        "running": [requested(dataset)],
        "cancelled": [cancelled(dataset, window=0)],
        "failed": [failed(dataset, "/srv/nowhere"), done(bare)],  # wholly, and in part
        "done": [done(dataset, flavor="v1")],
    }

    assert tabs_of(researcher.get(RUNS)) == {
        "All": 5,
        "Running": 1,
        "Cancelled": 1,
        "Failed": 2,
        "Done": 1,
    }
    for state, wanted in runs.items():
        listed = listed_in(researcher.get(RUNS, {"state": state}))
        assert sorted(listed) == sorted(address("run", run) for run in wanted)
    newest_first = MetricRun.objects.order_by("-pk")
    assert listed_in(researcher.get(RUNS)) == [address("run", run) for run in newest_first]
    of_bare = researcher.get(RUNS, {"dataset": "bare"})
    assert tabs_of(of_bare) == {"All": 1, "Running": 0, "Cancelled": 0, "Failed": 1, "Done": 0}
    assert shown(of_bare).fields["dataset"] == "bare"
    none = researcher.get(RUNS, {"dataset": "bare", "state": "done"})
    assert "Nothing found" in shown(none).headings


@pytest.mark.parametrize("query", ["?state=x", "?dataset=x", "?page=x", "?page=0"])
def test_an_address_that_names_nothing_lists_all(researcher, dataset, query):
    requested(dataset)

    assert tabs_of(researcher.get(f"{RUNS}{query}"))["All"] == 1


def test_the_queue_costs_the_same_for_1_and_for_20_and_goes_on_behind(researcher, tmp_path):
    dataset = mill(tmp_path, n_responses=1)
    done(dataset, threshold=0.0)
    for_one = len(statements(lambda: researcher.get(RUNS)))
    for n in range(1, 30):
        done(dataset, threshold=n / 30)

    assert len(statements(lambda: researcher.get(RUNS))) == for_one
    assert len(listed_in(researcher.get(RUNS, {"page": 2}))) == 10


# --- what can be done about a run -----------------------------------------------------------


def messages_after(client, action, run):
    return shown(client.post(change(action, run), follow=True)).messages


def test_cancel_resume_and_delete(researcher, dataset, django_capture_on_commit_callbacks):
    run = work(requested(dataset), 1)

    [message] = messages_after(researcher, "cancel", run)
    run.refresh_from_db()
    assert run.state == "cancelled"
    assert "was cancelled" in message

    with django_capture_on_commit_callbacks() as sent:
        researcher.post(change("resume", run))
    run.refresh_from_db()
    assert run.state == "running"
    assert len(sent) == 2  # chunks of 5 and 2

    [message] = messages_after(researcher, "delete", run)
    assert "Cancel it first" in message
    assert work(run).scores.count() == 12
    message, *_ = messages_after(researcher, "delete", run)
    assert LOCALIZED in message
    assert "deleted" in message
    assert not MetricRun.objects.exists()
    actions = [action for action, _ in audit_actions()]
    assert actions[-4:] == ["run.requested", "run.cancelled", "run.resumed", "run.deleted"]


def test_retrying_asks_once_more_for_what_failed(
    researcher, tmp_path, django_capture_on_commit_callbacks
):
    rows = [response_row(f"r{n}", each, setup=f"s{n}") for n, each in enumerate(["e1", BARE])]
    run = done(mill(tmp_path, responses=rows))

    with django_capture_on_commit_callbacks() as sent:
        researcher.post(address("retry-run", run))

    run.refresh_from_db()
    assert run.state == "running"
    assert len(sent) == 1
    assert run.scores.get().score is not None


def test_what_makes_no_sense_now_changes_nothing(researcher, dataset):
    run = done(dataset)

    for action, said in [
        ("cancel", "had already ended"),
        ("resume", "nothing left to do"),
        ("retry", "has failed"),
    ]:
        [message] = messages_after(researcher, action, run)
        assert said in message
    run.refresh_from_db()
    assert run.state == "done"
    assert run.scores.count() == 12


def test_imported_scores_come_and_go_with_their_dataset(researcher, tmp_path):
    mill(tmp_path, scores=[{"response": "r1", "metric": "rouge", "score": "1", "signature": ""}])
    run = MetricRun.objects.get()

    for action in ("cancel", "resume", "retry", "delete"):
        assert researcher.post(change(action, run)).status_code == 404
    assert AutoScore.objects.count() == 1


def test_an_action_leads_back_to_the_page_it_was_asked_on(researcher, dataset):
    run = requested(dataset)
    queue = f"{RUNS}?state=running"

    answer = researcher.post(
        change("cancel", run), headers={"Referer": f"http://testserver{queue}"}
    )
    assert answer.url == queue
    assert researcher.post(change("resume", run)).url == address("run", run)


def test_actions_are_posts_with_a_token_and_by_researchers(rachel, rosa, client_for, dataset):
    run = requested(dataset)
    careful = Client(enforce_csrf_checks=True)
    careful.force_login(rosa)
    for action in ("cancel", "resume", "retry", "delete"):
        url = change(action, run)
        assert client_for(rosa).get(url).status_code == 405
        assert client_for(rachel).post(url).status_code == 403
        assert careful.post(url).status_code == 403
        assert client_for(rosa).post(url.replace(str(run.pk), "999999")).status_code == 404
    for page in ("run", "run-failures"):
        assert client_for(rosa).post(address(page, run)).status_code == 405
        assert client_for(rachel).get(address(page, run)).status_code == 403
        nowhere = address(page, run).replace(str(run.pk), "999999")
        assert client_for(rosa).get(nowhere).status_code == 404
    assert client_for(rosa).post(RUNS).status_code == 405
    run.refresh_from_db()
    assert run.state == "running"
