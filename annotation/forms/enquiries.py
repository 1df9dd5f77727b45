"""Forms of a rater's question to researchers, and of the answer."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy

from annotation.enquiries import LONGEST_ENQUIRY
from annotation.models import Enquiry

TOO_LONG = gettext_lazy(
    "it has %(show_value)d characters, and %(limit_value)d at most can be sent. Shorten it."
)


class LinesField(forms.CharField):
    """A text of several lines. Browsers send line ends as CR LF; they are stored as LF."""

    def to_python(self, value: Any) -> str:
        return (super().to_python(value) or "").replace("\r\n", "\n")


class EnquiryForm(forms.Form):
    """A rater's question about a unit."""

    text = LinesField(
        max_length=LONGEST_ENQUIRY,
        error_messages={
            "required": gettext_lazy("write your question first."),
            "max_length": TOO_LONG,
        },
    )


class AnswerForm(forms.Form):
    """A researcher's answer to one question of a rater. The button that sends it says to whom.

    `replaces` is the answer that the researcher saw, so that no other answer is lost.
    """

    RATER, ALL = "rater", "all"

    answer = LinesField(
        max_length=LONGEST_ENQUIRY,
        widget=forms.Textarea(attrs={"rows": 3}),
        error_messages={"required": "Write an answer."},
    )
    replaces = LinesField(required=False, widget=forms.HiddenInput)
    to = forms.ChoiceField(
        choices=[(RATER, "this rater"), (ALL, "all raters")],
        error_messages={"required": "Choose who gets the answer: this rater, or all raters."},
    )

    def __init__(self, enquiry: Enquiry, data: Any = None) -> None:
        initial = {"answer": enquiry.answer, "replaces": enquiry.answer}
        super().__init__(data, auto_id=f"id_{enquiry.pk}_%s", initial=initial)
        self.enquiry = enquiry

    @property
    def is_for_all(self) -> bool:
        return bool(self.cleaned_data["to"] == self.ALL)
