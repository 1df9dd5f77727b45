"""The forms of a rater: one for each response of a unit, built from the scheme as data.

One class serves every scheme and layout. A field's name has the question and the shown position
(`relevant-2`), so that no id of the database is on the page.
"""

import math
from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext, gettext_lazy

from annotation.numbered_questions import impossible_in_words
from annotation.rated_units import RatedUnit, ShownResponse
from annotation.schemes import Scheme
from annotation.stated_reasons import BEFORE_NOTE, FLAG_REASONS, SKIP_REASONS
from annotation.voting import Judgement, with_implied

LONGEST_SECONDS = 24 * 3600.0  # a longer time cannot be time on task
NO_ANSWER = gettext_lazy("No answer yet.")


def field_name(question: str, position: int) -> str:
    """Return the name of the field for a question about the response in a position."""
    return f"{question}-{position}"


class VoteForm(forms.Form):
    """A scheme's questions about a response or citation. Closed gates imply some answers."""

    judgement: Judgement
    given: dict[str, int]

    def __init__(
        self,
        scheme: Scheme,
        shown: ShownResponse,
        answers: Mapping[str, int],
        data: Mapping[str, Any] | None,
    ) -> None:
        self.scheme, self.shown, self.given = scheme, shown, dict(answers)
        super().__init__(data)
        if data is None:
            self.judgement = with_implied(scheme, self.given)
            return
        for question in scheme.questions:
            self.fields[question.key] = forms.TypedChoiceField(
                choices=list(zip(question.scale.values, question.scale.labels, strict=True)),
                coerce=int,
                empty_value=None,
                required=False,
                error_messages={
                    "invalid_choice": gettext("Answer with {answers}.").format(
                        answers=question.scale.expected
                    )
                },
            )

    def add_prefix(self, key: str) -> str:
        return field_name(key, self.shown.position)

    def clean(self) -> None:
        """Report missing answers, unless the response is flagged, and impossible combinations."""
        cleaned = self.cleaned_data
        self.given = {key: answer for key, answer in cleaned.items() if answer is not None}
        self.judgement = with_implied(self.scheme, self.given)
        for key in (*self.judgement.missing, *self.judgement.waiting):
            if self.shown.flag is None and key not in self.errors:
                self.add_error(key, NO_ANSWER)
        for together in self.judgement.impossible:
            last = [key for key in self.scheme.keys if key in together][-1]
            self.add_error(last, impossible_in_words(self.scheme, together))


class RatingForm:
    """The form of a whole unit: a form for each response, and the time on task."""

    def __init__(self, unit: RatedUnit, data: Mapping[str, Any] | None = None) -> None:
        self.unit, self._data = unit, data
        self.forms = [
            VoteForm(unit.scheme, shown, unit.answers.get(shown.target_id, {}), data)
            for shown in unit.responses
        ]

    @property
    def is_sent(self) -> bool:
        """Whether the form was sent. Only then does it have errors."""
        return self._data is not None

    def is_valid(self) -> bool:
        """Return whether all answers can be stored. Every form is checked, to show its errors."""
        invalid = [form for form in self.forms if not form.is_valid()]
        return not invalid

    @property
    def answers(self) -> dict[int, dict[str, int]]:
        """Return the answers so far, for a draft: target → question → answer."""
        return {form.shown.target_id: form.given for form in self.forms}

    @property
    def seconds(self) -> float | None:
        """Return the active seconds that the browser counted; None without a script."""
        try:
            seconds = float((self._data or {}).get("seconds") or math.nan)
        except ValueError:
            return None
        return seconds if 0 <= seconds <= LONGEST_SECONDS else None


class SkipForm(forms.Form):
    """The reason why a rater gives a unit back."""

    reason = forms.ChoiceField(choices=[(reason, reason) for reason in SKIP_REASONS])
    note = forms.CharField(required=False, max_length=2000)


class FlagForm(forms.Form):
    """The responses of a unit that a rater flags, and the reason."""

    reason = forms.ChoiceField(choices=[(reason, reason) for reason in FLAG_REASONS])
    note = forms.CharField(required=False, max_length=2000)
    responses = forms.TypedMultipleChoiceField(coerce=int)

    def __init__(self, unit: RatedUnit, data: Mapping[str, Any]) -> None:
        super().__init__(data)
        positions = [(shown.position, shown.position) for shown in unit.responses]
        self.fields["responses"].choices = positions  # type: ignore[attr-defined]
        self.targets = {shown.position: shown.target_id for shown in unit.responses}

    @property
    def target_ids(self) -> list[int]:
        return [self.targets[position] for position in self.cleaned_data["responses"]]

    @property
    def words(self) -> str:
        """Return the reason to store: the chosen one, and the rater's own words."""
        return BEFORE_NOTE.join(
            filter(None, [self.cleaned_data["reason"], self.cleaned_data["note"]])
        )
