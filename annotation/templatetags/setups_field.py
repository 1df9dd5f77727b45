"""The field for the setups of a study: boxes by group, with parts of analyses folded."""

from collections.abc import Sequence
from itertools import islice
from typing import Any

from django import template
from django.forms import BoundField
from django.template.context import RequestContext

from generation.setup_menus import SetupGroup

register = template.Library()


@register.inclusion_tag("annotation/_setups_field.html", takes_context=True)
def setups_field(context: RequestContext, field: BoundField) -> dict[str, Any]:
    """Return a field of setups with its boxes by group; a group with a ticked box is open."""
    boxes = iter(field.subwidgets)
    offered: Sequence[SetupGroup] = field.field.groups  # type: ignore[attr-defined]
    groups = [(group, list(islice(boxes, len(group.setups)))) for group in offered]
    return {
        "request": context["request"],  # for the explanation of the term
        "field": field,
        "groups": [
            (group, of_group, any(box.data["selected"] for box in of_group))
            for group, of_group in groups
        ],
    }
