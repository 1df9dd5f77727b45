"""Studies and votes in the API, to read only. Raters are shown as codes, never by name."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Count, Exists, OuterRef, QuerySet
from django_filters import rest_framework as filters
from rest_framework import serializers
from rest_framework.exceptions import ValidationError

from accounts.api import Listed, LongPages, NameFilter, Readable
from annotation.models import Arm, GoldAnswer, Rater, Study, Vote
from annotation.schemes import load_scheme
from generation.models import Dataset, Response

# --- studies --------------------------------------------------------------------------------


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

    class Meta:
        model = Study
        fields: tuple[str, ...] = (
            "slug",
            "name",
            "dataset",
            "scheme",
            "state",
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

    class Meta(StudySerializer.Meta):
        fields = (
            *StudySerializer.Meta.fields,
            "introduction",
            "mixing",
            "may_meet_both_arms",
            "merged_layout",
            "response_order",
            "stops_when_decided",
            "full_share",
            "n_sampled",
            "n_gold_units",
            "scheme_in_full",
        )


class StudyFilters(filters.FilterSet):  # type: ignore[misc] # no types
    dataset = NameFilter("dataset", Dataset, "slug", help_text="Slug of a dataset.")
    state = filters.ChoiceFilter(choices=Study.State.choices)


class Studies(Readable):
    """Studies, newest first."""

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


# --- votes ----------------------------------------------------------------------------------


class VoteSerializer(serializers.Serializer[dict[str, Any]]):
    """One rater's answer to one question about one response, or about one citation of it."""

    id = serializers.IntegerField(source="pk")
    study = serializers.CharField(source="arm__study__slug")
    arm = serializers.ChoiceField(Arm.Kind.choices, source="arm__kind")
    response = serializers.CharField(source="target__response__key", help_text="Its key.")
    response_id = serializers.IntegerField(source="target__response")
    citation = serializers.IntegerField(
        source="target__citation__number", allow_null=True, help_text="Its number, from 1."
    )
    question = serializers.CharField()
    rater = serializers.CharField(source="rater__code", help_text="A code.")
    answer = serializers.CharField(help_text="yes, no, a number of the scale, or a label.")
    implied = serializers.BooleanField(
        source="is_implied", help_text="Implied by an earlier answer."
    )
    surplus = serializers.BooleanField(
        source="is_surplus", help_text="Sent after another rater got the unit. No figure counts it."
    )
    excluded = serializers.BooleanField(
        source="rater__is_excluded", help_text="Its rater is excluded."
    )
    gold = serializers.BooleanField(
        source="is_gold",
        help_text="About a gold item, whose answers are known. No figure counts it.",
    )
    simulated = serializers.BooleanField(
        source="rater__is_simulated", help_text="Its rater is a program."
    )
    position = serializers.IntegerField(allow_null=True, help_text="In a merged unit, from 1.")
    seconds = serializers.FloatField(allow_null=True)
    at = serializers.DateTimeField(allow_null=True)
    source_id = serializers.CharField(help_text="Its name in the source that it was imported from.")


class VoteFilters(filters.FilterSet):  # type: ignore[misc] # no types
    study = NameFilter("arm__study", Study, "slug", help_text="Slug of a study.")
    arm = filters.ChoiceFilter(field_name="arm__kind", choices=Arm.Kind.choices)
    question = filters.CharFilter(method="of_question", help_text="Key of a scheme's question.")
    response = NameFilter("target__response", Response, "key", help_text="Key of a response.")
    rater = NameFilter("rater", Rater, "code", help_text="Code of a rater.")

    def of_question(self, votes: QuerySet[Vote], name: str, value: str) -> QuerySet[Vote]:
        """Keep the votes on one question; a question that no scheme has is an error."""
        studies = Study.objects.all()
        if slug := self.form.cleaned_data.get("study"):
            studies = studies.filter(slug=slug)
        schemes = studies.order_by().values_list("scheme", flat=True)
        keys = dict.fromkeys(q["key"] for scheme in schemes for q in scheme["questions"])
        if value not in keys:
            known = ", ".join(keys) or "none yet"
            raise ValidationError(
                {name: [f"There is no question {value!r}. The questions are: {known}."]}
            )
        return votes.filter(question=value)


class Votes(Listed):
    """All votes, given or implied, in the order in which they were stored."""

    serializer_class = VoteSerializer
    filterset_class = VoteFilters
    pagination_class = LongPages
    queryset = Vote.objects.order_by("pk")

    def get_queryset(self) -> QuerySet[Any]:
        gold = GoldAnswer.objects.filter(study=OuterRef("arm__study"), target=OuterRef("target"))
        columns = [str(field.source) for field in VoteSerializer().fields.values()]
        votes = Vote.objects.annotate(is_gold=Exists(gold)).order_by("pk")
        rows: QuerySet[Any] = votes.values(*columns)
        return rows

    def paginate_queryset(self, queryset: QuerySet[Any] | Sequence[Any]) -> list[Any]:
        """Return a page of votes; their answers are written in the words of their scales."""
        votes = super().paginate_queryset(queryset) or []
        schemes = Study.objects.filter(slug__in={vote["arm__study__slug"] for vote in votes})
        scales = {
            (slug, question.key): question.scale
            for slug, scheme in schemes.order_by().values_list("slug", "scheme")
            for question in load_scheme(scheme).questions
        }
        for vote in votes:
            scale = scales[vote["arm__study__slug"], vote["question"]]
            vote["answer"] = scale.label(vote["answer"])
        return votes
