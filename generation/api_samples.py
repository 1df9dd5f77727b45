"""The API of samples: request one, read what its filters left and which examples were drawn."""

from typing import Any

from django.db.models import QuerySet
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response as Answer
from rest_framework.reverse import reverse

from accounts.api import NameField, NameFilter, Readable, StrictSerializer, who
from generation.choices.serializers import serializer_fields
from generation.filters import FILTER_KEYS, CascadeRow
from generation.models import Dataset, Sample, SampledExample
from generation.sample_choices import SampleChoices, chosen_sample
from generation.sample_reading import SampleReport, sample_report, sample_reports
from generation.services import samples as services
from generation.services.samples import SAMPLES, SampleError


class NewSampleSerializer(StrictSerializer):
    """The request for a sample: which examples are kept, and how many are drawn by which seed."""

    dataset = NameField(Dataset)
    filters = serializers.ListField(
        child=serializers.ChoiceField(FILTER_KEYS),
        default=lambda: list(FILTER_KEYS),
        help_text=(
            "The filters that are on. Default: all. They always run in the order of the paper."
        ),
    )

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Return the fields, with one for every choice about a sample."""
        return super().get_fields() | serializer_fields(SampleChoices)

    @property
    def choices(self) -> SampleChoices:
        """The choices in the validated data."""
        return chosen_sample(self.validated_data["filters"], self.validated_data)


class CascadeRowSerializer(serializers.Serializer[CascadeRow]):
    """One filter with the numbers of examples that it dropped and left."""

    filter = serializers.CharField(source="rule.key")
    is_on = serializers.BooleanField()
    is_applicable = serializers.BooleanField(help_text="false: the filter could judge no example.")
    n_not_applicable = serializers.IntegerField(
        help_text="The number of examples that the filter kept because it could not judge them."
    )
    n_dropped = serializers.IntegerField()
    n_left = serializers.IntegerField()
    share = serializers.FloatField(
        allow_null=True, help_text="The share of all examples that is left, from 0 to 1."
    )


class SampleSerializer(serializers.Serializer[SampleReport]):
    """A sample with the results of its filters and the progress of its verification by hand."""

    id = serializers.IntegerField(source="sample.pk")
    dataset = serializers.CharField(source="sample.dataset.slug")
    name = serializers.CharField(source="sample.name")
    state = serializers.CharField(
        source="sample.state", help_text="queued, running, cancelled, failed or done."
    )
    error = serializers.CharField(source="sample.error", help_text="Why the sample failed.")
    parameters = serializers.DictField(source="sample.parameters")
    n_done = serializers.IntegerField(
        source="sample.n_done", help_text="The number of examples that were filtered so far."
    )
    n_total = serializers.IntegerField(
        source="sample.n_total", help_text="The number of examples to filter."
    )
    n = serializers.IntegerField(
        help_text="The number of examples of the chosen part, before any filter."
    )
    rows = CascadeRowSerializer(many=True, help_text="The filters in their order.")
    n_examples = serializers.IntegerField(source="n_members", help_text="Drawn.")
    n_kept = serializers.IntegerField(help_text="By hand.")
    n_dropped = serializers.IntegerField(
        help_text="The number of examples that were dropped by hand. Grids leave them out."
    )
    n_open = serializers.IntegerField(
        help_text="The number of examples without a decision. They belong to the sample."
    )
    created_at = serializers.DateTimeField(source="sample.created_at")


class SampledExampleSerializer(serializers.ModelSerializer[SampledExample]):
    """One example of a sample, with the verdict that was given by hand."""

    example = serializers.CharField(source="example.key")

    class Meta:
        model = SampledExample
        fields = ("position", "example", "example_id", "verdict", "reason", "at")


class SampleFilters(filters.FilterSet):  # type: ignore[misc] # no types
    dataset = NameFilter("dataset", Dataset, "slug", help_text="Slug of a dataset.")


class Samples(Readable):
    """Samples of datasets, newest first. A worker draws the samples that are requested here."""

    serializer_class = SampleSerializer
    filterset_class = SampleFilters
    lookup_value_converter = "int"
    queryset = Sample.objects.select_related("dataset").order_by("-pk")

    def paginate_queryset(self, queryset: Any) -> list[Any]:
        return sample_reports(super().paginate_queryset(queryset) or [])

    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Answer:
        return Answer(SampleSerializer(sample_report(self.get_object())).data)

    @extend_schema(request=NewSampleSerializer, responses={202: SampleSerializer})
    def create(self, request: Request) -> Answer:
        """Filter a dataset and draw a sample of what is left.

        A second request with the same choices returns the same sample.
        """
        asked = NewSampleSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        dataset = asked.validated_data["dataset"]
        try:
            sample = services.request_sample(dataset, asked.choices, who(request))
        except SampleError as error:
            raise ValidationError({"name": [str(error)]}) from error
        SAMPLES.send_waiting(pk=sample.pk)
        answer = Answer(SampleSerializer(sample_report(sample)).data, status.HTTP_202_ACCEPTED)
        answer["Location"] = reverse("api:sample-detail", [sample.pk], request=request)
        return answer

    @extend_schema(responses=SampledExampleSerializer(many=True), filters=False)
    @action(detail=True, filterset_class=None)
    def examples(self, request: Request, pk: int) -> Answer:
        """List the examples of a sample in the order drawn."""
        members: QuerySet[SampledExample] = self.get_object().members.select_related("example")
        page = Readable.paginate_queryset(self, members) or []
        return self.get_paginated_response(SampledExampleSerializer(page, many=True).data)
