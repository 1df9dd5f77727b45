"""The API of grids and their calls."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response as Answer
from rest_framework.reverse import reverse

from accounts.api import (
    Conflict,
    IdFilter,
    LongPages,
    NameField,
    NameFilter,
    Readable,
    StrictSerializer,
    who,
)
from generation.asking_serializer import AskingSerializer, confirmed_first
from generation.grids.grid_file import GridError, of_data
from generation.grids.grid_list import STATES, with_failures
from generation.grids.plan import GridPlan, PlanRow, plan_of
from generation.grids.progress import GridProgress, grids_progress
from generation.models import Call, Dataset, Grid, Setup
from generation.services import grids as services
from generation.services.grids import GridChangeError, OutgrownPlan
from generation.services.planning import send_grid
from generation.text.dialog_forms import FORMS

# --- grids ----------------------------------------------------------------------------------


class PlanRowSerializer(serializers.Serializer[PlanRow]):
    """The planned calls to one model with prompts of one type and form, summed over its setups."""

    model = serializers.CharField()
    precision = serializers.CharField()
    prompt = serializers.CharField(help_text="Key of the prompt type.")
    form = serializers.ChoiceField(
        list(FORMS),
        allow_blank=True,
        help_text="Form of its dialogs; empty in sums.",
    )
    n_setups = serializers.IntegerField()
    n_calls = serializers.IntegerField(help_text="The number of calls to make.")
    n_there = serializers.IntegerField(
        help_text="The number of calls that have a response already. They are not made again."
    )
    n_left_out = serializers.IntegerField(
        help_text=(
            "The number of examples without such a prompt: they have no golden evidence, are the "
            "one-shot example itself, or their part of the recipe has no passage of its own."
        )
    )
    n_unmade = serializers.IntegerField(
        help_text="The number of calls whose prompt cannot be made."
    )
    n_prompt_tokens = serializers.IntegerField()
    n_completion_tokens = serializers.IntegerField(help_text="At most.")
    cost = serializers.FloatField(
        allow_null=True, help_text="The highest cost. Null: no price is known."
    )
    n_widened = serializers.IntegerField(
        help_text=(
            "The number of calls that show more passages than their type says, because that many "
            "are golden."
        )
    )
    n_incomplete = serializers.IntegerField(
        help_text="The number of calls about questions with entities that are not in the graph."
    )
    n_removing_less = serializers.IntegerField(
        help_text=(
            "The number of calls whose graph has fewer members of the minimum set than are to be "
            "removed. All of these are removed."
        )
    )


class PlanSerializer(serializers.Serializer[GridPlan]):
    """The calls that a grid would make, as counted when it was planned."""

    n_examples = serializers.IntegerField()
    n_counted = serializers.IntegerField(
        help_text=(
            "The number of examples whose tokens were counted for each setup. If it is lower than "
            "n_examples, tokens are estimated."
        )
    )
    currency = serializers.CharField()
    seconds = serializers.FloatField(
        allow_null=True,
        help_text="At the speed of the last grids of these models alone. Null: not known.",
    )
    total = PlanRowSerializer()
    rows = PlanRowSerializer(many=True)


class GridSerializer(serializers.Serializer[GridProgress]):
    """A grid and its progress."""

    id = serializers.IntegerField(source="grid.pk")
    name = serializers.CharField(source="grid.name")
    dataset = serializers.CharField(source="grid.dataset.slug")
    sample = serializers.CharField(
        source="grid.sample.name", default="", help_text="Empty: every example."
    )
    grid = serializers.DictField(
        source="grid.choices", help_text="Every choice, as in a grid file."
    )
    state = serializers.CharField(
        help_text="planning, planned, queued, running, cancelled, failed, failed in part, or done."
    )
    archived = serializers.BooleanField(source="grid.is_archived")
    error = serializers.CharField(source="grid.error", help_text="Why the grid failed as a whole.")
    created_at = serializers.DateTimeField(source="grid.created_at")
    finished_at = serializers.DateTimeField(source="grid.finished_at", allow_null=True)
    n_calls = serializers.IntegerField(help_text="Made by this grid, or still to be made.")
    n_done = serializers.IntegerField(help_text="The number of calls with a response.")
    n_empty = serializers.IntegerField(help_text="The number of responses that are empty.")
    n_cut = serializers.IntegerField(
        help_text="The number of completions that reached the most tokens allowed."
    )
    n_debris = serializers.IntegerField(
        help_text="The number of responses that go on with the form of their prompt."
    )
    n_not_looked_at = serializers.IntegerField(
        help_text="The number of responses made before Attest looked for debris."
    )
    n_failed = serializers.IntegerField()
    n_left = serializers.IntegerField()
    n_tokens_in = serializers.IntegerField(
        help_text="The tokens of prompts, as counted by the model or else by Attest."
    )
    n_tokens_out = serializers.IntegerField(
        help_text="The tokens of completions, as counted by the model or else by Attest."
    )
    cost = serializers.FloatField(
        allow_null=True,
        help_text="The cost so far, in the currency of the grid. Null: no price is known.",
    )
    share = serializers.FloatField(
        help_text="The share of the calls that have been made, from 0 to 1."
    )
    calls_per_second = serializers.FloatField(allow_null=True)
    seconds_left = serializers.FloatField(allow_null=True)
    plan = serializers.SerializerMethodField(help_text="Null: the grid is not planned yet.")

    @extend_schema_field(PlanSerializer(allow_null=True))
    def get_plan(self, progress: GridProgress) -> Any:
        plan = plan_of(progress.grid)
        return PlanSerializer(plan).data if plan else None


class NewGridSerializer(StrictSerializer):
    """The request for a new grid: a dataset, and the content of a grid file as JSON."""

    dataset = NameField(Dataset)
    grid = serializers.DictField(
        help_text="name and models ([{name, precision?, price?: {input, output}}]) are needed. "
        "May have: sample, prompts, temperatures, seeds, positions, form (native, messages, "
        "plain), top_p, top_k, max_tokens, budget, one_shot, retrieval ({ranking, query, idf, k1, "
        "b}), currency. Prompts are keys of types: golden, top-3, graph-gold; graph-gold-minus-1 "
        "to -9 (with that many members of the minimum set removed), graph-accuracy-80, -60, -40, "
        "-20 (with that percentage of gold sub-graphs)."
    )


class GridFilters(filters.FilterSet):  # type: ignore[misc] # no types
    dataset = NameFilter("dataset", Dataset, "slug", help_text="Slug of a dataset.")
    state = filters.ChoiceFilter(
        choices=[(key, label) for key, (label, _) in STATES.items()],
        method="in_state",
        help_text=(
            "planned (includes those being planned), running (includes those queued) or failed "
            "(includes those failed in part)."
        ),
    )

    def in_state(self, grids: QuerySet[Grid], _: str, state: str) -> QuerySet[Grid]:
        """Keep the grids that the page lists under a state."""
        return with_failures(grids).filter(STATES[state][1])


class Grids(Readable):
    """Grids of calls of language models, newest first. A worker plans them and makes the calls."""

    serializer_class = GridSerializer
    filterset_class = GridFilters
    lookup_value_converter = "int"
    queryset = Grid.objects.order_by("-pk")

    def paginate_queryset(self, queryset: QuerySet[Any] | Sequence[Any]) -> list[Any]:
        grids = super().paginate_queryset(queryset) or []
        return _progress([grid.pk for grid in grids])

    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Answer:
        return self._answer(self.get_object())

    @extend_schema(request=NewGridSerializer, responses={202: GridSerializer})
    def create(self, request: Request) -> Answer:
        """Have a grid planned. No model is asked before the grid is started.

        A second request for the same grid with the same name returns the existing grid.
        """
        asked = NewGridSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        wanted = asked.validated_data
        try:
            choices = of_data(wanted["grid"])
            grid = services.request_grid(wanted["dataset"], choices, who(request))
        except GridError as error:
            raise ValidationError({"grid": [f"{error}."]}) from error
        except GridChangeError as error:
            raise Conflict(str(error)) from error
        answer = self._answer(grid, is_sent=True)
        answer["Location"] = reverse("api:grid-detail", [grid.pk], request=request)
        return answer

    @extend_schema(request=None, responses={202: GridSerializer})
    @action(detail=True, methods=["post"])
    def start(self, request: Request, pk: int) -> Answer:
        """Start a planned grid.

        If examples were added that the plan does not count, the grid is planned again instead
        (409).
        """
        grid = self.get_object()
        try:
            is_started = services.start_grid(grid, who(request))
        except OutgrownPlan as error:
            transaction.on_commit(partial(send_grid, grid))
            raise Conflict(str(error)) from error
        except GridError as error:
            raise Conflict(f"{error}.") from error
        if not is_started:
            raise Conflict("This grid cannot be started. Only a grid that is planned can.")
        return self._answer(grid, is_sent=True)

    @extend_schema(request=AskingSerializer, responses={202: GridSerializer})
    @action(detail=True, methods=["post"])
    def retry(self, request: Request, pk: int) -> Answer:
        """Make those calls again that gave no response.

        A grid that was cancelled or has failed also goes on with the calls that it has left.
        """
        grid = self.get_object()
        confirmed_first(request, services.retry_asking(grid))
        if not services.retry_failed(grid, who(request)):
            raise Conflict("No call of this grid has failed.")
        return self._answer(grid, is_sent=True)

    def _answer(self, grid: Grid, *, is_sent: bool = False) -> Answer:
        """Answer with the progress of a grid, and with 202 if a worker now has something to do."""
        if is_sent:
            transaction.on_commit(partial(send_grid, grid))
        [progress] = _progress([grid.pk])
        code = status.HTTP_202_ACCEPTED if is_sent else status.HTTP_200_OK
        return Answer(self.get_serializer(progress).data, status=code)


def _progress(pks: list[int]) -> list[GridProgress]:
    """Return the progress of some grids, newest first."""
    found = Grid.objects.filter(pk__in=pks).order_by("-pk")
    return grids_progress(found.select_related("dataset", "sample"))


# --- calls ----------------------------------------------------------------------------------


class CallSerializer(serializers.ModelSerializer[Call]):
    """One call of a model: its prompt, and the response it gave or why it gave none."""

    grid = serializers.IntegerField(source="grid_id")
    setup = serializers.CharField(source="setup.name")
    example = serializers.CharField(source="example.key", help_text="The key of the example.")
    response = serializers.CharField(
        source="response.key", default=None, help_text="The key of the response."
    )

    class Meta:
        model = Call
        fields = (
            "id",
            "grid",
            "setup",
            "example",
            "example_id",
            "response",
            "response_id",
            "problem",
            "prompt",
            "completion",
            "n_dialog_tokens",
            "n_evidence_tokens",
            "n_instruction_tokens",
            "n_tokens",
            "n_turns_left_out",
            "n_sentences_left_out",
            "n_model_prompt_tokens",
            "n_model_completion_tokens",
            "is_cut",
            "is_debris",
            "seconds",
            "created_at",
        )
        read_only_fields = fields


class CallFilters(filters.FilterSet):  # type: ignore[misc] # no types
    grid = IdFilter("grid", Grid, help_text="Id of a grid.")
    setup = NameFilter("setup", Setup, "name", help_text="Name of a setup.")
    failed = filters.BooleanFilter(
        "response", lookup_expr="isnull", help_text="true: only calls that gave no response."
    )
    debris = filters.BooleanFilter(
        "is_debris",
        help_text="true: only replies that go on with the form of their prompt.",
    )


class Calls(Readable):
    """The calls that grids have made, with prompts and completions word by word."""

    serializer_class = CallSerializer
    filterset_class = CallFilters
    pagination_class = LongPages
    lookup_value_converter = "int"
    queryset = Call.objects.select_related("setup", "example", "response").order_by("pk")
