"""Votes in the API, to read only. Raters are shown as codes, never by name."""

from collections.abc import Sequence
from typing import Any

from django.db.models import BooleanField, Exists, OuterRef, QuerySet, Value
from django_filters import rest_framework as filters
from rest_framework import serializers
from rest_framework.exceptions import ValidationError

from accounts.api import Listed, LongPages, NameFilter
from annotation.models import Arm, Flag, GoldAnswer, Rater, Study, Vote
from annotation.schemes import load_scheme
from evaluation.votes.counts import flagged_responses
from generation.models import Response


class VoteSerializer(serializers.Serializer[dict[str, Any]]):
    """One rater's answer to one question about one response, or about one citation of it."""

    id = serializers.IntegerField(source="pk")
    study = serializers.CharField(source="arm__study__slug")
    arm = serializers.ChoiceField(Arm.Kind.choices, source="arm__kind")
    dialog = serializers.CharField(
        source="target__response__example__dialog", help_text="The dialog of the response."
    )
    example = serializers.CharField(source="target__response__example__key", help_text="Its key.")
    setup = serializers.CharField(source="target__response__setup__name", help_text="Its name.")
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
        source="is_surplus", help_text="Its slot went to another rater. No report counts it."
    )
    excluded = serializers.BooleanField(
        source="rater__is_excluded", help_text="Its rater is excluded."
    )
    flagged = serializers.BooleanField(
        source="is_flagged",
        help_text="About a response that most of its raters flagged. No report counts it.",
    )
    gold = serializers.BooleanField(
        source="is_gold",
        help_text="About a gold item, whose answers are known. No report counts it.",
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
    """All votes with the columns of the tidy CSV, in the order in which they were stored."""

    serializer_class = VoteSerializer
    filterset_class = VoteFilters
    pagination_class = LongPages
    queryset = Vote.objects.order_by("pk")

    def get_queryset(self) -> QuerySet[Any]:
        gold = GoldAnswer.objects.filter(study=OuterRef("arm__study"), target=OuterRef("target"))
        columns = [str(field.source) for field in VoteSerializer().fields.values()]
        unknown = Value(False, BooleanField())  # `paginate_queryset` says it of a page at once
        votes = Vote.objects.annotate(is_gold=Exists(gold), is_flagged=unknown).order_by("pk")
        rows: QuerySet[Any] = votes.values("arm", *columns)
        return rows

    def paginate_queryset(self, queryset: QuerySet[Any] | Sequence[Any]) -> list[Any]:
        """Return a page of votes: answers in the words of their scales, and what is flagged."""
        votes = super().paginate_queryset(queryset) or []
        schemes = Study.objects.filter(slug__in={vote["arm__study__slug"] for vote in votes})
        scales = {
            (slug, question.key): question.scale
            for slug, scheme in schemes.order_by().values_list("slug", "scheme")
            for question in load_scheme(scheme).questions
        }
        flagged = _flagged_in(votes)
        for vote in votes:
            vote["is_flagged"] = (vote["arm"], vote["target__response"]) in flagged
            scale = scales[vote["arm__study__slug"], vote["question"]]
            vote["answer"] = scale.label(vote["answer"])
        return votes


def _flagged_in(votes: Sequence[dict[str, Any]]) -> set[tuple[int, int]]:
    """Return (arm, response) of the flagged responses in arms that some flag of a page is about."""
    flags = Flag.objects.filter(
        arm__in={vote["arm"] for vote in votes},
        response__in={vote["target__response"] for vote in votes},
    )
    arms = Arm.objects.filter(pk__in=flags.values("arm"))
    return {
        (arm.pk, response)
        for arm in arms.select_related("study")
        for response in flagged_responses(arm, with_excluded=False)
    }
