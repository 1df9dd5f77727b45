"""Pages and API of runs that score citations, and of [NA]."""

import pytest
from django.urls import reverse

from evaluation.models import AutoScore, MetricRun
from tests.evaluation.cited import (
    ALIGNED,
    alignment_scheme,
    answers,
    by_citation,
    cited,
    removed_rows,
    scored,
    votes,
)
from tests.evaluation.metric_runs import done, work
from tests.evaluation.pages import response_address, run_choices
from tests.makers import response_row, statements
from tests.shown import shown

pytestmark = pytest.mark.once

CHOICES = {
    "over": "dataset:cited",
    "metric": "alignment",
    "shown": "alignment",
    "model": "lexical",
    "threshold": "0.5",
    "seed": "0",
    "controls": "0",
}
NONE_CITED = "None of these responses has a complete citation, so there is nothing to score."


@pytest.fixture
def dataset(tmp_path):
    return cited(tmp_path)


@pytest.fixture
def study(tmp_path):
    human = {("a", 1): "yes", ("a", 2): "yes", ("a", 3): "no", ("b", 1): "yes"}
    dataset = cited(tmp_path, votes=votes(human), scheme=alignment_scheme())
    return dataset.studies.get()


def address(name, run):
    return reverse(f"evaluation:{name}", args=[run.pk])


def nothing_cited(tmp_path):
    return cited(tmp_path, responses=[row for row in answers() if row["id"] == "c"])


# --- a new run ------------------------------------------------------------------------------


def test_the_form_counts_responses_with_a_bracket_until_their_citations_are_scored(
    researcher, dataset
):
    start = reverse("evaluation:start-run")

    before = shown(researcher.get(start, CHOICES))
    scored(dataset)
    after = shown(researcher.get(start, CHOICES))

    assert "Alignment" in before.headings
    assert "All citations of a drawn response are scored." in before.text
    assert "4 responses that may have citations, without a score for any of them" in before.text
    assert "1 response that may have citations, without a score for any of them" in after.text


def test_the_form_starts_a_run(researcher, dataset):
    answer = researcher.post(reverse("evaluation:start-run"), CHOICES)

    run = work(MetricRun.objects.get())
    assert answer.url == address("run", run)
    assert len(by_citation(run)) == len(ALIGNED)
    again = shown(researcher.post(reverse("evaluation:start-run"), CHOICES, follow=True))
    assert any("Every citation has a score" in message for message in again.messages)


def test_the_form_says_that_nothing_is_cited(researcher, tmp_path):
    nothing_cited(tmp_path)

    answer = researcher.post(reverse("evaluation:start-run"), CHOICES)

    assert answer.status_code == 422
    assert shown(answer).errors["over"] == NONE_CITED
    assert not MetricRun.objects.exists()


def test_the_api_starts_a_run_and_lists_its_scores_by_citation(researcher, dataset):
    asked = {"dataset": "cited", "metric": "alignment"}

    answer = researcher.post("/api/v1/runs/", asked, content_type="application/json")
    run = work(MetricRun.objects.get())
    listed = researcher.get("/api/v1/scores/", {"run": run.pk}).json()["results"]

    assert answer.status_code == 202
    assert answer.json()["parameters"]["n_without_citation"] == 1
    assert {(row["response"], row["citation"]): row["score"] for row in listed} == pytest.approx(
        ALIGNED
    )


def test_the_api_refuses_answers_that_cite_nothing(researcher, tmp_path):
    nothing_cited(tmp_path)
    asked = {"dataset": "cited", "metric": "alignment"}

    answer = researcher.post("/api/v1/runs/", asked, content_type="application/json")

    assert (answer.status_code, answer.json()) == (400, {"metric": [NONE_CITED]})


# --- one run --------------------------------------------------------------------------------


def test_a_run_counts_citations_and_shows_what_each_claims(researcher, dataset):
    run = scored(dataset)

    page = shown(researcher.get(address("run", run)))

    assert "5 of 5 citations" in page.text
    choices = dict(page.table("Choices").rows)
    data = "5 citations of 4 responses (1 without a complete citation), 4 pairs asked"
    assert data in choices["Data"]
    assert choices["Premise"] == "the sentence without citations"
    assert page.facts["Scored 0"] == "1 it stands in no sentence"
    scores = page.table("Scores by citation")
    claimed = "a citation 2 Q1, place of birth: Rome “She was born in Rome.”"
    row = scores.row(f"Question of e1? {claimed}")
    assert (row["Score"], row["Note"]) == ("0.333", "")
    row = scores.row("Question of e1? d citation 1 Q2, occupation: writer")
    assert row["Note"] == "assumed: it stands in no sentence"
    assert "Choose a bar to see its citations." in page.text


def test_a_run_of_responses_counts_responses(researcher, dataset):
    page = shown(researcher.get(address("run", done(dataset))))

    assert "4 of 4 responses" in page.text
    assert "without a complete citation" not in page.text


def test_a_run_costs_the_same_statements_however_many_citations(researcher, dataset, tmp_path):
    run = scored(dataset)
    researcher.get(address("run", run))
    few = statements(lambda: researcher.get(address("run", run)))
    text = "Ada was a painter [Q1, occupation: painter, spouse: Ben]."
    rows = [response_row(f"x{n}", text=text) for n in range(8)]
    more = scored(cited(tmp_path, "more", responses=rows))

    many = statements(lambda: researcher.get(address("run", more)))
    assert len(many) == len(few)


def test_failures_are_citations(researcher, dataset):
    run = scored(dataset)
    rows = AutoScore.objects.filter(run=run, target__citation__relation="spouse")
    rows.update(score=None, problem="out of memory")

    page = shown(researcher.get(address("run-failures", run)))
    of_run = shown(researcher.get(address("run", run)))

    failed = "a citation 3 Q1, spouse: Ben “She was born in Rome.”"
    assert page.table("Citations").rows == [[failed, "out of memory"]]
    assert any("1 citation has no score." in message for message in of_run.messages)


def test_na_is_shown_with_the_sentences_and_triples_behind_it(researcher, tmp_path):
    run = scored(cited(tmp_path, responses=removed_rows()), "incompetence")

    page = shown(researcher.get(address("run", run)))

    assert "[NA]" in page.headings
    scores = page.table("Scores by")
    row = scores.row("Question of e1? admits")
    assert (row["Score"], row["Setup"]) == ("0.833", "model-a")
    for said in (
        "2 sentences with [NA], 2 removed triples",
        "0.667 “Her date of birth is not known.”",
        "1.000 employer: Medici",
    ):
        assert said in row["Note"]
    assert "assumed: no sentence has [NA]" in scores.row("Question of e1? hides")["Note"]
    assert "no score" not in page.text
    assert reverse("graphs:report", args=[run.dataset.slug, "incompetence"]) in page.addresses


def test_the_form_of_na_counts_responses_from_whose_graph_something_was_removed(
    researcher, tmp_path
):
    """Two of four responses count, 'admits' and 'hides'; once scored, nothing is left to do."""
    dataset = cited(tmp_path, responses=removed_rows())
    choices = {"metric": "incompetence", "over": f"dataset:{dataset.slug}"}
    start = reverse("evaluation:start-run")

    before = shown(researcher.get(start, choices))
    scored(dataset, "incompetence")
    after = shown(researcher.get(start, choices))

    assert "2 responses from whose graph triples were removed" in before.text
    assert "There is nothing to score. No triple was removed" in after.text


def test_a_response_lists_the_scores_of_its_citations(researcher, dataset):
    scored(dataset)

    table = shown(researcher.get(response_address("a"))).table("Scores of auto-metrics")

    assert table.column("Score") == ["0.500", "0.333", "0.000"]
    for number, name in enumerate(table.column("Metric"), start=1):
        assert f"citation {number}" in name


# --- studies --------------------------------------------------------------------------------


def test_a_study_of_citations_begins_with_alignment(researcher, study):
    page = shown(researcher.get(reverse("evaluation:study-metrics", args=[study.slug])))
    researcher.post(reverse("evaluation:start-default-run", args=[study.slug]))

    run = work(MetricRun.objects.get())
    assert "Run Alignment (word overlap)" in page.buttons
    assert (run.metric, len(by_citation(run))) == ("alignment", len(ALIGNED))


def test_disagreements_show_sentence_and_triple(researcher, study):
    run = scored(study.dataset)
    done(study.dataset)  # the newest, but of responses

    page = shown(researcher.get(reverse("evaluation:disagreements", args=[study.slug])))

    assert "2 of 4 cases" in page.text
    assert "citation 2" in page.text
    assert "She was born in Rome. Cited · Q1 place of birth: Rome" in page.text
    assert page.fields["run"] == str(run.pk)


def test_a_run_leads_to_the_studies_of_what_it_scores(researcher, study):
    of_citations, of_responses = scored(study.dataset), done(study.dataset)

    there = reverse("evaluation:study-metrics", args=[study.slug])
    page = shown(researcher.get(address("run", of_citations)))
    assert f"{there}?run={of_citations.pk}#auto" in page.addresses
    assert there not in researcher.get(address("run", of_responses)).text


def test_threshold_choice_for_a_study_of_citations_offers_alignment_alone(researcher, study):
    address = reverse("evaluation:threshold-choice", args=[study.slug])

    before = shown(researcher.get(address))
    scored(study.dataset)
    after = shown(researcher.get(address))

    for page in (before, after):
        [offered] = page.choices("family").values()
        assert offered.startswith("Alignment, lexical")
        assert "Auto-AIS" not in page.text


def test_choices_of_another_metric_stay_as_they_were(researcher, dataset):
    page = shown(researcher.get(reverse("evaluation:start-run"), run_choices(over="dataset:cited")))

    assert "4 responses without a score" in page.text
