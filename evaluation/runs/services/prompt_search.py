"""Prompt search: it finds demonstrations that make a language model rate like a slice's raters.

See section 5.2 of the attribution/fluency paper. The rules are in
`evaluation.measures.prompt_search`.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np

from accounts.models import User
from annotation.models import Arm, Study, Target
from annotation.ordering import random_key
from annotation.schemes import load_scheme
from evaluation.backends.base import Backend
from evaluation.backends.registry import open_backend
from evaluation.jobs.services import JobError, JobHold, request_job
from evaluation.measures import prompt_search as rules
from evaluation.measures.prompt_search import Tried
from evaluation.measures.sensibleness import demonstration, instructions_of
from evaluation.metrics.auto_ssa import SsaPrompt, usual_prompt
from evaluation.metrics.base import AutoMetric, ScoreRequest, ScoringMaterial
from evaluation.metrics.registry import METRICS
from evaluation.models import Job, MetricRun
from evaluation.reports.base import USUAL, study_counts
from evaluation.runs.materials import material_of
from evaluation.runs.prompts import PROMPTED
from evaluation.statistics.labels import label_rule
from generation.backends.problems import storable
from generation.backends.registry import LANGUAGE_MODELS
from generation.choices.declaration import Choice
from generation.limits import LARGEST_SEED
from generation.model_specs import BackendError, ModelSpec
from generation.models import Response, Setup
from generation.services.checkpoints import as_listed_now, pin_revision

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}", re.ASCII)
FEWEST_EXAMPLES = 2  # one to show in the prompt, and one to score


class SearchPlan(NamedTuple):
    """Every choice of a search that changes the prompt it finds."""

    study: Study
    setup: str  # name of the setup that is the slice
    metric: str  # 'sensible' or 'specific', which is also the name of the question
    spec: ModelSpec
    name: str  # the prompt's name
    n_examples: Annotated[
        int | None,
        Choice(
            "Examples",
            help="How many examples are tried, in the order that the seed decides.",
            low=FEWEST_EXAMPLES,
            usual="all",
        ),
    ] = None
    seed: Annotated[
        int,
        Choice(
            "Seed",
            help="It decides the order in which examples are tried.",
            low=0,
            high=LARGEST_SEED,
        ),
    ] = 0


class Slice(NamedTuple):
    """The examples of a search, in order, and the numbers of responses that it cannot use."""

    examples: list[tuple[int, str, float]]  # target, key of the response, rater score
    n_unusable: int  # responses without dialog or text, which can be neither shown nor scored
    # Responses that are rated but have no rater score, because asking may have stopped early.
    n_outside_full_share: int = 0

    @property
    def most_calls(self) -> int:
        """The number of replies to ask for, at most. Repeats of unreadable replies do not count."""
        return rules.most_calls(len(self.examples))


def request_prompt_search(plan: SearchPlan, user: User | None) -> Job:
    """Return the search of these choices. One that was stopped goes on.

    Raises:
        JobError: the study has no such question or setup, or too few rated responses; or the
            backend is not a language model; or the name is taken.
    """
    check_name(plan.name, (usual_prompt(metric).name for metric in PROMPTED))
    if plan.spec.backend not in LANGUAGE_MODELS:
        raise JobError("Only a language model can be given a prompt. Choose one.", "model")
    found = slice_of(plan)
    if len(found.examples) < FEWEST_EXAMPLES:
        raise JobError(
            f"Found {len(found.examples)} of the rated responses of {plan.setup} that can be used; "
            f"expected {FEWEST_EXAMPLES} or more.",
            "setup",
        )
    spec = plan.spec
    return request_job(
        Job.Kind.PROMPT_SEARCH,
        plan.name,
        {
            "study": plan.study.slug,
            "dataset": plan.study.dataset.slug,
            "setup": plan.setup,
            "metric": plan.metric,
            "seed": plan.seed,
            "n_examples": plan.n_examples,
            "model": spec.name,
            **_in_parameters(spec),
        },
        data=found._asdict(),
        study=plan.study,
        n_total=1 + len(found.examples),
        user=user,
    )


def _in_parameters(spec: ModelSpec) -> dict[str, Any]:
    """Return the parameters of a model other than its name, and than its limit, which may change.

    The permission to send its key over http is included only if it was given.
    """
    said = spec._asdict()
    del said["name"], said["calls_at_once"]
    if not spec.key_over_http:
        del said["key_over_http"]
    return said


def check_name(name: str, taken: Iterable[str]) -> None:
    """Refuse a name that signatures cannot hold or that is taken.

    Args:
        name: the name.
        taken: names that have another meaning already.

    Raises:
        JobError: the name is refused.
    """
    if not NAME.fullmatch(name):
        raise JobError(
            f"Found {name!r}; expected up to 60 letters, digits, dots, _ or -, beginning with a "
            "letter or digit.",
            "name",
        )
    if name in taken:
        raise JobError(f"Attest itself uses the name {name}. Choose another name.", "name")


def slice_of(plan: SearchPlan) -> Slice:
    """Return the examples of a search: the rated responses of its setup, in seeded order.

    Raises:
        JobError: the study has no such question, or no such setup.
    """
    scheme = load_scheme(plan.study.scheme)
    question = scheme.question(plan.metric) if plan.metric in PROMPTED else None
    if question is None:
        asked = ", ".join(each.key for each in scheme.questions)
        raise JobError(f"{plan.study.name} asks {asked}; expected {plan.metric}.", "metric")
    setup = plan.study.setups.filter(name=plan.setup).first()
    if setup is None:
        names = ", ".join(plan.study.setups.values_list("name", flat=True)[:10]) or "none"
        raise JobError(f"{plan.study.name} has no setup {plan.setup!r}. It has: {names}.", "setup")
    rated, n_outside = _rated(plan, setup)
    wanted = plan.n_examples if plan.n_examples is not None else len(rated)
    usable: list[tuple[int, str, float]] = []
    n_unusable = 0
    materials = _materials(plan.metric, [target for target, _, _ in rated])
    for example in rated:
        if len(usable) == wanted:
            break
        if _ask_about(METRICS[plan.metric].made({}), materials.get(example[0])) is None:
            n_unusable += 1
        else:
            usable.append(example)
    return Slice(usable, n_unusable, n_outside)


def _rated(plan: SearchPlan, setup: Setup) -> tuple[list[tuple[int, str, float]], int]:
    """Return the responses of a setup that have a rater score, in seeded order.

    Also return how many have votes but no rater score, because asking may have stopped early. The
    votes are those of the separate arm, or of the only arm if the study has no separate arm.
    """
    by_arm = {of_arm.arm.kind: of_arm for of_arm in study_counts(plan.study, USUAL)}
    of_arm = by_arm.get(Arm.Kind.SEPARATE) or next(iter(by_arm.values()), None)
    if of_arm is None:
        return [], 0
    scheme = load_scheme(plan.study.scheme)
    question = next(each for each in scheme.questions if each.key == plan.metric)
    rule = label_rule(question, plan.study.settings)
    scores = rule.rater_scores(of_arm.votes[question.key])
    has_votes = (of_arm.items.setups == setup.pk) & ~np.isnan(scores)
    here = has_votes & of_arm.items.is_always_full
    responses = of_arm.items.responses[here].tolist()
    keys = dict(Response.objects.filter(pk__in=responses).values_list("pk", "key"))
    rated = zip(of_arm.items.targets[here].tolist(), responses, scores[here].tolist(), strict=True)
    examples = sorted(
        ((target, keys[response], score) for target, response, score in rated),
        key=lambda example: random_key(plan.seed, "prompt", example[1]),
    )
    return examples, int((has_votes & ~here).sum())


# --- the search itself ----------------------------------------------------------------------


def search_prompt(hold: JobHold) -> Mapping[str, Any]:
    """Try prompt after prompt, except those that were tried already. Return the one that is found.

    Raises:
        BackendError: the model cannot be used, or it is not the model of the earlier prompts.
        JobError: a response was deleted.
    """
    parameters = hold.job.parameters
    examples = parameters["data"]["examples"]
    rater_scores = {key: score for _, key, score in examples}
    materials = _materials(parameters["metric"], [target for target, _, _ in examples])
    of_key = {key: materials.get(target) for target, key, _ in examples}
    if gone := [key for key, material in of_key.items() if material is None]:
        raise JobError(f"{gone[0]} was deleted. Delete this search too, and start a new one.")
    prompts = _Prompts(hold.job, {k: m for k, m in of_key.items() if m}, rater_scores)
    backend = _backend(hold)
    order = list(rater_scores)
    steps = list(hold.job.steps.values_list("content", flat=True))
    tried = [_tried(content) for content in steps]
    while (shown := rules.next_demonstrations(order, tried)) is not None:
        hold.next_step()
        content = prompts.tried(shown, backend, tried, hold)
        hold.store(len(tried) + 1, content)
        steps.append(content)
        tried.append(_tried(content))
    return prompts.result(tried) | {"n_calls": sum(content["n_asked"] for content in steps)}


class _Prompts:
    """The prompts of one search. The class makes them, asks with them, and compares them."""

    def __init__(
        self, job: Job, materials: Mapping[str, ScoringMaterial], rater_scores: Mapping[str, float]
    ) -> None:
        self._job = job
        self._metric = METRICS[job.parameters["metric"]]
        self._materials = materials
        self._rater_scores = rater_scores

    def text(self, shown: Sequence[str]) -> str:
        """Return the text of a prompt: the usual instructions, and then its demonstrations."""
        demonstrations = [
            demonstration(
                self._materials[key].turns or (), self._materials[key].text, self._rater_scores[key]
            )
            for key in shown
        ]
        return " ".join([instructions_of(self._job.parameters["metric"]), *demonstrations])

    def tried(
        self, shown: tuple[str, ...], backend: Backend, before: Sequence[Tried], hold: JobHold
    ) -> dict[str, Any]:
        """Ask with one prompt about every example that it does not show.

        Return the content of this step: the prompt, its scores, its error, and whether it is kept.
        """
        parameters = self._job.parameters
        prompt = SsaPrompt(
            self._job.name, self.text(shown), parameters["setup"], parameters["dataset"]
        )
        scores, problems, n_asked = self._scores(prompt, shown, backend, hold)
        content = {
            "demonstrations": shown,
            "text": prompt.text,
            "said": prompt.signature_part,
            "scores": scores,
            "problems": problems,
            "n_scored": len(scores) - len(problems),
            "n_failed": len(problems),
            "n_asked": n_asked,
        }
        if not before:
            error = rules.error_of(self._rater_scores, scores)
            return content | {"mse": _number(error), "mse_before": None, "is_kept": True}
        found = rules.compared(self._rater_scores, rules.current(before), scores)
        return content | {
            "mse": _number(found.mse),
            "mse_before": _number(found.mse_before),
            "n_compared": found.n_compared,
            "n_failed_before": found.n_failed_before,
            "is_kept": found.is_kept,
        }

    def _scores(
        self, prompt: SsaPrompt, shown: Sequence[str], backend: Backend, hold: JobHold
    ) -> tuple[dict[str, float | None], dict[str, str], int]:
        """Return the scores of the examples that the prompt does not show, and their problems.

        The third value is the number of replies that the model was asked for.
        """
        metric = self._metric.made(prompt.parameters)
        asked = {
            key: ask
            for key, material in self._materials.items()
            if key not in shown and (ask := _ask_about(metric, material)) is not None
        }
        of_ask: dict[Any, Any] = {}
        replies = list(dict.fromkeys(each.asks[0] for each in asked.values()))
        for reply, answer in zip(replies, metric.answers(backend, replies), strict=True):
            of_ask[reply] = answer
            hold.keep()
        results = {key: metric.scored(each, [of_ask[each.asks[0]]]) for key, each in asked.items()}
        return (
            {key: result.score for key, result in results.items()},
            {
                key: storable(result.problem)
                for key, result in results.items()
                if result.score is None
            },
            sum(answer.n_asked for answer in of_ask.values()),
        )

    def result(self, tried: Sequence[Tried]) -> dict[str, Any]:
        """Return the prompt that was kept last, with its error and that of the first prompt.

        Both errors are over the same examples.
        """
        best, first = rules.current(tried), tried[0]
        same = {key: first.scores[key] for key in best.scores}
        return {
            "prompt": self._job.name,
            "text": self.text(best.demonstrations),
            "built_on": self._job.parameters["setup"],
            "built_on_dataset": self._job.parameters["dataset"],
            "demonstrations": best.demonstrations,
            "mse": _number(rules.error_of(self._rater_scores, best.scores)),
            "mse_first": _number(rules.error_of(self._rater_scores, same)),
            "n_scored": sum(score is not None for score in best.scores.values()),
            "n_tried": len(tried),
        }


def _tried(content: Mapping[str, Any]) -> Tried:
    return Tried(tuple(content["demonstrations"]), content["scores"], content["is_kept"])


def _materials(metric: str, targets: Sequence[int]) -> dict[int, ScoringMaterial]:
    """Return the material of a metric by target, for those targets that still exist."""
    run = MetricRun(metric=metric, parameters={})  # a run without an evidence choice
    response_of = dict(Target.objects.filter(pk__in=targets).values_list("pk", "response"))
    return {each.target: each for each in material_of(response_of, targets, run)}


def _ask_about(metric: AutoMetric, material: ScoringMaterial | None) -> ScoreRequest | None:
    """Return the request to score a response; None when nothing can be asked."""
    found = metric.asked(material) if material else None
    return found if isinstance(found, ScoreRequest) else None


def _backend(hold: JobHold) -> Backend:
    """Open the language model of a search, and store its signature, revision and device.

    Raises:
        BackendError: the model cannot be used, or earlier prompts were tried with another one.
    """
    parameters = hold.job.parameters
    spec = ModelSpec(
        name=parameters["model"],
        **{name: parameters[name] for name in ModelSpec._fields if name in parameters},
    )
    # For a name on the hub, this is the newest commit at the time when the first prompt was tried.
    noted = hold.job.result.get("revision", "")
    backend = open_backend(as_listed_now(spec._replace(revision=spec.revision or noted)))
    made_with = {"backend_signature": backend.signature, "revision": backend.revision}
    earlier = {name: hold.job.result.get(name, made_with[name]) for name in made_with}
    if earlier != made_with:
        raise BackendError(
            f"{spec.name or spec.backend}: this search was started with "
            f"{earlier['backend_signature']} {earlier['revision']}, but the model here is now "
            f"{backend.signature} {backend.revision}. Put the earlier model back, or start a new "
            "search."
        )
    hold.note(**made_with, device=backend.device)
    pin_revision(spec.name, backend.revision)
    return backend


def _number(figure: float) -> float | None:
    return None if math.isnan(figure) else figure
