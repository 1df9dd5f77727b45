"""The form for the items of a qualification round."""

import csv
import io
from collections.abc import Mapping
from typing import Any

from django import forms

from annotation.forms.gold import KnownAnswersForm
from annotation.known_answers import COLUMNS, read_explanations
from annotation.models import Study
from annotation.schemes import load_scheme
from annotation.services.qualification import ItemToStore
from generation.models import Response


class QualificationForm(KnownAnswersForm):
    """The items of a round, in the order of their lines, and the share of right answers needed."""

    pass_mark = forms.FloatField(
        label="Share of right answers needed",
        min_value=0,
        max_value=1,
        widget=forms.NumberInput(attrs={"step": "0.05"}),
        help_text="From 0 to 1. A person with a lower share gets no units, and another one may "
        "come in their place.",
    )

    def __init__(
        self,
        study: Study,
        data: Mapping[str, Any] | None = None,
        files: Mapping[str, Any] | None = None,
    ) -> None:
        initial = {"answers": _stored_csv(study), "pass_mark": study.pass_mark}
        super().__init__(study, data, files, initial)
        self.among = Response.objects.of_benchmark().filter(dataset=study.dataset_id)
        self.fields["answers"].label = "Items"
        self.fields["answers"].help_text = (
            "The right answers as CSV, with the columns response, question, answer and, if you "
            "like, explanation: people read it after they answered. Leave out questions that an "
            "earlier No makes unnecessary."
        )

    @property
    def items(self) -> dict[str, ItemToStore]:
        """The items of a valid form: response key → item."""
        why = read_explanations(self.text)
        return {key: ItemToStore(given, why.get(key, "")) for key, given in self.known.items()}


def _stored_csv(study: Study) -> str:
    """Return the items of a study as CSV, for the form; "" when there are none."""
    scales = {question.key: question.scale for question in load_scheme(study.scheme).questions}
    items = list(study.qualification_items.select_related("response"))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*COLUMNS, "explanation"])
    for item in items:
        for number, (key, answer) in enumerate(item.answers.items()):
            why = "" if number else item.explanation
            writer.writerow([item.response.key, key, scales[key].label(answer), why])
    return out.getvalue().rstrip("\n") if items else ""
