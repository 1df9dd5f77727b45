"""The answers of raters and the scores of runs for each response of a study's setups.

Reports on few labels and on two sides are made from them.
"""

import hashlib
import math
from collections.abc import Sequence
from typing import Annotated, NamedTuple

import numpy as np

from annotation.models import Study
from annotation.schemes import Question, load_scheme
from evaluation.models import AutoScore, MetricRun
from evaluation.reports.base import Choices, item_values, signature
from evaluation.reports.registry import CannotReport
from evaluation.runs.item_scores import runs_with_scores, scale_of
from evaluation.runs.names import run_key
from evaluation.runs.progress import titles_by_key
from evaluation.runs.study_targets import is_of_citations
from evaluation.statistics.intervals import Floats
from evaluation.statistics.prediction_powered import RatedPart
from evaluation.studies.reports.adjudicated_labels import decisions_signature
from evaluation.studies.reports.choices import check_choices
from evaluation.votes.all_responses import AllResponses, Bools, all_responses, draw_of
from evaluation.votes.counts import ArmCounts, n_raters
from evaluation.votes.people import People, people_of
from generation.choices.declaration import Choice, check_known

QuestionKey = Annotated[
    str, Choice("Question", help="The only question.", usual="the main questions of the scheme")
]
RunKey = Annotated[str, Choice("Metric", help="The only metric run, such as auto_ais-1f0c93ab.")]


class Answers(NamedTuple):
    """The raters' answers to one question for every response; NaN: undecided or not rated."""

    people: People
    values: Floats  # (n,): labels, or medians of an ordinal question; 0 where it is assumed
    labels: Floats  # (n,): labels; 0 where it is assumed
    is_rated: Bools  # (n,): rated, or its answer is assumed
    is_assumed: Bools  # (n,)

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
    def scale(self) -> tuple[float, float]:
        """The lowest and the highest value."""
        values = self.question.scale.values
        return (float(values[0]), float(values[-1])) if self.is_ordinal else (0.0, 1.0)


class StudyResponses(NamedTuple):
    """All responses of a study's setups, the counted arm, and the answers to each question."""

    everything: AllResponses
    of_arm: ArmCounts
    answers: Sequence[Answers]

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


def responses_with_answers(
    study: Study, counted: Choices, counts: Sequence[ArmCounts], question: str
) -> StudyResponses:
    """Return all responses of a study, with the answers to one question or the main questions.

    Raises:
        CannotReport: raters judge citations, or the study has no arm.
    """
    if is_of_citations(study):
        raise CannotReport(
            "Raters of this study judge citations. This report is about studies of responses."
        )
    of_arm, people = people_of(
        study, counted.truth, counts, question, adjudicated=counted.adjudicated
    )
    if of_arm is None:
        raise CannotReport("This study has no arm, so no response is rated.")
    main = {each.key for each in load_scheme(study.scheme).main_questions}
    everything = all_responses(study)
    asked = [each for each in people if question or each.question.key in main]
    return StudyResponses(
        everything, of_arm, [_answers(study, everything, of_arm, each) for each in asked]
    )


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

    labels = of_responses(people.labels)
    values = labels if medians is None else of_responses(medians)
    return Answers(people, values, labels, is_rated, is_assumed)


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
        """The run's label of each response, 1 or 0; NaN without a score of the metric's own."""
        without = np.isnan(self.values) | self.is_assumed
        return np.where(without, math.nan, self.values > self.run.cut)

    def on(self, scale: tuple[float, float]) -> Floats:
        """Return the scores on another scale, given by its lowest and highest value."""
        (low, high), (to_low, to_high) = scale_of(self.run), scale
        return to_low + (self.values - low) / (high - low) * (to_high - to_low)


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


def runs_of(study: Study, key: str = "") -> list[MetricRun]:
    """Return the runs with scores of a study's responses, or only the one with this key."""
    runs = runs_with_scores(study)
    return [run for run in runs if not key or run_key(run) == key]


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


def check_question_and_run(study: Study, counted: Choices, question: str, run: str) -> None:
    """Check that a study has the setup, the arm, the question and the run that were chosen.

    Raises:
        ChoiceError: it does not have them.
    """
    check_choices(study, counted)
    if question:
        check_known("question", question, load_scheme(study.scheme).keys)
    if run:
        check_known("metric", run, known_runs(study))


def signature_of_values(
    study: Study,
    report: str,
    counted: Choices,
    counts: Sequence[ArmCounts],
    people: Sequence[People],
    scores: Sequence[ResponseScores],
) -> str:
    """Return the signature of a report that is made from votes, a draw and scores.

    Args:
        people: the raters' answers that the report is made from.
        scores: the scores of all responses, one for each run.
    """
    said = signature(study, report, counted, counts, has_labels=True)
    said += decisions_signature(people, counted)
    if draw := draw_of(study):
        said += f" | {draw[0]} dialogs drawn from {draw[1]}"
    if scores:
        digest = hashlib.sha256()
        for each in scores:
            digest.update(f"{each.run.full_signature} {each.run.threshold!r}".encode())
            digest.update(each.values.tobytes())
            digest.update(each.is_assumed.tobytes())
        said += f" | scores {digest.hexdigest()[:16]}"
    return said
