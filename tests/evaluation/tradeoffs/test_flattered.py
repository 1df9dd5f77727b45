"""Which axes show what chose. Without a database."""

import pytest

from evaluation.models import MetricRun
from evaluation.tradeoffs.axes import Axes, of_run
from evaluation.tradeoffs.dots import dot_of
from evaluation.tradeoffs.flattered import chosen_by, flattered, flatters
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
    ("signature", "is_same"),
    [
        ("auto_ais|lexical|t:0.5|v:1", True),
        ("auto_ais|lexical|t:0.7|v:1", True),  # another threshold
        ("auto_ais|lexical|t>=:0.5|v:1", True),
        ("auto_ais|lexical|sample:20@1|t:0.5|v:1", True),  # some of the same scores
        ("auto_ais|lexical|golden|t:0.5|v:1", False),  # other evidence
        ("auto_ais|lexical|t:0.5|v:2", False),
    ],
)
def test_the_same_scores_cut_otherwise_are_no_other_judge(signature, is_same):
    judging = Axes(axis(signature=signature), axis("other"))

    assert flatters([each.said for each in CHOOSING], judging) == (is_same, False)
    assert flattered(aggregate(function="sensible-first"), judging) == (is_same, False)


def test_a_run_made_here_is_the_same_once_it_is_imported():
    here = axis(backend_signature="fp32", revision="abc")
    signature = "auto_ais|lexical|t:0.5|v:1|fp32|revision:abc"
    there = axis(signature=signature, is_imported=True)

    assert flatters([here.said], Axes(there, axis("other"))) == (True, False)


def test_raters_are_known_by_study_arm_and_question():
    said = "raters of pilot: two, separate arm, attributable: "
    raters = CHOOSING.attribution._replace(run=None, said=f"{said}median above 2")
    other = raters._replace(said="raters of pilot: two, explained arm, attributable: majority")

    assert raters.source == said.removesuffix(": ")
    assert flatters([f"{said}median above 3"], Axes(raters, other)) == (True, False)


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
