"""The page of the responses behind one mark, with what both axes say about each."""

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from accounts.access import Role, allowed
from accounts.http import SignedInRequest, render_page_or_fragment
from evaluation.tradeoffs.forms.axes import AxesForm
from evaluation.tradeoffs.forms.tradeoff import CORNERS, ResponseFilter
from evaluation.tradeoffs.mark_responses import behind_mark
from generation.models import Dataset, Setup

PER_PAGE = 25


@require_safe
@allowed(Role.RESEARCHER)
def responses(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    """List the responses of one setup, page by page, or only those in one corner of the figure."""
    dataset = get_object_or_404(Dataset, slug=slug)
    setup = get_object_or_404(Setup, dataset=dataset, pk=pk)
    axes = AxesForm(request.GET, dataset=dataset)
    form = ResponseFilter(request.GET)
    behind = behind_mark(dataset, setup, axes.chosen)
    said, n = form.said_chosen, behind.counts
    listed = [row for row in behind.rows if said in ("", row.corner)]
    page = Paginator(listed, PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "dataset": dataset,
        "setup": setup,
        "axes": axes.chosen,
        "address": axes.address,
        "behind": behind,
        "form": form,
        "said": said,
        "corners": [(key, title, n[key] if key else n.total()) for key, title in CORNERS],
        "page": page,
        "rows": behind.with_texts(list(page.object_list)),
    }
    template, fragment = "evaluation/tradeoffs/responses.html", "evaluation/tradeoffs/_behind.html"
    return render_page_or_fragment(request, page=template, fragment=fragment, context=context)
