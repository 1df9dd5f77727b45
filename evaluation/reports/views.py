"""The page of every declared report: its choices, figure, table and files."""

from functools import partial
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from accounts.access import Role, allowed
from accounts.http import SignedInRequest, query_string, render_page_or_fragment
from annotation.models import Study
from evaluation.reports.downloads import manifest_file, picture_file, report_file
from evaluation.reports.figures.builders import CONTENT_TYPES
from evaluation.reports.figures.pictures import picture
from evaluation.reports.figures.themes import page_themes
from evaluation.reports.formats import MANIFEST
from evaluation.reports.manifest import Made
from evaluation.reports.page_table import page_tables
from evaluation.reports.registry import CannotReport, NotYet, ReportGroup, ReportKind, reports_about
from generation.choices.declaration import ChoiceError, fields_of, values_of
from generation.choices.forms import ChoicesForm
from generation.models import Dataset

About = type[Dataset] | type[Study]
Kind = ReportKind[Any, Any]


@require_safe
@allowed(Role.RESEARCHER)
def reports(request: SignedInRequest, slug: str, about: About) -> HttpResponse:
    """List the reports on a study or a dataset, by the question that they answer."""
    subject, kinds = _subject(about, slug), reports_about(about)
    grouped = {group: [kind for kind in kinds if kind.group is group] for group in ReportGroup}
    context = _of_subject(subject) | {"grouped": {g: own for g, own in grouped.items() if own}}
    return render(request, "evaluation/reports/reports.html", context)


@require_safe
@allowed(Role.RESEARCHER)
def report(request: SignedInRequest, slug: str, report: str, about: About) -> HttpResponse:
    """Show one report with the choices of the address."""
    subject, kind = _subject(about, slug), _kind(about, report)
    form = _form(request, subject, kind)
    context = _of_subject(subject) | {"kind": kind, "form": form, "plots": {}}
    try:
        choices = kind.chosen(subject, form.given)
        found = kind.make(subject, choices)
    except (ChoiceError, CannotReport, NotYet) as error:
        context["problem"] = str(error)
    else:
        usual = _usual(subject, kind)
        said = {name: v for name, v in values_of(choices).items() if v != usual[name]}
        context |= {
            "found": found,
            "methods": kind.methods.paragraph(found.signature),
            "tables": page_tables(
                found, {name: partial(lead, subject, choices) for name, lead in kind.leads.items()}
            ),
            "address": query_string(said),
        }
        if kind.figure and (spec := kind.figure(found.rows)):
            context["plots"] = {"charts": {"figures": spec}, "themes": page_themes()}
    return render_page_or_fragment(
        request,
        page="evaluation/reports/report.html",
        fragment="evaluation/reports/_report.html",
        context=context,
    )


@require_safe
@allowed(Role.RESEARCHER)
def download(
    request: SignedInRequest, slug: str, report: str, format_key: str, about: About
) -> HttpResponse:
    """Download a report with the choices of the address: as a table, its figure or a manifest."""
    subject, kind = _subject(about, slug), _kind(about, report)
    given, name = _form(request, subject, kind).given, f"{slug}-{kind.key}"

    def made() -> Made:
        choices = kind.chosen(subject, given)
        return Made(kind, choices, kind.make(subject, choices))

    if format_key == MANIFEST:
        return manifest_file(subject, made, name)
    if kind.drawing and format_key in CONTENT_TYPES:

        def content() -> bytes:
            return picture(kind, subject, kind.chosen(subject, given), format_key)

        return picture_file(content, format_key, name)
    return report_file(lambda: made().report, format_key, name, kind.figure)


def _subject(about: About, slug: str) -> Dataset | Study:
    if about is Study:
        return get_object_or_404(Study, slug=slug)
    return get_object_or_404(Dataset, slug=slug)


def _kind(about: About, key: str) -> Kind:
    """Return the report of a key.

    Raises:
        Http404: there is no such report on this kind of subject.
    """
    kinds = reports_about(about)
    for kind in kinds:
        if key in kind.keys:
            return kind
    there = ", ".join(kind.key for kind in kinds)
    raise Http404(f"There is no report {key!r}. The reports are: {there}.")


def _of_subject(subject: Dataset | Study) -> dict[str, Any]:
    """Return the part of a page's context about its subject."""
    return {"subject": subject, "of": subject._meta.model_name}


def _usual(subject: Dataset | Study, kind: Kind) -> dict[str, Any]:
    return values_of(kind.usual(subject) if kind.usual else kind.choices())


def _form(request: SignedInRequest, subject: Dataset | Study, kind: Kind) -> ChoicesForm[Any]:
    """Return the form with the choices of the address, or the usual ones where it has none."""
    usual = {
        name: value
        for name, value in _usual(subject, kind).items()
        if value not in (None, False, True)
    }
    known = dict(kind.known(subject)) if kind.known else {}
    if "setup" in {field.name for field in fields_of(kind.choices)}:
        setups = subject.setups.of_benchmark().order_by("name").values_list("name", flat=True)
        known["setup"] = {"": "all setups", **{name: name for name in setups}}
    return ChoicesForm(kind.choices, usual | request.GET.dict(), known=known)
