"""Retrieval over a dataset's passages: recall and precision of the ranking."""

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from accounts.access import Role, allowed
from accounts.http import SignedInRequest, render_page_or_fragment
from evaluation.reports.downloads import report_file
from evaluation.reports.figures.themes import page_themes
from evaluation.retrieval.figure import recall_chart
from evaluation.retrieval.missed_examples import (
    MissedChoices,
    missed,
    missed_address,
    with_passages,
)
from evaluation.retrieval.ranked_examples import (
    MOST_K,
    RetrievalChoices,
    can_rank,
    known_rankings,
    ranked_examples,
)
from evaluation.retrieval.report import report_if_indexed, retrieval_report
from generation.choices.forms import ChoicesForm
from generation.models import Dataset
from generation.retrieval.dataset_index import ask_for_index, is_index_asked_for
from generation.tasks import build_index

PER_PAGE = 25


@require_safe
@allowed(Role.RESEARCHER)
def retrieval(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show recall@k and precision@k with the choices of the address."""
    dataset = get_object_or_404(Dataset, slug=slug)
    form = ChoicesForm(RetrievalChoices, request.GET, known=known_rankings(dataset))
    context: dict[str, Any] = {
        "dataset": dataset,
        "n_passages": dataset.passages.count(),
        "form": form,
        "choices": form.chosen,
        "address": form.address,
        "plots": {},
    }
    if not can_rank(dataset, form.chosen):
        context["is_asked_for"] = is_index_asked_for(dataset.pk)
    else:
        report = retrieval_report(dataset, form.chosen)
        addresses = [missed_address(dataset, form.chosen, row.k) for row in report.rows]
        context |= {"report": report, "rows": list(zip(report.rows, addresses, strict=True))}
        if spec := recall_chart(report.rows):
            context["plots"] = {"charts": {"recall": spec}, "themes": page_themes()}
    page, fragment = "evaluation/retrieval/retrieval.html", "evaluation/retrieval/_retrieval.html"
    return render_page_or_fragment(request, page=page, fragment=fragment, context=context)


@require_safe
@allowed(Role.RESEARCHER)
def missed_examples(request: SignedInRequest, slug: str) -> HttpResponse:
    """List the examples whose golden passages are not all among the first k of the address."""
    dataset = get_object_or_404(Dataset, slug=slug)
    form = ChoicesForm(MissedChoices, request.GET, known=known_rankings(dataset))
    choices, k = form.chosen
    context: dict[str, Any] = {"dataset": dataset, "form": form, "choices": choices, "k": k}
    if can_rank(dataset, choices):
        examples = ranked_examples(dataset, choices).examples
        page = Paginator(missed(examples, k), PER_PAGE).get_page(request.GET.get("page"))
        rows = with_passages(list(page.object_list), k)
        context |= {"n_examples": len(examples), "most_k": MOST_K, "page": page, "rows": rows}
    page_name, fragment = "evaluation/retrieval/missed.html", "evaluation/retrieval/_missed.html"
    return render_page_or_fragment(request, page=page_name, fragment=fragment, context=context)


@require_POST
@allowed(Role.RESEARCHER)
def index_passages(request: SignedInRequest, slug: str) -> HttpResponse:
    """Ask a worker to build the index, unless it exists or was asked for a short time ago."""
    dataset = get_object_or_404(Dataset, slug=slug)
    if ask_for_index(dataset.pk):
        build_index.delay_on_commit(dataset.pk)
    here = reverse("evaluation:retrieval", args=[slug])
    return redirect(f"{here}{ChoicesForm(RetrievalChoices, request.GET).address}")


@require_safe
@allowed(Role.RESEARCHER)
def download_retrieval(request: SignedInRequest, slug: str, format_key: str) -> HttpResponse:
    """Download the table (CSV, LaTeX, JSON) or the figure (SVG, PDF, PNG) of the address."""
    dataset = get_object_or_404(Dataset, slug=slug)
    choices = ChoicesForm(RetrievalChoices, request.GET, known=known_rankings(dataset)).chosen
    return report_file(
        lambda: report_if_indexed(dataset, choices), format_key, f"{slug}-retrieval", recall_chart
    )
