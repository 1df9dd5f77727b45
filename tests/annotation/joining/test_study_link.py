"""A study's link: a researcher makes it, people join by it, and limits hold."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import User
from accounts.services import user_returning
from annotation.models import Rater, StudyLink
from annotation.origins import Origin
from annotation.services.claiming import claim_next_unit
from annotation.services.joining import Newcomer, join_study, stop_link, write_link
from annotation.services.studies import StudyError, close_study, pause_study
from annotation.services.study_raters import take_out_rater
from tests.annotation.makers import (
    material,
    opened,
    planned,
    rate_next,
    rater_users,
    raters_of,
    researcher,
)
from tests.shown import shown

pytestmark = pytest.mark.once


def link_of(study, **limits):
    return write_link(study, researcher(), **{"most_per_group": 2} | limits)


def address(link):
    return reverse("join", args=[link.token])


def join(link, client=None, **said):
    """Join as a browser does: with the key of the form."""
    client = client or Client()
    form = shown(client.get(address(link)))
    return client.post(address(link), {"key": form.fields["key"]} | said)


def code_boxes(answer):
    return [box.text for box in shown(answer).parts("code-box-url")]


@pytest.fixture
def study(db, tmp_path):
    return opened(material(tmp_path), scheme="SSA", raters=0)


# --- people who join --------------------------------------------------------------------------


def test_a_joiner_rates_this_study_and_can_do_nothing_else(study, tmp_path):
    other = opened(material(tmp_path / "other"), scheme="SSA", raters=1, name="Other")
    client = Client()

    answer = join(link_of(study), client)

    [rater] = study.raters.all()
    assert rater.user is not None
    assert answer.status_code == 200
    assert set(rater.user.group_names) == {"rater"}
    assert rater.user.username == rater.code == rater.user.rater_code
    assert study.name in shown(client.get(reverse("annotation:my-studies"))).text
    taken = client.post(reverse("annotation:next-unit", args=[study.slug]))
    assert "/units/" in taken["Location"]
    refused = client.post(reverse("annotation:next-unit", args=[other.slug]))
    assert refused.status_code == 404
    assert client.get(reverse("annotation:studies")).status_code == 403


def test_the_return_code_lets_them_back_in_however_it_is_typed(study):
    answer = join(link_of(study))
    [rater] = study.raters.all()
    [code] = code_boxes(answer)
    elsewhere = Client()

    come_back = elsewhere.post(reverse("accounts:return"), {"code": f" {code.lower()} "})

    assert come_back.status_code == 302
    assert user_returning(code.replace("-", " ")) == rater.user
    assert elsewhere.session["_auth_user_id"] == str(rater.user_id)
    assert code not in User.objects.get(pk=rater.user_id).return_code_hash


@pytest.mark.parametrize("code", ["", "K7P2-9QXM-4TRB", "-", "a" * 41])
def test_a_wrong_return_code_lets_nobody_in(study, code):
    client = Client()
    rater_users(1)  # has no code: an empty one must not find this account

    answer = client.post(reverse("accounts:return"), {"code": code})

    assert answer.status_code == 422
    assert "_auth_user_id" not in client.session


def test_a_form_that_is_sent_twice_makes_one_rater(study):
    link = link_of(study)
    key, person = uuid4(), Newcomer(origin=Origin("their browser"))

    first, second = join_study(link, key, person), join_study(link, key, person)

    assert first.rater == second.rater
    assert study.raters.count() == 1
    assert user_returning(first.return_code) is None  # the second answer is what the person sees
    assert user_returning(second.return_code) == first.rater.user


def test_opening_the_page_stores_nothing(study):
    link = link_of(study)
    before = User.objects.count()

    assert Client().get(address(link)).status_code == 200

    assert User.objects.count() == before
    assert not study.raters.exists()


def test_a_rater_with_an_account_joins_under_it_after_signing_in(study, client_for):
    [user] = rater_users(1)
    client = client_for(user)

    answer = join(link_of(study), client)

    [rater] = study.raters.all()
    assert rater.user == user
    assert code_boxes(answer) == []
    again = client.get(address(study.link))
    assert again["Location"] == reverse("annotation:my-studies")


def test_a_person_who_joined_is_not_offered_for_other_studies(study, client_for, rosa, tmp_path):
    join(link_of(study))
    [rater] = study.raters.all()
    other = planned(material(tmp_path / "other"), raters=0, name="Other")

    page = client_for(rosa).get(reverse("annotation:study-setup", args=[other.slug]))

    assert rater.code not in shown(page).text


# --- who may not ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stop", "said"),
    [
        (lambda link: stop_link(link, True, None), "no longer in use"),
        (lambda link: close_study(link.study, None), "no longer in use"),
        (lambda link: pause_study(link.study, None), "not open now"),
    ],
    ids=["stopped", "closed", "paused"],
)
def test_a_link_that_is_not_in_use_lets_nobody_in(study, stop, said):
    link = link_of(study)
    stop(link)

    answer = Client().post(address(link), {"key": uuid4()})

    assert answer.status_code == 410
    assert said in answer.content.decode()
    assert not study.raters.exists()
    with pytest.raises(StudyError, match=said):
        join_study(link, uuid4())


def test_a_link_ends_with_its_last_day(study):
    today = timezone.now().date()
    link = link_of(study, ends_on=today)
    join_study(link, uuid4())

    StudyLink.objects.update(ends_on=today - timedelta(days=1))

    with pytest.raises(StudyError, match="no longer in use"):
        join_study(link, uuid4())


def test_a_planned_study_lets_nobody_in_but_opens_without_raters(tmp_path, client_for, rosa):
    study = planned(material(tmp_path), scheme="SSA", raters=0)
    link = link_of(study)
    with pytest.raises(StudyError, match="not open now"):
        join_study(link, uuid4())

    answer = client_for(rosa).post(
        reverse("annotation:change-state", args=[study.slug]), {"action": "open"}
    )

    assert answer.status_code == 302
    assert join_study(link, uuid4()).rater.study == study


def test_the_code_of_the_study_is_asked_for(study):
    link = link_of(study, code="Mill river")

    wrong, missing = join(link, code="mill"), join(link)
    right = join(link, code=" mill RIVER ")

    assert wrong.status_code == missing.status_code == 422
    assert "not the study's code" in shown(wrong).errors["code"]
    assert right.status_code == 200
    assert study.raters.count() == 1


def test_a_researcher_tries_the_link_and_nothing_is_stored(study, client_for, rosa):
    client = client_for(rosa)
    trial = f"{address(link_of(study))}?try=yes"
    before = User.objects.count()
    key = shown(client.get(trial)).fields["key"]

    answer = client.post(trial, {"key": key})

    assert "Nothing that you do here is stored" in shown(answer).text
    assert (User.objects.count(), Rater.objects.count()) == (before, 0)


def test_nobody_else_can_try_it(study):
    client = Client()
    link = link_of(study)

    client.post(f"{address(link)}?try=yes", {"key": uuid4()})

    assert study.raters.count() == 1  # they joined, like everybody


def test_an_account_that_may_not_rate_does_not_join(study, client_for, rosa):
    answer = client_for(rosa).post(address(link_of(study)), {"key": uuid4()})

    assert "may not rate" in shown(answer).text
    assert not study.raters.exists()


# --- places and groups ----------------------------------------------------------------------


def test_people_join_the_groups_in_blocks_and_no_more_than_fit(tmp_path):
    study = opened(material(tmp_path), scheme="SSA", raters=0, arms=["separate", "merged"])
    link = link_of(study, most_per_group=3)

    groups = [join_study(link, uuid4()).rater.group for _ in range(6)]

    assert [sorted(groups[n : n + 2]) for n in (0, 2, 4)] == [[0, 1]] * 3
    with pytest.raises(StudyError, match="All places"):
        join_study(link, uuid4())


def test_the_order_in_a_block_follows_from_the_seed(tmp_path):
    dataset = material(tmp_path)
    orders = set()
    for seed in range(6):
        study = opened(
            dataset,
            scheme="SSA",
            raters=0,
            name=f"Seed {seed}",
            seed=seed,
            arms=["separate", "merged"],
        )
        orders.add(join_study(link_of(study), uuid4()).rater.group)

    assert orders == {0, 1}  # one group of two is first under six seeds: 1 in 32


def test_the_place_of_somebody_who_left_is_filled_in_their_group(tmp_path):
    study = opened(material(tmp_path), scheme="SSA", raters=0, arms=["separate", "merged"])
    link = link_of(study)
    raters = [join_study(link, uuid4()).rater for _ in range(4)]
    gone, excluded = raters[0], next(r for r in raters if r.group != raters[0].group)

    take_out_rater(gone, None)
    replacement = join_study(link, uuid4()).rater
    Rater.objects.filter(pk=excluded.pk).update(is_excluded=True)
    other = join_study(link, uuid4()).rater

    assert (replacement.group, other.group) == (gone.group, excluded.group)
    with pytest.raises(StudyError, match="All places"):
        join_study(link, uuid4())


def test_who_comes_back_keeps_their_group(study, client_for):
    [user] = rater_users(1)
    link = link_of(study)
    first = join_study(link, uuid4(), Newcomer(user)).rater
    join_study(link, uuid4())

    again = join_study(link, uuid4(), Newcomer(user)).rater

    assert (again.pk, again.group) == (first.pk, first.group)


# --- what one person may rate ---------------------------------------------------------------


def test_a_person_gets_no_more_units_than_the_study_allows(tmp_path):
    study = opened(material(tmp_path, n_examples=3), scheme="SSA", raters=1)
    link_of(study, most_units=2)
    [rater] = raters_of(study)

    rated = [rate_next(rater) for _ in range(3)]

    assert [bool(unit) for unit in rated] == [True, True, False]
    assert claim_next_unit(rater) is None
