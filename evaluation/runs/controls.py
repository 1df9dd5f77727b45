"""The controls of runs: what is made of the drawn targets, and the rows of their scores.

This module only reads. `evaluation.runs.services.controls` draws the targets.
"""

from collections.abc import Iterable, Iterator, Sequence

from django.db.models import Count, QuerySet

from annotation.models import Target
from evaluation.metrics.base import Control, MadeControl, ScoringMaterial
from evaluation.metrics.registry import METRICS, metric_of
from evaluation.models import AutoScore, ControlScore, MetricRun, RunChunk
from evaluation.runs.materials import READ_TOGETHER, content_of, material_of
from generation.models import Example
from generation.seeded_random import random_key

SEED = 0  # the seed of all draws about controls
NONE_STANDS_IN = "nothing of another dialog can stand in"

Drawn = Sequence[int]  # the drawn target, then targets of other dialogs that may stand in for it


class RunControls:
    """The controls of some drawn targets, made a few targets at a time.

    Each control has a number, which stands for its target while it is scored.
    """

    def __init__(self, run: MetricRun, drawn: Sequence[Drawn]) -> None:
        self._run = run
        self._kinds = metric_of(run.metric, run.parameters).controls
        self._drawn = drawn
        self._by_number: list[ControlScore] = []  # the rows of controls, without their scores
        self._not_made: list[ControlScore] = []  # the rows of those that could not be made

    def unscored(self) -> Iterator[ScoringMaterial]:
        """Yield the material of the controls that have no row of the run yet."""
        for start in range(0, len(self._drawn), READ_TOGETHER):
            some = self._drawn[start : start + READ_TOGETHER]
            of_some = ControlScore.objects.filter(
                run=self._run, target__in=[own for own, *_ in some]
            )
            there = set(of_some.values_list("target", "kind"))
            materials = _materials(self._run, {target for each in some for target in each})
            for own, *others in some:
                if own not in materials:
                    continue
                standing_in = [materials[target] for target in others if target in materials]
                for control in self._kinds:
                    if (own, control.kind) in there:
                        continue
                    made = self._made(control, materials[own], standing_in)
                    if made is not None:
                        yield made

    def rows(self, scores: Iterable[AutoScore]) -> list[ControlScore]:
        """Return the rows of scored controls, and of those that could not be made meanwhile.

        Args:
            scores: scores whose `target_id` is the number of a control.
        """
        found, self._not_made = self._not_made, []
        for score in scores:
            row = self._by_number[score.target_id]
            row.score, row.problem, row.content_key = score.score, score.problem, score.content_key
            found.append(row)
        return found

    def _made(
        self, control: Control, own: ScoringMaterial, others: Iterable[ScoringMaterial]
    ) -> ScoringMaterial | None:
        """Return the material of a control, or note its row with the reason why there is none."""
        row = ControlScore(run=self._run, target_id=own.target, kind=control.kind)
        other: ScoringMaterial | None = own
        if may_stand_in := control.may_stand_in:
            other = next((each for each in others if may_stand_in(own, each)), None)
            row.other_id = other.target if other else None
        made = control.make(own, other, _draw(control, own)) if other else None
        if made is None:
            row.problem = control.otherwise if other else NONE_STANDS_IN
            self._not_made.append(row)
            return None
        row.form, row.text = made.form, _judged_text(made)
        self._by_number.append(row)
        return made.material._replace(target=len(self._by_number) - 1)


def _draw(control: Control, own: ScoringMaterial) -> int:
    """Return the number drawn for a control. It depends on texts alone, and on no database."""
    number = own.citation.number if own.citation else 0
    return random_key(SEED, control.kind, own.text, own.user_question or "", number)


def _judged_text(made: MadeControl) -> str:
    cited = made.material.citation
    return cited.sentence if cited else made.material.text


def _materials(run: MetricRun, targets: set[int]) -> dict[int, ScoringMaterial]:
    """Return the material of targets by id, with the golden answers of their examples."""
    rows = Target.objects.filter(pk__in=targets).select_related("citation")
    response_of = {row.pk: row.response_id for row in rows}
    citations = {row.pk: content_of(row.citation) for row in rows if row.citation}
    golden = dict(
        Example.objects.filter(responses__targets__in=targets, golden_answer__isnull=False)
        .order_by()
        .values_list("responses__targets", "golden_answer")
    )
    found = material_of(response_of, list(response_of), run, citations)
    return {
        each.target: each._replace(golden_answer=golden.get(each.target) or "") for each in found
    }


# --- what is there and what waits -----------------------------------------------------------


def failed_controls(run: MetricRun) -> QuerySet[ControlScore]:
    """Return the controls of a run that were made and have no score, and that wait for none."""
    waiting = [own for drawn in _waiting(run) for own, *_ in drawn]
    failed = ControlScore.objects.filter(run=run, score=None)
    return failed.exclude(text="").exclude(target__in=waiting)


def n_to_draw(run: MetricRun, n: int) -> int:
    """Return of how many targets a request queues controls, if there are `n` to draw."""
    if not n:
        return 0
    return max(n - len(drawn_targets(run)), 0) + len(incomplete_targets(run))


def incomplete_targets(run: MetricRun) -> set[int]:
    """Return the targets that have some kinds of controls, lack others, and wait for none."""
    waiting = [own for drawn in _waiting(run) for own, *_ in drawn]
    rows = ControlScore.objects.filter(run=run).exclude(target__in=waiting).order_by()
    counts = rows.values_list("target").annotate(n=Count("pk"))
    n_kinds = len(METRICS[run.metric].controls)
    return {target for target, n in counts if n < n_kinds}


def _waiting(run: MetricRun) -> Iterator[list[list[int]]]:
    """Yield the drawn targets of each chunk of controls that is not done."""
    chunks = RunChunk.objects.filter(run=run, is_of_controls=True)
    yield from chunks.exclude(state=RunChunk.State.DONE).values_list("targets", flat=True)


def drawn_targets(run: MetricRun) -> set[int]:
    """Return the targets that have controls, or will have them."""
    there = set(ControlScore.objects.filter(run=run).values_list("target", flat=True))
    for drawn in _waiting(run):
        there.update(own for own, *_ in drawn)
    return there
