"""The model of raters by Dawid and Skene, against their table, crowd-kit, and by hand."""

import math

import numpy as np
import pytest

from evaluation.statistics import dawid_skene as module
from evaluation.statistics.dawid_skene import NoModel, dawid_skene, yes_no_model
from evaluation.statistics.rater_votes import RaterVotes

# Dawid and Skene (1979), table 1: anaesthetists judge the fitness of 45 patients from 1 to 4. For
# each patient, the first judged three times, and four others once.
PATIENTS = (
    "1111111 3334334 1122122 2223121 2223222 2223322 1222111 3333433 2222223 2322223 "
    "4444444 2223343 1111111 2223212 1211111 1112111 1111111 1111111 2222221 2221322 "
    "2222222 2222221 2223222 2212222 1111111 1111111 2322222 1111111 1111111 1121121 "
    "1111111 3333233 1111111 2222222 2223232 4334343 2212232 2323233 3333432 1111111 "
    "1111111 1212111 2322222 1211111 2222222"
)
OBSERVERS = [0, 0, 0, 1, 2, 3, 4]
# crowd-kit 1.4.2, DawidSkene(n_iter=1000, tol=1e-9) of the same votes. It keeps every probability
# above 1e-10, and starts and stops otherwise.
CROWD_KIT = [0.39973164, 0.4223822, 0.11121949, 0.06666667]
CROWD_KIT_RIGHT = [0.8894, 0.8338, 1, 0.9441, 0.9996]  # answers of 1 where 1 is true, by observer


def published():
    answers = np.array([[int(answer) - 1 for answer in patient] for patient in PATIENTS.split()])
    items, columns = np.indices(answers.shape)
    return dawid_skene(np.array(OBSERVERS)[columns].ravel(), items.ravel(), answers.ravel(), 4)


def test_the_published_table():
    found = published()

    assert found.is_found
    # The paper prints .40, .42, .11 and .07 (table 2).
    assert found.prevalences == pytest.approx([0.40, 0.42, 0.11, 0.07], abs=0.005)
    # Another program for the same estimate has four digits.
    assert found.prevalences == pytest.approx([0.3996, 0.4220, 0.1118, 0.0667], abs=1e-3)
    # Only patients 35 and 38 are uncertain.
    assert (np.flatnonzero(found.classes.max(axis=1) < 0.98) + 1).tolist() == [35, 38]
    assert found.classes[34, 1:3] == pytest.approx([0.948, 0.052], abs=5e-3)
    assert found.classes[37, 1:3] == pytest.approx([0.021, 0.979], abs=5e-3)
    assert found.prevalences == pytest.approx(CROWD_KIT, abs=1e-3)
    assert found.errors[:, 0, 0] == pytest.approx(CROWD_KIT_RIGHT, abs=1e-3)
    assert found.errors.sum(axis=2) == pytest.approx(np.ones((5, 4)))


def model(table, counted=None):
    """Return the model of a table of labels, (n_items, n_raters), with -1 for no vote."""
    table = np.asarray(table)
    items, raters = np.nonzero(table != -1)
    votes = RaterVotes(raters, items, table[items, raters], "yes_no", (0, 1))
    return yes_no_model(votes, np.ones(table.shape[1], bool) if counted is None else counted)


def known_table():
    """Return labels of 15 items with a yes and 10 with a no; the third rater errs on 3 and 0."""
    table = np.repeat([[1, 1, 1], [0, 0, 0]], [15, 10], axis=0)
    table[:3, 2] = 0
    return table


def test_figures_by_hand():
    found = model(known_table())

    # The first two never differ, so the model takes what they say as certain.
    assert found.sensitivity == pytest.approx([16 / 17, 16 / 17, 13 / 17])
    assert found.specificity == pytest.approx([11 / 12] * 3)
    assert (found.n_items, found.n_majorities, found.n_against_majority) == (25, 25, 0)
    assert found.why is None


def test_a_rater_who_is_excluded_has_figures_and_no_part_in_the_model():
    table = np.column_stack([known_table(), 1 - known_table()[:, 0]])  # the fourth is always wrong

    found = model(table, np.array([True, True, True, False]))

    assert found.sensitivity == pytest.approx([16 / 17, 16 / 17, 13 / 17, 1 / 17])
    assert found.specificity == pytest.approx([11 / 12] * 3 + [1 / 12])


def test_planted_rates_are_found_and_good_raters_outweigh_a_majority():
    random = np.random.default_rng(2)
    truth = random.random(3000) < 0.4
    sensitivity, specificity = [0.95, 0.9, 0.6, 0.65, 0.6], [0.9, 0.97, 0.7, 0.6, 0.65]
    chance = np.where(truth[:, np.newaxis], sensitivity, 1 - np.array(specificity))
    table = (random.random(chance.shape) < chance).astype(int)

    found = model(table)

    assert found.sensitivity == pytest.approx(sensitivity, abs=0.04)
    assert found.specificity == pytest.approx(specificity, abs=0.04)
    items, raters = np.indices(table.shape)
    labels = dawid_skene(raters.ravel(), items.ravel(), table.ravel(), 2).classes[:, 1] > 0.5
    majority = table.sum(axis=1) > 2
    assert found.n_against_majority == np.count_nonzero(labels != majority)
    assert np.mean(labels == truth) > np.mean(majority == truth) + 0.03


def test_a_tied_item_has_no_majority_and_an_item_with_one_vote_no_part():
    table = np.vstack([known_table(), [[1, 0, -1], [1, -1, -1]]])

    found = model(table)

    assert (found.n_items, found.n_majorities) == (26, 25)
    assert found.n_of_rater.tolist() == [26, 26, 25]


def test_a_figure_needs_five_items_of_its_class():
    table = np.repeat([[1, 1, 1], [0, 0, 0]], [16, 4], axis=0)

    found = model(table)

    assert found.sensitivity == pytest.approx([17 / 18] * 3)
    assert np.isnan(found.specificity).all()


def test_a_rater_with_few_items_has_no_figures():
    table = np.column_stack([known_table(), known_table()[:, 0]])
    table[19:, 3] = -1

    found = model(table)

    assert found.n_of_rater[3] == 19
    assert math.isnan(found.sensitivity[3])
    assert not np.isnan(found.sensitivity[:3]).any()


@pytest.mark.parametrize(
    ("table", "steps", "why"),
    [
        (known_table()[:19], 1000, NoModel.FEW_ITEMS),
        (np.full((25, 3), -1), 1000, NoModel.FEW_ITEMS),
        (known_table()[:, :2], 1000, NoModel.FEW_RATERS),
        (known_table(), 1, NoModel.NOT_FOUND),
    ],
    ids=["19 items", "no vote", "two raters", "one step"],
)
def test_without_a_model_the_reason_is_said(table, steps, why, monkeypatch):
    monkeypatch.setattr(module, "MOST_STEPS", steps)

    found = model(table)

    assert found.why is why
    assert np.isnan(found.sensitivity).all()
    assert (found.n_majorities, found.n_against_majority) == (0, 0)
