"""Studies to set up: a small dataset and plans for it."""

from pathlib import Path
from typing import Any

from accounts.access import Role
from accounts.models import User
from annotation.models import Study
from annotation.schemes import built_in_schemes
from annotation.services.studies import create_study, open_study
from annotation.study_plan import StudyPlan
from generation.models import Dataset, Setup
from tests.conftest import person
from tests.makers import example_row, import_rows, response_row


def make_dataset(folder: Path, n_examples: int = 4, name: str = "mills") -> Dataset:
    """Make examples with one golden passage; setups a and b answer with it, c without it."""
    keys = [f"e{number}" for number in range(1, n_examples + 1)]
    import_rows(
        folder / name,
        name,
        examples=[example_row(key) for key in keys],
        responses=[
            response_row(f"{key}-{setup}", key, setup=f"model-{setup}", evidence_shown=shown)
            for key in keys
            for setup, shown in (("a", [f"p-{key}"]), ("b", [f"p-{key}"]), ("c", []))
        ],
    )
    return Dataset.objects.get(name=name)


def setups_named(dataset: Dataset, *names: str) -> list[Setup]:
    return list(dataset.setups.filter(name__in=names))


def plan_for(dataset: Dataset, *setups: str, **more: Any) -> StudyPlan:
    """Return an AIS plan for these setups (model-a and model-b unless others are named)."""
    chosen = setups_named(dataset, *(setups or ("model-a", "model-b")))
    plan = StudyPlan("Mills", dataset, built_in_schemes()["AIS"], chosen)
    return plan._replace(**more)


def make_study(
    dataset: Dataset,
    by: User,
    raters: list[User] | None = None,
    *,
    text: str = "Text.\n",
    **more: Any,
) -> Study:
    """Make a planned study."""
    return create_study(plan_for(dataset, **more), text, raters or [], by)


def make_open_study(dataset: Dataset, by: User, raters: list[User], **more: Any) -> Study:
    """Make a study and open it."""
    study = make_study(dataset, by, raters, **more)
    open_study(study, by)
    return study


def make_raters(n: int) -> list[User]:
    """Make raters named r1, r2 and so on, with codes R-1, R-2 and so on."""
    raters = []
    for number in range(1, n + 1):
        rater = person(f"r{number}", Role.RATER)
        User.objects.filter(pk=rater.pk).update(rater_code=f"R-{number}")
        rater.refresh_from_db()
        raters.append(rater)
    return raters
