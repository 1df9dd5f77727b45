"""People who join a study at the same moment."""

from functools import partial
from uuid import uuid4

import pytest

from annotation.origins import Origin
from annotation.services.joining import Newcomer, join_study
from annotation.services.studies import StudyError
from tests.annotation.crowd import at_once
from tests.annotation.joining.test_study_link import link_of
from tests.annotation.makers import material, opened

pytestmark = pytest.mark.both


@pytest.mark.both(transaction=True)
def test_ten_people_at_once_get_the_four_places(tmp_path):
    study = opened(material(tmp_path), scheme="SSA", raters=0, arms=["separate", "merged"])
    link = link_of(study)

    def come():
        try:
            return join_study(link, uuid4()).rater.group
        except StudyError:
            return None

    groups = at_once(*[partial(come)] * 10)

    assert sorted(group for group in groups if group is not None) == [0, 0, 1, 1]


@pytest.mark.both(transaction=True)
def test_a_form_that_arrives_twice_at_once_makes_one_rater(tmp_path):
    study = opened(material(tmp_path), scheme="SSA", raters=0)
    link, key, person = link_of(study), uuid4(), Newcomer(origin=Origin("their browser"))

    one, other = at_once(*[partial(join_study, link, key, person)] * 2)

    assert one.rater == other.rater
    assert study.raters.count() == 1
