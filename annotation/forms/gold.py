"""Known answers, pasted as CSV by a researcher."""

import csv
from collections.abc import Mapping

from django import forms

from annotation.models import Study
from annotation.schemes import Scheme, load_scheme

COLUMNS = ("response", "question", "answer")


class GoldForm(forms.Form):
    """The gold items of a study, how many qualify, and how many of their answers are enough."""

    answers = forms.CharField(
        label="Known answers",
        required=False,
        widget=forms.Textarea(attrs={"rows": 12, "class": "mono", "spellcheck": "false"}),
        help_text="CSV with the columns response, question, answer: a full form for each response. "
        "What a closed gate implies may be left out.",
    )
    n_qualifying = forms.IntegerField(
        label="To qualify, first rate",
        min_value=0,
        initial=0,
        help_text="So many gold items come before anything else. 0: they are only mixed in.",
    )
    threshold = forms.FloatField(
        label="Answers that must be met",
        required=False,
        min_value=0,
        max_value=1,
        widget=forms.NumberInput(attrs={"step": "0.05"}),
        help_text="A share from 0 to 1. Who is below it gets no further units, and is excluded. "
        "Left empty: nobody is.",
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
        lines = self.cleaned_data["answers"].strip().splitlines()
        if not lines:
            return {}
        rows = csv.DictReader(lines)
        if not set(COLUMNS) <= set(rows.fieldnames or ()):
            found = ", ".join(rows.fieldnames or ()) or "nothing"
            raise forms.ValidationError(
                f"Line 1: found the columns {found}; expected {', '.join(COLUMNS)}."
            )
        answers: dict[str, dict[str, int]] = {}
        for row in rows:
            where = f"Line {rows.line_num}"
            response, key, word = ((row[name] or "").strip() for name in COLUMNS)
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
                    f"{where}: {key} of response {response!r} is there twice; expected once."
                )
            answers[response][key] = answer
        return answers


def known_answers_csv(study: Study, scheme: Scheme) -> str:
    """Return a study's known answers as the form takes them; empty when there are none."""
    rows = study.gold_answers.order_by("target__response__key", "pk").values_list(
        "target__response__key", "question", "answer"
    )
    scales = {question.key: question.scale for question in scheme.questions}
    lines = [
        f"{response},{question},{scales[question].label(answer)}"
        for response, question, answer in rows
    ]
    return "\n".join([",".join(COLUMNS), *lines]) if lines else ""
