"""Numbers in an experiment's table link to the answers that they are made of, and to no other."""

from typing import Any

import pytest
from django.urls import reverse

from generation.models import Dataset
from tests.evaluation.graphs.experiments.experiment_reports import OVER_A_GRAPH, experiment_report
from tests.evaluation.hand_ablated import RUNS, answers, setup, three_runs
from tests.evaluation.hand_cited import score_answers, score_citations
from tests.shown import shown

pytestmark = pytest.mark.once
REMOVED = {"q1": [["Q1", "birth", "London"]], "q2": [["Q2", "occupation", "miller"]]}
METRICS_OF = {"citations": "alignment", "removal": "incompetence"}


@pytest.fixture(autouse=True)
def own_folder(own_cache_and_folder):
    """Keep this module's stored results apart from those of other tests."""


@pytest.fixture(scope="module")
def uneven(tmp_path_factory, module_database):
    """Steps that have not answered the same questions, an answer given twice; scored."""
    said = {q: RUNS[0].get(q, "[NA]") for q in ("q1", "q2", "q3")}
    more = [
        row
        for prompt in ("graph-gold", "graph-gold-minus-1", "graph-accuracy-60")
        for row in answers(
            # Of a set without members nothing can be removed: q3 is the whole graph's alone.
            {q: text for q, text in said.items() if q != "q3" or "-minus-" not in prompt},
            setup(prompt),
            **({"removed": REMOVED} if "minus" in prompt else {}),
        )
    ]
    [twice] = answers({"q1": RUNS[0]["q1"]}, setup())
    more.append(twice | {"id": "small-graph-retrieved-1-q1-again"})
    dataset = three_runs(tmp_path_factory.mktemp("uneven"), "uneven", more)
    every = list(dataset.responses.values_list("key", flat=True))
    judge: dict[str, Any] = {
        "backend": "language-model",
        "model_name": "judge",
        "signature": "fluency",
    }
    scores = {key: "no score" if key.endswith("-2-q1") else 4.0 for key in every}
    score_answers(dataset, "fluency", scores, **judge)
    score_citations(dataset, {(key, 1): 0.9 for key in every if key.endswith("-q1")})
    minus = [key for key in every if "-minus-" in key]
    found = {
        "na_sentences": [{"text": "It is so.", "probability": 0.7}],
        "removed": [{"text": "occupation: miller", "probability": 0.7}],
    }
    score_answers(
        dataset,
        "incompetence",
        dict.fromkeys(minus, 0.7),
        dict.fromkeys(minus, found),
        backend="lexical",
        signature="na",
    )
    return dataset


def urls_of(researcher, dataset: Dataset, key: str, group: str) -> list[set[str]]:
    """Return the address behind each number of a row and of each of its runs, row by row."""
    here = reverse("graphs:experiment", args=[dataset.slug, key])
    rows = shown(researcher.get(here, {"runs": group})).part(f"group-{group}").cells
    return [{url for figure in row[1:] for url in figure.addresses} for row in rows]


def keys_of(researcher, dataset: Dataset, url: str) -> list[str]:
    """Return the key of each answer that a list names, as often as it does."""
    keys = {
        reverse("evaluation:response", args=[dataset.slug, pk]): key
        for pk, key in dataset.responses.values_list("pk", "key")
    }
    return [keys[each] for each in shown(researcher.get(url)).addresses if each in keys]


@pytest.mark.parametrize("key", OVER_A_GRAPH)
def test_as_many_answers_are_listed_as_a_row_counts(researcher, uneven, key):
    """Each row, and each of its runs: neither q3 of a whole graph nor a second answer is there."""
    for row in experiment_report(key, uneven).records:
        whole, *runs = urls_of(researcher, uneven, key, row["group"])
        [of_whole] = [url for url in whole if "/answers/" in url]
        listed = keys_of(researcher, uneven, of_whole)
        assert len(listed) == row["n_answers"]
        assert not any("again" in each for each in listed)
        of_runs = [
            each
            for run in runs
            for url in run
            if "/answers/" in url
            for each in keys_of(researcher, uneven, url)
        ]
        assert sorted(of_runs) == sorted(listed)


def test_only_the_questions_that_all_rows_have_are_listed(researcher, uneven):
    [whole] = [r for r in experiment_report("removal", uneven).records if not r["n_removed"]]
    [[*urls], *_] = urls_of(researcher, uneven, "removal", whole["group"])
    [url] = [url for url in urls if "/answers/" in url]

    assert keys_of(researcher, uneven, url) == ["small-graph-gold-1-q1", "small-graph-gold-1-q2"]
    page = shown(researcher.get(url))
    assert "Only the answers behind the numbers of removed knowledge" in page.text
    every = keys_of(researcher, uneven, url.replace("&experiment=removal", ""))
    assert sorted(every) == [f"small-graph-gold-1-q{n}" for n in (1, 2, 3)]


def test_a_mean_score_leads_to_the_scores_it_is_over_and_failed_to_failures(researcher, uneven):
    rows = experiment_report("quality", uneven).records
    [row] = [row for row in rows if row["n_runs"] == 3]
    urls = urls_of(researcher, uneven, "quality", row["group"])[0]

    # Three runs of two answers; one of the second run has no score. One answer came twice.
    assert (row["fluency_n"], row["fluency_n_failed"]) == (5, 1)
    [scored] = [url for url in urls if "#scores" in url]
    assert len(keys_of(researcher, uneven, scored)) == 5
    [failed] = [url for url in urls if "/failures/" in url]
    assert keys_of(researcher, uneven, failed) == ["small-graph-retrieved-2-q1"]
    page = shown(researcher.get(failed))
    assert "the answers behind the numbers of text quality" in page.text


@pytest.mark.parametrize(
    ("key", "figure", "n"),
    [("citations", "alignment_run", "n_aligned_pairs"), ("removal", "na_run", "n_na_answers")],
)
def test_aligned_and_na_lead_to_what_they_are_over(researcher, uneven, key, figure, n):
    rows = [row for row in experiment_report(key, uneven).records if row[figure]]
    assert rows
    for row in rows:
        urls = urls_of(researcher, uneven, key, row["group"])[0]
        [scored] = [url for url in urls if "#scores" in url]
        assert f"/{row[figure]}/" in scored
        assert len(keys_of(researcher, uneven, scored)) == row[n]
