"""Pages of one metric run: its choices, its scores, its failures."""

import re

import pytest
from django.urls import reverse

from evaluation.models import AutoScore, MetricRun
from tests.evaluation.metric_runs import BARE, NO_GOLDEN, done, mill
from tests.evaluation.pages import response_address
from tests.makers import (
    response_row,
    statements,
)
from tests.shown import shown

pytestmark = pytest.mark.once

HTML = "<script>alert(1)</script>"


@pytest.fixture
def dataset(tmp_path):
    return mill(tmp_path)


def address(name, run):
    return reverse(f"evaluation:{name}", args=[run.pk])


def choices_of(page):
    return dict(page.table("Choices of the run").rows)


# --- one run --------------------------------------------------------------------------------


def test_a_run_shows_every_choice_that_changes_its_numbers(researcher, rosa, dataset):
    run = done(dataset, rosa, flavor="v1", window=3, hypothesis="mean", evidence="golden")

    page = shown(researcher.get(address("run", run)))

    assert "requested by rosa" in page.text
    assert page.links["trade-off of mill"] == reverse("tradeoffs:tradeoff", args=["mill"])
    chosen = choices_of(page)
    assert {
        "Metric": "auto_ais",
        "Flavor": "v1",
        "Premise": "window of 3 sentences + question",
        "Hypothesis": "each sentence of the response; their mean",
        "Evidence": "golden: what the dataset says is right",
        "Threshold": "0.5: a higher score counts as yes",
        "Backend": "Word overlap, a baseline",
        "Data": "mill, 12 responses, 12 pairs asked",
    }.items() <= chosen.items()
    signature = (
        "auto_ais|lexical|v1|localized:3|sentences:mean|golden|tokens:unicode-words|t:0.5|v:3"
    )
    assert chosen["Signature"].startswith(signature)


def test_the_digest_is_the_same_for_the_same_pairs_and_no_others(researcher, dataset):
    def digest(run):
        said = shown(researcher.get(address("run", run))).facts["Digest"]
        [found] = re.findall(r"^\w{16}\b", said)
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
    bins = shown(answer).table("Number of responses by score")
    assert bins.column("n") == ["2", "0", "0", "2", "0", "0", "0", "0", "0", "8"]
    assert bins.row("0.3 to 0.4")["n"] == "2"
    assert '<rect width="160.0"' in answer.text
    assert '<rect width="40.0"' in answer.text

    chosen = shown(researcher.get(address("run", run), {"bin": "3"})).part("scores")
    assert "from 0.3 to 0.4" in chosen.text
    listed = chosen.table("Scores by response").links
    asked = "When did the mill close?"
    assert listed == [{asked: response_address("r3")}, {asked: response_address("r2")}]
    # The threshold, 0.5, is where the sixth bin begins.
    assert answer.text.count(">threshold<") == answer.text.count("M0 1H168") == 1
    assert [bin.cut for bin in answer.context["spread"].bins] == [*[None] * 5, 1, *[None] * 4]
    MetricRun.objects.update(threshold=0.35)  # in the middle of the fourth
    inside = researcher.get(address("run", run)).context["spread"].bins
    assert [bin.cut for bin in inside] == [*[None] * 3, 14, *[None] * 6]


def test_assumed_scores_are_listed_but_not_in_the_bars(researcher, tmp_path):
    run = done(mill(tmp_path, responses=[response_row("r1", evidence_shown=[])]))

    page = shown(researcher.get(address("run", run)))

    [score] = page.table("Scores by response").rows
    assert score == [
        "When did the mill close? r1",
        "0.000",
        "model-a",
        "assumed: no evidence shown, or empty response",
        "0",
    ]
    assert "No score yet" in page.headings


def test_scores_beyond_0_and_1_have_bars_too(researcher, tmp_path):
    scores = [
        {"response": f"r{n}", "metric": "judge", "score": str(n), "signature": ""}
        for n in range(1, 6)
    ]
    mill(tmp_path, scores=scores)

    page = shown(researcher.get(address("run", MetricRun.objects.get())))

    bins = page.table("Number of")
    assert bins.row("1.0 to 1.4")["n"] == "1"
    assert bins.row("4.6 to 5.0")["n"] == "1"
    assert "n 5" in page.text
    assert choices_of(page)["Signature"] == "— the imported file names none"
    assert choices_of(page)["Threshold"] == "— (ranks, no labels)"


@pytest.mark.parametrize("query", ["bin=10", "bin=x", "bin=-1", "bin=²", "page=x"])
def test_an_address_that_names_no_bar_shows_all_scores(researcher, dataset, query):
    run = done(dataset)

    page = shown(researcher.get(f"{address('run', run)}?{query}"))

    assert "1 to 8 of 12" in page.part("scores").text
    assert len(page.table("Scores by response").rows) == 8


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
    examples = ["e1", BARE, BARE, BARE, "e1"]
    rows = [response_row(f"r{n}", each, setup=f"s{n}") for n, each in enumerate(examples)]
    run = done(mill(tmp_path, responses=rows))
    last = run.scores.get(target__response__key="r4")
    AutoScore.objects.filter(pk=last.pk).update(score=None, problem=HTML)
    return run


def test_failures_are_grouped_by_reason(researcher, in_part):
    answer = researcher.get(address("run-failures", in_part))

    page = shown(answer)
    assert page.table("Reasons").rows == [[NO_GOLDEN, "3"], [HTML, "1"]]
    assert HTML not in answer.text
    assert response_address("r1") in page.addresses
    assert response_address("r0") not in page.addresses
    assert page.buttons.count("Retry 4 failed") == 1


def test_failures_can_be_narrowed_to_one_reason(researcher, in_part):
    page = shown(researcher.get(address("run-failures", in_part), {"reason": NO_GOLDEN}))

    assert page.table("Responses without a score").column("Response") == ["r1", "r2", "r3"]
    assert response_address("r4") not in page.addresses


def test_failures_come_page_by_page_at_the_same_cost(researcher, tmp_path):
    def unscored(n, name):
        rows = [response_row(f"r{i}", BARE, setup=f"s{i}") for i in range(n)]
        return done(mill(tmp_path, name=name, responses=rows))

    one, many = unscored(1, "one"), unscored(51, "many")

    page = shown(researcher.get(address("run-failures", many), {"page": "2"}))
    assert "51 to 51 of 51" in page.text
    assert len(statements(lambda: researcher.get(address("run-failures", one)))) == len(
        statements(lambda: researcher.get(address("run-failures", many)))
    )


def test_a_run_without_failures_says_so(researcher, dataset):
    page = shown(researcher.get(address("run-failures", done(dataset))))

    assert "Nothing failed" in page.headings
