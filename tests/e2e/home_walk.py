"""Home in every state that looks different, for the walk over all pages."""

from collections.abc import Iterator
from pathlib import Path

from django.contrib.auth.models import Group
from django.urls import reverse

from accounts.access import Role
from accounts.models import User
from tests.annotation.makers import material, opened, planned
from tests.evaluation.metric_runs import cancelled, done, failed, mill, requested, work
from tests.generation.grid_runs import failed_in_part, started, valley
from tests.generation.grid_runs import planned as planned_grid
from tests.generation.grid_runs import work as work_on_grid
from tests.makers import import_rows, pilot_rows


def home_pages(folder: Path, user: User) -> Iterator[tuple[str, str]]:
    """Yield name and address of each state, with rows such as workers leave them."""
    home = reverse("home")
    yield "home, empty", home
    import_rows(folder / "first", "first", **pilot_rows())
    yield "home, first steps", home
    dataset = mill(folder, name="busy", n_responses=40)
    done(dataset, user, window=0)
    failed(dataset, str(folder / "nowhere"), user)
    cancelled(dataset, user, flavor="v2")
    work(requested(dataset, user), 1)
    asked = valley(folder, 12)
    failed_in_part(asked)
    work_on_grid(started(asked, name="running " + "mill" * 20, seeds=[1, 2]), 1)
    planned_grid(asked, name="to start", budget=80)
    two = material(folder / "two at home")
    planned(two, name="To open")
    opened(two, name="Going on")
    for role in (Role.RATER, Role.ADMIN):
        user.groups.add(Group.objects.get_or_create(name=role)[0])
    User.objects.create_user("without-role")
    yield "home, busy", home
