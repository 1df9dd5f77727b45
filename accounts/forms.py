"""Forms for signing in, for the pages of users, and for a person's own API tokens."""

import re
from datetime import date
from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.validators import MaxLengthValidator
from django.db.models import Q, QuerySet
from django.db.models.functions import Lower
from django.utils import timezone
from django.utils.translation import gettext_lazy

from accounts.access import Role
from accounts.models import User
from accounts.search_words import LONGEST_SEARCH

LONGEST_ID = 18  # digits
MOST_INVITED = 200  # names in one form
# A spreadsheet would read a name that begins with another sign as a formula.
NAME_OF_INVITED = re.compile(r"[^\W_][\w.@+-]{0,149}")
ROLE_CHOICES = [
    (Role.RATER, "Rater: answers questions in studies"),
    (Role.RESEARCHER, "Researcher: runs studies and metrics, reads all data"),
    (Role.ADMIN, "Admin: does all that a researcher does; imports data, manages users"),
]


class RowsField(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]
    """Rows to tick, by their ids. A number that no database could store is the id of none."""

    def clean(self, value: Any) -> QuerySet[Any]:
        if any(len(str(id_)) > LONGEST_ID for id_ in value or ()):
            code = "invalid_pk_value"
            raise forms.ValidationError(self.error_messages[code], code, {"pk": "…"})
        return super().clean(value)


class SignInForm(AuthenticationForm):
    """Django's sign-in form, with a check of the name's length: Django's only states the limit."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        longest = User._meta.get_field("username").max_length
        self.fields["username"].validators.append(MaxLengthValidator(longest))


class ReturnForm(forms.Form):
    """The code with which people come back who joined a study by its link."""

    code = forms.CharField(
        label=gettext_lazy("Return code"),
        max_length=40,
        help_text=gettext_lazy("It looks like K7P2-9QXM-4TRB. You got it when you joined."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "characters"}),
    )


class RolesForm(forms.Form):
    """The roles of a user."""

    roles = forms.TypedMultipleChoiceField(
        choices=ROLE_CHOICES,
        coerce=Role,
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )


class NewUserForm(RolesForm):
    """A new account: a name to sign in with, and roles."""

    username = forms.CharField(
        max_length=150,
        validators=[UnicodeUsernameValidator()],
        help_text="Letters, digits and @ . + - _",
        widget=forms.TextInput(attrs={"autocapitalize": "none", "autocomplete": "off"}),
    )
    field_order = ["username", "roles"]

    def clean_username(self) -> str:
        """Refuse a name that differs from an existing one only in capital letters."""
        username: str = self.cleaned_data["username"]
        if User.objects.filter(username__iexact=username).exists():
            raise forms.ValidationError(f"There is already a user named {username}.")
        return username


class InvitationsForm(RolesForm):
    """New accounts for several people at once, by their names."""

    names = forms.CharField(
        label="Names, one in a line",
        max_length=50 * MOST_INVITED,
        widget=forms.Textarea(attrs={"rows": 10, "autocapitalize": "none", "spellcheck": "false"}),
        help_text=f"Up to {MOST_INVITED}. Each begins with a letter or a digit and has letters, "
        "digits and @ . + - _",
    )
    field_order = ["names", "roles"]

    def clean_names(self) -> list[str]:
        """Return the names without empty lines; refuse those that cannot be, with their lines."""
        lines = [line.strip() for line in self.cleaned_data["names"].splitlines()]
        named = [(number, name) for number, name in enumerate(lines, 1) if name]
        if len(named) > MOST_INVITED:
            raise forms.ValidationError(
                f"Found {len(named):,} names; expected at most {MOST_INVITED}."
            )
        taken = set(User.objects.annotate(low=Lower("username")).values_list("low", flat=True))
        problems: list[str] = []
        for number, name in named:
            if not NAME_OF_INVITED.fullmatch(name):
                problems.append(f"Line {number}: {name[:50]} cannot be a name to sign in with.")
            elif name.lower() in taken:
                problems.append(f"Line {number}: there is already a user named {name}.")
            taken.add(name.lower())
        if problems:
            raise forms.ValidationError(problems)
        return [name for _, name in named]


class UserSearchForm(forms.Form):
    """The search above the list of users."""

    q = forms.CharField(
        label="Search by name or rater code",
        required=False,
        max_length=LONGEST_SEARCH,
        widget=forms.TextInput(attrs={"type": "search"}),
    )

    def matching_users(self) -> QuerySet[User]:
        """Return the matching users, sorted by name; all users for an empty search."""
        wanted = self.cleaned_data.get("q", "") if self.is_valid() else ""
        matches = Q(username__icontains=wanted) | Q(rater_code__icontains=wanted)
        return User.objects.filter(matches).prefetch_related("groups").order_by("username")


class NewTokenForm(forms.Form):
    """A new API token: its purpose and its limits."""

    name = forms.CharField(
        max_length=100,
        help_text="What it is for, such as “notebook on my laptop”.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    is_read_only = forms.BooleanField(
        label="It only reads",
        required=False,
        help_text="The program then cannot start, change or cancel anything.",
    )
    ends_on = forms.DateField(
        label="Last day",
        required=False,
        help_text="The token ends with this day (UTC). Empty: it works until you revoke it.",
        widget=forms.DateInput(attrs={"type": "date"}),
    )

    def clean_ends_on(self) -> date | None:
        """Refuse a day that is in the past, by UTC."""
        ends_on: date | None = self.cleaned_data["ends_on"]
        if ends_on and ends_on < timezone.now().date():
            raise forms.ValidationError("This day is in the past. Choose today or a later day.")
        return ends_on
