"""The filter of the calls of a grid, and the form for a grid file, pasted or uploaded."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet

from accounts.listing import on_offer
from generation.dataset_menus import datasets_with_examples
from generation.grids.grid_file import GridError, read_grid
from generation.models import Call, Dataset, Grid
from generation.setup_menus import menu_choices

LARGEST_FILE = 64 * 1024  # bytes of an uploaded grid file, at most


class CallFilterForm(forms.Form):
    """The filter of the calls of a grid. A wrong value in the address counts as missing."""

    setup = forms.ChoiceField(label="Setup", required=False)
    failed = forms.BooleanField(label="Only those that failed", required=False)
    debris = forms.BooleanField(label="Only debris", required=False)

    def __init__(self, grid: Grid, asked: Mapping[str, Any]) -> None:
        super().__init__(asked)
        self.grid = grid
        setups = [cell.setup for cell in grid.cells.select_related("setup")]
        self.fields["setup"].choices = menu_choices(setups, "any setup", "pk")  # type: ignore[attr-defined]
        self.fields["setup"].widget.attrs["data-filtered"] = ""
        self.is_valid()

    def calls_left(self) -> QuerySet[Call]:
        """Return the calls that the filter leaves, in the order they were made."""
        calls = Call.objects.filter(grid=self.grid).order_by("pk")
        if setup := self.cleaned_data.get("setup"):
            calls = calls.filter(setup=int(setup))
        if self.cleaned_data.get("failed"):
            calls = calls.filter(response=None)
        return calls.filter(is_debris=True) if self.cleaned_data.get("debris") else calls


class GridFileForm(forms.Form):
    """A grid file, pasted or uploaded, and the dataset that it is about."""

    dataset = forms.ModelChoiceField(
        Dataset.objects.none(), label="Dataset", to_field_name="slug", empty_label="Choose one"
    )
    file = forms.FileField(
        label="File",
        required=False,
        widget=forms.FileInput(attrs={"accept": ".toml", "data-max-bytes": LARGEST_FILE}),
    )
    text = forms.CharField(
        label="Or its text",
        required=False,
        max_length=LARGEST_FILE,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 16, "class": "mono", "spellcheck": "false"}),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offered = datasets_with_examples().filter(on_offer()).order_by("name")
        self.fields["dataset"].queryset = offered  # type: ignore[attr-defined]

    @property
    def can_ask(self) -> bool:
        """Whether there are examples to ask about."""
        return bool(self.fields["dataset"].queryset.exists())  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """Read the grid. Show an error at the field that holds the grid."""
        cleaned = super().clean() or {}
        file: UploadedFile[bytes] | None = cleaned.get("file")
        text: str = cleaned.get("text", "")
        if self.errors:
            return cleaned
        if bool(file) == bool(text.strip()):
            found = "both" if file else "neither"
            raise forms.ValidationError(f"Found {found}; expected a file or a text, but not both.")
        try:
            cleaned["grid"] = read_grid(_text_of(file) if file else text)
        except GridError as error:
            self.refuse(error)
        return cleaned

    def refuse(self, error: GridError) -> None:
        """Show what is wrong with the grid at the field that holds it."""
        self.add_error("file" if self.cleaned_data.get("file") else "text", f"{error}.")


def _text_of(file: "UploadedFile[bytes]") -> str:
    """Return an uploaded grid file as text.

    Raises:
        GridError: it is too large, or not UTF-8.
    """
    if file.size is None or file.size > LARGEST_FILE:
        raise GridError("", f"{file.size:,} bytes", f"{LARGEST_FILE:,} at most")
    try:
        text: str = file.read().decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise GridError(
            "", f"bytes that are not UTF-8, at byte {exc.start}", "a text file in UTF-8"
        ) from exc
    return text
