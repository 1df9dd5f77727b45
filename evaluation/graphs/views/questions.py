"""Pages of questions about a graph: the list, one question step by step, and asking one."""

from collections.abc import Sequence

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from accounts.access import Role, allowed
from accounts.http import SignedInRequest, render_page_or_fragment
from accounts.listing import containing
from evaluation.graphs.forms.ask import AskForm
from evaluation.graphs.forms.graphs import ALL, ASKED, QuestionFilter
from evaluation.graphs.pages.cited_answer import judged_answers
from evaluation.graphs.pages.graph import counts_of, links_of
from evaluation.graphs.pages.question_steps import on_their_way, question_of, question_steps
from evaluation.graphs.reports.retrieval import missed_questions
from evaluation.graphs.services.asked_questions import delete_asked_question
from generation.grids.grid_file import GridError
from generation.models import (
    Dataset,
    Example,
    KGQuestion,
    MinimumTriple,
    QuestionEntity,
    Response,
)
from generation.services.asked_questions import MOST_NEW_TOKENS, QuestionError, store_question
from generation.services.asked_questions import ask as ask_model
from generation.services.grids import GridChangeError
from generation.services.planning import send_grid

QUESTIONS_PER_PAGE = 50
ANSWERS_PER_PAGE = 8
MOST_UNFOLDED = 3  # With more answers, their citations are folded.


@require_safe
@allowed(Role.RESEARCHER)
def questions(request: SignedInRequest, slug: str) -> HttpResponse:
    """List the questions about a graph page by page, with a search and filters.

    Ad-hoc questions are listed on request.
    """
    dataset = get_object_or_404(Dataset, slug=slug)
    form = QuestionFilter(request.GET)
    form.is_valid()
    asked = KGQuestion.objects.filter(example__dataset=dataset).order_by("example")
    if words := form.cleaned_data.get("q"):
        found = containing("turns__text", "key")(words)
        asked = asked.filter(example__in=dataset.examples.filter(found).values("pk"))
    source = form.cleaned_data.get("source")
    if source != ALL:
        asked = asked.filter(example__is_ad_hoc=source == ASKED)
    if missed := form.cleaned_data.get("missed"):
        asked = asked.filter(example__in=missed_questions(dataset, missed))
    page = Paginator(asked, QUESTIONS_PER_PAGE).get_page(request.GET.get("page"))
    on_page = page.object_list.select_related("example").prefetch_related("example__turns")  # type: ignore[attr-defined]
    page.object_list = list(on_page)
    return render_page_or_fragment(
        request,
        page="evaluation/graphs/questions.html",
        fragment="evaluation/graphs/_question_list.html",
        context={
            "dataset": dataset,
            "form": form,
            "page": page,
            "rows": _with_counts(page.object_list),
            "counts": counts_of([dataset.pk])[dataset.pk],
        },
    )


@require_safe
@allowed(Role.RESEARCHER)
def question(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    """Show how one question is answered: names, candidates, graph, prompt, a page of answers.

    While an answer is on its way, htmx requests only the answers, again and again.
    """
    example = get_object_or_404(
        Example.objects.select_related("dataset"), dataset__slug=slug, pk=pk
    )
    asked = get_object_or_404(KGQuestion, example=example)
    waiting = on_their_way(example)
    responses = example.responses.select_related("setup", "dataset", "call")
    in_order = responses.order_by("setup__name", "key", "pk")
    page = Paginator(in_order, ANSWERS_PER_PAGE).get_page(request.GET.get("page"))
    answers = judged_answers(example.dataset, list(page.object_list))
    cited = {fact.qid for answer in answers for fact in answer.facts}
    context = {
        "dataset": example.dataset,
        "example": example,
        "waiting": waiting,
        "is_going_on": any(each.is_going_on for each in waiting),
        "page": page,
        "answers": answers,
        "is_folded": len(answers) > MOST_UNFOLDED,
        "entities": links_of(example.dataset_id, slug, cited),
    }
    if not request.htmx or request.htmx.history_restore_request:
        context["steps"] = question_steps(example, asked, slug)
    return render_page_or_fragment(
        request,
        page="evaluation/graphs/question.html",
        fragment="evaluation/graphs/_question_answers.html",
        context=context,
    )


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(Role.RESEARCHER)
def ask(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the form for a question of the researcher's own, store the question and ask it."""
    dataset = get_object_or_404(Dataset, slug=slug)
    if request.method != "POST":
        form = AskForm(initial=_first_choices(dataset, request.GET.get("question", "")))
        return _show_form(request, dataset, form)
    form = AskForm(request.POST)
    if form.is_valid():
        try:
            example = store_question(dataset, form.cleaned_data["question"], request.user)
            grid = ask_model(example, form.asked(), request.user)
        except (GridError, GridChangeError) as error:
            form.add_error("model", f"{error}")
        else:
            send_grid(grid)
            return redirect("graphs:question", slug, example.pk)
    return _show_form(request, dataset, form, status=422)


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(Role.RESEARCHER)
def delete_question(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    """Show what is deleted along with an ad-hoc question, and delete it when confirmed."""
    example = get_object_or_404(
        Example.objects.select_related("dataset"), dataset__slug=slug, pk=pk, is_ad_hoc=True
    )
    if request.method == "POST":
        try:
            delete_asked_question(example, request.user)
        except QuestionError as error:
            messages.error(request, str(error))
            return redirect("graphs:question", slug, pk)
        messages.success(request, "The question and its answers are deleted.")
        return redirect("graphs:questions", slug)
    context = {
        "dataset": example.dataset,
        "example": example,
        "text": question_of(example),
        "n_answers": example.responses.count(),
    }
    return render(request, "evaluation/graphs/delete_question.html", context)


def _show_form(
    request: SignedInRequest, dataset: Dataset, form: AskForm, status: int = 200
) -> HttpResponse:
    context = {
        "dataset": dataset,
        "form": form,
        "counts": counts_of([dataset.pk])[dataset.pk],
        "most_tokens": MOST_NEW_TOKENS,
    }
    return render(request, "evaluation/graphs/ask.html", context, status=status)


def _first_choices(dataset: Dataset, example: str) -> dict[str, str]:
    """Return the question of an example as the form's first value, to ask another model."""
    found = dataset.examples.filter(pk=int(example)).first() if example.isdecimal() else None
    return {"question": question_of(found)} if found else {}


def _with_counts(questions: Sequence[KGQuestion]) -> list[dict[str, object]]:
    """Return questions with what is known of each. This takes three queries."""
    named = QuestionEntity.objects.filter(question__in=questions).order_by()
    minimum = MinimumTriple.objects.filter(question__in=questions).order_by()
    answers = Response.objects.filter(example__in=[q.example_id for q in questions]).order_by()
    n_named = {
        (question, is_retrieved): n
        for question, is_retrieved, n in named.values_list("question", "is_retrieved").annotate(
            n=Count("pk")
        )
    }
    n_minimum = dict(minimum.values_list("question").annotate(n=Count("pk")))
    n_answers = dict(answers.values_list("example").annotate(n=Count("pk")))
    return [
        {
            "example": each.example,
            "text": next((turn.text for turn in each.example.turns.all()), ""),
            "n_gold": n_named.get((each.pk, False)),  # None: not known
            "n_retrieved": n_named.get((each.pk, True), 0) if each.is_retrieved_known else None,
            "n_minimum": n_minimum.get(each.pk, 0) if each.is_minimum_known else None,
            "is_made_up": each.is_minimum_made_up,
            "n_answers": n_answers.get(each.example_id, 0),
        }
        for each in questions
    ]
