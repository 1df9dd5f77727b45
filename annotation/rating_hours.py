"""The estimated time of rating: to read what a unit shows, and to answer its questions.

This module only reads.
"""

from collections import Counter
from collections.abc import Mapping

from django.db.models import Count, QuerySet, Sum
from django.db.models.functions import Length

from annotation.models import Study, Unit, UnitPassage, UnitTarget
from annotation.schemes import load_scheme
from generation.evidence import graphs_of
from generation.models import Response

# People read English non-fiction silently at 238 words a minute (Brysbaert 2019); a word has 6
# characters.
CHARACTERS_PER_SECOND = 238 * 6 / 60
SECONDS_PER_ANSWER = 4.0  # our assumption


def seconds_per_judgement(n_characters: int, n_answers: int) -> float:
    """Return the estimated seconds that one rater needs for a unit.

    Args:
        n_characters: the length of dialog, evidence and responses, each of them read once.
        n_answers: the number of questions, over all responses of the unit.
    """
    return n_characters / CHARACTERS_PER_SECOND + SECONDS_PER_ANSWER * n_answers


def hours_of_judgements(study: Study, units: QuerySet[Unit], n_of_unit: Mapping[int, int]) -> float:
    """Return the estimated hours of judgements of units that exist, as a plan estimates them.

    This takes eight statements at most.

    Args:
        units: units of the study.
        n_of_unit: unit id → number of judgements.
    """
    units = units.order_by()
    n_characters: Counter[int] = Counter()
    n_characters.update(
        dict(units.values_list("pk").annotate(n=Sum(Length("example__turns__text"))))
    )
    passages = UnitPassage.objects.filter(unit__in=units).order_by().values_list("unit")
    n_characters.update(dict(passages.annotate(n=Sum(Length("passage__text")))))
    n_targets: dict[int, int] = {}
    places = UnitTarget.objects.filter(unit__in=units).order_by()
    lengths = places.values_list("unit").annotate(
        n=Count("pk"), n_characters=Sum(Length("target__response__text"))
    )
    for unit, n, length in lengths:
        n_targets[unit] = n
        n_characters[unit] += length
    n_characters.update(_graph_lengths(study, places))
    n_questions = len(study.scheme["questions"])
    seconds = (
        n * seconds_per_judgement(n_characters[unit], n_questions * n_targets[unit])
        for unit, n in n_of_unit.items()
    )
    return sum(seconds) / 3600


def _graph_lengths(study: Study, places: QuerySet[UnitTarget]) -> dict[int, int]:
    """Return the length of the graph that each unit shows: that of its first response."""
    if load_scheme(study.scheme).evidence == "none":
        return {}
    first = list(places.filter(place=0).values_list("unit", "target__response"))
    responses = Response.objects.filter(pk__in=places.filter(place=0).values("target__response"))
    of_response = {
        pk: sum(len(relation) + len(value) for _, relation, value in frozenset(graph))
        for pk, graph in graphs_of(responses, study.evidence_choice)
    }
    return {unit: of_response[response] for unit, response in first}
