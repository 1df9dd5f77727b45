"""The sides of a comparison: setups, models or metrics, each with a value for every example."""

import math
from collections.abc import Iterator, Sequence
from typing import Annotated, NamedTuple

import numpy as np

from evaluation.reports.base import CountedLabels
from evaluation.statistics.intervals import Floats, ratio
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


class ComparedSide(NamedTuple):
    """One side: the mean value of its responses to each example; NaN: it has none."""

    name: str
    values: Floats  # (n_examples,): answers of raters, or scores if they alone count
    scores: Floats | None  # (n_examples,): those of a metric, if both count together


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
    scores: Floats | None = None
    is_rated: Bools | None = None


def groups_of(values: StudyValues, choices: ComparisonChoices) -> Iterator[Group]:
    """Yield the sides to compare: a group for each question and, if scores count, each run."""
    answers = [each for each in values.answers if each.has_mean]
    titles = known_runs(values.study) if values.scores else {}
    named = [(titles[each.key], each) for each in values.scores]
    if choices.compare == METRICS:
        for each in answers:
            sides = [
                ComparedSide(title, _by_example(values, _agreement(each, of_run)), None)
                for title, of_run in named
            ]
            yield Group(each.question.key, None, SHARE, sides, None)
        return
    masks = _masks(values, choices)
    for judged in _judgements(choices, values, answers, named):
        sides = [_side(values, name, judged, made_here) for name, made_here in masks]
        yield Group(judged.question, judged.metric, judged.scale, sides, judged.is_rated)


def _side(values: StudyValues, name: str, judged: _Judgement, made_here: Bools) -> ComparedSide:
    """Return the side of the responses that a setup or a model made."""
    scores = None if judged.scores is None else _by_example(values, judged.scores, made_here)
    return ComparedSide(name, _by_example(values, judged.values, made_here), scores)


def _judgements(
    choices: ComparisonChoices,
    values: StudyValues,
    answers: Sequence[Answers],
    named: Sequence[tuple[str, ResponseScores]],
) -> Iterator[_Judgement]:
    """Yield the values of all responses: for each question, each run, or each of both."""
    if choices.by == VOTES:
        for each in answers:
            yield _Judgement(each.question.key, None, _scale(each), each.values)
        return
    for title, of_run in named:
        if choices.by == SCORES:
            yield _Judgement(None, title, SHARE, of_run.on((0.0, 1.0)))
            continue
        for each in answers:
            part = values.part(each, of_run.on(each.scale))
            question, scale = each.question.key, _scale(each)
            yield _Judgement(question, title, scale, part.human, part.score, part.is_rated)


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
    """Return whether a run's label is that of the raters, for each response; NaN: no two labels."""
    human = np.where(answers.is_assumed, math.nan, answers.labels)
    has_both = ~np.isnan(human) & ~np.isnan(of_run.labels)
    return np.where(has_both, human == of_run.labels, math.nan)


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
