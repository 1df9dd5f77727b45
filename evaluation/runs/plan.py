"""The plan of a run: every choice that changes its numbers, its model, and its responses.

This module only reads. `evaluation.runs.services.runs` makes a run from a plan.
"""

from typing import Any, Literal, NamedTuple

from django.db.models import QuerySet

from annotation.models import Study
from annotation.planning import responses_of, sampled
from evaluation.metrics.auto_ais import AutoAisMetric
from evaluation.metrics.base import AutoMetric
from evaluation.models import MetricRun
from generation.evidence import EvidenceChoice
from generation.model_specs import ModelSpec
from generation.models import Response

# The pool that a sample is drawn from: the responses of a model, or those of a row of KaLMA's table
# 4, that is, of setups that differ only in seed and run.
Pool = Literal["model", "row"]
# The parameter of a run that lists the studies whose votes made its choices. The name is older than
# the term threshold choice. It stays, because it is stored with runs and shown by the API.
STUDIES_OF_CHOICE = "calibrated_on"


class RunPlan(NamedTuple):
    """Every choice of a run that changes its scores or labels, and the location of its model."""

    spec: ModelSpec = ModelSpec("lexical")
    metric: AutoMetric = AutoAisMetric()
    evidence: str = EvidenceChoice.SHOWN  # ignored if the metric needs no evidence
    threshold: float | None = None  # None: the metric's own
    n_sampled: int | None = None  # responses of each pool, drawn by `seed`; None: all of them
    seed: int = 0
    sampled_by: Pool = "model"
    chosen_by_votes_of: str = ""  # slug of the study whose votes made the choices; "": none

    @property
    def cut(self) -> float:
        """The threshold; the metric's own if none was chosen."""
        return self.metric.threshold if self.threshold is None else self.threshold

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
        if self.n_sampled is not None:
            parts.append(f"sample:{self.n_sampled}@{self.seed}")
            if self.sampled_by != "model":
                parts.append(f"of each:{self.sampled_by}")
        at = "t>=" if metric.is_yes_at_threshold else "t"
        return "|".join([*parts, f"{at}:{float(self.cut)!r}", f"v:{metric.version}"])

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters to store with a run, beside its model's name, location and revision."""
        parameters = {**self.metric.parameters, "entailment_index": self.spec.entailment_index}
        if self.metric.needs_evidence:
            parameters["evidence"] = str(self.evidence)
        if self.spec.precision != "fp32":
            parameters["precision"] = self.spec.precision
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
        if self.chosen_by_votes_of:
            parameters[STUDIES_OF_CHOICE] = [self.chosen_by_votes_of]
        return parameters


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
    )


def responses_of_study(study: Study) -> QuerySet[Response]:
    """Return the responses that a run over a study covers: those of its setups to its examples."""
    responses = responses_of(study)
    if study.n_sampled is None:
        return responses
    return responses.filter(example__in=sampled(study))
