"""Reviews and beats at the same moment."""

from functools import partial

import pytest

from accounts.models import AuditEntry
from annotation.models import Participant
from annotation.services.submissions import approve_submissions
from annotation.tasks import follow_visits
from tests.annotation.crowd import at_once
from tests.annotation.joining.test_platform import platform_of
from tests.annotation.makers import material, opened, researcher
from tests.annotation.payments.conftest import comes, finished

pytestmark = pytest.mark.both


@pytest.mark.both(transaction=True)
def test_two_beats_do_no_harm(prolific, tmp_path):
    platform = platform_of(opened(material(tmp_path), scheme="SSA", raters=0), most_per_group=9)
    for n in range(4):
        comes(platform, f"person-{n}", prolific)
        prolific.put(f"person-{n}-visit", f"person-{n}-id", status="RETURNED")

    at_once(*[partial(follow_visits)] * 3)

    ended = Participant.objects.values_list("submission", "outcome")
    assert list(ended) == [("RETURNED", "returned")] * 4


@pytest.mark.both(transaction=True)
def test_two_researchers_at_once_make_one_review(prolific, tmp_path):
    platform = platform_of(opened(material(tmp_path), scheme="SSA", raters=0))
    person = finished(platform, "kim", prolific)
    by = researcher()

    done = at_once(*[partial(approve_submissions, platform, [person.rater_id], by)] * 3)

    assert sorted(done) == [0, 0, 1]
    assert AuditEntry.objects.filter(action="study.submissions-approved").count() == 1
