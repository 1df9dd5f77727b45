"""Print a report: figures with intervals, what was left out, and the signature."""

from argparse import RawDescriptionHelpFormatter
from collections.abc import Callable, Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.models import QuerySet

from annotation.models import Arm, Study
from annotation.schemes import load_scheme
from evaluation.graphs.reports.alignment import alignment_report
from evaluation.graphs.reports.answer_figures import CannotReport
from evaluation.graphs.reports.citations import CitationChoices, citations_report
from evaluation.graphs.reports.cited_answers import ROUNDS
from evaluation.graphs.reports.graph_retrieval import graph_retrieval_report
from evaluation.graphs.reports.graph_statistics import statistics_report
from evaluation.graphs.reports.incompetence import incompetence_report
from evaluation.graphs.reports.quality import quality_report
from evaluation.measures.citation import Mode
from evaluation.reports.base import Choices, Report
from evaluation.reports.formats import FORMATS, write_report
from evaluation.retrieval.forms import RetrievalForm
from evaluation.retrieval.report import retrieval_report
from evaluation.runs.families import families_of
from evaluation.studies.reports.study import ON_DEMAND, REPORTS
from evaluation.studies.reports.threshold_choice import calibration_report
from evaluation.tradeoffs.axes import Axes, named_axes
from evaluation.tradeoffs.material import Material, material_of
from evaluation.tradeoffs.reports.comparable import comparable_report
from evaluation.tradeoffs.reports.takeaways import takeaways_report
from evaluation.tradeoffs.reports.tradeoff import tradeoff_report
from evaluation.tradeoffs.view import View
from generation.grids.grid_file import QUERIES
from generation.models import Dataset, KGQuestion
from generation.retrieval.bm25 import IDF_RULES

EXAMPLE = """example:
  manage.py report raters --study pilot
  manage.py report raters --study pilot --by-setup --format json > pilot.json
  manage.py report agreement --study pilot --truth merged --format latex > agreement.tex
  manage.py report calibration --study pilot --question attributable --model deberta-nli
  manage.py report retrieval --dataset qrecc --query dialog --format csv > retrieval.csv
  manage.py report tradeoff --dataset qrecc --attribution auto_ais --sensibleness sensible
  manage.py report citations --dataset biokalma
  manage.py report citations --dataset biokalma --mode authors_code --rounds later --format latex
  manage.py report alignment --dataset biokalma --format json
  manage.py report quality --dataset biokalma --setup "gpt-4 · T 0.5 · graph-gold"
  manage.py report retrieval --dataset biokalma --of graphs
  manage.py report statistics --dataset biokalma
"""
PASSAGES, GRAPHS = "passages", "graphs"


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.epilog = EXAMPLE
        parser.add_argument("report", choices=[*REPORTS, *ON_DEMAND, *ON_DATASETS])
        datasets = ", ".join(ON_DATASETS)
        parser.add_argument("--study", help=f"the study's name; for all but {datasets}")
        parser.add_argument("--dataset", help=f"{datasets}: the dataset's name")
        parser.add_argument("--format", choices=["table", *FORMATS], default="table")
        parser.add_argument("--setup", default="", help="the only setup that counts, by name")
        parser.add_argument(
            "--truth",
            choices=Arm.Kind.values,
            help="agreement: the arm whose majorities are the human labels (default: the first)",
        )
        parser.add_argument("--by-setup", action="store_true", help="raters: a row for each setup")
        parser.add_argument(
            "--with-implied", action="store_true", help="agreement over implied answers too"
        )
        parser.add_argument(
            "--by-gates",
            action="store_true",
            help="agreement: an answer behind a gate that the same rater closed counts as implied",
        )
        parser.add_argument("--with-excluded", action="store_true", help="count excluded raters")
        parser.add_argument("--question", default="", help="calibration: the only question")
        parser.add_argument("--model", default="", help="calibration: the only model or backend")
        parser.add_argument(
            "--query", choices=QUERIES, help="retrieval: searched by (default: question)"
        )
        parser.add_argument(
            "--idf", choices=IDF_RULES, help="retrieval: weight of words (default: okapi-epsilon)"
        )
        parser.add_argument("--k1", help="retrieval: 0 to 10 (default: 1.5)")
        parser.add_argument("--b", help="retrieval: 0 to 1 (default: 0.75)")
        for side in Axes._fields:
            parser.add_argument(
                f"--{side}",
                default="",
                help=f"trade-off: what says {side}, as the page's address has it, or a metric or a "
                "question that only one run or arm has (default: as on the page)",
            )
        parser.add_argument(
            "--by-score", action="store_true", help="tradeoff: mean scores instead of shares"
        )
        parser.add_argument(
            "--of",
            choices=[PASSAGES, GRAPHS],
            help="retrieval: by BM25 over passages, or of sub-graphs for questions about a graph "
            "(default: graphs where the dataset has such questions)",
        )
        parser.add_argument(
            "--mode",
            choices=list(Mode),
            default=Mode.PAPER,
            type=str,
            help="citations: as the paper defines (default), or as the authors' code computes",
        )
        parser.add_argument(
            "--rounds",
            choices=list(ROUNDS),
            default="all",
            help="citations: the whole minimum set (default), or later: what rounds 2 to 6 added",
        )

    def handle(self, *, report: str, format: str, **options: Any) -> None:
        of = "dataset" if report in ON_DATASETS else "study"
        if not options[of]:
            raise CommandError(f"{report} is a report on a {of}: give its name by --{of}.")
        on_dataset = ON_DATASETS.get(report)
        try:
            found = (
                on_dataset(_dataset(options), options) if on_dataset else _on_study(report, options)
            )
        except CannotReport as exc:
            raise CommandError(str(exc)) from exc
        self.stdout.write(write_report(found, format), ending="")


def _on_study(report: str, options: dict[str, Any]) -> Report:
    """Return a report on a study, with the arm that is usual where none is said."""
    study = options["study"]
    found = Study.objects.filter(name=study).first()
    if not found:
        raise CommandError(f"No study {study!r}; there are: {_some(Study.objects.all())}")
    if options["setup"] and not found.setups.filter(name=options["setup"]).exists():
        there = _some(found.setups.all())
        raise CommandError(f"No setup {options['setup']!r} in {study!r}; there are: {there}")
    arms = [arm.kind for arm in found.arms.all()]
    options["truth"] = options["truth"] or next(iter(arms), Arm.Kind.SEPARATE)
    if arms and options["truth"] not in arms:
        raise CommandError(f"No {options['truth']} arm in {study!r}; there is: {', '.join(arms)}")
    choices = Choices(**{name: options[name] for name in Choices._fields})
    if report in ON_DEMAND:
        return _calibration(found, choices, options["question"], options["model"])
    return REPORTS[report](found, choices)


def _dataset(options: dict[str, Any]) -> Dataset:
    dataset = Dataset.objects.filter(name=options["dataset"]).first()
    if not dataset:
        there = _some(Dataset.objects.all())
        raise CommandError(f"No dataset {options['dataset']!r}; there are: {there}")
    return dataset


def _retrieval(dataset: Dataset, options: dict[str, Any]) -> Report:
    """Return the report on retrieval of sub-graphs, or of passages where there are no questions."""
    questions = KGQuestion.objects.of_benchmark().filter(example__dataset=dataset)
    of = options["of"] or (GRAPHS if questions.exists() else PASSAGES)
    if of == PASSAGES:
        return _retrieval_of_passages(dataset, options)
    if not questions.exists():
        raise CommandError(f"{dataset.name} has no questions about a knowledge graph.")
    return graph_retrieval_report(dataset)


def _retrieval_of_passages(dataset: Dataset, options: dict[str, Any]) -> Report:
    """Return the report on BM25; the passages are indexed now where they are not."""
    form = RetrievalForm(options)
    for name, errors in form.errors.items():
        raise CommandError(f"--{name} {options[name]}: {' '.join(map(str, errors))}")
    return retrieval_report(dataset, form.chosen)


def _tradeoff(dataset: Dataset, options: dict[str, Any]) -> Report:
    return tradeoff_report(_material(dataset, options), View(by_score=options["by_score"]))


def _material(dataset: Dataset, options: dict[str, Any]) -> Material:
    """Return the material of the axes that are named, of the usual ones where none are."""
    try:
        axes = named_axes(dataset, options["attribution"], options["sensibleness"])
    except LookupError as exc:
        raise CommandError(f"{dataset.name}: {exc}") from exc
    return material_of(dataset, axes)


# What reports on a dataset are made by.
ON_DATASETS: Mapping[str, Callable[[Dataset, dict[str, Any]], Report]] = {
    "retrieval": _retrieval,
    "tradeoff": _tradeoff,
    "takeaways": lambda dataset, options: takeaways_report(_material(dataset, options)),
    "comparable": lambda dataset, options: comparable_report(_material(dataset, options)),
    "citations": lambda dataset, options: citations_report(
        dataset, CitationChoices(Mode(options["mode"]), options["rounds"], options["setup"])
    ),
    "alignment": lambda dataset, options: alignment_report(dataset, options["setup"]),
    "incompetence": lambda dataset, options: incompetence_report(dataset, options["setup"]),
    "quality": lambda dataset, options: quality_report(dataset, options["setup"]),
    "statistics": lambda dataset, options: statistics_report(dataset),
}


def _calibration(study: Study, choices: Choices, question: str, model: str) -> Report:
    questions = [each.key for each in load_scheme(study.scheme).questions]
    if question and question not in questions:
        raise CommandError(f"No question {question!r}; there are: {', '.join(questions)}")
    families = families_of(study)
    if model and not any(model in (each.key, each.model) for each in families):
        there = ", ".join(each.key for each in families) or "none yet"
        raise CommandError(f"No scores by a model {model!r}; there are: {there}")
    return calibration_report(study, choices, question=question, model=model)


def _some(rows: QuerySet[Any]) -> str:
    """Return the first names, for a message."""
    return ", ".join(rows.values_list("name", flat=True)[:10]) or "none yet"
