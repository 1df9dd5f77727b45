"""The form in which a researcher writes a study's guidelines."""

from typing import Any

from django import forms
from django.http import QueryDict

from annotation.guideline_entries import EXAMPLES, with_entry
from annotation.guidelines import LONGEST_GUIDELINE
from annotation.models import Guideline


class GuidelineForm(forms.Form):
    """A guideline's text, and the version that it was edited from."""

    text = forms.CharField(
        label="Text, as Markdown",
        max_length=LONGEST_GUIDELINE,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 28, "class": "mono"}),
        help_text=(
            "A line that begins with ## becomes a heading. A line that begins with - becomes an "
            "item of a list, and one that begins with &gt; becomes a quote. **Two stars** make "
            "text bold. Questions, help and examples are added below your text."
        ),
    )
    based_on = forms.IntegerField(widget=forms.HiddenInput)

    def __init__(
        self, newest: Guideline | None, data: QueryDict | None = None, *, example: str = ""
    ) -> None:
        """Make the form for the text that follows `newest`, to which an `example` may be added."""
        version, text = (newest.version, newest.text) if newest else (0, "")
        if example:
            text = with_entry(text, EXAMPLES, example)
        super().__init__(data, initial={"text": text, "based_on": version})
        if example:  # the page scrolls to its first line
            self.fields["text"].widget.attrs["data-example"] = example.splitlines()[0]
        self.newest_version = version
        self.is_outdated = False  # whether another version was saved meanwhile

    def clean_text(self) -> str:
        # Browsers send line ends as CR LF. Versions must not differ by that alone.
        text: str = self.cleaned_data["text"].replace("\r\n", "\n").strip()
        if not text:
            raise forms.ValidationError(
                "The guidelines are empty. Write them, because raters read them first."
            )
        return f"{text}\n"

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("based_on", self.newest_version) != self.newest_version:
            self.add_error(
                "text",
                f"Version {self.newest_version} was saved while you wrote. Look at what it changed,"
                " copy what you need from it, and save again.",
            )
            self.is_outdated = True
            # The error informs the researcher, so the next save is accepted.
            self.data = {**self.data.dict(), "based_on": str(self.newest_version)}  # type: ignore[attr-defined]
        return cleaned
