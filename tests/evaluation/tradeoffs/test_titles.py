"""The titles of setups among those of their model and temperature. No database is used."""

import pytest

from evaluation.reports.numbers import temperature
from evaluation.runs.seeded_setups import SeededRuns
from evaluation.tradeoffs.pools import pool_of
from evaluation.tradeoffs.recall_lines import RestrictedPair
from evaluation.tradeoffs.titles import setup_title
from tests.evaluation.tradeoffs.by_hand import dot

MEMBERS = [dot("golden").setup, dot("one-shot").setup]
NAMES = [setup.name for setup in MEMBERS]
KEY = pool_of(MEMBERS).key


def aggregate(pool, **settings):
    return dot("reranked", pool=pool, **settings)


@pytest.mark.parametrize(
    ("settings", "title"),
    [
        ({"function": "max-attribution"}, "Max attribution of 2"),
        ({"function": "sensible-first"}, "Sensible first of 2"),
        (
            {"function": "weighted", "weights": [1, 0.25]},
            "1 · sensibleness + 0.25 · attribution of 2",
        ),
        (
            {"function": "sensible-first", "recipe": {"k1": 2, "k2": 1}},
            "Recipe, sensible first of 2",
        ),
        ({"function": "theirs"}, "theirs of 2"),
        ({}, "Re-ranked of 2"),
    ],
)
def test_an_aggregate_says_function_weights_and_pool(settings, title):
    assert setup_title(aggregate(NAMES, **settings)) == f"{title} #{KEY}"


def test_other_weights_and_other_pools_have_other_titles():
    weighted = {"function": "weighted"}
    aggregates = [
        aggregate(pool, **weighted, weights=weights)
        for pool in (NAMES, ["a", "b"])
        for weights in ([1, 1], [1, 2])
    ]

    assert len({setup_title(each) for each in aggregates}) == 4
    in_another_order = aggregate(NAMES[::-1], **weighted, weights=[1, 1])
    assert setup_title(in_another_order) == setup_title(aggregates[0])


def test_others_are_called_by_their_prompt_or_else_by_their_name():
    nameless = dot("")

    assert setup_title(dot("golden")) == "Golden"
    assert setup_title(dot("theirs")) == "theirs"
    assert setup_title(dot("restricted-golden-0.8")) == "Restricted, golden, dialog 80 %"
    # Of a database from before the rule: no word about the evidence's share.
    assert setup_title(dot("restricted-golden-0.8", evidence_share="")) == (
        "Restricted, golden, dialog 80 % (earlier rule: evidence for the share asked)"
    )
    assert setup_title(nameless) == nameless.setup.name


@pytest.mark.parametrize(
    ("figure", "written"),
    [(0.0, "0.0"), (0.7, "0.7"), (0.25, "0.25"), (1.0, "1.0"), (None, "—")],
)
def test_a_temperature_has_the_digits_that_it_has(figure, written):
    assert temperature(figure) == written


@pytest.mark.parametrize(
    ("asked", "prompt", "label"),
    [
        (0.0, "retrieved-3", "[0.0, L, Retrieved 3]"),
        (0.7, "no-evidence", "[0.7, L, No evidence]"),
        (None, "odd", "[—, L, odd]"),
    ],
)
def test_a_label_of_a_figure_names_the_prompt_type(asked, prompt, label):
    made = dot(prompt, model="L")
    made.setup.temperature = asked

    assert made.label == label


def test_every_title_of_a_figure_writes_a_temperature_as_its_labels_do():
    setups = [dot("golden", model="L").setup, dot("one-shot", model="L").setup]

    assert pool_of(setups).title.startswith("L, T 0.0: ")
    assert RestrictedPair("L", 0.0, "random").label == "L, T 0.0, random non-evidence"
    runs = SeededRuns("a1", "f1", "L", "", 0.0, "golden", "", {}, tuple(setups))
    assert runs.columns.label == "L (0.0)"
