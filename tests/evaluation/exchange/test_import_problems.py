"""Import: every bad row is named, and odd values are stored whole or refused."""

from datetime import UTC, datetime
from typing import Any

import pytest

from annotation.models import Study, Vote
from evaluation.exchange import interchange
from evaluation.exchange.interchange import BadRows
from evaluation.models import AutoScore
from generation.importers.errors import DatasetError
from generation.models import (
    Citation,
    Example,
    Response,
)
from generation.records import Problem
from tests.makers import (
    contents,
    example_row,
    import_path,
    import_rows,
    is_empty,
    pilot_rows,
    problems_of,
    response_row,
    scheme_of,
    vote_row,
    write_files,
)

pytestmark = pytest.mark.both
YES_NO = scheme_of({"attributable": "yes_no"})


@pytest.fixture
def pilot(tmp_path):
    return write_files(tmp_path / "pilot", **pilot_rows())


# --- bad rows -------------------------------------------------------------------------------


def rows_with_three_mistakes() -> dict[str, Any]:
    rows = pilot_rows()
    rows["examples"].insert(1, {"id": "e7"})  # line 2: without turns
    rows["votes"][1]["answer"] = "perhaps"  # line 3
    rows["scores"].append({"response": "r2", "metric": "", "score": "0.5"})  # line 3
    return rows | {"scheme": YES_NO}


def test_three_bad_rows_are_all_named_and_nothing_at_all_is_stored(tmp_path):
    with pytest.raises(BadRows) as error:
        import_rows(tmp_path / "bad", **rows_with_three_mistakes())

    assert is_empty()
    assert error.value.outcome.n_problems == 3
    assert [str(problem) for problem in error.value.outcome.problems] == [
        "examples.jsonl, line 2, turns: found nothing; "
        "expected a list of turns, or null if the dialog is not known",
        'votes.csv, line 3, answer: found "perhaps"; expected no or yes',
        "scores.csv, line 3, metric: found nothing; expected text that is not empty",
    ]
    assert str(error.value).endswith("(2 more problems)")


def test_skipping_bad_rows_stores_the_good_ones_and_counts_the_bad(tmp_path):
    outcome = import_rows_skipping(tmp_path / "bad", rows_with_three_mistakes())

    assert {kind: count["bad"] for kind, count in outcome.counts.items()} == {
        "examples": 1,
        "responses": 0,
        "raters": 0,
        "votes": 1,
        "flags": 0,
        "scores": 1,
    }
    assert outcome.n_problems == 3
    assert (Example.objects.count(), Vote.objects.count()) == (2, 4)
    assert AutoScore.objects.count() == 1


def import_rows_skipping(folder, rows):
    return import_path(write_files(folder, **rows), skip_bad=True)


def test_a_dry_run_stores_nothing_and_counts_what_it_would(tmp_path):
    folder = write_files(tmp_path / "bad", **rows_with_three_mistakes())

    outcome = import_path(folder, dry_run=True)

    assert is_empty()
    assert (outcome.dataset, outcome.study) == (None, None)
    assert outcome.counts == import_path(folder, skip_bad=True).counts


def test_a_dry_run_knows_what_is_there_already(tmp_path, pilot):
    import_path(pilot)
    before = contents()

    counts = import_path(pilot, dry_run=True).counts

    assert contents() == before
    assert all(count["new"] == 0 for count in counts.values())


def test_every_bad_row_is_handed_on_though_only_the_first_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(interchange, "MAX_PROBLEMS_SHOWN", 2)
    seen: list[Problem] = []
    folder = write_files(tmp_path / "bad", examples=[{"id": f"e{n}"} for n in range(5)])

    outcome = import_path(folder, dry_run=True, on_problem=seen.append)

    assert (outcome.n_problems, len(outcome.problems), len(seen)) == (5, 2, 5)


def test_a_row_with_two_mistakes_is_one_bad_row_with_two_problems(tmp_path):
    row = {"id": "", "turns": [{"speaker": "user", "text": "Why?"}], "evidence": 4}
    folder = write_files(tmp_path / "bad", examples=[row, example_row()])

    outcome = import_path(folder, skip_bad=True)

    assert outcome.n_problems == 2
    assert outcome.counts["examples"] == {"new": 1, "unchanged": 0, "bad": 1}


@pytest.mark.parametrize(
    ("kind", "row", "field", "found"),
    [
        ("responses", response_row("r9", "e9"), "example", '"e9"'),
        ("responses", response_row("r9", evidence_shown=["p9"]), "evidence_shown", '"p9"'),
        ("votes", vote_row("r9"), "response", '"r9"'),
        ("flags", {"response": "r9", "rater": "anna"}, "response", '"r9"'),
        ("scores", {"response": "r9", "metric": "m", "score": 1}, "response", '"r9"'),
        ("votes", vote_row(question="fluent"), "question", '"fluent"'),
    ],
)
def test_a_reference_to_what_is_not_there_is_a_problem(tmp_path, kind, row, field, found):
    rows = pilot_rows() | {"scheme": YES_NO}
    rows[kind].append(row)

    with pytest.raises(BadRows) as error:
        import_rows(tmp_path / "bad", **rows)

    [problem] = error.value.outcome.problems
    assert (problem.field, problem.found) == (field, found)
    assert is_empty()


def test_votes_on_a_skipped_response_are_skipped_and_named_too(tmp_path):
    rows = pilot_rows()
    rows["responses"][1]["text"] = None

    outcome = import_rows_skipping(tmp_path / "bad", rows)

    assert outcome.counts["responses"]["bad"] == 1
    assert outcome.counts["votes"] == {"new": 2, "unchanged": 0, "bad": 3}


@pytest.mark.parametrize("kind", ["examples", "responses", "votes", "flags", "raters", "scores"])
def test_a_row_that_stands_in_the_file_twice_is_a_problem(tmp_path, kind):
    rows = pilot_rows()
    rows[kind].append(rows[kind][0])

    with pytest.raises(BadRows) as error:
        import_rows(tmp_path / "bad", **rows)

    [problem] = error.value.outcome.problems
    assert problem.found.endswith(" again")
    assert problem.expected == "each one once, and an earlier row has it"


@pytest.mark.parametrize("batch", [1, 2, 3])
def test_a_row_twice_is_found_across_batches(tmp_path, monkeypatch, batch):
    monkeypatch.setattr(interchange, "BATCH", batch)
    rows = pilot_rows()
    rows["votes"].append(rows["votes"][0])

    with pytest.raises(BadRows) as error:
        import_rows(tmp_path / "bad", **rows)

    assert problems_of(error.value) == [("votes.csv", 7, "")]


def test_an_example_and_a_graph_question_cannot_share_an_id(tmp_path):
    question = {"id": "e1", "question": "Who?", "entities": []}

    with pytest.raises(BadRows, match=" again; expected each one once"):
        import_rows(tmp_path / "bad", examples=[example_row()], kg_questions=[question])


# --- odd values -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("position", "-1", "a whole number from 1 to 32767"),
        ("position", "0", "a whole number from 1 to 32767"),
        ("position", "32768", "a whole number from 1 to 32767"),
        ("citation", "99999999999999999999", "a whole number from 1 to 32767"),
        ("seconds", "-0.5", "seconds, 0 or more"),
        ("seconds", "1e999", "a finite number"),
        ("at", "yesterday", "a date and time in ISO 8601, or Unix seconds"),
        ("at", "0001-01-01T00:00+14:00", "a date and time in ISO 8601, or Unix seconds"),
        ("arm", "both", "separate or separate_2 or merged"),
        ("implied", "perhaps", "true, false, yes, no, 1 or 0"),
        ("rater", "r" * 101, "at most 100"),
        ("answer", "1.5", "no or yes"),
        ("answer", "2", "no or yes"),
    ],
)
def test_a_vote_with_an_impossible_value_is_a_problem_of_that_field(
    tmp_path, field, value, expected
):
    rows = pilot_rows() | {"scheme": YES_NO}
    rows["votes"][0][field] = value

    with pytest.raises(BadRows) as error:
        import_rows(tmp_path / "bad", **rows)

    [problem] = error.value.outcome.problems
    assert (problem.field, problem.expected) == (field, expected)


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ("2026-03-01T10:00:00+02:00", datetime(2026, 3, 1, 8, tzinfo=UTC)),
        ("2026-03-01T10:00:00Z", datetime(2026, 3, 1, 10, tzinfo=UTC)),
        ("2026-03-01 10:00", datetime(2026, 3, 1, 10, tzinfo=UTC)),
        ("2026-03-01", datetime(2026, 3, 1, tzinfo=UTC)),
        ("1772359200", datetime(2026, 3, 1, 10, tzinfo=UTC)),
        ("1600-01-01", datetime(1600, 1, 1, tzinfo=UTC)),
    ],
)
def test_a_moment_is_stored_in_utc(tmp_path, written, moment):
    rows = pilot_rows()
    rows["votes"][0]["at"] = written

    import_rows(tmp_path / "a", **rows)

    assert Vote.objects.get(at__isnull=False).at == moment


def test_ids_may_hold_slashes_blanks_quotes_and_any_script(tmp_path):
    keys = ["a/b/../c", 'say "hi", ok', "数据 1", "👩‍🔬" * 60, "%2F?x=1&y#z", "'=x"]
    rows: dict[str, Any] = {
        "examples": [example_row(key) for key in keys],
        "responses": [response_row(key, key) for key in keys],
        "votes": [vote_row(key, rater="Zoë") for key in keys if not key.startswith("'")],
    }

    import_rows(tmp_path / "a", **rows)

    assert list(Example.objects.order_by("pk").values_list("key", flat=True)) == keys
    voted_on = Vote.objects.order_by("pk").values_list("target__response__key", flat=True)
    assert list(voted_on) == keys[:-1]


def test_a_text_of_three_million_characters_is_stored_whole(tmp_path):
    text = "ä" * 3_000_000

    import_rows(tmp_path / "a", examples=[example_row()], responses=[response_row(text=text)])

    assert Response.objects.get().text == text


def test_numbers_at_the_ends_of_their_range_are_stored(tmp_path):
    rows = pilot_rows()
    rows["votes"][0] |= {"position": "32767", "seconds": "1e300"}
    rows["votes"][1] |= {"citation": "32767"}
    rows["scores"][0]["score"] = "-1e12"

    import_rows(tmp_path / "a", **rows)

    assert Vote.objects.filter(position=32767, seconds=1e300).count() == 1
    assert Citation.objects.get().number == 32767
    assert AutoScore.objects.get().score == -1e12


@pytest.mark.parametrize("field", ["evidence", "evidence_shown"])
def test_more_passages_than_can_be_numbered_are_a_problem(tmp_path, field):
    passages = [{"id": str(n), "text": "T."} for n in range(32_769)]
    shown = [passage["id"] for passage in passages[:1]] * 32_769
    rows: dict[str, Any] = {
        "examples": [example_row(evidence=passages if field == "evidence" else passages[:1])],
        "responses": [response_row(evidence_shown=shown)] if field == "evidence_shown" else [],
    }

    with pytest.raises(BadRows) as error:
        import_rows(tmp_path / "a", **rows)

    [problem] = error.value.outcome.problems
    assert (problem.field, problem.found) == (field, "32,769 entries")
    assert problem.expected == "at most 32,768"


def test_an_ordinal_scale_may_begin_at_0_or_below(tmp_path):
    scheme = scheme_of({"zero": {"ordinal": [0, 2]}, "below": {"ordinal": [-2, 2]}})
    votes = [vote_row("r1", "anna", "0", "zero"), vote_row("r1", "anna", "-2", "below")]

    import_rows(tmp_path / "a", **pilot_rows() | {"votes": votes, "scheme": scheme})

    assert list(Vote.objects.order_by("pk").values_list("answer", flat=True)) == [0, -2]


def test_two_hundred_questions_are_read_and_one_more_is_too_many(tmp_path):
    rows: dict[str, Any] = {"examples": [example_row()], "responses": [response_row()]}
    votes = [vote_row(question=f"q{n}") for n in range(201)]

    import_rows(tmp_path / "a", **rows, votes=votes[:200])

    assert len(Study.objects.get().scheme["questions"]) == 200
    with pytest.raises(DatasetError, match="more than 200 different questions"):
        import_rows(tmp_path / "b", name="other", **rows, votes=votes)


@pytest.mark.parametrize("name", ["", "  ", "n" * 101])
def test_a_dataset_has_a_name_of_1_to_100_characters(tmp_path, name):
    with pytest.raises(DatasetError, match="expected 1 to 100 characters"):
        import_rows(tmp_path / "a", name, examples=[example_row()])

    assert is_empty()


def test_a_study_has_a_name_of_100_characters_at_most(tmp_path, pilot):
    with pytest.raises(DatasetError, match="expected 1 to 100 characters"):
        import_path(pilot, "pilot", "n" * 101)

    assert is_empty()


def test_blanks_around_a_name_do_not_belong_to_it(pilot):
    outcome = import_path(pilot, " pilot ", " votes ")

    assert (str(outcome.dataset), str(outcome.study)) == ("pilot", "votes")
