"""The rows that the tables of experiments share: one for a group of runs, and one for each run."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np

from evaluation.graphs.reports.alignment import Aligned, aligned_figures
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
from evaluation.reports.columns import Column, Estimate
from evaluation.reports.estimates import Planned, data_hash, with_estimates
from evaluation.reports.report import ReportRow, number
from evaluation.reports.setups import SetupColumns
from evaluation.runs.seeded_setups import GroupColumns, SeededRuns, kind_of
from evaluation.statistics.intervals import Statistic, share_from
from generation.json_length import JsonLength
from generation.models import Dataset, Response, Setup
from work.amounts import UNDEFINED

# F1 → the names of its precision and its recall, and the function that combines them.
F1_OF = {
    "f1": ("precision", "recall", f1_of_means),
    "macro_f1": ("macro_precision", "macro_recall", f1_of_means),
    "na_f1": ("na_precision", "na_recall", na_f1_of_means),
}
MADE_WITH = "mean over runs, deviation n - 1, F1 of the means"
# The reason for leaving out answers with removed knowledge whose prompt type removes none.
REMOVED = "answers_with_removed_knowledge"
# Prompts about whole graphs, first those of the paper's tables.
_PAPER_PROMPTS = ("graph-retrieved", "graph-imported", "graph-gold")
NOTHING = Statistic(np.zeros((0, 2)), np.zeros(0, np.int64), share_from)  # an undefined figure

Figures = Mapping[str, Statistic]  # the figures of one run, by name


@dataclass(frozen=True, kw_only=True)
class OneRun(ReportRow):
    """The columns that describe a single run, beside its figures."""

    of: SetupColumns
    n_runs: int = 1


class RowOfRuns(ReportRow):
    """A row for the runs of a group, or for one of them.

    A figure `x` is the mean over the runs where it is defined. F1 is computed from the mean
    precision and the mean recall. The F1 of [NA] is 0 if no run admits anything. Intervals are
    over the dialogs of all runs. The intervals of a single run are those of its own report.
    """

    runs: GroupColumns | OneRun
    # Two entries for each figure `x` of a group. `x_deviation` is the sample deviation over runs
    # (n - 1), or None for fewer than two runs; F1 has none. `x_n_undefined` is the number of runs
    # for which `x` is not defined.
    over_runs: Mapping[str, float | int | None]

    @property
    def group(self) -> GroupColumns:
        """The columns that describe the row's group.

        Raises:
            TypeError: the row is about one run.
        """
        if isinstance(self.runs, OneRun):
            raise TypeError("a row about one run has no group")
        return self.runs

    @property
    def setup_ids(self) -> list[int]:
        return [self.runs.of.setup_id] if isinstance(self.runs, OneRun) else self.runs.setup_ids

    def estimate(self, name: str) -> Estimate:
        """Return a figure by name."""
        found: Estimate = getattr(self, name)
        return found

    def deviation(self, name: str) -> float | None:
        """Return the deviation of a figure over runs, or None if it has none."""
        return self.over_runs.get(f"{name}_deviation")

    def n_undefined(self, name: str) -> int:
        """Return for how many runs a figure is not defined."""
        return int(self.over_runs.get(f"{name}_n_undefined") or 0)

    def text(self, name: str, column: Column) -> str:
        """Return a mean with its deviation, as the paper prints it: '81.2 (1.3), of 2'."""
        if self.deviation(name) is None:
            return super().text(name, column) + self._over(name)
        return self.paper_text(name, column)

    def paper_text(self, name: str, column: Column) -> str:
        """Return the same as `text`, but a figure without a deviation has no interval."""
        deviation = self.deviation(name)
        said = "" if deviation is None else f" ({column.format.write(deviation)})"
        return super().paper_text(name, column) + said + self._over(name)

    def _over(self, name: str) -> str:
        """Return the number of runs that a mean is over, if the figure of some is undefined."""
        n_undefined = self.n_undefined(name)
        return f", of {self.runs.n_runs - n_undefined}" if n_undefined else ""


class RowOfWholeGraphs(RowOfRuns):
    """A row of tables 3 and 4 of [K]: runs that were shown whole graphs, of any kind."""

    @classmethod
    def paper_rows(cls, rows: Sequence[ReportRow]) -> tuple[Sequence[ReportRow], str]:
        """Return the rows with one kind of prompt, and a caption that names it.

        The paper's tables are about retrieved graphs, so these are chosen if there are any.
        """
        n_rows = Counter((row.value("prompt"), row.value("prompt_title")) for row in rows)
        there = sorted(n_rows, key=lambda each: (*_PAPER_PROMPTS, each[0]).index(each[0]))
        (prompt, title), *others = there
        caption = f"Prompt type: {title or UNDEFINED}."
        if others:
            said = ", ".join(f"{n_rows[other]} of {other[1] or UNDEFINED}" for other in others)
            caption += f" Rows of other prompt types are left out: {said}."
        return [row for row in rows if row.value("prompt") == prompt], caption


RowOf = TypeVar("RowOf", bound=RowOfRuns)


def setups_of(dataset: Dataset, row: RowOfRuns) -> list[Setup]:
    """Return the setups behind a row of any table of experiments, in its order, by one query."""
    found = dataset.setups.in_bulk(row.setup_ids)
    return [found[pk] for pk in row.setup_ids if pk in found]


def row_of_group(rows: Sequence[RowOf], group: str) -> RowOf | None:
    """Return the row of a group, or None if there is none."""
    return next((row for row in rows if row.group.group == group), None)


def answers_of(answers: CitedAnswers, setups: Collection[int]) -> CitedAnswers:
    """Return the answers of some setups. What is left out stays that of all setups."""
    return answers.at(np.flatnonzero(np.isin(answers.setups, list(setups))))


def removed_unsaid(dataset: Dataset) -> dict[int, str]:
    """Return the keys, by id, of answers with removed knowledge whose prompt type removes none.

    There may be such answers, because imported ones state what was removed whatever the name of
    their prompt is. This takes one query.
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
    """Return the answers without those of `removed_unsaid`, which are counted as left out."""
    unsaid = removed_unsaid(dataset)
    is_out = np.isin(answers.responses, list(unsaid))
    n_left_out = {**answers.n_left_out, REMOVED: Counter(answers.setups[is_out].tolist())}
    keys = [unsaid[pk] for pk in answers.responses[is_out].tolist()]
    return answers.at(np.flatnonzero(~is_out))._replace(
        n_left_out=n_left_out,
        data_hash=data_hash([answers.data_hash, *keys]) if keys else answers.data_hash,
    )


def with_answers(groups: Iterable[SeededRuns], answers: CitedAnswers) -> list[SeededRuns]:
    """Return the groups with only the runs that have answers. Groups without any are dropped."""
    there = set(np.unique(answers.setups).tolist())
    return _with_setups(groups, lambda setup: setup in there)


def without_setups(groups: Iterable[SeededRuns], setups: Collection[int]) -> list[SeededRuns]:
    """Return the groups without some runs, given by id. Groups without any run are dropped."""
    return _with_setups(groups, lambda setup: setup not in setups)


def _with_setups(groups: Iterable[SeededRuns], is_kept: Callable[[int], bool]) -> list[SeededRuns]:
    kept = [
        group._replace(setups=tuple(setup for setup in group.setups if is_kept(setup.pk)))
        for group in groups
    ]
    return [group for group in kept if group.setups]


def run_figures(
    answers: CitedAnswers, setups: Iterable[int], mode: Mode, found: Iterable[Aligned] = ()
) -> dict[int, dict[str, Statistic]]:
    """Return the figures on citations of each setup, with `aligned` and `macro_aligned`.

    Args:
        found: the scores of one run of alignment for these answers.
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
    planned: Sequence[tuple[Callable[..., RowOf], Sequence[Figures]]], n_dialogs: int
) -> list[RowOf]:
    """Return rows with the means of the figures of their runs.

    Args:
        planned: for each row, the function that makes it from its estimates, and the figures of one
            or more runs. All runs have figures of the same names.
    """
    joint = [
        Planned(partial(make, over_runs=_spread(runs)), _joint(runs, n_dialogs))
        for make, runs in planned
    ]
    return list(with_estimates(joint, n_dialogs))


def per_run(planned: Sequence[tuple[Callable[..., RowOf], Figures]], n_dialogs: int) -> list[RowOf]:
    """Return a row for each run, with its own figures, which the means of groups are made of."""
    alone = [Planned(partial(make, over_runs={}), figures) for make, figures in planned]
    return list(with_estimates(alone, n_dialogs))


def _joint(runs: Sequence[Figures], n_dialogs: int) -> dict[str, Statistic]:
    """Return each figure as one statistic over all runs."""

    def of(name: str) -> list[Statistic]:
        return [run[name] for run in runs]

    joint = {name: mean_share(of(name), n_dialogs) for name in runs[0] if name not in F1_OF}
    for name, (precision, recall, made_of) in F1_OF.items():
        if name not in runs[0]:
            continue
        joint[name] = made_of(of(precision), of(recall), n_dialogs)
    return joint


def _spread(runs: Sequence[Figures]) -> dict[str, float | int | None]:
    """Return the deviation of each figure over runs, and how many runs it is undefined for."""
    spread: dict[str, float | int | None] = {}
    for name in runs[0]:
        values = [value_of(run[name]) for run in runs]
        if name not in F1_OF:
            spread[f"{name}_deviation"] = number(mean_and_deviation(values).deviation)
        spread[f"{name}_n_undefined"] = int(np.isnan(values).sum())
    return spread
