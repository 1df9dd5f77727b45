"""The main metrics of a dataset: the runs that people pin for the two sides of the trade-off."""

from collections.abc import Mapping

from django.db import IntegrityError, transaction

from accounts.models import User
from evaluation.models import MetricRun
from evaluation.runs.main_metrics import SIDES, pinnable_runs
from evaluation.runs.names import run_said
from generation.models import Dataset
from generation.services.datasets import describe_dataset


class PinError(Exception):
    """A run that cannot be pinned. The message gives the reason."""


def pin_main_metrics(dataset: Dataset, runs: Mapping[str, MetricRun | None], user: User) -> None:
    """Pin a run as the main metric of a side, or of both sides.

    Args:
        dataset: the dataset of the runs.
        runs: the run of each side by the side's name; None takes the pin away. A side that is not
            named keeps its pin.
        user: the person who pins.

    Raises:
        PinError: a run gives no labels to the dataset's responses, or one run is pinned for both
            sides.
    """
    there = pinnable_runs(dataset)
    if wrong := [run for run in runs.values() if run and run not in there]:
        raise PinError(f"{run_said(wrong[0])} gives no labels to the responses of {dataset.name}.")
    pins = {side.pin: runs[side.name] for side in SIDES if side.name in runs}
    try:
        with transaction.atomic():
            said = {pin: run_said(run) if run else "" for pin, run in pins.items()}
            describe_dataset(dataset, said, user)
    except IntegrityError as error:  # the database lets no run stand for both sides
        raise PinError("One run cannot be the main metric of both sides.") from error
