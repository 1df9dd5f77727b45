"""The report on re-ranking, against hand calculations over the pool of `reranked.py`.

Labels (a yes above 0.5) of e1, e2, e3 and e4 by the axes that choose:

    golden               attributable 1 0 1 ?   sensible 0 1 1 1
    golden-instructions  attributable 1 1 0 ?   sensible 1 0 1 1
    retrieved-2          attributable 0 1 1 0   sensible 1 1 0 ?

and by the second metric: golden 1 1 1 1, golden-instructions 0 1 0 1, retrieved-2 1 0 1 0.
"""

import math

import pytest

from evaluation.models import AutoScore
from evaluation.reports.formats import write_report
from evaluation.tradeoffs.choices import chosen_responses
from evaluation.tradeoffs.material import material_of
from evaluation.tradeoffs.pools import all_pools
from evaluation.tradeoffs.reports.reranking import (
    AGGREGATE,
    CHOOSING,
    MEAN,
    SECOND,
    SINGLE,
    reranking_report,
)
from evaluation.tradeoffs.services.reranking import rerank
from generation.services.aggregates import current_aggregate
from tests.evaluation.tradeoffs.reranked import NAMES, axes_in, dataset_of

pytestmark = pytest.mark.once


@pytest.fixture
def dataset(tmp_path):
    return dataset_of(tmp_path / "own")


@pytest.fixture
def report(dataset):
    rerank(dataset, axes_in(dataset), NAMES, "max-attribution")
    rerank(dataset, axes_in(dataset), NAMES, "sensible-first")
    return report_on(dataset)


def report_on(dataset):
    pools = all_pools(dataset.setups.all())
    return reranking_report(dataset, axes_in(dataset), pools, axes_in(dataset, "second"))


def set_score(axes, response, score):
    scores = AutoScore.objects.filter(run=axes.attribution.run, target__response__key=response)
    scores.update(score=score)


def row_of(report, judge, **wanted):
    [row] = [
        row
        for row in report.records
        if row["judge"] == judge and all(row.get(key) == value for key, value in wanted.items())
    ]
    return row


def figures(row, *names):
    return [row[name] for name in names]


def test_the_pool_its_random_choice_and_its_aggregates_are_judged_by_both_axes(report):
    kinds = [(row["judge"], row["kind"]) for row in report.records]

    each = [*[SINGLE] * 3, MEAN, AGGREGATE, AGGREGATE]
    assert kinds == [(judge, kind) for judge in (CHOOSING, SECOND) for kind in each]


def test_by_the_axes_that_choose(report):
    golden = row_of(report, CHOOSING, setup=NAMES[0])
    at_random = row_of(report, CHOOSING, kind=MEAN)
    by_attribution = row_of(report, CHOOSING, function="max-attribution")
    sensible_first = row_of(report, CHOOSING, function="sensible-first")

    # Each setup alone: 2 of 3 and 2 of 3, so all F1s are 2/3, and the first of them is the best.
    assert golden["is_best"]
    assert figures(golden, "n", "attribution", "sensibleness", "f1") == pytest.approx(
        [3, 2 / 3, 2 / 3, 2 / 3]
    )
    # At random: e1 (1 + 1 + 0)/3 and (0 + 1 + 1)/3, e2 and e3 alike.
    assert figures(at_random, "n", "attribution", "sensibleness", "f1") == pytest.approx(
        [3, 2 / 3, 2 / 3, 2 / 3]
    )
    # Chosen (1, 1), (1, 0), (1, 0), and e4 (0, ?), which does not count: 2 · 1 · ⅓ / (4/3).
    assert figures(by_attribution, "n", "attribution", "sensibleness", "f1") == pytest.approx(
        [3, 1, 1 / 3, 1 / 2]
    )
    assert figures(by_attribution, "n_unknown", "n_not_chosen") == [1, 0]
    assert by_attribution["gain_f1_best"] == pytest.approx(1 / 2 - 2 / 3)
    assert by_attribution["gain_attribution_best"] == pytest.approx(1 - 2 / 3)
    assert by_attribution["gain_sensibleness_mean"] == pytest.approx(1 / 3 - 2 / 3)
    # Chosen (1, 1) three times, and nothing for e4.
    assert figures(sensible_first, "n", "attribution", "sensibleness", "f1") == [3, 1, 1, 1]
    assert figures(sensible_first, "n_unknown", "n_not_chosen") == [0, 1]
    assert sensible_first["calls_per_example"] == 3
    assert sensible_first["gain_f1_best"] == pytest.approx(1 / 3)
    assert sensible_first["n_pairs_best"] == 3


def test_by_a_second_metric_the_gain_is_another(report):
    golden = row_of(report, SECOND, setup=NAMES[0])
    sensible_first = row_of(report, SECOND, function="sensible-first")

    # All four examples: 4 of 4 and 3 of 4, F1 2 · ¾ / (7/4).
    assert golden["is_best"]
    assert figures(golden, "n", "attribution", "sensibleness", "f1") == pytest.approx(
        [4, 1, 3 / 4, 6 / 7]
    )
    # Chosen 0, 0, 1 and 1, 1, 1: F1 2 · ⅓ / (4/3).
    assert figures(sensible_first, "attribution", "sensibleness", "f1") == pytest.approx(
        [1 / 3, 1, 1 / 2]
    )
    # In pairs over e1 to e3, golden has 3 of 3 and 2 of 3: F1 4/5.
    assert sensible_first["n_pairs_best"] == 3
    assert sensible_first["gain_f1_best"] == pytest.approx(1 / 2 - 4 / 5)
    assert sensible_first["gain_attribution_best"] == pytest.approx(1 / 3 - 1)
    assert sensible_first["gain_sensibleness_best"] == pytest.approx(1 - 2 / 3)


def test_a_row_says_what_chose_and_whether_that_judges_it(report):
    flags = ("n_ties", "is_flattered_x", "is_flattered_y", "is_flattered")

    # The highest attribution of e1 is a tie, which sensibleness decides.
    for function, judge, wanted in [
        ("max-attribution", CHOOSING, [1, True, True, True]),
        ("max-attribution", SECOND, [1, False, True, True]),
        ("sensible-first", CHOOSING, [0, True, True, True]),
        ("sensible-first", SECOND, [0, False, True, True]),
    ]:
        row = row_of(report, judge, function=function)
        assert figures(row, *flags) == wanted
        assert row["chosen_by"].startswith("auto_ais")
    assert "is_flattered" not in row_of(report, CHOOSING, kind=MEAN)


def test_gains_are_paired_and_all_formats_write_them(report):
    gain = row_of(report, CHOOSING, function="sensible-first")

    assert gain["gain_f1_best"] == pytest.approx(1 / 3)
    assert gain["gain_f1_best_low"] is None  # three dialogs are too few
    assert "chosen by auto_ais" in report.signature
    assert "second" in report.signature
    assert not any(
        isinstance(value, float) and math.isnan(value)
        for row in report.records
        for value in row.values()
    )
    for format_key, said in [
        ("json", "Sensible first"),
        ("csv", "Sensible first"),
        ("latex", "T 0.0: 3 of the 7 usual types"),
        ("table", "Sensible"),
    ]:
        assert said in write_report(report, format_key)


def test_a_metric_that_decided_no_tie_did_not_choose(dataset):
    axes = axes_in(dataset)
    set_score(axes, "golden-1", 0.85)  # below the 0.9 of golden-instructions-1
    rerank(dataset, axes, NAMES, "max-attribution")

    row = row_of(report_on(dataset), SECOND, function="max-attribution")

    assert figures(row, "n_ties", "is_flattered") == [0, False]
    assert row["chosen_by"] == axes.attribution.said
    assert row["chosen_by_title"] == "auto_ais"


def test_a_row_says_whether_it_is_what_the_scores_choose_now(dataset):
    def stand():
        rows = [row for row in report_on(dataset).records if row["kind"] == AGGREGATE]
        return [
            figures(row, "setup", "n_changed", "n_missing", "is_current")
            for row in rows
            if row["judge"] == CHOOSING
        ]

    axes = axes_in(dataset)
    first = rerank(dataset, axes, NAMES, "max-attribution")
    assert stand() == [[first.name, 0, 0, True]]
    first.responses.filter(example__key="e3").delete()
    assert stand() == [[first.name, 0, 1, False]]

    # e2 would be of golden, so that the stored one is older than its scores.
    set_score(axes, "golden-2", 0.99)
    second = rerank(dataset, axes, NAMES, "max-attribution")
    assert sorted(stand()) == sorted([[first.name, 1, 1, False], [second.name, 0, 0, True]])

    # And back: the first one is what is chosen, though the second is the newer one.
    set_score(axes, "golden-2", 0.2)
    assert rerank(dataset, axes, NAMES, "max-attribution") == first
    assert sorted(stand()) == sorted([[first.name, 0, 0, True], [second.name, 1, 0, False]])
    now = chosen_responses(material_of(dataset, axes), NAMES, "max-attribution").responses
    assert current_aggregate([second, first], now) == first
