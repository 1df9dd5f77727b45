"""Questions of raters and answers that arrive at the same moment are stored once."""

import pytest

from annotation.models import Enquiry
from annotation.services.enquiries import EnquiryError, answer_enquiry, ask_researchers
from tests.annotation.crowd import at_once
from tests.annotation.makers import claimed, material, opened, raters_of

pytestmark = pytest.mark.both(transaction=True)


def test_of_clicks_at_the_same_time_one_question_is_stored(tmp_path):
    study = opened(material(tmp_path / "m"), raters=6)
    rater = raters_of(study)[0]
    unit = claimed(rater).unit

    at_once(*[lambda: ask_researchers(unit, rater, "Does it count?")] * 8)

    assert Enquiry.objects.count() == 1


def test_of_answers_at_the_same_time_one_is_stored(tmp_path, rosa, adam):
    study = opened(material(tmp_path / "m"), raters=6)
    rater = raters_of(study)[0]
    ask_researchers(claimed(rater).unit, rater, "Does it count?")

    def answer(by, text):
        enquiry = Enquiry.objects.select_related("rater__study").get()
        try:
            return answer_enquiry(enquiry, text, by, is_for_all=True)
        except EnquiryError:
            return "refused"

    outcomes = at_once(lambda: answer(rosa, "Yes."), lambda: answer(adam, "No."))

    assert sorted(map(str, outcomes)) == ["True", "refused"]
    assert study.guidelines.count() == 2
