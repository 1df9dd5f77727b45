"""The pages of rater quality: all raters of a study, and one of them."""

from functools import partial

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Rater
from annotation.services.study_raters import set_excluded
from evaluation.studies.figures.rater_quality import course_chart
from evaluation.studies.rater_quality.one_rater import work_beside_others
from tests.annotation.makers import material, opened, rate_next, raters_of
from tests.makers import rated, statements
from tests.shown import shown

pytestmark = pytest.mark.once

# Three raters agree on 10 yes and 10 no; the fourth says yes to all.
ALWAYS_YES = {f"r{n:02}": {"q": ["yes"] * 4 if n < 10 else ["no"] * 3 + ["yes"]} for n in range(20)}
MOST_STATEMENTS = 15


@pytest.fixture
def study(tmp_path):
    return rated(tmp_path, ALWAYS_YES)


def of_study(study):
    return reverse("evaluation:rater-quality", args=[study.slug])


def of_rater(study, code):
    return reverse(
        "evaluation:rater-of-study", args=[study.slug, Rater.objects.get(study=study, code=code).pk]
    )


def codes_in_order(page):
    return [row[0].split()[0] for row in page.table("Raters beside the others").rows]


def test_who_stands_out_is_first_with_figures_beside_the_others(study, researcher):
    page = shown(researcher.get(of_study(study)))

    assert "1 of 4 raters stands out" in page.headings
    assert "Everybody is compared with 3 raters" in page.text
    first, second, *_ = page.table("Raters beside the others").rows
    # w4 agrees on the 10 responses to which the others say yes: 10 of 20. Its answers are 100 %
    # yes, theirs 50 %.
    assert first[0].startswith("w4")
    assert "says yes more often" in first[1]
    assert first[2] == "20"
    assert first[3].startswith("50 ")
    assert first[4] == "100.0 / 50.0"
    assert second[0].startswith("w1")
    assert second[1] == "no"
    assert second[4] == "50.0 / 50.0"


def test_one_rater_has_reasons_and_each_answer_that_differs(study, researcher):
    page = shown(researcher.get(of_rater(study, "w4")))

    assert page.headings[0] == "w4"
    [said] = page.messages
    assert said.startswith("w4 stands out.")
    assert "the answer is yes in 100 % of 20 responses" in said
    assert page.facts["Responses"] == "20"
    assert page.facts["Agreement, %"] == "50"
    assert page.table("Answers of w4 beside the others").rows[0][:1] == ["1 Q"]
    differ = page.table("Answers that differ").rows
    assert len(differ) == 10
    assert differ[0] == ["r10", "Q", "yes", "no 3"]
    assert page.links["r10"].startswith("/data/")


def test_of_a_rater_who_agrees_nothing_differs(study, researcher):
    page = shown(researcher.get(of_rater(study, "w1")))

    # w4 is out of the comparison: the others are w2 and w3, who agree.
    assert "Every answer that can be compared is the majority’s." in page.text
    assert not page.messages or "stands out" not in page.messages[0]


def test_excluding_is_a_click_away_and_shown_with_its_reason(study, researcher, rosa):
    rater = Rater.objects.get(study=study, code="w4")
    exclude = reverse("annotation:exclude-rater", args=[study.slug, rater.pk])
    assert shown(researcher.get(of_rater(study, "w4"))).links["Ignore votes…"] == exclude

    set_excluded(rater, True, "Says yes to all.", rosa)

    page = shown(researcher.get(of_rater(study, "w4")))
    assert page.links["Include…"] == exclude
    assert "Says yes to all." in page.text
    assert "excluded" in page.text
    row = shown(researcher.get(of_study(study))).table("Raters beside the others").rows[0]
    assert "excluded" in row[0]
    assert "says yes more often" in row[1]  # an excluded rater is compared all the same


def test_columns_sort_and_a_second_click_turns_them_round(study, researcher):
    address = of_study(study)

    by_agreement = shown(researcher.get(address, {"sort": "agreement"}))
    turned = shown(researcher.get(address, {"sort": "-agreement"}))
    unknown = shown(researcher.get(address, {"sort": "colour"}))

    assert codes_in_order(by_agreement)[0] == "w4"
    assert codes_in_order(turned)[-1] == "w4"
    assert codes_in_order(unknown) == ["w4", "w1", "w2", "w3"]
    assert by_agreement.links["Agreement, %"] == f"{address}?sort=-agreement"
    assert by_agreement.links["Responses"] == f"{address}?sort=responses"


def test_below_20_responses_nobody_is_judged(tmp_path, researcher):
    study = rated(tmp_path, dict(list(ALWAYS_YES.items())[:19]))

    page = shown(researcher.get(of_study(study)))

    assert "No rater stands out" in page.headings
    rows = page.table("Raters beside the others").rows
    assert {row[1] for row in rows} == {"fewer than 20 responses"}
    assert {row[3] for row in rows} == {"—"}
    one = shown(researcher.get(of_rater(study, "w4")))
    assert one.facts["Agreement, %"] == "—"


def test_without_votes_the_page_says_what_it_will_say(tmp_path, researcher):
    study = rated(tmp_path, {"r1": {"q": ["yes"]}})
    study.arms.get().votes.all().delete()

    of_all = shown(researcher.get(of_study(study)))
    of_one = shown(researcher.get(of_rater(study, "w1")))

    assert "No votes yet" in of_all.text
    assert of_one.facts["Responses"] == "0"
    assert of_one.facts["Median time"] == "—"


def test_the_course_has_blocks_in_the_order_of_the_work(tmp_path, researcher):
    # The first 20 votes of w4 are those of the others, the next 20 are not: 4 blocks of 10 units.
    votes = {
        f"r{n:02}": {"q": [answer] * 3 + [answer if n < 20 else other]}
        for n in range(40)
        for answer, other in [("yes", "no") if n % 2 else ("no", "yes")]
    }
    at = [
        {"response": key, "rater": "w4", "question": "q", "answer": by["q"].pop(), "at": 1000 + n}
        for n, (key, by) in enumerate(votes.items())
    ]
    study = rated(tmp_path, votes, more_votes=at)
    rater = Rater.objects.get(study=study, code="w4")

    course = work_beside_others(study, rater, frozenset({"w1", "w2", "w3"})).course

    assert [(block.first, block.last) for block in course] == [
        (1, 10),
        (11, 20),
        (21, 30),
        (31, 40),
    ]
    assert [block.agreement.value for block in course] == [1, 1, 0, 0]
    chart = course_chart(course)
    assert chart is not None
    assert "21–30" in str(chart)
    assert course_chart(course[:1]) is None
    assert 'data-chart="course"' in researcher.get(of_rater(study, "w4")).text


def test_statements_do_not_grow_with_raters(tmp_path, researcher):
    def asked(n_raters):
        """Return how many statements the two pages take, each twice."""
        votes = {f"r{n:02}": {"q": ["yes"] * n_raters} for n in range(20)}
        study = rated(tmp_path / str(n_raters), votes, name=f"of {n_raters}")
        addresses = [of_study(study)] * 2 + [of_rater(study, "w2")] * 2
        return [len(statements(partial(researcher.get, address))) for address in addresses]

    few, many = asked(3), asked(200)

    assert few == many
    assert many[1] <= MOST_STATEMENTS  # when the figures are known


def test_a_study_of_200_raters_that_is_rated_here_takes_15_statements(tmp_path, researcher):
    study = opened(material(tmp_path, n_examples=2), scheme="SSA", raters=200)
    for rater in raters_of(study)[:3]:
        rate_next(rater)
    researcher.get(of_study(study))

    assert len(statements(partial(researcher.get, of_study(study)))) <= MOST_STATEMENTS


def test_a_rater_of_another_study_is_not_found(study, tmp_path, researcher):
    other = rated(tmp_path / "other", {"r1": {"q": ["yes"]}}, name="other")
    stranger = Rater.objects.get(study=other)

    answer = researcher.get(reverse("evaluation:rater-of-study", args=[study.slug, stranger.pk]))

    assert answer.status_code == 404


def test_raters_and_strangers_do_not_see_rater_quality(study, rachel, client_for):
    for address in (of_study(study), of_rater(study, "w4")):
        assert client_for(rachel).get(address).status_code == 403
        assert Client().get(address).status_code == 302
