"""The form of the choices for a plan: the goal first, and assumptions folded away."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms

from annotation.schemes import load_scheme
from evaluation.studies.reports.assumptions import needed_for
from evaluation.studies.reports.plan import known_values, pilots_of
from evaluation.studies.reports.plan_choices import ASSUMED, GOALS, Goal, PlanChoices
from evaluation.studies.reports.plan_rows import AssumptionRow
from generation.choices.folded_fields import Fold, FoldingForm, Told
from generation.choices.forms import ChoicesForm
from generation.models import Dataset

SHORT = {
    "share": "share {}",
    "correlation": "correlation {}",
    "icc": "ICC {}",
    "metric_correlation": "metric {}",
    "examples": "{} examples per dialog",
    "scored": "{} dialogs scored",
    "seconds": "{} s per response",
}
DETAILS = Fold(
    "Details",
    {
        "level": Told("level {}"),
        "power": Told("power {}"),
        "metric": Told("scores of {}", {"": ""}),
    },
)


class PlanChoicesForm(ChoicesForm[PlanChoices], FoldingForm):
    """The choices in an address. Fields that do not matter for the goal or pilot are left out."""

    def __init__(self, address: Mapping[str, Any], dataset: Dataset) -> None:
        goal = address.get("goal")
        goal = goal if goal in GOALS else Goal.MEAN.value
        known = known_values(dataset)
        self.chosen_pilot = next(
            (s for s in pilots_of(dataset) if s.slug == address.get("pilot")), None
        )
        without = set(ASSUMED) - set(needed_for(goal))
        without |= {"power"} if goal == Goal.MEAN else set()
        without |= {"arm"} if goal == Goal.ARMS else set()
        without |= {"metric"} if goal == Goal.ARMS or len(known["metric"]) == 1 else set()
        if self.chosen_pilot:
            without |= {"scheme"}
            asked = load_scheme(self.chosen_pilot.scheme).keys
            kept = {key: known["question"][key] for key in ("", *asked)}
            known["question"] = kept
        else:
            without |= {"question", "metric"}
        if len(known["pilot"]) == 1:
            without |= {"pilot"}
        self.assumptions: Sequence[AssumptionRow] = ()
        usual = {
            name: value
            for name, value in PlanChoices()._asdict().items()
            if value not in (None, "") and name not in without
        }
        super().__init__(PlanChoices, usual | dict(address.items()), without=without, known=known)

    def tell(self, assumptions: Sequence[AssumptionRow]) -> None:
        """Show in empty fields which values are assumed."""
        self.assumptions = assumptions
        for row in assumptions:
            if row.amount is not None:
                self.fields[row.key].widget.attrs["placeholder"] = f"{row.amount:.4g}"

    @property
    def main_fields(self) -> list[forms.BoundField]:
        """The fields that are not folded away."""
        folded = {name for fold in self.all_folds().values() for name in fold.fields}
        return [field for field in self if field.name not in folded]

    @property
    def has_assumptions(self) -> bool:
        """Whether the address has assumptions of its own."""
        return any(name in self.given for name in ASSUMED)

    def all_folds(self) -> Mapping[str, Fold]:
        """Return the folds: assumptions with the values that the plan is made with, and details."""
        amounts = {row.key: row.amount for row in self.assumptions}
        told = {
            name: Told(SHORT[name], {"": _told(SHORT[name], amounts.get(name))}) for name in ASSUMED
        }
        return {"assumed": Fold("Assumptions", told), "details": DETAILS}


def _told(words: str, amount: float | None) -> str:
    return "" if amount is None else words.replace("{}", f"{amount:.3g}")
