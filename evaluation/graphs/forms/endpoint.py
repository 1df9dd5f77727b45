"""The form fields about a SPARQL endpoint, for every form that needs one."""

from typing import Any, ClassVar

from django import forms

from generation.choices.forms import posted_fields

PLAIN = {"autocapitalize": "none", "autocomplete": "off", "spellcheck": "false"}


class EndpointForm(forms.Form):
    """The declared choices of a plan, which include an endpoint and how its graph is read."""

    declared: ClassVar[type[tuple[Any, ...]]]

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields |= posted_fields(self.declared)
        for name in ("endpoint", "entities", "language"):
            self.fields[name].widget.attrs |= PLAIN
        self.fields["endpoint"].widget.input_type = "url"
