"""The check that the probabilities of an imported study are those of its dialogs."""

from annotation.models import Study, Vote
from annotation.study_file import PROBABILITIES
from evaluation.votes.dialog_probabilities import probabilities_of
from generation.importers.errors import DatasetError, quotation


def check_drawn_dialogs(study: Study) -> None:
    """Check that each dialog with a probability is there, and that each rated dialog has one.

    A rated dialog without a probability would be counted and yet have no weight. The checks of
    study.json cannot know the dialogs, so this one comes after all rows are stored. There are two
    queries, and none if all dialogs had the same probability.

    Raises:
        DatasetError: a name is that of no dialog, or a rated dialog has no probability.
    """
    probabilities = probabilities_of(study)
    if probabilities is None:
        return
    dialogs = study.dataset.examples.order_by().values_list("dialog", flat=True).distinct()
    if unknown := probabilities.keys() - set(dialogs):
        raise DatasetError(
            f"study.json, {PROBABILITIES}",
            f"{quotation(min(unknown))}, which is no dialog of the dataset",
            "the names of the drawn dialogs",
        )
    votes = Vote.objects.filter(arm__study=study).order_by()
    rated = votes.values_list("target__response__example__dialog", flat=True).distinct()
    if lacking := set(rated) - probabilities.keys():
        raise DatasetError(
            f"study.json, {PROBABILITIES}",
            f"no probability of {quotation(min(lacking))}, a dialog with votes",
            "one for each rated dialog",
        )
