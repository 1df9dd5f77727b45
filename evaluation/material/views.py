"""The pages of an example and of a response with all votes and scores; deletion of datasets."""

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.db.models import Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from accounts.access import Role, allowed
from accounts.http import SignedInRequest
from annotation.models import Study
from evaluation.exchange.chosen_material import (
    ChosenMaterial,
    InUseError,
    delete_chosen,
    refuse_if_in_use,
    what_goes,
)
from evaluation.exchange.forms import ChosenMaterialForm, DeleteDatasetForm
from evaluation.exchange.services import delete_dataset as delete
from evaluation.graphs.pages.cited_answer import judged_answers
from evaluation.graphs.pages.graph import links_of
from evaluation.material.verdicts import verdicts
from evaluation.models import AutoScore, Job
from evaluation.studies.disagreements.cases import (
    evidence_choice,
    evidence_graphs,
    evidence_passages,
    winners_of,
)
from evaluation.votes.judgements import TargetJudgement, decisions, judgements, scores
from generation.evidence import with_n_shown
from generation.models import Dataset, Example, KGQuestion, Response, Triple
from generation.text.user_questions import user_question
from work.union_rows import comes_first

MOST_OTHERS = 8  # other responses to the same example that are listed


@require_safe
@allowed(Role.RESEARCHER)
def example(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    """Show a dialog with its evidence and every response to it."""
    found = get_object_or_404(
        with_n_shown(Example.objects.select_related("dataset")).prefetch_related(
            "turns", "evidence__passage"
        ),
        dataset__slug=slug,
        pk=pk,
    )
    responses = list(found.responses.select_related("setup").order_by("setup__name", "key"))
    said, scored = judgements(responses), scores(responses)
    neighbours = Example.objects.filter(dataset=found.dataset_id, is_ad_hoc=found.is_ad_hoc)
    context = {
        "example": found,
        "rows": [
            {"response": r, "judgements": said.get(r.pk, []), "scores": scored.get(r.pk, [])}
            for r in responses
        ],
        "previous": neighbours.filter(pk__lt=found.pk).order_by("-pk").first(),
        "next": neighbours.filter(pk__gt=found.pk).order_by("pk").first(),
        "is_about_graph": KGQuestion.objects.filter(example=found).exists(),
    }
    return render(request, "evaluation/material/example.html", context)


@require_safe
@allowed(Role.RESEARCHER)
def response(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    """Show one response: dialog, evidence, setup, every vote, score and adjudication.

    When the address names a run, show the evidence that this run judged against, with its windows
    marked.
    """
    found = get_object_or_404(
        Response.objects.select_related(
            "example", "setup", "dataset", "call", "chosen_from__setup"
        ).prefetch_related("example__turns", "example__evidence__passage", "shown__passage"),
        dataset__slug=slug,
        pk=pk,
    )
    others = found.example.responses.select_related("setup").exclude(pk=found.pk)
    alike = comes_first(Q(setup__prompt=found.setup.prompt))
    scored = scores([found]).get(found.pk, [])
    said = judgements([found]).get(found.pk, [])
    cited = None if found.graph_shown is None else judged_answers(found.dataset, [found])[0]
    turns = [(turn.speaker, turn.text) for turn in found.example.turns.all()]
    context = {
        "response": found,
        "question": user_question(turns) if turns else found.key,
        "verdicts": verdicts(found, scored, said),
        "is_rated": any(judgement.questions for judgement in said),
        "golden": [shown for shown in found.example.evidence.all() if shown.is_golden],
        "judgements": said,
        "text_format": _text_format(said),
        "decisions": decisions([found]).get(found.pk, []),
        "scores": scored,
        "others": others.order_by(alike, "setup__name", "key")[:MOST_OTHERS],
        "n_others": others.count(),
        "cited": cited,
        "entities": links_of(found.dataset_id, slug, {fact.qid for fact in cited.facts})
        if cited
        else {},
        "chosen_as": found.chosen_as.select_related("setup").order_by("setup__name", "key"),
    } | _as_judged(found, scored, request.GET.get("run", ""))
    return render(request, "evaluation/material/response.html", context)


def _text_format(judgements: Sequence[TargetJudgement]) -> str:
    """Return how all raters of a response read it; plain if they read it in different formats."""
    formats = {judgement.study.text_format for judgement in judgements}
    return formats.pop() if len(formats) == 1 else Study.TextFormat.PLAIN


def _as_judged(response: Response, scored: Sequence[AutoScore], run_id: str) -> dict[str, Any]:
    """Return the evidence that the run `run_id` judged a response against, and its best windows.

    When `scored` holds no score of that run, or the run was imported, `run` is None.
    """
    of_run = [s for s in scored if str(s.run_id) == run_id and not s.run.is_imported]
    if not of_run:
        return {"run": None}
    choice = evidence_choice(of_run[0].run)
    return {
        "run": of_run[0].run,
        "choice": choice,
        "judged_against": evidence_passages([response.pk], choice).get(response.pk, []),
        "graph_judged_against": evidence_graphs([response.pk], choice).get(response.pk, ""),
        "winners": [winner for winners in winners_of(of_run).values() for winner in winners],
    }


@require_http_methods(["GET", "POST"])
@allowed(Role.ADMIN)
def delete_chosen_material(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show what is deleted with the chosen examples and setups, and delete all of it."""
    dataset = get_object_or_404(Dataset, slug=slug)
    form = ChosenMaterialForm(dataset, request.POST or request.GET)
    if not form.is_valid():
        messages.error(
            request,
            "Tick the boxes of examples or setups first. Only those that still exist can be "
            "deleted.",
        )
        return redirect("generation:dataset", slug)
    examples, setups = form.cleaned_data["example"], form.cleaned_data["setup"]
    chosen = ChosenMaterial(dataset, [each.pk for each in examples], [each.pk for each in setups])
    in_use = ""
    try:
        if request.method == "POST":
            delete_chosen(chosen, request.user)
            messages.success(
                request, f"The chosen examples and setups of {dataset.name} are deleted."
            )
            return redirect("generation:dataset", slug)
        refuse_if_in_use(chosen)
    except InUseError as error:
        in_use = str(error)
    context = {
        "dataset": dataset,
        "examples": examples,
        "setups": setups,
        "goes": what_goes(chosen),
        "in_use": in_use,
    }
    status = 409 if in_use and request.method == "POST" else 200
    return render(request, "evaluation/material/delete_chosen.html", context, status=status)


@require_http_methods(["GET", "POST"])
@allowed(Role.ADMIN)
def delete_dataset(request: SignedInRequest, slug: str) -> HttpResponse:
    """Delete a dataset and everything that belongs to it, after the admin has typed its name."""
    dataset = get_object_or_404(Dataset, slug=slug)
    form = DeleteDatasetForm(dataset, request.POST or None)
    if form.is_valid():
        delete(dataset, request.user)
        messages.success(request, f"{dataset.name} is deleted.")
        return redirect("generation:datasets")
    context = {
        "dataset": dataset,
        "form": form,
        "n_examples": dataset.examples.count(),
        "n_responses": dataset.responses.count(),
        "n_entities": dataset.entities.count(),
        "n_triples": Triple.objects.filter(subject__dataset=dataset).count(),
        "n_pulls": dataset.jobs.filter(kind=Job.Kind.GRAPH_PULL).count(),
        "studies": Study.objects.filter(dataset=dataset),
    }
    status = 422 if form.is_bound else 200
    return render(request, "evaluation/material/delete_dataset.html", context, status=status)
