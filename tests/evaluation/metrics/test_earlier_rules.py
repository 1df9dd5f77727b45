"""Runs whose scores were made by an earlier rule of their metric: marked, and left alone."""

import pytest
from django.urls import reverse

from evaluation.metrics.registry import is_of_earlier_rule
from evaluation.models import MetricRun
from evaluation.tradeoffs.axes import axes_of, usual
from tests.evaluation.makers_of_scores import make_run, make_score
from tests.evaluation.metric_runs import done, mill, requested, work
from tests.shown import shown

pytestmark = pytest.mark.once


def made_earlier(run: MetricRun) -> MetricRun:
    """Let a run be of the version before today's."""
    run.signature = run.signature.replace("|v:3", "|v:2")
    run.save(update_fields=["signature"])
    return run


def test_a_run_says_by_which_version_it_was_made(tmp_path):
    run = requested(mill(tmp_path))
    assert run.signature.endswith("|v:3")
    assert not is_of_earlier_rule(run)

    assert is_of_earlier_rule(made_earlier(run))

    assert not is_of_earlier_rule(MetricRun(metric="auto_ais", signature="x|v:1", is_imported=True))
    assert not is_of_earlier_rule(MetricRun(metric="rouge", signature="x|v:1"))
    assert not is_of_earlier_rule(MetricRun(metric="auto_ais", signature="x"))


def test_it_is_not_gone_on_with_and_the_same_choices_make_a_new_run(tmp_path):
    dataset = mill(tmp_path)
    earlier = work(made_earlier(requested(dataset)))

    assert (earlier.state, earlier.scores.count()) == ("failed", 0)
    assert earlier.error.startswith("The rule of this metric has changed")
    again = done(dataset)
    assert again.pk != earlier.pk
    assert again.scores.count() == 12


def test_its_page_says_so(client_for, rosa, tmp_path):
    run = done(mill(tmp_path))
    page = reverse("evaluation:run", args=[run.pk])
    assert "earlier rule" not in shown(client_for(rosa).get(page)).text

    made_earlier(run)

    assert "earlier rule" in shown(client_for(rosa).get(page)).text


def test_an_axis_takes_it_after_all_others_and_says_so(tmp_path):
    dataset = mill(tmp_path)
    done(dataset, evidence="golden")
    make_score(make_run(dataset, metric="sensible", signature="sensible|told"), "r1", 1.0)
    made_earlier(MetricRun.objects.get(metric="auto_ais"))
    today = done(dataset, evidence="shown", flavor="v1")

    axes = axes_of(dataset)
    chosen = usual(axes)

    assert chosen
    assert chosen.attribution.run == today  # golden evidence comes first otherwise
    assert [axis.title for axis in axes if "earlier rule" in axis.title] == [
        "Auto-AIS, lexical, v3, localized K = 2, golden evidence, earlier rule"
    ]
