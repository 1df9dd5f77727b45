"""The forms for known answers, which a researcher writes as CSV or sends as a file."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet

from annotation.known_answers import (
    LARGEST_FILE,
    KnownAnswers,
    KnownAnswersError,
    known_answers_csv,
    read_known_answers,
    stored_known_answers,
    text_of_file,
)
from annotation.models import Study
from annotation.schemes import load_scheme
from generation.models import Response


class KnownAnswersForm(forms.Form):
    """Known answers of a study. A valid form has the attribute `known`.

    `among` are the responses that they may be about; None: those of the study's setups.
    """

    answers = forms.CharField(
        label="Known answers",
        required=False,
        widget=forms.Textarea(attrs={"rows": 12, "class": "mono", "spellcheck": "false"}),
        help_text="The answers as CSV, with the columns response, question, answer. Answer all "
        "questions about each response. Leave out questions that an earlier No makes "
        "unnecessary.",
    )
    file = forms.FileField(
        label="Or a CSV file with these columns",
        required=False,
        allow_empty_file=True,
        widget=forms.FileInput(attrs={"accept": ".csv", "data-max-bytes": LARGEST_FILE}),
        help_text="If you choose a file, it is read instead of the lines above.",
    )

    known: KnownAnswers  # response key → question → answer
    text: str  # the text that they were read from
    among: QuerySet[Response] | None = None

    def __init__(
        self,
        study: Study,
        data: Mapping[str, Any] | None,
        files: Any,
        initial: Mapping[str, Any],
    ) -> None:
        self._study, self.scheme = study, load_scheme(study.scheme)
        super().__init__(data, files, initial=dict(initial))

    def clean(self) -> dict[str, Any]:
        """Read the known answers. Show an error at the field that has them."""
        cleaned = super().clean() or {}
        file: UploadedFile[bytes] | None = cleaned.get("file")
        name = (file.name or "file") if file else ""
        try:
            if file or "answers" in cleaned:
                self.text = (
                    text_of_file(file.read(LARGEST_FILE + 1), name) if file else cleaned["answers"]
                )
                self.known = read_known_answers(self._study, self.text, name, self.among)
        except KnownAnswersError as error:
            self.add_error("file" if file else "answers", str(error))
        return cleaned


class GoldForm(KnownAnswersForm):
    """The gold items of a study, how many come first to qualify, and the threshold for raters."""

    n_qualifying = forms.IntegerField(
        label="Gold items to qualify",
        min_value=0,
        initial=0,
        help_text="Each rater gets this many gold items first. 0: gold items are only mixed in.",
    )
    threshold = forms.FloatField(
        label="Share of right answers needed",
        required=False,
        min_value=0,
        max_value=1,
        widget=forms.NumberInput(attrs={"step": "0.05"}),
        help_text="From 0 to 1. A rater with a lower share gets no further units and is excluded. "
        "Empty: no rater is excluded.",
    )

    def __init__(
        self,
        study: Study,
        data: Mapping[str, Any] | None = None,
        files: Mapping[str, Any] | None = None,
        known: KnownAnswers | None = None,
    ) -> None:
        """Make the form; it begins with `known`, or else with the stored answers of the study."""
        known = stored_known_answers(study) if known is None else known
        initial = {
            "answers": known_answers_csv(load_scheme(study.scheme), known),
            "n_qualifying": study.n_qualifying,
            "threshold": study.gold_threshold,
        }
        super().__init__(study, data, files, initial)
