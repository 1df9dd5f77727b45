"""Exports of doccano, Potato and Appen are the votes of their annotators, and nothing else is."""

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from generation.importers import UnmappedError
from generation.importers.mapped.readers.appen import AGGREGATED, TAINTED, TEST_QUESTIONS
from generation.importers.mapped.readers.doccano import MARKS, TOGETHER
from generation.importers.mapped.readers.potato import BAD_TEXT, WRITTEN
from generation.importers.mapped.readers.potato import MARKS as MARKS_OF_POTATO
from generation.importers.rater_codes import NOMINAL, rater_code
from generation.records import Problem
from tests.generation.importers.reading import opened

FOREIGN = Path(__file__).parents[3] / "data" / "foreign"
ANNA, BERT = rater_code("anna"), rater_code("bert")


def read(path):
    with opened(path) as material:
        return {kind: list(material.records(kind)) for kind in material.kinds}, material


def votes_in(found):
    text_of = {each.key: each.text for each in found["responses"]}
    return sorted((v.rater, text_of[v.response], v.question, v.answer) for v in found["votes"])


@pytest.mark.parametrize("ending", ["jsonl", "json", "csv"])
def test_each_file_of_doccano_is_the_votes_of_its_annotator(ending):
    found, material = read(FOREIGN / f"doccano_{ending}.zip")

    assert material.look.recipe == "doccano"
    # As `tests/foreign/write_doccano.py` gave them.
    assert votes_in(found) == sorted(
        [
            (ANNA, "She did.", "label", "yes"),
            (ANNA, "In 1847.", "label", "no"),
            (ANNA, "Of slate.", "label", "no"),
            (BERT, "She did.", "label", "yes"),
            (BERT, "In 1847.", "label", "no + unsure"),
        ]
    )
    assert [(r.text, r.setup.name) for r in found["responses"]] == [
        ("She did.", "small"),
        ("In 1847.", "small"),
        ("Of slate.", "large"),
    ]
    assert [e.turns[-1].text for e in found["examples"]] == ["Who built it?", "When?", "Of what?"]
    assert material.losses == {}


def test_labels_of_annotators_who_work_together_are_of_nobody_and_are_kept():
    found, material = read(FOREIGN / "doccano_together.zip")

    assert [(v.rater, v.answer) for v in found["votes"]] == [
        (NOMINAL, "yes"),
        (NOMINAL, "no + unsure"),
        (NOMINAL, "no"),
    ]
    assert material.n_left_out == {TOGETHER: 2}
    assert found["responses"][1].meta["labels"] == ["no", "no", "unsure"]


def test_a_file_of_doccano_alone_has_its_annotator_and_counts_marks(tmp_path):
    """The text is the response, if no column that was uploaded with it is."""
    rows = [
        {"id": 1, "text": "Q A", "answer": "A", "label": [[0, 1, "ORG"], "yes"], "Comments": []},
        {"id": 2, "text": "Q B", "answer": "B", "label": "no", "Comments": []},
    ]
    path = tmp_path / "bert.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))

    found, material = read(path)

    good, problem = found["responses"]
    assert (good.text, good.meta["text"]) == ("A", "Q A")
    assert isinstance(problem, Problem)
    assert "bert.jsonl, line 2, label: found 'no'" in str(problem)
    assert [(v.rater, v.answer) for v in found["votes"]] == [(BERT, "yes")]
    assert material.n_left_out == {MARKS: 1}


OF_POTATO = [  # `tests/foreign/write_potato.py` gave them.
    (ANNA, "She did.", "supported", "yes"),
    (ANNA, "She did.", "fluent", "4"),
    (ANNA, "In 1847.", "supported", "no"),
    (ANNA, "In 1847.", "fluent", "5"),
    (ANNA, "In 1847.", "faults", "date + name"),
    (ANNA, "In 1847.", "rate.tone", "2"),
    (ANNA, "In 1847.", "rate.length", "3"),
    (ANNA, "Of slate.", "supported", "no"),
    (ANNA, "Of slate.", "rate.tone", "3"),
    (BERT, "She did.", "supported", "yes"),
    (BERT, "She did.", "fluent", "2"),
    (BERT, "In 1847.", "supported", "yes"),
    (BERT, "In 1847.", "faults", "date"),
]


@pytest.mark.parametrize("ending", ["jsonl", "csv", "tsv"])
def test_instances_of_potato_are_the_votes_of_all_annotators(ending):
    found, material = read(FOREIGN / f"potato.{ending}")

    assert material.look.recipe == "Potato"
    assert votes_in(found) == sorted(OF_POTATO)
    assert material.n_left_out == {WRITTEN: 1}
    assert {vote.seconds for vote in found["votes"]} == {12 if ending == "jsonl" else None}


def test_the_folder_of_one_annotator_of_potato_has_the_name_of_the_annotator(tmp_path):
    rows = map(json.loads, (FOREIGN / "potato.jsonl").read_text("utf-8").splitlines())
    own = [{"id": row.pop("instance_id"), **row} for row in rows if row.pop("user_id") == "anna"]
    folder = tmp_path / "anna"
    folder.mkdir()
    (folder / "annotated_instances.jsonl").write_text("\n".join(map(json.dumps, own)))

    found, _ = read(folder)

    assert votes_in(found) == sorted(vote for vote in OF_POTATO if vote[0] == ANNA)


ITEMS = "id,question,answer\nq1,Who built it?,She did.\nq2,When?,In 1847.\nq3,Of what?,Of slate.\n"


@pytest.mark.parametrize("ending", ["jsonl", "csv"])
def test_an_export_of_potato_is_read_beside_its_items(tmp_path, ending):
    shutil.copy(FOREIGN / f"potato2.{ending}", tmp_path / f"annotations.{ending}")
    with pytest.raises(UnmappedError):
        opened(tmp_path)
    (tmp_path / "items.csv").write_text(ITEMS)

    found, material = read(tmp_path)

    assert material.look.recipe == "Potato"
    numbers = {"fluent": "5", "rate.tone": "", "rate.length": ""}  # This export has no others.
    of_both = [vote for vote in OF_POTATO if numbers.get(vote[2]) not in ("", vote[3])]
    assert votes_in(found) == sorted(vote for vote in of_both if vote[1] != "Of slate.")
    assert [e.turns[-1].text for e in found["examples"]] == ["Who built it?", "When?", "Of what?"]


def test_what_is_no_answer_of_potato_is_counted_and_an_unknown_item_is_a_bad_row(tmp_path):
    labels = {
        "fluent": {"bad_text": "0"},
        "why": {"free_response": "So.", "other": "other"},
        "n": {"text_box": "3"},
    }
    known = {"id": "q1", "label_annotations": labels, "span_annotations": [{"annotation": "x"}]}
    rows = (known | {"id": "q9"}, known)
    (tmp_path / "bert.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "items.csv").write_text(ITEMS)

    found, material = read(tmp_path)

    [problem] = (each for each in found["responses"] if isinstance(each, Problem))
    assert 'bert.jsonl, line 1, id: found "q9"' in str(problem)
    assert [(v.rater, v.question, v.answer) for v in found["votes"]] == [
        (BERT, "why", "other"),
        (BERT, "n", "3"),
    ]
    # The marks of the bad row are counted too.
    assert material.n_left_out == {WRITTEN: 1, BAD_TEXT: 1, MARKS_OF_POTATO: 2}


FULL = """\
_unit_id,_created_at,_golden,_id,_missed,_started_at,_tainted,_channel,_trust,_worker_id,_country,\
_region,_city,_ip,fluent,supported,answer,context,fluent_gold,question,supported_gold
8671,1/28/2016 19:02:18,false,101,,1/28/2016 19:01:08,false,neodev,0.92,33026482,USA,CA,Davis,\
169.0.2.1,4,yes,She did.,She built it.,,Who built it?,
8671,1/28/2016 19:05:00,false,102,,1/28/2016 19:04:30,true,neodev,0.5,33026483,USA,CA,Davis,\
169.0.2.2,5,no,She did.,She built it.,,Who built it?,
8672,1/28/2016 19:06:00,true,103,true,1/28/2016 19:05:30,false,neodev,0.92,33026482,USA,CA,Davis,\
169.0.2.1,2,no,In 1846.,She built it.,,When?,yes
"""
OF_UNITS = """\
_unit_id,_golden,_unit_state,_trusted_judgments,_last_judgment_at,supported,supported:confidence,\
answer,question,supported_gold
8671,false,finalized,3,1/28/2016 19:02:18,yes,0.6667,She did.,Who built it?,
8672,true,golden,3,1/28/2016 19:06:00,no,1.0,In 1846.,When?,yes
"""


def test_a_full_report_of_appen_is_the_votes_of_its_workers(tmp_path):
    """Rows with the columns of published reports (`_unit_id,_created_at,_golden,_id,…`)."""
    (tmp_path / "f1.csv").write_text(FULL)

    found, material = read(tmp_path / "f1.csv")

    assert [(v.rater, v.question, v.answer, v.source_id, v.seconds) for v in found["votes"]] == [
        ("33026482", "fluent", "4", "101", 70),
        ("33026482", "supported", "yes", "101", 70),
        ("33026483", "fluent", "5", "102", 30),
        ("33026483", "supported", "no", "102", 30),
        ("33026482", "fluent", "2", "103", 30),
        ("33026482", "supported", "no", "103", 30),
    ]
    assert found["votes"][0].at == datetime(2016, 1, 28, 19, 2, 18, tzinfo=UTC)
    assert [response.key for response in found["responses"]] == ["8671", "8672"]
    assert material.n_left_out == {
        TEST_QUESTIONS: 1,
        TAINTED: 1,
        "cells of _ip, which tell who a rater is": 3,
    }


def test_an_aggregated_report_of_appen_has_no_votes(tmp_path):
    (tmp_path / "a1.csv").write_text(OF_UNITS)

    found, material = read(tmp_path / "a1.csv")

    assert "votes" not in found
    assert "scores" not in found
    said = [(r.meta["supported"], r.meta["supported:confidence"]) for r in found["responses"]]
    assert said == [("yes", "0.6667"), ("no", "1.0")]
    assert material.n_left_out == {AGGREGATED: 2}


def test_a_unit_without_an_id_is_a_bad_row(tmp_path):
    (tmp_path / "f1.csv").write_text(FULL.replace("8672,", ","))

    found, _ = read(tmp_path / "f1.csv")

    [problem] = (each for each in found["responses"] if isinstance(each, Problem))
    assert "f1.csv, line 4, _unit_id: found nothing" in str(problem)
