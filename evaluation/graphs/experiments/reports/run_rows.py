"""What the tables of experiments share: a row for the runs of a group, and a row for each run.

A figure `x` of a row is the mean over the runs where it is defined; `x_n_undefined` says for how
many it is not. `x_deviation` is that of the sample of runs (n - 1), None for fewer than two. F1 is
that of the row's mean precision and mean recall, and has no deviation; that of [NA] is 0 where no
run admits anything. `x_low` and `x_high` resample dialogs, each resample for all runs at once; of
one run they are those of its own report.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import numpy as np

from evaluation.graphs.reports.alignment import Aligned, aligned_figures
from evaluation.graphs.reports.answer_figures import data_hash, with_intervals
from evaluation.graphs.reports.citations import citation_shares
from evaluation.graphs.reports.cited_answers import CitedAnswers
from evaluation.measures.citation import Mode
from evaluation.measures.seeded_runs import (
    f1_of_means,
    mean_and_deviation,
    mean_share,
    na_f1_of_means,
    value_of,
)
from evaluation.reports.base import Row, number
from evaluation.reports.setups import setup_row
from evaluation.runs.seeded_setups import SeededRuns, kind_of
from evaluation.statistics.intervals import Figure, share_from
from generation.json_length import JsonLength
from generation.models import Dataset, Response, Setup

# F1 → the precision and the recall that it is made of, and how.
F1_OF = {
    "f1": ("precision", "recall", f1_of_means),
    "macro_f1": ("macro_precision", "macro_recall", f1_of_means),
    "na_f1": ("na_precision", "na_recall", na_f1_of_means),
}
MADE_WITH = "mean over runs, deviation n - 1, F1 of the means"
REMOVED = "answers_with_removed_knowledge"  # though the name of their prompt says of none
NOTHING = Figure(np.zeros((0, 2)), np.zeros(0, np.int64), share_from)  # undefined

Figures = Mapping[str, Figure]  # of one run, by name


def setups_of(dataset: Dataset, row: Row) -> list[Setup]:
    """Return the setups behind a row of any table of experiments, in its order; one query."""
    found = dataset.setups.in_bulk(row["setup_ids"])
    return [found[pk] for pk in row["setup_ids"] if pk in found]


def answers_of(answers: CitedAnswers, setups: Collection[int]) -> CitedAnswers:
    """Return the answers of some setups, as they are."""
    return answers.at(np.flatnonzero(np.isin(answers.setups, list(setups))))


def removed_unsaid(dataset: Dataset) -> dict[int, str]:
    """Return the answers with removed knowledge whose prompt is none that removes any; one query.

    Their keys, by id. Imported answers say what was removed whatever they call their prompt.
    """
    said = Response.objects.of_benchmark().filter(dataset=dataset, removed__isnull=False)
    found = said.order_by().annotate(n=JsonLength("removed")).filter(n__gt=0)
    rows = found.values_list("pk", "key", "setup__prompt").iterator(chunk_size=5000)
    return {
        pk: key
        for pk, key, prompt in rows
        if (kind := kind_of(prompt)) is None or not kind.n_removed
    }


def of_prompts_word(dataset: Dataset, answers: CitedAnswers) -> CitedAnswers:
    """Return answers without those of `removed_unsaid`, which are counted as left out."""
    unsaid = removed_unsaid(dataset)
    is_out = np.isin(answers.responses, list(unsaid))
    n_left_out = {**answers.n_left_out, REMOVED: Counter(answers.setups[is_out].tolist())}
    keys = [unsaid[pk] for pk in answers.responses[is_out].tolist()]
    return answers.at(np.flatnonzero(~is_out))._replace(
        n_left_out=n_left_out,
        data_hash=data_hash([answers.data_hash, *keys]) if keys else answers.data_hash,
    )


def with_answers(groups: Iterable[SeededRuns], answers: CitedAnswers) -> list[SeededRuns]:
    """Return groups with those of their runs that have answers; none without any."""
    there = set(np.unique(answers.setups).tolist())
    return _with_setups(groups, lambda setup: setup in there)


def without_setups(groups: Iterable[SeededRuns], setups: Collection[int]) -> list[SeededRuns]:
    """Return groups without some of their runs, by id; none without any."""
    return _with_setups(groups, lambda setup: setup not in setups)


def _with_setups(groups: Iterable[SeededRuns], is_kept: Callable[[int], bool]) -> list[SeededRuns]:
    kept = [
        group._replace(setups=tuple(setup for setup in group.setups if is_kept(setup.pk)))
        for group in groups
    ]
    return [group for group in kept if group.setups]


def run_figures(
    answers: CitedAnswers, setups: Iterable[int], mode: Mode, found: Iterable[Aligned] = ()
) -> dict[int, dict[str, Figure]]:
    """Return the figures on citations of each setup, with `aligned` and `macro_aligned`.

    Args:
        found: what one run of alignment says of these answers.
    """
    by_setup: dict[int, list[Aligned]] = {}
    for each in found:
        by_setup.setdefault(int(answers.setups[each.place]), []).append(each)
    figures = {}
    for pk in setups:
        of_run = by_setup.get(pk)
        alignment = aligned_figures(of_run, answers) if of_run else {}
        figures[pk] = {
            **citation_shares(answers_of(answers, [pk]), mode),
            "aligned": alignment.get("aligned", NOTHING),
            "macro_aligned": alignment.get("macro_aligned", NOTHING),
        }
    return figures


def with_means(
    rows: Sequence[Row], of_rows: Sequence[Sequence[Figures]], n_dialogs: int
) -> list[Row]:
    """Return rows with the figures of their runs.

    Args:
        of_rows: the runs of each row, one at least; all have figures of the same names.
    """
    joint = [_joint(runs, n_dialogs) for runs in of_rows]
    made = with_intervals(rows, joint, n_dialogs)
    return [row | _spread(runs) for row, runs in zip(made, of_rows, strict=True)]


def per_run(setups: Sequence[Setup], runs: Sequence[Figures], n_dialogs: int) -> list[Row]:
    """Return a row for each run, with the figures that the mean is over."""
    rows = [setup_row(setup) | {"n_runs": 1} for setup in setups]
    return with_intervals(rows, runs, n_dialogs)


def _joint(runs: Sequence[Figures], n_dialogs: int) -> dict[str, Figure]:
    """Return each figure over all runs as one."""

    def of(name: str) -> list[Figure]:
        return [run[name] for run in runs]

    joint = {name: mean_share(of(name), n_dialogs) for name in runs[0] if name not in F1_OF}
    for name in runs[0].keys() & F1_OF.keys():
        precision, recall, made_of = F1_OF[name]
        joint[name] = made_of(of(precision), of(recall), n_dialogs)
    return joint


def _spread(runs: Sequence[Figures]) -> Row:
    """Return how far runs differ, and how many have no such figure."""
    spread: Row = {}
    for name in runs[0]:
        values = [value_of(run[name]) for run in runs]
        if name not in F1_OF:
            spread[f"{name}_deviation"] = number(mean_and_deviation(values).deviation)
        spread[f"{name}_n_undefined"] = int(np.isnan(values).sum())
    return spread
