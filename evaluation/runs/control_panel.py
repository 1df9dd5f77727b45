"""The panel about controls on the page of a run. This module only reads."""

from typing import NamedTuple

from evaluation.measures.control_texts import FORMS_IN_WORDS
from evaluation.measures.fitness import Fitness, ShareOfYes
from evaluation.metrics.base import Control
from evaluation.metrics.registry import METRICS, is_of_earlier_rule
from evaluation.models import ControlScore, MetricRun, RunChunk
from evaluation.runs.control_figures import (
    NOTHING,
    TOP,
    FloorThreshold,
    Labels,
    control_labels,
    fitness_of,
    floor_threshold,
    shares_by_form,
)
from evaluation.runs.controls import failed_controls, incomplete_targets

MOST_SHOWN = 5  # controls that a metric gets wrong


class ControlLine(NamedTuple):
    """One kind of control, and the share that the metric calls yes."""

    control: Control
    share: ShareOfYes

    @property
    def should_be(self) -> str:
        """The right label: 'yes' or 'no'."""
        return "yes" if self.control.kind == TOP else "no"


class ControlPanel(NamedTuple):
    """The controls of one run."""

    run: MetricRun
    fitness: Fitness
    lines: list[ControlLine]
    by_form: list[tuple[str, ShareOfYes]]  # texts that say nothing, by their form in words
    wrong: list[ControlScore]  # some controls that should be no and have the highest scores
    by_floor: FloorThreshold | None  # the threshold that the floor chooses
    can_be_added: bool
    n_failed: int  # controls that can be tried again
    goes_on: bool  # whether controls wait for a worker

    @property
    def has_any(self) -> bool:
        """Whether any control has a row, with a score or without."""
        return any(line.share.n or line.share.n_left_out for line in self.lines)


def control_panel(run: MetricRun) -> ControlPanel | None:
    """Return the panel of a run; None when it was imported or its metric has no controls."""
    kind = None if run.is_imported else METRICS.get(run.metric)
    if kind is None or not kind.controls:
        return None
    labels = control_labels([run])[run.pk]
    waiting = RunChunk.objects.filter(run=run, is_of_controls=True)
    panel = ControlPanel(
        run,
        fitness_of(labels),
        [ControlLine(each, _share(labels, each.kind)) for each in kind.controls],
        [(FORMS_IN_WORDS[form], share) for form, share in _by_form(labels)],
        _wrong(run),
        floor_threshold(run, labels),
        can_be_added=False,
        n_failed=0,
        goes_on=waiting.exclude(state=RunChunk.State.DONE).exists(),
    )
    is_done = run.state == MetricRun.State.DONE and not panel.goes_on
    lacks_some = not panel.has_any or bool(incomplete_targets(run))
    may_add = is_done and lacks_some and not is_of_earlier_rule(run)
    n_failed = failed_controls(run).count() if is_done else 0
    return panel._replace(can_be_added=may_add, n_failed=n_failed)


def _share(labels: Labels, kind: str) -> ShareOfYes:
    return labels[kind].share if kind in labels else ShareOfYes()


def _by_form(labels: Labels) -> list[tuple[str, ShareOfYes]]:
    return list(shares_by_form(labels[NOTHING])) if NOTHING in labels else []


def _wrong(run: MetricRun) -> list[ControlScore]:
    """Return some controls that should be no and are called yes, the highest score first."""
    wrong = ControlScore.objects.filter(run=run, score__gt=run.cut).exclude(kind=TOP)
    about = wrong.select_related("target__response__example", "other__response__example")
    return list(about.order_by("-score", "pk")[:MOST_SHOWN])
