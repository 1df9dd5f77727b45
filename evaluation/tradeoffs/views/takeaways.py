"""The pages of takeaways and of comparable setups: the effects of changes of setup."""

from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_safe

from accounts.access import Role, allowed
from accounts.http import SignedInRequest, query_string, render_page_or_fragment
from evaluation.reports.downloads import report_file
from evaluation.reports.figures.themes import page_themes
from evaluation.reports.report import Report
from evaluation.tradeoffs.axes import Axes
from evaluation.tradeoffs.figures.effects import effects_chart
from evaluation.tradeoffs.figures.tradeoff.frame import PHONE
from evaluation.tradeoffs.figures.tradeoff.moves import figure_of_moves
from evaluation.tradeoffs.forms.axes import AxesForm
from evaluation.tradeoffs.forms.takeaways import SizesForm
from evaluation.tradeoffs.material import TradeoffMaterial
from evaluation.tradeoffs.material_cache import cached_material
from evaluation.tradeoffs.pages.comparable import clear_moves
from evaluation.tradeoffs.pages.takeaway_verdicts import takeaway_verdicts
from evaluation.tradeoffs.readiness import missing_sides, running_runs
from evaluation.tradeoffs.reports.comparable_setups import cached_comparable, moves_by_reason
from evaluation.tradeoffs.reports.takeaways import EffectRow, cached_takeaways
from evaluation.tradeoffs.thin_axes import thin_axes
from generation.models import Dataset

MOST_SHOWN = 50  # comparable pairs on the page; files hold all
MOST_DRAWN = 100  # moves, the longest


@require_safe
@allowed(Role.RESEARCHER)
def takeaways(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show which takeaways hold, with the effects of history, evidence, size, … on F1."""
    dataset = get_object_or_404(Dataset, slug=slug)
    axes_form = AxesForm(request.GET, dataset=dataset)
    context = _context(dataset, axes_form, "takeaways") | {"plots": {}}
    if material := _material(dataset, axes_form.chosen):
        sizes = SizesForm(request.GET, dots=material.dots)
        report = cached_takeaways(material, sizes.chosen)
        by_effect = _by_effect(report)
        effects = [rows[0] for rows in by_effect]
        of_sizes = sizes.chosen._asdict() if all(sizes.chosen) else {}
        context |= {
            "report": report,
            "thin_axes": thin_axes(material, axes_form.axes),
            "sizes": sizes,
            "effects": effects,
            "verdicts": list(takeaway_verdicts(effects)),
            "parts": [rows for rows in by_effect if len(rows) > 1],
            "n_pairs": sum(row.n_pairs for row in effects),
            "query": query_string(axes_form.axes_said | of_sizes),
        }
        if spec := effects_chart(report.rows, on_page=True):
            context["plots"] = {"charts": {"effects": spec}, "themes": page_themes()}
    page, fragment = (
        "evaluation/tradeoffs/takeaways.html",
        "evaluation/tradeoffs/_takeaways.html",
    )
    return render_page_or_fragment(request, page=page, fragment=fragment, context=context)


@require_safe
@allowed(Role.RESEARCHER)
def download_takeaways(request: SignedInRequest, slug: str, format_key: str) -> HttpResponse:
    """Download the table (CSV, LaTeX, JSON) or the figure (SVG, PDF, PNG) of the address."""

    def report() -> Report[EffectRow]:
        material = _material_or_404(request, slug)
        return cached_takeaways(material, SizesForm(request.GET, dots=material.dots).chosen)

    return report_file(report, format_key, f"{slug}-takeaways", effects_chart)


@require_safe
@allowed(Role.RESEARCHER)
def comparable(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show pairs of comparable setups, and how they move against the curves of equal F1."""
    dataset = get_object_or_404(Dataset, slug=slug)
    axes_form = AxesForm(request.GET, dataset=dataset)
    context = _context(dataset, axes_form, "comparable")
    if material := _material(dataset, axes_form.chosen):
        report = cached_comparable(material)
        moves = list(clear_moves(material, report.rows))[:MOST_DRAWN]
        context |= {
            "n_drawn": len(moves),
            "desk": figure_of_moves(moves),
            "phone": figure_of_moves(moves, PHONE),
            "report": report,
            "thin_axes": thin_axes(material, axes_form.axes),
            "counts": moves_by_reason(report.rows),
            "shown": report.rows[:MOST_SHOWN],
        }
    page, fragment = (
        "evaluation/tradeoffs/comparable.html",
        "evaluation/tradeoffs/_comparable.html",
    )
    return render_page_or_fragment(request, page=page, fragment=fragment, context=context)


@require_safe
@allowed(Role.RESEARCHER)
def download_comparable(request: SignedInRequest, slug: str, format_key: str) -> HttpResponse:
    """Download all pairs as CSV, LaTeX or JSON."""
    return report_file(
        lambda: cached_comparable(_material_or_404(request, slug)), format_key, f"{slug}-comparable"
    )


def _context(dataset: Dataset, axes_form: AxesForm, name: str) -> dict[str, Any]:
    running = running_runs(dataset, axes_form.chosen)
    return {
        "dataset": dataset,
        "axes_form": axes_form,
        "axes": axes_form.chosen,
        "address": axes_form.address,
        "missing": missing_sides(axes_form.axes, running),
        "running": running,
        "here": reverse(f"tradeoffs:{name}", args=[dataset.slug]),
        "report": None,
    }


def _material(dataset: Dataset, axes: Axes | None) -> TradeoffMaterial | None:
    """Return the material of the chosen axes; None if there are no axes."""
    return None if axes is None else cached_material(dataset, axes)


def _material_or_404(request: SignedInRequest, slug: str) -> TradeoffMaterial:
    dataset = get_object_or_404(Dataset, slug=slug)
    material = _material(dataset, AxesForm(request.GET, dataset=dataset).chosen)
    if material is None:
        raise Http404(
            "There are no labels for attribution and sensibleness, because no run and no raters "
            "have judged them yet."
        )
    return material


def _by_effect(report: Report[EffectRow]) -> list[list[EffectRow]]:
    """Return the rows of each effect: first the row of all its pairs, if any, then its parts."""
    found: dict[str, list[EffectRow]] = {}
    for row in report.rows:
        found.setdefault(row.effect, []).append(row)
    return list(found.values())
