"""Writes of imports: studies, raters, targets, votes and flags from a file.

Most `store_…` functions take one batch of records that were checked already, skip the rows that the
study has, and return how many are new. Each takes a fixed number of statements.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from django.db.models import Q

from annotation.models import Arm, Flag, Guideline, Rater, Study, Target, Vote
from annotation.schemes import Scheme
from annotation.study_file import StudyFacts
from generation.models import Dataset, Response, Setup
from generation.records import FlagRecord, RaterRecord, VoteRecord
from generation.services.datasets import free_slug
from generation.services.responses import store_citations

TargetKey = tuple[str, int | None]  # response key, citation number


def create_imported_study(
    name: str, dataset: Dataset, scheme: Mapping[str, Any], facts: StudyFacts
) -> Study:
    """Make the closed study that imported votes belong to."""
    study = Study.objects.create(
        name=name,
        slug=free_slug(Study, name),
        dataset=dataset,
        scheme=scheme,
        state=Study.State.CLOSED,
        is_imported=True,
        raters_per_unit=facts.raters_per_unit,
        evidence_choice=facts.evidence_choice,
        text_format=facts.text_format,
        seed=facts.seed,
        stops_when_decided=facts.stops_when_decided,
        full_share=facts.full_share,
        settings=facts.further,
    )
    Guideline.objects.bulk_create(
        Guideline(study=study, version=version, text=text) for version, text in facts.guidelines
    )
    return study


def leave_out_implied(study: Study) -> None:
    """Note that a study has only the votes of its files, so that no later import adds noes."""
    if not study.is_without_implied:
        study.settings = study.settings | {"without_implied": True}
        study.save(update_fields=["settings"])


def targets_of(dataset: Dataset, wanted: Collection[TargetKey]) -> dict[TargetKey, int]:
    """Make the targets that are missing; return the id of each by (response key, citation)."""
    citations = store_citations(dataset, {(key, n) for key, n in wanted if n is not None})
    responses = dict(
        dataset.responses.filter(key__in={key for key, _ in wanted}).values_list("key", "pk")
    )

    def ids(key: TargetKey) -> tuple[int, int | None]:
        response, number = key
        return responses[response], None if number is None else citations[response, number]

    known = Target.objects.filter(
        Q(response__in=responses.values(), citation=None) | Q(citation__in=citations.values())
    )
    found: dict[tuple[int, int | None], int] = {
        (response, citation): pk
        for response, citation, pk in known.values_list("response", "citation", "pk")
    }
    missing = {ids(key) for key in wanted} - set(found)
    new = Target.objects.bulk_create(
        (Target(response_id=response, citation_id=citation) for response, citation in missing),
        batch_size=2000,
    )
    found |= {(target.response_id, target.citation_id): target.pk for target in new}
    return {key: found[ids(key)] for key in wanted}


def _arms(study: Study, kinds: Collection[str]) -> dict[str, int]:
    """Make the arms that are missing; return the id of each by its kind."""
    known = dict(study.arms.values_list("kind", "pk"))
    missing = sorted(set(kinds) - set(known))
    new = Arm.objects.bulk_create(Arm(study=study, kind=kind) for kind in missing)
    return known | {arm.kind: arm.pk for arm in new}


def _raters(study: Study, codes: Collection[str]) -> dict[str, int]:
    """Make the raters that are missing; return the id of each by its code."""
    known = dict(study.raters.filter(code__in=codes).values_list("code", "pk"))
    missing = sorted(set(codes) - set(known))
    new = Rater.objects.bulk_create(Rater(study=study, code=code) for code in missing)
    return known | {rater.code: rater.pk for rater in new}


def store_raters(study: Study, records: Sequence[RaterRecord]) -> int:
    """Store facts about raters, also about existing ones; return how many raters are new.

    A fact that the file does not have stays as it is.
    """
    codes = [record.rater for record in records]
    known = {rater.code: rater for rater in study.raters.filter(code__in=codes)}
    Rater.objects.bulk_create(
        (_rater_with_facts(study, known.get(record.rater), record) for record in records),
        update_conflicts=True,
        unique_fields=["study", "code"],
        update_fields=RATER_FACTS,
    )
    return len(set(codes) - set(known))


RATER_FACTS = ("is_excluded", "is_simulated", "gold_score", "excluded_reason")


def _rater_with_facts(study: Study, known: Rater | None, record: RaterRecord) -> Rater:
    """Return a rater's row with the facts of the file, and else those that are known."""
    before = {name: getattr(known, name) for name in RATER_FACTS} if known else {}
    return Rater(study=study, code=record.rater, **before | rater_facts(record))


def rater_facts(record: RaterRecord) -> dict[str, Any]:
    """Return the facts that a file has about a rater, by column."""
    facts = {name: getattr(record, name) for name in RATER_FACTS}
    return {name: value for name, value in facts.items() if value is not None}


# The columns that distinguish a repeat of a vote from a change; all of them are exported.
VOTE_CONTENT = ("answer", "is_implied", "position", "seconds", "at")


def store_votes(study: Study, scheme: Scheme, records: Sequence[VoteRecord]) -> int:
    """Store votes that fit the scheme; return how many are new.

    An answer takes the place of a no that was only implied; it is not counted as new.
    """
    arms = _arms(study, {record.arm for record in records})
    raters = _raters(study, {record.rater for record in records})
    targets = targets_of(study.dataset, {(record.response, record.citation) for record in records})
    stored = Vote.objects.filter(arm__in=arms.values(), target__in=targets.values())
    stored = stored.filter(rater__in=raters.values())
    columns = stored.values_list("arm", "target", "question", "rater", "pk", "is_implied")
    known = {row[:4]: row[4:] for row in columns}
    scales = {question.key: question.scale for question in scheme.questions}
    votes = [
        Vote(
            arm_id=arms[record.arm],
            target_id=targets[record.response, record.citation],
            question=record.question,
            rater_id=raters[record.rater],
            answer=scales[record.question].number(record.answer),
            is_implied=record.is_implied,
            position=record.position,
            seconds=record.seconds,
            at=record.at,
            source_id=record.source_id,
        )
        for record in records
    ]
    new: list[Vote] = []
    answered: list[Vote] = []
    for vote in votes:
        pk, was_implied = known.get(
            (vote.arm_id, vote.target_id, vote.question, vote.rater_id), (None, False)
        )
        if pk is None:
            new.append(vote)
        elif was_implied and not vote.is_implied:
            vote.pk = pk
            answered.append(vote)
    Vote.objects.bulk_create(new, batch_size=5000)
    Vote.objects.bulk_update(answered, VOTE_CONTENT, batch_size=500)
    _note_setups(study, {record.response for record in records})
    return len(new)


def store_assumed(study: Study) -> None:
    """Add the setups of responses whose answers the study's file assumes: they have no votes."""
    _note_setups(study, study.assumed_keys or ())


def _note_setups(study: Study, responses: Collection[str]) -> None:
    """Add the setups of these responses to the setups of the study."""
    setups = (
        Response.objects.filter(dataset=study.dataset, key__in=responses)
        .values_list("setup", flat=True)
        .distinct()
    )
    study.setups.add(*Setup.objects.filter(pk__in=setups))


def store_flags(study: Study, records: Sequence[FlagRecord]) -> int:
    """Store flags; return how many are new."""
    arms = _arms(study, {record.arm for record in records})
    raters = _raters(study, {record.rater for record in records})
    responses = dict(
        study.dataset.responses.filter(key__in={r.response for r in records}).values_list(
            "key", "pk"
        )
    )
    known = set(
        Flag.objects.filter(arm__study=study, response__in=responses.values()).values_list(
            "arm", "response", "rater"
        )
    )
    flags = [
        Flag(
            arm_id=arms[record.arm],
            response_id=responses[record.response],
            rater_id=raters[record.rater],
            reason=record.reason,
        )
        for record in records
    ]
    new = [flag for flag in flags if (flag.arm_id, flag.response_id, flag.rater_id) not in known]
    Flag.objects.bulk_create(new)
    _note_setups(study, {record.response for record in records})
    return len(new)
