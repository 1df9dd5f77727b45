"""Forms about an existing study: opening it, closing it, and letting it grow."""

from collections.abc import Mapping
from typing import Any

from django import forms

from accounts.models import User
from annotation.forms.setup import RatersField, SetupsField, accounts_of_raters, setups_of
from annotation.models import Rater, Study, StudyLink
from annotation.planning import GroupNeed
from annotation.study_plan import StudyPlan
from generation.choices.forms import posted_fields
from generation.models import Setup


class OpenForm(forms.Form):
    """Opening a study. With too few raters, the researcher must confirm that more will come.

    A study with a link needs no confirmation: people come by the link.
    """

    open_anyway = forms.BooleanField(label="Open anyway, and add raters later", required=False)

    def __init__(
        self, study: Study, needs: list[GroupNeed], data: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(data)
        has_link = StudyLink.objects.filter(study=study, stopped_at=None).exists()
        self.is_short = any(need.n_missing for need in needs) and not has_link
        if not self.is_short:
            del self.fields["open_anyway"]

    def clean_open_anyway(self) -> bool:
        is_meant: bool = self.cleaned_data["open_anyway"]
        if not is_meant:
            raise forms.ValidationError(
                "There are too few raters to fill every slot. Add raters first, or tick this."
            )
        return is_meant


class CloseForm(forms.Form):
    """Closing a study, which cannot be undone."""

    is_final = forms.BooleanField(
        label="Close it permanently. Raters can then no longer rate or change votes.",
        error_messages={"required": "Closing is final. Tick this when you mean it."},
    )


class DeleteForm(forms.Form):
    """Deleting a study without any rating, which cannot be undone."""

    is_final = forms.BooleanField(
        label="Delete it permanently",
        error_messages={"required": "Deleting is final. Tick this when you mean it."},
    )


class ExtendForm(forms.Form):
    """Additions to a running study. Without a choice, they are what is new in its dataset."""

    setups = SetupsField(Setup.objects.none(), label="More setups", required=False)
    is_confirmed = forms.BooleanField(required=False, widget=forms.HiddenInput)

    def __init__(self, study: Study, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        fields: Any = self.fields
        others = setups_of(study.dataset).exclude(pk__in=study.setups.values("pk"))
        fields["setups"].offer(others)
        if study.n_sampled is not None:
            sample = fields["n_sampled"] = posted_fields(StudyPlan)["n_sampled"]
            sample.widget.attrs["placeholder"] = str(study.n_sampled)
            sample.help_text = f"{study.n_sampled:,} now. A larger sample contains the smaller one."

    def choice(self) -> dict[str, Any]:
        """Return what a valid form adds, as keyword arguments of `extend_study`."""
        return {
            "setups": list(self.cleaned_data["setups"]),
            "n_sampled": self.cleaned_data.get("n_sampled"),
        }


class ExcludeForm(forms.Form):
    """The reason for which a rater is excluded, or included again."""

    LONGEST = 500  # characters of a reason

    # A page that is open twice must not turn the switch back, so the form says what it is for.
    excludes = forms.BooleanField(required=False, widget=forms.HiddenInput)
    reason = forms.CharField(
        label="Reason",
        max_length=LONGEST,
        widget=forms.Textarea(attrs={"rows": 3}),
        error_messages={"required": "Say why. Others read the reason beside the numbers."},
    )

    def __init__(self, rater: Rater, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["excludes"] = not rater.is_excluded
        self.fields["reason"].help_text = (
            "It stays in the audit trail. Name no person in it."
            if rater.is_excluded
            else "It is shown with the rater, in reports and in exports. Name no person in it."
        )


class AddRatersForm(forms.Form):
    """Raters to add to a study, from those who are not in it yet."""

    all_raters = forms.BooleanField(label="All of them", required=False)
    raters = RatersField(User.objects.none(), label="Raters to add", required=False)

    def __init__(self, study: Study, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        others = accounts_of_raters().exclude(
            pk__in=study.raters.filter(user__isnull=False).values("user")
        )
        self.fields["raters"].offer(others)  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("all_raters"):
            cleaned["raters"] = self.fields["raters"].queryset  # type: ignore[attr-defined]
        if not self.errors and not cleaned.get("raters"):
            self.add_error("raters", "Choose at least one rater.")
        return cleaned
