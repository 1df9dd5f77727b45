"""What the page of a calibration shows, from the rows of its report."""

from collections.abc import Sequence
from typing import NamedTuple

from evaluation.reports.base import Row
from evaluation.studies.figures.charts import CEILINGS, people_said
from evaluation.studies.pages.auto_table import HOW, Ceiling
from evaluation.studies.pages.tables import n_said
from evaluation.studies.reports.threshold_choice import CANDIDATE, CHOSEN


class CalibrationTable(NamedTuple):
    """One question and one family: what was chosen, among what."""

    chosen: Row  # empty where nothing takes part
    candidates: list[tuple[str, Row]]  # by name, those with figures
    aside: list[tuple[str, Row]]  # by name, those that take no part, and why
    ceilings: list[Ceiling]

    @property
    def why(self) -> str:
        """Why nothing could be chosen."""
        return str(self.chosen.get("why") or "")

    @property
    def shown_choice(self) -> tuple[str, str]:
        """The run and the threshold that were chosen, to the last digit, as a form posts them."""
        return str(self.chosen.get("run")), repr(self.chosen.get("threshold"))

    @property
    def among(self) -> str:
        """How many candidates the choice was among, in words."""
        n = self.chosen.get("n_candidates") or 0
        return f"{n:,} candidates compared" if n > 1 else "1 candidate, its threshold alone chosen"

    @property
    def lacking(self) -> list[tuple[str, int]]:
        """The candidates without a score that another has, by name, with how many; most first."""
        found = [(name, row["n_lacking"]) for name, row in self.candidates if row["n_lacking"]]
        return sorted(found, key=lambda pair: -pair[1])

    @property
    def has_choice(self) -> bool:
        """Whether there is more to choose than a threshold."""
        return len(self.candidates) > 1

    @property
    def people(self) -> str:
        return people_said(self.chosen)

    @property
    def verdict(self) -> str:
        """What the two figures say of each other, in words."""
        optimism = self.chosen.get("optimism")
        if optimism is None:
            return ""
        if optimism > 0:
            return "The first flatters"
        return "By chance the second is higher" if optimism else "Here the first flatters nothing"

    @property
    def most_chosen(self) -> list[tuple[str, Row]]:
        """The candidates that folds have chosen, by name, the most frequent first."""
        chosen = [(name, row) for name, row in self.candidates if row.get("n_chosen")]
        return sorted(chosen, key=lambda pair: -pair[1]["n_chosen"])

    @property
    def n_said(self) -> str:
        of = n_said([self.chosen.get("n_dialogs") or 0], "dialog", "")
        said = n_said([self.chosen.get("n") or 0], "response", "compared")
        return f"{said}, {of.removeprefix('n = ').strip()}"

    @property
    def label(self) -> str:
        """What the chart shows, in words."""
        said = ", ".join(
            f"{name} {100 * row['accuracy']:.1f}" for name, row in self.candidates[:12]
        )
        more = "".join(f", {c.name.lower()} {100 * c.figure:.1f}" for c in self.ceilings)
        return f"Accuracy by window and flavor: {said}{more}; numbers in the table below"


def calibration_table(rows: Sequence[Row]) -> CalibrationTable:
    """Lay out the report on one question and one family."""
    chosen = next((row for row in rows if row["kind"] == CHOSEN), {})
    candidates = [row for row in rows if row["kind"] == CANDIDATE]
    ceilings = [
        Ceiling(
            key,
            name,
            HOW[key],
            chosen[key],
            chosen[f"{key}_low"],
            chosen[f"{key}_high"],
            chosen[f"{key}_n"],
        )
        for key, name in CEILINGS.items()
        if chosen.get(key) is not None
    ]
    return CalibrationTable(
        chosen,
        [(row["title"], row) for row in candidates if row.get("accuracy") is not None],
        [(row["title"], row) for row in candidates if row.get("accuracy") is None],
        ceilings,
    )
