"""Takeaways over grids of known truth: the intervals hold the true effects."""

from collections import defaultdict
from itertools import pairwise

import numpy as np
import pytest

from evaluation.measures.reranking import MAX_ATTRIBUTION, SENSIBLE_FIRST
from evaluation.tradeoffs.recalls import Recalls
from evaluation.tradeoffs.reports.takeaways import takeaways_report
from generation.text.prompt_types import TWELVE, prompt_type
from tests.evaluation.tradeoffs.true_values import expected
from tests.tradeoff_grid import (
    ALONG,
    LARGE,
    MEDIUM,
    MODELS,
    SHARES,
    SMALL,
    TEMPERATURES,
    Truth,
    restricted_truth,
    truth_of,
)
from tests.tradeoff_material import pools_of, synthetic_material, with_aggregate

N = 100  # examples
SEEDS = range(1, 7)
RECALLS = Recalls(at_1=0.6, at_k=0.9, k=3)
KEYS = [kind.key for kind in TWELVE]


def truth(model, temperature, key):
    return truth_of(model, temperature, prompt_type(key))


def pairs_of_prompts(*pairs):
    """Return the truths of pairs of prompts, for each model and temperature."""
    return [
        (truth(model, temperature, first), truth(model, temperature, second))
        for model in MODELS
        for temperature in TEMPERATURES
        for first, second in pairs
    ]


def restricted(share, golden):
    return restricted_truth(3, share, 1 - share, golden=golden)


def top_k_pairs():
    """Return top 3 and top 1 at each dialog share below 1, mixed by hand.

    1 - s' = min(1, 3 (1 - s)): 0.9 → 0.7, 0.8 → 0.4, 0.7 → 0.1, then 0.
    """
    pairs = []
    for share in SHARES[1:]:
        far = restricted({0.9: 0.7, 0.8: 0.4, 0.7: 0.1}.get(share, 0.0), golden=True)
        near, other = restricted(share, golden=True), restricted(share, golden=False)
        top_k = Truth(*(0.9 * g + 0.1 * o for g, o in zip(far, other, strict=True)))
        top_1 = Truth(*(0.6 * g + 0.4 * o for g, o in zip(near, other, strict=True)))
        pairs.append((top_k, top_1))
    return pairs


def small_reranked():
    return Truth(*expected([truth(SMALL, 0.0, key) for key in ALONG], SENSIBLE_FIRST))


# Effect → the truths of its pairs, first and second.
PAIRS = {
    "history": pairs_of_prompts(
        ("golden", "no-history-golden"), ("no-evidence", "no-history-no-evidence")
    ),
    "golden evidence": pairs_of_prompts(
        ("golden", "no-evidence"),
        ("golden", "random"),
        ("golden", "next-best"),
        ("no-history-golden", "no-history-no-evidence"),
    ),
    "size": [
        (truth(large, temperature, key), truth(small, temperature, key))
        for large, small in ((MEDIUM, SMALL), (LARGE, MEDIUM))
        for temperature in TEMPERATURES
        for key in KEYS
    ],
    "temperature": [
        (truth(model, 0.0, key), truth(model, 0.7, key)) for model in MODELS for key in KEYS
    ],
    "instructions": pairs_of_prompts(
        *((f"{key}-instructions", key) for key in ("golden", "retrieved-2", "retrieved-3"))
    ),
    "restricted share": [
        (restricted(less, golden), restricted(more, golden))
        for more, less in pairwise(SHARES)
        for golden in (True, False)
    ],
    "top k": top_k_pairs(),
    "re-ranking": [(small_reranked(), truth(SMALL, 0.0, key)) for key in ALONG],
    "small re-ranked": [(small_reranked(), truth(LARGE, 0.0, key)) for key in ALONG],
}
SIDES = {"f1": "f1", "attribution": "attribution", "sensibleness": "sensibleness"}


def true_difference(effect, side):
    """Return the mean over pairs of first minus second."""
    return np.mean(
        [getattr(first, side) - getattr(second, side) for first, second in PAIRS[effect]]
    )


def reranked(seed):
    """Return a grid with what sensible first chooses among the seven setups of the small model."""
    material = synthetic_material(N, seed)
    [pool] = [pool for pool in pools_of(material) if pool[:2] == (SMALL, 0.0)]
    return with_aggregate(material, pool.setups, SENSIBLE_FIRST)


@pytest.fixture(scope="module")
def takeaways():
    """Return, for each of the grids, the row over all pairs of each effect."""
    reports = [takeaways_report(reranked(seed), recalls=RECALLS) for seed in SEEDS]
    return [{row["effect"]: row for row in report.records if not row["of"]} for report in reports]


def test_the_pairs_are_those_that_agree_in_everything_else(takeaways):
    for effect, pairs in PAIRS.items():
        assert takeaways[0][effect]["n_pairs"] == len(pairs), effect


def test_intervals_hold_the_true_effects(takeaways):
    held = defaultdict(list)
    for rows in takeaways:
        for effect in PAIRS:
            for side in SIDES:
                row, value = rows[effect], true_difference(effect, side)
                low, high = (row[f"{side}_difference_{end}"] for end in ("low", "high"))
                held[effect].append(low <= value <= high)

    every = [each for found in held.values() for each in found]
    assert len(every) == len(SEEDS) * len(PAIRS) * len(SIDES)
    assert np.mean(every) >= 0.9  # 95 % are expected
    for effect, found in held.items():
        assert np.mean(found) >= 0.75, effect


def test_large_effects_are_beyond_doubt_and_medium_ones_smaller(takeaways):
    rows = takeaways[0]

    # By the truth: history and evidence some 0.3 of F1, size and temperature less than 0.1.
    for effect in ("history", "golden evidence", "size", "temperature"):
        assert rows[effect]["f1_difference_low"] > 0, effect
        assert rows[effect]["share_favourable"] > 0.8, effect
    large = min(rows[effect]["f1_difference"] for effect in ("history", "golden evidence"))
    medium = max(rows[effect]["f1_difference"] for effect in ("size", "temperature"))
    assert large > 2 * medium


def test_instructions_and_restriction_trade_one_side_for_the_other(takeaways):
    """As in the truth, one side goes up and the other down in each grid."""
    for effect in ("instructions", "top k"):
        assert true_difference(effect, "attribution") > 0 > true_difference(effect, "sensibleness")
        for rows in takeaways:
            row = rows[effect]
            assert row["attribution_difference"] > 0 > row["sensibleness_difference"], effect


def test_a_small_model_re_ranked_is_flattered_by_the_metrics_that_chose(takeaways):
    for effect in ("re-ranking", "small re-ranked"):
        assert takeaways[0][effect]["is_flattered"]
    assert takeaways[0]["re-ranking"]["f1_difference_low"] > 0


def test_choosing_by_a_noisy_metric_raises_it_more_than_the_truth():
    """Winner's curse: the first metric is the truth here, the second is it with noise added."""
    for seed in range(1, 21):
        true, noisy = (
            synthetic_material(N, seed, attribution=metric) for metric in ("auto_ais", "ais_noisy")
        )
        [pool] = [pool for pool in pools_of(true) if pool[:2] == (SMALL, 0.7)]

        gains = {}
        for name, judge in (("noisy", noisy), ("true", true)):
            material = with_aggregate(judge, pool.setups, MAX_ATTRIBUTION, chosen_by=noisy)
            shares = material.labels[0].mean(axis=1)
            gains[name] = shares[-1] - shares[[material.place(name) for name in pool.setups]].mean()

        assert gains["noisy"] > gains["true"] + 0.05
        assert gains["true"] > 0  # it still knows something
