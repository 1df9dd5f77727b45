"""Raters have codes, nothing else tells who they are, and a word for nothing names no rater."""

import json

import pytest

from generation.importers import UnmappedError
from generation.importers.errors import DatasetError
from generation.importers.mapped.mapping import read_mapping
from generation.importers.rater_codes import is_code, rater_code, without_persons
from tests.generation.importers.reading import opened

CLAIMS = '[columns]\nclaim = "response"\nev = "shown"\nrater = "rater"\nlabel = "vote"\n'


def read(tmp_path, rows, mapping=None):
    path = tmp_path / "t.csv"
    path.write_text("".join(f"{line}\n" for line in rows.split(" / ")), encoding="utf-8")
    with opened(path, mapping=mapping and read_mapping(mapping)) as material:
        return {kind: list(material.records(kind)) for kind in material.kinds}, material


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        *(("r1", True), ("5", True), ("annotator_3", True), ("published", True)),
        *(("A2ZDEERVRN5AMC", True), ("5f3adeb2c1a45f3adeb2c1a4", True), ("rater-abcdef12", True)),
        *(("anna.smith2", False), ("j_doe84", False), ("Anna", False), ("Rater 1", False)),
        ("ann7@x.org", False),
    ],
)
def test_a_code_names_no_person(name, is_one):
    assert is_code(name) == is_one
    assert (rater_code(name) == name) == is_one


def test_a_rater_has_the_code_of_an_earlier_import():
    assert rater_code("j_doe84", stored=["j_doe84"]) == "j_doe84"
    of_capitals = {"Ann@x.org": "12345678", "ann@x.org": "90abcdef"}.__getitem__
    assert rater_code("Ann@x.org", of_capitals) == "rater-90abcdef"
    assert rater_code("Ann@x.org", of_capitals, ["rater-12345678"]) == "rater-12345678"


def test_an_address_has_one_code_in_any_capitals_and_a_whole_number_one_form():
    assert rater_code("Ann@x.org") == rater_code("ann@x.org")
    assert rater_code("12.0") == "12"


def test_fields_that_tell_who_a_rater_is_are_left_out_by_name():
    fields = {
        "E-Mail": "ann@x.org",
        "annotator_name": "Ann",
        "IPAddress": "1.2.3.4",
        "contact": "ann@x.org",
        "ben@x.org": 5,
        "worker": "w7",
        "by": {"id": 4, "first_name": "Ann"},
        "seen": ["p.4", "ben@x.org"],
        "mail_order": "no",
        "phone": "",
    }

    kept, names = without_persons(fields)

    assert kept == {"worker": "w7", "by": {"id": 4}, "seen": ["p.4"], "mail_order": "no"}
    of_an_address = "a column whose name is an address"
    of_columns = ["E-Mail", "annotator_name", "IPAddress", "contact"]
    assert names == [*of_columns, of_an_address, "by.first_name", "seen"]


def test_a_table_with_raters_keeps_no_address_and_one_without_keeps_all(tmp_path):
    found, material = read(tmp_path, "rater,email,question,answer / r1,a@x.org,Who?,She.")
    assert found["responses"][0].meta == {}
    assert material.n_left_out == {"cells of email, which tell who a rater is": 1}

    found, material = read(tmp_path, "question,answer,a@x.org / Who?,She.,Fine.")
    assert found["responses"][0].meta == {}
    assert sum(material.n_left_out.values()) == 1

    found, material = read(tmp_path, "user_email,question,answer / a@x.org,Who?,She.")
    assert found["responses"][0].meta == {"user_email": "a@x.org"}
    assert not material.n_left_out


def test_words_for_nothing_are_no_rater_no_evidence_no_setup_and_no_time(tmp_path):
    head = "question,answer,context,model,rater,correct,lead_time,rated_at"
    found, material = read(tmp_path, f"{head} / Who?,NA,NA,NaN,nan,yes,NA,None")

    (response,) = found["responses"]
    assert (response.text, response.setup.name, response.evidence_shown) == ("NA", "answers", ())
    (vote,) = found["votes"]
    assert (vote.rater, vote.seconds, vote.at) == ("published", None, None)
    assert material.notes["cells of context that say NA, taken as no evidence"] == 1


def test_a_rater_spelled_in_two_ways_is_one_and_counted(tmp_path):
    rows = "Who?,She.,r1,yes / Why?,So.,R1,no / Who?,She.,7,yes / Why?,So.,7.0,no"
    found, material = read(tmp_path, f"question,answer,rater,correct / {rows}")

    assert [vote.rater for vote in found["votes"]] == ["r1", "r1", "7", "7"]
    assert [n for what, n in material.notes.items() if "spelled in several ways" in what] == [2]


@pytest.mark.parametrize(
    ("rows", "mapping", "keys"),
    [
        # A session of the rater is no dialog; a dialog that two raters share is one.
        ("rater,session_id,question,answer,ok / r1,s,Who?,She.,yes / r2,t,Who?,She.,no", "", "aa"),
        (
            "rater,dialog_id,question,answer,ok / r1,d1,Who?,She.,yes / r2,d1,Who?,She.,no / "
            "r1,d2,Who?,She.,yes",
            "",
            "aab",
        ),
        # An id of the row is no id of the response, unless a mapping says so.
        ("ResponseId,question,answer,rater,ok / A,Who?,She.,r1,yes / B,Who?,She.,r2,no", "", "aa"),
        (
            "ResponseId,question,answer,rater,ok / R1,Who?,She.,r1,yes / R2,Who?,She.,r2,no",
            '[columns]\nResponseId = "response_id"\nquestion = "question"\nanswer = "response"\n'
            'rater = "rater"\nok = "vote"\n',
            "ab",
        ),
        # Claims: equal ones are one, with other evidence they are others.
        ("claim,ev,rater,label / It shut.,,r1,yes / It shut.,,r2,no", CLAIMS, "aa"),
        ("claim,ev,rater,label / It shut.,One.,r1,yes / It shut.,Two.,r2,no", CLAIMS, "ab"),
        # Other evidence is another response; a row without evidence is about the first.
        (
            "question,answer,context,rater,ok / Who?,She.,One.,r1,yes / Who?,She.,Two.,r2,no / "
            "Who?,She.,,r3,no",
            "",
            "aba",
        ),
    ],
)
def test_votes_on_one_text_are_on_one_response(tmp_path, rows, mapping, keys):
    found, _ = read(tmp_path, rows, mapping or None)

    on = [vote.response for vote in found["votes"]]
    letters = {key: "abc"[number] for number, key in enumerate(dict.fromkeys(on))}
    assert "".join(letters[key] for key in on) == keys
    assert [response.key for response in found["responses"]] == list(letters)


def test_other_evidence_of_a_response_with_an_id_is_a_loss(tmp_path):
    rows = "Who?,She.,a,One.,r1,yes / Who?,She.,a,Two.,r2,no"
    _, material = read(tmp_path, f"question,answer,answer_id,context,rater,ok / {rows}")

    assert [n for what, n in material.losses.items() if "other evidence" in what] == [1]


def test_a_system_is_a_setup_where_it_parts_the_rows_of_one_question(tmp_path):
    found, _ = read(tmp_path, "question,answer,system / Who?,She.,a / Who?,She.,b")
    assert [response.setup.name for response in found["responses"]] == ["a", "b"]

    found, _ = read(tmp_path, "question,answer,system / Who?,She.,a / Why?,So.,b")
    assert [response.setup.name for response in found["responses"]] == ["answers", "answers"]


def test_empty_lists_are_no_evidence(tmp_path):
    found, _ = read(tmp_path, "question,answer,tags / Who?,She.,[] / Why?,So.,[]")

    assert [response.evidence_shown for response in found["responses"]] == [None, None]
    assert "passages" not in found


def test_a_header_without_rows_is_refused(tmp_path):
    with pytest.raises(DatasetError, match="a header without rows; expected at least one row"):
        read(tmp_path, "question,answer,rater,correct")


@pytest.mark.parametrize("name", ["votes", "ratings", "human_labels"])
def test_numbers_in_an_object_of_votes_are_no_scores(tmp_path, name):
    path = tmp_path / "t.json"
    path.write_text(
        json.dumps([{"question": "Who?", "answer": "She.", name: {"ann": 3, "ben": 5}}])
    )
    with pytest.raises(UnmappedError) as error:
        opened(path)
    asked = f"which of the columns {name}.ann and {name}.ben hold votes of its raters"
    assert error.value.look.asks == asked

    said = f'[columns]\nquestion = "question"\nanswer = "response"\n"{name}.*" = "rater_votes"\n'
    with opened(path, mapping=read_mapping(said)) as material:
        votes = [(vote.question, vote.answer) for vote in material.records("votes")]
    assert votes == [("vote", "3"), ("vote", "5")]


def test_columns_named_by_addresses_are_votes_of_raters_with_codes(tmp_path):
    header = "question,answer,ann@x.org,r1@y.org"

    found, material = read(tmp_path, f"{header} / Who?,She.,yes,no / Why?,So.,no,maybe")

    ann, bob = rater_code("ann@x.org"), rater_code("r1@y.org")
    votes = [(vote.rater, vote.question, vote.answer) for vote in found["votes"]]
    assert votes == [
        *((ann, "vote", "yes"), (bob, "vote", "no")),
        *((ann, "vote", "no"), (bob, "vote", "maybe")),
    ]
    assert material.n_left_out == {}
    said = [*material.notes, *(column for vote in found["votes"] for column in vote.columns)]
    assert not any("x.org" in each or "y.org" in each for each in said)


def test_a_column_named_by_an_address_that_may_be_votes_is_asked_about(tmp_path):
    with pytest.raises(UnmappedError, match="whether the column …@… holds votes of its raters"):
        read(tmp_path, "question,answer,ann@x.org / Who?,She.,4.5 / Why?,So.,3")
