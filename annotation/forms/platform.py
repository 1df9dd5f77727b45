"""The form of a crowd platform that sends people to a study's link."""

import secrets
from pathlib import Path
from typing import Any

from django import forms

from accounts.models import CODE_LETTERS
from annotation.models import CrowdPlatform, StudyLink

CONSENT = Path(__file__).parent.parent / "consent_text.md"
CODES = ("code_done", "code_screened_out", "code_no_work", "code_returned")


class CrowdPlatformForm(forms.ModelForm):  # type: ignore[type-arg]
    """The settings of a platform. New ones begin with random codes and a text to consent to."""

    class Meta:
        model = CrowdPlatform
        fields = (
            "consent",
            *CODES,
            "end_address",
            "idle_minutes",
            "is_prolific",
            "needs_confirmation",
            "person_parameter",
            "study_parameter",
            "session_parameter",
        )
        labels = {
            "consent": "What people agree to",
            "code_done": "Code for people who finished",
            "code_screened_out": "Code for people who did not qualify",
            "code_no_work": "Code for people who found no work",
            "code_returned": "Code for people who give their place back",
            "end_address": "Address to which people go back",
            "idle_minutes": "Minutes until a place is free again",
            "is_prolific": "The platform is Prolific",
            "needs_confirmation": "Only people whom Prolific confirms may join",
            "person_parameter": "Parameter with a person's id",
            "study_parameter": "Parameter with the platform's id of the study",
            "session_parameter": "Parameter with the id of the session",
        }
        help_texts = {
            "consent": "People read it first. Before they agree, nothing about them is stored.",
            "code_done": "Type the same four codes on the platform.",
            "end_address": "{code} stands for the code.",
            "idle_minutes": "A person who does nothing for so long has left, and another one gets "
            "the place. The answers so far count.",
            "is_prolific": "If this site has a Prolific token, it then asks Prolific how each "
            "visit stands.",
            "needs_confirmation": "Prolific confirms a visit if this site has a token, or if the "
            "study there has secure addresses. Otherwise people are let in and marked 'not "
            "confirmed'.",
        }
        widgets = {"consent": forms.Textarea(attrs={"rows": 9})}

    def __init__(self, link: StudyLink, platform: CrowdPlatform | None, data: Any = None) -> None:
        initial = {} if platform else _beginning()
        super().__init__(data, instance=platform or CrowdPlatform(link=link), initial=initial)

    def clean_end_address(self) -> str:
        """Refuse an address that people could not go to, or that lacks the code."""
        address: str = self.cleaned_data["end_address"]
        if not address.startswith("https://") or "{code}" not in address:
            raise forms.ValidationError(
                f"Found {address[:80]!r}; expected an address that begins with https:// and has "
                "{code} in it."
            )
        return address

    def clean(self) -> dict[str, Any]:
        """Refuse two outcomes with one code, because the platform could not tell them apart."""
        cleaned = super().clean() or {}
        seen: dict[str, str] = {}
        for name in CODES:
            code = cleaned.get(name, "")
            if code and code in seen:
                self.add_error(name, f"Found {code} twice; expected four different codes.")
            seen[code] = name
        if cleaned.get("needs_confirmation") and not cleaned.get("is_prolific"):
            self.add_error(
                "needs_confirmation", "Only Prolific can confirm visits, so nobody could join."
            )
        names = [cleaned.get(f"{part}_parameter") for part in ("person", "study", "session")]
        if None not in names and len(set(names)) < len(names):
            self.add_error("session_parameter", "Expected three different parameters.")
        return cleaned


def _beginning() -> dict[str, str]:
    """Return what a new platform begins with."""
    codes = {name: "".join(secrets.choice(CODE_LETTERS) for _ in range(8)) for name in CODES}
    return codes | {"consent": CONSENT.read_text(encoding="utf-8")}
