"""The contents that study.json may have, and the message about each mistake in it."""

import pytest

from annotation.study_file import StudyFacts, StudyFileError, read_study_facts


def test_an_empty_file_leaves_everything_at_its_default():
    facts = read_study_facts({})

    assert facts == StudyFacts()
    assert (facts.raters_per_unit, facts.evidence_choice, facts.guidelines) == (None, "shown", ())


def test_everything_that_a_file_says_is_kept():
    facts = read_study_facts(
        {
            "name": " Pilot ",
            "scheme": "AIS",
            "arms": ["separate"],
            "raters_per_unit": 5,
            "evidence_choice": "golden",
            "text_format": "markdown",
            "seed": 0,
            "guidelines": [{"version": 2, "text": "Read first."}, {"version": 1, "text": ""}],
            "order": "random",
            "payment": {"per_unit": 0.2},
        }
    )

    assert facts == StudyFacts(
        name="Pilot",
        scheme="AIS",
        raters_per_unit=5,
        evidence_choice="golden",
        text_format="markdown",
        seed=0,
        guidelines=((2, "Read first."), (1, "")),
        further={"order": "random", "payment": {"per_unit": 0.2}},
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"name": 3}, "name: found 3; expected up to 100 characters"),
        ({"name": "n" * 101}, 'name: found "nnn'),
        ({"scheme": ["AIS"]}, 'scheme: found ["AIS"]; expected'),
        ({"raters_per_unit": 0}, "raters_per_unit: found 0; expected a whole number from 1"),
        ({"raters_per_unit": "5"}, 'raters_per_unit: found "5"; expected a whole number'),
        ({"raters_per_unit": True}, "raters_per_unit: found true; expected a whole number"),
        ({"raters_per_unit": 10**6}, "raters_per_unit: found 1000000; expected a whole number"),
        ({"evidence_choice": "all"}, 'evidence_choice: found "all"; expected one of shown, golden'),
        ({"evidence_choice": None}, "evidence_choice: found nothing; expected one of shown"),
        ({"text_format": "html"}, 'text_format: found "html"; expected one of plain, markdown'),
        ({"seed": -1}, "seed: found -1; expected a whole number from 0"),
        ({"seed": 2**31}, "seed: found 2147483648; expected a whole number from 0"),
        ({"seed": 1.5}, "seed: found 1.5; expected a whole number"),
        ({"guidelines": "Read."}, 'guidelines: found "Read."; expected a list'),
        ({"guidelines": [{"version": 0, "text": ""}]}, 'guidelines: found {"version": 0'),
        ({"guidelines": [{"version": 1}]}, 'guidelines: found {"version": 1}; expected a list'),
        (
            {"guidelines": [{"version": 1, "text": "a"}, {"version": 1, "text": "b"}]},
            "guidelines: found version 1 twice",
        ),
    ],
)
def test_a_mistake_names_the_key_what_was_found_and_what_was_expected(data, message):
    with pytest.raises(StudyFileError) as error:
        read_study_facts(data)

    assert message in str(error.value)
