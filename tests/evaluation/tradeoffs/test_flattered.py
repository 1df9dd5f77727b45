"""The axes that show the metric by which responses were chosen. No database is used."""

import pytest

from evaluation.models import MetricRun
from evaluation.tradeoffs.axes import Axes, of_run
from evaluation.tradeoffs.dots import dot_of
from evaluation.tradeoffs.selection_bias import (
    by_same_metric,
    chosen_by,
    flattered,
    flatters,
    short_of,
)
from generation.models import Setup

MODEL = "PaLM 8B"


def axis(metric="auto_ais", **said):
    return of_run(MetricRun(metric=metric, **{"signature": "auto_ais|lexical|t:0.5|v:1"} | said))


CHOOSING = Axes(axis(), axis("sensible", signature="sensible|gemma|t>=:0.5|v:1"))


def aggregate(n_ties=0, **settings):
    said = {f"{name}": axis.said for name, axis in CHOOSING._asdict().items()}
    setup = Setup(name="a", model=MODEL, prompt="reranked", settings=said | settings)
    return dot_of(setup)._replace(n_ties=n_ties)


@pytest.mark.parametrize(
    "signature",
    [
        "auto_ais|lexical|t:0.5|v:1",
        "auto_ais|lexical|v1|localized:2|whole|golden|t:0.5|v:1",  # another flavor and window
        "auto_ais|lexical|v3|whole|mean|golden|t:0.5|v:1",  # sentence by sentence
        "auto_ais|lexical|t:0.7|v:1",  # another threshold
        "auto_ais|lexical|t>=:0.5|v:1",
        "auto_ais|lexical|bf16|t:0.5|v:1|bf16|revision:abc",  # another precision
        "auto_ais|lexical|shown|t:0.5|v:1",  # other evidence
        "auto_ais|lexical|sample:20@1|t:0.5|v:1",  # some of the same responses
        "auto_ais|lexical|t:0.5|v:3",
    ],
)
def test_the_metric_and_model_that_chose_flatter_whatever_else_is_said(signature):
    judging = Axes(axis(signature=signature), axis("other"))

    assert flatters([each.said for each in CHOOSING], judging) == (True, False)
    assert flattered(aggregate(function="sensible-first"), judging) == (True, False)
    assert by_same_metric([each.said for each in CHOOSING], judging) == (False, False)


def test_another_model_by_the_same_metric_is_said_and_another_metric_is_free():
    minilm = axis(signature="auto_ais|entailment-minilm|t:0.5|v:1")
    judging = Axes(minilm, axis("other", signature="other|lexical|t:0.5|v:1"))

    assert flatters([each.said for each in CHOOSING], judging) == (False, False)
    assert by_same_metric([each.said for each in CHOOSING], judging) == (True, False)


def test_a_checkpoint_is_the_same_by_its_name_or_its_revision():
    chose = "auto_ais: auto_ais|minilm|t:0.5|v:1|fp32|revision:abc"

    def judged_by(model, revision):
        judging = axis(signature=f"auto_ais|{model}|v1|bf16|t:0.7|v:1|bf16|revision:{revision}")
        return flatters([chose], Axes(judging, axis("other")))[0]

    assert judged_by("minilm", "def")
    assert judged_by("renamed", "abc")
    assert not judged_by("deberta", "def")


def test_where_nothing_says_the_model_it_counts_as_the_one_that_chose():
    unknown, lexical = axis(signature="", is_imported=True), axis()
    # Another tool's signature, in which the model comes first.
    foreign = axis(signature="T5-11B|t:0.4", is_imported=True)

    assert flatters([unknown.said], Axes(lexical, axis("other"))) == (True, False)
    assert flatters([lexical.said], Axes(unknown, axis("other"))) == (True, False)
    assert flatters([lexical.said], Axes(foreign, axis("other"))) == (False, False)
    assert flatters([foreign.said], Axes(foreign, axis("other"))) == (True, False)


def test_a_metric_that_chose_for_one_side_flatters_the_other_side_too():
    assert flatters([axis().said], Axes(axis("other"), axis())) == (False, True)


def test_a_run_made_here_is_the_same_once_it_is_imported():
    here = axis(backend_signature="fp32", revision="abc")
    signature = "auto_ais|lexical|t:0.5|v:1|fp32|revision:abc"
    there = axis(signature=signature, is_imported=True)

    assert flatters([here.said], Axes(there, axis("other"))) == (True, False)


@pytest.mark.parametrize(
    ("said", "is_same"),
    [
        ("raters of pilot: two, separate arm, attributable: median above 2", True),
        ("raters of pilot: two, merged arm, attributable: median above 2", True),
        ("raters of pilot: two, separate arm, attributable: ", True),
        ("raters of pilot: two, separate arm, relevant: median above 2", False),
        ("raters of pilot, separate arm, attributable: median above 2", False),
        ("auto_ais: auto_ais|lexical|t:0.5|v:1", False),
    ],
)
def test_raters_are_known_by_study_and_question(said, is_same):
    chose = "raters of pilot: two, separate arm, attributable: median above 3"
    judging = CHOOSING.attribution._replace(run=None, said=said)

    assert flatters([chose], Axes(judging, axis("other"))) == (is_same, False)
    assert by_same_metric([chose], Axes(judging, axis("other"))) == (False, False)


@pytest.mark.parametrize(
    ("study", "question", "is_same"),
    [
        ("P", "SSA", True),
        ("P", "sensible", True),
        ("P", "specific", True),
        ("P", "attributable", False),
        ("other", "sensible", False),
    ],
)
def test_ssa_of_raters_is_made_of_the_votes_on_both_its_questions(study, question, is_same):
    ssa, other = "raters of P, merged arm, SSA: m", f"raters of {study}, merged arm, {question}: m"

    for chose, judges in ((ssa, other), (other, ssa)):
        judging = Axes(axis("other"), CHOOSING.attribution._replace(run=None, said=judges))
        assert flatters([chose], judging) == (False, is_same)


def test_raters_are_called_by_study_arm_and_question():
    said = "raters of pilot: two, separate arm, attributable"

    assert short_of(f"{said}: yes is a: b") == said
    assert short_of(CHOOSING.attribution.said) == "auto_ais"


@pytest.mark.parametrize(
    ("settings", "n_ties", "wanted"),
    [
        ({"function": "max-attribution"}, 0, ["attribution"]),
        ({"function": "max-attribution"}, 1, ["attribution", "sensibleness"]),
        ({"function": "sensible-first"}, 0, ["attribution", "sensibleness"]),
        ({"function": "weighted", "weights": [1, 0]}, 0, ["sensibleness"]),
        ({"function": "weighted", "weights": [1, 0]}, 2, ["attribution", "sensibleness"]),
        ({"function": "weighted", "weights": [0, 1]}, 0, ["attribution"]),
    ],
)
def test_what_decided_between_equals_chose_as_well(settings, n_ties, wanted):
    dot = aggregate(n_ties, **settings)

    assert sorted(chosen_by(dot)) == wanted
    assert flattered(dot, CHOOSING) == tuple(name in wanted for name in Axes._fields)
