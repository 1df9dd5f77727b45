"""Home leads to each page about the study or dataset that has most of what it is about."""

import pytest

from annotation.models import Study
from annotation.schemes import load_scheme
from annotation.services.gold import set_gold
from evaluation.home.destinations import reading
from generation.models import Dataset
from tests.annotation.makers import (
    material,
    opened,
    planned,
    rate_next,
    raters_of,
    researcher,
    yes_where_possible,
)
from tests.evaluation.makers_of_scores import make_run, make_score
from tests.evaluation.tradeoffs.imported_setups import imported
from tests.graph_material import hathaways
from tests.makers import rated

pytestmark = pytest.mark.once

TWO_RATERS = {"x": {"attributable": ["yes", "no"]}}


def links() -> dict[str, str]:
    """Return the address of each page, by its title."""
    return {link.title: link.url for _, group in reading().groups for link in group}


def results() -> list[str]:
    return [each.url for each in reading().results]


def test_nothing_is_offered_without_data(db):
    assert reading().groups == []
    assert reading().results == []


def test_a_study_without_votes_has_nothing_to_read(tmp_path):
    planned(material(tmp_path / "two"), name="Planned")

    assert "Raters’ agreement" not in links()
    assert links()["Gold items"] == "/studies/planned/gold/"


def test_agreement_is_about_the_study_with_most_votes_then_the_newest(tmp_path):
    rated(tmp_path / "older", TWO_RATERS, name="older")
    rated(tmp_path / "newer", TWO_RATERS, name="newer")
    planned(material(tmp_path / "two"), name="Planned")

    assert links()["Raters’ agreement"] == "/studies/newer/agreement/"
    assert results() == ["/studies/newer/", "/studies/older/"]

    half_rated = rated(tmp_path / "half", {"x": {"attributable": ["yes"]}}, name="half")
    make_score(make_run(half_rated.dataset), "x", 0.5)
    make_score(make_run(Study.objects.get(slug="older").dataset), "x", 0.5)
    assert links()["Raters’ agreement"] == "/studies/newer/agreement/"
    assert links()["Human–auto agreement"] == "/studies/older/metrics/"
    assert results() == ["/studies/half/", "/studies/newer/", "/studies/older/"]


def test_a_study_that_raters_work_on_comes_last_and_is_called_interim(tmp_path):
    study = opened(material(tmp_path / "two"), name="Open")
    rate_next(raters_of(study)[0])
    other = rated(tmp_path / "other", TWO_RATERS, name="other")
    make_score(make_run(other.dataset, metric="sensible", signature="s"), "x", 0.5)
    study_of_today = opened(material(tmp_path / "three"), name="Newest")
    rate_next(raters_of(study_of_today)[0])

    found = reading().results
    assert [each.url for each in found] == [
        "/studies/other/", "/tradeoffs/other/", "/studies/newest/", "/studies/open/"
    ]  # fmt: skip
    assert [each.sort for each in found][:1] == ["answer of a study"]
    assert [each.sort for each in found][-1:] == ["interim answer of a study"]
    assert links()["Raters’ agreement"] == "/studies/other/agreement/"


def test_merged_against_separate_needs_votes_in_both_arms(tmp_path):
    title = "Merged against separate: uncertainty rate"
    rated(tmp_path / "one", TWO_RATERS, name="one")
    assert title not in links()

    merged = {"response": "x", "rater": "w1", "question": "attributable", "answer": "no"}
    more = [{**merged, "arm": "merged"}]
    rated(tmp_path / "both", TWO_RATERS, name="both", more_votes=more)

    assert links()[title] == "/studies/both/merged/"


def test_agreement_with_a_metric_needs_scores_for_what_was_asked(tmp_path):
    study = rated(tmp_path / "rated", TWO_RATERS, name="rated")
    make_run(study.dataset, metric="sensible", signature="sensible")
    assert "Human–auto agreement" not in links()
    assert links()["Threshold choice"] == "/studies/rated/threshold-choice/"

    make_score(make_run(study.dataset), "x", 0.5)

    assert links()["Human–auto agreement"] == "/studies/rated/metrics/"
    assert links()["Disagreements"] == "/studies/rated/disagreements/"


def test_a_study_with_gold_items_comes_before_newer_ones(tmp_path):
    two = material(tmp_path / "two")
    with_gold = planned(two, name="With gold")
    planned(two, name="Newer")
    assert links()["Gold items"] == "/studies/newer/gold/"

    answers = yes_where_possible(load_scheme(with_gold.scheme))
    set_gold(with_gold, {"e1-cool": answers}, researcher())

    assert links()["Gold items"] == "/studies/with-gold/gold/"


def test_a_trade_off_needs_scores_or_votes_on_both_sides(tmp_path):
    study = rated(tmp_path / "rated", TWO_RATERS, name="rated")
    assert "Trade-off" not in links()

    make_score(make_run(study.dataset, metric="sensible", signature="s"), "x", 0.5)

    assert links()["Trade-off"] == "/tradeoffs/rated/"
    assert links()["Recipe"] == "/tradeoffs/rated/recipe/"
    assert results() == ["/studies/rated/", "/tradeoffs/rated/"]


def test_trade_offs_are_about_the_dataset_with_most_setups_or_what_is_asked(tmp_path):
    imported(tmp_path / "whole", "whole")
    imported(tmp_path / "recipe", "recipe", [("M", 0.0, "top-2-of-4-part-1", "yyyy", "yyyy")])
    imported(tmp_path / "chosen", "chosen", [("M", 0.0, "reranked", "yyyy", "yyyy")])
    empty = imported(tmp_path / "empty", "empty", [("M", 0.0, "golden", "yyyy", "yyyy")])
    assert [links()[name] for name in ("Trade-off", "Takeaways", "Re-ranking", "Recipe")] == [
        "/tradeoffs/whole/",
        "/tradeoffs/whole/takeaways/",
        "/tradeoffs/chosen/reranking/",
        "/tradeoffs/recipe/recipe/",
    ]

    # Without what is asked, they are about the dataset with most setups, too.
    Dataset.objects.filter(slug__in=["recipe", "chosen"]).delete()
    assert links()["Recipe"] == "/tradeoffs/whole/recipe/"
    assert links()["Re-ranking"] == "/tradeoffs/whole/reranking/"
    # A dataset whose only run was made for a threshold choice has no axis.
    Dataset.objects.filter(slug="whole").delete()
    empty.metric_runs.update(parameters={"made_for": "threshold choice"})
    assert "Trade-off" not in links()


def test_prompts_are_those_of_the_first_example(tmp_path):
    dataset = material(tmp_path / "two")
    example = dataset.examples.get(key="e1")

    assert links()["Prompts"] == f"/data/two/examples/{example.pk}/prompts/"
    assert links()["Retrieval"] == "/data/two/retrieval/"


def test_experiments_are_about_the_newest_graph(tmp_path):
    graph = hathaways(tmp_path)

    assert links()["Experiments"] == f"/graphs/{graph.slug}/experiments/"
    assert results() == []
    make_run(graph, metric="incompetence", signature="na")
    assert results() == [f"/graphs/{graph.slug}/experiments/"]
