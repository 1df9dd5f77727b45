"""The report on completions: how many a model left empty, ran out of room for, or made debris of.

It looks at what models said before any metric does, so it needs no axes.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Annotated, NamedTuple

import numpy as np
from django.conf import settings
from django.db.models import Case, Exists, OuterRef, Value, When
from django.urls import reverse

from evaluation.reports.columns import Column, Estimate, Format
from evaluation.reports.estimates import Planned, data_hash, with_estimates
from evaluation.reports.local_ids import ResponseId
from evaluation.reports.registry import CannotReport, NoChoices, ReportGroup, ReportKind
from evaluation.reports.report import LeftOut, Report, ReportRow
from evaluation.reports.setups import SetupColumns, setup_columns
from evaluation.statistics.intervals import SHARE_METHOD, Statistic, share_from
from evaluation.statistics.rater_answers import mean_statistics
from evaluation.tradeoffs.reports import methods
from generation.grids.prompt_choices import form_of
from generation.models import Call, Dataset, Response, Setup
from generation.text.prompt_types import is_about_graph

LONGEST_SHOWN = 80  # characters of the reply that stands in a row


@dataclass(frozen=True, kw_only=True)
class CompletionRow(ReportRow):
    """The counts of a setup's calls by their outcome; see `completions_report`."""

    of: SetupColumns
    form: Annotated[str, Column("Form")]  # "" for prompts about a knowledge graph
    n_calls: Annotated[int, Column("Calls", Format.COUNT)]
    n_answered: Annotated[int, Column("Answered", Format.COUNT)]
    n_empty: Annotated[int, Column("Empty", Format.COUNT)]
    n_cut: Annotated[int, Column("Truncated", Format.COUNT)]
    n_looked_at: int  # responses that were looked at for debris
    n_debris: Annotated[int | None, Column("Debris", Format.COUNT)]  # None: none was looked at
    debris_share: Annotated[Estimate, Column("Debris share", Format.PERCENT)]
    first_debris: Annotated[str, Column("First debris")]  # shortened; "": there is none
    first_debris_response: ResponseId | None


class _CallFacts(NamedTuple):
    """The facts about one call that are counted."""

    setup: str  # name of the setup
    example: str
    dialog: str
    response: int | None
    is_empty: bool
    is_cut: bool
    is_debris: bool | None  # None: there is no response, or it was made before Attest looked
    is_about_graph: bool

    @property
    def is_looked_at(self) -> bool:
        """Whether its response was looked at for debris."""
        return self.is_debris is not None and not self.is_about_graph


def completions_report(dataset: Dataset) -> Report[CompletionRow]:
    """Return a row for each setup whose model was asked here, by name.

    `n_calls` are all its calls, and `n_answered` those with a response. Of these, `n_empty` say
    nothing. `n_cut` completions reached the limit of tokens. `n_debris` go on with the form of
    their prompt (`generation.text.debris`). `debris_share` is over the `n_looked_at` responses, in
    [0, 1], with an interval over dialogs. `first_debris` is the first such reply in the dataset's
    order of examples. Calls about ad-hoc questions do not count. This takes four queries.

    Setups without calls are left out: imported ones, and those chosen among others. Responses about
    a knowledge graph, and those made before Attest looked, are not looked at.

    Raises:
        CannotReport: no model was asked about the dataset's examples.
    """
    calls = _calls(dataset)
    if not calls:
        raise CannotReport(f"No model was asked about {dataset.name} here. A grid asks models.")
    by_setup: dict[str, list[_CallFacts]] = defaultdict(list)
    for call in calls:
        by_setup[call.setup].append(call)
    places = {dialog: n for n, dialog in enumerate(sorted({call.dialog for call in calls}))}
    first = {setup: _first_debris(found) for setup, found in by_setup.items()}
    texts = _texts([response for response in first.values() if response])
    setups = dataset.setups.filter(name__in=by_setup)
    planned = [
        _planned(setup, by_setup[setup.name], places, first[setup.name], texts)
        for setup in sorted(setups, key=lambda setup: setup.name)
    ]
    said = [
        "completions",
        "debris as found when the response was made",
        SHARE_METHOD,
        f"data {data_hash([(*call[:3], call.response is None, *call[4:]) for call in calls])}",
        f"attest {settings.VERSION}",
    ]
    rows = list(with_estimates(planned, len(places)))
    return Report(dataset.name, "completions", rows, _left_out(dataset, calls), " | ".join(said))


def _calls(dataset: Dataset) -> list[_CallFacts]:
    """Return the facts about all calls of a dataset, in the order of its examples."""
    found = (
        Call.objects.filter(example__dataset=dataset, example__is_ad_hoc=False)
        .annotate(is_empty=Case(When(response__text="", then=True), default=Value(False)))
        .order_by("example", "pk")
        .values_list(
            "setup__name",
            "example__key",
            "example__dialog",
            "response",
            "is_empty",
            "is_cut",
            "is_debris",
            "setup__prompt",
        )
    )
    about_graph = cache(is_about_graph)
    return [_CallFacts(*call[:-1], about_graph(call[-1])) for call in found]


def _first_debris(calls: Sequence[_CallFacts]) -> int | None:
    """Return the first response that is debris; None if there is none."""
    return next((call.response for call in calls if call.is_looked_at and call.is_debris), None)


def _texts(responses: Collection[int]) -> dict[int, str]:
    return dict(Response.objects.filter(pk__in=responses).values_list("pk", "text"))


def _planned(
    setup: Setup,
    calls: Sequence[_CallFacts],
    places: Mapping[str, int],
    first: int | None,
    texts: Mapping[int, str],
) -> Planned[CompletionRow]:
    """Return the row of one setup.

    Args:
        places: dialog → its number.
        first: the first response that is debris.
        texts: response → its text.
    """
    looked_at = [call for call in calls if call.is_looked_at]
    is_debris = np.array([bool(call.is_debris) for call in looked_at], dtype=float)
    dialogs = np.array([places[call.dialog] for call in looked_at], dtype=np.int64)
    return Planned(
        partial(
            CompletionRow,
            of=setup_columns(setup),
            form="" if is_about_graph(setup.prompt) else form_of(setup),
            n_calls=len(calls),
            n_answered=sum(call.response is not None for call in calls),
            n_empty=sum(call.is_empty for call in calls),
            n_cut=sum(call.is_cut for call in calls),
            n_looked_at=len(looked_at),
            n_debris=int(is_debris.sum()) if looked_at else None,
            first_debris=_shortened(texts[first]) if first else "",
            first_debris_response=first,
        ),
        {"debris_share": Statistic(mean_statistics(is_debris), dialogs, share_from)},
    )


def _shortened(text: str) -> str:
    """Return a text in one line, cut where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_SHOWN else f"{line[: LONGEST_SHOWN - 1]}…"


def _left_out(dataset: Dataset, calls: Sequence[_CallFacts]) -> LeftOut:
    answered = [call for call in calls if call.response is not None]
    not_looked_at = [call for call in answered if not call.is_looked_at]
    about_graphs = sum(call.is_about_graph for call in not_looked_at)
    has_calls = Exists(Call.objects.filter(setup=OuterRef("pk")))
    return {
        "setups_without_calls": dataset.setups.answered().filter(~has_calls).count(),
        "failed_calls": len(calls) - len(answered),
        "responses_about_a_graph": about_graphs,
        "responses_not_looked_at": len(not_looked_at) - about_graphs,
    }


def _to_response(dataset: Dataset, choices: NoChoices, row: CompletionRow) -> str:
    if row.first_debris_response is None:
        return ""
    return reverse("evaluation:response", args=[dataset.slug, row.first_debris_response])


COMPLETIONS = ReportKind(
    key="completions",
    title="Completions",
    lede="Counts the answers of each setup that are empty, cut, or debris of the prompt’s form.",
    group=ReportGroup.SETUPS,
    about=Dataset,
    methods=methods.COMPLETIONS,
    choices=NoChoices,
    make=lambda dataset, chosen: completions_report(dataset),
    rows=(CompletionRow,),
    leads={"first_debris": _to_response},
)
