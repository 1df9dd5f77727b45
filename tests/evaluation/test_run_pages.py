"""Pages of metric runs: the queue, a new run, one run, its failures, a study's runs."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Study
from evaluation.models import AutoScore, Checkpoint, MetricRun
from tests.evaluation.metric_runs import EMPTY, cancelled, done, failed, mill, requested, work
from tests.evaluation.pages import response_address, words
from tests.makers import (
    audit_actions,
    example_row,
    import_rows,
    rated,
    response_row,
    statements,
)

pytestmark = pytest.mark.django_db

RUNS = "/metrics/"
NEW = "/metrics/new/"
HTML = "<script>alert(1)</script>"
LOCALIZED = "Auto-AIS, v3, localized K = 2"


@pytest.fixture
def researcher(rosa, client_for):
    return client_for(rosa)


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
    found = re.findall(r'<a [^>]*>(\w+) <span class="num">(\d+)</span></a>', answer.text)
    return {label: int(n) for label, n in found}


def row_of(answer, run):
    """Return the words of one run in the queue."""
    article = re.search(rf'<article class="run" id="run-{run.pk}".*?</article>', answer.text, re.S)
    assert article
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", article[0]))


def buttons_of(answer, run):
    """Return what one run in the queue can be asked to do, by the addresses of its forms."""
    return re.findall(rf'action="/metrics/{run.pk}/(\w+)/"', answer.text)


def choices(**more):
    """Return what the form of a new run sends."""
    return {
        "over": "dataset:mill",
        "backend": "lexical",
        "flavor": "v3",
        "window": "2",
        "hypothesis": "whole",
        "evidence": "shown",
        "threshold": "0.5",
    } | more


# --- the queue ------------------------------------------------------------------------------


def test_without_responses_the_queue_leads_to_the_data(researcher):
    assert "Nothing to score yet" in words(researcher.get(RUNS))


def test_without_runs_the_queue_leads_to_a_new_one(researcher, dataset):
    answer = researcher.get(RUNS)

    assert "No metric runs yet" in words(answer)
    assert f'href="{NEW}">New run' in answer.text


def test_a_queued_run_waits_for_a_worker(researcher, dataset):
    run = requested(dataset)

    answer = researcher.get(RUNS)

    row = row_of(answer, run)
    assert f"{LOCALIZED} queued auto_ais|lexical|v3|localized:2|whole|shown|t:0.5|v:1 mill" in row
    assert "0 of 12 responses 0 %" in row
    assert "Starts when a worker is free" in row
    assert buttons_of(answer, run) == ["cancel"]


def test_a_running_run_says_how_far_it_is_and_is_asked_again(researcher, dataset):
    run = work(requested(dataset), 1)  # chunks of 5, as there are 12 responses
    MetricRun.objects.update(resumed_at=timezone.now() - timedelta(seconds=10))
    AutoScore.objects.update(created_at=timezone.now())

    answer = researcher.get(RUNS)

    row = row_of(answer, run)
    assert f"{LOCALIZED} running" in row
    assert "5 of 12 responses 41 %" in row
    # One passage of two sentences is one window, so 5 pairs in 10 seconds; 7 more take 14.
    assert "Rate 0.5 pairs a second Ready in about 14 s Failed 0" in row
    assert f'hx-get="{address("run-progress", run)}" hx-trigger="every 2s"' in answer.text
    assert '<noscript><meta http-equiv="refresh"' in answer.text


def test_what_is_polled_ends_with_an_event_that_the_queue_waits_for(researcher, dataset):
    run = work(requested(dataset), 1)
    assert "HX-Trigger" not in researcher.get(address("run-progress", run)).headers

    work(run)

    answer = researcher.get(address("run-progress", run))
    assert "run-ended" in answer.headers["HX-Trigger"]
    assert 'hx-trigger="every' not in answer.text
    queue = researcher.get(RUNS, headers={"HX-Request": "true"})
    assert "<html" not in queue.text
    assert 'hx-trigger="run-ended from:body"' in queue.text
    assert 'hx-trigger="every' not in queue.text


def test_a_done_run_leads_to_the_studies_that_show_it(researcher, study, tmp_path):
    run = done(study.dataset)
    agreement = reverse("evaluation:study", args=[study.slug]) + "#auto"

    answer = researcher.get(RUNS)
    assert "2 of 2 responses 100 %" in row_of(answer, run)
    assert f'href="{agreement}">See agreement' in answer.text
    assert buttons_of(answer, run) == []

    # With two studies the choice is on the run's own page; a planned one shows nothing yet.
    for state in ("closed", "planned"):
        Study.objects.create(
            name=state, slug=state, dataset=study.dataset, scheme={}, state=state, is_imported=True
        )
    assert f'href="{address("run", run)}#studies">See agreement' in researcher.get(RUNS).text
    own = researcher.get(address("run", run)).text
    assert agreement in own
    assert "/studies/closed/#auto" in own
    assert "/studies/planned/#auto" not in own


def test_a_cancelled_run_can_be_resumed_or_deleted(researcher, dataset):
    run = cancelled(dataset)

    answer = researcher.get(RUNS)

    assert "cancelled" in row_of(answer, run)
    assert "Left 7 responses" in row_of(answer, run)
    assert 'class="is-paused" value="5" max="12"' in answer.text
    assert buttons_of(answer, run) == ["resume", "delete"]


def test_what_failed_is_named_with_its_number(researcher, tmp_path):
    rows = [response_row(f"r{n}", setup=f"s{n}", text=t) for n, t in enumerate(["Ja.", " ", " "])]
    run = done(mill(tmp_path, responses=rows))

    answer = researcher.get(RUNS)

    row = row_of(answer, run)
    assert "failed in part" in row
    assert "1 of 3 responses 33 %" in row
    assert "2 responses have no score." in row
    assert "Retry 2 failed" in row
    assert buttons_of(answer, run) == ["retry"]


def test_a_run_whose_model_cannot_be_used_says_why_but_not_where(researcher, dataset):
    run = failed(dataset, "/srv/nowhere/model")

    answer = researcher.get(RUNS)

    assert "The run stopped." in row_of(answer, run)
    assert "/srv/nowhere/model" not in answer.text
    assert "lost-model" in row_of(answer, run)
    assert "/srv/nowhere/model" not in researcher.get(address("run", run)).text
    assert buttons_of(answer, run) == ["resume", "delete"]


def test_an_imported_run_is_listed_as_imported(researcher, tmp_path):
    scores = [{"response": "r1", "metric": "rouge", "score": "25", "signature": HTML}]
    mill(tmp_path, scores=scores)
    run = MetricRun.objects.get()

    answer = researcher.get(RUNS)

    row = row_of(answer, run)
    assert "rouge imported" in row
    assert "1 score" in row
    assert HTML not in answer.text
    assert buttons_of(answer, run) == []


def test_assumed_and_truncated_are_counted(researcher, tmp_path):
    rows = [response_row("r1", evidence_shown=[]), response_row("r2", setup="s2")]
    run = done(mill(tmp_path, responses=rows))
    AutoScore.objects.filter(is_assumed=False).update(n_truncated=3)

    row = row_of(researcher.get(RUNS), run)

    assert "Assumed 1 shown nothing: 0" in row
    assert "Truncated 3 pairs" in row


def test_tabs_count_and_filter_by_state(researcher, dataset, tmp_path):
    empty = mill(tmp_path, name="empty", responses=[response_row("r1", text=" ")])
    runs = {
        "running": [requested(dataset)],
        "cancelled": [cancelled(dataset, window=0)],
        "failed": [failed(dataset, "/srv/nowhere"), done(empty)],  # as a whole, and in part
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
        listed = re.findall(r'id="run-(\d+)"', researcher.get(RUNS, {"state": state}).text)
        assert sorted(map(int, listed)) == sorted(run.pk for run in wanted)
    newest_first = re.findall(r'id="run-(\d+)"', researcher.get(RUNS).text)
    assert list(map(int, newest_first)) == sorted(map(int, newest_first), reverse=True)
    of_empty = researcher.get(RUNS, {"dataset": "empty"})
    assert tabs_of(of_empty) == {"All": 1, "Running": 0, "Cancelled": 0, "Failed": 1, "Done": 0}
    assert "Only runs over empty" in words(of_empty)
    assert "No run is in this state now." in words(
        researcher.get(RUNS, {"dataset": "empty", "state": "done"})
    )


@pytest.mark.parametrize("query", ["?state=x", "?dataset=x", "?page=x", "?page=0&state=%00"])
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
    assert len(re.findall(r'id="run-\d+"', researcher.get(RUNS, {"page": 2}).text)) == 10


# --- what can be done about a run -----------------------------------------------------------


def test_cancel_resume_and_delete(researcher, dataset, django_capture_on_commit_callbacks):
    run = work(requested(dataset), 1)

    answer = researcher.post(address("cancel-run", run), follow=True)
    run.refresh_from_db()
    assert run.state == "cancelled"
    assert "is cancelled. What it has scored stays." in words(answer)

    with django_capture_on_commit_callbacks() as sent:
        researcher.post(address("resume-run", run))
    run.refresh_from_db()
    assert run.state == "running"
    assert len(sent) == 2  # chunks of 5 and 2

    answer = researcher.post(address("delete-run", run), follow=True)
    assert "cancel it first" in words(answer)
    assert work(run).scores.count() == 12
    answer = researcher.post(address("delete-run", run), follow=True)
    assert f"{LOCALIZED} and its scores are deleted." in words(answer)
    assert not MetricRun.objects.exists()
    actions = [action for action, _ in audit_actions()]
    assert actions[-4:] == ["run.requested", "run.cancelled", "run.resumed", "run.deleted"]


def test_retrying_asks_once_more_for_what_failed(
    researcher, tmp_path, django_capture_on_commit_callbacks
):
    rows = [response_row(f"r{n}", setup=f"s{n}", text=t) for n, t in enumerate(["Ja.", " "])]
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
        ("cancel", "had ended already."),
        ("resume", "has nothing to go on with."),
        ("retry", "has failed."),
    ]:
        assert said in words(researcher.post(address(f"{action}-run", run), follow=True))
    run.refresh_from_db()
    assert run.state == "done"
    assert run.scores.count() == 12


def test_imported_scores_come_and_go_with_their_dataset(researcher, tmp_path):
    mill(tmp_path, scores=[{"response": "r1", "metric": "rouge", "score": "1", "signature": ""}])
    run = MetricRun.objects.get()

    for action in ("cancel", "resume", "retry", "delete"):
        assert researcher.post(address(f"{action}-run", run)).status_code == 404
    assert AutoScore.objects.count() == 1


def test_an_action_leads_back_to_the_page_it_was_asked_on(researcher, dataset):
    run = requested(dataset)
    queue = f"{RUNS}?state=running"

    answer = researcher.post(
        address("cancel-run", run), headers={"Referer": f"http://testserver{queue}"}
    )
    assert answer.url == queue
    assert researcher.post(address("resume-run", run)).url == address("run", run)


def test_actions_are_posts_with_a_token_and_by_researchers(rachel, rosa, client_for, dataset):
    run = requested(dataset)
    careful = Client(enforce_csrf_checks=True)
    careful.force_login(rosa)
    for action in ("cancel", "resume", "retry", "delete"):
        url = address(f"{action}-run", run)
        assert client_for(rosa).get(url).status_code == 405
        assert client_for(rachel).post(url).status_code == 403
        assert careful.post(url).status_code == 403
        assert client_for(rosa).post(url.replace(str(run.pk), "999999")).status_code == 404
    for page in ("run", "run-progress", "run-failures"):
        assert client_for(rosa).post(address(page, run)).status_code == 405
        assert client_for(rachel).get(address(page, run)).status_code == 403
        nowhere = address(page, run).replace(str(run.pk), "999999")
        assert client_for(rosa).get(nowhere).status_code == 404
    assert client_for(rosa).post(RUNS).status_code == 405
    run.refresh_from_db()
    assert run.state == "running"


# --- a new run ------------------------------------------------------------------------------


def test_the_form_begins_with_what_the_address_names(researcher, study, dataset):
    Study.objects.update(evidence_choice="golden")
    for query, over, evidence in [
        ("?study=rated", "study:rated", "golden"),
        ("?dataset=mill", "dataset:mill", "shown"),
        ("", "study:rated", "golden"),
        ("?study=nowhere", "study:rated", "golden"),
    ]:
        text = researcher.get(f"{NEW}{query}").text
        assert f'<option value="{over}" selected>' in text
        assert f'<option value="{evidence}" selected>' in text
        assert 'aria-invalid="true"' not in text


def test_without_responses_there_is_nothing_to_run(researcher):
    text = words(researcher.get(NEW))

    assert "Nothing to score yet" in text
    assert "Start run" not in text


def test_it_says_how_many_responses_have_no_score_under_the_choices(researcher, dataset):
    cancelled(dataset)  # after 5 of 12
    done(dataset, window=0)

    def n_to_score(**chosen):
        answer = researcher.get(NEW, choices(**chosen), headers={"HX-Request": "true"})
        return re.search(r"([\d,]+) responses? without a score under these", words(answer))

    assert n_to_score()[1] == "7"
    assert n_to_score(window="0")[1] == "0"
    assert n_to_score(window="0", threshold="0.6")[1] == "12"
    assert n_to_score(window="") is None
    assert "7 responses without a score" in words(researcher.get(f"{NEW}?dataset=mill"))


def test_starting_makes_the_run_and_sends_its_chunks(
    researcher, rosa, dataset, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks() as sent:
        answer = researcher.post(
            NEW,
            choices(flavor="v2", window="3", hypothesis="min", evidence="golden", threshold="0.25"),
        )

    run = MetricRun.objects.get()
    assert answer.url == address("run", run)
    assert run.signature == "auto_ais|lexical|v2|localized:3|sentences:min|golden|t:0.25|v:1"
    assert (run.state, run.requested_by, run.threshold) == ("running", rosa, 0.25)
    assert len(sent) == run.chunks.count() == 3


def test_a_run_over_a_study_covers_its_responses_alone(researcher, tmp_path):
    two = [response_row("r1", setup="mine"), response_row("r2", setup="other")]
    dataset = mill(tmp_path, responses=two)
    study = Study.objects.create(
        name="S", slug="s", dataset=dataset, scheme={}, is_imported=True, state="closed"
    )
    study.setups.set(dataset.setups.filter(name="mine"))

    researcher.post(NEW, choices(over="study:s"))

    [score] = work(MetricRun.objects.get()).scores.all()
    assert score.target.response.key == "r1"


def test_a_run_by_a_model_takes_what_the_admin_has_set(researcher, dataset):
    model = Checkpoint.objects.create(name="mini", location="/srv/mini", entailment_index=1)

    researcher.post(NEW, choices(backend=f"model:{model.pk}"))

    run = MetricRun.objects.get()
    assert (run.backend, run.model_name, run.model_location) == (
        "transformers",
        "mini",
        "/srv/mini",
    )
    assert run.parameters["entailment_index"] == 1


def test_the_same_choices_again_are_the_same_run(researcher, dataset):
    run = done(dataset)

    answer = researcher.post(NEW, choices(), follow=True)

    assert "Every response has a score under these choices already." in words(answer)
    assert MetricRun.objects.get() == run


@pytest.mark.parametrize(
    "wrong",
    [
        {"over": "dataset:nowhere"},
        {"over": ""},
        {"over": "study:mill"},
        {"backend": "model:1"},
        {"backend": "/etc"},
        {"flavor": "v4"},
        {"window": "-1"},
        {"window": "51"},
        {"window": "two"},
        {"hypothesis": "max"},
        {"evidence": "none"},
        {"threshold": "1.5"},
        {"threshold": "nan"},
        {"threshold": ""},
    ],
    ids=str,
)
def test_a_choice_that_is_none_is_refused_at_its_field(researcher, dataset, wrong):
    answer = researcher.post(NEW, choices(**wrong))

    [name] = wrong
    assert answer.status_code == 422
    assert f'id="id_{name}_error"' in answer.text
    assert "Not started." in answer.text
    assert not MetricRun.objects.exists()


def test_new_runs_are_for_researchers_with_a_token(rachel, rosa, client_for, dataset):
    careful = Client(enforce_csrf_checks=True)
    careful.force_login(rosa)

    assert careful.post(NEW, choices()).status_code == 403
    assert client_for(rachel).post(NEW, choices()).status_code == 403
    assert client_for(rachel).get(NEW).status_code == 403
    assert client_for(rosa).put(NEW).status_code == 405
    assert not MetricRun.objects.exists()


# --- one run --------------------------------------------------------------------------------


def test_a_run_shows_every_choice_that_changes_its_numbers(researcher, rosa, dataset):
    run = done(dataset, rosa, flavor="v1", window=3, hypothesis="mean", evidence="golden")

    text = words(researcher.get(address("run", run)))

    assert "asked for by rosa" in text
    for name, value in [
        ("Metric", "auto_ais"),
        ("Flavor", "v1"),
        ("Premise", "window of 3 sentences + question"),
        ("Hypothesis", "each sentence of the response; their mean"),
        ("Evidence", "golden, whatever the model was given"),
        ("Threshold", "0.5: a higher score counts as yes"),
        ("Backend", "Lexical overlap, a baseline"),
        ("Data", "mill, 12 responses, 12 pairs asked"),
        ("Signature", "auto_ais|lexical|v1|localized:3|sentences:mean|golden|t:0.5|v:1"),
    ]:
        assert re.search(rf"{name}\s+{re.escape(value)}", text), name


def test_the_digest_is_the_same_for_the_same_pairs_and_no_others(researcher, dataset):
    def digest(run):
        [found] = re.findall(r"<code>(\w{16})</code>", researcher.get(address("run", run)).text)
        return found

    runs = [done(dataset), done(dataset, threshold=0.9), done(dataset, flavor="v1")]

    same, again, other = map(digest, runs)
    assert same == again != other


def test_the_scores_are_shown_as_bars_that_lead_to_responses(researcher, dataset):
    run = done(dataset)
    scores = list(run.scores.order_by("target__response").values_list("pk", flat=True))
    # 0.3 belongs to 0.3–0.4 though 0.3 / 0.1 is 2.9999…; 1 belongs to the last bin.
    for pk, score in zip(scores, [0, 0.05, 0.3, 0.39, 1, 1, *[0.95] * 6], strict=True):
        AutoScore.objects.filter(pk=pk).update(score=score)

    answer = researcher.get(address("run", run))
    text = words(answer)
    assert "0.0 to 0.1 2" in text
    assert "0.1 to 0.2 0" in text
    assert "0.2 to 0.3 0" in text
    assert "0.3 to 0.4 2" in text
    assert "0.9 to 1.0 8" in text
    assert '<rect width="160.0"' in answer.text
    assert '<rect width="40.0"' in answer.text

    chosen = researcher.get(address("run", run), {"bin": "3"})
    assert "Only scores from 0.3 to 0.4." in words(chosen)
    listed = re.findall(r'class="cut" href="([^"]*)">(r\d+)</a>', chosen.text)
    assert listed == [(response_address("r3"), "r3"), (response_address("r2"), "r2")]


def test_assumed_scores_are_listed_but_not_in_the_bars(researcher, tmp_path):
    run = done(mill(tmp_path, responses=[response_row("r1", evidence_shown=[])]))

    text = words(researcher.get(address("run", run)))

    assert "r1 0.000 model-a assumed: nothing was shown 0" in text
    assert "No score yet" in text


def test_scores_beyond_0_and_1_have_bars_too(researcher, tmp_path):
    scores = [
        {"response": f"r{n}", "metric": "judge", "score": str(n), "signature": ""}
        for n in range(1, 6)
    ]
    mill(tmp_path, scores=scores)

    text = words(researcher.get(address("run", MetricRun.objects.get())))

    assert "1.0 to 1.4 1" in text
    assert "4.6 to 5.0 1" in text
    assert "n 5" in text
    assert "— the file names none" in text


@pytest.mark.parametrize("query", ["bin=10", "bin=x", "bin=-1", "bin=²", "page=x"])
def test_an_address_that_names_no_bar_shows_all_scores(researcher, dataset, query):
    run = done(dataset)

    assert "1 to 12 of 12 scores" in words(researcher.get(f"{address('run', run)}?{query}"))


def test_a_run_costs_the_same_for_1_score_and_for_25(researcher, tmp_path):
    one = done(mill(tmp_path, n_responses=1, name="one"))
    many = done(mill(tmp_path, n_responses=25, name="many"))

    def cost(run):
        return len(statements(lambda: researcher.get(address("run", run))))

    assert cost(one) == cost(many)


# --- failures -------------------------------------------------------------------------------


@pytest.fixture
def in_part(tmp_path):
    """A run that could not score four of five responses, for two reasons."""
    texts = ["Ja.", " ", " ", " ", "Nein."]
    rows = [response_row(f"r{n}", setup=f"s{n}", text=text) for n, text in enumerate(texts)]
    run = done(mill(tmp_path, responses=rows))
    last = run.scores.get(target__response__key="r4")
    AutoScore.objects.filter(pk=last.pk).update(score=None, problem=HTML)
    return run


def test_failures_are_grouped_by_reason(researcher, in_part):
    answer = researcher.get(address("run-failures", in_part))

    assert f"Reason n {EMPTY} 3" in words(answer)
    assert "&lt;script&gt;" in answer.text
    assert HTML not in answer.text
    assert f'href="{response_address("r1")}"' in answer.text
    assert f'href="{response_address("r0")}"' not in answer.text
    assert "Retry 4 failed" in words(answer)


def test_failures_can_be_narrowed_to_one_reason(researcher, in_part):
    answer = researcher.get(address("run-failures", in_part), {"reason": EMPTY})

    assert "1 to 3 of 3 responses" in words(answer)
    assert f'href="{response_address("r4")}"' not in answer.text


def test_failures_come_page_by_page_at_the_same_cost(researcher, tmp_path):
    def empty(n, name):
        rows = [response_row(f"r{i}", setup=f"s{i}", text=" ") for i in range(n)]
        return done(mill(tmp_path, name=name, responses=rows))

    one, many = empty(1, "one"), empty(51, "many")

    assert "51 to 51 of 51" in words(researcher.get(address("run-failures", many), {"page": "2"}))
    assert len(statements(lambda: researcher.get(address("run-failures", one)))) == len(
        statements(lambda: researcher.get(address("run-failures", many)))
    )


def test_a_run_without_failures_says_so(researcher, dataset):
    assert "Nothing failed" in words(researcher.get(address("run-failures", done(dataset))))


# --- the runs of a study --------------------------------------------------------------------


def runs_of(study):
    return reverse("evaluation:study-runs", args=[study.slug])


def start(study):
    return reverse("evaluation:start-default-run", args=[study.slug])


def test_without_a_run_one_click_starts_the_first(
    researcher, study, django_capture_on_commit_callbacks
):
    Study.objects.update(evidence_choice="golden")
    study.refresh_from_db()
    assert "No auto-metric has scored these responses yet" in words(researcher.get(runs_of(study)))

    with django_capture_on_commit_callbacks() as sent:
        answer = researcher.post(start(study))

    run = MetricRun.objects.get()
    assert run.signature == "auto_ais|lexical|v3|localized:2|whole|golden|t:0.5|v:1"
    assert answer.url == reverse("evaluation:study", args=[study.slug])
    assert len(sent) == 1


def test_with_htmx_the_click_leads_to_the_bar(researcher, study):
    answer = researcher.post(start(study), headers={"HX-Request": "true"}, follow=True)

    assert answer.redirect_chain == [(runs_of(study), 302)]
    assert "<html" not in answer.text
    assert "0 of 2 responses 0 %" in words(answer)
    assert f'hx-get="{runs_of(study)}" hx-trigger="every 200ms"' in answer.text
    assert "HX-Trigger" not in answer.headers


def test_when_the_last_run_has_ended_the_page_is_told(researcher, study):
    work(requested(study.dataset))

    answer = researcher.get(runs_of(study), headers={"HX-Request": "true"})

    assert "runs-finished" in answer.headers["HX-Trigger"]
    assert answer.headers["HX-Retarget"] == answer.headers["HX-Reselect"] == "#study-runs"
    assert 'hx-trigger="every' not in answer.text
    assert "Run Auto-AIS" not in answer.text


def test_a_study_whose_runs_were_imported_is_still_offered_the_first_click(researcher, tmp_path):
    import_rows(
        tmp_path / "x",
        examples=[example_row()],
        responses=[response_row()],
        votes=[{"response": "r1", "rater": "a", "question": "q", "answer": "yes"}],
        scores=[{"response": "r1", "metric": "rouge", "score": "1", "signature": ""}],
    )

    assert "Run Auto-AIS (lexical)" in words(researcher.get(runs_of(Study.objects.get())))


def test_a_study_s_runs_cost_the_same_for_1_and_for_10(researcher, study):
    def cost():
        return len(statements(lambda: researcher.get(runs_of(study))))

    done(study.dataset)
    for_one = cost()
    for n in range(9):
        done(study.dataset, threshold=n / 10)

    assert cost() == for_one


def test_a_study_s_runs_are_for_researchers_with_a_token(rachel, rosa, client_for, study):
    careful = Client(enforce_csrf_checks=True)
    careful.force_login(rosa)

    assert client_for(rachel).get(runs_of(study)).status_code == 403
    assert client_for(rachel).post(start(study)).status_code == 403
    assert client_for(rosa).get(start(study)).status_code == 405
    assert client_for(rosa).post(runs_of(study)).status_code == 405
    assert careful.post(start(study)).status_code == 403
    assert client_for(rosa).post("/studies/nowhere/runs/start/").status_code == 404
    assert not MetricRun.objects.exists()
