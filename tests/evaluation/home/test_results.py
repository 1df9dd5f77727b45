"""Home has the last results: studies with votes, trade-offs, and knowledge graphs."""

import pytest

from evaluation.home.results import last_results
from generation.models import Dataset
from tests.annotation.makers import material, opened, planned, rate_next, raters_of
from tests.evaluation.makers_of_scores import make_run, make_score
from tests.evaluation.tradeoffs.imported_setups import imported
from tests.graph_material import hathaways
from tests.makers import rated

pytestmark = pytest.mark.once

TWO_RATERS = {"x": {"attributable": ["yes", "no"]}}


def named() -> tuple[str, str, list[str]]:
    """Return the slugs of the study and the dataset, and the addresses of the other results."""
    found = last_results()
    slugs = [each.slug if each else "" for each in (found.study, found.dataset)]
    return slugs[0], slugs[1], [each.url for each in found.others]


def test_there_is_nothing_without_data(db):
    assert named() == ("", "", [])


def test_the_newest_study_with_votes_comes_first_and_one_that_is_open_last(tmp_path):
    planned(material(tmp_path / "two"), name="Planned")
    assert named() == ("", "", [])

    study = opened(material(tmp_path / "open"), name="Open")
    rate_next(raters_of(study)[0])
    assert named() == ("open", "", [])

    rated(tmp_path / "older", TWO_RATERS, name="older")
    rated(tmp_path / "newer", TWO_RATERS, name="newer")
    assert named() == ("newer", "", ["/studies/older/", "/studies/open/"])
    assert [each.sort for each in last_results().others] == [
        "answer of a study", "interim answer of a study"
    ]  # fmt: skip


def test_a_trade_off_needs_scores_or_votes_on_both_sides(tmp_path):
    study = rated(tmp_path / "rated", TWO_RATERS, name="rated")
    assert named() == ("rated", "", [])

    make_score(make_run(study.dataset, metric="sensible", signature="s"), "x", 0.5)

    assert named() == ("rated", "rated", [])


def test_a_run_for_a_threshold_choice_makes_no_trade_off(tmp_path):
    whole = imported(tmp_path / "whole", "whole")
    imported(tmp_path / "newer", "newer", [("M", 0.0, "golden", "yyyy", "yyyy")])
    assert named()[1:] == ("newer", ["/tradeoffs/whole/"])

    Dataset.objects.filter(slug="newer").delete()
    whole.metric_runs.update(parameters={"made_for": "threshold choice"})
    assert named()[1:] == ("", [])


def test_a_graph_comes_behind_a_trade_off(tmp_path):
    graph = hathaways(tmp_path)
    assert named() == ("", graph.slug, [])

    imported(tmp_path / "traded", "traded")

    assert named() == ("", "traded", [f"/graphs/{graph.slug}/"])
