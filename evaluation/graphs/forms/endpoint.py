"""The form fields about a SPARQL endpoint, for every form that needs one."""

from typing import Any, ClassVar

from generation.choices.folded_fields import Fold, FoldingForm, Told
from generation.choices.forms import posted_fields

PLAIN = {"autocapitalize": "none", "autocomplete": "off", "spellcheck": "false"}


ENDPOINT = Fold(
    "Endpoint",
    {
        "endpoint": Told("{}"),
        "entities": Told("entities begin with {}"),
        "language": Told("labels in {}"),
        "allow_private": Told("", {"True": "private addresses allowed"}),
    },
)


class EndpointForm(FoldingForm):
    """The declared choices of a plan, which include an endpoint and how its graph is read."""

    folds_declared = {"endpoint": ENDPOINT}

    declared: ClassVar[type[tuple[Any, ...]]]

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields |= posted_fields(self.declared)
        for name in ("endpoint", "entities", "language"):
            self.fields[name].widget.attrs |= PLAIN
        self.fields["endpoint"].widget.input_type = "url"
