"""The plan of a run: every choice that changes its numbers, its model, and its responses.

This module only reads. `evaluation.runs.services.runs` makes a run from a plan.
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from django.db.models import QuerySet

from annotation.models import Study
from annotation.planning import responses_of, sampled
from evaluation.backends.registry import words_rule
from evaluation.metrics.auto_ais import AutoAisMetric
from evaluation.metrics.base import AutoMetric
from evaluation.metrics.registry import metric_of
from evaluation.models import MetricRun
from evaluation.runs.budget import Budget
from evaluation.runs.names import threshold_part
from generation.evidence import EvidenceChoice
from generation.model_specs import ModelSpec
from generation.models import Dataset, Response
from generation.text.languages import language_codes

# The pool that a sample is drawn from: the responses of a model, or those of a row of KaLMA's table
# 4, that is, of setups that differ only in seed and run.
Pool = Literal["model", "row"]
# The parameter of a run that lists the studies whose votes made its choices. The name is older than
# the term threshold choice. It stays, because it is stored with runs and shown by the API.
STUDIES_OF_CHOICE = "calibrated_on"
# The parameter of a run that says what it was made for: one of the two below, or "" if a person
# asked for the run itself. Most runs lack it: only runs that were made for something, or that the
# votes of a study have chosen, have it.
MADE_FOR = "made_for"
# The parameter of a run whose threshold was chosen by its controls, without votes.
BY_FLOOR = "threshold_by_floor"
THRESHOLD_CHOICE, PRECISION_CHECK = "threshold choice", "precision check"


class RunPlan(NamedTuple):
    """Every choice of a run that changes its scores or labels, and the location of its model."""

    spec: ModelSpec = ModelSpec("lexical")
    metric: AutoMetric = AutoAisMetric()
    evidence: str = EvidenceChoice.SHOWN  # ignored if the metric needs no evidence
    threshold: float | None = None  # None: the metric's own
    n_sampled: int | None = None  # responses of each pool, drawn by `seed`; None: all of them
    seed: int = 0
    sampled_by: Pool = "model"
    budget: Budget = Budget()  # what the run may spend; it changes no score
    n_controls: int = 0  # targets of which controls are made; they change no score
    is_by_floor: bool = False  # whether controls without votes chose the threshold
    chosen_by_votes_of: str = ""  # slug of the study whose votes made the choices; "": none
    made_for: str = ""  # THRESHOLD_CHOICE or PRECISION_CHECK; "": a person asked for the run

    @property
    def cut(self) -> float:
        """The threshold; the metric's own if none was chosen."""
        return self.metric.threshold if self.threshold is None else self.threshold

    @property
    def purpose(self) -> str:
        """The purpose that the run is made for; "" if a person asks for the run itself."""
        return THRESHOLD_CHOICE if self.chosen_by_votes_of else self.made_for

    @property
    def signature(self) -> str:
        """The signature of the run. A plan with the same signature finds the same run."""
        metric, spec = self.metric, self.spec
        parts = [metric.key, spec.name or spec.backend, *filter(None, [metric.signature_part])]
        if metric.needs_evidence:
            parts.append(str(self.evidence))
        if spec.entailment_index is not None:
            parts.append(f"entailment:{spec.entailment_index}")
        if spec.precision != "fp32":
            parts.append(spec.precision)
        if spec.language:
            parts.append(f"language:{spec.language}")
        parts += filter(None, [words_rule(spec.backend)])
        if self.n_sampled is not None:
            parts.append(f"sample:{self.n_sampled}@{self.seed}")
            if self.sampled_by != "model":
                parts.append(f"of each:{self.sampled_by}")
        at = threshold_part(float(self.cut), is_yes_at_threshold=metric.is_yes_at_threshold)
        return "|".join([*parts, at, f"v:{metric.version}"])

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters to store with a run, beside its model's name, location and revision."""
        parameters = {**self.metric.parameters, "entailment_index": self.spec.entailment_index}
        if self.metric.needs_evidence:
            parameters["evidence"] = str(self.evidence)
        if self.spec.precision != "fp32":
            parameters["precision"] = self.spec.precision
        if self.spec.language:
            parameters["language"] = self.spec.language
        if self.n_sampled is not None:
            parameters |= {"n_sampled": self.n_sampled, "seed": self.seed}
            if self.sampled_by != "model":
                parameters["sampled_by"] = self.sampled_by
        if self.spec.served_name:
            parameters["served_name"] = self.spec.served_name
        if self.spec.key_variable:
            parameters["key_variable"] = self.spec.key_variable
        if self.spec.key_over_http:
            parameters["key_over_http"] = True
        if self.is_by_floor:
            parameters[BY_FLOOR] = True
        if self.chosen_by_votes_of:
            parameters[STUDIES_OF_CHOICE] = [self.chosen_by_votes_of]
        if self.purpose:
            parameters[MADE_FOR] = self.purpose
        return parameters


def with_study_of_choice(parameters: Mapping[str, Any], study: str) -> dict[str, Any]:
    """Return the parameters of a run after the votes of a study have chosen it.

    Args:
        parameters: those before.
        study: the slug of the study, which is listed once.
    """
    studies = parameters.get(STUDIES_OF_CHOICE, [])
    # A run that was there before any choice stays one that a person asked for.
    asked_for = {} if studies or MADE_FOR in parameters else {MADE_FOR: ""}
    listed = {STUDIES_OF_CHOICE: [*studies, *({study} - {*studies})]}
    return {**parameters, **asked_for, **listed}


def with_sample_of(plan: RunPlan, run: MetricRun) -> RunPlan:
    """Return a plan with the sample of a run: its size, seed and pool."""
    return plan._replace(
        n_sampled=run.parameters.get("n_sampled"),
        seed=run.parameters.get("seed", 0),
        sampled_by=run.parameters.get("sampled_by", "model"),
    )


def spec_of(run: MetricRun) -> ModelSpec:
    """Return the model that a run was requested with, at the revision that the run began with."""
    return ModelSpec(
        backend=run.backend,
        name=run.model_name,
        location=run.model_location,
        revision=run.revision,
        precision=run.parameters.get("precision", "fp32"),
        entailment_index=run.parameters.get("entailment_index"),
        served_name=run.parameters.get("served_name", ""),
        key_variable=run.parameters.get("key_variable", ""),
        key_over_http=run.parameters.get("key_over_http", False),
        language=run.parameters.get("language", ""),
    )


def in_language_of(dataset: Dataset, plan: RunPlan) -> RunPlan:
    """Return a plan for the texts of a dataset, in the language that the dataset says."""
    return plan._replace(spec=plan.spec._replace(language=language_codes(dataset.language)))


def plan_again(run: MetricRun, spec: ModelSpec | None = None) -> RunPlan:
    """Return the plan of a run that was requested, with another model if one is given."""
    plan = RunPlan(
        spec=spec or spec_of(run),
        metric=metric_of(run.metric, run.parameters),
        evidence=run.parameters.get("evidence", EvidenceChoice.SHOWN),
        threshold=run.threshold,
    )
    return with_sample_of(plan, run)


def responses_of_study(study: Study) -> QuerySet[Response]:
    """Return the responses that a run over a study covers: those of its setups to its examples."""
    responses = responses_of(study)
    if study.n_sampled is None:
        return responses
    return responses.filter(example__in=sampled(study))
