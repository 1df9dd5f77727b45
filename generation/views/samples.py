"""Pages of samples: the list, a new sample, one sample with its filters, verification by hand."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Prefetch
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from accounts.access import Role, allowed
from accounts.http import SignedInRequest
from generation.evidence import with_n_shown
from generation.forms.samples import SampleForm, VerdictForm
from generation.models import IS_ASKED, Dataset, Example, ExamplePassage, Sample, SampledExample
from generation.sample_reading import (
    SampleReport,
    next_open,
    reasons_of,
    sample_report,
    sample_reports,
)
from generation.services import samples as services
from generation.services.samples import SAMPLES, SampleError
from work.kinds import work_kinds
from work.pages import one_of

SAMPLES_PER_PAGE = 50
MEMBERS_PER_PAGE = 25


@require_safe
@allowed(Role.RESEARCHER)
def samples(request: SignedInRequest, slug: str) -> HttpResponse:
    """List the samples of a dataset, newest first, each with the progress of its verification.

    Samples of one question that was asked about the graph are only counted.
    """
    dataset = get_object_or_404(Dataset, slug=slug)
    drawn = dataset.samples.exclude(name__regex=IS_ASKED)
    page = Paginator(drawn, SAMPLES_PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "dataset": dataset,
        "page": page,
        "reports": sample_reports(list(page.object_list)),
        "has_examples": dataset.examples.of_benchmark().exists(),
        "n_asked": dataset.samples.filter(name__regex=IS_ASKED).count(),
    }
    return render(request, "generation/samples.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(Role.RESEARCHER)
def new_sample(request: SignedInRequest, slug: str) -> HttpResponse:
    """Choose filters and request a sample. A worker looks through the examples."""
    dataset = get_object_or_404(Dataset, slug=slug)
    form = SampleForm(request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid():
        try:
            sample = services.request_sample(dataset, form.choices(), request.user)
        except SampleError as error:
            form.add_error("name", str(error))
        else:
            SAMPLES.send_waiting(pk=sample.pk)
            return redirect("generation:sample", slug, sample.pk)
    context = {
        "dataset": dataset,
        "form": form,
        "n_examples": dataset.examples.of_benchmark().count(),
    }
    status = 422 if form.is_bound else 200
    return render(request, "generation/new_sample.html", context, status=status)


@require_safe
@allowed(Role.RESEARCHER)
def sample(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    """Show one sample: what each filter left, what was drawn, and the verdicts given by hand."""
    report = _report(slug, pk)
    members = report.sample.members.select_related("example", "by").prefetch_related(
        "example__turns"
    )
    verdict = request.GET.get("verdict", "")
    if verdict in ("keep", "drop", "open"):
        members = members.filter(verdict="" if verdict == "open" else verdict)
    is_done = report.sample.state == Sample.State.DONE
    context = {
        "dataset": report.sample.dataset,
        "report": report,
        "progress": None if is_done else one_of(work_kinds()["sample"], pk, request.user),
        "verdict": verdict,
        "page": Paginator(members, MEMBERS_PER_PAGE).get_page(request.GET.get("page")),
        "n_now": report.sample.dataset.examples.of_benchmark().count(),
    }
    return render(request, "generation/sample.html", context)


@require_safe
@allowed(Role.RESEARCHER)
def verify_sample(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    """Go to the first example of a sample that has no verdict."""
    position = next_open(_sample(slug, pk), after=0)
    if position is None:
        messages.info(request, "You have decided about every example of this sample.")
        return redirect("generation:sample", slug, pk)
    return redirect("generation:verify-example", slug, pk, position)


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(Role.RESEARCHER)
def verify_example(request: SignedInRequest, slug: str, pk: int, position: int) -> HttpResponse:
    """Show one example of a sample, or store a verdict about it."""
    golden = ExamplePassage.objects.select_related("passage")
    examples = with_n_shown(Example.objects.all())
    members = SampledExample.objects.select_related("sample__dataset", "by").prefetch_related(
        Prefetch("example", examples), "example__turns", Prefetch("example__evidence", golden)
    )
    member = get_object_or_404(members, sample__dataset__slug=slug, sample=pk, position=position)
    is_posted = request.method == "POST"
    form = VerdictForm(request.POST if is_posted else None, initial={"reason": member.reason})
    if form.is_bound and form.is_valid():
        services.decide(member, *form.decided, request.user)
        return _to_next(request, member)
    context = {
        "member": member,
        "dataset": member.sample.dataset,
        "form": form,
        "report": sample_report(member.sample),
        "reasons": reasons_of(member.sample),
    }
    status = 422 if form.is_bound else 200
    return render(request, "generation/verify_example.html", context, status=status)


def _to_next(request: SignedInRequest, member: SampledExample) -> HttpResponse:
    """Go to the next example that has no verdict, or back to the sample if there is none."""
    sample = member.sample
    position = next_open(sample, after=member.position)
    if position is None:
        messages.success(request, "You have decided about every example of this sample.")
        return redirect("generation:sample", sample.dataset.slug, sample.pk)
    return redirect("generation:verify-example", sample.dataset.slug, sample.pk, position)


def _sample(slug: str, pk: int) -> Sample:
    samples = Sample.objects.select_related("dataset")
    return get_object_or_404(samples, dataset__slug=slug, pk=pk)


def _report(slug: str, pk: int) -> SampleReport:
    return sample_report(_sample(slug, pk))
