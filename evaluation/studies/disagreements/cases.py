"""The details of a disagreement for pages and files: response, winning window, adjudications."""

import csv
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from annotation.models import Study, Target
from annotation.schemes import Question
from evaluation.models import Adjudication, AutoScore, MetricRun
from evaluation.reports.base import Choices
from evaluation.runs.materials import user_questions
from evaluation.runs.progress import title_of
from evaluation.studies.disagreements.worklist import Disagreement
from evaluation.votes.judgements import Decision, decision
from generation.evidence import EvidenceChoice, evidence_of, graphs_of
from generation.importers.spreadsheet import LineFile, csv_cell
from generation.models import Passage, Response
from generation.text.flat_graph import flat_graph
from generation.text.sentences import split_sentences

BATCH = 500
COLUMNS = (
    "study",
    "run",
    "question",
    "truth",
    "dialog",
    "example",
    "response",
    "citation",
    "setup",
    "kind",
    "n_yes",
    "n_no",
    "score",
    "threshold",
    "is_yes_at_threshold",
    "passage",
    "place",
    "window",
    "adjudicated",
    "note",
    "by",
    "at",
)


class Winner(NamedTuple):
    """The evidence that gave the score of a response, or of one of its sentences."""

    sentence: int | None  # number of the response's sentence, from 1; None: the whole response
    passage: Passage | None  # None: the whole evidence was one premise
    start: int  # offset in the passage, in characters
    end: int
    place: str  # "sentences 6–7 of 11"
    probability: float | None


class Case(NamedTuple):
    """One target with everything that is shown about it, apart from the form."""

    target: Target  # response, setup, dataset and citation are loaded with it
    user_question: str  # the last user turn; empty where the dialog is not known
    disagreement: Disagreement | None  # None: majority and score agree, or there is no score
    score: AutoScore | None
    winner: Winner | None  # if sentences were scored, the winner of the least supported sentence
    n_winners: int
    evidence: list[Passage]  # only if no window won: the passages of the run's evidence choice
    graph: str  # only if no window won: the graph of the run's evidence choice, as flat text
    decisions: list[Decision]  # newest first


def run_name(run: MetricRun) -> str:
    """Return the name of a run, with the model or backend that it asked."""
    asked = run.model_name or run.backend
    return f"{title_of(run)}, {asked}" if asked else title_of(run)


def evidence_choice(run: MetricRun | None, study: Study | None = None) -> str:
    """Return the evidence choice of a run.

    If the run does not store one, return the study's choice; without a study, `shown`.
    """
    said = run.parameters.get("evidence") if run else None
    if said in EvidenceChoice:
        return str(said)
    return study.evidence_choice if study else EvidenceChoice.SHOWN


def cases(
    study: Study,
    run: MetricRun | None,
    question: Question,
    targets: Mapping[int, Disagreement | None],
) -> list[Case]:
    """Return the cases of some targets, in their order, in a fixed number of statements.

    Args:
        targets: the targets of one page: id → its disagreement, or None where there is none.
    """
    rows = Target.objects.filter(pk__in=targets).select_related(
        "response__setup", "response__dataset", "response__example", "citation"
    )
    found = {target.pk: target for target in rows}
    scores = {s.target_id: s for s in AutoScore.objects.filter(run=run, target__in=targets)}
    winners = winners_of(scores.values())
    without = {found[pk].response_id for pk in targets if not _has_window(winners.get(pk, []))}
    evidence = evidence_passages(without, evidence_choice(run, study))
    graphs = evidence_graphs(without, evidence_choice(run, study))
    decided: dict[int, list[Decision]] = defaultdict(list)
    adjudications = Adjudication.objects.filter(
        study=study, question=question.key, target__in=targets
    )
    for adjudication in adjudications.select_related("study", "by", "target__citation"):
        decided[adjudication.target_id].append(decision(adjudication, question))
    asked = user_questions({target.response.example_id for target in found.values()})
    return [
        Case(
            found[pk],
            asked.get(found[pk].response.example_id, ""),
            disagreement,
            scores.get(pk),
            _least_supported(winners.get(pk, [])),
            len(winners.get(pk, [])),
            evidence.get(found[pk].response_id, []),
            graphs.get(found[pk].response_id, ""),
            decided.get(pk, []),
        )
        for pk, disagreement in targets.items()
    ]


def winners_of(scores: Iterable[AutoScore]) -> dict[int, list[Winner]]:
    """Return the winning windows of one run's scores by target, in the order of hypotheses."""
    windows = [(score.target_id, window) for score in scores for window in score.windows]
    passages = Passage.objects.select_related("dataset").in_bulk(
        {window["passage"] for _, window in windows if window["passage"] is not None}
    )
    n_sentences = {
        pk: len(split_sentences(passage.text, passage.dataset.language))
        for pk, passage in passages.items()
    }
    winners: dict[int, list[Winner]] = defaultdict(list)
    for target, window in windows:
        passage = passages.get(window["passage"])
        sentence = window["sentence"]
        winners[target].append(
            Winner(
                None if sentence is None else sentence + 1,
                passage,
                window["start"],
                window["end"],
                _place(window, n_sentences[passage.pk]) if passage else "",
                window["probability"],
            )
        )
    return winners


def _place(window: Mapping[str, Any], n_sentences: int) -> str:
    first, last = window["first"] + 1, window["last"] + 1
    if first == last:
        return f"sentence {first} of {n_sentences}"
    return f"sentences {first}–{last} of {n_sentences}"


def _has_window(winners: Collection[Winner]) -> bool:
    return any(winner.passage for winner in winners)


def _least_supported(winners: Sequence[Winner]) -> Winner | None:
    return min(winners, key=lambda winner: winner.probability or 0.0, default=None)


def evidence_passages(responses: Collection[int], choice: str) -> dict[int, list[Passage]]:
    """Return the passages of some responses under an evidence choice, by response id."""
    if not responses:
        return {}
    of_responses = evidence_of(Response.objects.filter(pk__in=responses), choice)
    passages = Passage.objects.in_bulk({pk for pks in of_responses.values() for pk in pks})
    return {response: [passages[pk] for pk in pks] for response, pks in of_responses.items()}


def evidence_graphs(responses: Collection[int], choice: str) -> dict[int, str]:
    """Return the graphs of some responses under an evidence choice, as flat text by response id."""
    if not responses:
        return {}
    graphs = graphs_of(Response.objects.filter(pk__in=responses), choice)
    return {response: flat_graph(graph) for response, graph in graphs}


def worklist_csv(
    study: Study,
    run: MetricRun | None,
    question: Question,
    choices: Choices,
    items: Sequence[Disagreement],
) -> Iterator[str]:
    """Yield the lines of a worklist as CSV. A researcher who adjudicated is named by a code."""
    rows = csv.writer(LineFile())
    yield rows.writerow(COLUMNS)
    remaining = iter(items)
    while batch := {item.target: item for item in islice(remaining, BATCH)}:
        for case in cases(study, run, question, batch):
            cells = _cells(case, study, run, question, choices)
            yield rows.writerow([csv_cell(cells.get(column, "")) for column in COLUMNS])


def _cells(
    case: Case, study: Study, run: MetricRun | None, question: Question, choices: Choices
) -> dict[str, Any]:
    response, item = case.target.response, case.disagreement
    cells: dict[str, Any] = {
        "study": study.name,
        "question": question.key,
        "truth": choices.truth,
        "dialog": response.example.dialog,
        "example": response.example.key,
        "response": response.key,
        "citation": case.target.citation.number if case.target.citation else "",
        "setup": response.setup.name,
    }
    if run:
        cells |= {"run": run.full_signature or run.metric, "threshold": run.threshold}
        cells["is_yes_at_threshold"] = run.is_yes_at_threshold
    if item:
        cells |= {"kind": item.kind, "n_yes": item.n_yes, "n_no": item.n_no, "score": item.score}
    if case.winner and case.winner.passage:
        passage = case.winner.passage
        window = passage.text[case.winner.start : case.winner.end]
        cells |= {"passage": passage.key, "place": case.winner.place, "window": window}
    if case.decisions:
        newest = case.decisions[0]
        cells |= {"adjudicated": newest.answer, "note": newest.note}
        cells |= {"by": newest.code, "at": newest.at}
    return cells
