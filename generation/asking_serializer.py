"""Requests to the API that can ask a model: the answer is the plan, until it is confirmed."""

from typing import Any

from rest_framework import serializers, status
from rest_framework.exceptions import APIException
from rest_framework.request import Request

from accounts.api import StrictSerializer
from generation.call_plan import CallPlan

CONFIRM = "Nothing was asked. Look at the plan, then send the request again with confirmed: true."


class PlanNotConfirmed(APIException):
    """A request that would cost money or time. The answer has its plan."""

    status_code = status.HTTP_409_CONFLICT
    default_code = "not_confirmed"

    def __init__(self, plan: CallPlan) -> None:
        super().__init__(CONFIRM)
        rows = [row._asdict() for row in plan.rows]
        data = {"rows": rows, "total": plan.total._asdict(), "notes": list(plan.notes)}
        self.detail: Any = {"detail": CONFIRM, "plan": data}


def confirmed_first(request: Request, plan: CallPlan) -> None:
    """Refuse a request without other fields that asks something and is not confirmed.

    Raises:
        PlanNotConfirmed: the answer to it.
        ValidationError: there is another field.
    """
    if plan.n_calls:
        asked = AskingSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        asked.plan_first(plan)


class AskingSerializer(StrictSerializer):
    """The choices of work that can ask a model, and whether its plan is confirmed."""

    confirmed = serializers.BooleanField(
        default=False,
        help_text="true: ask the model. Otherwise a request that costs money or time starts "
        "nothing, and the answer (409) has its plan: calls, tokens, time and cost.",
    )

    def to_internal_value(self, data: Any) -> Any:
        said = super().to_internal_value(data)
        self._is_confirmed = said.pop("confirmed")
        return said

    def plan_first(self, plan: CallPlan) -> None:
        """Refuse a request that asks something and is not confirmed.

        Raises:
            PlanNotConfirmed: the answer to it.
        """
        if plan.n_calls and not self._is_confirmed:
            raise PlanNotConfirmed(plan)
