"""Forms of a study's link: a researcher sets it up, and people join by it."""

import uuid
from collections.abc import Mapping
from datetime import date
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy

from annotation.models import StudyLink
from annotation.models.joining import SHORTEST_CODE


class StudyLinkForm(forms.Form):
    """The limits of a study's link."""

    most_per_group = forms.IntegerField(
        label="People at most",
        min_value=1,
        max_value=1000,
        help_text="The link takes no more people when the study has so many raters, whoever added "
        "them. Excluded raters, and those who were taken out, leave their places free.",
    )
    most_units = forms.IntegerField(
        label="Units for each person at most",
        required=False,
        min_value=1,
        max_value=10_000,
        help_text="Every rater of the study gets so many units, then no more. Empty: as many as "
        "there are.",
    )
    ends_on = forms.DateField(
        label="Last day",
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}),
        help_text="The link ends with this day (UTC). Empty: it works until you stop it, or until "
        "the study closes.",
    )
    code = forms.CharField(
        label="Code",
        required=False,
        min_length=SHORTEST_CODE,
        max_length=40,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        help_text="People must type it to join. Empty: the link alone is enough.",
    )
    most_per_hour = forms.IntegerField(
        label="People from one network in an hour at most",
        min_value=1,
        max_value=1000,
        initial=30,
        help_text="One person who joins again and again is turned away then. A class or an office "
        "has one network, so let in as many as it has people.",
    )

    def __init__(self, *args: Any, n_groups: int = 1, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if n_groups > 1:
            self.fields["most_per_group"].label = "People in each group at most"

    def clean_ends_on(self) -> date | None:
        """Refuse a day that is in the past, by UTC."""
        ends_on: date | None = self.cleaned_data["ends_on"]
        if ends_on and ends_on < timezone.now().date():
            raise forms.ValidationError("This day is in the past. Choose today or a later day.")
        return ends_on


class SharedComputerForm(forms.Form):
    """The rater in whose browser one more person may join."""

    code = forms.CharField(
        label="Rater",
        max_length=16,
        help_text="The page of the link shows it in their browser, such as R-7K2QX9.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "characters"}),
    )

    def clean_code(self) -> str:
        """Return the code as it is stored."""
        code: str = self.cleaned_data["code"]
        return code.strip().upper()


class JoinForm(forms.Form):
    """Joining a study by its link: a key that no other form has, and the code if there is one."""

    key = forms.UUIDField(widget=forms.HiddenInput)
    code = forms.CharField(
        label=gettext_lazy("Code of the study"),
        max_length=40,
        help_text=gettext_lazy("The person who sent you the link can tell you."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none"}),
    )

    def __init__(self, link: StudyLink, data: Mapping[str, str] | None) -> None:
        super().__init__(data, initial={"key": uuid.uuid4()})
        self._link = link
        if not link.code:
            del self.fields["code"]

    def clean_code(self) -> str:
        """Refuse another code; capitals and spaces around it do not matter."""
        code: str = self.cleaned_data["code"]
        if code.strip().casefold() != self._link.code.strip().casefold():
            raise forms.ValidationError(
                gettext("This is not the study's code. Check it and try again.")
            )
        return code
