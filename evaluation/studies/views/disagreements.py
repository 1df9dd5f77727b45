"""Pages of disagreements and of tied targets: worklist, case, adjudication."""

from collections.abc import Collection, Sequence

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from accounts.access import Role, allowed
from accounts.http import SignedInRequest, render_page_or_fragment
from annotation.forms.guidelines import GuidelineForm
from annotation.models import Study, Target
from annotation.schemes import load_scheme
from annotation.study_progress import still_to_rate
from annotation.views.guidelines import guideline_editor
from evaluation.studies.disagreements.cases import cases, worklist_csv
from evaluation.studies.disagreements.worklist import Disagreement, Worklist, adjudicated, worklist
from evaluation.studies.forms.adjudication import KINDS, AdjudicationForm, WorklistForm
from evaluation.studies.pages.worked_example import worked_example as as_worked_example
from evaluation.studies.services.adjudication import adjudicate as store

CASES_PER_PAGE = 10


@require_safe
@allowed(Role.RESEARCHER)
def disagreements(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show targets with a disagreement, or tied ones, and forms to adjudicate."""
    study = _study(slug)
    form = WorklistForm(study, request.GET)
    work, done = _worklist(study, form), adjudicated(study, form.chosen_question)
    of_kind = {kind: form.with_status(work.of_kind(kind), done) for kind in KINDS}
    shown = of_kind[form.said["kind"]]
    page = Paginator(shown, CASES_PER_PAGE).get_page(request.GET.get("page"))
    found = {item.target: item for item in page.object_list}
    question = form.chosen_question
    return render_page_or_fragment(
        request,
        page="evaluation/studies/disagreements.html",
        fragment="evaluation/studies/_disagreement_list.html",
        context={
            "study": study,
            "form": form,
            "work": work,
            "page": page,
            "rows": [
                (case, AdjudicationForm(question, case.target.pk))
                for case in cases(study, form.chosen_run, question, found)
            ],
            "tabs": [(kind, name, len(of_kind[kind])) for kind, name in KINDS.items()],
            "next_open": _next_open(shown, done),
        },
    )


@require_safe
@allowed(Role.RESEARCHER)
def disagreement(request: SignedInRequest, slug: str, target_id: int) -> HttpResponse:
    """Show one case of the worklist: as a fragment, which htmx puts in its place, or as a page."""
    study = _study(slug)
    target = get_object_or_404(Target, pk=target_id, response__dataset=study.dataset_id)
    form = WorklistForm(study, request.GET)
    return _case(request, study, form, AdjudicationForm(form.chosen_question, target.pk))


@require_POST
@allowed(Role.RESEARCHER)
def adjudicate(request: SignedInRequest, slug: str, target_id: int) -> HttpResponse:
    """Store a researcher's decision about one target. The votes are kept unchanged."""
    study = _study(slug)
    target = get_object_or_404(Target, pk=target_id, response__dataset=study.dataset_id)
    form = WorklistForm(study, {**request.GET.dict(), "question": request.POST.get("question", "")})
    question = form.chosen_question
    said = AdjudicationForm(question, target.pk, request.POST)
    if not said.is_valid():
        return _case(request, study, form, said)
    decided = said.cleaned_data
    is_new = store(study, target, question, decided["answer"], decided["note"], request.user)
    messages.success(
        request,
        "The decision is saved. No vote was changed."
        if is_new
        else "This decision is stored already.",
    )
    address = reverse("evaluation:disagreement", args=[study.slug, target.pk])
    return redirect(f"{address}{form.query}")


@require_safe
@allowed(Role.RESEARCHER)
def download_disagreements(request: SignedInRequest, slug: str) -> StreamingHttpResponse:
    """Download all rows of the worklist as CSV, with the choices that the address makes."""
    study = _study(slug)
    form = WorklistForm(study, request.GET)
    run, question = form.chosen_run, form.chosen_question
    if run is None and not form.is_about_ties:
        raise Http404("No auto-metric has scored the responses of this study.")
    of_kind = _worklist(study, form).of_kind(form.said["kind"])
    kept = form.with_status(of_kind, adjudicated(study, question))
    lines = worklist_csv(study, run, question, form.choices, kept)
    answer = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{study.slug}-disagreements.csv"'
    return answer


@require_safe
@allowed(Role.RESEARCHER)
def worked_example(request: SignedInRequest, slug: str, target_id: int) -> HttpResponse:
    """Show the editor of the guidelines with an adjudicated case as a new worked example."""
    study = _study(slug)
    target = get_object_or_404(Target, pk=target_id, response__dataset=study.dataset_id)
    question = load_scheme(study.scheme).question(request.GET.get("question", ""))
    if question is None or study.is_imported:
        raise Http404("There is no such case, or the study has no guidelines here.")
    if study.state == Study.State.CLOSED:
        return redirect("annotation:edit-guidelines", slug)  # it says why this is not possible
    [case] = cases(study, None, question, {target.pk: None})
    if not case.decisions:
        raise Http404("This case has no decision yet. Adjudicate it first.")
    newest = study.guidelines.order_by("-version").first()
    example = as_worked_example(study, question, case)
    if newest and example in newest.text:
        messages.info(request, "This worked example is in the guidelines already.")
        return redirect("annotation:guidelines", slug)
    form = GuidelineForm(newest, example=example)
    return guideline_editor(request, study, form, still=still_to_rate(study, target))


def _study(slug: str) -> Study:
    return get_object_or_404(Study.objects.select_related("dataset"), slug=slug)


def _worklist(study: Study, form: WorklistForm) -> Worklist:
    return worklist(study, form.chosen_run, form.chosen_question, form.choices)


def _case(
    request: SignedInRequest, study: Study, form: WorklistForm, said: AdjudicationForm
) -> HttpResponse:
    """Show one case and its form. A form that was posted has errors when it comes here."""
    question = form.chosen_question
    work = _worklist(study, form)
    kept = work.of_kind(form.said["kind"])
    item = next((item for item in work.everything if item.target == said.target), None)
    [case] = cases(study, form.chosen_run, question, {said.target: item})
    return render_page_or_fragment(
        request,
        page="evaluation/studies/disagreement.html",
        fragment="evaluation/studies/_disagreement.html",
        context={
            "study": study,
            "question": question,
            "item": case,
            "run": form.chosen_run,
            "query": form.query,
            "form": said,
            "is_alone": True,
            "next_open": _next_open(kept, adjudicated(study, question), said.target),
        },
        status=422 if said.is_bound else 200,
    )


def _next_open(
    items: Sequence[Disagreement], done: Collection[int], after: int | None = None
) -> int | None:
    """Return the next target that is not adjudicated yet, or None.

    The search begins after the target `after`. At the end of the list it goes on from the start.
    """
    targets = [item.target for item in items]
    start = targets.index(after) + 1 if after in targets else 0
    around = [*targets[start:], *targets[:start]]
    return next((pk for pk in around if pk not in done and pk != after), None)
