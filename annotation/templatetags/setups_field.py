"""The field for the setups of a study: boxes by group, with parts of analyses folded."""

from collections.abc import Sequence
from itertools import islice
from typing import Any

from django import template
from django.forms import BoundField
from django.template.context import RequestContext

from generation.setup_menus import SetupGroup

MOST_IN_SIGHT = 12  # setups of several models

register = template.Library()


@register.inclusion_tag("annotation/_setups_field.html", takes_context=True)
def setups_field(context: RequestContext, field: BoundField) -> dict[str, Any]:
    """Return a field of setups with its boxes by group; a group with a ticked box is open.

    If there are many setups of several models, those of each model are folded too.
    """
    boxes = iter(field.subwidgets)
    offered: Sequence[SetupGroup] = field.field.groups  # type: ignore[attr-defined]
    models = [group for group in offered if not group.is_folded]
    is_long = len(models) > 1 and sum(len(group.setups) for group in models) > MOST_IN_SIGHT
    groups = [(group, list(islice(boxes, len(group.setups)))) for group in offered]
    return {
        "request": context["request"],  # for the explanation of the term
        "field": field,
        "groups": [
            (
                group._replace(is_folded=is_long or group.is_folded),
                of_group,
                any(box.data["selected"] for box in of_group),
            )
            for group, of_group in groups
        ],
    }
