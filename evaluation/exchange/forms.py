"""Forms for imports, and for deleting what was imported."""

from pathlib import Path
from typing import Any

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile, UploadedFile
from django.template.defaultfilters import filesizeformat

from accounts.forms import RowsField
from evaluation.exchange.storing_choices import StoringChoices
from evaluation.exchange.uploads import free_pasted_name, pasted_file_name
from generation.choices.declaration import made
from generation.choices.forms import posted_fields
from generation.importers import ENCODINGS, READERS, UTF_8
from generation.importers.errors import DatasetError
from generation.importers.mapped.mapping import LONGEST_TEXT, read_mapping
from generation.models import Dataset, Example, SavedMapping, Setup

FORMAT_NAMES = {
    "interchange": "Interchange files (folder as zip, JSONL, CSV)",
    "table": "A table of questions and answers (CSV, Excel, JSON, Parquet)",
    "mtrag": "MTRAG human evaluation (JSON)",
    "ais": "AIS ratings (CSV)",
    "begin": "BEGIN labels (TSV)",
    "qrecc": "QReCC (JSON, with or without a file of passages)",
    "qrecc-as-asked": "QReCC, questions as they were asked",
    "treccast": "TREC CAsT topics (JSON)",
    "biokalma": "BioKaLMA questions with sub-graphs (JSON)",
    "ntriples": "N-Triples, of Wikidata or any other graph (NT)",
    "triples": "Triples as a table (CSV, TSV)",
    "trec-run": "A TREC run: the ranking of a retriever (RUN)",
}


LONGEST_PASTED = 500_000  # characters


class ImportForm(forms.Form):
    """A file to import, or pasted rows, and the name of the dataset that is made or added to."""

    file = forms.FileField(
        label="File",
        required=False,
        allow_empty_file=True,
        max_length=255,
        widget=forms.FileInput(attrs={"data-max-bytes": settings.MAX_UPLOAD_BYTES}),
    )
    pasted = forms.CharField(
        label="Or paste rows here",
        required=False,
        max_length=LONGEST_PASTED,
        strip=False,  # the last row may end with an empty cell
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false"}),
        help_text="Cells of a spreadsheet with their header, CSV, or JSON.",
    )
    name = forms.CharField(
        label="Dataset",
        max_length=100,
        required=False,
        help_text=(
            "A new name, or the name of a dataset to add to. Leave empty to use the file’s name, "
            "or pasted-1 and so on."
        ),
    )
    study = forms.CharField(
        label="Study",
        max_length=100,
        required=False,
        help_text=(
            "The study of the votes in the file. Leave empty to use the name in study.json, or "
            "else that of the dataset."
        ),
    )
    format = forms.ChoiceField(label="Format", required=False)
    encoding = forms.ChoiceField(
        label="Encoding",
        required=False,
        choices=list(ENCODINGS.items()),
        help_text="The encoding of the text. It is UTF-8, unless an older program wrote the file.",
    )

    saved_mapping = forms.ModelChoiceField(
        SavedMapping.objects.all(),
        label="Columns of a table",
        required=False,
        to_field_name="name",
        empty_label="Detect automatically",
        help_text="A saved mapping says what each column is. You can change this after the check.",
    )
    mapping_file = forms.FileField(
        label="Mapping from a file",
        required=False,
        help_text="A TOML file that says what each column is.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["format"].choices = [  # type: ignore[attr-defined]
            ("", "Detect automatically"),
            *((key, FORMAT_NAMES.get(key, key)) for key in READERS),
        ]

    def clean_mapping_file(self) -> str:
        """Return the text of a mapping; "" where there is no file."""
        file: UploadedFile[bytes] | None = self.cleaned_data["mapping_file"]
        if file is None:
            return ""
        try:
            text = file.read(LONGEST_TEXT).decode("utf-8")
            read_mapping(text, file.name or "mapping")
        except (UnicodeDecodeError, DatasetError) as error:
            raise forms.ValidationError(f"{error}.") from error
        return str(text)

    def clean_file(self) -> "UploadedFile[bytes] | None":
        file: UploadedFile[bytes] | None = self.cleaned_data["file"]
        if file is None:
            return None
        n_bytes = file.size or 0
        if n_bytes > settings.MAX_UPLOAD_BYTES:
            most = filesizeformat(settings.MAX_UPLOAD_BYTES)
            raise forms.ValidationError(
                f"Found a file of {filesizeformat(n_bytes)}; expected at most {most}. For a "
                "larger file, use the command import_dataset."
            )
        if not n_bytes:
            raise forms.ValidationError("The file is empty.")
        return file

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        saved = cleaned.get("saved_mapping")
        cleaned["mapping"] = cleaned.get("mapping_file") or (saved.text if saved else "")
        self._take_pasted(cleaned)
        if cleaned.get("file") and not cleaned.get("name"):
            cleaned["name"] = Path(cleaned["file"].name).name.split(".")[0][:100].strip()
            if not cleaned["name"]:
                self.add_error(
                    "name", "The name of the file cannot be the name of the dataset. Type a name."
                )
        return cleaned

    def choices(self) -> dict[str, Any]:
        """Return what a valid form asks, as `request_import` takes it."""
        chosen = self.cleaned_data
        return {
            "file": chosen["file"],
            "name": chosen["name"],
            "format_key": chosen["format"],
            "study_name": chosen["study"],
            "encoding": chosen["encoding"] or UTF_8,
            "mapping": chosen["mapping"],
        }

    def _take_pasted(self, cleaned: dict[str, Any]) -> None:
        """Make a file of pasted rows; exactly one of a file and pasted rows is allowed."""
        pasted: str = cleaned.get("pasted", "").lstrip()
        if bool(pasted) == bool(cleaned.get("file")) and not self.errors:
            problem = "Choose a file or paste rows, not both." if pasted else "Choose a file first."
            self.add_error("pasted" if pasted else "file", problem)
        elif pasted:
            rows = pasted.replace("\r\n", "\n")  # browsers send \r\n at the end of each line
            cleaned["file"] = SimpleUploadedFile(pasted_file_name(rows), rows.encode())
            cleaned["name"] = cleaned.get("name") or free_pasted_name()


class StoreImportForm(forms.Form):
    """The form to store a checked import, with the choices of what to leave out."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields |= posted_fields(StoringChoices)

    @property
    def choices(self) -> StoringChoices:
        """The choices of a valid form."""
        return made(StoringChoices, self.cleaned_data)


class ChosenMaterialForm(forms.Form):
    """Examples and setups of a dataset, as ticked in the boxes on its page."""

    example = RowsField(Example.objects.none(), required=False)
    setup = RowsField(Setup.objects.none(), required=False)

    def __init__(self, dataset: Dataset, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["example"].queryset = dataset.examples.all()  # type: ignore[attr-defined]
        self.fields["setup"].queryset = dataset.setups.all()  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.errors and not (cleaned["example"] or cleaned["setup"]):
            raise forms.ValidationError("You chose nothing to delete. Tick at least one box.")
        return cleaned


class DeleteDatasetForm(forms.Form):
    """The dataset's name, typed by the user, so that no dataset is deleted by mistake."""

    name = forms.CharField(label="Type the dataset's name to delete it", strip=True)

    def __init__(self, dataset: Dataset, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.dataset = dataset

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if name != self.dataset.name:
            raise forms.ValidationError(
                f"This is not the name of the dataset. Type {self.dataset.name} to delete it."
            )
        return name
