"""Studies of sentence-citation pairs: whether sentences say what they cite (KaLMA, 5.4)."""

from collections import defaultdict
from collections.abc import Collection
from typing import Annotated, NamedTuple

from django.db import transaction

from accounts.models import User
from annotation.guidelines import default_guideline
from annotation.models import Arm, Study
from annotation.schemes import built_in_schemes
from annotation.services.studies import StudyError, create_study
from annotation.study_plan import StudyPlan
from generation.choices.declaration import Choice
from generation.limits import LARGEST_SEED, MOST_SAMPLED
from generation.models import Dataset, Setup
from generation.text.prompt_types import lacks_knowledge

SCHEME = "ALIGNMENT"
N_RATERS = 2


class PairDraw(NamedTuple):
    """The choice of the pairs to rate. The defaults are those of the paper."""

    n_pairs: Annotated[
        int,
        Choice(
            "Pairs of each model",
            help="How many pairs of each model are rated. A pair is one sentence with one of its "
            "citations. If a model has fewer pairs, all are rated.",
            low=1,
            high=MOST_SAMPLED,
        ),
    ] = 100
    seed: Annotated[
        int,
        Choice(
            "Seed of the draw",
            help="A larger draw with the same seed contains the smaller one.",
            low=0,
            high=LARGEST_SEED,
        ),
    ] = 13


USUAL_DRAW = PairDraw()


@transaction.atomic
def request_alignment_study(
    dataset: Dataset,
    name: str,
    models: Collection[str] = (),
    raters: Collection[User] = (),
    user: User | None = None,
    *,
    draw: PairDraw = USUAL_DRAW,
) -> Study:
    """Return the planned study of pairs of each model; make it if it does not exist.

    The responses of one model under all its setups are one pool, without ablations. Raters may be
    added later, before or after the study opens. A second call with the same name and the same
    choices makes nothing.

    Args:
        models: names of models, as in `models_of`; empty: all of them.

    Raises:
        StudyError: a model is unknown, or another study has this name.
    """
    there = models_of(dataset)
    if unknown := sorted(set(models) - there.keys()):
        known = ", ".join(sorted(there)) or "none yet"
        raise StudyError(
            f"There are no responses of {', '.join(unknown)}. There are responses of: {known}."
        )
    chosen = [setup for model in models or there for setup in there[model]]
    scheme = built_in_schemes()[SCHEME]
    same = Study.objects.filter(name=name, dataset=dataset).first()
    if (
        same
        and (same.scheme, same.n_sampled, same.seed) == (scheme, draw.n_pairs, draw.seed)
        and set(same.setups.all()) == set(chosen)
    ):
        return same
    plan = StudyPlan(
        name,
        dataset,
        scheme,
        chosen,
        arms=(Arm.Kind.SEPARATE,),
        raters_per_unit=N_RATERS,
        seed=draw.seed,
        n_sampled=draw.n_pairs,
    )
    return create_study(plan, default_guideline(SCHEME), raters, user)


def models_of(dataset: Dataset) -> dict[str, list[Setup]]:
    """Return the setups whose responses may be sampled, by model, in the order of their names.

    Setups that were shown less than whole graphs are left out: they have their own experiments. A
    setup without a model is listed under its own name.
    """
    found: dict[str, list[Setup]] = defaultdict(list)
    setups = dataset.setups.answered()
    for setup in sorted(setups, key=lambda setup: (setup.model or setup.name, setup.name)):
        if not lacks_knowledge(setup.prompt):
            found[setup.model or setup.name].append(setup)
    return dict(found)
