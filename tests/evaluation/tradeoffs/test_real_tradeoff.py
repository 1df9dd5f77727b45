"""The trade-off on MTRAG: systems are placed by their ratings, and all seven figures are drawn."""

import json
from collections import defaultdict
from statistics import median
from xml.etree import ElementTree

import pytest
from django.urls import reverse

from evaluation.measures.reranking import MAX_ATTRIBUTION, SENSIBLE_FIRST
from evaluation.tradeoffs.axes import Axes, axes_of, find
from evaluation.tradeoffs.chart_view import FIGURES, View
from evaluation.tradeoffs.material import material_of
from evaluation.tradeoffs.pools import USUAL_TYPES
from evaluation.tradeoffs.reports.tradeoff import tradeoff_report
from evaluation.tradeoffs.services.reranking import rerank
from generation.filters import Filters
from generation.grids.recipe import recipe_grid
from generation.grids.restricted_context import restricted_grid
from generation.models import Response
from generation.sample_choices import SampleChoices
from generation.services.samples import SAMPLES, request_sample
from tests.evaluation.tradeoffs.scoring import scored, usual_axes
from tests.generation.question_makers import ask, grid_of, started
from tests.makers import import_path
from tests.tradeoff_material import pools_of

pytestmark = pytest.mark.once

MTRAG = "data/mtrag_human_eval/mtrag_human_eval_part1.json"
MIDDLE = 2.5  # middle of ratings from 1 to 4
MODEL, SAMPLE, N = "extractive", "few", 8
PROMPTS = [*USUAL_TYPES, "no-evidence", "no-history-golden", "no-history-no-evidence", "next-best"]
SVG = "{http://www.w3.org/2000/svg}"


def shares_of_raters(shared):
    """Return system → shares of answers that raters call faithful, and natural, and how many.

    Read by itself: an answer is a yes where the median of its ratings is above the middle.
    """
    content = json.loads((shared / MTRAG).read_text("utf-8"))
    points = defaultdict(list)
    for evaluation in content["evaluations"]:
        ratings = evaluation["annotations"]
        sides = [
            median(int(rating["value"]) for rating in ratings[question].values())
            for question in ("faithfulness", "naturalness")
        ]
        if MIDDLE not in sides:
            points[evaluation["model_id"]].append([side > MIDDLE for side in sides])
    return {
        system: (*(sum(side) / len(found) for side in zip(*found, strict=True)), len(found))
        for system, found in points.items()
    }


def test_three_systems_stand_where_raters_put_them(shared, tmp_path):
    wanted = shares_of_raters(shared)
    study = import_path(shared / MTRAG, "mtrag").study
    assert study
    axes = axes_of(study.dataset)

    human = Axes(find(axes, "faithfulness"), find(axes, "naturalness"))
    report = tradeoff_report(material_of(study.dataset, human), View())

    assert human.attribution.is_human
    assert human.sensibleness.is_human
    assert {row["setup"] for row in report.records} == set(wanted)
    assert set(wanted) == {"reference", "gpt-4o", "llama-3.1-405b-instruct"}
    for row in report.records:
        attribution, sensibleness, n = wanted[row["setup"]]
        assert row["attribution"] == pytest.approx(attribution)
        assert row["sensibleness"] == pytest.approx(sensibleness)
        assert row["n"] == n
        f1 = 2 * attribution * sensibleness / (attribution + sensibleness)
        assert row["f1"] == pytest.approx(f1)
        assert row["attribution_low"] <= attribution <= row["attribution_high"]


@pytest.fixture
def mtrag(shared):
    """Return the dataset with responses to a few examples of all that figures are about."""
    dataset = import_path(shared / MTRAG, "mtrag").dataset
    assert dataset
    sample = request_sample(dataset, SampleChoices(SAMPLE, Filters(), size=N), None)
    SAMPLES.claim_and_do(sample.pk)
    grids = [
        grid_of("grid", MODEL, prompts=PROMPTS, temperatures=[0.0, 0.7], sample=SAMPLE),
        restricted_grid("restricted", MODEL, sample=SAMPLE, shares=[1.0, 0.7, 0.5, 0.2, 0.0]),
        recipe_grid("recipe", MODEL, 3, 2, sample=SAMPLE),
    ]
    for wanted in grids:
        grid = ask(started(dataset, wanted))
        assert (grid.state, grid.error) == (grid.State.DONE, "")
    here = Response.objects.filter(dataset=dataset, setup__model=MODEL)
    scored(dataset, "auto_ais", "lexical", here)
    scored(dataset, "sensible", "heuristic", here)
    return dataset


def test_all_seven_figures_are_drawn(mtrag, client_for, rosa):
    axes = usual_axes(mtrag)
    pools = [pool for pool in pools_of(material_of(mtrag, axes)) if pool.model == MODEL]
    assert [pool.temperature for pool in pools] == [0.0, 0.7]
    for function in (MAX_ATTRIBUTION, SENSIBLE_FIRST):
        rerank(mtrag, axes, pools[0].setups, function)
    parts = [f"top-1-of-3-part-{part}" for part in (1, 2, 3)]
    parts += [f"top-2-of-3-part-{part}" for part in (1, 2)]
    setups = dict(mtrag.setups.filter(model=MODEL).values_list("prompt", "name"))
    recipe = [setups[part] for part in parts]
    rerank(mtrag, axes, recipe, SENSIBLE_FIRST, recipe={"k1": 3, "k2": 2})

    client = client_for(rosa)
    n_marks, n_lines = {}, {}
    for number in FIGURES:
        address = reverse("tradeoffs:figure", args=[mtrag.slug, "svg"])
        answer = client.get(address, {"figure": number, "large": MODEL, "small": MODEL})
        assert answer.status_code == 200
        svg = ElementTree.fromstring(answer.content)
        classes = [(each.get("class") or "").split() for each in svg.iter()]
        n_marks[number] = sum("dot" in found for found in classes)
        n_lines[number] = sum("line" in found for found in classes)
    # Marks that stand somewhere, beside those of the legend: at least all single setups with
    # history and golden evidence, at either temperature, and so on.
    assert all(n_marks[number] >= 7 for number in FIGURES)
    assert n_marks[1] > n_marks[2]
    assert n_lines[4] > 0
    assert n_lines[5] > n_lines[4]
    assert not any(n_lines[number] for number in (1, 2, 3, 6, 7))
