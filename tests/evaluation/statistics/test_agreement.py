"""Agreement measures against published examples, other packages and hand calculations."""

import math
from typing import cast

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss_kappa

from evaluation.statistics.agreement import (
    Level,
    fleiss_kappa,
    fleiss_kappa_from,
    fleiss_kappa_statistics,
    has_no_variation,
    items_with_most_frequent_votes,
    krippendorff_alpha_from,
    krippendorff_alpha_statistics,
    percent_agreement,
    percent_agreement_from,
    percent_agreement_statistics,
)

MISSING = 0


def krippendorff_alpha(counts, level):
    """Return alpha over all items, as reports make it of their sums."""
    return float(krippendorff_alpha_from(krippendorff_alpha_statistics(counts).sum(axis=0), level))


# Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011): his example of four
# observers, twelve units and five values, some missing. He prints alpha = .743 (nominal) and
# .815 (ordinal).
KRIPPENDORFF_2011 = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
        [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
    ]
)

# Fleiss' worked example as printed in the Wikipedia article "Fleiss' kappa": fourteen raters,
# ten subjects, five categories; kappa = 0.210.
FLEISS_EXAMPLE = np.array(
    [
        [0, 0, 0, 0, 14],
        [0, 2, 6, 4, 2],
        [0, 0, 3, 5, 6],
        [0, 3, 9, 2, 0],
        [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0],
        [3, 2, 6, 3, 0],
        [2, 5, 3, 2, 2],
        [6, 5, 2, 1, 0],
        [0, 2, 2, 3, 7],
    ]
)

NO_ITEMS = np.zeros((0, 2), dtype=int)

small_counts = arrays(
    np.int64,
    st.tuples(st.integers(0, 8), st.integers(1, 4)),
    elements=st.integers(0, 3),
)


def counted(ratings, n_categories):
    """Return the counts (n_items, n_categories) of ratings (n_raters, n_items), 0 = missing."""
    return np.stack([(ratings == value).sum(axis=0) for value in range(1, n_categories + 1)], 1)


def ratings_with_holes(seed, n_raters=5, n_items=40, n_categories=4, share_missing=0.3):
    random = np.random.default_rng(seed)
    truth = random.integers(1, n_categories + 1, n_items)
    noise = random.integers(1, n_categories + 1, (n_raters, n_items))
    ratings = np.where(random.random((n_raters, n_items)) < 0.6, truth, noise)
    return np.where(random.random((n_raters, n_items)) < share_missing, MISSING, ratings)


# Percent agreement


def test_percent_agreement_is_the_share_of_agreeing_pairs_of_votes():
    counts = [
        [2, 3],  # 5 votes: 1 + 3 of 10 pairs agree
        [0, 3],  # 3 of 3
        [1, 1],  # 0 of 1
        [0, 1],  # one vote, no pair
    ]

    assert percent_agreement(counts) == pytest.approx(7 / 14)


@given(small_counts)
def test_percent_agreement_counts_pairs_as_a_loop_over_votes_would(counts):
    agreeing = total = 0
    for item in counts:
        votes = np.repeat(np.arange(len(item)), item)
        for first in range(len(votes)):
            for second in range(first):
                agreeing += votes[first] == votes[second]
                total += 1

    expected = agreeing / total if total else math.nan

    assert percent_agreement(counts) == pytest.approx(expected, nan_ok=True)


# Fleiss' kappa


def test_fleiss_kappa_of_the_published_example():
    assert fleiss_kappa(FLEISS_EXAMPLE) == pytest.approx(0.210, abs=5e-4)


def test_fleiss_kappa_by_hand():
    counts = [[3, 0], [1, 2]]  # three raters
    # pairs: (3 + 1) of 6 agree; shares 4/6, 2/6, so chance = 16/36 + 4/36 = 5/9
    # kappa = (2/3 - 5/9) / (1 - 5/9) = (1/9) / (4/9)

    assert fleiss_kappa(counts) == pytest.approx(1 / 4)


@pytest.mark.parametrize("seed", range(20))
def test_fleiss_kappa_equals_statsmodels_on_the_items_with_most_frequent_votes(seed):
    counts = counted(ratings_with_holes(seed), n_categories=4)
    selected = items_with_most_frequent_votes(counts)

    assert 0 < selected.sum() < len(counts)
    assert fleiss_kappa(counts) == pytest.approx(
        statsmodels_fleiss_kappa(counts[selected]), abs=1e-12
    )


def test_most_frequent_votes_ignores_items_below_two_votes():
    counts = [[1, 0], [0, 1], [0, 1], [0, 0], [2, 1], [0, 3], [1, 1]]

    assert items_with_most_frequent_votes(counts).tolist() == [False] * 4 + [True, True, False]


def test_most_frequent_votes_takes_the_larger_number_on_a_tie():
    counts = [[1, 1], [0, 2], [5, 0], [2, 3]]

    assert items_with_most_frequent_votes(counts).tolist() == [False, False, True, True]


def test_most_frequent_votes_selects_nothing_where_nobody_voted_twice():
    assert items_with_most_frequent_votes([[1, 0], [0, 0]]).tolist() == [False, False]
    assert items_with_most_frequent_votes(NO_ITEMS).tolist() == []


# Krippendorff's alpha


@pytest.mark.parametrize(("level", "published"), [("nominal", 0.743), ("ordinal", 0.815)])
def test_alpha_of_the_published_example(level, published):
    counts = counted(KRIPPENDORFF_2011, n_categories=5)

    assert krippendorff_alpha(counts, level) == pytest.approx(published, abs=5e-4)


def test_nominal_alpha_by_hand():
    counts = [[3, 0], [1, 1], [0, 1]]  # the last has no pair and stays out
    # coincidences: 3 within 'no', 1 + 1 across; votes: 4 no, 1 yes, 5 in all
    # observed 2, expected 4 * 1 * 2 / (5 - 1) = 2, alpha = 1 - 2 / 2

    assert krippendorff_alpha(counts, "nominal") == pytest.approx(0.0)


def test_ordinal_alpha_by_hand():
    counts = [[2, 0, 0], [0, 2, 0], [0, 1, 1]]
    # votes 2, 3, 1; middles at 1, 3.5, 5.5; squared distances 6.25 (1-2), 20.25 (1-3), 4 (2-3)
    # observed 2 * 4 = 8; expected 2 * (2*3*6.25 + 2*1*20.25 + 3*1*4) / (6 - 1) = 180 / 5 = 36

    assert krippendorff_alpha(counts, "ordinal") == pytest.approx(1 - 8 / 36)


@pytest.mark.parametrize("level", ["nominal", "ordinal"])
@pytest.mark.parametrize("share_missing", [0.0, 0.3, 0.7])
@pytest.mark.parametrize("seed", range(10))
def test_alpha_equals_the_krippendorff_package(level, share_missing, seed):
    ratings = ratings_with_holes(seed, share_missing=share_missing)
    with_holes = np.where(ratings == MISSING, np.nan, ratings)

    expected = krippendorff.alpha(reliability_data=with_holes, level_of_measurement=level)

    counts = counted(ratings, n_categories=4)
    assert krippendorff_alpha(counts, level) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("level", ["nominal", "ordinal"])
@pytest.mark.parametrize("seed", range(5))
def test_alpha_equals_the_krippendorff_package_with_unused_categories(level, seed):
    counts = counted(2 * ratings_with_holes(seed, n_categories=3), n_categories=7)  # 2, 4, 6 of 7

    expected = krippendorff.alpha(
        value_counts=counts, value_domain=range(1, 8), level_of_measurement=level
    )

    assert krippendorff_alpha(counts, level) == pytest.approx(expected, abs=1e-9)


def test_alpha_refuses_a_level_it_does_not_know():
    with pytest.raises(KeyError, match="interval"):
        krippendorff_alpha([[1, 1], [2, 0]], cast(Level, "interval"))


@given(small_counts)
def test_ordinal_alpha_of_a_reversed_scale_is_the_same(counts):
    assert krippendorff_alpha(counts[:, ::-1], "ordinal") == pytest.approx(
        krippendorff_alpha(counts, "ordinal"), nan_ok=True
    )


@given(small_counts, st.randoms(use_true_random=False))
def test_nominal_measures_do_not_depend_on_the_order_of_categories(counts, random):
    order = list(range(counts.shape[1]))
    random.shuffle(order)

    for measure in NOMINAL_MEASURES:
        assert measure(counts[:, order]) == pytest.approx(measure(counts), nan_ok=True)


def test_ordinal_alpha_depends_on_the_order_of_categories():
    near = counted(np.array([[1, 2, 3], [2, 2, 3]]), n_categories=3)

    assert krippendorff_alpha(near, "ordinal") > krippendorff_alpha(near[:, [0, 2, 1]], "ordinal")


# All of them


def nominal_alpha(counts):
    return krippendorff_alpha(counts, "nominal")


def ordinal_alpha(counts):
    return krippendorff_alpha(counts, "ordinal")


NOMINAL_MEASURES = [percent_agreement, fleiss_kappa, nominal_alpha]
CHANCE_CORRECTED = [fleiss_kappa, nominal_alpha, ordinal_alpha]
MEASURES = [percent_agreement, *CHANCE_CORRECTED]
every_measure = pytest.mark.parametrize("measure", MEASURES)
every_chance_corrected = pytest.mark.parametrize("measure", CHANCE_CORRECTED)


@every_measure
@pytest.mark.parametrize(
    "counts",
    [
        pytest.param(NO_ITEMS, id="no items"),
        pytest.param([[0, 0], [0, 0]], id="no votes"),
        pytest.param([[1, 0], [0, 1], [1, 0]], id="one vote each"),
    ],
)
def test_agreement_without_a_pair_of_votes_is_undefined(measure, counts):
    assert math.isnan(measure(counts))
    assert not has_no_variation(counts)


def test_no_variation_is_full_agreement_by_percent():
    assert percent_agreement([[0, 5], [0, 3]]) == 1.0


@every_chance_corrected
@pytest.mark.parametrize("counts", [[[0, 5], [0, 5]], [[0, 5]], [[2, 0, 0], [1, 0, 0]]])
def test_no_variation_leaves_chance_corrected_agreement_undefined(measure, counts):
    assert math.isnan(measure(counts))
    assert has_no_variation(counts)


@every_chance_corrected
def test_a_second_category_in_a_single_vote_is_still_no_variation(measure):
    counts = [[0, 5], [0, 5], [1, 0]]

    assert math.isnan(measure(counts))
    assert has_no_variation(counts)


def test_two_categories_are_variation():
    assert not has_no_variation([[0, 5], [5, 0]])


@every_measure
def test_full_agreement_with_variation_is_one(measure):
    assert measure([[5, 0], [0, 5], [0, 5]]) == pytest.approx(1.0)


def test_one_item_with_disagreement_is_at_most_chance():
    counts = [[2, 3]]  # 4 of 10 pairs agree; shares 0.4, 0.6, chance 0.52

    assert percent_agreement(counts) == pytest.approx(0.4)
    assert fleiss_kappa(counts) == pytest.approx((0.4 - 0.52) / 0.48)
    assert krippendorff_alpha(counts, "nominal") == pytest.approx(0.0)  # observed = expected


@every_measure
@given(counts=small_counts, random=st.randoms(use_true_random=False))
def test_agreement_does_not_depend_on_the_order_of_items(measure, counts, random):
    order = list(range(len(counts)))
    random.shuffle(order)

    assert measure(counts[order]) == pytest.approx(measure(counts), nan_ok=True)


@every_measure
@given(seed=st.integers(0, 1000))
def test_agreement_does_not_depend_on_who_gave_which_vote(measure, seed):
    ratings = ratings_with_holes(seed, n_items=6)
    shuffled = np.random.default_rng(seed).permuted(ratings, axis=0)  # each item by itself

    assert measure(counted(shuffled, 4)) == pytest.approx(measure(counted(ratings, 4)), nan_ok=True)


@every_measure
@given(counts=small_counts)
def test_agreement_is_at_most_one(measure, counts):
    agreement = measure(counts)

    assert math.isnan(agreement) or agreement <= 1 + 1e-12


@every_measure
def test_an_unused_category_changes_nothing(measure):
    counts = FLEISS_EXAMPLE

    assert measure(np.insert(counts, 2, 0, axis=1)) == pytest.approx(measure(counts))


@every_measure
@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.uint64, float])
def test_small_integers_do_not_overflow(measure, kind):
    counts = np.array([[100, 20], [3, 117]])

    assert measure(counts.astype(kind)) == pytest.approx(measure(counts))


@every_measure
@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([[1, -1]], "count -1"),
        ([[0.5, 1]], r"count 0\.5"),
        ([1, 2], r"shape \(2,\)"),
    ],
)
def test_what_is_no_count_is_refused(measure, counts, message):
    with pytest.raises(ValueError, match=message):
        measure(counts)


@pytest.mark.parametrize(
    ("statistics_of", "measure_from", "measure"),
    [
        (percent_agreement_statistics, percent_agreement_from, percent_agreement),
        (fleiss_kappa_statistics, fleiss_kappa_from, fleiss_kappa),
        (
            krippendorff_alpha_statistics,
            lambda sums: krippendorff_alpha_from(sums, "nominal"),
            nominal_alpha,
        ),
        (
            krippendorff_alpha_statistics,
            lambda sums: krippendorff_alpha_from(sums, "ordinal"),
            ordinal_alpha,
        ),
    ],
)
def test_weighted_sums_of_statistics_give_the_measure_of_repeated_items(
    statistics_of, measure_from, measure
):
    counts = FLEISS_EXAMPLE
    times_drawn = np.random.default_rng(5).multinomial(10, [0.1] * 10, size=(2, 3))

    at_once = measure_from(times_drawn @ statistics_of(counts))

    one_by_one = [
        [measure(np.repeat(counts, times, axis=0)) for times in row] for row in times_drawn
    ]
    np.testing.assert_allclose(at_once, one_by_one)
