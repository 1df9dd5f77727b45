"""The choices of a researcher on the reports about a graph. All of them are in the address."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from django import forms
from numpy.typing import NDArray

from evaluation.graphs.reports.citations import CitationChoices
from evaluation.graphs.reports.cited_answers import REASONS, CitedAnswers
from evaluation.measures.citation import Mode
from evaluation.runs.seeded_setups import SeededRuns
from evaluation.statistics.intervals import Floats
from generation.choices.forms import ChoicesForm

Bools = NDArray[np.bool_]
SETUP_IDS = re.compile(r"[0-9]{1,18}(,[0-9]{1,18})*")

REASON_KEYS = {reason.name.lower(): reason for reason in REASONS}


class CitationChoicesForm(ChoicesForm[CitationChoices]):
    """The form for whose definitions count and which members of minimum sets count.

    A choice that is not made is as in the paper.
    """

    def __init__(self, address: Mapping[str, Any]) -> None:
        super().__init__(CitationChoices, address, without={"setup"})


# The verdicts that a list of answers can be filtered by: key → title, and which answers match.
VERDICTS: Mapping[str, tuple[str, Callable[[CitedAnswers], Bools]]] = {
    "": ("all", lambda answers: np.ones(len(answers.responses), bool)),
    "wrong": ("wrong", lambda answers: _n_wrong(answers) > 0),
    "incomplete": ("incomplete", lambda answers: _column(answers, "n_incomplete") > 0),
    "correct": (
        "correct, not needed",
        lambda answers: (
            (_column(answers, "n_correct") > _column(answers, "n_precise")) & _is_known(answers)
        ),
    ),
    "minimum": ("in minimum set", lambda answers: _column(answers, "n_precise") > 0),
    "unknown": (
        "correct, need unknown",
        lambda answers: (_column(answers, "n_correct") > 0) & ~_is_known(answers),
    ),
    "missed": (
        "minimum set not fully cited",
        lambda answers: _column(answers, "n_hit") < _column(answers, "n_minimum"),
    ),
    "none": ("no citation", lambda answers: _column(answers, "n_citations") == 0),
    "na": ("[NA]", lambda answers: answers.n_na[Mode.PAPER] > 0),
}


def _column(answers: CitedAnswers, name: str) -> Floats:
    return answers.column(Mode.PAPER, name)


def _is_known(answers: CitedAnswers) -> Bools:
    """Return whether it is known what each answer needs."""
    return ~np.isnan(_column(answers, "n_minimum"))


def _n_wrong(answers: CitedAnswers) -> Floats:
    known = _column(answers, "n_correct") + _column(answers, "n_incomplete")
    return _column(answers, "n_citations") - known


class SetupIdsField(forms.ChoiceField):
    """Setups by their ids, separated by commas. The runs of a group are one choice."""

    def __init__(self) -> None:
        super().__init__(label="Setup", required=False)

    def allow(self, groups: Sequence[SeededRuns]) -> None:
        """Offer each group of two or more seeded runs and each setup, and nothing else."""
        together = [group for group in groups if len(group.setups) > 1]
        setups = sorted((setup for group in groups for setup in group.setups), key=str)
        self.choices = [
            ("", "All setups"),
            *((key_of(group.ids), _words(group)) for group in together),
            *((key_of([setup.pk]), setup.name) for setup in setups),
        ]

    def to_python(self, value: Any) -> str:
        """Return the ids in the order that the choices use, so that both compare equal."""
        text = super().to_python(value)
        return key_of(map(int, text.split(","))) if SETUP_IDS.fullmatch(text) else text


def key_of(setups: Iterable[int]) -> str:
    """Return the value that represents some setups in an address: '12,13,14'."""
    return ",".join(map(str, sorted(setups)))


def _words(group: SeededRuns) -> str:
    of = group.columns
    return f"{of.label}, {of.prompt_title.lower()}: {of.n_runs} runs"


class AnswerFilter(forms.Form):
    """A filter of the answers behind the figures, by setups and by one verdict."""

    setup = SetupIdsField()
    verdict = forms.ChoiceField(
        label="With a citation that is",
        choices=[(key, title) for key, (title, _) in VERDICTS.items()],
        required=False,
    )

    def __init__(self, data: Any, *, answers: CitedAnswers, groups: Sequence[SeededRuns]) -> None:
        super().__init__(data)
        self.answers = answers
        field = self.fields["setup"]
        assert isinstance(field, SetupIdsField)
        field.allow(groups)
        self.is_valid()
        self.setup_chosen: str = self.cleaned_data.get("setup") or ""
        self.verdict_chosen: str = self.cleaned_data.get("verdict") or ""

    @property
    def places(self) -> list[int]:
        """The indexes of the answers to list."""
        listed = self._of_setup & VERDICTS[self.verdict_chosen][1](self.answers)
        places: list[int] = np.flatnonzero(listed).tolist()
        return places

    def tabs(self) -> list[tuple[str, str, int]]:
        """Return the key, the title and the number of answers of each verdict."""
        return [
            (key, title, int((self._of_setup & of(self.answers)).sum()))
            for key, (title, of) in VERDICTS.items()
        ]

    @property
    def _of_setup(self) -> Bools:
        if not self.setup_chosen:
            return np.ones(len(self.answers.responses), bool)
        chosen: Bools = np.isin(self.answers.setups, [*map(int, self.setup_chosen.split(","))])
        return chosen


class DifferenceFilter(forms.Form):
    """A filter of the answers that the two modes count differently, by one reason."""

    reason = forms.ChoiceField(
        label="Why",
        choices=[("", "all"), *((key, str(each)) for key, each in REASON_KEYS.items())],
        required=False,
    )

    def __init__(self, data: Any, *, answers: CitedAnswers) -> None:
        super().__init__(data)
        self.answers = answers
        self.is_valid()
        self.reason_chosen: str = self.cleaned_data.get("reason") or ""

    @property
    def places(self) -> list[int]:
        """The indexes of the answers to list."""
        listed = self.answers.reasons.any(axis=1)
        if self.reason_chosen:
            column = REASONS.index(REASON_KEYS[self.reason_chosen])
            listed = self.answers.reasons[:, column]
        places: list[int] = np.flatnonzero(listed).tolist()
        return places

    def tabs(self) -> list[tuple[str, str, int]]:
        """Return the key, the title and the number of answers of 'all' and of each reason.

        Reasons without an answer are left out.
        """
        counts = self.answers.reasons.sum(axis=0).tolist()
        tabs = [
            (key, str(REASON_KEYS[key]), n) for key, n in zip(REASON_KEYS, counts, strict=True) if n
        ]
        return [("", "all", int(self.answers.reasons.any(axis=1).sum())), *tabs]
