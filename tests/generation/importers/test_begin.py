"""BEGIN: a consensus label becomes one vote, the knowledge the golden passage."""

import csv
from collections import Counter
from typing import Any

import pytest

from generation.importers import DatasetError, open_material
from generation.records import Problem

HEADER = "model_name\tdata_source\tknowledge\tmessage\tresponse\tbegin_label"


def read(tmp_path, *rows, header=HEADER):
    path = tmp_path / "labels.tsv"
    path.write_text("".join(f"{row}\r\n" for row in (header, *rows)), newline="")
    with open_material(path) as material:
        assert material.format == "begin"
        return {kind: list(material.records(kind)) for kind in material.kinds}


@pytest.mark.parametrize(
    ("label", "answer"),
    [("Fully attributable", "yes"), ("Not fully attributable", "no"), ("Generic", "no")],
)
def test_only_fully_attributable_is_a_yes(tmp_path, label, answer):
    found = read(tmp_path, f"t5\twow\tChalk is soft.\tIs chalk hard?\tIt is soft.\t{label}")

    (vote,), (response,) = found["votes"], found["responses"]
    assert (vote.rater, vote.question, vote.answer) == ("published", "attributable", answer)
    assert (vote.response, vote.arm, vote.is_implied) == (response.key, "separate", False)
    assert (response.text, response.setup.name) == ("It is soft.", "t5")
    assert response.meta == {"begin_label": label}
    assert response.evidence_shown is None  # the file does not say


def test_the_knowledge_is_the_golden_passage_and_the_message_the_users_turn(tmp_path):
    row = 't5\twow\t"Chalk" is 5" soft.\tIs it "hard"?\t"No."\tGeneric'  # quotes are characters

    found = read(tmp_path, row)

    (example,) = found["examples"]
    (passage,) = example.evidence
    assert (passage.text, passage.is_golden) == ('"Chalk" is 5" soft.', True)
    assert example.turns == (("user", 'Is it "hard"?', -1),)
    assert example.meta == {"data_source": "wow"}
    assert found["responses"][0].text == '"No."'


def test_one_knowledge_and_message_are_one_example_and_one_knowledge_is_one_dialog(tmp_path):
    found = read(
        tmp_path,
        "t5\twow\tChalk is soft.\tIs it?\tYes.\tGeneric",
        "gpt2\twow\tChalk is soft.\tIs it?\tNo.\tGeneric",
        "gpt2\twow\tChalk is soft.\tIs it?\tMaybe.\tFully attributable",  # the same once more
        "gpt2\twow\tChalk is soft.\tReally?\tYes.\tGeneric",
        "gpt2\twow\tSlate is hard.\tReally?\tYes.\tGeneric",
    )

    examples, keys = found["examples"], [response.key for response in found["responses"]]
    assert len({example.key for example in examples}) == len(examples) == 3
    assert [example.dialog for example in examples].count(examples[0].dialog) == 2
    one = examples[0].key
    assert [r.example for r in found["responses"]] == [one] * 3 + [e.key for e in examples[1:]]
    assert keys[:3] == [f"{one}|t5", f"{one}|gpt2", f"{one}|gpt2|2"]
    assert len(set(keys)) == 5
    assert [vote.response for vote in found["votes"]] == keys


def test_without_a_message_the_dialog_is_not_known(tmp_path):
    found = read(tmp_path, "t5\tcmu\tChalk is soft.\t \tYes.\tGeneric")

    assert found["examples"][0].turns == ()


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ("t5\twow\tChalk.\tIs it?\tYes.\tPartly", "begin_label"),
        ("t5\twow\tChalk.\tIs it?\tYes.\t", "begin_label"),
        ("t5\twow\t \tIs it?\tYes.\tGeneric", "knowledge"),
        ("\twow\tChalk.\tIs it?\tYes.\tGeneric", "model_name"),
        ("t5\t\tChalk.\tIs it?\tYes.\tGeneric", "data_source"),
        ("t5\twow\tChalk.\tIs it?\tYes.", ""),
    ],
)
def test_a_row_that_cannot_be_read_is_reported_once_and_gives_no_record(tmp_path, row, field):
    found = read(tmp_path, "t5\twow\tChalk.\tIs it?\tYes.\tGeneric", row)

    problems = [item for items in found.values() for item in items if isinstance(item, Problem)]
    assert [(item.field, item.where.line) for item in problems] == [(field, 3)]
    assert [len(found[kind]) for kind in ("examples", "votes")] == [1, 1]


def test_a_missing_column_is_the_problem_of_the_file_and_a_further_one_is_named(tmp_path):
    found = read(tmp_path, "x", header=HEADER.replace("message", "turn"))
    assert [problem.field for problem in found["responses"]] == ["message"]

    path = tmp_path / "labels.tsv"
    path.write_text(f"{HEADER}\tnote\nt5\twow\tChalk.\tIs it?\tYes.\tGeneric\tx\n")
    with open_material(path) as material:
        assert len(list(material.records("votes"))) == 1
        assert material.ignored == ["labels.tsv: column 'note'"]


def test_a_folder_of_several_files_is_imported_file_by_file(tmp_path):
    for name in ("a.tsv", "b.tsv"):
        (tmp_path / name).write_text(f"{HEADER}\n")

    with pytest.raises(DatasetError, match="one BEGIN TSV file"):
        open_material(tmp_path, format="begin")


# PROVENANCE.md beside the files: 416 + 383 + 430 rows.
@pytest.mark.parametrize(("name", "n_rows"), [("cmu", 416), ("tc", 383), ("wow", 430)])
def test_published_files_are_read_whole(shared, name, n_rows):
    path = shared / "data/begin" / f"begin_dev_{name}.tsv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))

    with open_material(path) as material:
        found: dict[str, list[Any]] = {
            kind: list(material.records(kind)) for kind in material.kinds
        }
        assert (material.ignored, material.n_left_out) == ([], {})

    assert not [item for items in found.values() for item in items if isinstance(item, Problem)]
    assert len(rows) == len({response.key for response in found["responses"]}) == n_rows
    assert len(found["examples"]) == len({(row["knowledge"], row["message"]) for row in rows})
    assert len({e.dialog for e in found["examples"]}) == len({row["knowledge"] for row in rows})
    assert [r.text for r in found["responses"]] == [row["response"] for row in rows]
    assert Counter(vote.answer for vote in found["votes"])["yes"] == sum(
        row["begin_label"] == "Fully attributable" for row in rows
    )
