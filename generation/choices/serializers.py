"""Declared choices as a serializer: the fields that the API accepts, with their schema."""

from typing import Any

from rest_framework import serializers

from generation.choices.declaration import Field, fields_of


def serializer_of(declared: type[tuple[Any, ...]]) -> type[serializers.Serializer[Any]]:
    """Return the serializer of some choices. In OpenAPI it has the name of their class."""
    fields = serializer_fields(declared)
    return type(f"{declared.__name__}Serializer", (serializers.Serializer,), fields)


def serializer_fields(
    declared: type[tuple[Any, ...]],
) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
    """Return the fields of a serializer for some choices, by name."""
    return {field.name: serializer_field(field) for field in fields_of(declared)}


def given_in(declared: type[tuple[Any, ...]], data: Any) -> dict[str, Any]:
    """Return the choices in the data of a request, by name, and defaults for the others.

    Raises:
        ValidationError: a choice cannot have its value. The error is given under the choice's name.
    """
    asked = serializer_of(declared)(data=data)
    asked.is_valid(raise_exception=True)
    return dict(asked.validated_data)


def serializer_field(field: Field) -> serializers.Field[Any, Any, Any, Any]:
    """Return the field of a serializer for one choice."""
    choice = field.choice
    said: dict[str, Any] = {"help_text": field.help}
    said |= {"required": False} if choice.usual else {"default": field.default}
    if field.kind is bool:
        return serializers.BooleanField(**said)
    if choice.values:
        return serializers.ChoiceField(list(choice.values.items()), **said)
    if field.kind is str:
        return serializers.CharField(allow_blank=True, max_length=choice.longest, **said)
    if field.is_optional:
        said["allow_null"] = True
    number: type[Any] = serializers.IntegerField if field.kind is int else serializers.FloatField
    found: serializers.Field[Any, Any, Any, Any] = number(
        min_value=choice.low, max_value=choice.high, **said
    )
    return found
