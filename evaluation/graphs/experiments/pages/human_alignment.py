"""Human alignment as its page shows it: a dataset's studies, table 6 and the rated pairs."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from django.db.models import Count, Exists, F, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.urls import reverse

from accounts.http import query_string
from annotation.models import GoldAnswer, Rater, Study, Target, UnitTarget, Vote
from annotation.services.alignment_studies import SCHEME
from evaluation.graphs.experiments.pages.tables import ExperimentCell, grouped
from evaluation.graphs.experiments.reports.human_alignment import (
    HumanAlignmentRow,
    RatedPair,
    RunOfPairs,
)
from evaluation.models import AutoScore, MetricRun
from evaluation.reports.columns import Estimate
from evaluation.reports.report import columns_of
from generation.models import Dataset
from work.amounts import UNDEFINED


class AlignmentTableRow(NamedTuple):
    """One row of table 6, about one model or all models."""

    name: str
    url: str
    cells: Sequence[ExperimentCell]


class StudySoFar(NamedTuple):
    """A study of alignment and its progress. Gold items are not counted."""

    study: Study
    n_pairs: int  # planned pairs; 0 before the study opens, and for an imported study
    n_people: int
    n_votes: int  # votes without surplus ones


class PairRow(NamedTuple):
    """One pair in the list."""

    target: Target
    rated: RatedPair
    score: AutoScore | None


# The columns of table 6 → the key in SHOWN of the pairs that their numbers link to.
TABLE: Mapping[str, str] = {
    "n_pairs": "counted",
    "human": "counted",
    "percent_agreement": "differ",
    "alpha": "differ",
    "n_scored": "scored",
    "automatic_same": "scored",
    "gap_same": "scored",
    "accuracy": "agreed",
    "n_run": "counted",
    "automatic": "counted",
    "gap": "counted",
}
COLUMNS = columns_of(HumanAlignmentRow)
HEADER = grouped([COLUMNS[name] for name in TABLE])
_OF_RUN = {"n_run", "automatic"}  # columns that link to the scores of the run


def studies_of(dataset: Dataset) -> list[StudySoFar]:
    """Return a dataset's studies of alignment, newest first. This takes one query."""
    is_gold = GoldAnswer.objects.filter(study=OuterRef("arm__study"), target=OuterRef("target"))
    votes = Vote.objects.filter(~Exists(is_gold), is_surplus=False, arm__study=OuterRef("pk"))
    places = UnitTarget.objects.filter(unit__is_gold=False, unit__arm__study=OuterRef("pk"))
    people = Rater.objects.filter(study=OuterRef("pk"))
    studies = Study.objects.filter(dataset=dataset, scheme__key=SCHEME).order_by("-pk")
    counted = studies.annotate(
        pairs_planned=_counted(places, "unit__arm__study"),
        people_there=_counted(people, "study"),
        votes_given=_counted(votes, "arm__study"),
    )
    return [
        StudySoFar(study, study.pairs_planned, study.people_there, study.votes_given)
        for study in counted
    ]


def _counted(rows: QuerySet[Any], study: str) -> Coalesce:
    of_study = rows.order_by().values(of=F(study)).annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(of_study, output_field=IntegerField()), 0)


def study_chosen(studies: Sequence[StudySoFar], slug: str) -> Study | None:
    """Return the study with that slug, or None if there is none.

    Without a slug, return the newest study with votes, or else the newest.
    """
    if slug:
        return next((each.study for each in studies if each.study.slug == slug), None)
    rated = [each for each in studies if each.n_votes]
    return next((each.study for each in rated or studies), None)


# --- table 6 --------------------------------------------------------------------------------


def table_rows(
    study: Study, rows: Sequence[HumanAlignmentRow], setups: Mapping[str, str]
) -> list[AlignmentTableRow]:
    """Return the rows of table 6.

    Args:
        rows: the rows of the report on the study.
        setups: model → the ids of its setups, as an address has them.
    """
    pairs = reverse("graphs:alignment-pairs", args=[study.dataset.slug, study.slug])
    made = []
    for row in rows:
        of_model = {"model": row.model} if row.model is not None else {}
        run = ""
        if isinstance(row.by, RunOfPairs):
            chosen = setups.get(row.model or "") or ",".join(setups.values())
            address = reverse("evaluation:run", args=[row.by.run.metric_run])
            run = f"{address}{query_string({'setup': chosen})}#scores"
        cells = [
            _cell(name, row, run if name in _OF_RUN else _address(pairs, shown, of_model))
            for name, shown in TABLE.items()
        ]
        url = f"{pairs}{query_string(of_model)}"
        made.append(AlignmentTableRow(row.label, url, cells))
    return made


def _address(pairs: str, shown: str, of_model: Mapping[str, str]) -> str:
    return f"{pairs}{query_string(dict(of_model) | {'shown': shown})}"


def _cell(name: str, row: HumanAlignmentRow, url: str) -> ExperimentCell:
    value, format = row.value(name), COLUMNS[name].format
    if not isinstance(value, Estimate):
        return ExperimentCell(format.write(value), url=url if value else "")
    if value.value is None:
        return ExperimentCell(UNDEFINED)
    return ExperimentCell(format.write(value.value), below=format.interval(value), url=url)


# --- the pairs behind it --------------------------------------------------------------------

# The choices of listed pairs: key → its words, and which pairs are listed.
SHOWN: Mapping[str, tuple[str, Callable[[RatedPair], bool]]] = {
    "": ("all", lambda pair: True),
    "counted": ("two votes or more", lambda pair: pair.is_counted),
    "differ": ("raters differ", lambda pair: pair.is_counted and 0 not in pair.votes),
    "scored": ("with a score", lambda pair: pair.is_counted and pair.is_aligned is not None),
    "agreed": (
        "raters agree, scored",
        lambda pair: pair.is_counted and 0 in pair.votes and pair.is_aligned is not None,
    ),
    "against": ("metric disagrees", lambda pair: pair.is_against),
}


def pair_rows(rated: Sequence[RatedPair], run: MetricRun | None) -> list[PairRow]:
    """Return the rows of some pairs, in their order. This takes two queries."""
    wanted = [pair.target for pair in rated]
    targets = Target.objects.filter(pk__in=wanted)
    found = targets.select_related("citation", "response__setup").in_bulk()
    scores = AutoScore.objects.filter(run=run, target__in=wanted).select_related("run")
    by_target = {score.target_id: score for score in scores} if run else {}
    return [PairRow(found[pair.target], pair, by_target.get(pair.target)) for pair in rated]
