"""The pages of a study: results, merged against separate, raters, metrics and methods."""

from collections.abc import Callable
from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from accounts.access import Role, allowed
from accounts.http import SignedInRequest, render_page_or_fragment
from annotation.models import Rater, Study
from annotation.schemes import load_scheme
from annotation.study_progress import arm_progress, unit_progress
from evaluation.reports.rarer_answer import (
    means_note,
    ordinal_alpha_note,
    prevalence_note,
    rater_agreement_note,
)
from evaluation.runs.main_metrics import main_runs_of
from evaluation.runs.views.runs import progress_of_study
from evaluation.studies.forms.reports import ReportChoicesForm
from evaluation.studies.pages.answer import findings
from evaluation.studies.pages.answer_basis import rests_on
from evaluation.studies.pages.auto_table import AutoTable, auto_table_of
from evaluation.studies.pages.exclusions import excluded_raters, left_out_lines
from evaluation.studies.pages.plots import page_plots
from evaluation.studies.pages.replicate import replicate_table
from evaluation.studies.pages.ssa_answer import ssa_findings
from evaluation.studies.pages.ssa_table import ssa_table
from evaluation.studies.pages.sub_pages import (
    MERGED,
    METHODS,
    METRICS,
    RATERS,
    RESULTS,
    SubPage,
)
from evaluation.studies.pages.tables import (
    n_said,
    scenario_table,
    sensible_tables,
    shift_table,
    time_table,
)
from evaluation.studies.reports.cached_figures import MOST_VOTES_AT_ONCE
from evaluation.studies.reports.scenarios import of_questions
from evaluation.studies.reports.study import ON_PAGE, Figures
from evaluation.studies.services.looks import count_look
from evaluation.studies.views.last_figures import last_figures
from evaluation.votes.all_responses import draw_of
from evaluation.votes.dialog_weights import UNEQUAL

Contents = Callable[[Study, Figures, ReportChoicesForm, AutoTable], dict[str, Any]]


@require_safe
@allowed(Role.RESEARCHER)
def results(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show what the raters found, in sentences, and each question by scenario."""
    if "run" in request.GET or "question" in request.GET:  # an address from before the sub-pages
        query = request.META["QUERY_STRING"]
        return redirect(f"{reverse('evaluation:study-metrics', args=[slug])}?{query}")
    return _show(request, slug, RESULTS, _results)


@require_safe
@allowed(Role.RESEARCHER)
def merged(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show how answers in the merged arm differ from those in the separate arm, and the times."""
    return _show(request, slug, MERGED, _merged)


@require_safe
@allowed(Role.RESEARCHER)
def raters(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show how far the raters agree with each other."""
    return _show(request, slug, RATERS, _raters)


@require_safe
@allowed(Role.RESEARCHER)
def metrics(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show how far auto-metrics agree with the raters."""
    return _show(request, slug, METRICS, _metrics)


@require_safe
@allowed(Role.RESEARCHER)
def methods(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show what the figures leave out, and every choice that changes one."""
    return _show(request, slug, METHODS, _methods)


def _show(request: SignedInRequest, slug: str, page: SubPage, contents: Contents) -> HttpResponse:
    """Show a page of a study. While newer figures are being computed, show the last ones."""
    study = get_object_or_404(Study.objects.select_related("dataset"), slug=slug)
    form = ReportChoicesForm(request.GET, study=study)
    stored = last_figures(study, form.choices)
    figures = stored.figures
    seen = request.headers.get("Figures-Of")
    there = figures.computed_at.isoformat() if figures else "never"
    if seen and not stored.is_current and seen == there:
        return HttpResponse(status=204)  # there is nothing new for a page that waits
    refusal = "" if study.has_uniform_draw or page.has_weights else UNEQUAL
    context: dict[str, Any] = {
        "study": study,
        "scheme": load_scheme(study.scheme),
        "arms": study.arms.all(),
        "form": form,
        "choices": form.choices,
        "page": page,
        "figures": figures,
        "is_current": stored.is_current,
        "refusal": refusal,
        "is_simulated": Rater.objects.filter(study=study, is_simulated=True).exists(),
    }
    if figures:
        if page is not METHODS and not refusal:
            count_look(study, figures.overview.n_votes)
        auto = auto_table_of(figures, form.chosen_question, form.chosen_run, main_runs_of(study))
        plots = page_plots(figures, auto, page.charts)
        context |= {
            "auto": auto,
            "plots": plots,
            "charts": plots["charts"],
            "is_of_today": figures.computed_at.date() == timezone.now().date(),
        } | contents(study, figures, form, auto)
    return render_page_or_fragment(
        request,
        page="evaluation/studies/study.html",
        fragment="evaluation/studies/_figures.html",
        context=context,
    )


# --- what each page shows -------------------------------------------------------------------


def _results(
    study: Study, figures: Figures, form: ReportChoicesForm, auto: AutoTable
) -> dict[str, Any]:
    done = None if study.is_imported else _done(study)
    means = of_questions(figures.scenarios.rows)
    return {
        "findings": [
            *findings(study, load_scheme(study.scheme), figures),
            *ssa_findings(study, figures),
        ],
        "rests_on": rests_on(study, figures, done),
        "draw": draw_of(study),
        # Its arms are about different responses as long as votes come in.
        "hides_chart": study.is_running and len(figures.overview.arms) > 1,
        "units": None if study.is_imported else unit_progress(study),
        "scenarios": scenario_table(means, figures.by_setup.rows),
        "means_note": means_note(
            row.n_other_dialogs
            for rows in (means, figures.raters.rows)
            for row in rows
            if row.mean.low is not None
        ),
        "ssa": ssa_table(figures.scenarios.rows),
        "times": time_table(figures.time.rows, figures.position.rows),
        "done": done,
    }


def _done(study: Study) -> dict[str, Any]:
    """Return how many assignments are done and how many are wanted, in total and by arm."""
    arms = arm_progress(study)
    return {
        "n": sum(arm.n_done for arm in arms),
        "of": sum(arm.n_wanted for arm in arms),
        "arms": arms,
        "n_let_go_by_hand": sum(arm.n_let_go_by_hand for arm in arms),
    }


def _merged(
    study: Study, figures: Figures, form: ReportChoicesForm, auto: AutoTable
) -> dict[str, Any]:
    means = of_questions(figures.scenarios.rows)
    scenarios = scenario_table(means, figures.by_setup.rows).scenarios
    return {
        "merged": shift_table(figures.uncertainty.rows, scenarios),
        "replicate": replicate_table(figures.uncertainty.rows, figures.overview.main),
        "times": time_table(figures.time.rows, figures.position.rows),
        "time_reports": ("time", "position"),
    }


def _raters(
    study: Study, figures: Figures, form: ReportChoicesForm, auto: AutoTable
) -> dict[str, Any]:
    rows = [row for row in figures.raters.rows if row.alpha.value is not None]
    n_items = [row.alpha_items for row in figures.raters.rows]
    return {
        "agreement_n": n_said(n_items, "item", "with two votes or more"),
        "prevalence_note": prevalence_note(
            (row.question.replace("_", " "), row.coefficients.gwet_ac.value)
            for row in rows
            if row.coefficients.alpha_is_low_for_prevalence
            and row.coefficients.gwet_ac.value is not None
        ),
        "rarer_note": rater_agreement_note(row.n_rarer_dialogs for row in rows),
        "ordinal_note": ordinal_alpha_note(
            (row.alpha.value, row.n_dialogs)
            for row in rows
            if row.alpha_level == "ordinal" and row.alpha.value is not None
        ),
    }


def _metrics(
    study: Study, figures: Figures, form: ReportChoicesForm, auto: AutoTable
) -> dict[str, Any]:
    chosen = auto.chosen
    return {
        "progress": progress_of_study(study),
        "sensible": sensible_tables(figures.sensibleness.rows),
        "of_chosen": form.query_of(chosen.of_run.run, auto.question) if chosen else "",
        "of_threshold_choice": form.query_of_threshold_choice(auto.question),
    }


def _methods(
    study: Study, figures: Figures, form: ReportChoicesForm, auto: AutoTable
) -> dict[str, Any]:
    kinds = [kind for kind in ON_PAGE if kind.key in figures.reports]
    return {
        "left_out": left_out_lines(figures),
        "excluded": excluded_raters(study),
        "signatures": [(key, report.signature) for key, report in figures.reports.items()],
        "methods": [
            (kind.title, kind.methods.paragraph(figures.reports[kind.key].signature))
            for kind in kinds
        ],
        "references": list(dict.fromkeys(text for kind in kinds for text in kind.methods.texts)),
        "is_large": figures.overview.n_votes > MOST_VOTES_AT_ONCE,
    }
