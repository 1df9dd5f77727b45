"""Ablations, whose steps lead away from the gold graphs: removal and accuracy (KaLMA, 5.2, 5.3).

The steps of a *family* differ only in what their prompts lack, and in seed and run. They are
compared over the examples that every run of every step has answered. Otherwise a question without a
minimum set would count in the first step only, because it has no prompt that lacks some of the
set. A single short run would leave few examples to compare. So runs that a grid has not finished,
and runs with less than half of the largest run's answers, are left out.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
from django.db.models import Exists, OuterRef

from evaluation.graphs.experiments.reports.run_rows import (
    RowOfRuns,
    answers_of,
    of_prompts_word,
    with_answers,
    without_setups,
)
from evaluation.graphs.reports.citations import AnswerCounts, citation_counts, citation_shares
from evaluation.graphs.reports.cited_answers import CitedAnswers, cited_answers
from evaluation.measures.citation import Mode
from evaluation.reports.columns import Column, Estimate, Format
from evaluation.reports.report import LeftOut, ReportRow
from evaluation.runs.seeded_setups import SeededRuns, grouped, kind_of
from evaluation.statistics.intervals import Statistic
from generation.models import Dataset, Grid, GridChunk, GridSetup
from generation.text.prompt_types import PromptType

SHOWN = ("correctness", "precision", "recall", "f1")  # micro figures
SAID = (
    "mode paper",
    "micro",
    "minimum set: the whole set",
    "examples that all rows of a group have",
)


class AblationStep(NamedTuple):
    """One step of a family: the runs of one row."""

    at: int  # number of removed pieces of knowledge, or accuracy in per cent
    runs: SeededRuns
    n_common: int  # examples that every run of the family has answered


# The columns of figures on citations, the same for all ablations.
_CITATIONS = "Citations, micro"
MicroCorrect = Annotated[Estimate, Column("Correct", Format.PERCENT, _CITATIONS)]
MicroPrecision = Annotated[Estimate, Column("Precision", Format.PERCENT, _CITATIONS)]
MicroRecall = Annotated[Estimate, Column("Recall", Format.PERCENT, _CITATIONS)]
MicroF1 = Annotated[Estimate, Column("F1", Format.PERCENT, _CITATIONS)]


@dataclass(frozen=True, kw_only=True)
class StepCounts(ReportRow):
    """Counts about some runs of a step."""

    family: str
    counts: AnswerCounts
    n_common: Annotated[int, Column("Questions", Format.COUNT)]
    n_other_answers: int
    n_made_up_minimum: int


class RowOfStep(RowOfRuns):
    """A row for the runs of a step, or for one of them."""

    step: StepCounts

    @property
    def at(self) -> int:
        """The number of removed pieces of knowledge, or the accuracy in per cent."""
        raise NotImplementedError

    @property
    def drawn_at(self) -> float | None:
        """The place of the step on the axis of a picture; None if it is not known."""
        return self.at


class Ablation(NamedTuple):
    """The steps of a dataset's families, and their answers to the common examples."""

    steps: list[AblationStep]
    answers: CitedAnswers
    n_other_answers: Mapping[int, int]  # setup id → number of its answers to other examples
    left_out: LeftOut

    @property
    def setups(self) -> list[int]:
        return [pk for step in self.steps for pk in step.runs.ids]

    def figures(self) -> dict[int, dict[str, Statistic]]:
        """Return the micro figures on citations of each setup, by id."""
        found = {}
        for pk in self.setups:
            figures = citation_shares(answers_of(self.answers, [pk]), Mode.PAPER)
            found[pk] = {name: figures[name] for name in SHOWN}
        return found

    def counts(self, step: AblationStep, setups: list[int]) -> StepCounts:
        """Return the counts about some runs of a step."""
        here = answers_of(self.answers, setups)
        return StepCounts(
            family=step.runs.family,
            counts=citation_counts(here, Mode.PAPER),
            n_common=step.n_common,
            n_other_answers=sum(self.n_other_answers[pk] for pk in setups),
            n_made_up_minimum=sum(each in here.made_up for each in here.examples.tolist()),
        )

    def step_of(self, group: str) -> AblationStep | None:
        """Return the step of a group of runs, or None if there is none."""
        return next((step for step in self.steps if step.runs.key == group), None)


def ablation(dataset: Dataset, at: Callable[[PromptType], int | None], first: int) -> Ablation:
    """Return the steps of an ablation, family by family, each family in order.

    Each family is shown for one state of the graph, without runs that are not finished or have few
    answers.

    Args:
        at: returns the place of a prompt type among the steps; None: it is no step.
        first: the place of the whole gold graph. Other steps follow it, the nearest first. A family
            without any other step is no ablation.
    """

    def place(prompt: str) -> int | None:
        kind = kind_of(prompt)
        return at(kind) if kind and kind.graph == "gold" else None

    answers = of_prompts_word(dataset, cited_answers(dataset))
    groups = with_answers(grouped(dataset, lambda prompt: place(prompt) is not None), answers)
    unfinished = _unfinished(dataset)
    n_unfinished = sum(pk in unfinished for runs in groups for pk in runs.ids)
    families: dict[str, list[AblationStep]] = defaultdict(list)
    for runs in without_setups(groups, unfinished):
        families[runs.family].append(AblationStep(place(runs.prompt) or 0, runs, 0))
    steps: list[AblationStep] = []
    kept: list[int] = []
    n_other_state = n_alone = n_thin = 0
    for every in families.values():
        of_state = _of_one_state(every)
        thin = _thin(of_state, answers, first)
        there = [
            step._replace(runs=runs)
            for step in of_state
            for runs in without_setups([step.runs], thin)
        ]
        if {step.at for step in there} <= {first}:
            n_alone += sum(len(step.runs.setups) for step in every)
            continue
        n_thin += len(thin)
        n_other_state += sum(len(step.runs.setups) for step in every if step not in of_state)
        setups = [pk for step in there for pk in step.runs.ids]
        common = _common(answers, setups)
        in_order = sorted(there, key=lambda step: abs(step.at - first))
        steps += [step._replace(n_common=len(common)) for step in in_order]
        is_here = np.isin(answers.setups, setups) & np.isin(answers.examples, list(common))
        kept += np.flatnonzero(is_here).tolist()
    of_steps = answers.of_setups([pk for step in steps for pk in step.runs.ids])
    here = answers.at(np.array(sorted(kept), np.int64))
    n_other = {
        pk: int((of_steps.setups == pk).sum() - (here.setups == pk).sum())
        for step in steps
        for pk in step.runs.ids
    }
    left_out = {
        **of_steps.left_out,
        "answers_to_examples_that_not_all_rows_have": sum(n_other.values()),
        "setups_of_another_state_of_the_graph": n_other_state,
        "setups_without_an_ablation": n_alone,
        "runs_not_at_their_end": n_unfinished,
        "runs_with_few_answers": n_thin,
    }
    return Ablation(steps, here, n_other, left_out)


def _unfinished(dataset: Dataset) -> set[int]:
    """Return the ids of setups with unfinished chunks that no finished grid has, by one query."""
    done = GridSetup.objects.filter(setup=OuterRef("setup"), grid__state=Grid.State.DONE)
    open_ = GridChunk.objects.filter(~Exists(done), grid__dataset=dataset)
    open_ = open_.exclude(state=GridChunk.State.DONE).order_by()
    return set(open_.values_list("setup", flat=True).distinct())


def _of_one_state(steps: Sequence[AblationStep]) -> list[AblationStep]:
    """Return the steps of one state of the graph, the newest step at each place.

    The state with the most places is chosen and, among several of these, the newest. A state that
    agrees with another of which more is known does not count as a state of its own.
    """
    states = {step.runs.graph_state for step in steps}
    candidates = [
        state
        for state in states
        if not any(state.agrees(other) and other.n_known > state.n_known for other in states)
    ]
    of_states = [
        [step for step in steps if step.runs.graph_state.agrees(state)] for state in candidates
    ]
    chosen = max(of_states, key=lambda of: (len({step.at for step in of}), max(map(_newest, of))))
    at_places = {step.at: step for step in sorted(chosen, key=_newest)}
    return [step for step in chosen if at_places[step.at] is step]


def _newest(step: AblationStep) -> int:
    return max(step.runs.ids)


def _thin(steps: Sequence[AblationStep], answers: CitedAnswers, first: int) -> set[int]:
    """Return the ids of setups with less than half of the answers of the largest run of all steps.

    Only examples that some later step than the first has answered are counted, because the other
    examples have no prompt that lacks something.
    """
    behind = [pk for step in steps if step.at != first for pk in step.runs.ids]
    asked = np.unique(answers.examples[np.isin(answers.setups, behind)])
    is_asked = np.isin(answers.examples, asked)
    sizes = {
        pk: int((is_asked & (answers.setups == pk)).sum()) for step in steps for pk in step.runs.ids
    }
    return {pk for pk, n in sizes.items() if 2 * n < max(sizes.values())}


def _common(answers: CitedAnswers, setups: list[int]) -> set[int]:
    """Return the ids of the examples that all of some setups have answered."""
    of_setups = [set(answers.examples[answers.setups == pk].tolist()) for pk in setups]
    return set.intersection(*of_setups)
