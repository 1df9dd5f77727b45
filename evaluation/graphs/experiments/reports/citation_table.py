"""Table 3: citation quality and alignment by model and temperature, over seeded runs (KaLMA)."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from evaluation.graphs.experiments.reports.costs import Cost, cost_of_runs, costs_of
from evaluation.graphs.experiments.reports.run_rows import (
    MADE_WITH,
    of_prompts_word,
    per_run,
    run_figures,
    setups_of,
    with_answers,
    with_means,
)
from evaluation.graphs.reports.alignment import (
    Aligned,
    aligned,
    n_complete_citations,
    newest_alignment,
)
from evaluation.graphs.reports.answer_figures import data_hash, need_graph, signature
from evaluation.graphs.reports.citations import USUAL, CitationChoices, counts_of, left_out_of
from evaluation.graphs.reports.cited_answers import CitedAnswers, cited_answers
from evaluation.models import MetricRun
from evaluation.reports.base import Report, Row
from evaluation.reports.registry import Column, Format, NoChoices, ReportKind, columns
from evaluation.runs.seeded_setups import seeded_runs
from evaluation.statistics.intervals import Figure
from generation.models import Dataset

REPORT = "citation_table"


class _Material(NamedTuple):
    """All that rows are made of."""

    answers: CitedAnswers  # of the setups asked for
    alignment: MetricRun | None
    aligned: list[Aligned]
    figures: Mapping[int, Mapping[str, Figure]]  # of each setup
    costs: Mapping[int, list[Cost]]


def citation_table(dataset: Dataset, choices: CitationChoices = USUAL) -> Report:
    """Return a row for each group of seeded runs that were shown a whole graph.

    Figures as `rows` has them: those of `citations_report`, and `aligned` and `macro_aligned` by
    `newest_alignment`, which has no score of `n_without_alignment` answers that it could. Counts
    are sums over the `n_runs`, of which one has `n_answers_least` and one `n_answers_most`; costs
    are those of `cost_row`. Answers from whose graph knowledge was removed are left out. `graph`
    says which one the answers were made with; "" where only the responses do. Of the `choices`
    mode and rounds matter.

    Raises:
        CannotReport: there is no graph.
    """
    need_graph(dataset)
    choices = choices._replace(setup="")
    whole = counted_answers(dataset, choices)
    every = seeded_runs(dataset)
    groups = with_answers(every, whole)
    made = _material(dataset, whole, [pk for group in groups for pk in group.ids], choices)
    rows = with_means(
        [group.row | _counts(made, group.ids, choices) for group in groups],
        [[made.figures[pk] for pk in group.ids] for group in groups],
        whole.n_dialogs,
    )
    n_others = len(set(whole.setups.tolist()) - set(made.figures))
    of_any = whole.of_setups([pk for group in every for pk in group.ids])
    return Report(
        dataset.name,
        REPORT,
        rows,
        {**left_out_of(of_any, choices), "setups_of_ablations": n_others},
        signature(REPORT, *choices.said, MADE_WITH, *_by(made), data=_data_hash(made)),
    )


def run_rows(dataset: Dataset, row: Row, choices: CitationChoices = USUAL) -> list[Row]:
    """Return a row for each run behind a row of the table, with the figures its means are over."""
    setups = setups_of(dataset, row)
    whole = counted_answers(dataset, choices)
    made = _material(dataset, whole, [setup.pk for setup in setups], choices)
    rows = per_run(setups, [made.figures[setup.pk] for setup in setups], whole.n_dialogs)
    return [each | _counts(made, [each["setup_id"]], choices) for each in rows]


def counted_answers(dataset: Dataset, choices: CitationChoices = USUAL) -> CitedAnswers:
    """Return the answers that figures may be over, and those of ablations."""
    return of_prompts_word(dataset, cited_answers(dataset, choices.rounds))


def _material(
    dataset: Dataset, whole: CitedAnswers, setups: Collection[int], choices: CitationChoices
) -> _Material:
    answers = whole.of_setups(setups)
    run = newest_alignment(dataset)
    found = aligned([run.pk], answers) if run else []
    return _Material(
        answers,
        run,
        found,
        run_figures(answers, setups, choices.mode, found),
        costs_of(setups),
    )


def _counts(made: _Material, setups: Collection[int], choices: CitationChoices) -> Row:
    """Return what is counted of some runs, and what they cost."""
    here = made.answers.of_setups(setups)
    left_out = here.left_out
    found = [each for each in made.aligned if int(made.answers.setups[each.place]) in set(setups)]
    n_pairs = sum(each.n for each in found)
    of_runs = [int((here.setups == pk).sum()) for pk in setups]
    return {
        **counts_of(here, choices.mode),
        "n_answers_least": min(of_runs),
        "n_answers_most": max(of_runs),
        "n_unknown_graph": left_out["responses_without_a_known_graph"],
        "n_repeated": left_out["repeated_responses"],
        "n_made_up_minimum": sum(each in here.made_up for each in here.examples.tolist()),
        "n_aligned_pairs": n_pairs,
        "n_without_alignment": _n_without_alignment(made, here, found),
        "alignment_run": made.alignment.pk if made.alignment and n_pairs else None,
        **cost_of_runs(made.costs, setups),
    }


def _n_without_alignment(
    made: _Material, here: CitedAnswers, found: Sequence[Aligned]
) -> int | None:
    """Return how many answers with a complete citation have no pair with a score; None: no run."""
    if made.alignment is None:
        return None
    scored = {int(made.answers.responses[each.place]) for each in found if each.n}
    can_be = here.responses[n_complete_citations(here) > 0].tolist()
    return sum(pk not in scored for pk in can_be)


def _by(made: _Material) -> list[str]:
    """Return what the signature says of alignment."""
    said = made.alignment and made.aligned and f"alignment by {made.alignment.full_signature}"
    return [said] if said else []


def _data_hash(made: _Material) -> str:
    of_costs = [cost[1:] for of in made.costs.values() for cost in of]
    if not made.aligned and not of_costs:
        return made.answers.data_hash
    return data_hash([made.answers.data_hash, *(each[1:] for each in made.aligned), *of_costs])


CITATION_TABLE = ReportKind(
    key="citation_table",
    title="Citation quality (table 3)",
    lede="Citation quality and alignment by model and temperature, over seeded runs.",
    about=Dataset,
    choices=NoChoices,
    make=lambda dataset, _: citation_table(dataset),
    columns=columns(
        "label",
        "prompt_title",
        "n_runs",
        "n_answers",
        "n_without_alignment",
        "aligned",
        "correctness",
        "precision",
        "recall",
        "f1",
        "macro_precision",
        "macro_recall",
        "macro_f1",
        "n_calls",
        "prompt_tokens",
        "completion_tokens",
        Column("seconds", Format.AS_GIVEN),
        Column("price", Format.AS_GIVEN),
        "currency",
    ),
)
