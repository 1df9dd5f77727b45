"""The page of re-ranking, its files, its command, and what a chosen response says of itself."""

import json
from urllib.parse import parse_qs, urlencode

import pytest
from django.core.management import call_command
from django.urls import reverse

from evaluation.models import AutoScore, MetricRun
from evaluation.tradeoffs.services.reranking import rerank
from generation.models import Response, Setup
from tests.evaluation.commands import failure
from tests.evaluation.tradeoffs.reranked import MODEL, NAMES, axes_in, dataset_of
from tests.makers import audit_actions, example_row, import_rows, response_row
from tests.shown import shown

pytestmark = pytest.mark.once

WARNING = "the numbers are too optimistic"
N_QUERIES = 20


@pytest.fixture
def dataset(tmp_path):
    return dataset_of(tmp_path / "own")


def address(dataset):
    return reverse("tradeoffs:reranking", args=[dataset.slug])


def store(dataset):
    return reverse("tradeoffs:store-aggregate", args=[dataset.slug])


def n_warnings(page):
    return sum(WARNING in message for message in page.messages)


def test_choosing_stores_an_aggregate_and_warns_where_the_judge_chose(researcher, rosa, dataset):
    before = shown(researcher.get(address(dataset)))
    assert WARNING not in before.text
    assert "F1 against the best prompt" in before.table().columns

    answer = researcher.post(store(dataset), {"function": "sensible-first"})

    assert answer.status_code == 302
    aggregate = Setup.objects.get(prompt="reranked")
    assert ("setup.reranked", f"own: {aggregate.name}") in audit_actions()
    page = shown(researcher.get(answer.url))
    assert n_warnings(page) == 1
    # Over the best single, as in the tests of the report: 1 − 2/3.
    first, others = page.tables  # not by another metric as well
    assert first.column("F1 against the best prompt") == ["+33.3", "—"]
    assert others.column("F1 against the best prompt") == ["—"] * len(NAMES)
    assert any(
        "over the best prompt" in heading and "+33.3" in heading for heading in page.headings
    )


def test_a_second_metric_judges_what_the_first_one_chose(researcher, dataset):
    axes = axes_in(dataset)
    # No tie, so that sensibleness has no part in it: 0.9 of golden-instructions is alone.
    first = AutoScore.objects.filter(run=axes.attribution.run, target__response__key="golden-1")
    first.update(score=0.85)
    rerank(dataset, axes, NAMES, "max-attribution")
    second = axes_in(dataset, "second").attribution.key

    answer = researcher.get(address(dataset), {"judge": second})

    by_first, by_second = answer.context["tables"]
    assert by_first.is_flattered
    assert not by_second.is_flattered
    page = shown(answer)
    assert n_warnings(page) == 1
    assert "This applies to attribution." in page.text
    assert "Judged by others." in page.text


def test_the_same_metric_with_another_model_is_said_to_be_no_second_metric(researcher, dataset):
    MetricRun.objects.filter(metric="auto_ais").update(signature="first")  # the model's name
    rerank(dataset, axes_in(dataset), NAMES, "sensible-first")
    run = MetricRun.objects.get(metric="auto_ais")
    other = MetricRun.objects.create(dataset=dataset, metric="auto_ais", signature="auto_ais|T5")
    AutoScore.objects.bulk_create(
        AutoScore(run=other, target=each.target, score=each.score) for each in run.scores.all()
    )

    answer = researcher.get(
        address(dataset), {"attribution": f"run-{run.pk}", "judge": f"run-{other.pk}"}
    )

    by_first, by_second = answer.context["tables"]
    assert (by_first.flattering, by_first.by_same_metric) == (["attribution", "sensibleness"], [])
    assert (by_second.flattering, by_second.by_same_metric) == (["sensibleness"], ["attribution"])
    assert "The attribution is judged by the metric that chose" in shown(answer).text


def test_weights_are_asked_for_and_a_weighted_sum_without_any_is_refused(researcher, dataset):
    data = {"function": "weighted", "of_sensibleness": "0", "of_attribution": ""}
    answer = researcher.post(store(dataset), data)

    assert answer.status_code == 422
    assert "a weight above 0" in shown(answer).errors["of_sensibleness"]
    assert not Setup.objects.filter(prompt="reranked").exists()

    data["of_attribution"] = "2"
    assert researcher.post(store(dataset), data).status_code == 302
    assert Setup.objects.get(prompt="reranked").settings["weights"] == [0.0, 2.0]


@pytest.mark.parametrize("name", ["pool", "attribution", "sensibleness", "judge"])
def test_nothing_is_stored_by_what_is_not_there_any_more(researcher, dataset, name):
    query = parse_qs(researcher.get(address(dataset)).context["whole_query"].removeprefix("?"))
    assert {"pool", "attribution", "sensibleness"} <= query.keys()

    changed = urlencode(query | {name: "run-99999"}, doseq=True)
    answer = researcher.post(f"{store(dataset)}?{changed}", {"function": "max-attribution"})

    assert answer.status_code == 422
    assert any("have changed since" in message for message in shown(answer).messages)
    assert not Setup.objects.filter(prompt="reranked").exists()
    [message] = shown(researcher.get(address(dataset), {name: "run-99999"})).messages
    assert "Another choice is shown in its place" in message


def test_a_pool_that_has_grown_is_another_one(researcher, dataset, tmp_path):
    query = researcher.get(address(dataset)).context["whole_query"]
    setup = {"model": MODEL, "temperature": 0.0, "prompt": "one-shot"}
    import_rows(tmp_path / "more", "own", responses=[response_row("new", setup=setup)])

    answer = researcher.post(f"{store(dataset)}{query}", {"function": "max-attribution"})

    assert answer.status_code == 422
    assert any(
        "have changed since you opened it: pool." in message for message in shown(answer).messages
    )


def test_nothing_is_stored_while_a_run_is_scoring(researcher, dataset):
    MetricRun.objects.filter(dataset=dataset, metric="sensible").update(
        state=MetricRun.State.RUNNING
    )

    answer = researcher.post(store(dataset), {"function": "max-attribution"})

    assert answer.status_code == 422
    said = "sensible t:0.5 (imported) is still scoring responses"
    assert any(said in message for message in shown(answer).messages)
    assert not Setup.objects.filter(prompt="reranked").exists()


def test_the_page_costs_a_fixed_number_of_queries(researcher, dataset, django_assert_num_queries):
    rerank(dataset, axes_in(dataset), NAMES, "max-attribution")
    researcher.get(address(dataset))
    with django_assert_num_queries(N_QUERIES):
        researcher.get(address(dataset))

    rerank(dataset, axes_in(dataset), NAMES, "sensible-first")
    rerank(dataset, axes_in(dataset), NAMES, "weighted", (1, 1))
    with django_assert_num_queries(N_QUERIES):
        researcher.get(address(dataset))


def test_files_hold_what_the_page_shows(researcher, dataset):
    rerank(dataset, axes_in(dataset), NAMES, "sensible-first")

    for format_key in ("csv", "latex", "json"):
        file = reverse("tradeoffs:reranking-file", args=[dataset.slug, format_key])
        answer = researcher.get(file)
        assert "Sensible first" in answer.content.decode()
    [aggregate] = [row for row in json.loads(answer.content)["rows"] if row["kind"] == "aggregate"]
    assert aggregate["f1"] == 1.0
    wrong = reverse("tradeoffs:reranking-file", args=[dataset.slug, "xml"])
    assert researcher.get(wrong).status_code == 404


def test_the_command_report_prints_what_the_page_shows(researcher, dataset, capsys):
    rerank(dataset, axes_in(dataset), NAMES, "sensible-first")
    second = axes_in(dataset, "second").attribution.key
    file = reverse("tradeoffs:reranking-file", args=[dataset.slug, "json"])
    asked = ("report", "reranking", "--dataset", "own")

    call_command(*asked, "--judge", second, "--format", "json")

    assert capsys.readouterr().out == researcher.get(file, {"judge": second}).text
    assert failure(*asked, "--judge", "x").startswith("There is no axis 'x'. The axes are:")
    assert failure(*asked, "--pool", "x").startswith("There is no pool 'x' here. There are: ")


def test_without_scores_the_page_says_what_is_missing(researcher, tmp_path):
    bare = import_rows(tmp_path / "bare", "bare", examples=[example_row("e1")]).dataset

    page = shown(researcher.get(address(bare)))

    assert any("no labels for attribution" in message for message in page.messages)
    assert researcher.post(store(bare), {"function": "max-attribution"}).status_code == 404


def test_responses_say_what_they_were_chosen_from_and_as(researcher, dataset):
    aggregate = rerank(dataset, axes_in(dataset), NAMES, "max-attribution")
    chosen = aggregate.responses.get(example__key="e3")
    source = Response.objects.get(key="retrieved-2-3")

    def address_of(response):
        return reverse("evaluation:response", args=[dataset.slug, response.pk])

    def page_of(response):
        return shown(researcher.get(address_of(response)))

    page = page_of(chosen)
    assert f"Chosen from {source.setup.name}" in page.text
    assert page.links[source.setup.name] == address_of(source)
    page = page_of(source)
    assert f"Chosen as {aggregate.name}" in page.text
    assert page.links[aggregate.name] == address_of(chosen)
    assert "Chosen as" not in page_of(Response.objects.get(key="golden-3")).text


# --- the command ----------------------------------------------------------------------------


def test_the_command_stores_and_reports(dataset, capsys):
    call_command("rerank", "own", "--function", "sensible-first", "--judge", "second")

    said = capsys.readouterr().out
    aggregate = Setup.objects.get(prompt="reranked")
    assert aggregate.settings["pool"] == list(NAMES)
    assert f"Stored: {aggregate.name}, 3 responses." in said
    assert "second" in said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--model", "PaLM 62B"], "There is no pool of that model and temperature"),
        (["--pool", "nobody"], "no setup 'nobody'"),
        (["--judge", "bleu"], "no axis 'bleu'"),
        (["--weights", "1", "1"], "weights"),
    ],
)
def test_the_command_says_what_is_wrong(dataset, options, said):
    message = failure("rerank", "own", "--function", "max-attribution", *options)

    assert said in message
    assert not Setup.objects.filter(prompt="reranked").exists()
