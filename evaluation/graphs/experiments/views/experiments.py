"""Pages of KaLMA's experiments over a graph: the list, and each with the steps ask, score, read."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST, require_safe

from accounts.access import Role, allowed
from accounts.http import SignedInRequest, render_page_or_fragment
from annotation.models import Study
from evaluation.graphs.experiments import services
from evaluation.graphs.experiments.forms.alignment_study import AlignmentStudyForm
from evaluation.graphs.experiments.forms.experiment import ScoreForm, StartForm
from evaluation.graphs.experiments.pages.progress import (
    ExperimentState,
    progress_of,
    state_of,
    states_of,
)
from evaluation.graphs.experiments.pages.results import figures_of
from evaluation.graphs.experiments.registry import EXPERIMENTS
from evaluation.graphs.experiments.views import alignment
from evaluation.reports.downloads import report_file
from evaluation.reports.registry import CannotReport, all_reports
from evaluation.reports.report import Report
from evaluation.runs.services.chunks import send_run
from evaluation.runs.services.runs import RunError
from generation.choices.declaration import ChoiceError
from generation.grids.grid_file import GridError
from generation.models import Dataset
from generation.services.grids import GridChangeError
from generation.services.planning import send_grid
from generation.views.plan_first import plan_first


@require_safe
@allowed(Role.RESEARCHER)
def experiments(request: SignedInRequest, slug: str) -> HttpResponse:
    """List the experiments, each with its progress over this graph."""
    dataset = get_object_or_404(Dataset, slug=slug)
    page, fragment = (
        "evaluation/graphs/experiments/experiments.html",
        "evaluation/graphs/experiments/_list.html",
    )
    return render_page_or_fragment(
        request, page=page, fragment=fragment, context=states_of(dataset)
    )


# --- one ------------------------------------------------------------------------------------


@require_safe
@allowed(Role.RESEARCHER)
def experiment(request: SignedInRequest, slug: str, key: str) -> HttpResponse:
    """Show one experiment: what was asked, what is scored, and the results."""
    return _show(request, _dataset(slug, key), key)


@require_POST
@allowed(Role.RESEARCHER)
def start_experiment(request: SignedInRequest, slug: str, key: str) -> HttpResponse:
    """Let a worker plan the grid of an experiment. Nothing is asked until the grid is started."""
    dataset = _dataset(slug, key)
    form = StartForm(dataset, EXPERIMENTS[key], request.POST)
    if form.is_valid():
        try:
            asked = services.request(dataset, form.plan(), request.user)
        except GridError as error:
            form.refuse(error)
        except GridChangeError as error:
            form.add_error(None, str(error))
        else:
            send_grid(asked)
            return redirect("graphs:experiment", slug, key)
    return _show(request, dataset, key, form=form, status=422)


@require_POST
@allowed(Role.RESEARCHER)
def score_experiment(request: SignedInRequest, slug: str, key: str) -> HttpResponse:
    """Let workers score the answers of an experiment by each of its metrics."""
    dataset = _dataset(slug, key)
    form = ScoreForm(EXPERIMENTS[key], request.POST)
    if form.is_valid():
        try:
            asking = services.scoring_asking(dataset, key, form.plan())
            if page := plan_first(request, asking):
                return page
            runs = services.request_scoring(dataset, key, form.plan(), request.user)
        except (ChoiceError, RunError) as error:
            form.add_error(None, str(error))
        else:
            for run in runs:
                send_run(run)
            if not any(run.state == run.State.RUNNING for run in runs):
                messages.info(request, "Every answer has a score under these choices already.")
            return redirect("graphs:experiment", slug, key)
    return _show(request, dataset, key, score_form=form, status=422)


@require_POST
@allowed(Role.RESEARCHER)
def request_study(request: SignedInRequest, slug: str) -> HttpResponse:
    """Plan a study of human alignment. No rater is asked until the study is opened."""
    dataset = get_object_or_404(Dataset, slug=slug)
    form = AlignmentStudyForm(dataset, request.POST)
    if form.is_valid() and (study := form.request(request.user)):
        return redirect("annotation:study-setup", study.slug)
    return _show(request, dataset, "alignment", study_form=form, status=422)


@require_safe
@allowed(Role.RESEARCHER)
def download_experiment(
    request: SignedInRequest, slug: str, key: str, format_key: str
) -> HttpResponse:
    """Download the table of an experiment (CSV, LaTeX, JSON) or its figure (SVG, PDF, PNG).

    The table of human alignment is about the study that the address names. Without a name, it is
    about the newest study with votes, or else the newest.
    """
    dataset = _dataset(slug, key)
    kind = all_reports()[EXPERIMENTS[key].report]

    def made() -> Report[Any]:
        return kind.make(_subject(request, dataset, key), kind.choices())

    return report_file(made, format_key, f"{slug}-{key}", kind.figure)


def _show(
    request: SignedInRequest,
    dataset: Dataset,
    key: str,
    *,
    form: StartForm | None = None,
    score_form: ScoreForm | None = None,
    study_form: AlignmentStudyForm | None = None,
    status: int = 200,
) -> HttpResponse:
    """Show an experiment. A form with errors is shown in its step."""
    state = state_of(dataset, key)
    context: dict[str, Any] = {
        "dataset": dataset,
        "state": state,
        "progress": progress_of(state) if state.grids else [],
        "is_going_on": "going on" in (state.asked, state.score),
        "form": form or _first_form(dataset, state),
        "is_start_refused": form is not None,
        "score_form": score_form or (ScoreForm(state.kind) if state.kind.metrics else None),
        "is_score_refused": score_form is not None,
        "can_make_up": "minimum sets" in state.kind.needs,
        "plots": {},
    }
    if state.kind.has_grid:
        context |= figures_of(dataset, key, request.GET.get("runs", ""))
    else:
        context |= alignment.context_of(request, dataset, state, study_form)
    page, fragment = (
        "evaluation/graphs/experiments/experiment.html",
        "evaluation/graphs/experiments/_experiment.html",
    )
    return render_page_or_fragment(
        request, page=page, fragment=fragment, context=context, status=status
    )


def _first_form(dataset: Dataset, state: ExperimentState) -> StartForm | None:
    """Return the form that starts an experiment, or None if nothing can be asked."""
    if not state.kind.has_grid or state.lacking:
        return None
    return StartForm(dataset, state.kind)


def _subject(request: SignedInRequest, dataset: Dataset, key: str) -> Dataset | Study:
    """Return the dataset or the study that the report of an experiment is about.

    Raises:
        CannotReport: the report is about a study, and there is none.
    """
    if EXPERIMENTS[key].has_grid:
        return dataset
    state = state_of(dataset, key)
    study = alignment.study_of(dataset, state, request.GET.get("study", ""))
    if study is None:
        raise CannotReport("There is no study of alignment yet.")
    return study


def _dataset(slug: str, key: str) -> Dataset:
    """Return the dataset of an address, after a check that its experiment exists."""
    if key not in EXPERIMENTS:
        raise Http404(
            f"There is no such experiment. The experiments are: {', '.join(EXPERIMENTS)}."
        )
    return get_object_or_404(Dataset, slug=slug)
