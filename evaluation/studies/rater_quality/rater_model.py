"""The model of raters as a diagnosis: how often each is right, where no truth is known.

No figure of a study is made from the labels of the model.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from evaluation.reports.report import ReportRow, number
from evaluation.statistics.dawid_skene import (
    LEAST_OF_CLASS,
    LEAST_RATERS,
    NoModel,
    YesNoModel,
    yes_no_model,
)
from evaluation.statistics.rater_votes import LEAST
from evaluation.studies.rater_quality.judgements import RaterJudgements

WHY: Mapping[NoModel, str] = {
    NoModel.FEW_ITEMS: f"fewer than {LEAST} responses with two votes or more",
    NoModel.FEW_RATERS: f"fewer than {LEAST_RATERS} raters",
    NoModel.NOT_FOUND: "the estimate did not come to an end",
}
FEW_OF_RATER = f"fewer than {LEAST} responses of this rater"
FEW_OF_CLASS = f"fewer than {LEAST_OF_CLASS} responses with a {{}} by the model"


@dataclass(frozen=True, kw_only=True)
class ModelOfRater(ReportRow):
    """The model of Dawid and Skene about one rater on a yes/no question; None: undefined."""

    sensitivity: float | None = None
    specificity: float | None = None
    n_model: int | None = None  # responses of the rater in the model; None: no yes/no question
    # The same for all raters: responses with a majority, and those with another label by the model.
    n_majorities: int | None = None
    n_against_majority: int | None = None
    model_why: str | None = None  # why a figure is undefined


def models_of_raters(judged: RaterJudgements) -> list[list[ModelOfRater]]:
    """Return the model for each question, and in it for each rater."""
    return [
        list(_of_raters(yes_no_model(judged.votes(place), judged.counted)))
        if question.scale.kind == "yes_no"
        else [ModelOfRater()] * len(judged.raters)
        for place, question in enumerate(judged.scheme.questions)
    ]


def _of_raters(model: YesNoModel) -> Iterator[ModelOfRater]:
    """Yield what a model says about each rater."""
    has_model = model.why is None
    for place, n_model in enumerate(model.n_of_rater.tolist()):
        yield ModelOfRater(
            sensitivity=number(model.sensitivity[place]),
            specificity=number(model.specificity[place]),
            n_model=n_model,
            n_majorities=model.n_majorities if has_model else None,
            n_against_majority=model.n_against_majority if has_model else None,
            model_why=_why(model, place),
        )


def _why(model: YesNoModel, place: int) -> str | None:
    """Return why a figure about a rater is undefined; None if both are defined."""
    if model.why is not None:
        return WHY[model.why]
    if model.n_of_rater[place] < LEAST:
        return FEW_OF_RATER
    figures = {"yes": model.sensitivity[place], "no": model.specificity[place]}
    missing = [answer for answer, figure in figures.items() if np.isnan(figure)]
    return FEW_OF_CLASS.format(" or a ".join(missing)) if missing else None
