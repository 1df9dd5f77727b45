"""The pages of rater quality: all raters of a study, and one of them."""

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from accounts.access import Role, allowed
from accounts.http import SignedInRequest
from annotation.models import Rater, Study
from annotation.origins import shared_origins
from annotation.schemes import load_scheme
from evaluation.reports.figures.themes import page_themes
from evaluation.studies.figures.rater_quality import course_chart
from evaluation.studies.forms.reports import ReportChoicesForm
from evaluation.studies.pages.rater_quality import sort_heads, sorted_rows, stands_out
from evaluation.studies.rater_quality.one_rater import work_beside_others
from evaluation.studies.rater_quality.reports import rater_quality

RATERS_PER_PAGE = 50
DIFFERENCES_PER_PAGE = 20
MOST_QUESTIONS = 3  # main questions with a column of their own in the table of all raters


@require_safe
@allowed(Role.RESEARCHER)
def all_raters(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the figures of all raters of a study, those who stand out first."""
    study = _study(slug)
    found = rater_quality(study)
    questions = load_scheme(study.scheme).main_questions[:MOST_QUESTIONS]
    asked = request.GET.get("sort", "")
    rows = found.report.rows
    page = Paginator(sorted_rows(rows, asked), RATERS_PER_PAGE).get_page(request.GET.get("page"))
    codes = [row.rater for row in page.object_list]
    raters = {rater.code: rater for rater in Rater.objects.filter(study=study, code__in=codes)}
    shared = shared_origins(study)
    context = {
        "study": study,
        "questions": questions,
        "form": ReportChoicesForm(request.GET, study=study),
        "report": found.report,
        "n_rated": sum(row.n > 0 for row in rows),
        "has_gold": any(row.gold_score is not None for row in rows),
        "has_round": any(row.qualification is not None for row in rows),
        "has_skips": any(row.n_skips is not None for row in rows),
        "n_stand_out": sum(map(stands_out, rows)),
        "n_reference": len(found.reference),
        "heads": sort_heads(request.path, asked),
        "models": [
            (question, [(row.rater, row.questions[question.key].by_model) for row in page])
            for question in questions
            if question.scale.kind == "yes_no"
        ],
        "page": page,
        "rows": [
            (
                row,
                raters[row.rater],
                shared.get(raters[row.rater].pk),
                found.reasons.get(row.rater, ()),
                [(question, row.questions[question.key]) for question in questions],
            )
            for row in page.object_list
        ],
    }
    return render(request, "evaluation/studies/rater_quality.html", context)


@require_safe
@allowed(Role.RESEARCHER)
def one_rater(request: SignedInRequest, slug: str, rater_id: int) -> HttpResponse:
    """Show the figures of one rater, their course, and the answers that differ from the others."""
    study = _study(slug)
    rater = get_object_or_404(Rater, study=study, pk=rater_id)
    found = rater_quality(study)
    row = next(each for each in found.report.rows if each.rater == rater.code)
    scheme = load_scheme(study.scheme)
    work = work_beside_others(study, rater, found.reference)
    pages = Paginator(work.differences, DIFFERENCES_PER_PAGE)
    chart = course_chart(work.course)
    context = {
        "study": study,
        "questions": [(each, row.questions[each.key]) for each in scheme.questions],
        "rater": rater,
        "shared": shared_origins(study).get(rater.pk),
        "row": row,
        "reasons": found.reasons.get(rater.code, ()),
        "report": found.report,
        "has_arms": len(study.arms.all()) > 1,
        "page": pages.get_page(request.GET.get("page")),
        "plots": {"charts": {"course": chart}, "themes": page_themes()} if chart else {},
    }
    return render(request, "evaluation/studies/rater_of_study.html", context)


def _study(slug: str) -> Study:
    of_page = Study.objects.select_related("dataset").prefetch_related("arms")
    return get_object_or_404(of_page, slug=slug)
