"""Forms of constructions: a new one, the list of entries, a review, and a dataset made from one."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from django import forms
from django.core import signing
from django.core.files.uploadedfile import UploadedFile
from django.db.models import Q
from django.http import QueryDict
from django.template.defaultfilters import filesizeformat

from evaluation.graphs.construction.problem_names import PROBLEMS
from evaluation.graphs.construction.services.constructions import ConstructionPlan
from evaluation.graphs.construction.services.entries_check import (
    LARGEST_FILE,
    EntriesCheck,
    Upload,
    checked,
    unsigned,
)
from evaluation.graphs.forms.endpoint import ENDPOINT, EndpointForm
from generation.choices.folded_fields import Fold, Told
from generation.forms.offered_models import offered_models
from generation.importers.errors import DatasetError, TooLargeError
from generation.models import ConstructedDataset, ConstructionEntry
from generation.services.constructions import Review, review_state
from generation.text.constructed_questions import LONGEST_QUESTION
from generation.text.flat_graph import Triple

LONGEST_REASON = 500
_FILE = {"data-max-bytes": LARGEST_FILE}
_BY_COMMAND = "For a larger file, use the command build_kg_dataset."
State = ConstructionEntry.State
# The values that the form sends for verdicts. An open verdict is stored as "", but the form must
# not accept "" for it, because a mistake may send that too.
VERDICTS = {
    "keep": ConstructionEntry.Verdict.KEEP,
    "drop": ConstructionEntry.Verdict.DROP,
    "open": ConstructionEntry.Verdict.OPEN,
}


# --- a new one ------------------------------------------------------------------------------


class EntriesForm(forms.Form):
    """The files of a new construction, uploaded now or checked before.

    A valid form has the attribute `check`.
    """

    file = forms.FileField(
        label="Entries",
        required=False,
        allow_empty_file=True,
        max_length=255,
        widget=forms.FileInput(attrs=_FILE),
    )
    relations = forms.FileField(
        label="Relations",
        required=False,
        allow_empty_file=True,
        max_length=255,
        help_text=(
            "A JSON file that lists the properties of each relation. Empty: the usual properties "
            "of Wikidata."
        ),
        widget=forms.FileInput(attrs=_FILE),
    )
    checked = forms.CharField(required=False, widget=forms.HiddenInput)

    check: EntriesCheck
    upload: Upload

    def clean_file(self) -> "UploadedFile[bytes] | None":
        """Refuse a file of entries that is too large."""
        return _not_too_large(self.cleaned_data["file"])

    def clean_relations(self) -> "UploadedFile[bytes] | None":
        """Refuse a file of relations that is too large."""
        return _not_too_large(self.cleaned_data["relations"])

    def clean(self) -> dict[str, Any]:
        """Read the uploaded files, or those that were checked before."""
        cleaned = super().clean() or {}
        if self.errors:
            return cleaned
        try:
            self.upload = self._upload(cleaned)
            self.check = checked(self.upload)
        except forms.ValidationError as error:
            self.add_error("file", error)
        except TooLargeError as error:
            self.add_error("file", f"{error}. {_BY_COMMAND}")
        except DatasetError as error:
            self.add_error("file", f"{error}.")
        return cleaned

    def _upload(self, cleaned: dict[str, Any]) -> Upload:
        """Return the upload to use. A file that is sent now replaces one that was checked."""
        file, relations = cleaned.get("file"), cleaned.get("relations")
        if file is None:
            if not cleaned.get("checked"):
                raise forms.ValidationError("Choose a file of entries.")
            try:
                before = unsigned(cleaned["checked"])
            except signing.BadSignature as error:
                raise forms.ValidationError("Choose the file again.") from error
        else:
            before = Upload(file.name or "entries", file.read())
        if relations is None:
            return before
        try:
            text = relations.read().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise DatasetError(relations.name, "bytes that are not UTF-8", "UTF-8") from error
        return before._replace(relations_file=relations.name, relations_text=text)


def _not_too_large(file: "UploadedFile[bytes] | None") -> "UploadedFile[bytes] | None":
    n_bytes = (file.size or 0) if file else 0
    if n_bytes > LARGEST_FILE:
        raise forms.ValidationError(
            f"Found a file of {filesizeformat(n_bytes)}; expected at most "
            f"{filesizeformat(LARGEST_FILE)}. " + _BY_COMMAND
        )
    return file


class ConstructionForm(EndpointForm):
    """The choices about a new construction: its name, model, endpoint and decoding."""

    declared = ConstructionPlan
    folds_declared = {
        "endpoint": ENDPOINT,
        "writing": Fold(
            "How it writes",
            {
                "n_rounds": Told("{} rounds", {"1": "1 round"}),
                "temperature": Told("temperature {}"),
                "precision": Told("{}"),
                "seed": Told("seed {}"),
            },
        ),
    }

    name = forms.CharField(
        label="Name", max_length=100, widget=forms.TextInput(attrs={"autocomplete": "off"})
    )
    model = forms.ChoiceField(
        label="Model", help_text="It writes the paragraphs and the questions."
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.offered = {each.name: each for each in offered_models() if each.key}
        names = [(name, f"{name} ({each.title})") for name, each in self.offered.items()]
        self.fields["model"].choices = names  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """Refuse a precision that the model does not have."""
        cleaned = super().clean() or {}
        model = self.offered.get(cleaned.get("model", ""))
        if model and cleaned.get("precision") not in model.precisions:
            self.add_error("precision", f"This model has only {' or '.join(model.precisions)}.")
        return cleaned

    def plan(self, check: EntriesCheck) -> ConstructionPlan:
        """Return the plan that a valid form and a checked file describe."""
        return check.plan(**self.cleaned_data)


# --- what is in the list --------------------------------------------------------------------


class EntryFilter(forms.Form):
    """A filter of the listed entries, by state or problem and by verdict."""

    became = forms.ChoiceField(
        label="State",
        required=False,
        choices=[
            ("", "Any state"),
            (State.BUILT, "built"),
            (State.FAILED, "failed"),
            (State.WRITING, "being written"),
            (State.WAITING, "waiting"),
            (State.LEFT_OUT, "left out"),
            ("Left out for", [(key, title) for key, title in PROBLEMS.items()]),
        ],
    )
    verdict = forms.ChoiceField(
        label="Review",
        required=False,
        choices=[
            ("", "Any decision"),
            ("open", "open"),
            ("keep", "kept"),
            ("drop", "dropped"),
        ],
    )

    def condition(self) -> Q:
        """Return the condition of a valid form. Only entries with a question have a verdict."""
        became, verdict = self.cleaned_data["became"], self.cleaned_data["verdict"]
        asked = Q()
        if became:
            asked &= Q(problem=became) if became in PROBLEMS else Q(state=became)
        if verdict:
            asked &= Q(state=State.BUILT, verdict=VERDICTS[verdict])
        return asked


# --- review ---------------------------------------------------------------------------------


class Reviewable(NamedTuple):
    """An entry that a reviewer decides about, with the model's words and the whole minimum set."""

    entry: ConstructionEntry
    question: str
    simple_question: str
    members: Mapping[str, Triple]  # position, as the form sends it → member


class ReviewForm(forms.Form):
    """A reviewer's decision about one entry's question and its minimum set."""

    verdict = forms.ChoiceField(choices=[(verdict, verdict) for verdict in VERDICTS])
    reason = forms.CharField(
        label="Why it is dropped",
        max_length=LONGEST_REASON,
        required=False,
        widget=forms.TextInput(attrs={"list": "reasons", "autocomplete": "off"}),
    )
    question = forms.CharField(
        label="Question",
        max_length=LONGEST_QUESTION,
        required=False,
        help_text="Empty: the words of the model are kept.",
        widget=forms.Textarea(attrs={"rows": 3, "dir": "auto"}),
    )
    simple_question = forms.CharField(
        label="In the simple style",
        max_length=LONGEST_QUESTION,
        required=False,
        help_text="Empty: the words of the model are kept.",
        widget=forms.Textarea(attrs={"rows": 2, "dir": "auto"}),
    )
    taken_out = forms.MultipleChoiceField(label="Take out", required=False)
    seen = forms.CharField(required=False)  # the `review_state` of what the reviewer was shown

    def __init__(self, about: Reviewable, sent: QueryDict | None = None) -> None:
        entry = about.entry
        words = {
            "question": entry.edited_question or about.question,
            "simple_question": entry.edited_simple_question or about.simple_question,
        }
        taken_out = {tuple(each) for each in entry.taken_out}
        taken = [place for place, triple in about.members.items() if triple in taken_out]
        if sent is not None and "question" not in sent:  # Only a drop was sent; keep the words.
            sent = sent.copy()
            sent.update(words)
            sent.setlist("taken_out", taken)
        super().__init__(sent, initial={**words, "reason": entry.reason})
        self.ticked = frozenset(taken if sent is None else sent.getlist("taken_out"))
        self._about = about
        self.state_seen = review_state(entry) if sent is None else sent.get("seen", "")
        places = [(place, place) for place in about.members]
        self.fields["taken_out"].choices = places  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """Require a reason for a drop, and at least one remaining member for a question to keep."""
        chosen: dict[str, Any] = super().clean() or {}
        verdict = chosen.get("verdict")
        if verdict == "drop" and not chosen.get("reason") and "reason" not in self.errors:
            self.add_error("reason", "Say why you drop the question. The reason is kept with it.")
        n = len(self._about.members)
        if verdict == "keep" and n and len(chosen.get("taken_out", ())) == n:
            self.add_error(
                "taken_out", "Leave at least one member in the minimum set, or drop the question."
            )
        return chosen

    def refuse_stale(self, why: str) -> None:
        """Show what was decided meanwhile. The next submission counts as made knowing it."""
        self.add_error(None, why)
        self.state_seen = review_state(self._about.entry)

    def review(self) -> Review:
        """Return the review of a valid form. Words equal to the model's are not stored as edits."""
        said = self.cleaned_data
        taken = set(said["taken_out"])
        return Review(
            verdict=VERDICTS[said["verdict"]],
            reason=said["reason"] if said["verdict"] == "drop" else "",
            question=_own(said["question"], self._about.question),
            simple_question=_own(said["simple_question"], self._about.simple_question),
            taken_out=tuple(
                triple for place, triple in self._about.members.items() if place in taken
            ),
        )


def _own(words: str, of_model: str) -> str:
    tidy = " ".join(words.split())
    return "" if tidy == " ".join(of_model.split()) else tidy


class PublishForm(forms.Form):
    """The name and the style of a dataset that is made from a construction's questions."""

    name = forms.CharField(
        label="Dataset", max_length=100, widget=forms.TextInput(attrs={"autocomplete": "off"})
    )
    style = forms.ChoiceField(
        label="Questions",
        choices=[
            (ConstructedDataset.Style.COMPLEX, "Complex: the questions of the last round"),
            (ConstructedDataset.Style.SIMPLE, "Simple: the same questions in simple words"),
        ],
        initial=ConstructedDataset.Style.COMPLEX,
        widget=forms.RadioSelect,
    )
