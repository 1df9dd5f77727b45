"""The form for known answers, which a researcher pastes as CSV."""

import csv
import io
from collections.abc import Iterator, Mapping

from django import forms

from annotation.models import Study
from annotation.schemes import Scheme, load_scheme

COLUMNS = ("response", "question", "answer")


class GoldForm(forms.Form):
    """The gold items of a study, how many come first to qualify, and the threshold for raters."""

    answers = forms.CharField(
        label="Known answers",
        required=False,
        widget=forms.Textarea(attrs={"rows": 12, "class": "mono", "spellcheck": "false"}),
        help_text="The answers as CSV, with the columns response, question, answer. Answer all "
        "questions about each response. Leave out questions that an earlier No makes "
        "unnecessary.",
    )
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

    def __init__(self, study: Study, data: Mapping[str, str] | None = None) -> None:
        self.scheme = load_scheme(study.scheme)
        initial = {
            "answers": known_answers_csv(study, self.scheme),
            "n_qualifying": study.n_qualifying,
            "threshold": study.gold_threshold,
        }
        super().__init__(data, initial=initial)

    def clean_answers(self) -> dict[str, dict[str, int]]:
        """Return response → question → answer."""
        answers: dict[str, dict[str, int]] = {}
        for where, response, key, word in _rows(self.cleaned_data["answers"]):
            question = self.scheme.question(key)
            if question is None:
                expected = ", ".join(self.scheme.keys)
                raise forms.ValidationError(
                    f"{where}, question: found {key!r}; expected one of {expected}."
                )
            try:
                answer = question.scale.number(word)
            except ValueError as error:
                raise forms.ValidationError(f"{where}: {error}.") from error
            if key in answers.setdefault(response, {}):
                raise forms.ValidationError(
                    f"{where}: found {key} of response {response!r} twice; expected it once."
                )
            answers[response][key] = answer
        return answers


def _rows(text: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield the line that each row ends in, as errors name it, and its three cells."""
    # A browser posts the line breaks of a quoted key as CR LF. Here they become LF again.
    rows = csv.DictReader(io.StringIO(text.strip(), newline=None))
    try:
        if rows.fieldnames is None:
            return
        if not set(COLUMNS) <= set(rows.fieldnames):
            found = ", ".join(rows.fieldnames)
            raise forms.ValidationError(
                f"Line 1: found the columns {found}; expected {', '.join(COLUMNS)}."
            )
        for row in rows:
            response, key, word = ((row[name] or "").strip() for name in COLUMNS)
            yield f"Line {rows.reader.line_num}", response, key, word
    except csv.Error as error:
        raise forms.ValidationError(
            f"Line {rows.reader.line_num}: found a row that is not CSV ({error}); "
            "expected quotes that are closed, and cells that are not too long."
        ) from error


def known_answers_csv(study: Study, scheme: Scheme) -> str:
    """Return a study's known answers as CSV for the form; "" when there are none."""
    rows = study.gold_answers.order_by("target__response__key", "pk").values_list(
        "target__response__key", "question", "answer"
    )
    scales = {question.key: question.scale for question in scheme.questions}
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows((key, name, scales[name].label(answer)) for key, name, answer in rows)
    return out.getvalue().rstrip("\n") if rows else ""
