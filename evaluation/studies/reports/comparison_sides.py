"""The sides of a comparison: setups, models or metrics, each with a value for every example."""

import math
from collections.abc import Iterator, Sequence
from typing import Annotated, NamedTuple

import numpy as np

from evaluation.reports.base import CountedLabels
from evaluation.statistics.intervals import Floats, ratio
from evaluation.statistics.rater_answers import Unlabelled
from evaluation.statistics.tied_labels import chance_of_agreement
from evaluation.studies.reports.response_values import (
    Answers,
    QuestionKey,
    ResponseScores,
    RunKey,
    StudyValues,
    known_runs,
)
from evaluation.votes.all_responses import Bools
from generation.choices.declaration import Choice

SETUPS, MODELS, METRICS = "setups", "models", "metrics"
VOTES, SCORES, BOTH = "votes", "scores", "both"
SHARE, ORDINAL = "yes_no", "ordinal"


class ComparisonChoices(NamedTuple):
    """The choices that a reader may make about a comparison."""

    compare: Annotated[
        str,
        Choice(
            "Compare",
            {SETUPS: "setups", MODELS: "models", METRICS: "metrics"},
            help="What is compared: setups, models, or metrics by how often they agree with "
            "raters.",
        ),
    ] = SETUPS
    by: Annotated[
        str,
        Choice(
            "By",
            {
                VOTES: "answers of raters",
                SCORES: "scores of a metric",
                BOTH: "raters and metric together",
            },
            help="Whose judgement of setups and models counts.",
        ),
    ] = VOTES
    question: QuestionKey = ""
    metric: RunKey = ""
    counted: CountedLabels = CountedLabels()

    @property
    def needs_scores(self) -> bool:
        """Whether metric runs have a part in the comparison."""
        return self.compare == METRICS or self.by != VOTES

    @property
    def needs_answers(self) -> bool:
        """Whether answers of raters have a part in the comparison."""
        return self.compare == METRICS or self.by != SCORES


class ComparedSide(NamedTuple):
    """One side: the mean value of its responses to each example; NaN: it has none."""

    name: str
    values: Floats  # (n_examples,): answers of raters, or scores if they alone count
    scores: Floats | None  # (n_examples,): those of a metric, if both count together
    with_halves: Floats  # (n_examples,): values where each tied label counts ½
    is_waiting: Bools  # (n_responses,): its responses without an answer, with votes to come
    is_tied: Bools  # (n_responses,): its responses without an answer, with all votes in


class Group(NamedTuple):
    """The sides that are compared with each other, two at a time."""

    question: str | None  # None: raters have no part
    metric: str | None  # the title of a run; None: it has no part
    scale: str  # SHARE or ORDINAL
    sides: list[ComparedSide]
    is_rated: Bools | None  # `RatedPart` says what it is


class _Judgement(NamedTuple):
    """Values of all responses by raters, by a metric, or by both."""

    question: str | None
    metric: str | None
    scale: str
    values: Floats
    with_halves: Floats
    missing: Unlabelled
    scores: Floats | None = None
    is_rated: Bools | None = None


def groups_of(values: StudyValues, choices: ComparisonChoices) -> Iterator[Group]:
    """Yield the sides to compare: a group for each question and, if scores count, each run."""
    answers = [each for each in values.answers if each.has_mean]
    titles = known_runs(values.study) if values.scores else {}
    named = [(titles[each.key], each) for each in values.scores]
    if choices.compare == METRICS:
        for each in answers:
            sides = [_metric_side(values, title, each, of_run) for title, of_run in named]
            yield Group(each.question.key, None, SHARE, sides, None)
        return
    masks = _masks(values, choices)
    for judged in _judgements(choices, values, answers, named):
        sides = [_side(values, name, judged, made_here) for name, made_here in masks]
        yield Group(judged.question, judged.metric, judged.scale, sides, judged.is_rated)


def _metric_side(
    values: StudyValues, name: str, answers: Answers, of_run: ResponseScores
) -> ComparedSide:
    """Return the side of a metric: how often it agrees with the raters."""
    is_compared = ~np.isnan(of_run.labels) & ~answers.is_assumed
    return ComparedSide(
        name=name,
        values=_by_example(values, _agreement(answers, of_run)),
        scores=None,
        with_halves=_by_example(values, _agreement(answers.with_halves, of_run)),
        is_waiting=answers.is_waiting & is_compared,
        is_tied=answers.is_tied & is_compared,
    )


def _side(values: StudyValues, name: str, judged: _Judgement, made_here: Bools) -> ComparedSide:
    """Return the side of the responses that a setup or a model made."""
    return ComparedSide(
        name=name,
        values=_by_example(values, judged.values, made_here),
        scores=None if judged.scores is None else _by_example(values, judged.scores, made_here),
        with_halves=_by_example(values, judged.with_halves, made_here),
        is_waiting=judged.missing.is_waiting & made_here,
        is_tied=judged.missing.is_tied & made_here,
    )


def _judgements(
    choices: ComparisonChoices,
    values: StudyValues,
    answers: Sequence[Answers],
    named: Sequence[tuple[str, ResponseScores]],
) -> Iterator[_Judgement]:
    """Yield the values of all responses: for each question, each run, or each of both."""
    if choices.by == VOTES:
        for each in answers:
            yield _Judgement(
                each.question.key,
                None,
                _scale(each),
                each.values,
                each.with_halves.values,
                each.missing_values,
            )
        return
    nothing = np.zeros(len(values.everything.responses), bool)
    for title, of_run in named:
        if choices.by == SCORES:
            on_unit = of_run.on((0.0, 1.0))
            yield _Judgement(None, title, SHARE, on_unit, on_unit, Unlabelled(nothing, nothing))
            continue
        for each in answers:
            part = values.part(each, of_run.on(each.scale))
            yield _Judgement(
                each.question.key,
                title,
                _scale(each),
                part.human,
                each.with_halves.values,
                each.missing_values,
                part.score,
                part.is_rated,
            )


def _scale(answers: Answers) -> str:
    return ORDINAL if answers.is_ordinal else SHARE


def _masks(values: StudyValues, choices: ComparisonChoices) -> list[tuple[str, Bools]]:
    """Return each setup or model by name, with whether it made each response."""
    ids: dict[str, list[int]] = {}
    for setup in values.setups:
        name = setup.name if choices.compare == SETUPS else setup.model or setup.name
        ids.setdefault(name, []).append(setup.pk)
    made_by = values.everything.setups
    return [(name, np.isin(made_by, of_side)) for name, of_side in ids.items()]


def _agreement(answers: Answers, of_run: ResponseScores) -> Floats:
    """Return how far a run's label is that of the raters, for each response; NaN: no two labels."""
    human = np.where(answers.is_assumed, math.nan, answers.labels)
    return chance_of_agreement(human, of_run.labels)


def _by_example(
    values: StudyValues, of_responses: Floats, made_here: Bools | None = None
) -> Floats:
    """Return the mean value of each example's responses, or of those made by one side."""
    known = ~np.isnan(of_responses)
    if made_here is not None:
        known &= made_here
    examples = values.everything.examples[known]
    n_examples = len(values.everything.dialogs_of_examples)
    sums = np.bincount(examples, weights=of_responses[known], minlength=n_examples).astype(float)
    return ratio(sums, np.bincount(examples, minlength=n_examples).astype(np.float64))
