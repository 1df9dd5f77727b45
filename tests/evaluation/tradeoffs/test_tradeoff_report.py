"""The report on a trade-off, by hand, from the pool of `reranked`."""

import pytest

from evaluation.models import AutoScore, MetricRun
from evaluation.tradeoffs.axes import axes_of, find, named_axes
from evaluation.tradeoffs.chart_view import NONE, View
from evaluation.tradeoffs.material import material_of
from evaluation.tradeoffs.material_cache import cached_material, cached_on_axes, version_of
from evaluation.tradeoffs.reports.tradeoff import bands, tradeoff_report
from evaluation.tradeoffs.services.reranking import rerank
from generation.models import Response, Setup
from tests.evaluation.tradeoffs.reranked import NAMES, axes_in, dataset_of
from tests.evaluation.tradeoffs.rows_of_tradeoffs import aggregate, row

pytestmark = pytest.mark.once

USUAL = View()


@pytest.fixture
def dataset(tmp_path):
    return dataset_of(tmp_path / "own")


@pytest.fixture
def own_cache(settings):
    backend = "django.core.cache.backends.locmem.LocMemCache"
    settings.CACHES = settings.CACHES | {"default": {"BACKEND": backend, "LOCATION": "trade-offs"}}


def report_of(dataset, view=USUAL, metric="auto_ais"):
    return tradeoff_report(material_of(dataset, axes_in(dataset, metric)), view)


def by_setup(report):
    return {each["setup"]: each for each in report.records}


def test_shares_and_f1_are_over_examples_known_to_both_axes(dataset):
    # Of golden e1, e2, e3 are known to both: attributable 1, 0, 1; sensible 0, 1, 1. Both
    # shares are 2/3, and so is F1. e4 has no score of attribution.
    report = report_of(dataset)

    golden = by_setup(report)[NAMES[0]]
    assert (golden["n"], golden["n_left_out"]) == (3, 1)
    assert golden["attribution"] == golden["sensibleness"] == pytest.approx(2 / 3)
    assert golden["f1"] == pytest.approx(2 / 3)
    assert golden["attribution_score"] == pytest.approx((0.9 + 0.2 + 0.6) / 3)
    assert golden["sensibleness_score"] == pytest.approx((0.3 + 0.9 + 1.0) / 3)
    assert (golden["cluster"], golden["n_calls"]) == ("top right", 1)
    assert golden["label"] == "[0.0, PaLM 8B, Golden]"
    assert golden["context_tokens"] == pytest.approx((101 + 102 + 103 + 104) / 4)
    assert report.left_out["attribution_unknown"] == 2
    assert report.left_out["sensibleness_unknown"] == 1
    assert f"data {material_of(dataset, axes_in(dataset)).data_hash}" in report.signature


def test_shares_have_wilson_intervals_over_dialogs(dataset):
    # p = 2/3 over three dialogs of one example. Residuals 1/3, 1/3, -2/3: V = 6/9 / 9 · 3/2 =
    # 1/9, so n = (2/9) / (1/9) = 2; t² of 2 degrees = 4.30265² = 18.5128. Middle =
    # (2/3 + 18.5128 / 4) / (1 + 18.5128 / 2) = 0.51625, half = sqrt(9.2564 · (2/9 + 2.3141)) /
    # 10.2564 = 0.47242.
    golden = by_setup(report_of(dataset))[NAMES[0]]

    ends = golden["attribution_low"], golden["attribution_high"]
    assert ends == pytest.approx((0.51625 - 0.47242, 0.51625 + 0.47242), abs=1e-4)
    assert golden["f1_low"] is golden["f1_high"] is None  # three dialogs are too few
    assert golden == by_setup(report_of(dataset))[NAMES[0]]


def test_by_score_the_same_columns_hold_means_and_best_f1_stands_first(dataset):
    # F1 of the means 1.7/3 and 2.2/3: 2 · 1.7 · 2.2 / (3 · 3.9) = 0.63932; with instructions
    # of 2.1/3 and 1.8/3: 2 · 2.1 · 1.8 / (3 · 3.9) = 0.64615.
    report = report_of(dataset, View(by_score=True))

    first = report.records[0]
    assert first["setup"] == NAMES[1]
    assert first["attribution"] == first["attribution_score"] == pytest.approx(2.1 / 3)
    assert first["f1"] == pytest.approx(0.64615, abs=1e-5)
    assert by_setup(report)[NAMES[0]]["f1"] == pytest.approx(0.63932, abs=1e-5)
    assert "mean scores" in report.signature
    assert report.signature != report_of(dataset).signature


def test_an_aggregate_says_who_chose_it_and_which_axis_that_flatters(dataset):
    # The highest attribution takes places 1, 1, 2, 2. Attributable: 0.9, 0.8, 0.9 → 3 of 3;
    # sensible: 0.6, 0.2, 0.4 → 1 of 3. F1 = 2 · 1 · 1/3 / (4/3) = 1/2.
    rerank(dataset, axes_in(dataset), NAMES, "max-attribution")

    [found] = [each for each in report_of(dataset).records if each["is_aggregate"]]
    [judged] = [
        each for each in report_of(dataset, metric="second").records if each["is_aggregate"]
    ]

    assert (found["n"], found["attribution"]) == (3, 1.0)
    assert found["f1"] == pytest.approx(1 / 2)
    assert (found["n_calls"], found["pool_size"]) == (3, 3)
    assert found["prompt_title"] == "Max attribution"
    # The two 0.9 of e1 are a tie, which sensibleness decided: it chose as well.
    assert found["chosen_by"] == "; ".join(axis.said for axis in axes_in(dataset))
    assert (found["is_flattered_x"], found["is_flattered_y"]) == (True, True)
    assert (judged["is_flattered_x"], judged["is_flattered_y"]) == (False, True)


def test_a_view_shows_some_setups_and_counts_the_others(dataset):
    report = report_of(dataset, View(prompts=("golden",)))

    assert [each["setup"] for each in report.records] == [NAMES[0]]
    assert report.left_out["setups_not_shown"] == 2
    assert report_of(dataset, View(models=NONE)).rows == []


def test_an_axis_is_found_by_its_key_or_by_what_only_it_shows(dataset):
    axes = axes_of(dataset)
    second = find(axes, "second")

    assert find(axes, second.key) == second
    with pytest.raises(LookupError, match=r"no axis 'other'. The axes are:\n  run-\d+: auto_ais"):
        find(axes, "other")
    twin = second._replace(key="run-0")
    with pytest.raises(LookupError, match="2 axes show 'second'"):
        find([*axes, twin], "second")
    assert named_axes(dataset) == axes_in(dataset)
    with pytest.raises(LookupError, match="Sensibleness: There is no axis 'other'"):
        named_axes(dataset, "second", "other")


def test_a_material_is_kept_until_a_score_changes_in_its_place(
    dataset, own_cache, django_assert_num_queries
):
    axes = axes_in(dataset)
    before = cached_material(dataset, axes)
    with django_assert_num_queries(5):  # the version alone
        assert cached_material(dataset, axes).data_hash == before.data_hash

    AutoScore.objects.filter(run=axes.attribution.run, score=0.2).update(score=0.7)

    changed = cached_material(dataset, axes).data_hash
    assert changed != before.data_hash
    # Two scores in each other's place have the same sum.
    of_run = AutoScore.objects.filter(run=axes.attribution.run).order_by("pk")
    high, low = of_run.filter(score=0.9)[0], of_run.filter(score=0.1)[0]
    high.score, low.score = low.score, high.score
    AutoScore.objects.bulk_update([high, low], ["score"])
    assert cached_material(dataset, axes).data_hash != changed


@pytest.mark.parametrize(
    ("model", "field", "value"),
    [(Setup, "made_with", {"revision": "abc"}), (MetricRun, "model_files", {"a.bin": "01"})],
)
def test_a_version_changes_with_what_methods_say(dataset, model, field, value):
    before = version_of(dataset)
    model.objects.filter(dataset=dataset).update(**{field: value})

    assert version_of(dataset) != before


def test_aggregates_by_one_function_over_two_pools_name_theirs(dataset):
    axes = axes_in(dataset)
    rerank(dataset, axes, NAMES, "max-attribution")
    titles = {row["prompt_title"] for row in report_of(dataset).records if row["is_aggregate"]}
    assert titles == {"Max attribution"}

    rerank(dataset, axes, NAMES[:2], "max-attribution")
    rerank(dataset, axes, NAMES, "weighted", [0.5, 0.5])
    rerank(dataset, axes, NAMES, "weighted", [1, 0])
    aggregates = [row for row in report_of(dataset).records if row["is_aggregate"]]

    in_order = sorted(row["prompt_title"].partition(" #")[0] for row in aggregates)
    assert in_order == [
        "0.5 · sensibleness + 0.5 · attribution",
        "1 · sensibleness + 0 · attribution",
        "Max attribution of 2",
        "Max attribution of 3",
    ]
    assert len({row["function"] for row in aggregates}) == 3  # a box each


def test_what_is_kept_is_made_anew_when_responses_come(dataset, own_cache):
    made = []

    def make():
        made.append(1)
        return len(made)

    axes = axes_in(dataset)

    assert [cached_on_axes(dataset, "it", make, axes=axes) for _ in range(2)] == [1, 1]
    assert cached_on_axes(dataset, "another", make, axes=axes) == 2
    version = version_of(dataset)
    Response.objects.filter(dataset=dataset).latest("pk").delete()
    assert version_of(dataset) != version
    assert cached_on_axes(dataset, "it", make, axes=axes) == 3


def test_bands_are_over_setups_with_history_and_golden_evidence():
    # The small model's F1: 0.5 of (0.5, 0.5), and 2 · 0.6 · 0.9 / 1.5 = 0.72; their mean is 0.61.
    rows = [
        row(0.5, 0.5),
        row(0.6, 0.9, prompt="one-shot"),
        row(0.9, 0.9, prompt="random"),
        row(None, 0.9, prompt="retrieved-2"),
        row(0.5, 0.25, temperature=0.7),  # 2 · 0.5 · 0.25 / 0.75 = 1/3
        aggregate(1.0, 1.0),
    ]

    warm, cool = bands(rows)

    assert (warm.temperature, warm.n) == (0.7, 1)
    assert warm.f1_mean == pytest.approx(1 / 3)
    assert (cool.model, cool.temperature, cool.n) == ("PaLM 8B", 0.0, 2)
    assert cool.f1_mean == pytest.approx(0.61)
    assert (cool.f1_least, cool.f1_most) == pytest.approx((0.5, 0.72))
