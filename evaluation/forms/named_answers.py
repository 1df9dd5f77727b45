"""Which answers the address of a page of scores names: those that a figure is made of."""

import re
from typing import NamedTuple

from django.db.models import QuerySet
from django.http import QueryDict

from evaluation.kg_experiments.registry import EXPERIMENTS
from evaluation.models import AutoScore
from evaluation.reports.experiments.behind import answers_of_experiment
from evaluation.reports.kg_experiments import EXPERIMENT_REPORTS
from generation.models import Dataset

SETUP_IDS = re.compile(r"[0-9]{1,18}(,[0-9]{1,18})*")


class NamedAnswers(NamedTuple):
    """The answers under some setups that the figures of an experiment are made of."""

    setups: dict[int, str]  # id → name; none: all answers are listed
    experiment: str  # its title; "": all answers under the setups
    responses: list[int]  # by id, where an experiment is named

    def of(self, scores: QuerySet[AutoScore]) -> QuerySet[AutoScore]:
        """Return the scores of these answers."""
        if self.experiment:
            return scores.filter(target__response__in=self.responses)
        if self.setups:
            return scores.filter(target__response__setup__in=self.setups)
        return scores


def named_answers(dataset: Dataset, address: QueryDict) -> NamedAnswers:
    """Read 'setup=12,13&experiment=removal'; names that there are not name nothing."""
    text = address.get("setup", "")
    ids = [int(part) for part in text.split(",")] if SETUP_IDS.fullmatch(text) else []
    found = dataset.setups.filter(pk__in=ids) if ids else dataset.setups.none()
    setups = dict(found.order_by("name").values_list("pk", "name"))
    key = experiment_of(address)
    if not setups or not key:
        return NamedAnswers(setups, "", [])
    responses = answers_of_experiment(dataset, key).of_setups(setups).responses.tolist()
    return NamedAnswers(setups, EXPERIMENTS[key].title, responses)


def experiment_of(address: QueryDict) -> str:
    """Return the experiment, by its key, that an address names; "": none that has a report."""
    key = address.get("experiment", "")
    return key if key in EXPERIMENT_REPORTS else ""
