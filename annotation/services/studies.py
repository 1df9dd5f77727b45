"""Writes of researchers: they plan, open, extend and close studies, and add raters."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from django.db import transaction

from accounts.models import User
from accounts.services import record, set_archived
from annotation.models import Arm, DrawnDialog, Guideline, Rater, Study, Target
from annotation.ordering import random_key
from annotation.planning import UnitPlan, dialogs_of, plan_units, rater_needs, responses_of
from annotation.schemes import YES_NO, Scheme, SchemeError, load_scheme
from annotation.services.study_lock import lock_alone
from annotation.services.units import (
    give_gold_a_slot_per_rater,
    store_known_answers,
    store_plan,
)
from annotation.services.vote_consequences import give_back_units
from annotation.stranded_slots import stranded
from annotation.study_plan import StudyPlan
from generation.models import Setup
from generation.services.citations import store_cited_facts
from generation.services.datasets import first_free, free_slug


class StudyError(ValueError):
    """A change to a study that is refused. Pages can show the message."""


def scheme_to_rate_by(data: Mapping[str, Any]) -> Scheme:
    """Return a scheme that people can rate by.

    Raises:
        StudyError: the scheme is wrong, or lacks what raters need. The message says what.
    """
    try:
        scheme = load_scheme(data)
    except SchemeError as error:
        raise StudyError(str(error)) from error
    for question in scheme.questions:
        if not question.help or not question.examples:
            raise StudyError(
                f"Question {question.key!r} has no help or no examples. Add both, because raters "
                "need them."
            )
        if question.after and question.scale != YES_NO:
            raise StudyError(
                f"Question {question.key!r} comes after a gate, which implies a no when it is "
                "closed. Make its answers yes and no."
            )
    return scheme


@transaction.atomic
def create_study(
    plan: StudyPlan, guideline: str, raters: Collection[User], by: User | None
) -> Study:
    """Make a planned study with its arms, its first guideline and its raters.

    Raises:
        StudyError: the name is taken, or choices do not fit together.
    """
    _check(plan)
    if Study.objects.filter(name=plan.name).exists():
        raise StudyError(f"There is already a study named {plan.name!r}. Choose another name.")
    study = Study(slug=free_slug(Study, plan.name), **_columns(plan))
    study.save()
    _set_material(study, plan)
    Guideline.objects.create(study=study, version=1, text=guideline)
    record(by, "study.created", study.name)
    add_raters(study, raters, by)
    return study


@transaction.atomic
def change_study(study: Study, plan: StudyPlan, by: User | None) -> None:
    """Change a study that has not been opened yet.

    Raises:
        StudyError: the study was opened, the name is taken, or choices do not fit together.
    """
    _check(plan)
    lock_study(study, Study.State.PLANNED)
    if Study.objects.filter(name=plan.name).exclude(pk=study.pk).exists():
        raise StudyError(f"There is already a study named {plan.name!r}. Choose another name.")
    if plan.scheme != study.scheme or Arm.Kind.SEPARATE not in plan.arms:
        store_known_answers(study, {}, 0, None)  # they no longer fit the questions or arms
    if (plan.n_sampled, plan.seed) != (study.n_sampled, study.seed):
        forget_draw(study)  # other dialogs are noticed when the study opens
    for name, value in _columns(plan).items():
        setattr(study, name, value)
    study.save()
    study.arms.exclude(kind__in=plan.arms).delete()
    _set_material(study, plan)
    deal_into_groups(study)
    record(by, "study.changed", study.name)


def forget_draw(study: Study) -> None:
    """Draw the dialogs of a study uniformly again. The caller saves the study."""
    study.draw, study.drawn_by = Study.Draw.UNIFORM, ""
    study.drawn_dialogs.all().delete()


@transaction.atomic
def store_draw(
    study: Study,
    draw: str,
    drawn_by: str,
    probabilities: Mapping[str, float],
    drawn: Collection[str],
    by: User | None,
) -> None:
    """Store which dialogs a planned study rates, and with which probability each could be drawn.

    Args:
        study: a planned study of responses with a sample.
        draw: `Study.Draw.STRATIFIED` or `Study.Draw.ACTIVE`.
        drawn_by: the metric run whose scores made the draw, the same in every database.
        probabilities: those of all dialogs that the sample can be drawn from, by name.
        drawn: the names of the dialogs that were drawn.
        by: who asked for it.

    Raises:
        StudyError: the study is not planned any more, or its dialogs or sample are others by now.
    """
    lock_study(study, Study.State.PLANNED)
    if dialogs_of(study) != set(probabilities) or len(drawn) != study.n_sampled:
        raise StudyError("The dialogs of the study or its sample have changed. Draw again.")
    forget_draw(study)
    study.draw, study.drawn_by = draw, drawn_by
    study.save(update_fields=["draw", "drawn_by"])
    DrawnDialog.objects.bulk_create(
        DrawnDialog(study=study, dialog=name, probability=each, is_drawn=name in drawn)
        for name, each in probabilities.items()
    )
    record(by, "study.drawn", study.name, draw=draw, run=drawn_by)


@transaction.atomic
def draw_uniformly(study: Study, by: User | None) -> None:
    """Let the seed draw the dialogs of a planned study again, each with the same probability.

    Raises:
        StudyError: the study is not planned any more.
    """
    lock_study(study, Study.State.PLANNED)
    forget_draw(study)
    study.save(update_fields=["draw", "drawn_by"])
    record(by, "study.drawn", study.name, draw=study.draw)


def deal_into_groups(study: Study) -> None:
    """Divide the raters of a planned study among its groups again, in turn."""
    raters = list(study.raters.order_by("pk"))
    for place, rater in enumerate(raters):
        rater.group = place % study.n_groups
    Rater.objects.bulk_update(raters, ["group"])


def _check(plan: StudyPlan) -> None:
    scheme = scheme_to_rate_by(plan.scheme)
    if not plan.setups:
        raise StudyError(
            "No setup is chosen. Choose at least one, because responses of setups are rated."
        )
    if not plan.arms:
        raise StudyError("No arm is chosen. Choose at least one arm.")
    if Arm.Kind.SEPARATE_2 in plan.arms and Arm.Kind.SEPARATE not in plan.arms:
        raise StudyError(
            "The second separate arm repeats the separate arm with other raters. Choose the "
            "separate arm too."
        )
    if set(plan.arms) != {Arm.Kind.SEPARATE} and scheme.target == "citation":
        raise StudyError("Citations are rated one by one. Choose only the separate arm.")
    if plan.raters_per_unit % 2 == 0 and scheme.target == "response":
        raise StudyError(
            f"Found {plan.raters_per_unit} raters per unit; expected an odd number, so that there "
            "is always a majority."
        )


def _columns(plan: StudyPlan) -> dict[str, Any]:
    return {name: value for name, value in plan._asdict().items() if name not in ("setups", "arms")}


def _set_material(study: Study, plan: StudyPlan) -> None:
    """Set setups and arms. If citations are rated, also store what the responses cite."""
    study.setups.set(plan.setups)
    there = set(study.arms.values_list("kind", flat=True))
    Arm.objects.bulk_create(Arm(study=study, kind=kind) for kind in plan.arms if kind not in there)
    _read_citations(study)


def _sampled_what(study: Study) -> str:
    is_of_pairs = load_scheme(study.scheme).target == "citation"
    return "pairs of each model" if is_of_pairs else "dialogs"


def _read_citations(study: Study) -> None:
    if load_scheme(study.scheme).target == "citation":
        store_cited_facts(list(responses_of(study).values_list("pk", flat=True)))


def free_study_name(usual: str) -> str:
    """Return a name that no study has yet: the usual one, or with a number. It takes one query."""
    taken = set(Study.objects.filter(name__startswith=usual).values_list("name", flat=True))
    return first_free(usual, taken, " ")


def lock_study(study: Study, *states: str, beside_raters: bool = False) -> None:
    """Lock a study's row and read it again, so that no caller works with old values.

    Claims, submits, skips and flags come before what the caller does, or after it (see
    `study_lock`).

    Args:
        beside_raters: whether raters go on meanwhile, and only other researchers wait. It is for
            what takes long and changes nothing that a submit reads.

    Raises:
        StudyError: the study is in none of these states.
    """
    study.refresh_from_db(from_queryset=Study.objects.select_for_update(no_key=beside_raters))
    if not beside_raters:
        lock_alone(study.pk)
    if study.state not in states:
        raise StudyError(
            f"This is not possible, because {study.name} is now "
            f"{study.get_state_display().lower()}."
        )


# --- opening, growing, closing --------------------------------------------------------------


@transaction.atomic
def open_study(study: Study, by: User | None) -> None:
    """Make a planned study's units and slots, and open it.

    Raises:
        StudyError: the study is not planned any more or is archived, there is nothing to rate, or
            a gold item cannot be shown.
    """
    lock_study(study, Study.State.PLANNED)
    if study.is_archived:
        raise StudyError(f"{study.name} is archived. Restore it before you open it.")
    scheme_to_rate_by(study.scheme)
    if not study.has_uniform_draw and dialogs_of(study) != set(
        study.drawn_dialogs.values_list("dialog", flat=True)
    ):
        raise StudyError(
            "Other dialogs have responses than when the sample was drawn by a metric's scores. "
            "Draw again."
        )
    _note_draw(study)
    n_units = store_plan(study)
    if not n_units:
        raise StudyError("There is nothing to rate, because no response of this plan can be shown.")
    n_gold_units = Target.objects.filter(units__arm__study=study, units__is_gold=True)
    if n_gold_units.distinct().count() != study.n_gold_units:
        raise StudyError(
            f"The study has {study.n_gold_units} known answers (gold items), but only "
            f"{n_gold_units.distinct().count()} of them can be shown in this plan. Set them again."
        )
    _set_state(study, Study.State.OPEN)
    record(by, "study.opened", study.name, n_units=n_units)


@transaction.atomic
def extend_study(
    study: Study, by: User | None, *, setups: Collection[Setup] = (), n_sampled: int | None = None
) -> int:
    """Add setups, or examples up to a larger sample, to a running study; return how many new units.

    Units for what is new in the study's dataset are added in any case.

    Raises:
        StudyError: the study is not running, or the sample would shrink.
    """
    _grow(study, setups, n_sampled)
    n_units = store_plan(study)
    record(by, "study.extended", study.name, n_units=n_units, setups=[s.name for s in setups])
    return n_units


def plan_extension(
    study: Study, *, setups: Collection[Setup] = (), n_sampled: int | None = None
) -> UnitPlan:
    """Return what `extend_study` would add; nothing is stored.

    Raises:
        StudyError: as `extend_study`.
    """
    was_sampled, was_drawn_from = study.n_sampled, study.n_drawn_from
    with transaction.atomic():
        _grow(study, setups, n_sampled)
        plan = plan_units(study)
        transaction.set_rollback(True)
    study.n_sampled, study.n_drawn_from = was_sampled, was_drawn_from
    return plan


def _grow(study: Study, setups: Collection[Setup], n_sampled: int | None) -> None:
    lock_study(study, Study.State.OPEN, Study.State.PAUSED, beside_raters=True)
    if n_sampled is not None:
        if study.n_sampled is not None and n_sampled < study.n_sampled:
            raise StudyError(
                f"The sample has {study.n_sampled} {_sampled_what(study)}. It cannot become "
                "smaller."
            )
        if not study.has_uniform_draw and n_sampled != study.n_sampled:
            raise StudyError(
                "The sample was drawn by a metric's scores, with a probability for each dialog, so "
                "it cannot grow. Plan another study."
            )
        study.n_sampled = n_sampled
        study.save(update_fields=["n_sampled"])
    study.setups.add(*setups)
    _read_citations(study)
    if study.n_drawn_from is not None and study.has_uniform_draw:
        _note_draw(study)


def _note_draw(study: Study) -> None:
    """Store how many dialogs the sample is drawn from, so that its probability is known."""
    if study.n_sampled is not None and load_scheme(study.scheme).target == "response":
        study.n_drawn_from = len(dialogs_of(study))
        study.save(update_fields=["n_drawn_from"])


@transaction.atomic
def pause_study(study: Study, by: User | None) -> None:
    """Hand out no further units. Raters may finish the units that they have begun."""
    lock_study(study, Study.State.OPEN)
    _set_state(study, Study.State.PAUSED)
    record(by, "study.paused", study.name)


@transaction.atomic
def resume_study(study: Study, by: User | None) -> None:
    """Open a paused study again."""
    lock_study(study, Study.State.PAUSED)
    _set_state(study, Study.State.OPEN)
    record(by, "study.resumed", study.name)


@transaction.atomic
def close_study(study: Study, by: User | None) -> None:
    """End a study. From now on none of its votes changes, and late votes are surplus.

    Units in hand are given back. Their drafts are kept.
    """
    lock_study(study, Study.State.OPEN, Study.State.PAUSED)
    study.assignments.in_hand().give_back()
    _set_state(study, Study.State.CLOSED)
    record(by, "study.closed", study.name)


@transaction.atomic
def archive_study(study: Study, is_archived: bool, by: User | None) -> None:
    """Put a study into the archive, or take it out.

    Raises:
        StudyError: raters work on the study, so it cannot be archived.
    """
    study.refresh_from_db(from_queryset=Study.objects.select_for_update())
    if is_archived and study.is_running:
        raise StudyError(
            f"{study.name} is {study.get_state_display().lower()}. Close it before you archive it."
        )
    if done := set_archived(study, is_archived):
        record(by, f"study.{done}", study.name)


def _set_state(study: Study, state: str) -> None:
    study.state = state
    study.save(update_fields=["state"])


# --- raters and guidelines ------------------------------------------------------------------


@transaction.atomic
def add_raters(study: Study, users: Iterable[User], by: User | None) -> int:
    """Let these people rate in a study; return how many are new.

    Each joins the group with the fewest raters. A group counts as smaller by the raters whom it
    needs for slots that none of its own may take.

    Raises:
        StudyError: the study is closed.
    """
    lock_study(study, Study.State.PLANNED, Study.State.OPEN, Study.State.PAUSED)
    there = set(study.raters.values_list("user", flat=True))
    needed = stranded(study).needed
    sizes = {need.group: need.n_there - needed.get(need.group, 0) for need in rater_needs(study)}
    new = [user for user in users if user.pk not in there]
    raters = []
    for user in sorted(new, key=lambda user: random_key(study.seed, "rater", user.rater_code)):
        group = min(sizes, key=lambda group: (sizes[group], group))
        sizes[group] += 1
        raters.append(Rater(study=study, user=user, code=user.rater_code, group=group))
    Rater.objects.bulk_create(raters)
    give_gold_a_slot_per_rater(study)
    if raters:
        record(by, "study.raters-added", study.name, raters=[rater.code for rater in raters])
    return len(raters)


@transaction.atomic
def release_units(rater: Rater, by: User | None) -> int:
    """Give back the slot that a rater has in hand; return how many slots. Their draft is kept."""
    lock_study(rater.study, *Study.State.values)
    n_released = give_back_units(rater)
    if n_released:
        record(by, "study.units-released", rater.study.name, rater=rater.code)
    return n_released


@transaction.atomic
def write_guideline(
    study: Study, text: str, by: User | None, *, based_on: int | None = None
) -> Guideline:
    """Store a text as a new version, unless it is that of the newest one; return the newest.

    Args:
        based_on: the version that the text was edited from; None: whichever is the newest.

    Raises:
        StudyError: the study is closed, or another version was saved meanwhile.
    """
    lock_study(study, Study.State.PLANNED, Study.State.OPEN, Study.State.PAUSED)
    newest = study.guidelines.order_by("-version").first()
    if newest and based_on not in (None, newest.version):
        raise StudyError(f"Version {newest.version} was saved while you wrote.")
    if newest and newest.text == text:
        return newest
    version = newest.version + 1 if newest else 1
    record(by, "study.guideline-written", study.name, version=version)
    return Guideline.objects.create(study=study, version=version, text=text)
