"""Import: which scheme the votes are read against, and files that hold next to nothing."""

from typing import Any

import pytest

from annotation.models import Study
from generation.importers.errors import DatasetError
from generation.models import (
    Dataset,
)
from tests.makers import (
    contents,
    import_path,
    import_rows,
    is_empty,
    pilot_rows,
    scheme_of,
    vote_row,
    write_files,
)

pytestmark = pytest.mark.once
YES_NO = scheme_of({"attributable": "yes_no"})


@pytest.fixture
def pilot(tmp_path):
    return write_files(tmp_path / "pilot", **pilot_rows())


# --- the scheme -----------------------------------------------------------------------------


def votes_of(*questions: str, answer: str = "yes") -> list[dict[str, Any]]:
    return [vote_row("r1", "anna", answer, question) for question in questions]


def test_the_import_says_where_the_scheme_came_from(tmp_path):
    rows = pilot_rows()
    del rows["flags"], rows["raters"], rows["scores"]
    ssa = votes_of("sensible", "specific")

    def origin(name, **more):
        return import_rows(tmp_path / name, name, **rows | more).scheme_origin

    assert origin("own", scheme=YES_NO) == "scheme.json"
    said = "the built-in scheme AIS, as the file says"
    assert origin("said", study={"scheme": "AIS"}) == said
    found = "the built-in scheme SSA, whose questions these are"
    assert origin("found", votes=ssa) == found
    assert origin("made") == "made from the questions and answers found"
    assert Study.objects.get(name="found").scheme["title"]


def test_a_scheme_of_the_file_stands_before_a_built_in_one_of_that_key(tmp_path):
    rows = pilot_rows() | {"scheme": YES_NO, "study": {"scheme": "AIS"}}

    assert import_rows(tmp_path / "a", **rows).scheme_origin == "scheme.json"


def test_a_mistake_in_scheme_json_stops_the_import(tmp_path):
    scheme = scheme_of({"attributable": {"ordinal": [4, 1]}})

    with pytest.raises(DatasetError, match=r"scheme.json, question 'attributable', scale: found"):
        import_rows(tmp_path / "a", **pilot_rows() | {"scheme": scheme})

    assert is_empty()


def test_a_mistake_in_study_json_stops_the_import(tmp_path):
    with pytest.raises(DatasetError, match=r"study.json, raters_per_unit: found 0; expected"):
        import_rows(tmp_path / "a", **pilot_rows() | {"study": {"raters_per_unit": 0}})

    assert is_empty()


def test_a_study_keeps_its_scheme(tmp_path, pilot):
    import_path(pilot)
    before = contents()

    with pytest.raises(DatasetError, match="a scheme that differs from the scheme of the study"):
        import_rows(tmp_path / "b", scheme=YES_NO, votes=[vote_row("r3")])

    assert contents() == before


def test_a_study_of_another_dataset_is_not_added_to(tmp_path, pilot):
    import_path(pilot, "first")

    with pytest.raises(DatasetError, match=r"a study 'first' of dataset 'first'"):
        import_rows(tmp_path / "b", "second", "first", **pilot_rows())

    assert not Dataset.objects.filter(name="second").exists()


def test_a_study_rated_here_takes_no_imported_votes(tmp_path, pilot):
    import_path(pilot)
    Study.objects.update(is_imported=False, raters_per_unit=5)

    with pytest.raises(DatasetError, match="an imported study of 'pilot', or a new name"):
        import_path(pilot)


def test_a_question_that_everybody_answered_alike_can_be_imported(tmp_path):
    rows = pilot_rows() | {"votes": votes_of("verdict", answer="supported")}

    outcome = import_rows(tmp_path / "a", **rows)

    assert outcome.counts["votes"]["new"] == 1
    labels = Study.objects.get().scheme["questions"][0]["scale"]["nominal"]
    assert "supported" in labels


# --- empty and odd files --------------------------------------------------------------------


def with_text(tmp_path, name, text):
    rows = pilot_rows()
    del rows["flags"], rows["raters"], rows["votes"]
    folder = write_files(tmp_path / "a", **rows)
    (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_votes_with_a_wrong_header_are_told_which_column_is_missing(tmp_path):
    folder = with_text(tmp_path, "votes.csv", "response,rater,question,vote\nr1,anna,q,yes\n")

    with pytest.raises(DatasetError, match=r"votes.csv, line 1.*answer.*no such column.*answer"):
        import_path(folder)

    assert is_empty()


def test_votes_of_which_none_can_be_read_say_why(tmp_path):
    folder = with_text(tmp_path, "votes.csv", "response,rater,question,answer\n,anna,q,yes\n")

    with pytest.raises(DatasetError, match=r"votes.csv, line 2.*response.*found nothing"):
        import_path(folder)


@pytest.mark.parametrize("text", ["response,rater,question,answer\n", ""])
def test_without_a_single_vote_the_questions_must_be_in_a_scheme(tmp_path, text):
    folder = with_text(tmp_path, "votes.csv", text)

    with pytest.raises(DatasetError) as error:
        import_path(folder)

    assert "question 'q'" not in str(error.value)
    assert "votes" in str(error.value)
    assert is_empty()


def test_an_empty_votes_file_with_a_scheme_makes_an_empty_study(tmp_path):
    folder = with_text(tmp_path, "votes.csv", "response,rater,question,answer\n")
    write_files(folder, scheme=YES_NO)

    outcome = import_path(folder)

    assert outcome.counts["votes"] == {"new": 0, "unchanged": 0, "bad": 0}
    assert Study.objects.get().scheme == YES_NO


def test_flags_without_votes_need_a_scheme_and_say_so(tmp_path):
    folder = with_text(tmp_path, "flags.csv", "response,rater\nr1,anna\n")

    with pytest.raises(DatasetError, match=r"scheme.json"):
        import_path(folder)

    write_files(folder, scheme=YES_NO)
    assert import_path(folder).counts["flags"]["new"] == 1


@pytest.mark.parametrize("text", ["", "\n\n", "[]\n", "not json\n"])
def test_a_file_without_an_example_stores_none(tmp_path, text):
    (tmp_path / "examples.jsonl").write_text(text)

    outcome = import_path(tmp_path / "examples.jsonl", dry_run=True)

    assert outcome.counts["examples"]["new"] == 0
    assert outcome.n_problems == len(text.split("\n")) - 1 - text.count("\n\n") * 2


def test_a_folder_without_data_is_refused(tmp_path):
    with pytest.raises(DatasetError, match="a published file"):
        import_path(tmp_path)
