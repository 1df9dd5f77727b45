"""Export in the interchange format. An export can be imported again and gives the same figures."""

import csv
import io
import json
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from django.db.models import Case, Exists, OuterRef, Q, QuerySet, Value, When
from django.db.models.functions import Coalesce, Concat

from annotation.models import Flag, GoldAnswer, Rater, Study, Vote
from annotation.schemes import load_scheme
from annotation.study_file import PROBABILITIES
from evaluation.models import Adjudication, AutoScore
from evaluation.votes import rater_work
from evaluation.votes.assumed_answers import assumed_responses
from evaluation.votes.counts import gold_targets, n_responses
from evaluation.votes.dialog_probabilities import probabilities_of
from evaluation.votes.made_here import CALL_COLUMNS, call_rows, grid_rows, run_row, runs_of
from evaluation.votes.material_rows import (
    CHUNK,
    Row,
    entity_rows,
    example_rows,
    further_passages,
    kg_question_rows,
    passage_rows,
    response_rows,
    sample_row,
)
from generation.importers.dataset_file import DATASET_FILE
from generation.importers.spreadsheet import csv_cell
from generation.models import (
    Dataset,
    KGQuestion,
    RankedPassage,
    Response,
)
from generation.sample_rows import exported_samples
from generation.services.rankings import COLUMNS as RANKING_COLUMNS

Write = Callable[[IO[str]], None]


def export_files(dataset: Dataset, study: Study | None) -> dict[str, Write]:
    """Return the files of an export: name → the function that writes it, row by row."""
    files: dict[str, Write] = {}
    if facts := dataset.facts:
        files[DATASET_FILE] = lambda out: _write_json(out, facts)
    files |= {
        "examples.jsonl": lambda out: _write_jsonl(out, example_rows(dataset)),
        "responses.jsonl": lambda out: _write_jsonl(out, response_rows(dataset)),
    }
    if further_passages(dataset).exists():
        files["passages.jsonl"] = lambda out: _write_jsonl(out, passage_rows(dataset))
    if dataset.entities.exists():
        files["entities.jsonl"] = lambda out: _write_jsonl(out, entity_rows(dataset))
    if KGQuestion.objects.filter(example__dataset=dataset).exists():
        files["kg_questions.jsonl"] = lambda out: _write_jsonl(out, kg_question_rows(dataset))
    samples = exported_samples(dataset)
    if samples.exists():
        files["samples.jsonl"] = lambda out: _write_jsonl(out, map(sample_row, samples.iterator()))
    ranked = RankedPassage.objects.filter(ranking__dataset=dataset).order_by("pk")
    if ranked.exists():
        rows = ranked.values_list(*RANKING_COLUMNS.values())
        files["rankings.csv"] = lambda out: _write_csv(out, RANKING_COLUMNS, rows.iterator())
    scores = AutoScore.objects.filter(run__dataset=dataset)
    if scores.exists():
        columns = _with_if_any(SCORE_COLUMNS, "details", scores, {})
        files["scores.csv"] = lambda out: _write_csv(out, columns, _scores(scores, columns))
        files["runs.jsonl"] = lambda out: _write_jsonl(out, map(run_row, runs_of(dataset)))
    if dataset.grids.exists():
        files["grids.jsonl"] = lambda out: _write_jsonl(out, grid_rows(dataset))
        files["calls.csv"] = lambda out: _write_csv(out, CALL_COLUMNS, call_rows(dataset))
    if study is None:
        return files
    raters = Rater.objects.filter(study=study).order_by("code")
    rater_columns = _with_if_any(RATER_COLUMNS, "excluded_reason", raters, "")
    votes = _exported_votes(study)
    vote_columns = _with_if_any(VOTE_COLUMNS, "source_id", votes, "")
    files |= {
        "study.json": lambda out: _write_json(out, _study(study)),
        "scheme.json": lambda out: _write_json(out, study.scheme),
        "raters.csv": lambda out: _write_csv(
            out, rater_columns, raters.values_list(*rater_columns.values())
        ),
        "votes.csv": lambda out: _write_csv(out, vote_columns, _votes(votes, study, vote_columns)),
    }
    if Flag.objects.counted().filter(arm__study=study).exists():
        files["flags.csv"] = lambda out: _write_csv(out, FLAG_COLUMNS, _flags(study))
    if study.adjudications.exists():
        files["adjudications.csv"] = lambda out: _write_csv(
            out, DECISION_COLUMNS, _decisions(study)
        )
    return files


def export_folder(dataset: Dataset, study: Study | None, folder: Path) -> None:
    """Write an export into a new folder."""
    folder.mkdir(parents=True)
    for name, write in export_files(dataset, study).items():
        with (folder / name).open("w", encoding="utf-8", newline="") as out:
            write(out)


def export_zip(dataset: Dataset, study: Study | None, out: IO[bytes]) -> None:
    """Write an export as a zip."""
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, write in export_files(dataset, study).items():
            add_file(archive, name, write)


def add_file(archive: zipfile.ZipFile, name: str, write: Write) -> None:
    """Add a file to a zip, row by row."""
    with (
        archive.open(name, "w", force_zip64=True) as member,
        io.TextIOWrapper(member, encoding="utf-8", newline="") as text,
    ):
        write(text)


def _write_json(out: IO[str], data: object) -> None:
    json.dump(data, out, ensure_ascii=False, indent=2)
    out.write("\n")


def _write_jsonl(out: IO[str], rows: Iterable[Row]) -> None:
    for row in rows:
        out.write(json.dumps(row, ensure_ascii=False) + "\n")


def _write_csv(out: IO[str], columns: Mapping[str, str], rows: Iterable[Iterable[Any]]) -> None:
    lines = csv.writer(out)
    lines.writerow(columns)
    for row in rows:
        lines.writerow(map(_cell, row))


def _with_if_any(
    columns: Mapping[str, str], field: str, rows: QuerySet[Any], nothing: object
) -> Mapping[str, str]:
    """Return the columns, plus one for a field if it differs from `nothing` in any row."""
    return {**columns, field: field} if rows.exclude(**{field: nothing}).exists() else columns


def _cell(value: Any) -> Any:
    """Return a cell: an object as JSON ("" if it is empty), any other value by `csv_cell`."""
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False) if value else ""
    return csv_cell(value)


# --- people and metrics ---------------------------------------------------------------------

STUDY_DESIGN = (
    "introduction",
    "mixing",
    "may_meet_both_arms",
    "merged_layout",
    "response_order",
    "lease_minutes",
    "n_sampled",
    "n_drawn_from",
    "draw",
    "drawn_by",
)


def _study(study: Study) -> Row:
    further: Row = study.settings
    if not study.is_imported:
        further = further | {name: getattr(study, name) for name in STUDY_DESIGN}
        if not study.has_uniform_draw:
            further |= {PROBABILITIES: probabilities_of(study)}
        further |= {
            "n_responses": n_responses(study),
            "n_gold_items": len(gold_targets(study)),
            "n_slots_let_go_by_hand": study.assignments.filter(let_go_at__isnull=False).count(),
            rater_work.KEY: rater_work.as_json(study),
        }
    if assumed := _assumed(study):
        further = further | {"assumed": assumed}
    return further | {
        "name": study.name,
        "scheme": study.scheme["key"],
        "arms": [arm.kind for arm in study.arms.all()],
        "raters_per_unit": study.raters_per_unit,
        "evidence_choice": study.evidence_choice,
        "text_format": study.text_format,
        "seed": study.seed,
        "stops_when_decided": study.stops_when_decided,
        "full_share": study.full_share,
        "guidelines": list(study.guidelines.values("version", "text")),
    }


def _assumed(study: Study) -> list[str]:
    """Return the keys of responses with an assumed answer, since the sample is not exported."""
    ids = assumed_responses(study).responses.tolist()
    return sorted(Response.objects.filter(pk__in=ids).values_list("key", flat=True))


RATER_COLUMNS = {
    "rater": "code",
    "excluded": "is_excluded",
    "gold_score": "gold_score",
    "simulated": "is_simulated",
}
VOTE_COLUMNS = {
    "response": "target__response__key",
    "rater": "rater__code",
    "question": "question",
    "answer": "answer",
    "arm": "arm__kind",
    "citation": "target__citation__number",
    "position": "position",
    "seconds": "seconds",
    "at": "at",
    "implied": "is_implied",
}
FLAG_COLUMNS = {
    "response": "response__key",
    "rater": "rater__code",
    "arm": "arm__kind",
    "reason": "reason",
}
DECISION_COLUMNS = {
    "response": "target__response__key",
    "question": "question",
    "answer": "answer",
    "citation": "target__citation__number",
    "note": "note",
    "by": "who",
    "at": "at",
}
SCORE_COLUMNS = {
    "response": "target__response__key",
    "metric": "run__metric",
    "score": "score",
    "citation": "target__citation__number",
    "signature": "full_signature",
    "assumed": "is_assumed",
    "problem": "problem",
    "truncated": "n_truncated",
}


def _exported_votes(study: Study) -> QuerySet[Vote]:
    """Return the votes that count: surplus votes and votes on gold items are left out."""
    votes = Vote.objects.filter(arm__study=study, is_surplus=False).order_by("pk")
    return votes.exclude(target__in=list(gold_targets(study)))


def _votes(votes: QuerySet[Any], study: Study, columns: Mapping[str, str]) -> Iterator[list[Any]]:
    """Yield the rows of votes or decisions, with the labels of their answers; "" without one."""
    scales = {q.key: q.scale for q in load_scheme(study.scheme).questions}
    answer_at, question_at = (list(columns).index(name) for name in ("answer", "question"))
    for vote in votes.values_list(*columns.values()).iterator(chunk_size=5 * CHUNK):
        row = list(vote)
        answer = row[answer_at]
        row[answer_at] = "" if answer is None else scales[row[question_at]].label(answer)
        yield row


def _decisions(study: Study) -> Iterator[list[Any]]:
    """Yield all decisions about a study, oldest first, without those on gold items."""
    decisions = Adjudication.objects.filter(study=study).order_by("at", "pk")
    decisions = decisions.exclude(target__in=list(gold_targets(study)))
    coded = decisions.annotate(who=Coalesce("by__rater_code", "code"))
    yield from _votes(coded, study, DECISION_COLUMNS)


def _flags(study: Study) -> Iterator[tuple[Any, ...]]:
    """Yield the flags that count: those on gold items are left out, as surplus votes are."""
    gold = GoldAnswer.objects.filter(study=study).values("target__response")
    flags = (
        Flag.objects.counted().filter(arm__study=study).exclude(response__in=gold).order_by("pk")
    )
    yield from flags.values_list(*FLAG_COLUMNS.values()).iterator(chunk_size=5 * CHUNK)


def _after(words: str, column: str) -> Case:
    """Return a column with words before it, or "" where the column is empty."""
    return Case(When(**{column: ""}, then=Value("")), default=Concat(Value(words), column))


def _scores(scores: QuerySet[AutoScore], columns: Mapping[str, str]) -> Iterator[tuple[Any, ...]]:
    # This is `MetricRun.full_signature` in SQL. It includes the model of a run made here.
    signature = Concat(
        "run__signature",
        _after("|", "run__backend_signature"),
        _after("|revision:", "run__revision"),
    )
    signed = scores.annotate(full_signature=signature)
    # After an export was imported into its own installation, each score is stored twice; it is
    # exported once.
    same_here = signed.filter(
        run__is_imported=False,
        run__metric=OuterRef("run__metric"),
        full_signature=OuterRef("full_signature"),
        target=OuterRef("target"),
    )
    once = signed.filter(Q(run__is_imported=False) | ~Exists(same_here)).order_by("pk")
    yield from once.values_list(*columns.values()).iterator(chunk_size=5 * CHUNK)
