"""Import: what is stored, and that the same again changes nothing."""

import gzip
import shutil
from pathlib import Path
from typing import Any

import pytest

from annotation.models import Guideline, Rater, Study, Target, Vote
from annotation.services.imported_votes import store_votes
from evaluation.exchange.import_plan import plan_import
from evaluation.exchange.interchange import BadRows
from generation.importers import open_material
from generation.models import (
    Dataset,
    Example,
    ExamplePassage,
    Response,
    Setup,
)
from generation.records import VoteRecord
from tests.makers import (
    contents,
    example_row,
    import_path,
    import_rows,
    pilot_rows,
    problems_of,
    response_row,
    row_counts,
    vote_row,
    write_files,
)

pytestmark = pytest.mark.both


@pytest.fixture
def pilot(tmp_path):
    return write_files(tmp_path / "pilot", **pilot_rows())


# --- what is stored -------------------------------------------------------------------------


def test_every_row_of_a_folder_is_stored_and_counted(pilot):
    outcome = import_path(pilot)

    assert outcome.counts == {
        "examples": {"new": 2, "unchanged": 0, "bad": 0},
        "responses": {"new": 3, "unchanged": 0, "bad": 0},
        "raters": {"new": 1, "unchanged": 0, "bad": 0},
        "votes": {"new": 5, "unchanged": 0, "bad": 0},
        "flags": {"new": 1, "unchanged": 0, "bad": 0},
        "scores": {"new": 1, "unchanged": 0, "bad": 0},
    }
    found = {label.split(".")[1]: n for label, n in row_counts().items() if n}
    assert found == {
        "Dataset": 1,
        "Example": 2,
        "Turn": 2,
        "Passage": 2,
        "ExamplePassage": 3,
        "Setup": 2,
        "Response": 3,
        "ResponsePassage": 1,
        "Study": 1,
        "Study_setups": 2,
        "Arm": 1,
        "Rater": 3,
        "Target": 2,  # r3 has no votes, and a flag needs no target
        "Vote": 5,
        "Flag": 1,
        "MetricRun": 1,
        "AutoScore": 1,
    }


def test_what_is_stored_is_what_the_file_says(pilot):
    import_path(pilot)

    answers = Vote.objects.order_by("pk").values_list(
        "target__response__key", "rater__code", "answer"
    )
    assert list(answers) == [
        ("r1", "anna", 1),
        ("r1", "ben", 0),
        ("r2", "anna", 1),
        ("r2", "ben", 0),
        ("r2", "cleo", 1),
    ]
    assert list(Example.objects.values_list("dialog", flat=True)) == ["d1", "d1"]
    assert Example.objects.get(key="e1").golden_answer == "In 1971."
    assert Example.objects.get(key="e2").golden_answer is None
    assert list(
        ExamplePassage.objects.filter(example__key="e2")
        .order_by("position")
        .values_list("passage__key", "is_golden")
    ) == [("p1", True), ("p2", False)]
    setup = Setup.objects.get(model="b")
    assert (setup.name, setup.temperature) == ("b · T 0.7 · top_p=1.0", 0.7)
    assert setup.settings == {"top_p": 1.0}
    ben = Rater.objects.get(code="ben")
    assert (ben.is_excluded, ben.gold_score, ben.user) == (True, 0.25, None)


def test_shown_evidence_is_stated_nothing_or_not_stated(pilot):
    import_path(pilot)

    found = {
        r.key: (r.is_evidence_stated, r.evidence_shown.count()) for r in Response.objects.all()
    }
    assert found == {"r1": (True, 1), "r2": (False, 0), "r3": (True, 0)}


def test_the_study_is_closed_and_named_after_the_dataset(pilot):
    outcome = import_path(pilot, "My pilot")

    study = Study.objects.get()
    assert outcome.study == study
    assert (study.name, study.slug, study.state) == ("My pilot", "my-pilot", Study.State.CLOSED)
    assert (study.is_imported, study.raters_per_unit) == (True, None)
    assert outcome.dataset == study.dataset == Dataset.objects.get(name="My pilot")
    assert set(study.setups.all()) == set(Setup.objects.all())


def test_another_name_for_the_study_is_taken_from_the_caller_before_the_file(pilot):
    write_files(pilot, study={"name": "From the file"})

    assert str(import_path(pilot, "one").study) == "From the file"
    assert str(import_path(pilot, "two", "By hand").study) == "By hand"


def test_what_study_json_says_is_kept(tmp_path):
    study = {"raters_per_unit": 3, "evidence_choice": "golden", "seed": 5, "order": "fixed"}
    rows = pilot_rows() | {"study": study | {"guidelines": [{"version": 1, "text": "Read."}]}}

    import_rows(tmp_path / "a", **rows)

    found = Study.objects.get()
    assert (found.raters_per_unit, found.evidence_choice, found.seed) == (3, "golden", 5)
    assert found.settings == {"order": "fixed"}
    assert list(Guideline.objects.values_list("version", "text")) == [(1, "Read.")]


@pytest.mark.parametrize("packed", ["zip", "zip of a folder", "gzipped files"])
def test_a_packed_folder_gives_the_same_rows(tmp_path, pilot, packed):
    expected = import_path(pilot, "one").counts
    if packed == "zip":
        path = Path(shutil.make_archive(str(tmp_path / "packed"), "zip", pilot))
    elif packed == "zip of a folder":
        path = Path(shutil.make_archive(str(tmp_path / "packed"), "zip", tmp_path, "pilot"))
    else:
        path = tmp_path / "packed"
        path.mkdir()
        for file in pilot.iterdir():
            (path / f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes()))

    assert import_path(path, "two").counts == expected


def test_one_file_alone_makes_a_dataset(pilot):
    outcome = import_path(pilot / "examples.jsonl")

    assert outcome.counts == {"examples": {"new": 2, "unchanged": 0, "bad": 0}}
    assert outcome.study is None
    assert not Study.objects.exists()


def test_the_preview_shows_the_first_rows_of_each_kind(pilot):
    preview = import_path(pilot, dry_run=True).preview

    assert preview["votes"][0] == {
        "line": "2",
        "response": "r1",
        "rater": "anna",
        "question": "attributable",
        "answer": "yes",
        "arm": "separate",
    }
    assert preview["examples"][0]["golden passage"] == "Mill"
    assert [row["golden answer"] for row in preview["examples"]] == ["In 1971.", "—"]
    assert len(preview["votes"]) == 5
    assert preview["scores"] == [{"line": "2", "response": "r1", "metric": "rouge", "score": "0.5"}]


@pytest.mark.parametrize("text", ["長" * 300, "a" * 300, "word " * 100, "two\nlines " * 50])
def test_the_preview_of_a_long_text_shows_its_beginning(tmp_path, text):
    rows: dict[str, Any] = {"examples": [example_row()], "responses": [response_row(text=text)]}

    shown = import_rows(tmp_path / "a", **rows).preview["responses"][0]["text"]

    assert shown.startswith(" ".join(text.split())[:100])
    assert shown.endswith(" …")
    assert len(shown) <= 120


def test_files_and_columns_that_are_not_read_are_named(tmp_path):
    rows = pilot_rows()
    rows["votes"] = [vote | {"mood": "fine"} for vote in rows["votes"]]
    folder = write_files(tmp_path / "a", **rows)
    (folder / "notes.txt").write_text("later")

    assert import_path(folder).ignored == ["notes.txt", "votes.csv: column 'mood'"]


# --- again, and more of it ------------------------------------------------------------------


def test_the_same_again_changes_nothing(pilot):
    import_path(pilot)
    before = contents()

    outcome = import_path(pilot)

    assert contents() == before
    assert all(count["new"] == count["bad"] == 0 for count in outcome.counts.values())
    assert {kind: count["unchanged"] for kind, count in outcome.counts.items()} == {
        "examples": 2,
        "responses": 3,
        "raters": 1,
        "votes": 5,
        "flags": 1,
        "scores": 1,
    }


def test_a_setup_with_odd_numbers_is_the_same_when_it_comes_again(tmp_path):
    setup = {"model": "b", "temperature": 0, "run": 2, "top_p": 1e-7, "seed": 12345678901234567890}
    setup |= {
        "budget": 1e16,
        "share": 1.0,
        "shift": -0.0,
        "list": [1e300, {"b": 10**400, "a": None}],
    }
    rows: dict[str, Any] = {"examples": [example_row()], "responses": [response_row(setup=setup)]}
    import_rows(tmp_path / "a", **rows)

    more: dict[str, Any] = {"responses": [response_row("r2", setup=setup)]}
    outcome = import_rows(tmp_path / "b", **more)

    assert outcome.counts["responses"]["new"] == 1
    assert Setup.objects.count() == 1


def test_more_responses_and_votes_join_a_dataset_that_exists(tmp_path, pilot):
    import_path(pilot)

    outcome = import_rows(
        tmp_path / "more",
        responses=[response_row("r4", "e2", setup="model-c", evidence_shown=["p2"])],
        votes=[vote_row("r4", "dora", "no"), vote_row("r1", "dora", "yes")],
    )

    assert outcome.counts["responses"]["new"] == 1
    assert outcome.counts["votes"]["new"] == 2
    assert (Dataset.objects.count(), Study.objects.count()) == (1, 1)
    assert Vote.objects.count() == 7
    assert Study.objects.get().setups.count() == 3
    assert outcome.scheme_origin == "the scheme of study pilot"


def test_votes_may_make_a_second_study_of_the_same_dataset(tmp_path, pilot):
    import_path(pilot)

    import_rows(
        tmp_path / "more", study_name="second", votes=[vote_row("r1", "anna", "5", "fluent")]
    )

    assert list(Study.objects.order_by("pk").values_list("name", flat=True)) == ["pilot", "second"]
    assert Study.objects.get(name="second").dataset == Dataset.objects.get()
    assert Target.objects.count() == 2  # the same thing is asked about


def test_raters_are_brought_up_to_date(tmp_path, pilot):
    import_path(pilot)

    import_rows(
        tmp_path / "more",
        raters=[{"rater": "anna", "excluded": "1"}, {"rater": "eve", "simulated": "yes"}],
    )

    facts = Rater.objects.order_by("code").values_list("code", "is_excluded", "is_simulated")
    assert list(facts) == [
        ("anna", True, False),
        ("ben", True, False),
        ("cleo", False, False),
        ("eve", False, True),
    ]


@pytest.mark.parametrize(
    ("kind", "change", "field"),
    [
        ("examples", {"golden_answer": "In 1972."}, ""),
        ("examples", {"turns": [{"speaker": "user", "text": "Else?"}]}, ""),
        ("responses", {"text": "Other."}, ""),
        ("responses", {"setup": {"model": "model-a"}}, ""),
        ("votes", {"answer": "no"}, ""),
        ("scores", {"score": "0.6"}, ""),
    ],
)
def test_other_content_under_the_same_id_is_a_problem_and_nothing_is_stored(
    tmp_path, pilot, kind, change, field
):
    import_path(pilot)
    before = contents()
    rows = pilot_rows()
    rows[kind][0] |= change
    rows["examples"].append(example_row("e9"))

    with pytest.raises(BadRows) as error:
        import_rows(tmp_path / "changed", **rows)

    [problem] = error.value.outcome.problems
    assert problem.where.file.startswith(kind)
    assert "stored with other content" in problem.found
    assert problem.expected == "the same content, or another id"
    assert contents() == before


@pytest.mark.parametrize("is_stored", [False, True], ids=["in one file", "in the database"])
def test_a_passage_that_comes_back_with_another_text_is_a_problem(tmp_path, is_stored):
    first = example_row("e1", evidence=[{"id": "p1", "text": "Closed in 1971."}])
    second = example_row("e2", evidence=[{"id": "p1", "text": "Closed in 1972."}])
    if is_stored:
        import_rows(tmp_path / "first", examples=[first])

    with pytest.raises(BadRows) as error:
        import_rows(tmp_path / "both", examples=[first, second])

    assert problems_of(error.value) == [("examples.jsonl", 2, "evidence")]
    assert '"p1" with other content than before' in str(error.value)


@pytest.mark.parametrize("is_stored", [False, True], ids=["in one file", "in the database"])
def test_a_setup_name_that_stands_for_something_else_is_a_problem(tmp_path, is_stored):
    first = response_row("r1", setup={"name": "base", "model": "b", "temperature": 0.7})
    second = response_row("r2", setup={"name": "base", "model": "b", "temperature": 0.8})
    examples = [example_row()]
    if is_stored:
        import_rows(tmp_path / "first", examples=examples, responses=[first])

    with pytest.raises(BadRows) as error:
        import_rows(tmp_path / "both", examples=examples, responses=[first, second])

    assert problems_of(error.value) == [("responses.jsonl", 2, "setup")]


def test_storing_votes_twice_stores_them_once(pilot):
    study = import_path(pilot).study
    assert study
    with open_material(pilot) as material:
        records = [vote for vote in material.records("votes") if isinstance(vote, VoteRecord)]
        plan = plan_import(material, "pilot")

    assert len(records) == 5
    assert store_votes(study, plan.scheme, records) == 0
    assert Vote.objects.count() == 5
