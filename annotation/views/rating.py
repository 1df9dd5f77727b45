"""The pages of a rater's work: take a unit, answer, keep a draft, submit, skip, flag, ask."""

from urllib.parse import urlsplit

from django.contrib import messages
from django.http import Http404, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST

from accounts.access import Role, allowed
from accounts.http import SignedInRequest, is_from_htmx
from annotation.forms.enquiries import EnquiryForm
from annotation.forms.rating import FlagForm, RatingForm, SkipForm
from annotation.guidelines import changed_lines
from annotation.models import Guideline, Rater, Study
from annotation.pages.rating_desk import RatingDesk
from annotation.rated_units import RatedUnit, rated_unit, unit_to_judge
from annotation.services import rating
from annotation.services.claiming import claim_next_unit
from annotation.services.enquiries import EnquiryError
from annotation.services.enquiries import ask_researchers as ask
from annotation.services.guideline_reading import begin_with_newest, note_reading
from annotation.services.joining import end_visit_of
from annotation.services.rating import JudgedTarget, SubmitOutcome
from annotation.stated_reasons import FLAG_REASONS, SKIP_REASONS
from annotation.unit_rows import rater_at_work

NOTHING_LEFT = gettext_lazy("Nothing is left to rate. Thank you.")


@require_POST
@allowed(Role.RATER)
def next_unit(request: SignedInRequest, slug: str) -> HttpResponse:
    """Hand out the rater's next unit, or say that none is left."""
    rater = _rater(request, slug)
    if rater.must_qualify:
        return redirect("annotation:qualification", slug)
    return _go_on(request, rater)


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(Role.RATER)
def rate_unit(request: SignedInRequest, slug: str, unit_id: int) -> HttpResponse:
    """Show a unit with the answers so far; accept its votes, also changed ones."""
    rater = _rater(request, slug)
    if request.method != "POST":
        unit = _given(rater, unit_id)
        if unit.state == "open" and rater.has_to_read(unit.share.guideline_version):
            return redirect("annotation:guideline-changes", slug)
        return _desk(request, RatingForm(unit))
    form = RatingForm(_to_judge(rater, unit_id), request.POST)
    if not form.is_valid():
        form = RatingForm(_given(rater, unit_id), request.POST)  # this one has texts and flags
        if not form.is_valid():
            return _desk(request, form, status=422)
    outcome = rating.submit_votes(form.unit.unit, rater, _judged(form), form.seconds)
    return _after_submit(request, rater, form, outcome)


def _judged(form: RatingForm) -> list[JudgedTarget]:
    """Return the answers of a form. A flagged response with only some answers gets none."""
    return [
        JudgedTarget(
            vote.shown.target_id,
            vote.shown.position,
            {} if vote.judgement.missing else vote.judgement.answers,
        )
        for vote in form.forms
    ]


def _after_submit(
    request: SignedInRequest, rater: Rater, form: RatingForm, outcome: SubmitOutcome
) -> HttpResponse:
    """Report a change or surplus votes, and go to the next page."""
    slug, unit_id = rater.study.slug, form.unit.unit.pk
    if outcome is SubmitOutcome.CLOSED:
        return redirect("annotation:rate-unit", slug, unit_id)
    if outcome is SubmitOutcome.CHANGED:
        messages.success(request, gettext("Your changes are saved."))
    if outcome is SubmitOutcome.SURPLUS:
        messages.info(
            request,
            gettext(
                "Another rater got this unit before you sent it. Your answers are kept, but not "
                "counted."
            ),
        )
    if "from_answers" in request.POST:
        return redirect("annotation:my-answers", slug)
    return _go_on(request, rater, form)


@require_POST
@allowed(Role.RATER)
def save_draft(request: SignedInRequest, slug: str, unit_id: int) -> HttpResponse:
    """Store the answers so far. Scripts get JSON; a browser without scripts gets the unit."""
    rater = _rater(request, slug)
    form = RatingForm(_to_judge(rater, unit_id), request.POST)
    form.is_valid()  # this reads the answers; a draft may have gaps and contradictions
    lease_until = rating.save_draft(form.unit.unit, rater, form.answers, form.seconds)
    if request.get_preferred_type(["application/json", "text/html"]) == "text/html":
        return redirect("annotation:rate-unit", slug, unit_id)
    if lease_until is None:
        return JsonResponse({"state": "gone"})
    now = timezone.now().isoformat(timespec="seconds")
    return JsonResponse({"saved_at": now, "lease_until": lease_until.isoformat()})


@require_POST
@allowed(Role.RATER)
def skip_unit(request: SignedInRequest, slug: str, unit_id: int) -> HttpResponse:
    """Give a unit back with a reason, and go on to the next."""
    rater = _rater(request, slug)
    unit = _given(rater, unit_id)
    form = SkipForm(request.POST)
    if not form.is_valid():
        problem, action = gettext("say why you skip it."), gettext("Not skipped:")
        return _desk(request, RatingForm(unit), status=422, action=action, problem=problem)
    rating.skip_unit(unit.unit, rater, form.cleaned_data["reason"], form.cleaned_data["note"])
    return _go_on(request, rater)


@require_POST
@allowed(Role.RATER)
def flag_unit(request: SignedInRequest, slug: str, unit_id: int) -> HttpResponse:
    """Flag responses of a unit with a reason, or take the flags back; the unit stays open."""
    rater = _rater(request, slug)
    unit = _given(rater, unit_id)
    if not rater.may_vote:
        return redirect("annotation:rate-unit", slug, unit_id)
    if "take_back" in request.POST:
        if not rating.take_flags_back(unit.unit, rater):
            problem = gettext("answer every question first, then take the flag back.")
            action = gettext("Not taken back:")
            return _desk(request, RatingForm(unit), status=422, action=action, problem=problem)
        return redirect("annotation:rate-unit", slug, unit_id)
    form = FlagForm(unit, request.POST)
    if not form.is_valid():
        problem, action = gettext("say what is wrong."), gettext("Not flagged:")
        if len(unit.responses) > 1:
            problem = gettext("say what is wrong, and with which.")
        return _desk(request, RatingForm(unit), status=422, action=action, problem=problem)
    rating.flag_responses(unit.unit, rater, form.target_ids, form.words)
    return redirect("annotation:rate-unit", slug, unit_id)


@require_POST
@allowed(Role.RATER)
def ask_researchers(request: SignedInRequest, slug: str, unit_id: int) -> HttpResponse:
    """Send a question about a unit to the researchers; the unit stays open."""
    rater = _rater(request, slug)
    unit = _given(rater, unit_id)
    if not rater.may_vote:
        return redirect("annotation:rate-unit", slug, unit_id)
    form = EnquiryForm(request.POST)
    if form.is_valid():
        try:
            ask(unit.unit, rater, form.cleaned_data["text"])
        except EnquiryError as error:
            form.add_error("text", str(error))
    if form.errors:
        problem = str(form.errors["text"][0])
        action = gettext("Not sent:")
        return _desk(request, RatingForm(unit), status=422, action=action, problem=problem)
    return redirect("annotation:rate-unit", slug, unit_id)


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(Role.RATER)
def guideline_changes(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show what changed in the guidelines since the rater read them; a POST confirms it."""
    rater = _rater(request, slug)
    versions = Guideline.objects.filter(study=rater.study)
    if request.method == "POST":
        posted = request.POST.get("version", "")
        number = int(posted) if posted.isdecimal() and len(posted) < 6 else 0
        note_reading(rater, get_object_or_404(versions, version=number))
        return _go_on(request, rater)
    newest, before = versions.order_by("-version").first(), rater.read_guideline
    if newest is None or before is None or not rater.has_to_read(newest.version):
        return redirect("annotation:guidelines", slug)
    changes = changed_lines(before.text, newest.text)
    context = {"study": rater.study, "before": before, "newest": newest, "changes": changes}
    return render(request, "annotation/guideline_changes.html", context)


# --- parts ----------------------------------------------------------------------------------


def _rater(request: SignedInRequest, slug: str) -> Rater:
    rater = rater_at_work(request.user, slug)
    if rater is None:
        raise Http404("You are no rater of this study.")
    return rater


def _given(rater: Rater, unit_id: int) -> RatedUnit:
    return _or_404(rated_unit(rater, unit_id))


def _to_judge(rater: Rater, unit_id: int) -> RatedUnit:
    return _or_404(unit_to_judge(rater, unit_id))


def _or_404(unit: RatedUnit | None) -> RatedUnit:
    if unit is None:
        raise Http404("This unit was not given to you.")
    return unit


def _go_on(
    request: SignedInRequest,
    rater: Rater,
    last: RatingForm | None = None,
) -> HttpResponse:
    """Go to the next unit, with a way back to the one that was just submitted, `last`."""
    study, has_just_submitted = rater.study, last is not None
    assignment = claim_next_unit(rater, has_just_submitted=has_just_submitted)
    if assignment:
        if rater.read_guideline is None:
            begin_with_newest(rater)
        path = reverse("annotation:rate-unit", args=[study.slug, assignment.unit_id])
        address = f"{path}?{_pointer(last)}" if last else path
        if has_just_submitted and is_from_htmx(request):
            return _at_once(request, rater, assignment.unit_id, address)
        return redirect(address)
    if end_visit_of(rater):
        return redirect("annotation:end-of-visit", study.slug)
    if rater.taken_out_at:
        no_longer = gettext("You no longer take part in {name}. Thank you.")
        messages.info(request, no_longer.format(name=study.name))
    elif study.state == Study.State.OPEN:
        messages.success(request, NOTHING_LEFT)
    else:
        is_now = gettext("{name} is now paused. Your answers are kept.")
        if study.state == Study.State.CLOSED:
            is_now = gettext("{name} is now closed. Your answers are kept.")
        messages.info(request, is_now.format(name=study.name))
    return redirect("annotation:my-studies")


def _at_once(request: SignedInRequest, rater: Rater, unit_id: int, address: str) -> HttpResponse:
    """Answer a submit with the next unit itself and its address, which saves a redirect."""
    unit = _given(rater, unit_id)
    if rater.has_to_read(unit.share.guideline_version):
        return redirect("annotation:guideline-changes", rater.study.slug)
    response = _desk(request, RatingForm(unit), asked=QueryDict(urlsplit(address).query))
    response["HX-Push-Url"] = address
    return response


def _last_answer(said: str) -> str:
    """Return in words what was answered to the unit before."""
    if said == "1":
        return gettext("Last answer: yes, saved")
    return gettext("Last answer: no, saved") if said == "0" else gettext("Flagged, saved")


def _pointer(last: RatingForm) -> str:
    """Return the unit that was just submitted for the address of the next one.

    Of a unit that one key submits, it also says the answer.
    """
    is_one_key = RatingDesk(last).layout == "judge"
    said = [f"said={answer}" for answer in last.forms[0].given.values() if is_one_key]
    return "&".join([f"last={last.unit.unit.pk}", *said])


def _desk(
    request: SignedInRequest,
    form: RatingForm,
    *,
    asked: QueryDict | None = None,
    status: int = 200,
    action: str = "",
    problem: str = "",
) -> HttpResponse:
    """Show a unit; `asked` is the query of its address, if that is not the request's."""
    desk, asked = RatingDesk(form), request.GET if asked is None else asked
    context = {
        "unit": form.unit,
        "study": form.unit.study,
        "desk": desk,
        "action": action or gettext("Not submitted:"),
        "problem": problem or desk.problem,
        "skip_reasons": SKIP_REASONS,
        "flag_reasons": FLAG_REASONS,
        "asked_text": request.POST.get("text", ""),
        "last": last if (last := asked.get("last", "")).isdecimal() else "",
        "said": _last_answer(asked.get("said", "")),
        "from_answers": "from_answers" in asked or "from_answers" in request.POST,
    }
    response = render(request, "annotation/rate_unit.html", context, status=status)
    if status != 200:
        response["HX-Push-Url"] = "false"  # the browser keeps the unit's address
    return response
