"""A grid of known truth through the reports: they find what was put in, and say how surely."""

import math
from collections import defaultdict

import numpy as np
import pytest

from evaluation.measures.reranking import MAX_ATTRIBUTION, SENSIBLE_FIRST
from evaluation.measures.tradeoff import WIDTH, attribution_from, f1_from, sensibleness_from
from evaluation.reports.estimates import USUAL_SEED
from evaluation.statistics.intervals import Statistic, bootstrap_intervals, share_from
from evaluation.tradeoffs.chart_view import View
from evaluation.tradeoffs.recall_lines import curves_of
from evaluation.tradeoffs.recalls import Recalls
from evaluation.tradeoffs.reports.restricted_context import courses, restricted_report
from evaluation.tradeoffs.reports.tradeoff import bands, tradeoff_report
from generation.text.prompt_types import TWELVE
from tests.evaluation.tradeoffs.true_values import cluster_truths, expected
from tests.tradeoff_grid import (
    BAND_OF,
    BANDS,
    LARGE,
    MODELS,
    RESTRICTED_BANDS,
    SMALL,
    TEMPERATURES,
    Truth,
    drawn,
    restricted_truth,
)
from tests.tradeoff_material import pools_of, synthetic_material, with_aggregate

N = 200  # examples
# Grids in which intervals are counted. 95 % of them should hold the truth; setups of a grid share
# their examples, so that misses come together in a few of them.
SEEDS = range(1, 13)
RESTRICTED_SEEDS = range(1, 7)
RECALLS = Recalls(at_1=0.6, at_k=0.9, k=3)


@pytest.fixture(scope="module")
def material():
    return synthetic_material(N)


@pytest.fixture(scope="module")
def report(material):
    return tradeoff_report(material, View())


@pytest.fixture(scope="module")
def rows(report):
    return report.records


def truths():
    """Return the truth of each setup by its name."""
    return {cell.name: cell.truth for cell in drawn(N).cells}


def holds(row, name, value):
    return row[f"{name}_low"] <= value <= row[f"{name}_high"]


# --- takeaways 1 and 2: clusters and bands --------------------------------------------------


def test_each_mark_lies_in_its_cluster(rows):
    plain = [row for row in rows if not row["is_restricted"]]
    assert len(plain) == len(TWELVE) * len(MODELS) * len(TEMPERATURES)

    for row in plain:
        middles = cluster_truths(row["model"], row["temperature"])
        point = row["attribution"], row["sensibleness"]
        nearest = min(middles, key=lambda place: math.dist(middles[place], point))
        assert nearest == row["cluster"], row["setup"]


def test_the_middle_of_each_cluster_is_where_it_was_put(material):
    figures, wanted = [], []
    for model, temperature in BAND_OF:
        for cluster, middle in cluster_truths(model, temperature).items():
            members = [
                material.statistics(place)
                for place, dot in enumerate(material.dots)
                if dot.cluster == cluster
                and (dot.setup.model, dot.setup.temperature) == (model, temperature)
            ]
            for measure, value in zip((attribution_from, sensibleness_from), middle, strict=True):

                def mean(sums, measure=measure):
                    return measure(sums.reshape(*sums.shape[:-1], -1, WIDTH)).mean(axis=-1)

                figures.append(Statistic(np.hstack(members), material.dialogs, mean))
                wanted.append(value)

    intervals = bootstrap_intervals(figures, material.n_dialogs, seed=USUAL_SEED)

    found = [low <= value <= high for (low, high), value in zip(intervals, wanted, strict=True)]
    assert len(found) == 6 * 4 * 2
    assert np.mean(found) >= 0.85  # 95 % are expected; those of one cluster correlate


def test_f1_bands_come_in_the_order_they_were_made_in(report):
    found = bands(report.rows)

    order = [BAND_OF[band.model, band.temperature or 0.0] for band in found]
    assert order == [0, 1, 1, 2, 2, 3]
    assert {band.n for band in found} == {7}
    for band, place in zip(found, order, strict=True):
        assert band.f1_mean == pytest.approx(BANDS[place], abs=0.04)


def test_intervals_hold_the_truth_as_often_as_they_say():
    found = defaultdict(list)
    wanted = truths()
    for seed in SEEDS:
        for row in tradeoff_report(synthetic_material(60, seed), View()).records:
            truth = wanted[row["setup"]]
            found["f1"].append(holds(row, "f1", truth.f1))
            found["attribution"].append(holds(row, "attribution", truth.attribution))
            found["sensibleness"].append(holds(row, "sensibleness", truth.sensibleness))

    assert len(found["f1"]) == len(SEEDS) * (72 + 22)
    for name, held in found.items():
        assert np.mean(held) >= 0.85, name


# --- takeaways 4 and 5: restricted context --------------------------------------------------


def curves_in(material):
    curves = curves_of(material, LARGE)
    assert curves
    return curves


@pytest.fixture(scope="module")
def restricted_rows():
    """Return the rows of the report on restricted context of all grids."""
    materials = [synthetic_material(N, seed) for seed in RESTRICTED_SEEDS]
    reports = [restricted_report(each, curves_in(each), RECALLS) for each in materials]
    return [row for report in reports for row in report.records]


def test_golden_evidence_in_restricted_context_moves_along_one_iso_f1_curve(
    material, restricted_rows
):
    f1 = RESTRICTED_BANDS[BAND_OF[LARGE, 0.0]]

    held = [holds(row, "golden_f1", f1) for row in restricted_rows]

    assert len(held) == len(RESTRICTED_SEEDS) * 11
    assert np.mean(held) >= 0.8
    course = courses(material, curves_in(material))["golden"]
    # By the truth attribution goes up by 0.9 - 0.34 and sensibleness down by 0.94 - 0.35.
    assert course.attribution_range == pytest.approx(0.56, abs=0.1)
    assert course.sensibleness_range == pytest.approx(0.59, abs=0.1)
    assert course.f1_range < 0.56 / 3


def test_lines_of_recall_hold_the_true_mix(restricted_rows):
    held = defaultdict(list)
    for row in restricted_rows:
        share = row["share"]
        # s' by hand: 1 - s' = min(1, 3 (1 - s)); 0.9 → 0.7, 0.8 → 0.4, 0.7 → 0.1, then 0.
        left = {1.0: 1.0, 0.9: 0.7, 0.8: 0.4, 0.7: 0.1}.get(share, 0.0)
        golden, other = (
            restricted_truth(3, share, 1 - share, golden=is_golden) for is_golden in (True, False)
        )
        far = restricted_truth(3, left, 1 - left, golden=True)
        top_1 = Truth(*(0.6 * g + 0.4 * o for g, o in zip(golden, other, strict=True)))
        top_k = Truth(*(0.9 * g + 0.1 * o for g, o in zip(far, other, strict=True)))
        for side in ("attribution", "sensibleness", "f1"):
            one, many = getattr(top_1, side), getattr(top_k, side)
            held["top_1"].append(holds(row, f"top_1_{side}", one))
            held["top_k"].append(holds(row, f"top_k_{side}", many))
            if (share, side) == (1.0, "f1"):  # one setup on both sides: 0 in every resample
                assert row["delta_f1_low"] is None
            else:
                held["delta"].append(holds(row, f"delta_{side}", many - one))

    for name, found in held.items():
        assert len(found) == len(RESTRICTED_SEEDS) * (32 if name == "delta" else 33)
        assert np.mean(found) >= 0.8, name
    # More passages: attribution up, sensibleness down (takeaway 5).
    of_share = [row for row in restricted_rows if row["share"] == 0.8]
    assert all(row["delta_attribution_low"] > 0 for row in of_share)
    assert all(row["delta_sensibleness"] < 0 for row in of_share)
    assert np.mean([row["delta_sensibleness_high"] < 0 for row in of_share]) > 0.5


# --- takeaway 6: re-ranking -----------------------------------------------------------------


def pools(material):
    """Return the names of each usual pool, by model and temperature."""
    found = {(pool.model, pool.temperature): pool.setups for pool in pools_of(material)}
    assert {len(names) for names in found.values()} == {7}
    return found


def test_re_ranking_gains_what_chances_say():
    wanted = truths()
    held = []
    for seed in range(1, 9):
        material = synthetic_material(N, seed)
        for names in (pools(material)[model, 0.0] for model in (SMALL, LARGE)):
            for function in (MAX_ATTRIBUTION, SENSIBLE_FIRST):
                rows = with_aggregate(material, names, function).statistics(-1)
                figures = [
                    Statistic(rows[:, [side, 2]], material.dialogs, share_from) for side in (0, 1)
                ]
                chances = expected([wanted[name] for name in names], function)
                intervals = bootstrap_intervals(figures, material.n_dialogs, seed=USUAL_SEED)
                for interval, value in zip(intervals, chances, strict=True):
                    held += [] if math.isnan(value) else [interval.low <= value <= interval.high]

    assert len(held) == 8 * 2 * 3
    assert np.mean(held) >= 0.88  # 95 % are expected


def test_both_functions_gain_over_each_setup_of_their_pool(material):
    for names in pools(material).values():
        singles = [f1_from(material.statistics(material.place(name)).sum(axis=0)) for name in names]
        by_attribution, sensible_first = (
            f1_from(with_aggregate(material, names, function).statistics(-1).sum(axis=0))
            for function in (MAX_ATTRIBUTION, SENSIBLE_FIRST)
        )
        assert sensible_first > by_attribution > max(singles)


def test_a_small_model_re_ranked_compares_with_a_large_one_alone(material):
    """By chances alone: sensible first over 7 setups of the small model, against 0.90."""
    wanted = truths()

    truth = Truth(*expected([wanted[name] for name in pools(material)[SMALL, 0.0]], SENSIBLE_FIRST))

    assert truth.f1 == pytest.approx(BANDS[3], abs=0.05)
    assert truth.f1 > BANDS[3]
