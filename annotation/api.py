"""Studies in the API, to read only."""

from typing import Any

from django.db.models import Count
from django_filters import rest_framework as filters
from rest_framework import serializers

from accounts.api import NameFilter, Readable
from annotation.models import Arm, Study
from generation.models import Dataset


class StudySerializer(serializers.ModelSerializer[Study]):
    """A study: its material, its scheme and its state."""

    dataset = serializers.CharField(source="dataset.slug", read_only=True)
    scheme = serializers.CharField(source="scheme.key", read_only=True)
    arms: "serializers.SlugRelatedField[Arm]" = serializers.SlugRelatedField(
        "kind", many=True, read_only=True
    )
    setups: "serializers.SlugRelatedField[Any]" = serializers.SlugRelatedField(
        "name", many=True, read_only=True
    )
    n_raters = serializers.IntegerField(source="n_in_all", read_only=True)
    archived = serializers.BooleanField(source="is_archived", read_only=True)

    class Meta:
        model = Study
        fields: tuple[str, ...] = (
            "slug",
            "name",
            "dataset",
            "scheme",
            "state",
            "archived",
            "is_imported",
            "arms",
            "setups",
            "raters_per_unit",
            "n_raters",
            "evidence_choice",
            "seed",
            "created_at",
        )


class WholeStudySerializer(StudySerializer):
    """A study with its whole scheme and every choice of its design."""

    scheme_in_full = serializers.DictField(source="scheme", read_only=True)
    n_sampled = serializers.IntegerField(
        source="draw_facts.n_sampled",
        read_only=True,
        allow_null=True,
        help_text="The size of the sample. Null: all, or an imported study does not say.",
    )
    n_drawn_from = serializers.IntegerField(
        source="draw_facts.n_drawn_from", read_only=True, allow_null=True
    )
    draw = serializers.CharField(
        source="draw_facts.draw",
        read_only=True,
        allow_null=True,
        help_text="Null: the file of an imported study does not say.",
    )
    drawn_by = serializers.CharField(source="draw_facts.drawn_by", read_only=True, allow_null=True)
    has_uniform_draw = serializers.BooleanField(
        read_only=True,
        help_text="Whether all dialogs had the same probability. If not, means are weighted.",
    )

    class Meta(StudySerializer.Meta):
        fields = (
            *StudySerializer.Meta.fields,
            "introduction",
            "mixing",
            "may_meet_both_arms",
            "merged_layout",
            "response_order",
            "text_format",
            "stops_when_decided",
            "full_share",
            "n_sampled",
            "n_drawn_from",
            "draw",
            "drawn_by",
            "has_uniform_draw",
            "n_gold_units",
            "scheme_in_full",
        )


class StudyFilters(filters.FilterSet):  # type: ignore[misc] # no types
    dataset = NameFilter("dataset", Dataset, "slug", help_text="Slug of a dataset.")
    state = filters.ChoiceFilter(choices=Study.State.choices)


class Studies(Readable):
    """Studies, newest first. A single one has its whole scheme and design too."""

    filterset_class = StudyFilters
    lookup_field = "slug"
    lookup_value_converter = "slug"
    queryset = (
        Study.objects.select_related("dataset")
        .prefetch_related("arms", "setups")
        .annotate(n_in_all=Count("raters"))
        .order_by("-pk")
    )

    def get_serializer_class(self) -> type[StudySerializer]:
        return StudySerializer if self.action == "list" else WholeStudySerializer
