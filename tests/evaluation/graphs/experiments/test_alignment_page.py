"""Human alignment on the pages of experiments: planning a study, table 6, and its pairs."""

import json

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Study
from annotation.services.alignment_studies import PairDraw, models_of, request_alignment_study
from evaluation.graphs.experiments.reports.human_alignment import human_alignment_report
from evaluation.models import MetricRun
from evaluation.reports.formats import write_report
from tests.annotation.makers import rater_users
from tests.evaluation.hand_ablated import RUNS, answers, import_answers, setup
from tests.evaluation.hand_rated import pairs_of, rated
from tests.makers import statements
from tests.shown import shown

pytestmark = pytest.mark.once


def address(name, dataset, *more):
    return reverse(f"graphs:{name}", args=[dataset.slug, *more])


def page_of(dataset):
    return address("experiment", dataset, "alignment")


def cells(answer, label):
    """Return the numbers of a model's row, without their intervals, with their addresses."""
    [[_, *figures]] = [row for row in shown(answer).cells if row[0].text == label]
    return [(cell.text.split()[0], next(iter(cell.addresses), "")) for cell in figures]


def how_far(researcher, dataset):
    """Return what the list of experiments says of this one's state."""
    page = shown(researcher.get(address("experiments", dataset)))
    [tag] = page.part("experiment-alignment").parts("tag")
    return tag.text


# --- the study ------------------------------------------------------------------------------


def test_a_study_is_planned_from_the_page_and_only_once(researcher, tmp_path):
    dataset = pairs_of(tmp_path, models=("one", "two"))
    raters = rater_users(2)
    assert "No study yet" in shown(researcher.get(page_of(dataset))).headings
    assert how_far(researcher, dataset) == "no study"
    form = {
        "name": "Six",
        "models": ["one"],
        "n_pairs": 3,
        "seed": 7,
        "raters": [user.pk for user in raters],
    }

    for _ in range(2):
        answer = researcher.post(address("request-alignment-study", dataset), form)
        study = Study.objects.get()
        assert answer["Location"] == reverse("annotation:study-setup", args=[study.slug])

    assert (study.name, study.n_sampled, study.seed, study.raters.count()) == ("Six", 3, 7, 2)
    assert {setup.model for setup in study.setups.all()} == {"one"}
    page = shown(researcher.get(page_of(dataset)))
    assert page.table("Studies").row("Six 3 pairs of each model, seed 7")["State"] == "planned"
    assert "Nothing to read yet" in page.headings
    assert how_far(researcher, dataset) == "study planned"
    settings = shown(researcher.get(reverse("annotation:study-settings", args=[study.slug])))
    assert settings.facts["Pairs"] == "3 of each model"
    plan = shown(researcher.get(answer["Location"]))
    assert "of the pairs drawn, 3 of each model, seed 7" in plan.text


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"n_pairs": 0}, "greater than or equal to 1"),
        ({"models": ["three"]}, "three is not one of the available choices"),
        ({"name": "Taken"}, "already a study named 'Taken'"),
    ],
)
def test_a_refused_study_is_said_and_not_made(researcher, tmp_path, wrong, said):
    dataset = pairs_of(tmp_path)
    request_alignment_study(dataset, "Taken", draw=PairDraw(2))
    form = {"name": "New", "models": ["one"], "n_pairs": 3, "seed": 7} | wrong

    answer = researcher.post(address("request-alignment-study", dataset), form)

    assert answer.status_code == 422
    [field] = wrong
    assert said in shown(answer).errors[field]
    assert Study.objects.count() == 1


def test_answers_to_less_than_whole_graphs_are_not_sampled(researcher, tmp_path):
    rows = [
        row
        for prompt in ("graph-gold", "graph-gold-minus-1", "graph-accuracy-60")
        for row in answers(RUNS[0], setup(prompt))
    ]
    dataset = import_answers(tmp_path, rows, "mixed")

    assert {s.prompt for of in models_of(dataset).values() for s in of} == {"graph-gold"}
    assert list(models_of(dataset)) == ["small"]


# --- table 6 --------------------------------------------------------------------------------


def test_table_6_has_the_figures_and_each_leads_to_its_pairs(researcher, tmp_path):
    """By hand, see `hand_rated`: human 14 of 20 votes, agreement 8 of 10, metric 7 of 9."""
    study = rated(tmp_path)
    answer = researcher.get(page_of(study.dataset))

    one, everything = cells(answer, "one"), cells(answer, "all models")
    assert [text for text, _ in one] == [text for text, _ in everything]
    pairs, human, agreement, alpha, scored, same, gap_same, right, n_run, run, gap = [
        text for text, _ in one
    ]
    assert (pairs, human, agreement, alpha) == ("10", "70.0", "80.0", ".55")
    assert (scored, same, gap_same, right) == ("9", "77.8", "−5.6", "75.0")
    assert (n_run, run, gap) == ("9", "77.8", "−7.8")
    n_listed = {
        url: len(shown(researcher.get(url)).table("Pairs of a sentence").rows)
        for url in {url for _, url in one if "/pairs/" in url}
    }
    # On which raters differ, raters agree, scored, all.
    assert sorted(n_listed.values()) == [2, 8, 9, 10]
    run_page = reverse("evaluation:run", args=[MetricRun.objects.get().pk])
    assert all(url.startswith(run_page) for _, url in (one[8], one[9]))
    page = shown(answer)
    assert "1 pair without an automatic score" in page.text
    assert "a run over all answers" in page.text
    assert how_far(researcher, study.dataset) == "rating"


def test_a_run_over_a_sample_is_called_so(researcher, tmp_path):
    study = rated(tmp_path)
    MetricRun.objects.update(parameters={"n_sampled": 5})

    page = shown(researcher.get(page_of(study.dataset)))
    assert "a sample of 5 answers of each model" in page.text
    assert human_alignment_report(study).records[0]["run_n_sampled"] == 5


def test_without_a_run_what_is_automatic_is_a_dash(researcher, tmp_path):
    study = rated(tmp_path)
    MetricRun.objects.all().delete()

    answer = researcher.get(page_of(study.dataset))

    texts = [text for text, _ in cells(answer, "one")]
    assert texts[1] == "70.0"
    assert texts[4:] == ["0", "—", "—", "—", "0", "—", "—"]
    assert "No run of the metric is done yet" in shown(answer).text


def test_the_table_comes_as_files_of_the_chosen_study(researcher, tmp_path):
    study = rated(tmp_path)
    empty = request_alignment_study(study.dataset, "empty", draw=PairDraw(2))

    for chosen in (study, empty):
        report = human_alignment_report(chosen)
        for format_key in ("csv", "latex", "json"):
            url = address("experiment-file", study.dataset, "alignment", format_key)
            answer = researcher.get(url, {"study": chosen.slug})
            assert answer.text == write_report(report, format_key)
    assert "all models" in write_report(report, "table")
    url = address("experiment-file", study.dataset, "alignment", "json")
    assert json.loads(researcher.get(url).text)["study"] == "rated"  # the newest with votes
    assert researcher.get(url, {"study": "nonsense"}).status_code == 404
    assert researcher.get(page_of(study.dataset), {"study": "nonsense"}).status_code == 404
    figure = address("experiment-file", study.dataset, "alignment", "svg")
    assert researcher.get(figure).status_code == 404


def test_the_api_gives_the_report_of_a_study(researcher, tmp_path):
    study = rated(tmp_path)
    url = reverse("api:experiment-report", args=[study.dataset.slug, "alignment"])

    for query in ({}, {"study": study.slug}):
        assert researcher.get(url, query).json()["signature"] == (
            human_alignment_report(study).signature
        )
    assert researcher.get(url, {"study": "nonsense"}).status_code == 404


# --- its pairs ------------------------------------------------------------------------------


def test_a_pair_has_sentence_citation_votes_score_and_leads_to_its_response(researcher, tmp_path):
    study = rated(tmp_path)
    here = address("alignment-pairs", study.dataset, study.slug)

    table = shown(researcher.get(here, {"shown": "against"})).table("Pairs of a sentence")

    # The sixth (yes-yes, 0.1) and the eighth (no-no, 0.8).
    [sixth, eighth] = table.column("Sentence and citation")
    assert eighth.endswith("of one-7")
    assert sixth.startswith("Ada was a painter")
    assert "occupation: painter" in sixth
    assert sixth.endswith("of one-5")
    assert table.row(sixth)["Votes"] == "2:0"
    assert (table.row(sixth)["Score"], table.row(sixth)["Metric"]) == ("0.10", "not aligned")
    response = study.dataset.responses.get(key="one-5")
    there = reverse("evaluation:response", args=[study.dataset.slug, response.pk])
    assert there in table.links[0].values()


def test_pairs_are_of_one_model_and_in_pages(researcher, tmp_path):
    study = rated(tmp_path)
    here = address("alignment-pairs", study.dataset, study.slug)

    for model in ("one", "nobody"):  # no such model: all pairs are listed
        page = shown(researcher.get(here, {"model": model}))
        assert "1 to 10 of 10 pairs" in page.text
        assert len(page.table().rows) == 10
    other = address("alignment-pairs", study.dataset, "nonsense")
    assert researcher.get(other).status_code == 404


# --- who may, and what it costs -------------------------------------------------------------


def test_raters_may_not(client_for, rachel, tmp_path):
    study = rated(tmp_path)
    rater: Client = client_for(rachel)

    assert rater.get(address("alignment-pairs", study.dataset, study.slug)).status_code == 403
    assert rater.post(address("request-alignment-study", study.dataset)).status_code == 403
    assert Study.objects.count() == 1


def test_more_pairs_and_models_cost_no_more_queries(researcher, tmp_path):
    small = rated(tmp_path / "small")
    large = rated(tmp_path / "large", name="large", models=("one", "two"))

    def cost(url):
        researcher.get(url)
        return len(statements(lambda: researcher.get(url)))

    assert cost(page_of(large.dataset)) == cost(page_of(small.dataset))
    lists = [address("alignment-pairs", s.dataset, s.slug) for s in (small, large)]
    assert cost(lists[0]) == cost(lists[1])
