"""Votes as tidy CSV: one row per rater × target × question."""

import csv
from collections.abc import Iterator

from annotation.models import Study, Vote
from annotation.schemes import load_scheme
from evaluation.votes.counts import flagged_responses, gold_targets
from generation.importers.spreadsheet import LineFile, csv_cell

COLUMNS = {
    "study": "arm__study__name",
    "arm": "arm__kind",
    "dialog": "target__response__example__dialog",
    "example": "target__response__example__key",
    "response": "target__response__key",
    "setup": "target__response__setup__name",
    "citation": "target__citation__number",
    "question": "question",
    "rater": "rater__code",
    "answer": "answer",
    "implied": "is_implied",
    "surplus": "is_surplus",
    "excluded": "rater__is_excluded",
    "flagged": "target__response",
    "gold": "target",
    "simulated": "rater__is_simulated",
    "position": "position",
    "seconds": "seconds",
    "at": "at",
    "source_id": "source_id",
}
CHUNK = 5000


def tidy_votes_csv(study: Study) -> Iterator[str]:
    """Yield the lines of a study's tidy CSV. Raters are codes, and answers are words."""
    rows = csv.writer(LineFile())
    yield rows.writerow(COLUMNS)
    scheme = load_scheme(study.scheme)
    scales = {question.key: question.scale for question in scheme.questions}
    question_at, answer_at, flagged_at, gold_at, arm_at = (
        list(COLUMNS).index(name) for name in ("question", "answer", "flagged", "gold", "arm")
    )
    gold = set(gold_targets(study))
    flagged = {
        arm.kind: set(flagged_responses(arm, with_excluded=False))
        for arm in study.arms.select_related("study")
    }
    votes = Vote.objects.filter(arm__study=study).order_by("pk").values_list(*COLUMNS.values())
    for vote in votes.iterator(chunk_size=CHUNK):
        cells = [csv_cell(value) for value in vote]
        cells[answer_at] = csv_cell(scales[vote[question_at]].label(vote[answer_at]))
        cells[flagged_at] = csv_cell(vote[flagged_at] in flagged[vote[arm_at]])
        cells[gold_at] = csv_cell(vote[gold_at] in gold)
        yield rows.writerow(cells)
