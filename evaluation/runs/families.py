"""Families of runs that differ only in what a threshold choice can choose: its candidates.

Runs of Auto-AIS by one model over one evidence choice are a family. They may have any flavor,
window and hypothesis. A run of any other metric and a run of imported scores is a family of its
own, because there is only a threshold to choose. This module only reads.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from django.db.models import Count

from annotation.models import Study
from evaluation.measures.entailment import APART, WITHOUT_QUESTION, AutoAis, Flavor, Split
from evaluation.metrics.auto_ais import AutoAisMetric
from evaluation.metrics.base import AutoMetric
from evaluation.metrics.registry import METRICS, metric_of
from evaluation.models import AutoScore, MetricRun
from evaluation.runs.choices import (
    USUAL_CONTROLS,
    knows_questions_of,
    model_called,
    models_for,
)
from evaluation.runs.names import without_threshold
from evaluation.runs.plan import THRESHOLD_CHOICE, Pool, RunPlan, responses_of_study, spec_of
from evaluation.runs.study_targets import first_plan, is_about, is_of_citations
from generation.model_specs import ModelSpec
from generation.models import Dataset

GRID = "auto_ais"  # the metric whose flavor, window and hypothesis are chosen
FLAVORS: tuple[Flavor, ...] = ("v1", "v2", "v3")  # those that a choice compares
WINDOWS = (0, 1, 2, 3)  # sentences; 0: the whole evidence
USUAL = AutoAis()  # flavor, window and hypothesis when nothing is chosen


def is_usual(choices: AutoAis | None) -> bool:
    """Return whether these are the choices of Auto-AIS when nothing is chosen, for any backend."""
    flavors: tuple[Any, ...] = (USUAL.flavor, WITHOUT_QUESTION, APART)
    return choices in [USUAL._replace(flavor=each) for each in flavors]


def flavors_for(dataset: Dataset) -> tuple[Flavor, ...]:
    """Return the flavors to compare: without any question there is only one."""
    return FLAVORS if knows_questions_of(dataset) else (WITHOUT_QUESTION,)


class RunWithMetric(NamedTuple):
    """A run with its metric. A run of imported scores has no metric."""

    run: MetricRun
    metric: AutoMetric | None

    @property
    def choices(self) -> AutoAis | None:
        """Flavor, window and hypothesis; None: the run has none."""
        return self.metric.choices if isinstance(self.metric, AutoAisMetric) else None

    @property
    def name(self) -> str:
        """The name of the run within its family, such as 'v3, localized K = 2'."""
        said = ", ".join(self.metric.in_title) if self.metric else self.run.signature
        return said or (self.metric.title if self.metric else self.run.metric)


class Family(NamedTuple):
    """Candidates that the same model has scored against the same evidence."""

    key: str
    title: str
    metric: str
    model: str  # the backend's name, if the backend needs no model
    evidence: str  # "": the metric uses no evidence
    spec: ModelSpec | None  # None: scores that were made elsewhere
    candidates: tuple[RunWithMetric, ...] = ()
    n_sampled: int | None = None
    seed: int = 0
    sampled_by: Pool = "model"
    runs: frozenset[int] = frozenset()  # ids of all runs, also if only their threshold differs
    is_current: bool = True  # its runs used the revision of the model that was opened last
    taken: frozenset[str] = frozenset()  # signatures of runs by other revisions of the model

    @property
    def is_grid(self) -> bool:
        """Whether there is more to choose than the threshold."""
        return self.metric == GRID and self.spec is not None

    @property
    def has_flavors(self) -> bool:
        """Whether the flavors of Auto-AIS apply to its backend."""
        return self.is_grid and any(
            option.name == "flavor"
            for option in AutoAisMetric.options_for(self.spec.backend if self.spec else "")
        )

    @property
    def can_grow(self) -> bool:
        """Whether the missing runs of its grid can be scored.

        This is not possible for a sample, which stays as it was drawn, nor for a model that has
        been replaced and so no longer exists.
        """
        return self.is_grid and self.n_sampled is None and self.is_current

    @property
    def can_start(self) -> bool:
        """Whether a run with one of its candidates and a threshold can be started."""
        return self.spec is not None and self.is_current

    @property
    def is_imported(self) -> bool:
        """Whether its scores were made elsewhere. They can get a threshold without a new run."""
        return self.spec is None

    def plan(self, metric: AutoMetric, threshold: float | None = None, on: str = "") -> RunPlan:
        """Return the plan of a run of this family.

        Args:
            metric: the metric with its choices.
            threshold: None: the metric's own.
            on: the slug of the study whose votes made the choices; "": none.
        """
        assert self.spec is not None
        plan = RunPlan(spec=self.spec, metric=metric, threshold=threshold, chosen_by_votes_of=on)
        n_controls = USUAL_CONTROLS if metric.controls else 0
        plan = plan._replace(made_for=THRESHOLD_CHOICE, n_controls=n_controls)
        if self.evidence:
            plan = plan._replace(evidence=self.evidence)
        return plan._replace(n_sampled=self.n_sampled, seed=self.seed, sampled_by=self.sampled_by)


class GridPlace(NamedTuple):
    """One place of the grid, and its progress."""

    metric: AutoAisMetric
    run: MetricRun | None
    n_left: int  # responses of the study without a row
    is_taken: bool = False  # a run by another revision of the model has its signature

    @property
    def state(self) -> str:
        """The state of the place: missing, taken, scoring or scored."""
        if self.is_taken:
            return "taken"
        if self.run and self.run.state == MetricRun.State.RUNNING:
            return "scoring"
        return "missing" if self.n_left else "scored"


def families_of(study: Study) -> list[Family]:
    """Return the families that score what raters judge, those with the most candidates first.

    A family has one candidate for each set of choices. Of runs that differ only in their threshold,
    one that has ended is preferred, then the one with the most scores on the study's responses,
    then one that is done, then the oldest.
    """
    found: dict[str, list[RunWithMetric]] = {}
    citations = is_of_citations(study)
    for run in MetricRun.objects.filter(dataset=study.dataset_id).order_by("pk"):
        is_known = run.is_imported or run.metric in METRICS
        if not is_known or not is_about(run, citations=citations):
            continue
        metric = None if run.is_imported else metric_of(run.metric, run.parameters)
        found.setdefault(_key_of_run(run, metric), []).append(RunWithMetric(run, metric))
    n_scores = _n_scores(study, found.values())
    families = [
        family
        for key, candidates in found.items()
        for family in _by_revision(key, candidates, n_scores)
    ]
    return sorted(families, key=lambda each: (-len(each.candidates), each.title))


def possible_families(study: Study, known: Iterable[Family]) -> list[Family]:
    """Return a family of Auto-AIS for each model that has not scored the study's evidence yet.

    If raters judge citations, which Auto-AIS cannot score, return a family of alignment by lexical
    overlap instead.
    """
    there = {each.key for each in known}
    if is_of_citations(study):
        plan = first_plan(study)
        key = _key(plan.metric.key, plan.spec, "")
        return [] if key in there else [_family(key, plan.metric.key, plan.spec, "")]
    empty = []
    for name, _ in models_for(GRID):
        spec = model_called(name)
        assert spec is not None
        key = _key(GRID, spec, study.evidence_choice)
        if key not in there:
            empty.append(_family(key, GRID, spec, study.evidence_choice))
    return empty


def grid(
    family: Family,
    study: Study,
    flavors: Sequence[Flavor] = (),
    windows: Sequence[int] = WINDOWS,
    hypothesis: Split = "whole",
) -> list[GridPlace]:
    """Return the places of a grid, flavor by flavor, with the number of responses left at each.

    Without flavors, they are those of `flavors_for`.
    """
    flavors = flavors or flavors_for(study.dataset)
    runs = {each.choices: each.run for each in family.candidates if each.choices}
    responses = responses_of_study(study)
    rows = AutoScore.objects.filter(run__in=runs.values(), target__citation=None)
    rows = rows.filter(target__response__in=responses.order_by().values("pk")).order_by()
    counts = dict(rows.values_list("run").annotate(n=Count("pk")))
    n_responses = responses.count()
    places = []
    for metric in _metrics(family, flavors, windows, hypothesis):
        run = runs.get(metric.choices)
        n_scored = counts.get(run.pk, 0) if run else 0
        is_taken = run is None and family.plan(metric).signature in family.taken
        places.append(GridPlace(metric, run, max(0, n_responses - n_scored), is_taken))
    return places


def _metrics(
    family: Family, flavors: Sequence[Flavor], windows: Sequence[int], hypothesis: Split
) -> Iterator[AutoAisMetric]:
    """Yield the metric at each place of a grid; without flavors where none applies."""
    backend = family.spec.backend if family.spec else ""
    for flavor, window in product(flavors if family.has_flavors else flavors[:1], windows):
        yield AutoAisMetric(AutoAis(flavor, window, hypothesis)).asked_of(backend)


def _by_revision(
    key: str, candidates: Sequence[RunWithMetric], n_scores: Mapping[int, int]
) -> list[Family]:
    """Return a family, or several if the runs used several revisions of the model.

    The family of the revision that was opened last keeps the key. A run whose model has not been
    opened yet belongs to this family.
    """
    run, metric = candidates[0]
    made = _family(
        key,
        run.metric,
        None if run.is_imported else spec_of(run),
        run.parameters.get("evidence", ""),
        without_threshold(run.signature) if run.is_imported else "",
        metric,
    )._replace(
        n_sampled=run.parameters.get("n_sampled"),
        seed=run.parameters.get("seed", 0),
        sampled_by=run.parameters.get("sampled_by", "model"),
    )
    opened = [_made_with(each.run) for each in candidates]
    known = [each for each in opened if each]
    if len(set(known)) < 2:
        return [_with(made, candidates, n_scores)]
    current = known[-1]
    called = _called(known)
    families = []
    for made_with, name in called.items():
        is_current = made_with == current
        own = [
            candidate
            for candidate, each in zip(candidates, opened, strict=True)
            if each == made_with or (is_current and not each)
        ]
        of_revision = made._replace(
            key=key if is_current else f"{key}|{name}",
            title=f"{made.title}, {name}",
            is_current=is_current,
            taken=frozenset(each.run.signature for each in candidates if each not in own),
        )
        families.append(_with(of_revision, own, n_scores))
    return families


def _with(
    family: Family, candidates: Sequence[RunWithMetric], n_scores: Mapping[int, int]
) -> Family:
    """Return a family with its candidates. The newest run decides how its model is opened."""
    return family._replace(
        candidates=_one_each(candidates, n_scores),
        runs=frozenset(each.run.pk for each in candidates),
        spec=family.spec and spec_of(candidates[-1].run),
    )


def _made_with(run: MetricRun) -> tuple[str, str] | None:
    """Return the identity of a run's model, equal for the same model; None: not opened yet."""
    return (run.backend_signature, run.revision) if run.backend_signature else None


def _called(known: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Return a name for each way in which a model was opened.

    The name is the revision. If revisions are missing or equal, the signature is added.
    """
    found = dict.fromkeys(known)
    names = [revision[:8] for _, revision in found]
    is_told_apart = all(names) and len(set(names)) == len(names)
    return {
        (signature, revision): name if is_told_apart else "|".join(filter(None, [name, signature]))
        for (signature, revision), name in zip(found, names, strict=True)
    }


def _n_scores(study: Study, families: Iterable[Sequence[RunWithMetric]]) -> dict[int, int]:
    """Return how many targets of a study each run has scored, if several have the same choices."""
    alike: dict[tuple[int, str], list[int]] = {}
    for number, candidates in enumerate(families):
        for each in candidates:
            alike.setdefault((number, _said(each)), []).append(each.run.pk)
    runs = [run for same in alike.values() if len(same) > 1 for run in same]
    if not runs:
        return {}
    scores = AutoScore.objects.filter(
        run__in=runs,
        score__isnull=False,
        target__citation__isnull=not is_of_citations(study),
    )
    scores = scores.filter(target__response__in=responses_of_study(study).order_by().values("pk"))
    return dict(scores.order_by().values_list("run").annotate(n=Count("pk")))


def _one_each(
    candidates: Sequence[RunWithMetric], n_scores: Mapping[int, int]
) -> tuple[RunWithMetric, ...]:
    """Return one candidate for each set of choices, the simplest choices first."""

    def worth(each: RunWithMetric) -> tuple[bool, int, bool, int]:
        run = each.run
        has_ended = run.state != MetricRun.State.RUNNING
        is_done = run.state == MetricRun.State.DONE
        return has_ended, n_scores.get(run.pk, 0), is_done, -run.pk

    kept: dict[str, RunWithMetric] = {}
    for each in sorted(candidates, key=worth):
        kept[_said(each)] = each
    return tuple(sorted(kept.values(), key=_order))


def _said(candidate: RunWithMetric) -> str:
    return candidate.metric.signature_part if candidate.metric else ""


def _order(candidate: RunWithMetric) -> AutoAis:
    return candidate.choices or USUAL


def _key_of_run(run: MetricRun, metric: AutoMetric | None) -> str:
    if metric is None:
        return imported_family(run.metric, run.signature)
    sample = run.parameters.get("n_sampled")
    own = [f"sample:{sample}@{run.parameters.get('seed', 0)}"] if sample else []
    if pool := run.parameters.get("sampled_by"):
        own.append(f"of each:{pool}")
    if run.metric != GRID:
        own += filter(None, [metric.signature_part])
    return "|".join([_key(run.metric, spec_of(run), run.parameters.get("evidence", "")), *own])


def imported_family(metric: str, signature: str) -> str:
    """Return the key of the family of imported scores. Their threshold is no part of it."""
    return "|".join(filter(None, ["imported", metric, without_threshold(signature)]))


def _key(metric: str, spec: ModelSpec, evidence: str) -> str:
    """Return the key of a family, which addresses use."""
    index = "" if spec.entailment_index is None else f"entailment:{spec.entailment_index}"
    precision = "" if spec.precision == "fp32" else spec.precision
    parts = [metric, spec.name or spec.backend, precision, evidence, index]
    return "|".join(filter(None, parts))


def _family(
    key: str,
    metric: str,
    spec: ModelSpec | None,
    evidence: str,
    signature: str = "",
    made: AutoMetric | None = None,
) -> Family:
    if spec is None:
        title = ", ".join(filter(None, [metric, signature, "imported"]))
        return Family(key, title, metric, "", evidence, None)
    model = spec.name or spec.backend
    own = [*made.in_title] if made and metric != GRID else []
    precision = [] if spec.precision == "fp32" else [spec.precision]
    said = [f"{evidence} evidence"] if evidence else []
    title = ", ".join([METRICS[metric].title, *own, model, *precision, *said])
    return Family(key, title, metric, model, evidence, spec)
