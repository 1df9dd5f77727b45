"""The rows that make the page of a unit, read with plain SQL in four statements.

Every rated unit waits for them. Django takes longer to build such statements than a database takes
to answer them, so the pages of raters would be half as fast with querysets.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeVar

from django.db import connection, models
from django.utils import timezone

from accounts.models import User
from annotation.models import Guideline, Rater, Study, Target, Unit
from generation.models import Citation, Dataset, Passage, Response, Turn

Loaded = TypeVar("Loaded", bound=models.Model)
LARGEST_ID = models.BigIntegerField.MAX_BIGINT  # an address may name any number


class GivenUnit(NamedTuple):
    """A unit that a rater has or had, with their slot, their draft and their progress."""

    unit: Unit
    arm: str
    has_slot: bool  # whether the rater has the slot still
    is_submitted: bool  # whether they have submitted it in time
    answers: dict[int, dict[str, int]]  # the draft: target → question → answer
    seconds: float  # time on task so far, from the draft
    saved_at: datetime | None  # when the draft was saved
    guideline_version: int
    n_raters: int  # raters who take part in the rater's group
    n_submitted: int
    seconds_per_unit: float | None  # the median of the rater's newest units; None before seven
    n_enquiries: int  # how many questions the rater asked researchers about this unit


class UnitToJudge(NamedTuple):
    """A unit that a rater has or had, with the ids of its targets in their fixed order."""

    unit: Unit
    arm: str
    targets: list[int]


def _of(table: str, columns: Sequence[str]) -> str:
    return ", ".join(f'{table}."{column}"' for column in columns)


def _all_but(model: type[models.Model], *deferred: str) -> list[str]:
    """Return the columns of a model but for those that no page of a unit needs."""
    columns = [field.attname for field in model._meta.concrete_fields]
    return [column for column in columns if column not in deferred]


# The columns of models are in the order of their fields.
_RATER = _all_but(Rater, "excluded_reason", "joined_at", "browser", "network")
_STUDY = _all_but(Study, "introduction", "settings", "archived_at", "created_at")
AT_WORK = f"""
    SELECT newest_read.version, dataset.language, {_of("rater", _RATER)}, {_of("study", _STUDY)}
    FROM annotation_rater AS rater
      JOIN annotation_study AS study ON study.id = rater.study_id
      JOIN generation_dataset AS dataset ON dataset.id = study.dataset_id
      LEFT JOIN annotation_guideline AS newest_read ON newest_read.id = rater.read_guideline_id
    WHERE study.slug = %(slug)s AND rater.user_id = %(user)s
"""
# A unit that was given to a rater: they have a slot of it, or they have met its targets.
_UNIT = ("id", "arm_id", "example_id", "group", "is_gold", "is_always_full")
_GIVEN = """
    FROM annotation_unit AS unit
      JOIN annotation_arm AS arm ON arm.id = unit.arm_id
      LEFT JOIN annotation_assignment AS mine
        ON mine.unit_id = unit.id AND mine.rater_id = %(rater)s
      {more}
    WHERE unit.id = %(unit)s AND (mine.id IS NOT NULL OR EXISTS (
      SELECT 1 FROM annotation_exposure WHERE rater_id = %(rater)s AND unit_id = %(unit)s
    ))
"""
# The median time of the newest seven units that a rater has submitted. All votes about a response
# have its time, so those on one question have the time of the unit.
NEWEST = 7
OWN_SECONDS = f"""
    SELECT SUM(vote.seconds) AS seconds FROM (
      SELECT id FROM annotation_assignment
      WHERE rater_id = %(rater)s AND submitted_at IS NOT NULL
      ORDER BY submitted_at DESC LIMIT {NEWEST}
    ) AS done
      JOIN annotation_vote AS vote ON vote.assignment_id = done.id
        AND vote.question = %(question)s AND vote.seconds IS NOT NULL
    GROUP BY done.id ORDER BY seconds LIMIT 1 OFFSET {NEWEST // 2}
"""
TO_SHOW = f"""
    SELECT {_of("unit", _UNIT)}, arm.kind, mine.id IS NOT NULL, mine.submitted_at IS NOT NULL,
      draft.answers, draft.seconds, draft.saved_at,
      (SELECT MAX(version) FROM annotation_guideline WHERE study_id = %(study)s),
      (SELECT COUNT(*) FROM annotation_rater
       WHERE study_id = %(study)s AND "group" = %(group)s AND NOT is_excluded
         AND taken_out_at IS NULL),
      (SELECT COUNT(*) FROM annotation_assignment
       WHERE rater_id = %(rater)s AND submitted_at IS NOT NULL),
      ({OWN_SECONDS}),
      (SELECT COUNT(*) FROM annotation_enquiry
       WHERE unit_id = %(unit)s AND rater_id = %(rater)s)
""" + _GIVEN.format(
    more="LEFT JOIN annotation_draft AS draft "
    "ON draft.unit_id = unit.id AND draft.rater_id = %(rater)s"
)
TO_JUDGE = (
    f"SELECT place.target_id, arm.kind, {_of('unit', _UNIT)}"
    + _GIVEN.format(more="JOIN annotation_unittarget AS place ON place.unit_id = unit.id")
    + "ORDER BY place.place"
)
_RESPONSE = ("id", "example_id", "dataset_id", "text", "is_evidence_stated", "graph_shown")
_CITATION = ("id", "response_id", "number", "sentence", "qid", "relation", "value")
TARGETS = f"""
    SELECT place.target_id, flag.id IS NOT NULL, flag.reason,
      {_of("response", _RESPONSE)}, {_of("citation", _CITATION)}
    FROM annotation_unittarget AS place
      JOIN annotation_target AS target ON target.id = place.target_id
      JOIN generation_response AS response ON response.id = target.response_id
      LEFT JOIN generation_citation AS citation ON citation.id = target.citation_id
      LEFT JOIN annotation_flag AS flag ON flag.response_id = response.id
        AND flag.arm_id = %(arm)s AND flag.rater_id = %(rater)s
    WHERE place.unit_id = %(unit)s
    ORDER BY place.place
"""
TEXTS = """
    SELECT 'turn', turn."index" AS place, turn.id, turn.speaker, '', turn.text
    FROM generation_turn AS turn
    WHERE turn.example_id = %(example)s
  UNION ALL
    SELECT 'passage', shown.position, passage.id, passage.title, passage.url, passage.text
    FROM annotation_unitpassage AS shown
      JOIN generation_passage AS passage ON passage.id = shown.passage_id
    WHERE shown.unit_id = %(unit)s
    ORDER BY place
"""


def rater_at_work(user: User, slug: str) -> Rater | None:
    """Return the rater that a person is in a study, with what rating needs; None without one.

    The other fields of the rater, their study, its dataset and the guidelines that they read are
    deferred.
    """
    rows = _rows(AT_WORK, {"slug": slug, "user": user.pk})
    if not rows:
        return None
    version, language, *columns = rows[0]
    of_rater = dict(zip(_RATER, columns, strict=False))
    of_rater["taken_out_at"] = in_utc(of_rater["taken_out_at"])
    of_study = dict(zip(_STUDY, columns[len(_RATER) :], strict=True))
    for column in ("scheme", "n_units_by_group"):
        of_study[column] = json.loads(of_study[column])
    rater = _loaded(Rater, _RATER, list(of_rater.values()))
    rater.study = _loaded(Study, _STUDY, list(of_study.values()))
    of_dataset = (rater.study.dataset_id, language)
    rater.study.dataset = _loaded(Dataset, ("id", "language"), of_dataset)
    if version is not None:
        read = (rater.read_guideline_id, version)
        rater.read_guideline = _loaded(Guideline, ("id", "version"), read)
    return rater


def given_unit(rater: Rater, unit_id: int) -> GivenUnit | None:
    """Return a unit that a rater was given, with what is theirs; None if it was not."""
    of = {"study": rater.study_id, "group": rater.group, "rater": rater.pk, "unit": unit_id}
    of["question"] = rater.study.scheme["questions"][0]["key"]
    rows = _rows(TO_SHOW, of) if unit_id <= LARGEST_ID else []
    if not rows:
        return None
    unit, rest = rows[0][: len(_UNIT)], rows[0][len(_UNIT) :]
    arm, has_slot, is_submitted, answers, seconds, saved_at, *progress = rest
    version, n_raters, n_submitted, seconds_per_unit, n_enquiries = progress
    given = json.loads(answers) if answers else {}
    return GivenUnit(
        _loaded(Unit, _UNIT, unit),
        arm,
        bool(has_slot),
        bool(is_submitted),
        {int(target): of_target for target, of_target in given.items()},
        seconds or 0.0,
        in_utc(saved_at),
        version or 0,
        n_raters,
        n_submitted,
        seconds_per_unit if n_submitted >= NEWEST else None,
        n_enquiries,
    )


def given_to_judge(rater: Rater, unit_id: int) -> UnitToJudge | None:
    """Return a unit that a rater was given, with what a submit needs; None if it was not."""
    rows = _rows(TO_JUDGE, {"rater": rater.pk, "unit": unit_id}) if unit_id <= LARGEST_ID else []
    if not rows:
        return None
    _, arm, *unit = rows[0]
    return UnitToJudge(_loaded(Unit, _UNIT, unit), arm, [target for target, *_ in rows])


def targets_of(unit: Unit, rater: Rater) -> tuple[list[Target], dict[int, str]]:
    """Return a unit's targets in their fixed order, and the rater's flags by response.

    The responses have what raters see and what their evidence is found by; the rest is deferred.
    """
    targets: list[Target] = []
    flags: dict[int, str] = {}
    of = {"unit": unit.pk, "arm": unit.arm_id, "rater": rater.pk}
    for target, is_flagged, reason, *columns in _rows(TARGETS, of):
        of_response, of_citation = columns[: len(_RESPONSE)], columns[len(_RESPONSE) :]
        graph = of_response.pop()
        response = _loaded(Response, _RESPONSE, [*of_response, graph and json.loads(graph)])
        is_of_citation = of_citation[0] is not None
        citation = _loaded(Citation, _CITATION, of_citation) if is_of_citation else None
        targets.append(Target(pk=target, response=response, citation=citation))
        if is_flagged:
            flags[response.pk] = reason
    return targets, flags


def texts_of(unit: Unit) -> tuple[list[Turn], list[Passage]]:
    """Return the turns of a unit's dialog and the passages of its evidence, in their orders."""
    turns: list[Turn] = []
    passages: list[Passage] = []
    for kind, _, pk, name, url, text in _rows(TEXTS, {"unit": unit.pk, "example": unit.example_id}):
        if kind == "turn":
            turns.append(_loaded(Turn, ("id", "speaker", "text"), (pk, name, text)))
        else:
            columns = ("id", "title", "url", "text")
            passages.append(_loaded(Passage, columns, (pk, name, url, text)))
    return turns, passages


def in_utc(stored: datetime | None) -> datetime | None:
    """Return a moment from plain SQL with its time zone: SQLite's are in UTC, without a zone."""
    return stored.replace(tzinfo=UTC) if stored and timezone.is_naive(stored) else stored


def _rows(statement: str, of: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, of)
        return list(cursor.fetchall())


def _loaded(model: type[Loaded], columns: Sequence[str], row: Sequence[Any]) -> Loaded:
    """Return an object of some of its columns, in the order of its fields; others are deferred."""
    return model.from_db(connection.alias, columns, row)
