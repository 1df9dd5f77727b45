"""A run's scores, failures and choices, for its pages. This module only reads."""

import hashlib
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from django.db.models import Avg, Count, F, FloatField, Max, Min, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Floor, Greatest, Least

from annotation.models import Study
from evaluation.backends.registry import BACKENDS, words_rule
from evaluation.metrics.registry import METRICS, metric_of
from evaluation.models import AutoScore, MetricRun
from evaluation.runs.main_metrics import is_asked
from evaluation.runs.plan import BY_FLOOR, STUDIES_OF_CHOICE
from evaluation.runs.study_targets import is_about, is_of_citations
from generation.backends.registry import LANGUAGE_MODELS
from generation.evidence import EvidenceChoice
from generation.models import Turn
from generation.text.languages import rules_in_words, said_languages, without_function_words

EVIDENCE = {
    EvidenceChoice.SHOWN: "shown: what the model was given",
    EvidenceChoice.GOLDEN: "golden: what the dataset says is right",
    EvidenceChoice.RETRIEVED: "retrieved: what a search finds for dialog and response",
}
N_BINS = 10
BAR = 160  # width of the fullest bin, in px
ROW = 28  # height of a bin, in px


class Bin(NamedTuple):
    """A bin of scores from `low` to `high`. Only the last bin includes `high`."""

    number: int
    low: float
    high: float
    n: int
    bar: float  # width of the bin's bar, in px
    cut: float | None = None  # the threshold's place from the upper end, in px; None: elsewhere


class Histogram(NamedTuple):
    """A run's scores in ten bins of equal width.

    The bins cover the metric's scale, or the range of the scores if it is wider than the scale.
    """

    bins: list[Bin]
    low: float
    width: float
    n: int


class RunOutcome(NamedTuple):
    """The yes and the mean of a run's scores, without assumed ones, which no model gave."""

    n: int
    yes: float | None  # the share of labels that are yes; None without a threshold or a score
    mean: float | None


def outcome(run: MetricRun) -> RunOutcome:
    """Return the share of yes among a run's labels, and the mean of its scores."""
    over = "score__gte" if run.is_yes_at_threshold else "score__gt"
    is_yes = Q() if run.threshold is None else Q(**{over: run.threshold})
    said = _given(run).aggregate(n=Count("pk"), yes=Count("pk", filter=is_yes), mean=Avg("score"))
    has_labels = said["n"] and run.threshold is not None
    return RunOutcome(said["n"], said["yes"] / said["n"] if has_labels else None, said["mean"])


def histogram(run: MetricRun) -> Histogram:
    """Return the histogram of a run's scores, without assumed ones, which no model gave."""
    given = _given(run)
    ends = given.aggregate(low=Min("score"), high=Max("score"))
    usual_low, usual_high = _scale(run)
    low, high = ends["low"] or usual_low, ends["high"] or usual_high
    if low >= usual_low and high <= usual_high:
        low, high = usual_low, usual_high
    width = high - low or 1.0
    binned = given.annotate(bin=_bin(low, width)).order_by().values_list("bin")
    counts = {int(number): n for number, n in binned.annotate(n=Count("pk"))}
    most = max(counts.values(), default=1)
    bins = [
        Bin(
            number,
            low + width * number / N_BINS,
            low + width * (number + 1) / N_BINS,
            counts.get(number, 0),
            round(BAR * counts.get(number, 0) / most, 1),
            _cut(run.threshold, low + width * number / N_BINS, width / N_BINS, number),
        )
        for number in range(N_BINS)
    ]
    return Histogram(bins, low, width, sum(counts.values()))


def _cut(threshold: float | None, low: float, width: float, number: int) -> float | None:
    """Return the place of the threshold in a bin, in px; None if it is in none or in another."""
    if threshold is None:
        return None
    share = round((threshold - low) / width, 6)
    is_here = 0 <= share < 1 or (share == 1 and number == N_BINS - 1)
    return round(min(max(ROW * share, 1), ROW - 1), 1) if is_here else None


def _scale(run: MetricRun) -> tuple[float, float]:
    return (0.0, 1.0) if run.is_imported else METRICS[run.metric].scale


def listed_scores(
    run: MetricRun, shown: Histogram, number: int | None = None
) -> QuerySet[AutoScore]:
    """Return a run's scores with their responses, highest first, each with the question `asked`.

    Args:
        run: the run.
        shown: the run's histogram.
        number: the only bin whose scores are wanted; None: all scores.
    """
    scores = run.scores.exclude(score=None) if number is None else _given(run)
    if number is not None:
        scores = scores.annotate(bin=_bin(shown.low, shown.width)).filter(bin=number)
    turns = Turn.objects.filter(example=OuterRef("target__response__example"), speaker="user")
    asked = Subquery(turns.order_by("-index").values("text")[:1])
    of_responses = scores.select_related("target__citation", "target__response__setup")
    return of_responses.annotate(asked=asked).order_by("-score", "pk")


def failures(run: MetricRun, reason: str = "") -> QuerySet[AutoScore]:
    """Return the targets whose scoring failed, with the reason.

    Args:
        run: the run.
        reason: the only reason that is wanted; "": all reasons.
    """
    failed = run.scores.filter(score=None).select_related("target__citation", "target__response")
    return (failed.filter(problem=reason) if reason else failed).order_by("problem", "pk")


def failure_reasons(run: MetricRun, most: int) -> list[tuple[str, int]]:
    """Return the most frequent reasons of failures, each with its number of targets."""
    reasons = run.scores.filter(score=None).values_list("problem").annotate(n=Count("pk"))
    return list(reasons.order_by("-n", "problem")[:most])


def studies_of(runs: list[MetricRun]) -> dict[int, list[Study]]:
    """Return the studies whose raters say what each run scores, by the run's id, in one query.

    A study whose votes chose the threshold of the run comes before the others.
    """
    datasets = {run.dataset_id for run in runs}
    rated = Study.objects.filter(dataset__in=datasets).exclude(state=Study.State.PLANNED)
    studies = [(study, is_of_citations(study)) for study in rated.order_by("name")]
    return {run.pk: [*_showing(run, studies)] for run in runs}


def _showing(run: MetricRun, studies: list[tuple[Study, bool]]) -> Iterable[Study]:
    chosen_by = run.parameters.get(STUDIES_OF_CHOICE, [])
    shows = (
        study
        for study, citations in studies
        if study.dataset_id == run.dataset_id
        and is_about(run, citations=citations)
        and is_asked(run, study)
    )
    return sorted(shows, key=lambda study: study.slug not in chosen_by)


def choices_in_words(run: MetricRun) -> list[tuple[str, str]]:
    """Return every choice of a run that changes its numbers, as name and value.

    The list is empty for an imported run.
    """
    if run.is_imported:
        return []
    chosen = run.parameters
    named = [*metric_of(run.metric, chosen).described_choices]
    if evidence := chosen.get("evidence", ""):
        named.append(("Evidence", EVIDENCE.get(evidence, "")))
    named.append(("Sample", _sample(chosen)))
    named.append(("Language", _language(run)))
    and_more = "that or more" if run.is_yes_at_threshold else "a higher score"
    if run.threshold is not None:  # only imported runs have none
        by_floor = ". The controls chose it, without votes" if chosen.get(BY_FLOOR) else ""
        named.append(("Threshold", f"{run.threshold:g}: {and_more} counts as yes{by_floor}"))
    kind = BACKENDS.get(run.backend)
    named.append(("Backend", kind.title if kind else run.backend))
    if run.model_name:
        named += [("Model", run.model_name), ("Revision", run.revision)]
    if served_name := chosen.get("served_name"):
        named.append(("Served as", served_name))
    if kind and kind.needs_model and not kind.is_server:
        named.append(("Precision", chosen.get("precision", kind.precisions[0])))
    if run.device:
        named.append(("Device", run.device))
    index = chosen.get("entailment_index")
    return [*named, ("Entailment", f"output {index}")] if index is not None else named


def _language(run: MetricRun) -> str:
    """Return the language by whose rules texts were cut, and what the metric lacks in it."""
    said = run.dataset.language
    lacks = ""
    if words_rule(run.backend) and (lacking := " and ".join(without_function_words(said))):
        lacks = f". No function words of {lacking} are known, so all its words count"
    if run.backend in LANGUAGE_MODELS and any(each.code != "en" for each in said_languages(said)):
        lacks = ". The prompts that come with Attest are in English"
    return f"{rules_in_words(run.parameters.get('language') or said)}{lacks}"


def _sample(chosen: Mapping[str, Any]) -> str:
    n_sampled = chosen.get("n_sampled")
    if n_sampled is None:
        return "all responses"
    row = "group of runs that differ in seed and run alone"
    pool = row if chosen.get("sampled_by") == "row" else "model"
    return f"{n_sampled:,} responses of each {pool}, drawn by seed {chosen.get('seed', 0)}"


def setups_of_the_judge(run: MetricRun) -> set[int]:
    """Return the ids of the setups whose responses the judging language model itself wrote.

    Names decide: the name of the setup's model is one of the names of the run's model, which are
    its name in Attest, on the hub, and on its server. The part up to the last slash, a folder or an
    owner, is ignored, and so is the case of letters.
    """
    if run.backend not in LANGUAGE_MODELS:
        return set()
    is_server = LANGUAGE_MODELS[run.backend].is_server
    called = [run.model_name, run.parameters.get("served_name", "")]
    judge = {_last_part(name) for name in [*called, "" if is_server else run.model_location]}
    setups = run.dataset.setups.exclude(model="").values_list("pk", "model")
    return {pk for pk, model in setups if _last_part(model) in judge}


def n_of_setups(run: MetricRun, setups: Collection[int]) -> int:
    """Return the number of a run's scores of responses of these setups."""
    scored = run.scores.filter(score__isnull=False, target__response__setup__in=setups)
    return scored.count() if setups else 0


def _last_part(name: str) -> str:
    return name.rstrip("/").rpartition("/")[2].lower()


def data_digest(run: MetricRun) -> str:
    """Return a digest of all asks to the backend. Two runs over the same data have the same one."""
    whole = hashlib.sha256()
    in_order = "target__response__key", "target__citation__number", "target"
    asked = run.scores.exclude(digest="").order_by(*in_order)
    for key, digest in asked.values_list("target__response__key", "digest").iterator():
        whole.update(f"{key}\0{digest}\n".encode())
    return whole.hexdigest()[:16]


def _given(run: MetricRun) -> QuerySet[AutoScore]:
    return run.scores.filter(score__isnull=False, is_assumed=False)


def _bin(low: float, width: float) -> Greatest:
    """Return the number of a score's bin. The highest score belongs to the last bin."""
    place = Floor((F("score") - low) * float(N_BINS) / width)
    return Greatest(0.0, Least(N_BINS - 1.0, place), output_field=FloatField())
