"""The answers in a filled-in form, for any scheme and layout. No database is used."""

import re
from typing import Any

import pytest

from annotation.forms.rating import RatingForm, VoteForm
from annotation.models import Study
from annotation.numbered_questions import (
    asked_questions,
    gates_of,
    impossible_in_words,
)
from annotation.pages.rating_desk import RatingDesk, TargetForm
from annotation.rated_units import RatedUnit, Share, ShownResponse
from annotation.schemes import Scheme, built_in_schemes, load_scheme
from annotation.voting import Answer
from generation.models import Citation

AIS = load_scheme(built_in_schemes()["AIS"])
QUALITY = load_scheme(built_in_schemes()["QUALITY"])
ALL_YES = dict.fromkeys(AIS.keys, "1") | {"evidence_contradicts": "0"}
CHAIN = load_scheme(
    {
        "key": "chain",
        "questions": [
            {"key": "a", "scale": "yes_no"},
            {"key": "b", "scale": "yes_no", "after": ["a"]},
            {"key": "c", "scale": {"ordinal": [1, 4]}, "after": ["b"]},
        ],
    }
)


def shown(position: int = 1, *, flag: str | None = None, text: str = "Rome.") -> ShownResponse:
    return ShownResponse(position, 100 + position, text, None, flag)


def unit(scheme: Scheme = AIS, n: int = 1, **changes: Any) -> RatedUnit:
    """Return a unit of n responses, as a rater has it in hand."""
    plain = RatedUnit(
        study=Study(name="Pilot", slug="pilot", state=Study.State.OPEN),
        scheme=scheme,
        unit=None,  # type: ignore[arg-type]
        arm="separate" if n == 1 else "merged",
        state="open",
        turns=[],
        passages=[],
        responses=[shown(position) for position in range(1, n + 1)],
        answers={},
        seconds=0.0,
        share=Share(1, 0, 10),
    )
    return plain._replace(**changes)


def posted(position: int = 1, **answers: str) -> dict[str, str]:
    """Return all answers in favour of a response but for these, as a browser posts them."""
    return {f"{key}-{position}": answer for key, answer in (ALL_YES | answers).items() if answer}


def ais_form(data: dict[str, str], *, flag: str | None = None) -> VoteForm:
    return VoteForm(AIS, shown(flag=flag), {}, data)


# --- one response ---------------------------------------------------------------------------


def test_all_answers_make_a_judgement():
    form = ais_form(posted())

    assert form.is_valid()
    assert form.judgement.answers["evidence_contradicts"] == Answer(0, is_implied=False)
    assert len(form.judgement.answers) == 7


def test_a_question_without_an_answer_is_an_error_beside_it():
    form = ais_form(posted(relevant=""))

    assert not form.is_valid()
    assert form.errors == {"relevant": ["No answer yet."]}


def test_behind_a_closed_gate_nothing_is_missing_and_nothing_else_counts():
    form = ais_form({"understand-1": "0", "attributable-1": "1"})

    assert form.is_valid()
    assert form.judgement.answers["understand"] == Answer(0, is_implied=False)
    assert form.judgement.answers["attributable"] == Answer(0, is_implied=True)


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        (
            {"evidence_contradicts": "1"},
            "Questions 5 and 7 cannot both be yes. Change one of them.",
        ),
        (
            {"evidence_supports": "0"},
            "Question 6 cannot be no while question 7 is yes. Change one of them.",
        ),
    ],
)
def test_what_cannot_stand_together_is_said_in_words(answers, said):
    form = ais_form(posted(**answers))

    assert not form.is_valid()
    assert form.errors == {"attributable": [said]}
    assert [wrong.text for wrong in TargetForm(form).contradictions if wrong.is_there] == [said]


def test_more_than_two_answers_that_cannot_stand_together_are_listed():
    together = {"understand": 1, "relevant": 0, "attributable": 1}

    said = (
        "These answers exclude each other: question 1 yes, question 2 no, question 7 yes. "
        "Change one of them."
    )
    assert impossible_in_words(AIS, together) == said


def test_a_flagged_response_may_stay_without_answers_or_with_some():
    assert ais_form({}, flag="garbled").is_valid()
    assert ais_form({"understand-1": "1"}, flag="").is_valid()
    assert not ais_form(posted(evidence_contradicts="1"), flag="garbled").is_valid()


@pytest.mark.parametrize("answer", ["2", "-1", "yes", "", "1.0", "٣", "<b>"])
def test_an_answer_that_the_scale_does_not_have_is_none(answer):
    form = ais_form(posted(relevant=answer))

    assert not form.is_valid()
    assert "relevant" not in form.given


def test_an_answer_for_another_position_is_not_this_response_s():
    assert not VoteForm(AIS, shown(2), {}, posted(1)).is_valid()


# --- what is asked --------------------------------------------------------------------------


def test_gates_have_numbers_for_the_stylesheet():
    asked = {row.question.key: row for row in asked_questions(AIS)}

    assert (asked["understand"].gate, asked["understand"].after) == ("1", "")
    assert (asked["relevant"].gate, asked["relevant"].after) == ("", "1")
    assert (asked["evidence_relevant"].gate, asked["evidence_relevant"].after) == ("2", "1")
    assert asked["attributable"].after == "1 2"


def test_a_question_is_also_behind_the_gates_of_its_gate():
    a, b, c = asked_questions(CHAIN)

    assert (a.gate, b.gate, c.gate) == ("1", "2", "")
    assert (b.after, c.after) == ("1", "1 2")


def test_a_closed_gate_says_what_is_not_asked():
    understand, evidence_relevant = gates_of(asked_questions(AIS))

    assert understand.closed == "Questions 2 to 7 are not asked."
    assert evidence_relevant.closed == "Questions 5 to 7 are not asked."
    assert "implied no" in understand.stored
    assert [gate.closed for gate in gates_of(asked_questions(CHAIN))] == [
        "Questions 2 and 3 are not asked.",
        "Question 3 is not asked.",
    ]
    # There is no implied no on a scale of 1 to 4.
    assert not any("implied" in gate.stored for gate in gates_of(asked_questions(CHAIN)))


def test_a_stage_stands_where_it_begins():
    stages = [row.stage for row in asked_questions(AIS)]

    assert [bool(stage) for stage in stages] == [True, False, False, True, False, False, False]


def test_yes_comes_first_and_a_scale_from_its_low_end():
    yes_no, ordinal = (_questions(desk_of(unit(scheme)))[0] for scheme in (AIS, QUALITY))

    assert re.findall(r'value="(\d)">(\w+)<', yes_no) == [("1", "Yes"), ("0", "No")]
    assert re.findall(r'value="(\d)">\d<', ordinal) == ["1", "2", "3", "4", "5"]


def desk_of(rated: RatedUnit) -> RatingDesk:
    return RatingDesk(RatingForm(rated))


def _questions(desk: RatingDesk) -> list[str]:
    """Return the fieldset of each question about the first response."""
    _, drawn = next(desk.blocks())
    return re.findall(r"<fieldset.*?</fieldset>", drawn, re.S)


def test_a_draft_is_put_back():
    desk = desk_of(unit(answers={101: {"understand": 1, "relevant": 0}}))

    chosen = [re.findall(r'value="(\d)"\s+checked', drawn) for drawn in _questions(desk)]
    assert chosen == [["1"], ["0"], [], [], [], [], []]
    assert (desk.n_answered, desk.n_asked) == (2, 7)


def test_what_a_gate_closes_is_not_counted_as_asked():
    desk = desk_of(unit(answers={101: {"understand": 1, "evidence_relevant": 0}}))

    assert (desk.n_answered, desk.n_asked) == (2, 4)


# --- a whole unit ---------------------------------------------------------------------------


def test_each_response_of_a_merged_unit_has_fields_of_its_own():
    form = RatingForm(unit(n=2), posted(1) | posted(2, understand="0"))

    assert form.is_valid()
    first, second = form.forms
    assert first.judgement.answers["attributable"].value == 1
    assert second.judgement.answers["attributable"] == Answer(0, is_implied=True)
    assert form.answers.keys() == {101, 102}


@pytest.mark.parametrize("merged_layout", ["side_by_side", "in_turn"])
def test_the_page_moves_to_the_first_error_of_the_first_response(merged_layout):
    study = Study(merged_layout=merged_layout)
    data = posted(1, evidence_supports="") | posted(2, relevant="")

    form = RatingForm(unit(n=2, study=study), data)

    assert not form.is_valid()
    desk = RatingDesk(form)
    assert desk.problem == "2 answers are missing."
    assert desk.first_error_name == "evidence_supports-1"


@pytest.mark.parametrize(
    ("typed", "seconds"),
    [
        ("12.5", 12.5),
        ("0.0", 0.0),
        ("", None),
        ("-1", None),
        ("nan", None),
        ("inf", None),
        ("1e9", None),
        ("soon", None),
    ],
)
def test_seconds_are_what_a_browser_can_have_counted(typed, seconds):
    assert RatingForm(unit(), {"seconds": typed}).seconds == seconds


def test_the_layout_is_decided_by_data():
    citation = ShownResponse(1, 1, "He painted.", Citation(sentence="He painted."), None)
    alignment = load_scheme(built_in_schemes()["ALIGNMENT"])
    ssa = load_scheme(built_in_schemes()["SSA"])
    in_turn = Study(merged_layout=Study.MergedLayout.IN_TURN)

    def layout(rated: RatedUnit) -> tuple[str, str]:
        desk = desk_of(rated)
        return desk.layout, desk.frame

    assert layout(unit()) == ("questions", "desk desk--three")
    assert layout(unit(ssa)) == ("questions", "desk desk--two")
    assert layout(unit(n=4)) == ("matrix", "desk desk--matrix")
    assert layout(unit(n=2, study=in_turn)) == ("in_turn", "desk desk--three")
    assert layout(unit(alignment, responses=[citation])) == ("judge", "judge-page")


def test_several_questions_about_a_citation_stand_beside_it():
    data = {"target": "citation", "evidence": "none", "key": "two-of-citations"}
    scheme = load_scheme(data | {"questions": [{"key": k, "scale": "yes_no"} for k in "ab"]})

    assert desk_of(unit(scheme)).frame == "desk desk--two"


@pytest.mark.parametrize(
    ("state", "study_state", "in_hand", "read_only"),
    [
        ("open", "open", True, False),
        ("gone", "open", True, False),
        ("submitted", "open", False, False),
        ("submitted", "paused", False, False),
        ("surplus", "open", False, False),
        ("submitted", "closed", False, True),
        ("skipped", "open", False, True),
        ("closed", "closed", False, True),
        ("preview", "planned", False, False),
    ],
)
def test_what_may_be_done_follows_from_the_state(state, study_state, in_hand, read_only):
    desk = desk_of(unit(state=state, study=Study(state=study_state)))

    assert (desk.is_in_hand, desk.is_read_only) == (in_hand, read_only)


PERCENT = load_scheme(
    {
        "key": "percent",
        "questions": [
            {"key": "overall", "scale": {"ordinal": [0, 100]}, "ends": ["useless", "perfect"]}
        ],
    }
)


def test_a_scale_of_a_hundred_points_is_a_number_field_with_its_ends_named():
    filled = unit(PERCENT, answers={101: {"overall": 57}})

    (question,) = _questions(desk_of(filled))

    assert 'type="number" name="overall-1"' in question
    assert re.search(r'min="0"\s+max="100"', question)
    assert re.search(r'value="57"', question)
    assert "From 0 to" in question
    assert re.search(r"100:\s+perfect", question)
    assert "radio" not in question


@pytest.mark.parametrize(
    ("answer", "errors"),
    [
        ("57", {}),
        ("101", {"overall": ["Answer with a whole number from 0 to 100."]}),
        ("half", {"overall": ["Answer with a whole number from 0 to 100."]}),
    ],
)
def test_a_number_beyond_the_scale_is_named_with_its_ends(answer, errors):
    form = VoteForm(PERCENT, shown(), {}, {"overall-1": answer})

    assert form.is_valid() == (not errors)
    assert form.errors == errors
