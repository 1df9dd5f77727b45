"""Human alignment: what its page shows beyond other experiments' pages, and the rated pairs."""

from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from accounts.access import Role, allowed
from accounts.http import SignedInRequest, render_page_or_fragment
from annotation.models import Study
from evaluation.graphs.experiments.forms.alignment_study import AlignmentStudyForm
from evaluation.graphs.experiments.pages.human_alignment import (
    HEADER,
    SHOWN,
    pair_rows,
    study_chosen,
    table_rows,
)
from evaluation.graphs.experiments.pages.progress import ExperimentState
from evaluation.graphs.experiments.reports.human_alignment import (
    human_alignment_report,
    model_of,
    rated_pairs,
)
from evaluation.graphs.forms.graph_reports import key_of
from evaluation.reports.registry import CannotReport
from generation.models import Dataset

PER_PAGE = 25


def study_of(dataset: Dataset, state: ExperimentState, slug: str) -> Study | None:
    """Return the study that table 6 is about, or None if there is none yet.

    Raises:
        Http404: no study has that name.
    """
    study = study_chosen(state.studies, slug)
    if slug and study is None:
        raise Http404(f"{dataset.name} has no such study of alignment.")
    return study


def context_of(
    request: SignedInRequest,
    dataset: Dataset,
    state: ExperimentState,
    form: AlignmentStudyForm | None,
) -> dict[str, Any]:
    """Return what the page shows of human alignment: the study, a form for a new one, table 6."""
    study = study_of(dataset, state, request.GET.get("study", ""))
    context: dict[str, Any] = {
        "study": study,
        "study_form": form or AlignmentStudyForm(dataset),
        "is_study_refused": form is not None,
    }
    if study is None:
        return context
    try:
        found = human_alignment_report(study)
    except CannotReport as error:
        return context | {"problem": str(error)}
    ids: dict[str, list[int]] = {}
    for setup in study.setups.all():
        ids.setdefault(model_of(setup), []).append(setup.pk)
    setups = {model: key_of(of_model) for model, of_model in ids.items()}
    return context | {
        "found": found,
        "header": HEADER,
        "of_run": found.rows[-1],
        "rows": table_rows(study, found.rows, setups) if found.rows[-1].n_pairs else [],
    }


@require_safe
@allowed(Role.RESEARCHER)
def pairs(request: SignedInRequest, slug: str, study: str) -> HttpResponse:
    """List the rated pairs of a study with sentence, citation, votes and the metric's score."""
    dataset = get_object_or_404(Dataset, slug=slug)
    chosen = get_object_or_404(Study, slug=study, dataset=dataset)
    try:
        found = rated_pairs(chosen)
    except CannotReport as error:
        raise Http404(str(error)) from error
    models = sorted(set(found.models.values()))
    model = request.GET.get("model", "")
    model = model if model in models else ""
    shown = request.GET.get("shown", "")
    shown = shown if shown in SHOWN else ""
    here = [pair for pair in found.rated if model in ("", pair.model)]
    tabs = [(key, words, sum(map(has, here))) for key, (words, has) in SHOWN.items()]
    listed = [pair for pair in here if SHOWN[shown][1](pair)]
    page = Paginator(listed, PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "dataset": dataset,
        "study": chosen,
        "models": models,
        "model": model,
        "shown": shown,
        "tabs": tabs,
        "page": page,
        "run": found.run,
        "rows": pair_rows(list(page.object_list), found.run),
    }
    template, fragment = (
        "evaluation/graphs/experiments/alignment_pairs.html",
        "evaluation/graphs/_pairs.html",
    )
    return render_page_or_fragment(request, page=template, fragment=fragment, context=context)
