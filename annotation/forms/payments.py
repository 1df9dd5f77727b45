"""The form with which a researcher rejects a person's submission."""

from django import forms

from annotation.models import Participant
from annotation.prolific import SHORTEST_MESSAGE

WHEN = {
    Participant.Reason.LOW_EFFORT: "The answers show no attempt at the task.",
    Participant.Reason.FAILED_CHECK: "More than one: gold items of which the guidelines leave no "
    "doubt, or questions of the qualification round.",
    Participant.Reason.FAILED_INSTRUCTIONS: "The guidelines say clearly what the person left out.",
    Participant.Reason.TOO_QUICKLY: "Prolific asks for three standard deviations below the mean.",
    Participant.Reason.NO_DATA: "The person came back with a code, and has no answer here.",
}


class RejectForm(forms.Form):
    """The reason for a rejection. That a person disagrees with others is none that is offered."""

    category = forms.TypedChoiceField(
        label="The person",
        coerce=Participant.Reason,
        widget=forms.RadioSelect,
        choices=[(reason, f"{reason.label.capitalize()}. {WHEN[reason]}") for reason in WHEN],
    )
    reason = forms.CharField(
        label="What you write to the person",
        max_length=5000,
        widget=forms.Textarea(attrs={"rows": 6}),
        help_text=f"{SHORTEST_MESSAGE} characters or more, as Prolific asks. Say what was missing, "
        "with an example.",
    )

    def clean_reason(self) -> str:
        """Refuse a reason that is too short; line ends count as one character."""
        reason: str = self.cleaned_data["reason"].replace("\r\n", "\n")
        if len(reason) < SHORTEST_MESSAGE:
            raise forms.ValidationError(
                f"Found {len(reason)} characters; expected {SHORTEST_MESSAGE} or more, so that the "
                "person understands why."
            )
        return reason
