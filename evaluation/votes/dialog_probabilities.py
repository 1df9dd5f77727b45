"""The probabilities with which a study drew its dialogs. It only reads, and loads no statistics."""

from collections.abc import Mapping

from annotation.models import Study
from annotation.study_file import PROBABILITIES


def probabilities_of(study: Study) -> Mapping[str, float] | None:
    """Return the probability of each drawn dialog by its name; None: it was the same for all.

    An imported study has them from its file. There is at most one query.
    """
    if study.has_uniform_draw:
        return None
    if study.is_imported:
        from_file: Mapping[str, float] = study.settings[PROBABILITIES]
        return from_file
    drawn = study.drawn_dialogs.filter(is_drawn=True)
    return dict(drawn.order_by("dialog").values_list("dialog", "probability"))
