"""Imports by page: a user chooses a file, sees what the check found, and stores it."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import FileResponse, Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.text import slugify
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.access import Role, for_importers, roles_of
from accounts.http import SignedInRequest, render_page_or_fragment
from evaluation.exchange.forms import ImportForm, StoreImportForm
from evaluation.exchange.import_process import IMPORTS, check
from evaluation.exchange.mapping_form import MappingForm
from evaluation.exchange.mappings import save_mapping
from evaluation.exchange.storing_choices import StoringChoices
from evaluation.exchange.uploads import (
    ChoiceNeeded,
    progress_of,
    request_another_check,
    request_import,
    request_storing,
)
from generation.importers.mapped.roles import ROLES
from generation.models import Import, SavedMapping
from work.claims import GOING_ON

RECENT = 10


@require_http_methods(["GET", "POST"])
@for_importers
def import_file(request: SignedInRequest) -> HttpResponse:
    """Take a file and send it to be checked; list the latest imports."""
    posted = request.method == "POST"
    form = ImportForm(request.POST, request.FILES) if posted else ImportForm()
    if posted and form.is_valid():
        upload = request_import(**form.choices(), user=request.user)
        check(upload)
        return redirect("evaluation:import-progress", upload.pk)
    recent = Import.objects.select_related("dataset", "requested_by")[:RECENT]
    mappings = SavedMapping.objects.select_related("saved_by")
    context = {"form": form, "recent": recent, "mappings": mappings}
    return render(
        request, "evaluation/exchange/import.html", context, status=422 if posted else 200
    )


@require_safe
@for_importers
def import_progress(request: SignedInRequest, pk: int) -> HttpResponse:
    """Show an import: its progress, what the check found, and how it ended."""
    upload = get_object_or_404(Import.objects.select_related("dataset"), pk=pk)
    look = upload.report.get("look") if upload.state == Import.State.CHECKED else None
    return _import_page(request, upload, MappingForm(look) if look else None)


def _import_page(
    request: SignedInRequest, upload: Import, form: MappingForm | None, status: int = 200
) -> HttpResponse:
    return render_page_or_fragment(
        request,
        page="evaluation/exchange/import_progress.html",
        fragment="evaluation/exchange/_import.html",
        context={
            "upload": upload,
            "is_running": upload.state in GOING_ON,
            "progress": progress_of(upload),
            "form": form,
            "storing": StoreImportForm(),
            "roles": ROLES,
        },
        status=status,
    )


@require_POST
@for_importers
def map_columns(request: SignedInRequest, pk: int) -> HttpResponse:
    """Check a table again, with the columns as the user has described them."""
    upload = get_object_or_404(Import, pk=pk)
    look = upload.report.get("look")
    if upload.state != Import.State.CHECKED or not look:
        messages.info(request, "The columns of this import can no longer be changed.")
        return redirect("evaluation:import-progress", pk)
    form = MappingForm(look, request.POST)
    if not form.is_valid():
        return _import_page(request, upload, form, 422)
    mapping = form.cleaned_data["mapping"]
    if name := form.cleaned_data["save_as"]:
        save_mapping(name, mapping, request.user)
        messages.success(request, f"The mapping {name} is saved.")
    if request_another_check(upload, mapping):
        check(upload)
    return redirect("evaluation:import-progress", pk)


@require_safe
@for_importers
def mapping_file(request: SignedInRequest, pk: int) -> HttpResponse:
    """Download the mapping of a table's columns, for the command or the next file."""
    upload = get_object_or_404(Import, pk=pk)
    text = upload.report.get("look", {}).get("mapping") or upload.mapping
    if not text:
        raise Http404("This import has no table whose columns you could choose.")
    name = slugify(upload.name) or "mapping"
    headers = {"Content-Disposition": f'attachment; filename="{name}.toml"'}
    return HttpResponse(text, content_type="application/toml", headers=headers)


@require_POST
@for_importers
def delete_mapping(request: SignedInRequest, pk: int) -> HttpResponse:
    """Delete a saved mapping of one's own; an admin may delete any. Imports keep their own copy."""
    mapping = get_object_or_404(SavedMapping, pk=pk)
    if mapping.saved_by != request.user and Role.ADMIN not in roles_of(request.user):
        raise PermissionDenied(
            "Another user saved this mapping. Only that user or an admin can delete it."
        )
    mapping.delete()
    messages.success(request, f"The mapping {mapping.name} is deleted.")
    return redirect("evaluation:import")


@require_POST
@for_importers
def store_import(request: SignedInRequest, pk: int) -> HttpResponse:
    """Send a checked file to be stored."""
    upload = get_object_or_404(Import, pk=pk)
    form = StoreImportForm(request.POST)
    choices = form.choices if form.is_valid() else StoringChoices()
    try:
        if request_storing(upload, **choices._asdict()):
            IMPORTS.send_waiting(pk=upload.pk)
    except ChoiceNeeded as needed:
        label = form.fields[str(needed)].label
        messages.error(request, f"Nothing was imported. Tick '{label}', or fix the file.")
    return redirect("evaluation:import-progress", upload.pk)


@require_safe
@for_importers
def import_problems(request: SignedInRequest, pk: int) -> FileResponse:
    """Download every bad row of an import with its reason, as CSV."""
    path = get_object_or_404(Import, pk=pk).problem_path
    if not path.exists():
        raise Http404("The check of this file has not started yet. Come back later.")
    return FileResponse(path.open("rb"), as_attachment=True, filename=f"import-{pk}-problems.csv")
