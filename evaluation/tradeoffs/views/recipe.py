"""The pages of a recipe: its plan, then its grid, its scores, the re-ranking and the results."""

from functools import partial
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from accounts.access import Role, allowed
from accounts.http import SignedInRequest, render_page_or_fragment
from evaluation.measures.reranking import SENSIBLE_FIRST
from evaluation.reports.downloads import report_file
from evaluation.reports.figures.themes import page_themes
from evaluation.reports.registry import CannotReport
from evaluation.reports.report import Report
from evaluation.retrieval.figure import recall_chart
from evaluation.runs.model_checks import why_unusable
from evaluation.runs.services.chunks import send_run
from evaluation.runs.services.run_calls import runs_asking
from evaluation.runs.services.runs import request_metric_run
from evaluation.tradeoffs.figures.recipe import recipe_chart
from evaluation.tradeoffs.forms.axes import AxesForm
from evaluation.tradeoffs.forms.recipe import RecipeForm, ScorersForm, first_choices
from evaluation.tradeoffs.pages.recipe import answer_of_newest, progress_page, report_so_far
from evaluation.tradeoffs.recipe_plan import RecipePlan, plan_recipe
from evaluation.tradeoffs.recipe_stages import state_of
from evaluation.tradeoffs.recipes import Recipe, recipe_of, recipes_of, responses_to_score
from evaluation.tradeoffs.services.reranking import RerankingError, rerank
from generation.grids.grid_file import GridError
from generation.models import Dataset, Grid
from generation.retrieval.dataset_index import is_index_asked_for
from generation.services.grids import GridChangeError, request_grid
from generation.services.planning import send_grid
from generation.views.plan_first import plan_first


@require_safe
@allowed(Role.RESEARCHER)
def recipe(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the form of a new recipe with its plan, even half-filled, and the existing recipes."""
    dataset = get_object_or_404(Dataset, slug=slug)
    is_half_filled = "temperature" in request.GET  # htmx sends the form at each change
    form = RecipeForm(request.GET if is_half_filled else first_choices(dataset), dataset=dataset)
    plan = plan_recipe(
        dataset, form.choices, waits_for_index=False, lowers_target=not is_half_filled
    )
    if not is_half_filled:
        form = RecipeForm({**form.data, "recall": plan.target}, dataset=dataset)
        form.errors.clear()
    return _show_form(request, dataset, form, plan)


@require_POST
@allowed(Role.RESEARCHER)
def start_recipe(request: SignedInRequest, slug: str) -> HttpResponse:
    """Have the grid of a recipe planned; no model is asked before a researcher starts the grid."""
    dataset = get_object_or_404(Dataset, slug=slug)
    form = RecipeForm(request.POST, dataset=dataset)
    plan = plan_recipe(dataset, form.choices, waits_for_index=False)
    choices = form.grid(plan)
    if choices is not None:
        try:
            grid = request_grid(dataset, choices, request.user)
        except GridError as error:
            form.refuse(error)
        except GridChangeError as error:
            form.add_error("name", str(error))
        else:
            transaction.on_commit(partial(send_grid, grid))
            return redirect("tradeoffs:recipe-progress", slug, grid.pk)
    return _show_form(request, dataset, form, plan, status=422)


def _show_form(
    request: SignedInRequest,
    dataset: Dataset,
    form: RecipeForm,
    plan: RecipePlan,
    status: int = 200,
) -> HttpResponse:
    has_recall = plan.recall is not None and plan.recall.rows[0].recall.value is not None
    spec = recall_chart(plan.recall.rows, plan.k1) if plan.recall else None
    context = {
        "dataset": dataset,
        "form": form,
        "plan": plan,
        "has_recall": has_recall,
        "is_indexing": plan.recall is None and is_index_asked_for(dataset.pk),
        "recipes": recipes_of(dataset),
        "is_refused": status != 200,
        "address": AxesForm(request.GET, dataset=dataset).address,
        "plots": {"charts": {"recall": spec}, "themes": page_themes()} if spec else {},
    }
    if context["recipes"] and not request.htmx:
        context |= answer_of_newest(dataset)
    page, fragment = "evaluation/tradeoffs/recipe.html", "evaluation/tradeoffs/_recipe.html"
    return render_page_or_fragment(
        request, page=page, fragment=fragment, context=context, status=status
    )


# --- one recipe -----------------------------------------------------------------------------


@require_safe
@allowed(Role.RESEARCHER)
def recipe_progress(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    """Show the progress of a recipe, the button for the next stage, and the results."""
    found = _recipe(slug, pk)
    return _show_progress(request, found, ScorersForm(request.GET, recipe=found))


def _show_progress(
    request: SignedInRequest, found: Recipe, form: ScorersForm, status: int = 200
) -> HttpResponse:
    context: dict[str, Any] = {
        "dataset": found.dataset,
        "recipe": found,
        "form": form,
        "is_refused": status != 200,
        "address": AxesForm(request.GET, dataset=found.dataset).address,
        "plots": {},
    }
    if form.scorers and form.judges:
        context |= progress_page(found, form.scorers, form.judges)
    page = "evaluation/tradeoffs/recipe_progress.html"
    fragment = "evaluation/tradeoffs/_recipe_progress.html"
    return render_page_or_fragment(
        request, page=page, fragment=fragment, context=context, status=status
    )


@require_POST
@allowed(Role.RESEARCHER)
def score_recipe(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    """Have a recipe's unscored responses scored, by what re-ranks and by what judges."""
    found = _recipe(slug, pk)
    form = ScorersForm(request.POST, recipe=found)
    if form.problems:
        return _show_progress(request, found, form, status=422)
    keys = {field.name: key for field, key in form.rows}
    responses = responses_to_score(found)
    if not form.scorers or not form.judges or not responses.exists():
        messages.info(request, "There is nothing to score yet.")
        return _to_progress(found, form.address)
    plans = {each.key: each.plan for each in (*form.scorers, *form.judges) if each.plan}
    if page := plan_first(request, runs_asking(found.dataset, plans.values(), responses)):
        return page
    for scored_by, plan in plans.items():
        if problem := why_unusable(plan.spec, plan.metric.key):
            messages.error(request, problem)
            continue
        run = request_metric_run(found.dataset, plan, responses, request.user)
        send_run(run)
        keys = {name: f"run-{run.pk}" if key == scored_by else key for name, key in keys.items()}
    return _to_progress(found, ScorersForm(keys, recipe=found).address)


@require_POST
@allowed(Role.RESEARCHER)
def rerank_recipe(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    """Store the choice of the recipe, made by the scorers that were posted."""
    found = _recipe(slug, pk)
    form = ScorersForm(request.POST, recipe=found)
    if form.problems:
        return _show_progress(request, found, form, status=422)
    axes = form.scorers.axes if form.scorers else None
    if form.scorers is None or axes is None:
        messages.error(request, "Nothing is scored yet that the recipe could choose by.")
        return _to_progress(found, form.address)
    if not state_of(found, form.scorers).is_scored:
        messages.error(request, "Not all responses are scored yet: nothing was re-ranked.")
        return _to_progress(found, form.address)
    try:
        rerank(
            found.dataset,
            axes,
            found.pool,
            SENSIBLE_FIRST,
            user=request.user,
            recipe=found.numbers,
        )
    except RerankingError as error:
        messages.error(request, str(error))
    return _to_progress(found, form.address)


@require_safe
@allowed(Role.RESEARCHER)
def download_recipe(request: SignedInRequest, slug: str, pk: int, format_key: str) -> HttpResponse:
    """Download the table (CSV, LaTeX, JSON) or the figure (SVG, PDF, PNG) of a recipe."""
    found = _recipe(slug, pk)
    form = ScorersForm(request.GET, recipe=found)

    def so_far() -> Report[Any]:
        report = None
        if form.scorers and form.judges:
            state = state_of(found, form.scorers, form.judges)
            report = report_so_far(found, form.scorers, form.judges, state)
        if report is None:
            raise CannotReport("Its responses are not re-ranked yet.")
        return report

    return report_file(so_far, format_key, f"{slug}-recipe-{pk}", recipe_chart)


def _recipe(slug: str, pk: int) -> Recipe:
    """Return a recipe of a dataset by the id of its grid."""
    grids = Grid.objects.select_related("dataset", "sample").prefetch_related("setups")
    found = recipe_of(get_object_or_404(grids, pk=pk, dataset__slug=slug))
    if found is None:
        raise Http404("This grid is no recipe.")
    return found


def _to_progress(found: Recipe, address: str) -> HttpResponse:
    here = reverse("tradeoffs:recipe-progress", args=[found.dataset.slug, found.grid.pk])
    return redirect(f"{here}{address}")
