"""Reviews of submissions: approving, rejecting, and the files of payments."""

import csv
import io
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from accounts.models import AuditEntry
from annotation.forms.payments import RejectForm
from annotation.models import Participant
from annotation.services.studies import close_study
from annotation.services.submissions import approve_submissions, reject_submission
from annotation.tasks import follow_visits
from tests.annotation.joining.test_platform import platform_of
from tests.annotation.makers import material, opened, rate_next
from tests.annotation.payments.conftest import comes, finished
from tests.prolific_server import Fault
from tests.shown import shown

pytestmark = pytest.mark.once
REASON = (
    "You answered yes everywhere, also where no text was shown, as in the first three units. " * 2
)


def review_of(person):
    person.refresh_from_db()
    return person.review


# --- approving ------------------------------------------------------------------------------


def test_one_is_approved_on_a_click(prolific, platform, page, post, rosa):
    kim, lee = finished(platform, "kim", prolific), finished(platform, "lee", prolific)

    answer = post("approve-submissions", one=kim.rater_id)

    assert "The submission is approved." in shown(answer).messages
    assert (prolific.status_of("kim-visit"), prolific.status_of("lee-visit")) == (
        "APPROVED",
        "AWAITING REVIEW",
    )
    assert (review_of(kim), review_of(lee)) == ("approved", "")
    assert (kim.reviewed_by, kim.submission) == (rosa, "APPROVED")
    assert page().table("People").column("Rater") == [lee.rater.code]
    shown_all = page("?show=all").table("People").column("Review")
    assert shown_all[0].startswith("approved")


def test_all_that_are_ticked_are_approved_with_one_request(prolific, platform, post):
    people = [finished(platform, name, prolific) for name in ("ann", "ben", "cem")]
    ticked = [people[0].rater_id, people[2].rater_id]

    answer = post("approve-submissions", rater=ticked)

    assert "2 submissions are approved." in shown(answer).messages
    assert [review_of(person) for person in people] == ["approved", "", "approved"]
    assert [request.path for request in prolific.requests] == ["/api/v1/submissions/bulk-approve/"]
    entry = AuditEntry.objects.get(action="study.submissions-approved")
    codes = sorted([people[0].rater.code, people[2].rater.code])
    assert entry.details == {"raters": ", ".join(codes)}


def test_a_second_approval_changes_nothing(prolific, platform, post):
    person = finished(platform, "kim", prolific)
    post("approve-submissions", one=person.rater_id)
    n_before, at = len(prolific.requests), Participant.objects.get().reviewed_at

    answer = post("approve-submissions", one=person.rater_id)

    assert "Nothing was changed" in shown(answer).messages[0]
    assert len(prolific.requests) == n_before
    assert Participant.objects.get().reviewed_at == at


def test_what_prolific_refuses_is_told_in_its_words_and_not_stored(prolific, platform, post):
    person = finished(platform, "kim", prolific)
    prolific.put("kim-visit", "kim-id", status="RETURNED")

    answer = post("approve-submissions", one=person.rater_id)

    [message] = shown(answer).messages
    assert "Submission cannot be changed: … is RETURNED" in message
    assert "Nothing was approved" in message
    assert review_of(person) == ""


def test_if_prolific_is_silent_nothing_is_stored(prolific, platform, post):
    people = [finished(platform, name, prolific) for name in ("ann", "ben")]
    prolific.is_down = Fault(500)

    post("approve-submissions", rater=[person.rater_id for person in people])

    assert [review_of(person) for person in people] == ["", ""]


def test_who_is_not_approved_after_all_waits_again(prolific, platform, page, post):
    people = [finished(platform, name, prolific) for name in ("ann", "ben")]
    prolific.is_slow_to_approve = True
    post("approve-submissions", rater=[person.rater_id for person in people])
    assert page().headings[-1] == "Nobody waits"

    prolific.put("ann-visit", "ann-id", status="APPROVED")
    Participant.objects.update(reviewed_at=timezone.now() - timedelta(minutes=11))
    follow_visits()

    assert page().table("People").column("Rater") == [people[1].rater.code]


@pytest.mark.parametrize("sent", [{}, {"rater": "x"}, {"one": "9" * 30}])
def test_nobody_ticked_is_said(platform, post, sent):
    finished(platform)

    assert "Nobody was ticked" in shown(post("approve-submissions", **sent)).messages[0]


def test_people_of_another_study_are_not_approved(platform, tmp_path, post):
    other = opened(material(tmp_path / "other"), scheme="SSA", raters=0, name="Other")
    stranger = finished(platform_of(other), "lee")

    post("approve-submissions", one=stranger.rater_id)

    assert review_of(stranger) == ""
    assert post("reject-submission", stranger.rater_id).status_code == 404


def test_a_closed_study_still_pays(platform, post):
    person = finished(platform)
    close_study(platform.link.study, None)

    post("approve-submissions", one=person.rater_id)

    assert review_of(person) == "approved"


# --- rejecting ------------------------------------------------------------------------------


def test_a_rejection_is_shown_once_more_before_it_is_sent(prolific, platform, post, rosa):
    person = finished(platform, "kim", prolific)
    said = {"category": "LOW_EFFORT", "reason": REASON}

    once_more = post("reject-submission", person.rater_id, **said)
    assert review_of(person) == ""
    assert not prolific.messages
    assert shown(once_more).facts["The person reads"] == REASON.strip()
    change = post("reject-submission", person.rater_id, change="yes", **said)
    assert shown(change).fields["reason"].strip() == REASON.strip()
    done = post("reject-submission", person.rater_id, is_confirmed="yes", **said)

    assert done.status_code == 302
    assert prolific.messages == {"kim-visit": REASON.strip()}
    assert review_of(person) == "rejected"
    assert (person.review_category, person.reviewed_by) == ("LOW_EFFORT", rosa)
    assert person.submission == "REJECTED"
    entry = AuditEntry.objects.get(action="study.submissions-rejected")
    assert entry.details == {"raters": person.rater.code, "category": "LOW_EFFORT"}


@pytest.mark.parametrize(
    ("sent", "field", "said"),
    [
        ({"category": "LOW_EFFORT", "reason": "Too bad."}, "reason", "Found 8 characters"),
        ({"category": "LOW_EFFORT", "reason": "ab\r\n" * 33 + "c"}, "reason", "Found 100"),
        ({"category": "LOW_EFFORT", "reason": " " * 200}, "reason", "required"),
        ({"category": "OTHER", "reason": REASON}, "category", "not one of the available"),
        ({"reason": REASON}, "category", "required"),
    ],
)
def test_a_rejection_without_a_reason_is_refused(platform, post, sent, field, said):
    person = finished(platform)
    if "Found 100" in said:  # line ends count once: 33 × 3 + 1 characters are enough
        answer = post("reject-submission", person.rater_id, **sent)
        assert answer.status_code == 200
        return

    answer = post("reject-submission", person.rater_id, is_confirmed="yes", **sent)

    assert answer.status_code == 422
    assert said in shown(answer).errors[field]
    assert review_of(person) == ""


def test_disagreement_is_no_reason_that_is_offered(platform, post):
    person = finished(platform)
    page = shown(post("reject-submission", person.rater_id))
    text = page.text.partition(page.headings[0])[2]

    offered = [each.data["label"].lower() for each in RejectForm()["category"]]
    assert len(offered) == 5
    assert not any(word in " ".join(offered) for word in ("agree", "other raters", "majority"))
    assert "Disagreement with other raters is no reason." in text
    assert "Agreement" not in text


def test_what_prolific_refuses_rejects_nobody(prolific, platform, post):
    person = finished(platform, "kim", prolific)
    prolific.put("kim-visit", "kim-id", status="APPROVED")

    post(
        "reject-submission",
        person.rater_id,
        is_confirmed="yes",
        category="LOW_EFFORT",
        reason=REASON,
    )

    assert review_of(person) == ""


def test_who_was_approved_is_not_rejected(platform):
    person = finished(platform)
    approve_submissions(platform, [person.rater_id], None)

    assert not reject_submission(person, Participant.Reason.LOW_EFFORT, REASON, None)
    assert review_of(person) == "approved"


# --- without a token, and the files -----------------------------------------------------------


def test_without_a_token_reviews_go_into_the_files(server, platform, post, client_for, rosa):
    kim, lee = finished(platform, "kim"), finished(platform, "=lee")
    rate_next(comes(platform, "mia").rater)
    post("approve-submissions", one=kim.rater_id)
    said = {"category": "NO_DATA", "reason": REASON, "is_confirmed": "yes"}
    post("reject-submission", lee.rater_id, **said)
    client, slug = client_for(rosa), [platform.link.study.slug]

    answer = client.get(reverse("annotation:payments-file", args=slug))
    rows = list(csv.DictReader(io.StringIO(answer.getvalue().decode())))
    approved = client.get(reverse("annotation:approved-file", args=slug))

    assert not server.requests
    assert list(rows[0]) == [
        *("person", "session", "rater", "confirmed", "outcome", "code", "units", "minutes"),
        *("review", "category", "reason"),
    ]
    assert [row["person"] for row in rows] == ["kim-id", "'=lee-id", "mia-id"]  # no formula
    assert rows[0] | {"minutes": ""} == {
        "person": "kim-id",
        "session": "kim-visit",
        "rater": kim.rater.code,
        "confirmed": "no",
        "outcome": "done",
        "code": "DONE1234",
        "units": "0",
        "minutes": "",
        "review": "approved",
        "category": "",
        "reason": "",
    }
    assert (rows[1]["review"], rows[1]["category"]) == ("rejected", "NO_DATA")
    assert rows[1]["reason"] == REASON.strip()
    assert (rows[2]["outcome"], rows[2]["units"], rows[2]["minutes"]) == ("", "1", "")
    assert approved.content.decode() == "kim-id"
    for file in (answer, approved):
        assert "attachment" in file["Content-Disposition"]
        assert "no-store" in file["Cache-Control"]


def test_a_study_without_a_platform_has_no_payments(study, client_for, rosa):
    for name in ("payments", "payments-file", "approved-file"):
        answer = client_for(rosa).get(reverse(f"annotation:{name}", args=[study.slug]))
        assert answer.status_code == 404


@pytest.mark.parametrize("name", ["payments", "payments-file", "approved-file"])
def test_raters_see_no_payments(platform, client_for, rachel, name):
    address = reverse(f"annotation:{name}", args=[platform.link.study.slug])

    assert client_for(rachel).get(address).status_code == 403
