"""Table 5 and figure 4: citations and [NA] while pieces of knowledge are removed (KaLMA, 5.2)."""

from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from evaluation.graphs.experiments.reports.ablations import SAID, Ablation, Step, ablation
from evaluation.graphs.experiments.reports.run_rows import MADE_WITH, NOTHING, per_run, with_means
from evaluation.graphs.experiments.reports.runs_read import runs_read
from evaluation.graphs.reports.answer_figures import Counted, data_hash, need_graph, signature
from evaluation.graphs.reports.cited_answers import CitedAnswers
from evaluation.graphs.reports.incompetence import (
    METRIC,
    NaAnswer,
    is_failure,
    na_answers,
    na_counts,
    na_figures,
    na_statistics,
)
from evaluation.models import MetricRun
from evaluation.reports.base import Report, Row
from evaluation.reports.registry import NoChoices, ReportKind, columns
from evaluation.statistics.intervals import Figure
from generation.json_length import JsonLength
from generation.models import Dataset, Response
from generation.text.prompt_types import PromptType

REPORT = "removal"


class _Material(NamedTuple):
    made: Ablation
    run: MetricRun | None  # of [NA]
    na: Mapping[int, list[NaAnswer]]  # by setup
    n_removed: Mapping[int, list[int | None]]  # by setup, of its answers; None: not known
    figures: Mapping[int, Mapping[str, Figure]]  # by setup


def removal_report(dataset: Dataset) -> Report:
    """Return a row for each group of seeded runs from which `n_removed` members were removed.

    From 0, the gold graphs, as the prompts' names say it; `n_triples_removed` were, as some sets
    have fewer. Figures as `rows` has them: those on citations, micro, and `na_precision`,
    `na_recall` and `na_f1` of the newest run of [NA] that is done, undefined where nothing was
    removed; of runs that admit nothing recall and F1 are 0. A family's rows are over the
    `n_common` examples that all of them have (see `ablations`); `n_other_answers` are left out for
    that.

    Raises:
        CannotReport: there is no graph.
    """
    need_graph(dataset)
    return _report(dataset, _material(dataset))


def _report(dataset: Dataset, material: _Material) -> Report:
    steps = material.made.steps
    said = [f"[NA] by {material.run.full_signature}"] if material.run and material.na else []
    return Report(
        dataset.name,
        REPORT,
        with_means(
            [
                {"n_removed": step.at} | material.made.row(step) | _removed(material, step.runs.ids)
                for step in steps
            ],
            [[material.figures[pk] for pk in step.runs.ids] for step in steps],
            material.made.answers.n_dialogs,
        ),
        material.made.left_out,
        signature(REPORT, *SAID, MADE_WITH, *said, data=_hash(material)),
    )


def run_rows(dataset: Dataset, row: Row) -> list[Row]:
    """Return a row for each run behind a row, with the figures its means are over.

    Raises:
        LookupError: the row is of another day: its setups are no step any more.
    """
    return _run_rows(_material(dataset), row)


def with_run_rows(dataset: Dataset, group: str) -> tuple[Report, list[Row]]:
    """Return the report, and `run_rows` of a group of it: none where there is no such group.

    Raises:
        CannotReport: there is no graph.
    """
    need_graph(dataset)
    material = _material(dataset)
    report = _report(dataset, material)
    named = [row for row in report.rows if row["group"] == group]
    return report, _run_rows(material, named[0]) if named else []


def _run_rows(material: _Material, row: Row) -> list[Row]:
    step = material.made.step_of(row)
    figures = [material.figures[pk] for pk in step.runs.ids]
    rows = per_run(step.runs.setups, figures, material.made.answers.n_dialogs)
    return [
        {"n_removed": step.at} | each | _of_run(material, step, each["setup_id"]) for each in rows
    ]


def compared_answers(dataset: Dataset) -> CitedAnswers:
    """Return the answers that the figures are over, those of all rows."""
    return ablation(dataset, _at, first=0).answers


def _of_run(material: _Material, step: Step, setup: int) -> Row:
    return material.made.counts(step, [setup]) | _removed(material, [setup])


def _at(kind: PromptType) -> int | None:
    return kind.n_removed if kind.accuracy == 100 else None


def _material(dataset: Dataset) -> _Material:
    made = ablation(dataset, _at, first=0)
    run = runs_read(dataset, [METRIC]).get(METRIC)
    by_setup: dict[int, list[NaAnswer]] = defaultdict(list)
    for each in na_answers([run], dict.fromkeys(made.setups), _counted(made)) if run else ():
        by_setup[each.setup].append(each)
    figures = made.figures()
    for pk in made.setups:
        figures[pk] |= _na_figures(run, _scored(by_setup[pk]))
    return _Material(made, run, by_setup, _n_removed(made), figures)


def _counted(made: Ablation) -> Counted:
    """Return the answers as reports on scores take them."""
    answers = made.answers
    responses = answers.responses.tolist()
    return Counted(
        dict(zip(responses, answers.setups.tolist(), strict=True)),
        dict(zip(responses, answers.dialogs.tolist(), strict=True)),
        answers.n_dialogs,
        answers.n_left_out,
    )


def _scored(found: list[NaAnswer]) -> list[NaAnswer]:
    return [each for each in found if each.of_removed and not each.problem]


def _na_figures(run: MetricRun | None, scored: list[NaAnswer]) -> dict[str, Figure]:
    if run is None or not scored:
        return {f"na_{name}": NOTHING for name in ("precision", "recall", "f1")}
    figures = na_figures(na_statistics(scored, run.cut), scored)
    return {f"na_{name}": figure for name, figure in figures.items()}


def _n_removed(made: Ablation) -> dict[int, list[int | None]]:
    """Return how many triples were removed for each answer; none of a whole graph; one query."""
    whole = {pk for step in made.steps if step.at == 0 for pk in step.runs.ids}
    here = set(made.answers.responses.tolist())
    found: dict[int, list[int | None]] = defaultdict(list)
    lengths = Response.objects.filter(setup__in=made.setups).order_by()
    for pk, setup, n in lengths.values_list("pk", "setup", JsonLength("removed")).iterator():
        if pk in here:
            found[setup].append(0 if n is None and setup in whole else n)
    return found


def _removed(material: _Material, setups: list[int]) -> Row:
    """Return what was removed for some setups, and how much of it [NA] was asked about."""
    lengths = [n for pk in setups for n in material.n_removed.get(pk, ())]
    known = [n for n in lengths if n is not None]
    of_runs = [each for pk in setups for each in material.na.get(pk, ())]
    scored = _scored(of_runs)
    counts = na_counts(na_statistics(scored, material.run.cut if material.run else 0.5))
    return {
        "n_triples_removed": sum(known),
        "removed_per_answer": sum(known) / len(known) if known else None,
        "n_unknown_removed": len(lengths) - len(known),
        "n_na_answers": len(scored),
        "n_na_failed": sum(map(is_failure, of_runs)),
        "n_asked_sentences": counts["n_na_sentences"],
        "n_right_sentences": counts["n_right_sentences"],
        "n_asked_triples": counts["n_removed"],
        "n_found_triples": counts["n_found"],
        "na_run": material.run.pk if material.run and scored else None,
    }


def _hash(material: _Material) -> str:
    said = [(each.key, *each[4:]) for of in material.na.values() for each in of]
    return data_hash([material.made.answers.data_hash, *said])


REMOVAL = ReportKind(
    key="removal",
    title="Removal of knowledge",
    lede="What answers say when knowledge that they need is removed from the graph.",
    about=Dataset,
    choices=NoChoices,
    make=lambda dataset, _: removal_report(dataset),
    columns=columns(
        "label",
        "n_removed",
        "n_runs",
        "n_answers",
        "n_common",
        "n_triples_removed",
        "correctness",
        "precision",
        "recall",
        "f1",
        "na_precision",
        "na_recall",
        "na_f1",
    ),
)
