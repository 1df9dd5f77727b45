"""The usual axis: the pinned run, else the run with scores of the most setups, then the newest."""

import pytest
from django.urls import reverse

from evaluation.models import MetricRun
from evaluation.tradeoffs.axes import axes_of, lost_pins, usual
from evaluation.tradeoffs.scorers import scorers_of
from generation.models import Dataset, Response
from tests.evaluation.makers_of_scores import make_run, make_scores
from tests.evaluation.metric_runs import work
from tests.evaluation.studies.hand_made import votes
from tests.evaluation.tradeoffs.imported_setups import imported
from tests.makers import import_rows, rated, response_row
from tests.shown import shown

pytestmark = pytest.mark.once

SAMPLE = {"signature": "auto_ais|sample:1@0", "parameters": {"n_sampled": 1}}
CHOICE = {"parameters": {"made_for": "threshold choice"}}
CHECK = {"parameters": {"made_for": "precision check"}}
CHOSEN = {"parameters": {"calibrated_on": ["pilot"]}}
ASKED_FOR = {"parameters": {"calibrated_on": ["pilot"], "made_for": ""}}
SHOWN, GOLDEN = ({"parameters": {"evidence": each}} for each in ("shown", "golden"))


@pytest.fixture
def dataset(tmp_path) -> Dataset:
    """Return four setups with four responses each, and no run of attribution."""
    dataset = imported(tmp_path / "own", "own")
    dataset.metric_runs.filter(metric="auto_ais").delete()
    return dataset


def run_over(dataset: Dataset, name: str, n_setups: int, **more) -> MetricRun:
    """Make a run that has scored the first response of each of some setups."""
    run = make_run(dataset, **{"signature": name, **more})
    make_scores(run, {f"r{setup}-0": 0.9 for setup in range(n_setups)})
    return run


def usual_run(dataset: Dataset) -> MetricRun | None:
    axes = usual(axes_of(dataset))
    return axes.attribution.run if axes else None


@pytest.mark.parametrize(
    ("runs", "place"),
    [
        ([("b", 4, {}), ("a", 3, {})], 0),  # more setups, whatever is newer
        ([("a", 4, {}), ("b", 4, {})], 1),  # the newer one, whatever the signatures
        ([("b", 4, {}), ("a", 4, {"state": "running"})], 0),
        ([("b", 4, GOLDEN), ("a", 4, SHOWN)], 0),
        ([("b", 3, GOLDEN), ("a", 4, SHOWN)], 1),
        ([("b", 4, {}), ("a", 4, {"is_imported": True})], 0),
        ([("b", 4, {"threshold": None, "is_imported": True}), ("a", 1, {})], 1),
        ([("b", 1, {}), ("", 4, SAMPLE)], 0),
        ([("b", 1, {}), ("a", 4, CHOICE)], 0),
        ([("b", 1, {}), ("a", 4, CHOSEN)], 0),
        ([("b", 1, {}), ("a", 4, CHECK)], 0),
        ([("b", 1, {}), ("a", 4, ASKED_FOR)], 1),  # it was there before the choice
        ([("a", 4, CHOICE)], None),
        ([("a", 0, {})], None),  # nothing was scored
    ],
)
def test_the_usual_axis_is_the_run_with_most_setups_then_the_newest(dataset, runs, place):
    made = [run_over(dataset, name, n, **{"signature": name, **more}) for name, n, more in runs]

    assert usual_run(dataset) == (None if place is None else made[place])
    [first, *_] = scorers_of(dataset, "attribution")
    assert place is None or first.run == made[place]


def test_a_pin_is_the_usual_axis_until_the_run_has_no_scores(dataset):
    pinned, fuller = run_over(dataset, "b", 1, **CHOICE), run_over(dataset, "a", 4)
    dataset.main_attribution_metric = "auto_ais: b"
    assert usual_run(dataset) == pinned
    assert not lost_pins(dataset, axes_of(dataset))

    pinned.scores.update(score=None, problem="no answer")
    assert usual_run(dataset) == fuller
    pinned.delete()
    assert usual_run(dataset) == fuller
    [(side, said)] = lost_pins(dataset, axes_of(dataset))
    assert (side.name, said) == ("attribution", "auto_ais: b")


@pytest.fixture
def studied(tmp_path) -> Dataset:
    """Return a dataset of four setups, of which raters judged one, with a run on each side."""
    study = rated(tmp_path / "study", votes(**dict.fromkeys("abcd", "yyy")), name="own")
    cells = [(n, key) for n in range(3) for key in "ab"]
    more = [response_row(f"r{n}-{key}", f"e-{key}", setup=f"s{n}") for n, key in cells]
    import_rows(tmp_path / "more", "own", responses=more)
    keys = Response.objects.values_list("key", flat=True)
    run = make_run(study.dataset, signature="auto_ais|lexical|v3|localized:2|whole|shown|t:0.5|v:3")
    make_scores(run, dict.fromkeys(keys, 0.9))
    make_scores(make_run(study.dataset, metric="sensible", signature="s"), dict.fromkeys(keys, 0.9))
    return study.dataset


def test_scoring_the_missing_combinations_leaves_the_figures_as_they_were(studied, researcher):
    study, there = studied.studies.get(), reverse("tradeoffs:tradeoff", args=[studied.slug])
    before, run = usual_run(studied), studied.metric_runs.get(metric="auto_ais")
    assert before == run
    assert len(shown(researcher.get(there)).parts("plot--desk")[0].parts("dot")) == 4

    address = reverse("evaluation:score-grid", args=[study.slug])
    researcher.post(address, {"family": "auto_ais|lexical|shown", "question": "q"})
    grid = list(studied.metric_runs.filter(state="running"))
    assert len(grid) == 11
    for each in grid:
        work(each)

    assert usual_run(studied) == run
    page = shown(researcher.get(there))
    assert len(page.parts("plot--desk")[0].parts("dot")) == 4
    assert not page.parts("callout")


def test_an_axis_without_values_for_half_of_the_setups_offers_the_run_that_has_them(
    dataset, researcher
):
    thin, full = run_over(dataset, "thin", 1), run_over(dataset, "full", 4, **CHOICE)
    addresses = [reverse(f"tradeoffs:{name}", args=["own"]) for name in ("tradeoff", "takeaways")]
    assert usual_run(dataset) == thin

    for there in addresses:
        page = shown(researcher.get(there, {"sensibleness": _sensible(dataset)}))
        [message] = [each for each in page.messages if "no value of attribution" in each]
        assert "has values for 1 of 4 setups" in message
        assert "has scores of 4" in message
        [offer] = [each for each in page.addresses if f"attribution=run-{full.pk}" in each]
        assert f"sensibleness={_sensible(dataset)}" in offer

        followed = shown(researcher.get(there + offer.removeprefix(there)))
        assert not any("no value of attribution" in each for each in followed.messages)


def _sensible(dataset: Dataset) -> str:
    return f"run-{dataset.metric_runs.get(metric='sensible').pk}"
