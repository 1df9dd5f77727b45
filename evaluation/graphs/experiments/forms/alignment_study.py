"""The form that plans a study of human alignment from the page of its experiment."""

from typing import Any

from django import forms

from accounts.models import User
from annotation.forms.setup import RatersField, accounts_of_raters
from annotation.models import Study
from annotation.services.alignment_studies import (
    N_RATERS,
    PairDraw,
    models_of,
    request_alignment_study,
)
from annotation.services.studies import StudyError, free_study_name
from generation.choices.declaration import made
from generation.choices.forms import explained, posted_fields
from generation.limits import LONGEST_NAME
from generation.models import Dataset


class AlignmentStudyForm(forms.Form):
    """The models whose pairs are rated, the number of pairs, and the raters.

    The initial values are those of the paper.
    """

    name = forms.CharField(label="Name of the study", max_length=LONGEST_NAME)
    models = forms.MultipleChoiceField(
        label="Models",
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose one or more."},
    )
    raters = RatersField(
        User.objects.none(),
        label="Raters",
        required=False,
        help_text=f"Each pair is rated by {N_RATERS} raters. You can add more raters later.",
    )

    def __init__(self, dataset: Dataset, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.dataset = dataset
        self.fields |= posted_fields(PairDraw)
        there = models_of(dataset)
        usual = f"{dataset.name[: LONGEST_NAME - 20]}, alignment"
        self.fields["name"].initial = free_study_name(usual)
        self.fields["models"].choices = [  # type: ignore[attr-defined]
            (model, explained(model, f"{len(setups)} setup{'s' * (len(setups) != 1)}"))
            for model, setups in there.items()
        ]
        self.fields["models"].initial = list(there)
        self.fields["raters"].offer(accounts_of_raters())  # type: ignore[attr-defined]

    @property
    def can_plan(self) -> bool:
        """Whether there is a model whose answers can be rated."""
        return bool(self.fields["models"].choices)  # type: ignore[attr-defined]

    def request(self, user: User) -> Study | None:
        """Return the study that a valid form asks for, or None with an error on the form."""
        said = self.cleaned_data
        try:
            return request_alignment_study(
                self.dataset,
                said["name"],
                said["models"],
                said["raters"],
                user,
                draw=made(PairDraw, said),
            )
        except StudyError as error:
            self.add_error("name", str(error))
            return None
