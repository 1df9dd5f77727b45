"""The contents of the page of a threshold choice, made from the rows of its report."""

from collections.abc import Sequence
from typing import NamedTuple

from evaluation.reports.numbers import percent
from evaluation.studies.figures.charts import decisions_said, people_said
from evaluation.studies.pages.auto_table import CeilingLine, ceilings_in
from evaluation.studies.pages.tables import n_said
from evaluation.studies.reports.threshold_choice_rows import (
    CandidateRow,
    ChosenRow,
    ThresholdChoiceRow,
)


class ThresholdChoiceTable(NamedTuple):
    """The choice for one question and one family, and the candidates for it."""

    chosen: ChosenRow | None  # None: no candidate takes part
    candidates: list[CandidateRow]  # candidates that take part in a choice
    aside: list[CandidateRow]  # candidates that do not, with the reason
    ceilings: list[CeilingLine]

    @property
    def why(self) -> str:
        """The reason why nothing could be chosen; empty without one."""
        return self.chosen.why or "" if self.chosen else ""

    @property
    def shown_choice(self) -> tuple[str, str]:
        """The chosen run and threshold as a form posts them. The threshold has all its digits."""
        chosen = self.chosen
        return str(chosen and chosen.run), repr(chosen and chosen.threshold)

    @property
    def among(self) -> str:
        """The number of candidates for the choice, in words."""
        n = self.chosen.n_candidates if self.chosen else 0
        return f"{n:,} candidates compared" if n > 1 else "1 candidate, only its threshold chosen"

    @property
    def lacking(self) -> list[tuple[str, int]]:
        """The candidates that lack scores which others have, and how many; most first."""
        found = [(row.title, row.n_lacking) for row in self.candidates if row.n_lacking]
        return sorted(found, key=lambda pair: -pair[1])

    @property
    def with_controls(self) -> list[CandidateRow]:
        """The candidates that have scored controls."""
        return [row for row in self.candidates if row.of_controls.verdict]

    @property
    def unfit_choice(self) -> CandidateRow | None:
        """The chosen candidate, if its controls call it unfit for these data."""
        chosen = (row for row in self.candidates if row.is_recommended)
        return next((row for row in chosen if row.of_controls.faults), None)

    @property
    def has_usual(self) -> bool:
        """Whether a candidate has a usual threshold. Imported scores may have none."""
        return any(row.threshold is not None for row in self.candidates)

    @property
    def has_choice(self) -> bool:
        """Whether there is more to choose than the threshold, that is, several candidates."""
        return len(self.candidates) > 1

    @property
    def people(self) -> str:
        chosen = self.chosen
        label, n_adjudicated = (chosen.about.label, chosen.n_adjudicated) if chosen else (None, 0)
        return people_said(label, n_adjudicated)

    @property
    def decisions(self) -> str:
        """The number of labels that are decisions, in words; empty if none are."""
        return decisions_said(self.chosen.n_adjudicated) if self.chosen else ""

    @property
    def verdict(self) -> str:
        """A comparison, in words, of the flattering accuracy with that on other dialogs."""
        optimism = self.chosen.optimism.value if self.chosen else None
        if optimism is None:
            return ""
        if optimism > 0:
            return "The first is too optimistic"
        return "By chance the second is higher" if optimism else "Here the two are equal"

    @property
    def most_chosen(self) -> list[CandidateRow]:
        """The candidates that folds have chosen, the most frequent first."""
        chosen = [row for row in self.candidates if row.n_chosen]
        return sorted(chosen, key=lambda row: -(row.n_chosen or 0))

    @property
    def n_said(self) -> str:
        n, n_dialogs = (self.chosen.n, self.chosen.n_dialogs) if self.chosen else (0, 0)
        of = n_said([n_dialogs], "dialog", "").removeprefix("n = ").strip()
        return f"{n_said([n], 'response', 'compared')}, {of}"

    @property
    def label(self) -> str:
        """The contents of the chart, in words."""
        said = ", ".join(
            f"{row.title} {percent(row.accuracy.value)}" for row in self.candidates[:12]
        )
        more = "".join(f", {c.name.lower()} {percent(c.estimate.value)}" for c in self.ceilings)
        return f"Accuracy by window and flavor: {said}{more}; numbers in the table below"


def threshold_choice_table(rows: Sequence[ThresholdChoiceRow]) -> ThresholdChoiceTable:
    """Lay out the report on one question and one family."""
    chosen = next((row for row in rows if isinstance(row, ChosenRow)), None)
    candidates = [row for row in rows if isinstance(row, CandidateRow)]
    return ThresholdChoiceTable(
        chosen,
        [row for row in candidates if _takes_part(row)],
        [row for row in candidates if not _takes_part(row)],
        ceilings_in(chosen.ceilings) if chosen else [],
    )


def _takes_part(row: CandidateRow) -> bool:
    return row.accuracy.value is not None or row.best_threshold is not None
