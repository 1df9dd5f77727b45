"""The answers behind a figure, which the address of a page of scores names."""

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
    """An experiment whose figures use only some answers."""

    title: str
    responses: Callable[[Dataset, Collection[int]], list[int]]  # dataset and setups → response ids


_registered: dict[str, AnswerExperiment] = {}


def register(key: str, experiment: AnswerExperiment) -> None:
    """Let addresses name an experiment by a key. Modules called `named_answers` call this."""
    _registered[key] = experiment


@cache
def _experiments() -> Mapping[str, AnswerExperiment]:
    """Return all experiments by key. The first call imports the modules that register them."""
    autodiscover_modules("named_answers")
    return _registered


class NamedAnswers(NamedTuple):
    """The answers of some setups that the figures of an experiment use."""

    setups: dict[int, str]  # id → name; empty: all answers are listed
    experiment: str  # the experiment's title; "": all answers of the setups
    responses: list[int]  # ids of responses, if an experiment is named; else empty

    def of(self, scores: QuerySet[AutoScore]) -> QuerySet[AutoScore]:
        """Return the scores of these answers."""
        if self.experiment:
            return scores.filter(target__response__in=self.responses)
        if self.setups:
            return scores.filter(target__response__setup__in=self.setups)
        return scores


def named_answers(dataset: Dataset, address: QueryDict) -> NamedAnswers:
    """Read an address such as 'setup=12,13&experiment=removal'. Unknown names are ignored."""
    text = address.get("setup", "")
    ids = [int(part) for part in text.split(",")] if SETUP_IDS.fullmatch(text) else []
    found = dataset.setups.filter(pk__in=ids) if ids else dataset.setups.none()
    setups = dict(found.order_by("name").values_list("pk", "name"))
    experiment = _experiments().get(experiment_of(address))
    if not setups or not experiment:
        return NamedAnswers(setups, "", [])
    return NamedAnswers(setups, experiment.title, experiment.responses(dataset, setups))


def experiment_of(address: QueryDict) -> str:
    """Return the key of the experiment that an address names; "": it names no known one."""
    key = address.get("experiment", "")
    return key if key in _experiments() else ""
