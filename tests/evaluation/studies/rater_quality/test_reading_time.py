"""The time of units, and the time that it takes to read what is new in them."""

import pytest
from django.urls import reverse

from annotation.models import Rater
from evaluation.studies.rater_quality.judgements import judgements_of
from evaluation.studies.rater_quality.pace import fast_votes
from evaluation.studies.rater_quality.reading_time import unit_times
from evaluation.studies.rater_quality.reports import rater_quality
from tests.annotation.makers import material, opened, rate_next, raters_of
from tests.evaluation.studies.rater_quality.rater_votes import in_order, row_about
from tests.graph_material import ENTITIES, QUESTIONS
from tests.makers import example_row, import_rows, response_row, scheme_of, vote_row
from tests.shown import shown

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("own_cache_and_folder")]

# Of 238 words a minute, 6 characters each, 238 characters take 10 s. So every response below takes
# 5 s, every dialog 10 s and every passage 20 s.
RESPONSE, DIALOG, PASSAGE = "r" * 119, "d" * 238, "p" * 476
NEW, KNOWN = 35, 5  # a response with dialog and passage, and a response alone


def study_of(folder, examples, votes, *, evidence="shown", passages=None, scale="yes_no", **rows):
    """Import responses, given as response → example. Passages have names, given by example."""
    passages = passages or {}
    outcome = import_rows(
        folder,
        "pilot",
        examples=[
            example_row(
                key,
                turns=[{"speaker": "user", "text": DIALOG}],
                evidence=[{"id": passages.get(key, f"p-{key}"), "text": PASSAGE, "golden": True}],
            )
            for key in dict.fromkeys(examples.values())
        ],
        responses=[response_row(key, of, text=RESPONSE) for key, of in examples.items()],
        votes=votes,
        scheme=scheme_of({"q": scale}) | {"evidence": evidence},
        **rows,
    )
    assert outcome.study is not None
    return outcome.study


def times_of(study):
    return unit_times(study, judgements_of(study))


def reading_of(study):
    """Return the reading time of each unit, in the order of raters and of the keys of responses."""
    return times_of(study).reading.tolist()


TWO_OF_E1 = {"r1": "e1", "r2": "e1", "r3": "e2"}  # response → example


# --- the time to read -----------------------------------------------------------------------


def test_dialog_and_evidence_count_when_a_rater_first_sees_them(tmp_path):
    votes = in_order("w1", dict.fromkeys(["r2", "r1", "r3"], "y"), seconds=10)

    # r2 came first; r1 has the same dialog and passage; r3 has others.
    assert reading_of(study_of(tmp_path, TWO_OF_E1, votes)) == pytest.approx([KNOWN, NEW, NEW])


def test_each_rater_reads_them_once(tmp_path):
    votes = in_order("w1", {"r1": "y", "r2": "y"}, seconds=10)
    votes += in_order("w2", {"r2": "y", "r1": "y"}, seconds=10)

    # By rater and response: w1 r1, w1 r2, w2 r1, w2 r2.
    assert reading_of(study_of(tmp_path, TWO_OF_E1, votes)) == pytest.approx(
        [NEW, KNOWN, KNOWN, NEW]
    )


def test_in_unknown_order_a_text_that_was_shown_twice_does_not_count_at_all(tmp_path):
    votes = [vote_row(key, "w1", "yes", "q", seconds=10) for key in TWO_OF_E1]

    assert reading_of(study_of(tmp_path, TWO_OF_E1, votes)) == pytest.approx([KNOWN, KNOWN, NEW])


def test_a_passage_of_two_examples_is_read_once(tmp_path):
    examples = {"r1": "e1", "r2": "e2"}
    votes = in_order("w1", dict.fromkeys(examples, "y"), seconds=10)

    study = study_of(tmp_path, examples, votes, passages=dict.fromkeys(["e1", "e2"], "p"))

    assert reading_of(study) == pytest.approx([NEW, NEW - 20])


def test_evidence_that_is_not_shown_is_not_read(tmp_path):
    votes = in_order("w1", {"r1": "y"}, seconds=10)

    assert reading_of(study_of(tmp_path, TWO_OF_E1, votes, evidence="none")) == pytest.approx([15])


def test_a_unit_whose_time_is_not_known_was_read_all_the_same(tmp_path):
    votes = in_order("w1", {"r1": "y", "r2": "y"})
    votes[1] |= {"seconds": 10}

    times = times_of(study_of(tmp_path, TWO_OF_E1, votes))

    assert (times.seconds.tolist(), times.reading.tolist()) == ([10], [KNOWN])


def test_without_any_time_there_is_no_unit(tmp_path):
    study = study_of(tmp_path, TWO_OF_E1, in_order("w1", {"r1": "y", "r2": "y"}))

    assert [len(column) for column in times_of(study)] == [0, 0, 0, 0]


def test_triples_of_a_graph_are_read_as_relations_and_values(tmp_path):
    # The response is judged against one triple: 'occupation', 10 characters, and 'actor', 5.
    # The question has 9 characters, and the response 119.
    [question] = (row for row in QUESTIONS if row["id"] == "k1")
    shown = [["Q2", "occupation", "actor"]]
    study = import_rows(
        tmp_path,
        entities=ENTITIES,
        questions=[question],
        examples=[{"id": "k1", "turns": [{"speaker": "user", "text": "Who, then"}]}],
        responses=[response_row("a", "k1", text=RESPONSE, graph_shown=shown)],
        votes=[vote_row("a", "w1", "yes", "q", seconds=10)],
        scheme=scheme_of({"q": "yes_no"}) | {"evidence": "shown"},
    ).study

    assert reading_of(study) == pytest.approx([(9 + 119 + 10 + 5) / 23.8])


def test_in_a_study_rated_here_the_passages_of_the_unit_are_read(tmp_path):
    """A dialog is 'Question of e1?', 15 characters, a passage 'Passage of e1.', 14.

    The responses are 'Text of e1-cool.' and 'Text of e1-warm.', 16 each.
    """
    study = opened(material(tmp_path, n_examples=1), scheme="AIS", raters=1)
    [rater] = raters_of(study)
    rate_next(rater), rate_next(rater)

    assert sorted(reading_of(study)) == pytest.approx([16 / 23.8, (16 + 15 + 14) / 23.8])


# --- merged units ---------------------------------------------------------------------------


def merged(rater, answers, minute=0, **more):
    """Return votes on responses that were shown and submitted together: response → answer."""
    at = f"2026-03-03T09:{minute:02}:00+00:00"
    return [
        vote_row(response, rater, answer, "q", arm="merged", position=place, at=at, **more)
        for place, (response, answer) in enumerate(answers.items(), start=1)
    ]


def test_a_merged_unit_has_the_time_and_the_texts_of_all_its_responses(tmp_path):
    votes = merged("w1", {"r1": "yes", "r2": "no"}, seconds=6)

    times = times_of(study_of(tmp_path, TWO_OF_E1, votes))

    # Dialog and passage are read once; each vote has the time per response.
    assert times.n_responses.tolist() == [2]
    assert times.seconds.tolist() == [12]
    assert times.reading.tolist() == pytest.approx([NEW + KNOWN])


def test_a_response_that_was_read_alone_is_not_new_beside_others(tmp_path):
    votes = in_order("w1", {"r1": "y"}, seconds=10)
    votes += merged("w1", {"r1": "yes", "r2": "no"}, seconds=6)

    # Arms are in the order of their names: merged, and then separate, which came first in time.
    assert reading_of(study_of(tmp_path, TWO_OF_E1, votes)) == pytest.approx([KNOWN, NEW])


def test_a_vote_on_each_of_two_questions_takes_the_time_of_the_response_once(tmp_path):
    votes = [
        vote_row("r1", "w1", "yes", question, seconds=10) for question in ("sensible", "specific")
    ]
    study = import_rows(
        tmp_path,
        examples=[example_row("e1")],
        responses=[response_row("r1", "e1")],
        votes=votes,
        scheme=scheme_of(dict.fromkeys(["sensible", "specific"], "yes_no")),
    ).study

    assert times_of(study).seconds.tolist() == [10]


# --- too fast -------------------------------------------------------------------------------


def test_less_than_a_quarter_of_the_reading_time_is_too_fast(tmp_path):
    examples = {"r1": "e1", "r2": "e2", "r3": "e2"}
    votes = in_order("w1", dict.fromkeys(examples, "y"))
    # A quarter of 35 s is 8.75 s; r3 is read in 5 s, of which a quarter is 1.25 s.
    for vote, seconds in zip(votes, (8.7, 8.8, 1.3), strict=True):
        vote["seconds"] = seconds

    assert times_of(study_of(tmp_path, examples, votes)).is_fast.tolist() == [True, False, False]


# --- the times of a rater in the report -----------------------------------------------------


def test_medians_are_over_responses_and_not_over_units(tmp_path):
    """8 responses alone in 10 s each; 12 in four merged units, in 6 s each.

    Each of the 12 has a third of an example's dialog and passage: (10 + 20) / 3 + 5 = 15 s.
    """
    alone = {f"a{n}": f"e-a{n}" for n in range(8)}
    beside = {f"m{n}{which}": f"e-m{n}" for n in range(4) for which in "abc"}
    votes = in_order("w1", dict.fromkeys(alone, "y"), seconds=10)
    for n in range(4):
        votes += merged("w1", {f"m{n}{which}": "yes" for which in "abc"}, n, seconds=6)

    row = row_about(study_of(tmp_path, alone | beside, votes), "w1")

    # Of 20 responses, 12 have 6 s and 15 s, and 8 have 10 s and 35 s. Of 12 units, none is too
    # fast: 10 s of 35 s, and 18 s of 45 s.
    assert row["median_seconds"] == 6
    assert row["reading_seconds"] == pytest.approx(15)
    assert row["fast_share"] == 0


def test_the_share_of_too_fast_is_of_units(tmp_path):
    examples = {f"r{n:02}": f"e{n}" for n in range(20)}
    votes = in_order("w1", dict.fromkeys(examples, "y"))
    for n, vote in enumerate(votes):
        vote["seconds"] = 5 if n < 3 else 60 if n < 8 else 20  # a quarter of 35 s is 8.75 s

    row = row_about(study_of(tmp_path, examples, votes), "w1")

    assert row["fast_share"] == pytest.approx(3 / 20)
    assert row["median_seconds"] == 20


def test_below_20_responses_with_a_time_nothing_is_said_of_times(tmp_path):
    examples = {f"r{n:02}": f"e{n}" for n in range(20)}
    votes = in_order("w1", dict.fromkeys(examples, "y"))
    for vote in votes[1:]:
        vote["seconds"] = 20

    row = row_about(study_of(tmp_path, examples, votes), "w1")

    assert row["longest_run"] == 20
    assert (row["median_seconds"], row["reading_seconds"], row["fast_share"]) == (None, None, None)


def paced(folder, seconds, n_responses=24):
    """Return a study in which each rater takes some seconds for each response: rater → seconds.

    Two responses follow each other for each example. Reading them takes 35 s and 5 s, in the
    median 20 s, of which a quarter is 5 s.
    """
    examples = {f"r{n:02}": f"e{n // 2:02}" for n in range(n_responses)}
    answers = {key: "yn"[n % 2] for n, key in enumerate(examples)}
    votes = [v for rater, each in seconds.items() for v in in_order(rater, answers, seconds=each)]
    return study_of(folder, examples, votes)


@pytest.mark.parametrize(
    ("seconds", "n_responses", "stand_out"),
    [
        # A quarter of 35 s is 8.75 s, and one of 5 s is 1.25 s: half of the units are too fast.
        (dict.fromkeys(["w1", "w2", "w3", "w4", "w5", "w6"], 1.3), 24, "w1 w2 w3 w4 w5 w6"),
        ({"w1": 30, "w2": 4.9}, 24, "w2"),
        ({"w1": 30, "w2": 5.1}, 24, ""),  # the median is a quarter of the median reading time
        ({"w1": 30, "w2": 1}, 18, ""),  # fewer than 20 responses
    ],
)
def test_who_is_faster_than_reading_stands_out_whatever_the_others_do(
    tmp_path, seconds, n_responses, stand_out
):
    study = paced(tmp_path, seconds, n_responses)

    found = rater_quality(study)

    assert {code: [each.short for each in said] for code, said in found.reasons.items()} == {
        code: ["faster than reading"] for code in stand_out.split()
    }
    assert found.reference == set(seconds)  # the rule takes no rater out of the comparison


def test_the_reason_says_the_times_and_the_votes_behind_them(tmp_path):
    study = paced(tmp_path, {"w1": 30, "w2": 30, "w3": 1.3})

    [reason] = rater_quality(study).reasons["w3"]
    fast = fast_votes(study)

    assert reason.sentence == (
        "Half of the responses took 1.3 s or less, and reading what is new in one takes 20 s; 50 % "
        "of the units took less than 25 % of their reading time. This does not depend on other "
        "raters."
    )
    # One of three raters has a third of the votes, 24 of 72.
    assert (fast.n_raters, fast.n_voters) == (1, 3)
    assert fast.share == pytest.approx(1 / 3)
    assert fast.are_many
    Rater.objects.filter(code="w3").update(is_excluded=True)
    assert fast_votes(study)[:3] == (0, 2, 0)


def test_results_doubt_votes_that_nobody_read_for_and_show_no_saving(tmp_path, researcher):
    # Four dialogs, each with three pairs; merged 1 s, separate 1.5 s: a third less.
    examples = {f"r{n:02}": f"e{n // 2:02}" for n in range(24)}
    votes = in_order("w1", dict.fromkeys(examples, "y"), seconds=1.5)
    for n in range(12):
        votes += merged("w2", {f"r{2 * n:02}": "yes", f"r{2 * n + 1:02}": "no"}, n, seconds=1)
    study = study_of(tmp_path, examples, votes)

    results, arms = (
        shown(researcher.get(reverse(f"evaluation:{name}", args=[study.slug])))
        for name in ("study", "study-merged")
    )

    assert (
        "Too fast to have read. 2 of 2 raters, with 100 % of the votes, are faster" in results.text
    )
    assert "33 % less" not in results.text
    assert "100 % of the votes are faster than reading" in results.text
    assert "33 % less" not in arms.text
    assert "so no saving is shown" in arms.text
