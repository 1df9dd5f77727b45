"""The pages of KaLMA's experiments: states, tables, links of numbers, and access."""

import re
from dataclasses import replace
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from accounts.services import create_api_token
from evaluation.graphs.experiments.figures import (
    experiment_charts,
    experiment_picture,
    group_names,
    whisker,
)
from evaluation.graphs.experiments.registry import EXPERIMENTS
from evaluation.graphs.experiments.reports.accuracy import accuracy_report
from evaluation.graphs.experiments.reports.removal import removal_report
from evaluation.models import MetricRun
from evaluation.reports.columns import UNKNOWN, Estimate, Format
from evaluation.reports.figures.builders import chart_file
from evaluation.reports.formats import write_report
from evaluation.reports.numbers import percent
from generation.models import Grid, KGQuestion
from tests.charts import valid
from tests.evaluation.graphs.experiments.experiment_reports import OVER_A_GRAPH, experiment_report
from tests.evaluation.hand_ablated import RUNS, answers, import_answers, setup, three_runs
from tests.evaluation.hand_cited import score_answers, score_citations
from tests.makers import example_row, import_rows, statements
from tests.shown import shown

pytestmark = pytest.mark.once


@pytest.fixture(autouse=True)
def own_folder(own_cache_and_folder):
    """Keep this module's stored results apart from those of other tests."""


@pytest.fixture(scope="module")
def seeded(tmp_path_factory, module_database):
    """Three seeded runs, and one of each with a piece of knowledge removed, scored."""
    removed = {"q1": [["Q1", "birth", "London"]], "q2": [["Q2", "occupation", "miller"]]}
    more = [
        row
        for prompt in ("graph-gold", "graph-gold-minus-1", "graph-accuracy-60")
        for row in answers(
            {"q1": RUNS[2]["q1"], "q2": "[NA]"},
            setup(prompt),
            **({"removed": removed} if "minus" in prompt else {}),
        )
    ]
    dataset = three_runs(tmp_path_factory.mktemp("seeded"), "experiment pages", more)
    key = "small-graph-retrieved"
    score_citations(dataset, {(f"{key}-1-q1", 1): 0.9, (f"{key}-2-q1", 1): 0.4})
    found = {
        "na_sentences": [{"text": "It is so.", "probability": 0.7}],
        "removed": [{"text": "occupation: miller", "probability": 0.7}],
    }
    minus = "small-graph-gold-minus-1-1-q2"
    said: dict[str, Any] = {"backend": "lexical", "signature": "na"}
    score_answers(dataset, "incompetence", {minus: 0.7}, {minus: found}, **said)
    judge: dict[str, Any] = {
        "backend": "language-model",
        "model_name": "judge",
        "signature": "fluency",
    }
    scores = {f"{key}-1-q1": 4.0, f"{key}-2-q1": 5.0, f"{key}-3-q1": "no score"}
    score_answers(dataset, "fluency", scores, **judge)
    return dataset


def address(name, dataset, *more):
    return reverse(f"graphs:{name}", args=[dataset.slug, *more])


def address_of_answer(dataset, key):
    response = dataset.responses.get(key=key)
    return reverse("evaluation:response", args=[dataset.slug, response.pk])


def groups(page, report):
    """Return the rows of each group of the table of figures, cell by cell: words and address."""
    parts = {row["group"]: page.part(f"group-{row['group']}") for row in report.records}
    return {key: [_figures(row) for row in part.cells] for key, part in parts.items()}


def _figures(row):
    return [(cell.text, next(iter(cell.addresses), "")) for cell in row[1:]]


def interval(row, name):
    """Return the interval of a figure of a record as percent; "" without one."""
    return Format.PERCENT.interval(
        Estimate(*(row[f"{name}{end}"] for end in ("", "_low", "_high")))
    )


def figure(row, name):
    """Return a figure with its deviation and its interval as a cell has them."""
    deviation = row.get(f"{name}_deviation")
    beside = "" if deviation is None else f"({percent(deviation)})"
    n = row["n_runs"] - row.get(f"{name}_n_undefined", 0)
    if 0 < n < row["n_runs"]:
        beside = f"{beside} of {n} run{'' if n == 1 else 's'}".strip()
    return " ".join(filter(None, (percent(row[name]), beside, interval(row, name))))


# --- tables ---------------------------------------------------------------------------------


def test_table_3_has_the_means_deviations_and_intervals_of_the_report(researcher, seeded):
    page = shown(researcher.get(address("experiment", seeded, "citations")))

    report = experiment_report("citations", seeded)
    figures = ("aligned", "correctness", "precision", "recall", "f1")
    macro = ("macro_precision", "macro_recall", "macro_f1")
    table = groups(page, report)
    # The groups in the report's order, and nothing else.
    rows = [[text for text, _ in cells] for [cells] in table.values()]
    assert [row[1:] for row in page.table("Citation quality").rows] == rows
    for row in report.records:
        [cells] = table[row["group"]]
        assert [text for text, _ in cells[2:10]] == [figure(row, name) for name in figures + macro]
    three = next(row for row in report.records if row["n_runs"] == 3)
    # Precision 2 of 3, 2 of 3 and 1 of 1: mean 7/9, deviation (n - 1) 1/3 / √3.
    precision, _ = table[three["group"]][0][4]
    assert precision.startswith("77.8 (19.2)")
    assert report.signature in page.text


@pytest.mark.parametrize("key", OVER_A_GRAPH)
def test_every_number_leads_to_answers_and_each_row_to_its_runs(researcher, seeded, key):
    report = experiment_report(key, seeded)
    row = max(report.records, key=lambda row: row["n_runs"])
    here = address("experiment", seeded, key)

    unfolded = groups(shown(researcher.get(here, {"runs": row["group"]})), report)

    whole, *runs = unfolded[row["group"]]
    responses = reverse("evaluation:response", args=[seeded.slug, 0])[:-2]
    assert len(runs) == row["n_runs"]
    assert all(len(of) == 1 for other, of in unfolded.items() if other != row["group"])
    for cells in (whole, *runs):
        defined = [(text, url) for text, url in cells if text != "—"]
        assert defined
        assert all(url for text, url in defined if text != "0")
        for url in {url for _, url in defined if url}:
            leads_to = shown(researcher.get(url)).addresses
            assert any(address.startswith(responses) for address in leads_to)


def test_a_number_over_three_runs_leads_to_the_answers_of_all_three(researcher, seeded):
    report = experiment_report("citations", seeded)
    [row] = [row for row in report.records if row["n_runs"] == 3]
    page = shown(researcher.get(address("experiment", seeded, "citations")))
    [cells] = groups(page, report)[row["group"]]
    _, url = cells[4]

    page = shown(researcher.get(url))

    keys = [f"small-graph-retrieved-{seed}-q{n}" for seed in (1, 2, 3) for n in (1, 2)]
    names = page.table("Answers with").column("Answer to")
    assert sorted(name.split("? ")[1].split()[0] for name in names) == keys
    setups = page.choices("setup").values()
    assert f"small (0.5), {row['prompt_title'].lower()}: 3 runs" in setups


def test_a_score_leads_to_the_scores_of_its_runs_alone(researcher, seeded):
    report = experiment_report("quality", seeded)
    [row] = [row for row in report.records if row["n_runs"] == 3]
    run = MetricRun.objects.get(dataset=seeded, metric="fluency")
    page = shown(researcher.get(address("experiment", seeded, "quality")))
    [cells] = groups(page, report)[row["group"]]
    [(text, url), (n, _), (n_failed, _)] = [each for each in cells if f"/{run.pk}/" in each[1]]

    assert text.startswith("4.50")  # mean of 4 and 5; the third has no score
    assert (n, n_failed) == ("2", "1")
    keys = ["small-graph-retrieved-2-q1", "small-graph-retrieved-1-q1"]
    listed = shown(researcher.get(url)).table("Scores by").column("Response")
    assert [each.split()[-1] for each in listed] == keys
    other = shown(researcher.get(reverse("evaluation:run", args=[run.pk]), {"setup": "0"}))
    assert other.table("Scores by").column("Response") == listed  # no such setup: all are listed


def test_what_is_not_defined_is_a_dash_and_leads_nowhere(researcher, seeded):
    report = experiment_report("removal", seeded)
    table = groups(shown(researcher.get(address("experiment", seeded, "removal"))), report)

    [whole] = [row["group"] for row in report.records if not row["n_removed"]]
    assert table[whole][0][7:10] == [("—", "")] * 3  # [NA] of what lacks nothing
    [minus] = [row["group"] for row in report.records if row["n_removed"] == 1]
    assert [text for text, _ in table[minus][0][7:10]] == ["100.0", "100.0", "100.0"]


# --- pictures and files ---------------------------------------------------------------------


def test_the_pictures_hold_the_tables_figures(researcher, seeded):
    answer = researcher.get(address("experiment", seeded, "removal"))

    charts = shown(answer).data("plots")["charts"]
    assert set(charts) == set(re.findall(r'data-chart="(\w+)"', answer.text))
    [points] = charts["recall"]["datasets"].values()
    # Of q1's two members and q2's one, one is cited, whole or without London.
    assert [(point["x"], point["value"]) for point in points] == [(0, 33.33), (1, 33.33)]
    assert "small (0.5), pieces of knowledge removed 1: 33.3" in points[1]["said"]


@pytest.mark.parametrize("key", OVER_A_GRAPH)
def test_table_and_figure_come_as_files(researcher, rosa, seeded, key, tmp_path):
    report = experiment_report(key, seeded)
    for format_key in ("csv", "latex", "json"):
        answer = researcher.get(address("experiment-file", seeded, key, format_key))
        assert answer.text == write_report(report, format_key)
        assert f"-{key}." in answer["Content-Disposition"]
    figure = researcher.get(address("experiment-file", seeded, key, "svg"))
    assert figure.content.startswith(b"<svg")
    file = tmp_path / "figure.svg"
    kind = EXPERIMENTS[key].report
    call_command("figure", kind, seeded.slug, str(file), stdout=StringIO())
    api = Client(headers={"Authorization": f"Bearer {create_api_token(rosa, 'tests')}"})
    by_api = api.get(f"/api/v1/datasets/{seeded.slug}/reports/{kind}/figure.svg")
    assert file.read_bytes() == figure.content == by_api.content


def test_series_are_told_apart_by_more_than_colour(seeded):
    rows = removal_report(seeded).rows
    other = [
        replace(
            row,
            runs=replace(row.group, label="large (0)"),
            step=replace(row.step, family="other"),
        )
        for row in rows
    ]
    spec = valid(experiment_charts("removal", [*rows, *other])["recall"])

    line, _, dot = spec["layer"]
    assert line["encoding"]["strokeDash"]["scale"]["range"] == [[1, 0], [6, 3]]
    assert dot["encoding"]["shape"]["legend"]["orient"] == "top"
    picture = valid(experiment_picture("removal", [*rows, *other]))
    assert b"large (0)" in chart_file(picture, "svg")


def test_a_whisker_is_the_interval_or_with_too_few_dialogs_the_deviation(seeded):
    def ends(estimate, **over_runs):
        made = replace(removal_report(seeded).rows[0], recall=estimate, over_runs=over_runs)
        drawn = whisker(made, "recall")
        return [drawn["low"], drawn["high"], *([drawn["few"]] if "few" in drawn else [])]

    assert ends(Estimate(0.5, 0.3, 0.6), recall_deviation=0.1) == [30.0, 60.0]
    assert ends(Estimate(0.5), recall_deviation=0.1) == [40.0, 60.0, 1]  # over one run: dashed
    # Within the axis: 50 % ± 60 points.
    assert ends(Estimate(0.5), recall_deviation=0.6) == [0, 100, 1]
    assert ends(Estimate(0.5)) == ends(UNKNOWN, recall_deviation=0.1) == [None, None]


def test_nothing_is_drawn_where_nothing_is_defined(seeded):
    undefined: dict[str, Any] = dict.fromkeys(("correctness", "precision", "recall", "f1"), UNKNOWN)
    rows = [replace(row, **undefined) for row in accuracy_report(seeded).rows]

    assert experiment_charts("accuracy", rows) == {}
    assert experiment_picture("accuracy", rows) is None


def test_groups_of_one_model_are_called_by_their_prompt_and_last_by_their_sign(seeded):
    def of_group(key, title):
        row = removal_report(seeded).rows[0]
        group = replace(row.group, group=key, label="small (0.5)", prompt_title=title)
        return replace(row, runs=group)

    row = of_group("a1", "Graph, gold")
    other = of_group("b2", "Graph, retrieved")

    assert group_names([row]) == ["small (0.5)"]
    assert group_names([row, other]) == [
        "small (0.5), graph, gold",
        "small (0.5), graph, retrieved",
    ]
    same = of_group("c3", "Graph, retrieved")
    assert group_names([row, other, same])[1:] == [
        "small (0.5), graph, retrieved, b2",
        "small (0.5), graph, retrieved, c3",
    ]


def how_far(page, key):
    """Return what the list says of an experiment's state."""
    [tag] = page.part(f"experiment-{key}").parts("tag")
    return tag.text


# --- steps ----------------------------------------------------------------------------------


def test_the_list_says_how_far_each_experiment_is(researcher, seeded):
    page = shown(researcher.get(address("experiments", seeded)))

    assert page.headings[1:] == [page.part(f"experiment-{key}").text for key in EXPERIMENTS]
    # Of quality three metrics have no run; retrieval accuracy needs none.
    assert how_far(page, "quality") == "to be scored"
    assert how_far(page, "accuracy") == "done"


def test_an_experiment_is_asked_for_once_and_planned_first(researcher, tmp_path):
    dataset = import_answers(tmp_path, [], "to ask")
    here = address("experiment", dataset, "removal")
    assert "Nothing to read yet" in shown(researcher.get(here)).headings
    form = {"models": ["extractive"], "temperatures": "0.5", "seeds": "1, 2", "max_tokens": 500}

    for _ in range(2):
        answer = researcher.post(address("start-experiment", dataset, "removal"), form)
        assert answer["Location"] == here

    experiment = Grid.objects.get(dataset=dataset)
    assert experiment.choices["seeds"] == [1, 2]
    assert any(experiment.name in heading for heading in shown(researcher.get(here)).headings)
    grid = shown(researcher.get(reverse("grids:grid", args=[experiment.pk])))
    assert grid.links["Removed knowledge"] == here
    assert "Retrieval accuracy" not in grid.links
    page = shown(researcher.get(address("experiments", dataset)))
    assert how_far(page, "removal") == "asking"


def test_a_refused_form_says_what_is_wrong_and_asks_nothing(researcher, tmp_path):
    dataset = import_answers(tmp_path, [], "refused")
    form = {"models": ["extractive"], "temperatures": "warm", "seeds": "1", "max_tokens": 500}

    answer = researcher.post(address("start-experiment", dataset, "removal"), form)

    assert answer.status_code == 422
    assert "Found 'warm'" in shown(answer).errors["temperatures"]
    assert not Grid.objects.filter(dataset=dataset).exists()
    score = {"model": "nobody"}
    answer = researcher.post(address("score-experiment", dataset, "removal"), score)
    assert answer.status_code == 422
    assert not dataset.metric_runs.exists()


def test_answers_are_scored_by_the_metrics_of_the_experiment(researcher, tmp_path):
    dataset = three_runs(tmp_path, "to score")
    here = address("experiment", dataset, "citations")
    page = shown(researcher.get(here))
    assert page.table("Metrics").row("Alignment")["State"] == "no run"

    answer = researcher.post(
        address("score-experiment", dataset, "citations"), {"model": "lexical|fp32"}
    )

    assert answer["Location"] == here
    assert [run.metric for run in MetricRun.objects.filter(dataset=dataset)] == ["alignment"]
    page = shown(researcher.get(here))
    assert page.table("Metrics").row("Alignment")["State"] == "queued"
    assert "still going on does not count yet" in page.text


def test_made_up_minimum_sets_are_called_so_wherever_figures_are(researcher, tmp_path):
    dataset = three_runs(tmp_path, "made up")
    pages = [address("experiments", dataset), address("experiment", dataset, "citations")]
    pages += [address("report", dataset, "citations"), address("answers", dataset)]
    for page in pages:
        assert "made-up" not in shown(researcher.get(page)).text.lower()
    of_answer = address_of_answer(dataset, "small-graph-retrieved-1-q1")  # cites two members

    def verdicts():
        cited = shown(researcher.get(of_answer)).table("Citations by sentence")
        return [verdict for _, verdict, _ in cited.rows[1:]]

    assert not any("made up" in verdict for verdict in verdicts())
    KGQuestion.objects.filter(example__dataset=dataset).update(is_minimum_made_up=True)

    assert [verdict.endswith("in minimum set made up") for verdict in verdicts()] == [True, True]
    for page in pages:
        messages = shown(researcher.get(page)).messages
        assert any("Made-up minimum sets." in message for message in messages), page
        assert any("not known whether an answer needs" in message for message in messages)


def test_what_a_dataset_lacks_is_said(researcher, tmp_path):
    import_rows(tmp_path, "plain", examples=[example_row()])
    bare = import_rows(
        tmp_path / "bare", "bare", entities=[{"qid": "Q1", "label": "Ada", "triples": []}]
    ).dataset

    page = shown(researcher.get(reverse("graphs:experiments", args=["plain"])))
    assert any("plain has no knowledge graph" in message for message in page.messages)
    page = shown(researcher.get(address("experiment", bare, "citations")))
    assert "bare has no questions about a knowledge graph." in page.text
    page = shown(researcher.get(address("experiments", bare)))
    assert how_far(page, "citations") == "not possible"
    plain = reverse("graphs:experiment-file", args=["plain", "citations", "csv"])
    assert researcher.get(plain).status_code == 404


# --- who may, and what it costs -------------------------------------------------------------


def test_raters_see_no_experiment(client_for, seeded, rachel):
    rater: Client = client_for(rachel)
    for name, more in (
        ("experiments", []),
        ("experiment", ["citations"]),
        ("experiment-file", ["citations", "csv"]),
    ):
        assert rater.get(address(name, seeded, *more)).status_code == 403
        assert Client().get(address(name, seeded, *more)).status_code == 302
    for name in ("start-experiment", "score-experiment"):
        assert rater.post(address(name, seeded, "citations")).status_code == 403
    assert not Grid.objects.filter(dataset=seeded).exists()


def test_what_there_is_not_is_not_found(researcher, seeded):
    assert researcher.get(address("experiment", seeded, "nonsense")).status_code == 404
    for key, format_key in (("citations", "doc"), ("alignment", "csv")):
        file = address("experiment-file", seeded, key, format_key)
        assert researcher.get(file).status_code == 404


@pytest.mark.parametrize("key", [*OVER_A_GRAPH, ""])
def test_more_runs_and_answers_cost_no_more_queries(researcher, seeded, tmp_path, key):
    many = [
        row
        for model in ("large", "larger")
        for prompt in ("graph-retrieved", "graph-gold", "graph-gold-minus-1", "graph-accuracy-60")
        for seed in (1, 2, 3)
        for row in answers(RUNS[0], setup(prompt, seed, model=model))
    ]
    dataset = three_runs(tmp_path, "many", many)

    def cost(of):
        more = [key] if key else []
        page = address("experiment" if key else "experiments", of, *more)
        researcher.get(page)  # what reports keep is kept
        return len(statements(lambda: researcher.get(page)))

    # Those of `seeded` have runs of metrics besides.
    assert cost(dataset) <= cost(seeded)
