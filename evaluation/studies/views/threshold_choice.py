"""Pages of threshold choice: choosing on some dialogs, and reporting on others.

What is chosen is the flavor, the window and the threshold.
"""

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import trigger_client_event

from accounts.access import Role, allowed
from accounts.http import SignedInRequest, render_page_or_fragment
from annotation.models import Study, Vote
from evaluation.models import MetricRun
from evaluation.reports.downloads import figure_file, report_file
from evaluation.reports.figures.themes import Spec, page_themes
from evaluation.reports.report import Report
from evaluation.runs.families import Family, grid
from evaluation.runs.model_checks import why_unusable
from evaluation.runs.plan import RunPlan, responses_of_study
from evaluation.runs.progress import scoring_of
from evaluation.runs.services.chosen_thresholds import with_threshold
from evaluation.runs.services.chunks import send_run
from evaluation.runs.services.run_calls import runs_asking
from evaluation.runs.services.runs import request_metric_run
from evaluation.studies.figures.threshold_choice import grid_chart
from evaluation.studies.forms.threshold_choice import ThresholdChoiceForm
from evaluation.studies.pages.threshold_choice import ThresholdChoiceTable, threshold_choice_table
from evaluation.studies.reports.cached_figures import MOST_VOTES_AT_ONCE, cached_of_study, is_large
from evaluation.studies.reports.threshold_choice import threshold_choice_report
from evaluation.studies.reports.threshold_choice_rows import ThresholdChoiceRow
from evaluation.votes.dialog_weights import UNEQUAL
from generation.views.plan_first import plan_first

STATE = MetricRun.State
MOST_RUNS = 200  # runs in one address, at most; further ones are ignored
LONGEST_ID = 19


@require_safe
@allowed(Role.RESEARCHER)
def threshold_choice(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show accuracy by window and flavor, and how much accuracy the choice among them gains."""
    study = _study(slug)
    form = ThresholdChoiceForm(request.GET, study=study)
    context: dict[str, Any] = {
        "study": study,
        "form": form,
        "plots": {},
        "has_votes": Vote.objects.filter(arm__in=list(study.arms.all())).exists(),
    } | _grid(study, form)
    if is_large(study):
        context["most_votes"] = MOST_VOTES_AT_ONCE
    else:
        report, table = _found(study, form)
        spec = _chart(table)
        context |= {"report": report, "table": table}
        if spec:
            context["plots"] = {"charts": {"grid": spec}, "themes": page_themes()}
    return render_page_or_fragment(
        request,
        page="evaluation/studies/threshold_choice.html",
        fragment="evaluation/studies/_threshold_choice.html",
        context=context,
    )


@allowed(Role.RESEARCHER)
def former_address(request: SignedInRequest, slug: str, rest: str) -> HttpResponse:
    """Redirect from an address with this page's former name to its present address."""
    here = reverse("evaluation:threshold-choice", args=[slug]).removesuffix("/") + rest
    query = request.META["QUERY_STRING"]
    return redirect(f"{here}?{query}" if query else here, permanent=True, preserve_request=True)


@require_safe
@allowed(Role.RESEARCHER)
def threshold_choice_progress(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the progress of the runs in the address, by their chunks.

    When all runs have ended, trigger the event `runs-finished` on the page.
    """
    study = _study(slug)
    asked = [int(number) for number in request.GET.getlist("run")[:MOST_RUNS] if _is_id(number)]
    scoring = scoring_of(MetricRun.objects.filter(dataset=study.dataset_id, pk__in=asked))
    context = {"study": study, "scoring": scoring}
    answer = render(request, "evaluation/studies/_threshold_choice_progress.html", context)
    return answer if scoring.runs else trigger_client_event(answer, "runs-finished")


@require_safe
@allowed(Role.RESEARCHER)
def download_threshold_choice(request: SignedInRequest, slug: str, format_key: str) -> HttpResponse:
    """Download the report with the choices of the address. It has the rows that the page shows."""
    study = _small(slug)
    form = ThresholdChoiceForm(request.GET, study=study)
    return report_file(lambda: _found(study, form)[0], format_key, f"{slug}-threshold-choice")


@require_safe
@allowed(Role.RESEARCHER)
def threshold_choice_figure(request: SignedInRequest, slug: str, format_key: str) -> HttpResponse:
    """Draw the chart as SVG, PDF or PNG, with the choices that the address makes."""
    study = _small(slug)
    _, table = _found(study, ThresholdChoiceForm(request.GET, study=study))
    return figure_file(_chart(table), format_key, f"{slug}-threshold-choice")


@require_POST
@allowed(Role.RESEARCHER)
def score_grid(request: SignedInRequest, slug: str) -> HttpResponse:
    """Request the runs of a grid that are missing or that have something left to score."""
    study = _study(slug)
    form = _posted(request, study)
    family, hypothesis = form.chosen_family, form.chosen_hypothesis
    if family.can_grow and _is_usable(request, family):
        places = grid(family, study, hypothesis=hypothesis)  # type: ignore[arg-type]
        plans = [family.plan(place.metric) for place in places if place.state == "missing"]
        if page := _plan_first(request, study, plans):
            return page
        for plan in plans:
            _start(request, study, plan)
    return redirect(_address(study, form))


@require_POST
@allowed(Role.RESEARCHER)
def start_chosen_run(request: SignedInRequest, slug: str) -> HttpResponse:
    """Start a run with the choice that the page showed, if all dialogs still give this choice.

    Imported scores get the chosen threshold without a new run of a model.
    """
    study = _small(slug)
    form = _posted(request, study)
    _, table = _found(study, form)
    family, chosen = form.chosen_family, table.chosen
    run = chosen and chosen.run
    candidate = next((c for c in family.candidates if c.run.pk == run), None)
    can_use = family.can_start or family.is_imported
    if chosen is None or chosen.threshold is None or candidate is None or not can_use:
        messages.error(request, "No run was started: the page has no choice that a run could use.")
        return redirect(_address(study, form))
    if (request.POST.get("run"), request.POST.get("threshold")) != table.shown_choice:
        messages.error(
            request,
            "No run was started: votes or scores have changed since you opened the page, and so "
            "has the choice. This page shows the current choice.",
        )
        return redirect(_address(study, form))
    if candidate.metric is None:
        made = with_threshold(candidate.run, chosen.threshold, chosen_by_votes_of=study.slug)
        return redirect("evaluation:run", made.pk)
    if not _is_usable(request, family):
        return redirect(_address(study, form))
    plan = family.plan(candidate.metric, chosen.threshold, on=study.slug)
    if plan.signature in family.taken:
        messages.error(
            request,
            "No run was started: another revision of the model has made this run. Delete it first.",
        )
        return redirect(_address(study, form))
    page = _plan_first(request, study, [plan])
    return page or redirect("evaluation:run", _start(request, study, plan).pk)


def _is_usable(request: SignedInRequest, family: Family) -> bool:
    """Return whether a check finds no problem with a family's model; else show the problem."""
    problem = why_unusable(family.spec, family.metric) if family.spec else ""
    if problem:
        messages.error(request, f"No run was started: {problem}")
    return not problem


def _found(
    study: Study, form: ThresholdChoiceForm
) -> tuple[Report[ThresholdChoiceRow], ThresholdChoiceTable]:
    """Return the report on the chosen question and family, and its table for the page."""
    family, question, choices = form.chosen_family, form.chosen_question, form.choices
    report = cached_of_study(
        study,
        repr(("threshold choice", choices, question, family.key)),
        lambda: threshold_choice_report(study, choices, question=question, family=family),
    )
    return report, threshold_choice_table(report.rows)


def _grid(study: Study, form: ThresholdChoiceForm) -> dict[str, Any]:
    """Return the progress of the chosen family's grid and of its runs."""
    family: Family = form.chosen_family
    hypothesis = form.chosen_hypothesis
    places = grid(family, study, hypothesis=hypothesis) if family.can_grow else []  # type: ignore[arg-type]
    missing = [each for each in places if each.state == "missing"]
    return {
        "family": family,
        "n_places": len(places),
        "n_missing": len(missing),
        "n_taken": sum(each.state == "taken" for each in places),
        "n_left": sum(each.n_left for each in missing),
        "scoring": scoring_of(MetricRun.objects.filter(pk__in=family.runs)),
        "stopped": [each.run for each in family.candidates if each.run.state == STATE.FAILED],
    }


def _chart(table: ThresholdChoiceTable) -> Spec | None:
    return grid_chart(table.candidates, table.chosen)


def _small(slug: str) -> Study:
    """Return a study that is small enough to choose a threshold during a request.

    Raises:
        Http404: the study has too many votes for that, or no threshold can be chosen on it.
    """
    study = _study(slug)
    if is_large(study):
        raise Http404(
            f"The study has more than {MOST_VOTES_AT_ONCE:,} votes, which takes long. Use the "
            "command 'manage.py report threshold_choice' instead."
        )
    return study


def _study(slug: str) -> Study:
    """Return a study.

    Raises:
        Http404: there is none, or its dialogs were drawn with different probabilities.
    """
    study = get_object_or_404(Study.objects.select_related("dataset"), slug=slug)
    if not study.has_uniform_draw:
        raise Http404(UNEQUAL)
    return study


def _is_id(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < LONGEST_ID


def _posted(request: SignedInRequest, study: Study) -> ThresholdChoiceForm:
    """Return the posted form. Its family must be named and exist: no usual one is taken.

    Raises:
        Http404: there is no such family.
    """
    form = ThresholdChoiceForm(request.POST.dict(), study=study)
    if not form.cleaned_data.get("family"):
        raise Http404("There are no such scores.")
    return form


def _plan_first(
    request: SignedInRequest, study: Study, plans: Sequence[RunPlan]
) -> HttpResponse | None:
    return plan_first(request, runs_asking(study.dataset, plans, responses_of_study(study)))


def _start(request: SignedInRequest, study: Study, plan: RunPlan) -> MetricRun:
    run = request_metric_run(study.dataset, plan, responses_of_study(study), request.user)
    send_run(run)
    return run


def _address(study: Study, form: ThresholdChoiceForm) -> str:
    return f"{reverse('evaluation:threshold-choice', args=[study.slug])}{form.address}"
