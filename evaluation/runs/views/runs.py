"""Pages of metric runs: the queue, a new run, one run with its scores, and its actions."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import reselect, reswap, retarget, trigger_client_event

from accounts.access import Role, allowed
from accounts.http import SignedInRequest, page_to_return_to, query_string, render_page_or_fragment
from accounts.listing import said_of_archive
from annotation.models import Study
from evaluation.models import MetricRun
from evaluation.runs.control_panel import control_panel
from evaluation.runs.forms.new_run import NewRunForm, first_choices
from evaluation.runs.main_metrics import set_aside
from evaluation.runs.model_checks import why_unusable
from evaluation.runs.named_answers import named_answers
from evaluation.runs.pages.new_run import new_run_page
from evaluation.runs.plan import responses_of_study
from evaluation.runs.precision_panel import N_MEASURED, precision_panel
from evaluation.runs.progress import RunProgress, progress_of_runs, run_progress, title_of
from evaluation.runs.run_list import RUNS, with_failures
from evaluation.runs.scores import (
    choices_in_words,
    data_digest,
    failure_reasons,
    failures,
    histogram,
    listed_scores,
    n_of_setups,
    outcome,
    setups_of_the_judge,
    studies_of,
)
from evaluation.runs.services import added_controls
from evaluation.runs.services import runs as services
from evaluation.runs.services.chunks import send_run
from evaluation.runs.services.run_calls import (
    controls_asking,
    precision_asking,
    retry_asking,
    runs_asking,
)
from evaluation.runs.services.runs import RunError
from evaluation.runs.study_targets import first_plan
from generation.models import Dataset, Response
from generation.views.plan_first import plan_first

RUNS_PER_PAGE = 20
SCORES_PER_PAGE = 8
FAILURES_PER_PAGE = 50
MOST_REASONS = 20
NOT_CHOSEN = ("csrfmiddlewaretoken", "show")  # values in the form of a new run that are no choices
RUNNING = MetricRun.State.RUNNING


# --- the queue ------------------------------------------------------------------------------


@require_safe
@allowed(Role.RESEARCHER)
def runs(request: SignedInRequest) -> HttpResponse:
    """List the runs of all datasets, each with its progress and its actions."""
    return _list(request, MetricRun.objects.all())


@require_safe
@allowed(Role.RESEARCHER)
def runs_of_dataset(request: SignedInRequest, slug: str) -> HttpResponse:
    """List the runs of one dataset."""
    dataset = get_object_or_404(Dataset, slug=slug)
    return _list(request, MetricRun.objects.filter(dataset=dataset), dataset)


def _list(
    request: SignedInRequest, runs: QuerySet[MetricRun], dataset: Dataset | None = None
) -> HttpResponse:
    rows = with_failures(runs.select_related("dataset"))
    listed = (RUNS.without("dataset") if dataset else RUNS).read(rows, request)
    progress = run_progress(listed.rows)
    return render_page_or_fragment(
        request,
        page="evaluation/runs/runs.html",
        fragment="evaluation/runs/_run_list.html",
        context={
            "listed": listed,
            "page": listed.page,
            "progress": progress,
            "studies": studies_of([each.run for each in progress]),
            "is_running": any(each.run.state == RUNNING for each in progress),
            "has_responses": bool(progress) or _has_responses(dataset),
            "dataset": dataset,
        },
    )


def _has_responses(dataset: Dataset | None) -> bool:
    of_data = Response.objects.filter(example__dataset=dataset) if dataset else Response.objects
    return of_data.exists()


# --- a new run ------------------------------------------------------------------------------


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(Role.RESEARCHER)
def start_run(request: SignedInRequest) -> HttpResponse:
    """Show the form of a new run, with the number of responses without a score, and start it."""
    if request.method != "POST":
        return _show_new_run(request, NewRunForm(first_choices(request.GET.dict(), request.user)))
    if "show" in request.POST:  # another metric or model was chosen in a browser without scripts
        chosen = {name: value for name, value in request.POST.items() if name not in NOT_CHOSEN}
        return redirect(f"{request.path}{query_string(chosen)}")
    form = NewRunForm(request.POST)
    if form.shows_another_metric:  # the user has not seen the chosen metric's choices yet
        form = NewRunForm(first_choices(request.POST.dict(), request.user))
        return _show_new_run(request, form, status=422)
    if form.is_valid():
        problem = why_unusable(form.cleaned_data["plan"].spec, form.kind.key)
        if problem:
            form.add_error("model", problem)
    if form.errors:
        return _show_new_run(request, form, status=422)
    wanted = form.cleaned_data
    dataset, plan, responses = wanted["dataset"], wanted["plan"], wanted["responses"]
    if page := plan_first(request, runs_asking(dataset, [plan], responses)):
        return page
    try:
        run = services.request_metric_run(dataset, plan, responses, request.user)
    except RunError as error:
        form.add_error("over", str(error))
        return _show_new_run(request, form, status=422)
    send_run(run)
    if run.state != RUNNING:
        judged = form.kind.judges.removesuffix("s")
        messages.info(request, f"Every {judged} has a score under these choices already.")
    return redirect("evaluation:run", run.pk)


def _show_new_run(request: SignedInRequest, form: NewRunForm, status: int = 200) -> HttpResponse:
    """Show the form, which may be incomplete, because htmx asks for it at each change."""
    page = new_run_page(form.kind, form.cleaned_data if form.is_valid() else None)
    context = {"form": form, "page": page, "is_refused": status != 200}
    return render(request, "evaluation/runs/start_run.html", context, status=status)


@require_POST
@allowed(Role.RESEARCHER)
def start_default_run(request: SignedInRequest, slug: str) -> HttpResponse:
    """Start a run over what a study's raters judge, with the metric that needs no model."""
    study = get_object_or_404(Study.objects.select_related("dataset"), slug=slug)
    plan, responses = first_plan(study), responses_of_study(study)
    try:
        run = services.request_metric_run(study.dataset, plan, responses, request.user)
    except RunError as error:
        messages.error(request, str(error))
    else:
        send_run(run)
    if request.htmx:
        return redirect("evaluation:study-runs", slug)
    return redirect("evaluation:study-metrics", slug)


@require_safe
@allowed(Role.RESEARCHER)
def study_runs(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the progress of the runs of a study's dataset.

    When the last run has ended, trigger the event `runs-finished` on the page.
    """
    study = get_object_or_404(Study.objects.select_related("dataset"), slug=slug)
    # Only runs that go on are polled, because counting the scores of all others takes long. A run
    # may end while it is counted; the page shows the second reading, so that one decides.
    counted = progress_of_study(study, state=RUNNING)
    going_on = [each for each in counted if each.run.state == RUNNING]
    context = {"study": study, "progress": going_on or progress_of_study(study)}
    answer = render(request, "evaluation/runs/_runs_of_study.html", context)
    if going_on:
        return answer
    # Only a part of the fragment was polled. Now the whole fragment is replaced.
    retarget(reselect(reswap(answer, "outerHTML"), "#study-runs"), "#study-runs")
    return trigger_client_event(answer, "runs-finished")


def progress_of_study(study: Study, **only: str) -> list[RunProgress]:
    """Return the progress of the runs of a study's dataset, newest first, one page at most.

    Args:
        study: the study.
        only: values that fields of a run must have.
    """
    newest = MetricRun.objects.filter(dataset=study.dataset_id, **only).order_by("-pk")
    pks = list(newest.values_list("pk", flat=True)[:RUNS_PER_PAGE])
    return list(progress_of_runs(pks).values())


# --- one run --------------------------------------------------------------------------------


@require_safe
@allowed(Role.RESEARCHER)
def run(request: SignedInRequest, pk: int) -> HttpResponse:
    """Show one run: its progress, every choice that changes its numbers, and its scores."""
    get_object_or_404(MetricRun, pk=pk)
    progress = progress_of_runs([pk])[pk]
    spread = histogram(progress.run)
    number = _bin_number(request.GET.get("bin", ""), len(spread.bins))
    behind = named_answers(progress.run.dataset, request.GET)
    scores = behind.of(listed_scores(progress.run, spread, number))
    own = setups_of_the_judge(progress.run)
    return render(
        request,
        "evaluation/runs/run.html",
        {
            "run": progress.run,
            "progress": progress,
            "studies": studies_of([progress.run]),
            "is_aside": set_aside().filter(pk=pk).exists(),
            "choices": choices_in_words(progress.run),
            "digest": data_digest(progress.run),
            "outcome": outcome(progress.run),
            "spread": spread,
            "chosen": None if number is None else spread.bins[number],
            "behind": behind,
            "page": Paginator(scores, SCORES_PER_PAGE).get_page(request.GET.get("page")),
            "own_setups": own,
            "panel": precision_panel(progress.run),
            "controls": control_panel(progress.run),
            "n_own": n_of_setups(progress.run, own),
        },
    )


def _bin_number(text: str, n_bins: int) -> int | None:
    """Return the number of the bin that an address names; None: all bins."""
    return int(text) if text in map(str, range(n_bins)) else None


@require_safe
@allowed(Role.RESEARCHER)
def run_failures(request: SignedInRequest, pk: int) -> HttpResponse:
    """Show the failed targets of a run, and its reasons of failures with their numbers."""
    found = get_object_or_404(MetricRun.objects.select_related("dataset"), pk=pk)
    reason = request.GET.get("reason", "")
    behind = named_answers(found.dataset, request.GET)
    failed = behind.of(failures(found, reason))
    context = {
        "run": found,
        "title": title_of(found),
        "reason": reason,
        "reasons": failure_reasons(found, MOST_REASONS),
        "n_failed": failures(found).count(),
        "behind": behind,
        "page": Paginator(failed, FAILURES_PER_PAGE).get_page(request.GET.get("page")),
    }
    return render(request, "evaluation/runs/run_failures.html", context)


@require_POST
@allowed(Role.RESEARCHER)
def retry_run(request: SignedInRequest, pk: int) -> HttpResponse:
    """Score the failed targets of a run once more."""
    run = _of_ours(pk)
    if page := plan_first(request, retry_asking(run)):
        return page
    if services.retry_failed(run, request.user):
        send_run(run)
    else:
        messages.info(request, f"Nothing of {title_of(run)} has failed.")
    return redirect("evaluation:run", run.pk)


@require_POST
@allowed(Role.RESEARCHER)
def add_controls(request: SignedInRequest, pk: int) -> HttpResponse:
    """Score controls of a run that has none."""
    run = _of_ours(pk)
    if page := plan_first(request, controls_asking(run)):
        return page
    try:
        added_controls.request_controls(run, request.user)
    except RunError as error:
        messages.error(request, str(error))
    else:
        send_run(run)
    return redirect("evaluation:run", pk)


@require_POST
@allowed(Role.RESEARCHER)
def threshold_by_floor(request: SignedInRequest, pk: int) -> HttpResponse:
    """Start a run of the same scores at the threshold that the controls of a run choose."""
    run = _of_ours(pk)
    try:
        plan, responses = added_controls.plan_by_floor(run)
        if page := plan_first(request, runs_asking(run.dataset, [plan], responses)):
            return page
        chosen = added_controls.request_by_floor(run, request.user)
    except RunError as error:
        messages.error(request, str(error))
        return redirect("evaluation:run", pk)
    send_run(chosen)
    return redirect("evaluation:run", chosen.pk)


@require_safe
@allowed(Role.RESEARCHER)
def precision_of_run(request: SignedInRequest, pk: int) -> HttpResponse:
    """Show the progress of the measurement in bf16. The page asks repeatedly until it has ended."""
    panel = precision_panel(_of_ours(pk))
    if panel is None:
        raise Http404("The backend of this run computes in one precision only.")
    return render(request, "evaluation/runs/_precision.html", {"panel": panel})


@require_POST
@allowed(Role.RESEARCHER)
def measure_precision(request: SignedInRequest, pk: int) -> HttpResponse:
    """Score some of a run's responses once more, in bf16, to measure what bf16 changes."""
    run = _of_ours(pk)
    try:
        if page := plan_first(request, precision_asking(run, N_MEASURED)):
            return page
        check = services.request_precision_check(run, request.user, n=N_MEASURED)
    except RunError as error:
        messages.error(request, str(error))
    else:
        send_run(check)
    return redirect("evaluation:run", pk)


@require_POST
@allowed(Role.RESEARCHER)
def archive_run(request: SignedInRequest, pk: int) -> HttpResponse:
    """Put a run into the archive, or take it out of it."""
    run = get_object_or_404(MetricRun.objects.select_related("dataset"), pk=pk)
    is_archived = request.POST.get("archived") == "yes"
    services.archive_run(run, is_archived, request.user)
    messages.success(request, said_of_archive(title_of(run), is_archived))
    return _back(request, run)


def _of_ours(pk: int) -> MetricRun:
    """Return a run that was made in Attest. Imported runs change only with their dataset."""
    return get_object_or_404(MetricRun, pk=pk, is_imported=False)


def _back(request: SignedInRequest, run: MetricRun) -> HttpResponse:
    """Redirect to the page whose button was pressed."""
    here = page_to_return_to(request)
    return redirect("evaluation:run", run.pk) if here == reverse("home") else redirect(here)
