"""Studies that are open for rating, made by the services that researchers use."""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from django.contrib.auth.models import Group

from accounts.access import Role
from accounts.models import User
from annotation.models import Assignment, Rater, Study
from annotation.schemes import Scheme, built_in_schemes, load_scheme
from annotation.services.claiming import claim_next_unit
from annotation.services.rating import JudgedTarget, SubmitOutcome, submit_votes
from annotation.services.studies import create_study, open_study
from annotation.study_plan import StudyPlan
from annotation.voting import with_implied
from generation.models import Dataset
from tests.makers import example_row, import_rows, response_row, statements


def researcher() -> User:
    user, _ = User.objects.get_or_create(username="who-plans")
    user.groups.add(Group.objects.get_or_create(name=Role.RESEARCHER)[0])
    return user


def rater_users(n: int) -> list[User]:
    """Return n accounts that may rate: rater-1, rater-2 and so on."""
    group, _ = Group.objects.get_or_create(name=Role.RATER)
    users = []
    for number in range(1, n + 1):
        user, _ = User.objects.get_or_create(username=f"rater-{number}")
        user.groups.add(group)
        users.append(user)
    return users


def material(
    folder: Path, *, n_examples: int = 2, setups: Sequence[str] = ("cool", "warm"), **rows: Any
) -> Dataset:
    """Import n examples with one passage each, and a response of every setup that was shown it."""
    keys = [f"e{number}" for number in range(1, n_examples + 1)]
    outcome = import_rows(
        folder,
        folder.name,
        **{
            "examples": [example_row(key) for key in keys],
            "responses": [
                response_row(f"{key}-{setup}", key, setup=setup, evidence_shown=[f"p-{key}"])
                for key in keys
                for setup in setups
            ],
        }
        | rows,
    )
    assert outcome.dataset is not None
    return outcome.dataset


def planned(
    dataset: Dataset,
    *,
    scheme: str | Mapping[str, Any] = "AIS",
    raters: int | Collection[User] = 5,
    name: str = "Pilot",
    **plan: Any,
) -> Study:
    """Plan a study of all setups of a dataset, for these raters or for this number of raters."""
    data = built_in_schemes()[scheme] if isinstance(scheme, str) else scheme
    users = rater_users(raters) if isinstance(raters, int) else raters
    setups = list(dataset.setups.all())
    return create_study(
        StudyPlan(name, dataset, data, setups, **plan), "Read, then judge.", users, researcher()
    )


def opened(dataset: Dataset, **plan: Any) -> Study:
    """Plan and open a study. The arguments are those of `planned`."""
    study = planned(dataset, **plan)
    open_study(study, researcher())
    return study


def raters_of(study: Study) -> list[Rater]:
    """Return a study's raters by username: rater-1 first."""
    return list(study.raters.select_related("study", "user").order_by("user__pk"))


def claimed(rater: Rater) -> Assignment:
    """Claim a rater's next unit; there must be one."""
    assignment = claim_next_unit(rater)
    assert assignment is not None
    return assignment


def yes_where_possible(scheme: Scheme) -> dict[str, int]:
    """Return the answer to each question that is in favour of a response."""
    return {q.key: q.scale.values[0 if q.better == "no" else -1] for q in scheme.questions}


def judged(
    rater: Rater, assignment: Assignment, answers: Mapping[str, int] | None = None
) -> list[JudgedTarget]:
    """Return the same answers for every target of a unit; without answers, all in its favour."""
    scheme = load_scheme(rater.study.scheme)
    judgement = with_implied(scheme, answers or yes_where_possible(scheme))
    targets = assignment.unit.targets.values_list("pk", flat=True)
    return [
        JudgedTarget(target, position, judgement.answers)
        for position, target in enumerate(targets, start=1)
    ]


def rate(
    rater: Rater, assignment: Assignment, answers: Mapping[str, int] | None = None
) -> SubmitOutcome:
    """Submit a unit. The arguments are those of `judged`."""
    return submit_votes(assignment.unit, rater, judged(rater, assignment, answers), 10.0)


def rate_next(rater: Rater, answers: Mapping[str, int] | None = None) -> Assignment | None:
    """Claim the next unit, submit it and return it; return None when no unit is left."""
    assignment = claim_next_unit(rater)
    if assignment:
        rate(rater, assignment, answers)
    return assignment


def n_statements(action: Callable[[], object]) -> int:
    """Return how many statements an action takes, without those that begin or end a transaction."""
    framing = ("SAVEPOINT", "RELEASE", "BEGIN", "COMMIT")
    return len([sql for sql in statements(action) if not sql.startswith(framing)])


def rate_all(study: Study) -> None:
    """Let every rater rate in turn until no unit is left for any rater."""
    raters = raters_of(study)
    while [rater for rater in raters if rate_next(rater)]:
        pass
