"""The reports of trade-offs by API."""

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response as Answer
from rest_framework.views import APIView

from accounts.api import refuse_unknown
from evaluation.reports.api import ReportSerializer
from evaluation.tradeoffs.axes import Axes, named_axes
from evaluation.tradeoffs.cached import cached_material
from evaluation.tradeoffs.material import Material
from evaluation.tradeoffs.reports.takeaways import cached_takeaways
from evaluation.tradeoffs.reports.tradeoff import tradeoff_report
from evaluation.tradeoffs.view import View
from generation.models import Dataset


class AxesSerializer(serializers.Serializer[Any]):
    """What says whether a response is attributable, or sensible."""

    attribution = serializers.CharField(
        default="",
        allow_blank=True,
        help_text="An axis as the page's address has it, or a metric or a question that only one "
        "run or arm has; empty: as on the page.",
    )
    sensibleness = serializers.CharField(
        default="", allow_blank=True, help_text="The same for sensibleness."
    )

    def material_of(self, dataset: Dataset) -> Material:
        """Return the material of one dataset, which must have what was named."""
        self.is_valid(raise_exception=True)
        names = [self.validated_data[side] for side in Axes._fields]
        try:
            axes = named_axes(dataset, *names)
        except LookupError as exc:
            raise ValidationError({"axes": [str(exc)]}) from exc
        return cached_material(dataset, axes)


class TradeoffSerializer(AxesSerializer):
    """What a report on the trade-off shows."""

    by_score = serializers.BooleanField(
        default=False, help_text="Mean scores instead of shares labelled yes."
    )


class TradeoffReport(APIView):
    """Attribution, sensibleness and F1 of each setup: `manage.py report tradeoff`."""

    @extend_schema(
        operation_id="datasets_report_tradeoff",
        parameters=[TradeoffSerializer],
        responses=ReportSerializer,
    )
    def get(self, request: Request, slug: str) -> Answer:
        dataset = get_object_or_404(Dataset, slug=slug)
        refuse_unknown(request, TradeoffSerializer().fields)
        asked = TradeoffSerializer(data=request.query_params)
        material = asked.material_of(dataset)
        view = View(by_score=asked.validated_data["by_score"])
        return Answer(tradeoff_report(material, view)._asdict())


class TakeawaysReport(APIView):
    """What changes F1, and by how much: `manage.py report takeaways`."""

    @extend_schema(
        operation_id="datasets_report_takeaways",
        parameters=[AxesSerializer],
        responses=ReportSerializer,
    )
    def get(self, request: Request, slug: str) -> Answer:
        dataset = get_object_or_404(Dataset, slug=slug)
        refuse_unknown(request, AxesSerializer().fields)
        material = AxesSerializer(data=request.query_params).material_of(dataset)
        return Answer(cached_takeaways(material)._asdict())
