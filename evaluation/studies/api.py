"""The reports of studies by API."""

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response as Answer
from rest_framework.views import APIView

from accounts.api import refuse_unknown
from annotation.models import Arm, Study
from evaluation.reports.api import ReportSerializer
from evaluation.reports.base import Choices
from evaluation.studies.reports.cached_figures import stored_figures
from evaluation.studies.reports.study import ON_DEMAND, REPORTS

ALL_REPORTS = [*REPORTS, *ON_DEMAND]


class ChoicesSerializer(serializers.Serializer[Any]):
    """What a report counts, as on the study's page."""

    by_setup = serializers.BooleanField(
        default=False, help_text="raters: a row for each setup as well."
    )
    with_implied = serializers.BooleanField(
        default=False, help_text="Agreement over implied answers too."
    )
    by_gates = serializers.BooleanField(
        default=False,
        help_text="Agreement: answers behind a gate that the same rater closed are implied.",
    )
    with_excluded = serializers.BooleanField(
        default=False, help_text="Count votes of excluded raters."
    )
    setup = serializers.CharField(
        default="", allow_blank=True, help_text="Name of the only setup that counts."
    )
    truth = serializers.ChoiceField(
        Arm.Kind.choices, required=False, help_text="Arm that metrics are held against."
    )

    def choices_for(self, study: Study) -> Choices:
        """Return what was chosen about one study, which must have that setup and that arm."""
        self.is_valid(raise_exception=True)
        choices = Choices(**self.validated_data)
        setups = sorted(study.setups.values_list("name", flat=True))
        arms = [arm.kind for arm in study.arms.all()]
        truth = self.validated_data.get("truth", arms[0] if arms else Arm.Kind.SEPARATE)
        for name, chosen, known in (("setup", choices.setup, setups), ("truth", truth, arms)):
            if chosen and known and chosen not in known:
                there = ", ".join(known)
                raise ValidationError(
                    {name: [f"There is no {name} {chosen!r} here; there are: {there}."]}
                )
        return choices._replace(truth=truth)


class StudyReport(APIView):
    """One report on a study: what `manage.py report … --format json` prints."""

    @extend_schema(
        operation_id="studies_report",
        parameters=[
            OpenApiParameter("report", enum=ALL_REPORTS, location=OpenApiParameter.PATH),
            ChoicesSerializer,
        ],
        responses=ReportSerializer,
    )
    def get(self, request: Request, slug: str, report: str) -> Answer:
        study = get_object_or_404(Study, slug=slug)
        if report not in ALL_REPORTS:
            raise NotFound(f"There is no report {report!r}; there are: {', '.join(ALL_REPORTS)}.")
        refuse_unknown(request, ChoicesSerializer().fields)
        choices = ChoicesSerializer(data=request.query_params).choices_for(study)
        return Answer(_report(study, report, choices))


def _report(study: Study, report: str, choices: Choices) -> dict[str, Any]:
    """Return a report as its page shows it, or made now where the page waits for a worker."""
    if report in ON_DEMAND:
        return ON_DEMAND[report](study, choices)._asdict()
    stored = stored_figures(study, choices)
    if stored.figures is None or not stored.is_current:
        return REPORTS[report](study, choices)._asdict()
    is_by_setup = report == "raters" and choices.by_setup
    found: dict[str, Any] = stored.figures["by_setup" if is_by_setup else report]
    return found
