"""Reminders differ by role, begin with the newest, and go once the thing is settled."""

import pytest

from accounts.access import Role
from accounts.models import User
from annotation.models import Study
from annotation.services.studies import pause_study
from evaluation.home.reminders import SHOWN, reminders
from generation.models import (
    ConstructedDataset,
    Construction,
    ConstructionEntry,
    Example,
    Import,
    Sample,
    SampledExample,
)
from tests.annotation.makers import claimed, material, opened, planned, rate_next, raters_of
from tests.conftest import person
from tests.generation import grid_runs

pytestmark = pytest.mark.once


def waiting(user: User, with_imports: bool = True) -> dict[str, list[str]]:
    """Return the names of what waits for a person, by group."""
    found = reminders(user, with_imports=with_imports)
    return {each.group.key: [one.name for one, _ in each.rows] for each in found}


def test_nothing_waits_on_an_empty_site(rosa):
    assert reminders(rosa, with_imports=True) == []


def test_studies_wait_to_be_opened_and_then_show_their_progress(rosa, tmp_path):
    two = material(tmp_path / "two")
    planned(two, name="To open")
    study = opened(two, name="Going on", raters=5)
    rate_next(raters_of(study)[0])

    groups = {each.group.key: each for each in reminders(rosa, with_imports=True)}

    [(to_open, url)] = groups["planned"].rows
    assert (to_open.name, url) == ("To open", "/studies/to-open/setup/")
    # 2 examples × 2 setups × 5 raters in one arm
    [(going_on, _)] = groups["open"].rows
    assert (going_on.n, going_on.n_total, going_on.percent) == (1, 20, 5)

    pause_study(study, rosa)
    assert waiting(rosa)["open"] == ["Going on"]
    Study.objects.update(state="closed")
    assert waiting(rosa) == {}


def test_checked_files_wait_for_the_person_who_sent_them(rosa, adam):
    Import.objects.create(requested_by=rosa, file_name="mine.csv", name="m", state="checked")
    Import.objects.create(requested_by=adam, file_name="his.csv", name="h", state="checked")
    Import.objects.create(requested_by=rosa, file_name="stored.csv", name="s", state="done")

    assert waiting(rosa) == {"import": ["mine.csv"]}
    assert waiting(rosa, with_imports=False) == {}


def test_planned_grids_wait_to_be_started(rosa, tmp_path):
    valley = grid_runs.valley(tmp_path)
    grid_runs.planned(valley, name="planned")
    grid_runs.done(valley, name="done", temperatures=[0.5])

    assert waiting(rosa) == {"grid": ["planned"]}


def test_a_sample_waits_until_all_its_examples_have_a_verdict(rosa, tmp_path):
    dataset = material(tmp_path / "two")
    sample = Sample.objects.create(dataset=dataset, name="drawn", parameters={}, state="done")
    for position, example in enumerate(Example.objects.filter(dataset=dataset)):
        SampledExample.objects.create(sample=sample, example=example, position=position)
    first = sample.members.filter(position=0)
    first.update(verdict="keep")

    [group] = reminders(rosa, with_imports=True)

    [(one, url)] = group.rows
    assert (one.name, one.n, one.n_total) == ("drawn", 1, 2)
    assert url == f"/data/two/samples/{sample.pk}/"
    sample.members.update(verdict="keep")
    assert waiting(rosa) == {}


def test_constructed_questions_wait_until_they_are_in_a_dataset(rosa, tmp_path):
    construction = Construction.objects.create(name="built", parameters={})
    for number, verdict in enumerate(["keep", "", ""], start=1):
        ConstructionEntry.objects.create(
            construction=construction,
            number=number,
            state="built",
            graphs=[],
            verdict=verdict,
        )

    [group] = reminders(rosa, with_imports=True)

    [(one, _)] = group.rows
    assert (one.n, one.n_total) == (1, 3)
    ConstructedDataset.objects.create(
        construction=construction, dataset=material(tmp_path / "made"), style="complex"
    )
    assert waiting(rosa) == {}


def test_people_without_a_role_wait_for_admins(rosa, adam):
    person("nora")
    gone = person("gone")
    gone.is_active = False
    gone.save()

    assert waiting(adam) == {"user": ["nora"]}
    assert waiting(rosa) == {}


def test_a_unit_that_was_begun_waits_for_its_rater(tmp_path):
    both = person("both", Role.RATER, Role.RESEARCHER)
    study = opened(material(tmp_path / "two"), raters=[both], raters_per_unit=1)
    unit = claimed(raters_of(study)[0])

    groups = {each.group.key: each for each in reminders(both, with_imports=False)}

    [(_, url)] = groups["unit"].rows
    assert url == f"/studies/pilot/units/{unit.unit_id}/"


def test_a_group_shows_the_newest_and_says_that_there_are_more(rosa, tmp_path):
    two = material(tmp_path / "two")
    for number in range(SHOWN + 1):
        planned(two, name=f"Study {number}")

    [group] = reminders(rosa, with_imports=True)

    assert group.is_cut
    assert [one.name for one, _ in group.rows] == ["Study 4", "Study 3", "Study 2", "Study 1"]
