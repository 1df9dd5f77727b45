"""What the APIs of all rooms share: a report's rows, and the refusal of what does not go."""

from typing import Any

from rest_framework import serializers, status
from rest_framework.exceptions import APIException


class Conflict(APIException):
    """What was asked for does not go with the state that something is in."""

    status_code = status.HTTP_409_CONFLICT
    default_code = "conflict"


class ReportSerializer(serializers.Serializer[Any]):
    """Rows of figures: `x` with its 95 % interval `x_low`, `x_high`; null is undefined."""

    study = serializers.CharField()
    report = serializers.CharField()
    rows = serializers.ListField(child=serializers.DictField())
    left_out = serializers.DictField(child=serializers.IntegerField(), help_text="By reason.")
    signature = serializers.CharField(help_text="Every choice that changes the numbers.")
