"""The answers of raters and the scores of runs for each response of a study's setups.

Reports on few labels and on two sides are made from them.
"""

import hashlib
import math
from collections.abc import Sequence
from typing import Annotated, NamedTuple, Protocol, TypeVar

import numpy as np

from annotation.models import Study
from annotation.schemes import Question, load_scheme
from evaluation.models import AutoScore, MetricRun
from evaluation.reports.base import (
    Choices,
    CountedLabels,
    item_values,
    signature,
    study_counts,
    votes_left_out,
)
from evaluation.reports.registry import CannotReport
from evaluation.reports.report import LeftOut, Report, ReportRow
from evaluation.runs.item_scores import labels_of, runs_with_scores, scale_of
from evaluation.runs.names import run_key
from evaluation.runs.progress import titles_by_key
from evaluation.runs.study_targets import is_of_citations
from evaluation.statistics.intervals import Floats
from evaluation.statistics.prediction_powered import RatedPart
from evaluation.statistics.rater_answers import Unlabelled
from evaluation.statistics.tied_labels import with_halves
from evaluation.studies.reports.adjudicated_labels import decisions_signature
from evaluation.studies.reports.choices import check_choices
from evaluation.studies.reports.scenarios import setups_in_order
from evaluation.votes.all_responses import AllResponses, Bools, all_responses, draw_of
from evaluation.votes.counts import ArmCounts, n_raters
from evaluation.votes.people import People, people_of
from generation.choices.declaration import Choice, check_known
from generation.models import Setup

R = TypeVar("R", bound=ReportRow)
QuestionKey = Annotated[
    str, Choice("Question", help="The only question.", usual="the main questions of the scheme")
]
RunKey = Annotated[str, Choice("Metric", help="The only metric run, such as auto_ais-1f0c93ab.")]


class Answers(NamedTuple):
    """The raters' answers to one question for every response; NaN: no label or not rated."""

    people: People
    values: Floats  # (n,): labels, or medians of an ordinal question; 0 where it is assumed
    labels: Floats  # (n,): labels; 0 where it is assumed
    is_rated: Bools  # (n,): rated, or its answer is assumed
    is_assumed: Bools  # (n,)
    is_waiting: Bools  # (n,): without a label, and votes are still to come
    is_tied: Bools  # (n,): without a label, though all votes are in

    @property
    def question(self) -> Question:
        return self.people.question

    @property
    def is_ordinal(self) -> bool:
        """Whether values are on an ordinal scale; else they are 0 and 1."""
        return self.question.scale.kind == "ordinal"

    @property
    def has_mean(self) -> bool:
        """Whether the question has a mean. A nominal one has it if one of its labels is a yes."""
        return self.is_ordinal or not self.people.rule.why

    @property
    def missing_values(self) -> Unlabelled:
        """The responses without a value because of how they were rated; medians miss none."""
        if self.is_ordinal:
            nothing = np.zeros(len(self.values), bool)
            return Unlabelled(nothing, nothing)
        return Unlabelled(self.is_waiting, self.is_tied)

    @property
    def with_halves(self) -> "Answers":
        """The same answers, with ½ for each tied label."""
        return self._replace(
            values=with_halves(self.values, self.missing_values.is_tied),
            labels=with_halves(self.labels, self.is_tied),
        )

    def only(self, here: Bools) -> "Answers":
        """Return the answers for some responses; the others count as not rated."""
        return self._replace(
            values=np.where(here, self.values, math.nan),
            labels=np.where(here, self.labels, math.nan),
            **{
                name: getattr(self, name) & here
                for name in ("is_rated", "is_assumed", "is_waiting", "is_tied")
            },
        )

    @property
    def scale(self) -> tuple[float, float]:
        """The lowest and the highest value."""
        values = self.question.scale.values
        return (float(values[0]), float(values[-1])) if self.is_ordinal else (0.0, 1.0)


class ResponseScores(NamedTuple):
    """A run's score of each response, on the run's own scale; NaN: none, or it failed."""

    run: MetricRun
    values: Floats  # (n,): an assumed score counts, because the mean of a setup needs it
    is_assumed: Bools  # (n,)

    @property
    def key(self) -> str:
        """The key of the run."""
        return run_key(self.run)

    @property
    def labels(self) -> Floats:
        """The run's labels, 1 or 0; NaN without a score of the metric's own or a threshold."""
        return labels_of(self.run, np.where(self.is_assumed, math.nan, self.values))

    def on(self, scale: tuple[float, float]) -> Floats:
        """Return the scores on another scale, given by its lowest and highest value."""
        (low, high), (to_low, to_high) = scale_of(self.run), scale
        return to_low + (self.values - low) / (high - low) * (to_high - to_low)


class StudyValues(NamedTuple):
    """All responses of a study's setups, with the answers of raters and the scores of runs."""

    study: Study
    counted: Choices
    counts: Sequence[ArmCounts]
    everything: AllResponses
    answers: Sequence[Answers]  # one for each chosen question
    scores: Sequence[ResponseScores]  # one for each chosen run

    @property
    def setups(self) -> list[Setup]:
        """The setups that count, in the order of scenarios."""
        chosen = self.counted.setup
        return [each for each in setups_in_order(self.study) if chosen in ("", each.name)]

    def part(self, of_question: Answers, score: Floats) -> RatedPart:
        """Return answers and scores of all responses, with the dialogs that were drawn and rated.

        Scores are on the scale of the question.
        """
        everything, drawn = self.everything, self.everything.is_drawn
        if drawn is not None:
            has_votes = np.zeros(everything.n_dialogs, bool)
            has_votes[everything.dialogs[of_question.is_rated]] = True
            drawn = drawn & has_votes
        return RatedPart(of_question.values, score, everything.dialogs, drawn)

    def report(
        self, key: str, rows: Sequence[R], left_out: LeftOut | None = None, said: str = ""
    ) -> Report[R]:
        """Return a report that is made from these values.

        Args:
            left_out: what it leaves out, beside what all reports on the study do.
            said: a further part of its signature.
        """
        study, counted = self.study, self.counted
        everywhere = votes_left_out(study, self.counts, counted)
        return Report(
            study.name, key, rows, (left_out or {}) | everywhere, f"{self._signature(key)}{said}"
        )

    def _signature(self, key: str) -> str:
        said = signature(self.study, key, self.counted, self.counts, has_labels=True)
        said += decisions_signature([each.people for each in self.answers], self.counted)
        if draw := draw_of(self.study):
            said += f" | {draw[0]} dialogs drawn from {draw[1]}"
        if self.scores:
            digest = hashlib.sha256()
            for each in self.scores:
                digest.update(f"{each.run.full_signature} {each.run.threshold!r}".encode())
                digest.update(each.values.tobytes())
                digest.update(each.is_assumed.tobytes())
            said += f" | scores {digest.hexdigest()[:16]}"
        return said


class ValueChoices(Protocol):
    """The choices of a report that is made from these values."""

    @property
    def counted(self) -> CountedLabels: ...
    @property
    def question(self) -> str: ...
    @property
    def metric(self) -> str: ...


def values_of_study(
    study: Study, choices: ValueChoices, *, with_scores: bool = True
) -> StudyValues:
    """Return all responses of a study, with the answers and the scores that were chosen.

    Raises:
        CannotReport: raters judge citations, or the study has no arm.
    """
    if is_of_citations(study):
        raise CannotReport(
            "Raters of this study judge citations. This report is about studies of responses."
        )
    counted, question = choices.counted.choices, choices.question
    counts = study_counts(study, counted)
    of_arm, people = people_of(
        study, counted.truth, counts, question, adjudicated=counted.adjudicated
    )
    if of_arm is None:
        raise CannotReport("This study has no arm, so no response is rated.")
    main = {each.key for each in load_scheme(study.scheme).main_questions}
    everything = all_responses(study)
    answers = [
        _answers(study, everything, of_arm, each)
        for each in people
        if question or each.question.key in main
    ]
    runs = runs_with_scores(study) if with_scores else []
    scores = [
        scores_by_response(run, everything) for run in runs if choices.metric in ("", run_key(run))
    ]
    return StudyValues(study, counted, counts, everything, answers, scores)


def _answers(study: Study, everything: AllResponses, of_arm: ArmCounts, people: People) -> Answers:
    question, votes = people.question, of_arm.votes[people.question.key]
    medians = None
    if question.scale.kind == "ordinal":
        medians = item_values(question, votes, n_raters(study, votes))
    assumed = everything.places_of(of_arm.assumed.responses[of_arm.assumed.to(question)])
    is_assumed = np.zeros(len(everything.responses), bool)
    is_assumed[assumed[assumed >= 0]] = True
    places = everything.places_of(of_arm.items.responses)
    here = people.is_rated & (places >= 0)
    is_rated = is_assumed.copy()
    is_rated[places[here]] = True

    def of_responses(of_items: Floats) -> Floats:
        values = np.where(is_assumed, 0.0, math.nan)
        values[places[here]] = of_items[here]
        return values

    def which_responses(of_items: Bools) -> Bools:
        which = np.zeros(len(is_assumed), bool)
        which[places[here]] = of_items[here]
        return which

    labels = of_responses(people.labels)
    return Answers(
        people=people,
        values=labels if medians is None else of_responses(medians),
        labels=labels,
        is_rated=is_rated,
        is_assumed=is_assumed,
        is_waiting=which_responses(people.is_waiting),
        is_tied=which_responses(people.is_tied),
    )


def values_left_out(values: StudyValues) -> LeftOut:
    """Return how many values are missing because votes are missing or tied."""
    missing = [each.missing_values for each in values.answers]
    return {
        "waiting": sum(int(each.is_waiting.sum()) for each in missing),
        "tied": sum(int(each.is_tied.sum()) for each in missing),
    }


def scores_by_response(run: MetricRun, everything: AllResponses) -> ResponseScores:
    """Return a run's scores of all responses, in one query."""
    rows = AutoScore.objects.filter(run=run, target__citation=None, score__isnull=False)
    found = list(rows.order_by().values_list("target__response", "score", "is_assumed"))
    places = everything.places_of(np.array([row[0] for row in found], np.int64))
    here = places >= 0
    values = np.full(len(everything.responses), math.nan)
    is_assumed = np.zeros(len(everything.responses), bool)
    values[places[here]] = np.array([row[1] for row in found], np.float64)[here]
    is_assumed[places[here]] = np.array([row[2] for row in found], bool)[here]
    return ResponseScores(run, values, is_assumed)


def known_runs(study: Study) -> dict[str, str]:
    """Return the title of each run by its key."""
    return titles_by_key(runs_with_scores(study))


def known_values(study: Study) -> dict[str, dict[str, str]]:
    """Return the questions and the runs of a study in words, by choice and value."""
    questions = {key: key.replace("_", " ") for key in load_scheme(study.scheme).keys}
    return {
        "question": {"": "the main questions", **questions},
        "metric": {"": "each metric", **known_runs(study)},
    }


def check_values(study: Study, choices: ValueChoices) -> None:
    """Check that a study has the setup, the arm, the question and the run that were chosen.

    Raises:
        ChoiceError: it does not have them.
    """
    check_choices(study, choices.counted.choices)
    if choices.question:
        check_known("question", choices.question, load_scheme(study.scheme).keys)
    if choices.metric:
        check_known("metric", choices.metric, known_runs(study))
