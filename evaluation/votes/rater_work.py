"""Facts about raters that are not in their votes: group, qualification, flags, skips, late votes.

A study that is rated here has them in its tables. An export carries them in study.json, so that a
report on raters is the same after an import.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.db.models import Count, prefetch_related_objects

from annotation.models import Flag, Rater, Skip, Study, Vote
from annotation.qualification import scores_of
from annotation.study_progress import group_name

KEY = "work_of_raters"  # in study.json
QUALIFIED, NOT_QUALIFIED, NOT_YET = "yes", "no", "not yet"


class RaterWork(NamedTuple):
    """Facts about one rater. None: not known, or there is no such thing in the study."""

    n_flags: int
    group: str | None = None  # the name of the group
    qualified: str | None = None  # yes, no (below the threshold of gold items), or not yet
    n_skips: int | None = None
    n_surplus: int | None = None  # judgements that came after their slot was gone
    qualification: float | None = None  # share of right answers in the qualification round


def rater_work(study: Study, raters: Sequence[Rater] | None = None) -> dict[str, RaterWork]:
    """Return the facts about each rater of a study by code, in six statements at most.

    Args:
        study: the study.
        raters: all its raters, if they are at hand.
    """
    raters = list(study.raters.all()) if raters is None else raters
    by_rater = Flag.objects.filter(rater__study=study).order_by().values_list("rater")
    flags = dict(by_rater.annotate(n=Count("pk")))
    if study.is_imported:
        said = study.settings.get(KEY)
        return {
            rater.code: _as_the_file_says(said, rater.code, flags.get(rater.pk, 0))
            for rater in raters
        }
    prefetch_related_objects([study], "arms")  # each rater's group is named after an arm
    skipped = Skip.objects.filter(rater__study=study).order_by().values_list("rater")
    skips = dict(skipped.annotate(n=Count("pk")))
    scores = scores_of([rater.pk for rater in raters])
    late = Vote.objects.filter(arm__in=list(study.arms.all()), is_surplus=True).order_by()
    surplus = dict(late.values_list("rater").annotate(n=Count("target", distinct=True)))
    return {
        rater.code: RaterWork(
            n_flags=flags.get(rater.pk, 0),
            group=group_name(study, rater.group) or None,
            qualified=_qualified(study, rater),
            n_skips=skips.get(rater.pk, 0),
            n_surplus=surplus.get(rater.pk, 0),
            qualification=scores.get(rater.pk),
        )
        for rater in raters
    }


def as_json(study: Study) -> dict[str, dict[str, Any]]:
    """Return the facts as study.json has them; what is not known is left out."""
    return {
        code: {name: value for name, value in work._asdict().items() if value is not None}
        for code, work in rater_work(study).items()
    }


def _qualified(study: Study, rater: Rater) -> str | None:
    """Return whether a rater has qualified by gold items, or None if the study asks for none."""
    if not study.n_qualifying and study.gold_threshold is None:
        return None
    rater.study = study  # its threshold then takes no query
    if rater.is_under_threshold:
        return NOT_QUALIFIED
    return QUALIFIED if rater.n_gold >= max(1, study.n_qualifying) else NOT_YET


def _as_the_file_says(said: object, code: str, n_flags: int) -> RaterWork:
    """Return the facts in a study.json. A value of another type is as if it were not there."""
    facts = said.get(code) if isinstance(said, Mapping) else None
    if not isinstance(facts, Mapping):
        return RaterWork(n_flags)
    known = {
        "n_flags": int,
        "group": str,
        "qualified": str,
        "qualification": float,
        "n_skips": int,
        "n_surplus": int,
    }
    right = {name: facts[name] for name, of in known.items() if type(facts.get(name)) is of}
    return RaterWork(**{"n_flags": n_flags, **right})
