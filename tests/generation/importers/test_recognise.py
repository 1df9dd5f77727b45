"""Formats are told by content, kinds of single files by name or by columns."""

import json
import zipfile

import pytest

from generation.importers import READERS, DatasetError, open_material, recognise

MTRAG = {"name": "x", "documents": [], "tasks": [], "evaluations": []}
AIS_HEADER = (
    "ex-idx ,doc-url,doc-url-hash,model-name,output,INT,INT & AIS,Flagged,Q1,Q2,"
    "# agree (INT),# agree (AIS)\n"
)


def test_a_folder_or_zip_with_a_known_name_is_interchange(tmp_path):
    (tmp_path / "examples.jsonl").write_text("")
    (tmp_path / "README.md").write_text("about")
    archive = tmp_path / "d.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("d/scores.csv", "response,metric,score\n")

    assert recognise(tmp_path) == recognise(archive) == "interchange"


@pytest.mark.parametrize("indent", [None, 2])
def test_published_files_are_told_by_what_they_hold(tmp_path, indent):
    mtrag = tmp_path / "download.json"
    mtrag.write_text(json.dumps(MTRAG, indent=indent))
    ais = tmp_path / "votes.csv"  # its name does not matter
    ais.write_text(AIS_HEADER)
    begin = tmp_path / "responses.tsv"
    begin.write_text("model_name\tdata_source\tknowledge\tmessage\tresponse\tbegin_label\r\n")

    assert recognise(mtrag) == "mtrag"
    assert recognise(ais) == "ais"
    assert recognise(begin) == "begin"


def test_a_zip_around_one_published_file_is_looked_through(tmp_path):
    archive = tmp_path / "d.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("d/ann.csv", AIS_HEADER)
        file.writestr("d/LICENSE", "CC BY")

    assert recognise(archive) == "ais"


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("votes_pilot.csv", "response,rater,question,answer\n", "votes"),
        ("kg_questions-v2.jsonl", "", "kg_questions"),
        ("export.csv", "rater;response;answer;question\n", "votes"),
        ("export.csv", "response,metric,score\n", "scores"),
        ("export.csv", "response,rater,arm,reason\n", "flags"),
        ("export.csv", "response,question,answer,note,by,at\n", "adjudications"),
        ("export.jsonl", '{"id": "e1", "turns": []}\n', "examples"),
        ("export.jsonl", '{"id": "r", "example": "e", "setup": "s", "text": "t"}\n', "responses"),
        ("export", '{"qid": "Q1", "label": "x", "triples": []}\n', "entities"),
        ("export.csv", "id,question,entities\n", "kg_questions"),
    ],
)
def test_a_single_file_is_told_by_its_name_else_by_its_columns(tmp_path, name, content, kind):
    path = tmp_path / name
    path.write_text(content)

    with open_material(path) as material:
        assert material.format == "interchange"
        assert material.kinds == (kind,)


def test_an_unclear_file_is_an_error_that_names_kinds_and_columns(tmp_path):
    path = tmp_path / "scoresheet.csv"
    path.write_text("a,b\n1,2\n")

    with pytest.raises(DatasetError, match=r"votes \(response, rater, question, answer\)"):
        recognise(path)


def test_two_files_of_one_kind_are_an_error(tmp_path):
    (tmp_path / "votes.csv").write_text("response,rater,question,answer\n")
    (tmp_path / "votes.jsonl").write_text("")

    with pytest.raises(DatasetError, match="two files of votes"):
        recognise(tmp_path)


def test_an_unknown_format_is_an_error_that_names_the_known_ones(tmp_path):
    with pytest.raises(DatasetError, match=", ".join(READERS)):
        open_material(tmp_path, format="xml")
