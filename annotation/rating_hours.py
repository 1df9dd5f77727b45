"""The estimated time of rating. All pages, reports and commands that say hours say these.

Where raters were timed with the same questions, it is the median of what they took. Elsewhere it is
the time to read what a unit shows, and to answer its questions.

This module only reads.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from statistics import median
from typing import Any, NamedTuple

from django.db.models import Count, QuerySet, Sum
from django.db.models.functions import Length

from annotation.models import Arm, Study, Unit, UnitPassage, UnitTarget, Vote
from annotation.schemes import built_in_schemes, load_scheme
from generation.evidence import graphs_of
from generation.models import Response

# People read English non-fiction silently at 238 words a minute (Brysbaert 2019); a word has 6
# characters.
CHARACTERS_PER_SECOND = 238 * 6 / 60
SECONDS_PER_ANSWER = 4.0  # our assumption
LEAST_TIMED = 20  # judgements that a median needs
NEWEST_VOTES = 50_000  # votes that medians are made from, at most


class MeasuredTime(NamedTuple):
    """The median seconds that a judgement of one response took."""

    seconds: float
    n_judgements: int
    is_of_dataset: bool  # False: on other datasets, with the same built-in scheme


class RatingPace(NamedTuple):
    """The pace of people who rate with the questions of a scheme, measured or else estimated.

    Responses that are shown alone and those that are shown together have a time each.
    """

    scheme: str  # its key
    n_questions: int
    alone: MeasuredTime | None
    merged: MeasuredTime | None

    def measured(self, arm: str) -> MeasuredTime | None:
        """Return the measured time in an arm; None if too few judgements were timed."""
        return self.merged if arm == Arm.Kind.MERGED else self.alone

    def seconds(self, arm: str, n_characters: float, n_responses: int) -> float:
        """Return the seconds that one rater needs for a unit.

        Args:
            arm: the kind of arm.
            n_characters: the length of dialog, evidence and responses, each of them read once.
            n_responses: the responses, or citations, of the unit.
        """
        if measured := self.measured(arm):
            return measured.seconds * n_responses
        n_answers = self.n_questions * n_responses
        return n_characters / CHARACTERS_PER_SECOND + SECONDS_PER_ANSWER * n_answers

    def source(self, arms: Collection[str]) -> str:
        """Return in words where the times in some arms come from."""
        said = {arm: self.source_in(arm) for arm in arms}
        if len({*said.values()}) == 1:
            return next(iter(said.values()))
        return "; ".join(f"{Arm.Kind(arm).label.lower()}: {each}" for arm, each in said.items())

    def source_in(self, arm: str) -> str:
        """Return in words where the time in an arm comes from."""
        if measured := self.measured(arm):
            where = "on this dataset" if measured.is_of_dataset else "on other datasets"
            return (
                f"the median of {measured.n_judgements:,} judgements with {self.scheme} {where}, "
                f"{measured.seconds:.3g} s for a response"
            )
        answers = f"each of {self.n_questions:,} answers" if self.n_questions > 1 else "the answer"
        return f"reading at 238 words a minute and {SECONDS_PER_ANSWER:g} s for {answers}"


def pace_with(dataset: int, scheme: Mapping[str, Any]) -> RatingPace:
    """Return how fast people rate a dataset with a scheme, in at most three statements.

    Judgements on the dataset count first, and then those on others with the same built-in scheme.
    Those of excluded and of simulated raters do not count.

    Args:
        dataset: its id.
        scheme: the scheme as data.
    """
    key = scheme["key"]
    arms: dict[bool, dict[int, bool]] = {True: {}, False: {}}  # is of dataset → arm → is merged
    rows = Arm.objects.filter(study__scheme__key=key).values_list("pk", "kind", "study__dataset")
    for arm, kind, of in rows:
        arms[of == dataset][arm] = kind == Arm.Kind.MERGED
    found = _medians(arms[True], is_of_dataset=True)
    if len(found) < 2 and built_in_schemes().get(key) == scheme:
        found = _medians(arms[False], is_of_dataset=False) | found
    return RatingPace(key, len(scheme["questions"]), found.get(False), found.get(True))


def pace_of(study: Study) -> RatingPace:
    """Return how fast people rate the dataset of a study with its scheme."""
    return pace_with(study.dataset_id, study.scheme)


def _medians(arms: Mapping[int, bool], *, is_of_dataset: bool) -> dict[bool, MeasuredTime]:
    """Return the median times of judgements alone (False) and merged (True), if enough are timed.

    A judgement is what a rater said about one response in one arm. Its time is the longest one
    among its votes.
    """
    if not arms:
        return {}
    votes = Vote.objects.filter(
        arm__in=arms,
        seconds__isnull=False,
        is_surplus=False,
        rater__is_excluded=False,
        rater__is_simulated=False,
    )
    rows = votes.order_by("-pk").values_list("arm", "target", "rater", "seconds")[:NEWEST_VOTES]
    longest: dict[tuple[int, int, int], float] = {}
    for arm, target, rater, seconds in rows:
        judgement = (arm, target, rater)
        longest[judgement] = max(seconds or 0.0, longest.get(judgement, 0.0))
    times: dict[bool, list[float]] = defaultdict(list)
    for (arm, _, _), seconds in longest.items():
        times[arms[arm]].append(seconds)
    return {
        is_merged: MeasuredTime(median(found), len(found), is_of_dataset)
        for is_merged, found in times.items()
        if len(found) >= LEAST_TIMED
    }


def hours_of_judgements(study: Study, units: QuerySet[Unit], n_of_unit: Mapping[int, int]) -> float:
    """Return the estimated hours of judgements of units that exist, as a plan estimates them.

    This takes eleven statements at most.

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
    pace, arms = pace_of(study), dict(units.values_list("pk", "arm__kind"))
    seconds = (
        n * pace.seconds(arms[unit], n_characters[unit], n_targets[unit])
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
