"""The report on [NA]: whether answers admit what was removed from their graph (KaLMA, 4.4)."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, NamedTuple

import numpy as np
from django.db.models import F

from evaluation.graphs.reports import methods
from evaluation.graphs.reports.alignment import AlignmentRunColumns, run_columns
from evaluation.graphs.reports.answer_figures import (
    AnswerChoices,
    Counted,
    chosen_setups,
    counted_responses,
    need_graph,
    scores_of_answers,
    share_figure,
)
from evaluation.graphs.reports.leads import answers_address, to_run
from evaluation.measures.incompetence import incompetence_figures, incompetence_statistics
from evaluation.metrics.incompetence import NOT_KNOWN, NOTHING_REMOVED
from evaluation.models import MetricRun
from evaluation.reports.columns import Column, Estimate, Format
from evaluation.reports.estimates import Planned, data_hash, signature_of, with_estimates
from evaluation.reports.registry import ReportGroup, ReportKind
from evaluation.reports.report import LeftOut, Report, ReportRow
from evaluation.reports.setups import SetupColumns, setup_columns
from evaluation.runs.item_scores import cut_of, labelled_runs, runs_left_out
from evaluation.statistics.intervals import Floats, Statistic
from generation.models import Dataset

METRIC = "incompetence"


@dataclass(frozen=True, kw_only=True)
class NaCounts(ReportRow):
    """The numbers of sentences with [NA] and of removed triples, and of those that match."""

    n_na_sentences: Annotated[int, Column("[NA] sentences", Format.COUNT)]
    n_right_sentences: int  # sentences with [NA] that entail a removed triple
    n_removed: Annotated[int, Column("Removed triples", Format.COUNT)]
    n_found: int  # removed triples that a sentence with [NA] entails


@dataclass(frozen=True, kw_only=True)
class NaRow(ReportRow):
    """The figures of one run on how well a setup's answers say what their graphs lack."""

    of: SetupColumns
    by: AlignmentRunColumns
    n_answers: Annotated[int, Column("Answers", Format.COUNT)]
    n_failed: Annotated[int, Column("Failed", Format.COUNT)]  # answers
    counts: NaCounts
    precision: Annotated[Estimate, Column("Precision", Format.PERCENT)]
    recall: Annotated[Estimate, Column("Recall", Format.PERCENT)]
    f1: Annotated[Estimate, Column("F1", Format.PERCENT)]


class NaAnswer(NamedTuple):
    """The result of one run for one answer, see `IncompetenceMetric`."""

    run: int
    key: str  # key of the response
    response: int
    setup: int
    dialog: int  # number of its dialog
    problem: str  # "": it has a score
    of_sentences: tuple[float, ...]  # the highest probability of each sentence with [NA]
    of_removed: tuple[float, ...]  # the highest probability of each removed triple


def incompetence_report(dataset: Dataset, setup: str = "") -> Report[NaRow]:
    """Return a row for each setup and run of [NA], over answers with something removed.

    `precision` is the share of sentences with [NA] (`n_na_sentences`) that entail a removed triple.
    `recall` is the share of removed triples (`n_removed`) that such a sentence entails. `f1` is
    that of the two. All are micro. Without a sentence with [NA], precision is undefined, and recall
    and F1 are 0. Answers from whose graph nothing was removed do not count, and neither do imported
    scores that do not say what was found.

    Raises:
        CannotReport: there is no graph, or no setup of that name.
    """
    need_graph(dataset)
    setups = chosen_setups(dataset, setup)
    runs = labelled_runs(dataset, METRIC)
    counted = counted_responses(dataset)
    found = na_answers(runs, setups, counted)
    by_row: dict[tuple[int, int], list[NaAnswer]] = defaultdict(list)
    for each in found:
        by_row[each.run, each.setup].append(each)
    planned = []
    for pk, one in setups.items():
        for run in runs:
            answers = by_row.get((run.pk, pk), [])
            scored = [each for each in answers if each.of_removed and not each.problem]
            n_failed = sum(is_failure(each) for each in answers)
            if not scored and not n_failed:
                continue  # Nothing was ever removed from this setup's graphs.
            statistics = na_statistics(scored, cut_of(run))
            make = partial(
                NaRow,
                of=setup_columns(one),
                by=run_columns(run),
                n_answers=len(scored),
                n_failed=n_failed,
                counts=incompetence_counts(statistics),
            )
            planned.append(Planned(make, na_figures(statistics, scored)))
    left_out: LeftOut = {
        **counted.left_out(setups),
        "answers_with_nothing_removed": _n_answers(
            found, lambda each: each.problem == NOTHING_REMOVED
        ),
        "answers_without_known_removal": _n_answers(found, lambda each: each.problem == NOT_KNOWN),
        "failed_answers": _n_answers(found, is_failure),
        "answers_without_details": _n_answers(
            found, lambda each: not each.problem and not each.of_removed
        ),
        **runs_left_out(dataset, METRIC),
    }
    said = [f"setup {setup} only"] if setup else []
    signatures = {run.pk: run.full_signature for run in runs}
    data = data_hash([(signatures[each.run], each.key, *each[4:]) for each in found])
    return Report(
        dataset.name,
        METRIC,
        list(with_estimates(planned, counted.n_dialogs)),
        left_out,
        signature_of(METRIC, *said, "micro", data=data),
    )


def na_answers(
    runs: Sequence[MetricRun], setups: Mapping[int, Any], counted: Counted
) -> list[NaAnswer]:
    """Return the results of runs for the answers that count. This takes one query."""
    found = scores_of_answers(runs, setups).values_list(
        "run",
        F("target__response__key"),
        F("target__response"),
        F("target__response__setup"),
        "problem",
        "details",
    )
    rows: Any = found.iterator(chunk_size=5000)
    return sorted(
        NaAnswer(run, key, response, setup, counted.dialogs[response], problem, *_read(details))
        for run, key, response, setup, problem, details in rows
        if response in counted.setups
    )


def _read(details: Mapping[str, Any]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    def probabilities(name: str) -> tuple[float, ...]:
        return tuple(float(each["probability"]) for each in details.get(name, ()))

    try:
        return probabilities("na_sentences"), probabilities("removed")
    except (KeyError, TypeError, ValueError, OverflowError):  # Imports may contain anything.
        return (), ()


def is_failure(answer: NaAnswer) -> bool:
    return answer.problem not in ("", NOTHING_REMOVED, NOT_KNOWN)


def _n_answers(found: Sequence[NaAnswer], is_so: Callable[[NaAnswer], bool]) -> int:
    """Return how many answers have a result for which `is_so` holds. Each answer counts once."""
    return len({each.response for each in found if is_so(each)})


def na_statistics(answers: Sequence[NaAnswer], cut: float) -> Floats:
    """Return the statistics of some answers, (n_answers, 4). See `incompetence_statistics`."""
    sentences = [(p, place) for place, each in enumerate(answers) for p in each.of_sentences]
    removed = [(p, place) for place, each in enumerate(answers) for p in each.of_removed]
    return incompetence_statistics(
        np.array([p for p, _ in sentences], float),
        np.array([place for _, place in sentences], np.int64),
        np.array([p for p, _ in removed], float),
        np.array([place for _, place in removed], np.int64),
        len(answers),
        cut,
    )


def incompetence_counts(statistics: Floats) -> NaCounts:
    """Return the total counts of some answers from their `statistics`, (n_answers, 4)."""
    n_right, n_sentences, n_found, n_removed = statistics.sum(axis=0).astype(int).tolist()
    return NaCounts(
        n_na_sentences=n_sentences,
        n_right_sentences=n_right,
        n_removed=n_removed,
        n_found=n_found,
    )


def na_figures(statistics: Floats, answers: Sequence[NaAnswer]) -> Mapping[str, Statistic]:
    of_answers = np.array([each.dialog for each in answers], np.int64)
    figures = incompetence_figures(statistics, of_answers)
    # These shares get one row for each sentence (precision) or triple (recall).
    for name in ("precision", "recall"):
        part, whole = figures[name].statistics.astype(np.int64).T
        figures[name] = share_figure(part, whole, of_answers)
    return figures


def _to_answers(dataset: Dataset, choices: object, row: NaRow) -> str:
    """Return the address of the answers of a row's setup that contain [NA]."""
    return answers_address(dataset, setup=row.of.setup_id, verdict="na")


INCOMPETENCE = ReportKind(
    key="incompetence",
    title="[NA]",
    lede="Gives how well the answers of each setup say what knowledge is missing.",
    group=ReportGroup.GRAPH,
    about=Dataset,
    methods=methods.INCOMPETENCE,
    choices=AnswerChoices,
    make=lambda dataset, choices: incompetence_report(dataset, choices.setup),
    rows=(NaRow,),
    leads={"setup": _to_answers, "judge": to_run},
)
