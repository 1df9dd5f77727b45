"""The API of the main metrics of a dataset: which runs stand for the sides, and pinning them."""

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response as Answer
from rest_framework.views import APIView

from accounts.api import StrictSerializer, refuse_unknown, who
from evaluation.models import MetricRun
from evaluation.runs.main_metrics import SIDES, candidates
from evaluation.runs.services.main_metrics import PinError, pin_main_metrics
from generation.models import Dataset


def _run_field() -> serializers.PrimaryKeyRelatedField[MetricRun]:
    return serializers.PrimaryKeyRelatedField(
        queryset=MetricRun.objects.all(),
        required=False,
        allow_null=True,
        help_text="The id of a run. Null: none.",
    )


class PinSerializer(StrictSerializer):
    """The runs to pin, by id. Null takes a pin away; a side without a field keeps its pin."""

    attribution = _run_field()
    sensibleness = _run_field()


class MainMetricSerializer(serializers.Serializer[Any]):
    """The main metric of one side."""

    pinned = serializers.CharField(
        help_text="The metric and signature of the run that a person pinned; empty: none."
    )
    is_there = serializers.BooleanField(help_text="Whether the pinned run has scores here.")
    run = serializers.IntegerField(
        allow_null=True, help_text="The run that is the main metric; null: none has labels."
    )


class MainMetricsSerializer(serializers.Serializer[Any]):
    """The main metrics of a dataset."""

    attribution = MainMetricSerializer()
    sensibleness = MainMetricSerializer()


class MainMetrics(APIView):
    """The main metrics of a dataset: the runs that trade-offs show if you name no others."""

    @extend_schema(operation_id="datasets_main_metrics", responses=MainMetricsSerializer)
    def get(self, request: Request, slug: str) -> Answer:
        """Return the main metric of each side."""
        refuse_unknown(request, ())
        return _answer(get_object_or_404(Dataset, slug=slug))

    @extend_schema(
        operation_id="datasets_pin_main_metrics",
        request=PinSerializer,
        responses=MainMetricsSerializer,
    )
    def patch(self, request: Request, slug: str) -> Answer:
        """Pin a run as the main metric of a side, or take a pin away."""
        dataset = get_object_or_404(Dataset, slug=slug)
        asked = PinSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        try:
            pin_main_metrics(dataset, asked.validated_data, who(request))
        except PinError as error:
            raise ValidationError(str(error)) from error
        return _answer(dataset)


def _answer(dataset: Dataset) -> Answer:
    found = candidates(dataset, list(dataset.metric_runs.all()))
    said = {}
    for side in SIDES:
        best = next((each for each in found[side.name] if each.has_labels), None)
        said[side.name] = {
            "pinned": side.pinned(dataset),
            "is_there": bool(best and best.is_pinned),
            "run": best.run.pk if best else None,
        }
    return Answer(MainMetricsSerializer(said).data)
