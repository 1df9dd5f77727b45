"""The plan of a study: its units, its raters and their hours. Services write what is read here."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from heapq import nsmallest
from itertools import permutations
from typing import NamedTuple

from django.db.models import QuerySet

from annotation.models import Arm, GoldAnswer, Rater, Study, UnitTarget
from annotation.ordering import drawn_names, random_key, share_is_drawn
from annotation.rateable_responses import (
    MOST_IN_A_UNIT,
    RateableResponse,
    candidates_of,
    dialog_lengths,
    evidence_shown,
    passage_lengths,
    with_same_evidence,
)
from annotation.rating_hours import RatingPace
from annotation.schemes import Scheme, load_scheme
from generation.models import (
    Citation,
    Example,
    Response,
)

NO_DIALOG = "responses to examples without a dialog"
NO_CITATION = "responses without a complete citation"
NO_SENTENCE = "complete citations that are in no sentence, so there is no pair to rate"
NO_PARTNER = "responses whose evidence no other response of the example has: not merged"
TOO_MANY = f"responses beyond the {MOST_IN_A_UNIT} that a merged unit can show"

TargetIds = tuple[int, int | None]  # ids of a response and of a citation


class PlannedUnit(NamedTuple):
    """A unit to be made. `name` consists of keys, so that it is the same on every machine."""

    arm: str
    example: int
    name: str
    targets: tuple[TargetIds, ...]  # in the fixed order of responses
    passages: tuple[int, ...]
    group: int
    is_always_full: bool
    is_gold: bool
    n_characters: int  # length of the texts that a rater reads


class UnitPlan(NamedTuple):
    """The units that a study still lacks, and the number of responses left out, by reason."""

    units: list[PlannedUnit]
    n_examples: int
    n_responses: int
    left_out: dict[str, int]


class GroupNeed(NamedTuple):
    """The raters of a group: how many there are, and how many it takes to fill every slot."""

    group: int
    n_there: int
    n_needed: int

    @property
    def n_missing(self) -> int:
        return max(0, self.n_needed - self.n_there)


def plan_units(study: Study) -> UnitPlan:
    """Return the units that a study still lacks. Before it opens, these are all units.

    Units that exist do not change. A response that comes later is merged with others that are new
    as well, or stays out of the merged arm.
    """
    scheme = load_scheme(study.scheme)
    arms = [arm.kind for arm in study.arms.all()]
    keys = sampled(study)
    left_out: Counter[str] = Counter()
    dialogs = dialog_lengths(study.dataset_id)
    responses = responses_of(study)
    to_qualify = set(study.qualification_items.values_list("response", flat=True))
    candidates = candidates_of(responses, keys, left_out, to_qualify)
    for example in candidates.keys() - dialogs.keys():
        left_out[NO_DIALOG] += len(candidates.pop(example))
    evidence = evidence_shown(responses, study.evidence_choice, scheme, candidates, left_out)
    targets = _targets(study, scheme, candidates, left_out)
    planned, gold = _planned(study), _gold(study)
    asked = _asked(study, scheme, targets, planned, gold)
    lengths = passage_lengths(study.dataset_id)
    groups = range(study.n_groups)

    def alone(target: TargetIds) -> Iterator[tuple[str, int | None]]:
        """Yield the arms that lack a target, with the group of raters if its answers are known."""
        for arm in arms:
            if arm == Arm.Kind.MERGED or target not in asked or (arm, target) in planned:
                continue
            if target not in gold:
                yield arm, None
            elif arm == Arm.Kind.SEPARATE:
                yield from ((arm, group) for group in groups)

    def unit(
        arm: str,
        example: int,
        shown: Sequence[tuple[RateableResponse, TargetIds]],
        gold_for: int | None = None,
    ) -> PlannedUnit:
        of_unit = evidence[shown[0][0].pk]
        names = [f"{r.key}\x1f{targets[r.pk].index(target)}" for r, target in shown]
        return PlannedUnit(
            arm=arm,
            example=example,
            name="\x1f".join([arm, keys[example], *names]),
            targets=tuple(target for _, target in shown),
            passages=of_unit.passages,
            group=group_of(study, arms, keys[example], arm) if gold_for is None else gold_for,
            is_always_full=share_is_drawn(study.seed, keys[example], "full", study.full_share),
            is_gold=gold_for is not None,
            n_characters=dialogs[example]
            + of_unit.n_characters(lengths)
            + sum(response.n_characters for response, _ in shown),
        )

    units: list[PlannedUnit] = []
    for example, of_example in candidates.items():
        units += [
            unit(arm, example, [(response, target)], group)
            for response in of_example
            for target in targets[response.pk]
            for arm, group in alone(target)
        ]
        if Arm.Kind.MERGED in arms:
            new = [
                r
                for r in of_example
                if ("merged", (r.pk, None)) not in planned and (r.pk, None) not in gold
            ]
            for together in with_same_evidence(new, evidence):
                left_out[TOO_MANY] += len(together[MOST_IN_A_UNIT:])
                shown = [(response, (response.pk, None)) for response in together[:MOST_IN_A_UNIT]]
                if len(shown) > 1:
                    units.append(unit("merged", example, shown))
                else:
                    left_out[NO_PARTNER] += 1
    rated = [planned_unit for planned_unit in units if not planned_unit.is_gold]
    n_responses = len({response for planned_unit in rated for response, _ in planned_unit.targets})
    n_examples = len({planned_unit.example for planned_unit in rated})
    return UnitPlan(units, n_examples, n_responses, dict(+left_out))


def group_of(study: Study, arms: Collection[str], example: str, arm: str) -> int:
    """Return the group of raters who meet an example in this arm.

    Each arm needs a group of its own, so that no rater meets a response twice. Either each group
    has one arm, or all groups meet all arms with different examples (a crossover design): the seed
    draws, for each example, one of the orders in which arms and groups can be paired.

    If raters may judge a response alone and merged, only the separate arms need different groups.
    The seed draws the group that meets the example in the merged arm.
    """
    in_order = [kind for kind in Arm.Kind.values if kind in arms]
    if study.may_meet_both_arms:
        separate = [kind for kind in in_order if kind != Arm.Kind.MERGED]
        if arm == Arm.Kind.MERGED:
            return random_key(study.seed, "group of merged", example) % max(1, len(separate))
        in_order = separate
    elif study.mixing == Study.Mixing.RATERS:
        return in_order.index(arm)
    orders = list(permutations(range(len(in_order))))
    return orders[random_key(study.seed, "group", example) % len(orders)][in_order.index(arm)]


def rater_needs(study: Study) -> list[GroupNeed]:
    """Return for each group how many raters it has and needs. It needs N, one for each slot."""
    there = Counter(study.raters.filter(Rater.TAKES_PART).values_list("group", flat=True))
    groups = range(study.n_groups)
    return [GroupNeed(group, there[group], study.raters_per_unit or 0) for group in groups]


def estimated_hours(study: Study, plan: UnitPlan, pace: RatingPace) -> dict[str, float]:
    """Return the hours that all raters together need for a plan's units, by arm.

    `pace` is that of the study's scheme on its dataset.
    """
    seconds = {arm.kind: 0.0 for arm in study.arms.all()}
    raters = {need.group: need.n_there for need in rater_needs(study)}
    for unit in plan.units:
        once = pace.seconds(unit.arm, unit.n_characters, len(unit.targets))
        n_slots = raters[unit.group] if unit.is_gold else study.raters_per_unit or 0
        seconds[unit.arm] += once * n_slots
    return {arm: total / 3600 for arm, total in seconds.items()}


# --- what is there to rate ------------------------------------------------------------------


def responses_of(study: Study) -> QuerySet[Response]:
    """Return the responses of a study's setups, also outside its sample.

    Responses to ad-hoc questions are left out.
    """
    return Response.objects.of_benchmark().filter(
        dataset=study.dataset_id, setup__in=study.setups.all()
    )


def sampled(study: Study) -> dict[int, str]:
    """Return the keys of the study's examples by id: all with responses, or those of drawn dialogs.

    Whole dialogs are drawn, because figures treat dialogs as independent. A larger sample with the
    same seed contains the smaller one. A study of citations draws pairs instead, so all its
    examples are returned.
    """
    examples = Example.objects.filter(pk__in=responses_of(study).values("example"))
    rows = list(examples.order_by("key").values_list("pk", "key", "dialog"))
    if study.n_sampled is None or load_scheme(study.scheme).target == "citation":
        return {pk: key for pk, key, _ in rows}
    # A study that opened before dialogs were drawn has a sample of single examples.
    is_of_dialogs = study.state == Study.State.PLANNED or study.n_drawn_from is not None
    names = {pk: dialog if is_of_dialogs else key for pk, key, dialog in rows}
    if study.has_uniform_draw:
        drawn = drawn_names(names.values(), study.seed, study.n_sampled)
    else:
        of_draw = study.drawn_dialogs.filter(is_drawn=True)
        drawn = set(of_draw.values_list("dialog", flat=True))
    return {pk: key for pk, key, _ in rows if names[pk] in drawn}


def dialogs_of(study: Study) -> set[str]:
    """Return the names of the dialogs that a study's sample is drawn from."""
    names = responses_of(study).order_by().values_list("example__dialog", flat=True)
    return set(names.distinct())


def _targets(
    study: Study,
    scheme: Scheme,
    candidates: Mapping[int, list[RateableResponse]],
    left_out: Counter[str],
) -> dict[int, list[TargetIds]]:
    """Return the targets of each response, by its id: the response itself, or its citations."""
    responses = [r.pk for of_example in candidates.values() for r in of_example]
    if scheme.target == "response":
        return {pk: [(pk, None)] for pk in responses}
    targets: dict[int, list[TargetIds]] = {pk: [] for pk in responses}
    citations = Citation.objects.filter(response__in=responses_of(study)).exclude(relation="")
    rows = citations.order_by("response", "number").values_list("pk", "response", "sentence")
    cites = set()
    for pk, response, sentence in rows:
        if response in targets:
            cites.add(response)
            left_out[NO_SENTENCE] += not sentence
            if sentence:
                targets[response].append((response, pk))
    left_out[NO_CITATION] += len(targets.keys() - cites)
    return targets


def _asked(
    study: Study,
    scheme: Scheme,
    targets: Mapping[int, Sequence[TargetIds]],
    planned: Collection[tuple[str, TargetIds]],
    gold: Collection[TargetIds],
) -> set[TargetIds]:
    """Return the targets that are rated: all, or for citations `n_sampled` pairs of each model.

    All setups of a model in the study are one pool, whatever their temperature and seed. Pairs
    are drawn by the keys of their responses and their numbers. So the draw is the same in every
    database, and a larger sample with the same seed contains the smaller one. Planned pairs count
    first, so that a setup that comes later does not give a model more than its share. Gold items
    do not count in the sample.
    """
    every = {target for of_response in targets.values() for target in of_response}
    if study.n_sampled is None or scheme.target == "response":
        return every
    pools: dict[str, list[tuple[bool, int, str, int, TargetIds]]] = defaultdict(list)
    citations = Citation.objects.filter(response__in=responses_of(study)).order_by()
    for pk, number, response, key, model, name in citations.values_list(
        "pk",
        "number",
        "response",
        "response__key",
        "response__setup__model",
        "response__setup__name",
    ):
        target = (response, pk)
        if target in every and target not in gold:
            order = random_key(study.seed, "pair", key, number)
            is_new = ("separate", target) not in planned
            pools[model or name].append((is_new, order, key, number, target))
    drawn = {row[-1] for pool in pools.values() for row in nsmallest(study.n_sampled, pool)}
    return drawn | (every & set(gold))


def _planned(study: Study) -> set[tuple[str, TargetIds]]:
    """Return the arm and target of everything that is planned already."""
    places = UnitTarget.objects.filter(unit__arm__study=study)
    rows = places.values_list("unit__arm__kind", "target__response", "target__citation")
    return {(arm, (response, citation)) for arm, response, citation in rows.iterator()}


def _gold(study: Study) -> set[TargetIds]:
    """Return the targets with known answers. All raters get them alone; no figure has them."""
    rows = GoldAnswer.objects.filter(study=study).values_list(
        "target__response", "target__citation"
    )
    return set(rows)
