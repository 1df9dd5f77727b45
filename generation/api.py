"""The API of the material, for reading: datasets, examples and responses."""

from typing import Any

from django.db.models import Prefetch, QuerySet
from django_filters import rest_framework as filters
from rest_framework import serializers

from accounts.api import LongPages, NameFilter, Readable
from accounts.listing import n_of
from generation.limits import LONGEST_FACTS
from generation.models import (
    Citation,
    Dataset,
    Example,
    ExamplePassage,
    Passage,
    Response,
    ResponsePassage,
    Setup,
    Turn,
)

# --- datasets -------------------------------------------------------------------------------


class SetupSerializer(serializers.ModelSerializer[Setup]):
    """Everything that fixes how a response was made."""

    n_responses = serializers.IntegerField(read_only=True)

    class Meta:
        model = Setup
        fields = ("name", "model", "temperature", "prompt", "run", "settings", "n_responses")


class DatasetSerializer(serializers.ModelSerializer[Dataset]):
    """A dataset with what it holds."""

    n_examples = serializers.IntegerField(read_only=True)
    n_passages = serializers.IntegerField(read_only=True)
    n_responses = serializers.IntegerField(read_only=True)
    archived = serializers.BooleanField(source="is_archived", read_only=True)

    class Meta:
        model = Dataset
        fields: tuple[str, ...] = (
            "slug",
            "name",
            *LONGEST_FACTS,
            "created_at",
            "archived",
            "n_examples",
            "n_passages",
            "n_responses",
        )


class WholeDatasetSerializer(DatasetSerializer):
    """A dataset with its setups."""

    setups = SetupSerializer(many=True, read_only=True)

    class Meta(DatasetSerializer.Meta):
        fields = (*DatasetSerializer.Meta.fields, "setups")


class Datasets(Readable):
    """Datasets and what they hold. Setups are given only with a single dataset, not in the list."""

    lookup_field = "slug"
    lookup_value_converter = "slug"
    queryset = Dataset.objects.none()  # for the OpenAPI document

    def get_serializer_class(self) -> type[DatasetSerializer]:
        return DatasetSerializer if self.action == "list" else WholeDatasetSerializer

    def get_queryset(self) -> QuerySet[Dataset]:
        datasets = Dataset.objects.annotate(
            n_examples=n_of(Example.objects.of_benchmark(), "dataset"),
            n_passages=n_of(Passage.objects.all(), "dataset"),
            n_responses=n_of(Response.objects.of_benchmark(), "dataset"),
        ).order_by("name")
        if self.action == "list":
            return datasets
        setups = Setup.objects.of_benchmark().with_n_responses().order_by("name")
        return datasets.prefetch_related(Prefetch("setups", setups))


# --- examples -------------------------------------------------------------------------------


class TurnSerializer(serializers.ModelSerializer[Turn]):
    """One turn of a dialog. The first turn has -1 as its parent."""

    class Meta:
        model = Turn
        fields = ("index", "parent_index", "speaker", "text")


class EvidenceSerializer(serializers.ModelSerializer[ExamplePassage]):
    """A passage of an example's evidence."""

    id = serializers.IntegerField(source="passage.pk", read_only=True)
    key = serializers.CharField(source="passage.key", read_only=True)
    title = serializers.CharField(source="passage.title", read_only=True)
    url = serializers.CharField(source="passage.url", read_only=True)
    text = serializers.CharField(source="passage.text", read_only=True)

    class Meta:
        model = ExamplePassage
        fields = ("id", "key", "title", "url", "text", "is_golden")


class ExampleSerializer(serializers.ModelSerializer[Example]):
    """A dialog up to its last user question, with golden answer and evidence."""

    dataset = serializers.CharField(source="dataset.slug", read_only=True)
    turns = TurnSerializer(many=True, read_only=True)
    evidence = EvidenceSerializer(many=True, read_only=True)

    class Meta:
        model = Example
        fields = (
            "id",
            "key",
            "dataset",
            "dialog",
            "is_ad_hoc",
            "turns",
            "golden_answer",
            "evidence",
            "meta",
        )


class ExampleFilters(filters.FilterSet):  # type: ignore[misc] # no types
    dataset = NameFilter("dataset", Dataset, "slug", help_text="Slug of a dataset.")
    dialog = NameFilter("pk", Example, "dialog", help_text="Name of a conversation.")


class Examples(Readable):
    """Examples with their dialogs and evidence, all texts included."""

    serializer_class = ExampleSerializer
    filterset_class = ExampleFilters
    pagination_class = LongPages
    lookup_value_converter = "int"
    queryset = (
        Example.objects.select_related("dataset")
        .prefetch_related("turns", "evidence__passage")
        .order_by("pk")
    )


# --- responses ------------------------------------------------------------------------------


class PassageIdSerializer(serializers.Serializer[Any]):
    """The ids of a passage: `id` is used in windows of scores, `key` in the dataset's files."""

    id = serializers.IntegerField(source="passage.pk", read_only=True)
    key = serializers.CharField(source="passage.key", read_only=True)


class CitationSerializer(serializers.ModelSerializer[Citation]):
    """One citation of a response, numbered from 1 in reading order."""

    class Meta:
        model = Citation
        fields = ("number", "sentence", "qid", "relation", "value")


class ResponseSerializer(serializers.ModelSerializer[Response]):
    """One generated text. If it is not known what was shown, the golden passages count as shown."""

    dataset = serializers.CharField(source="dataset.slug", read_only=True)
    example = serializers.CharField(source="example.key", read_only=True)
    is_ad_hoc = serializers.BooleanField(source="example.is_ad_hoc", read_only=True)
    example_id = serializers.IntegerField(read_only=True)
    dialog = serializers.CharField(source="example.dialog", read_only=True)
    setup = serializers.CharField(source="setup.name", read_only=True)
    evidence_shown = PassageIdSerializer(source="shown", many=True, read_only=True)
    evidence_golden = PassageIdSerializer(source="example.golden", many=True, read_only=True)
    citations = CitationSerializer(many=True, read_only=True)

    class Meta:
        model = Response
        fields = (
            "id",
            "key",
            "dataset",
            "example",
            "example_id",
            "dialog",
            "is_ad_hoc",
            "setup",
            "text",
            "is_evidence_stated",
            "evidence_shown",
            "evidence_golden",
            "graph_shown",
            "removed",
            "citations",
            "meta",
        )


class ResponseFilters(filters.FilterSet):  # type: ignore[misc] # no types
    dataset = NameFilter("dataset", Dataset, "slug", help_text="Slug of a dataset.")
    setup = NameFilter("setup", Setup, "name", help_text="Name of a setup.")
    example = NameFilter("example", Example, "key", help_text="Key of an example.")


class Responses(Readable):
    """Responses with their texts and setups, and with the passages that they are judged against."""

    serializer_class = ResponseSerializer
    filterset_class = ResponseFilters
    pagination_class = LongPages
    lookup_value_converter = "int"
    queryset = Response.objects.none()  # for the OpenAPI document

    def get_queryset(self) -> QuerySet[Response]:
        keys = Passage.objects.only("key")  # texts, the larger part of a dataset, are left out
        golden = ExamplePassage.objects.filter(is_golden=True)
        return (
            Response.objects.select_related("dataset", "example", "setup")
            .prefetch_related(
                "citations",
                Prefetch(
                    "shown", ResponsePassage.objects.prefetch_related(Prefetch("passage", keys))
                ),
                Prefetch(
                    "example__evidence",
                    golden.prefetch_related(Prefetch("passage", keys)),
                    to_attr="golden",
                ),
            )
            .order_by("pk")
        )
