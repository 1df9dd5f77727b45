"""Import by page: choose a file, see what the check found, store it."""

from django.contrib import messages
from django.http import FileResponse, Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.access import Role, allowed
from accounts.http import SignedInRequest, render_page_or_fragment
from evaluation.exchange.forms import ImportForm, StoreImportForm
from evaluation.exchange.tasks import carry_on_import
from evaluation.exchange.uploads import (
    progress_of,
    request_cancelling,
    request_import,
    request_storing,
)
from generation.importers import UTF_8
from generation.models import Import

RECENT = 10


@require_http_methods(["GET", "POST"])
@allowed(Role.ADMIN)
def import_file(request: SignedInRequest) -> HttpResponse:
    """Take a file and send it to be checked; list the last imports."""
    posted = request.method == "POST"
    form = ImportForm(request.POST, request.FILES) if posted else ImportForm()
    if posted and form.is_valid():
        choice = form.cleaned_data
        upload = request_import(
            choice["file"],
            choice["name"],
            choice["format"],
            request.user,
            choice["study"],
            choice["encoding"] or UTF_8,
        )
        carry_on_import.delay_on_commit(upload.pk)
        return redirect("evaluation:import-progress", upload.pk)
    recent = Import.objects.select_related("dataset", "requested_by")[:RECENT]
    context = {"form": form, "recent": recent}
    return render(
        request, "evaluation/exchange/import.html", context, status=422 if posted else 200
    )


@require_safe
@allowed(Role.ADMIN)
def import_progress(request: SignedInRequest, pk: int) -> HttpResponse:
    """Show an import: how far it is, what the check found, how it ended."""
    upload = get_object_or_404(Import.objects.select_related("dataset"), pk=pk)
    return render_page_or_fragment(
        request,
        page="evaluation/exchange/import_progress.html",
        fragment="evaluation/exchange/_import.html",
        context={
            "upload": upload,
            "is_running": upload.state in Import.RUNNING,
            "progress": progress_of(upload),
        },
    )


@require_POST
@allowed(Role.ADMIN)
def store_import(request: SignedInRequest, pk: int) -> HttpResponse:
    """Send a checked file to be stored."""
    upload = get_object_or_404(Import, pk=pk)
    form = StoreImportForm(request.POST)
    skip_bad = form.is_valid() and form.cleaned_data["skip_bad"]
    if upload.report.get("n_problems") and not skip_bad:
        messages.error(request, "Nothing was imported: tick 'Skip bad rows', or mend the file.")
    elif request_storing(upload, skip_bad=skip_bad):
        carry_on_import.delay_on_commit(upload.pk)
    return redirect("evaluation:import-progress", upload.pk)


@require_POST
@allowed(Role.ADMIN)
def cancel_import(request: SignedInRequest, pk: int) -> HttpResponse:
    """Stop an import; nothing of it is kept."""
    upload = get_object_or_404(Import, pk=pk)
    request_cancelling(upload)
    return redirect("evaluation:import-progress", upload.pk)


@require_safe
@allowed(Role.ADMIN)
def import_problems(request: SignedInRequest, pk: int) -> FileResponse:
    """Download every bad row of an import with its reason, as CSV."""
    path = get_object_or_404(Import, pk=pk).problem_path
    if not path.exists():
        raise Http404("The check has not begun yet.")
    return FileResponse(path.open("rb"), as_attachment=True, filename=f"import-{pk}-problems.csv")
