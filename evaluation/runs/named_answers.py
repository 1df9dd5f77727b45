"""Which answers the address of a page of scores names: those that a figure is made of."""

import re
from collections.abc import Callable, Collection, Mapping
from functools import cache
from typing import NamedTuple

from django.db.models import QuerySet
from django.http import QueryDict
from django.utils.module_loading import autodiscover_modules

from evaluation.models import AutoScore
from generation.models import Dataset

SETUP_IDS = re.compile(r"[0-9]{1,18}(,[0-9]{1,18})*")


class AnswerExperiment(NamedTuple):
    """An experiment whose figures are made of some answers alone."""

    title: str
    responses: Callable[[Dataset, Collection[int]], list[int]]  # ids, of a dataset and setups


_registered: dict[str, AnswerExperiment] = {}


def register(key: str, experiment: AnswerExperiment) -> None:
    """Let addresses name an experiment by a key, from the `named_answers` of its room."""
    _registered[key] = experiment


@cache
def _experiments() -> Mapping[str, AnswerExperiment]:
    """Return all experiments by key; what they need is imported when one is first asked for."""
    autodiscover_modules("named_answers")
    return _registered


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
    experiment = _experiments().get(experiment_of(address))
    if not setups or not experiment:
        return NamedAnswers(setups, "", [])
    return NamedAnswers(setups, experiment.title, experiment.responses(dataset, setups))


def experiment_of(address: QueryDict) -> str:
    """Return the experiment, by its key, that an address names; "": none that has a report."""
    key = address.get("experiment", "")
    return key if key in _experiments() else ""
