"""The meaning of a table's columns, chosen on the page of its import, and kept for the next."""

import json
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.urls import reverse
from openpyxl import Workbook

from annotation.models import Study, Vote
from evaluation.exchange.mappings import save_mapping
from evaluation.exchange.uploads import request_import, request_storing
from evaluation.models import AutoScore
from generation.importers.mapped.mapping import read_mapping
from generation.models import Dataset, Import, Response, SavedMapping
from tests.evaluation.commands import failure
from tests.shown import shown
from tests.uploading import State, asked_to_store, carried_on, checked

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("own_cache_and_folder")]

FOREIGN = Path(__file__).parents[2] / "data" / "foreign"
LINES = """frage,text,wer,urteil,guete
Who built it?,Ilva Marren.,anna,gut,"0,5"
Who built it?,Ilva Marren.,ben,schlecht,"0,5"
When?,In 1846.,anna,gut,"1"
"""
MAPPING = """decimal = ","

[columns]
frage = "question"
text = "response"
wer = "rater"
urteil = "vote"
guete = "score"

[names]
urteil = "attributed"

[values.urteil]
gut = "yes"
schlecht = "no"
"""


@pytest.fixture
def admin(adam, client_for):
    return client_for(adam)


@pytest.fixture
def upload(adam):
    return request_import(SimpleUploadedFile("antworten.csv", LINES.encode()), "Lights", "", adam)


def page_of(upload, name="import-progress"):
    return reverse(f"evaluation:{name}", args=[upload.pk])


def roles(*of_columns, **more):
    return {f"role-{number}": role for number, role in enumerate(of_columns)} | more


def test_a_table_that_nobody_knows_asks_for_its_columns(admin, upload):
    page = shown(admin.get(page_of(checked(upload))))

    assert any("Say what the columns are." in message for message in page.messages)
    # The question is told by its question marks; the response cannot be.
    assert upload.report["look"]["columns"][0]["role"] == "question"
    assert not request_storing(upload, skip_bad=False)
    assert admin.get(page_of(upload, "mapping")).text == '[columns]\nfrage = "question"\n'


def test_what_somebody_says_is_checked_stored_and_kept_under_a_name(
    admin, upload, django_capture_on_commit_callbacks
):
    checked(upload)
    with django_capture_on_commit_callbacks() as sent:
        admin.post(
            page_of(upload, "map-columns"),
            roles("question", "response", "rater", "vote", "score", decimal=","),
        )
    assert len(sent) == 1
    checked(upload)
    assert upload.report["look"]["columns"][3]["answers"] == ["gut", "schlecht"]

    answers = {"called-3": "attributed", "answer-3-0": "yes", "answer-3-1": "no"}
    named = {"called-4": "guete", "save_as": "Lights of May", "decimal": ","}
    admin.post(
        page_of(upload, "map-columns"),
        roles("question", "response", "rater", "vote", "score", **answers, **named),
    )
    assert carried_on(asked_to_store(upload)).state == State.DONE

    saved = SavedMapping.objects.get()
    assert (saved.name, read_mapping(saved.text)) == ("Lights of May", read_mapping(MAPPING))
    assert read_mapping(admin.get(page_of(upload, "mapping")).text) == read_mapping(MAPPING)
    votes = Vote.objects.order_by("pk").values_list("question", "answer")
    assert list(votes) == [("attributed", 1), ("attributed", 0), ("attributed", 1)]
    assert Response.objects.count() == 2
    assert set(AutoScore.objects.values_list("score", flat=True)) == {0.5, 1.0}


LABELS = """question,response,rater,verdict
Who?,She.,r1,good
Who?,She.,r2,NA
When?,Then.,r1,bad
When?,Then.,r2,None
"""


def test_words_for_nothing_among_labels_are_asked_about(admin, adam):
    file = SimpleUploadedFile("labels.csv", LABELS.encode())
    mapping = '[columns]\nquestion = "question"\nresponse = "response"\n'
    mapping += 'rater = "rater"\nverdict = "vote"\n'
    upload = request_import(file, "Labels", "", adam, mapping=mapping)

    page = shown(admin.get(page_of(checked(upload))))

    assert any("Say what these words mean." in message for message in page.messages)
    assert not request_storing(upload, skip_bad=False)
    assert upload.report["look"]["columns"][3]["answers"] == ["good", "NA", "bad", "None"]
    answers = {"answer-3-0": "good", "answer-3-2": "bad", "answer-3-3": "None"}
    admin.post(
        page_of(upload, "map-columns"),
        roles("question", "response", "rater", "vote", **answers, **{"answer-3-1": ""})
        | {"called-3": "verdict", "scale-3": "None, good, bad", "decimal": "."},
    )
    assert carried_on(asked_to_store(checked(upload))).state == State.DONE

    assert sorted(Vote.objects.values_list("answer", flat=True)) == [0, 1, 2]
    said = read_mapping(Import.objects.get().mapping)
    assert said.values == {"verdict": {"NA": "", "None": "None"}}
    assert said.scales == {"verdict": ("None", "good", "bad")}
    (question,) = Study.objects.get().scheme["questions"]
    assert question["scale"] == {"nominal": ["None", "good", "bad"]}


def test_no_name_of_a_rater_comes_in(admin, adam, upload):
    for name in ("first", "second"):
        file = SimpleUploadedFile("antworten.csv", LINES.encode())
        upload = request_import(file, name, "", adam, mapping=MAPPING)
        carried_on(asked_to_store(upload))

    codes = set(Vote.objects.values_list("rater__code", flat=True))
    assert len(codes) == 2  # the same person has the same code in every dataset
    assert not codes & {"anna", "ben"}
    assert dict(upload.report["notes"])["raters whose names were replaced by codes"] == 2


@pytest.mark.parametrize(
    ("said", "error"),
    [
        (roles("question", "", "", "", ""), "Choose which column is the response."),
        (roles("question", "nothing"), "Select a valid choice. nothing is not one"),
        (
            roles("question", "response", "response", "vote"),
            "expected one column of responses, or no column of votes",
        ),
        (roles("question", "response", save_as="n" * 101), "at most 100 characters"),
    ],
)
def test_columns_that_cannot_be_used_say_so_and_change_nothing(admin, upload, said, error):
    checked(upload)
    report = upload.report

    answer = admin.post(page_of(upload, "map-columns"), said)

    assert answer.status_code == 422
    assert error in shown(answer).text
    upload.refresh_from_db()
    assert (upload.state, upload.report, upload.mapping) == (State.CHECKED, report, "")


def test_columns_of_what_is_stored_cannot_be_changed(admin, adam, upload):
    upload = request_import(
        SimpleUploadedFile("t.csv", LINES.encode()), "Lights", "", adam, mapping=MAPPING
    )
    carried_on(asked_to_store(upload))

    admin.post(page_of(upload, "map-columns"), roles("response"))

    upload.refresh_from_db()
    assert (upload.state, upload.mapping) == (State.DONE, MAPPING)


def test_a_file_is_sent_with_a_mapping_saved_or_from_a_file(admin, adam):
    save_mapping("Lights", MAPPING, adam)
    for chosen in (
        {"saved_mapping": "Lights"},
        {"mapping_file": SimpleUploadedFile("m.toml", MAPPING.encode())},
    ):
        admin.post("/data/import/", {"file": SimpleUploadedFile("t.csv", LINES.encode()), **chosen})

    assert set(Import.objects.values_list("mapping", flat=True)) == {MAPPING}
    answer = admin.post(
        "/data/import/",
        {
            "file": SimpleUploadedFile("t.csv", LINES.encode()),
            "mapping_file": SimpleUploadedFile("m.toml", b"[columns]\n"),
        },
    )
    assert "m.toml, columns: found {}" in shown(answer).text


def test_the_first_examples_are_shown_as_raters_see_them(admin, adam):
    file = SimpleUploadedFile("t.csv", b"question,answer,context\nWho?,<b>She</b>,It is tall.\n")
    page = admin.get(page_of(checked(request_import(file, "Lights", "", adam))))

    assert "Example 1, as raters will see it" in shown(page).headings
    assert "Passage 1 of 1 It is tall." in shown(page).text
    assert "<b>She" not in page.text
    assert "No dialog column: intervals treat each example as a dialog" in shown(page).text


def test_the_command_takes_a_mapping(tmp_path):
    (tmp_path / "t.csv").write_text(LINES)
    (tmp_path / "m.toml").write_text(MAPPING)

    call_command("import_dataset", str(tmp_path / "t.csv"), mapping=tmp_path / "m.toml", name="L")

    assert Dataset.objects.get().responses.count() == 2
    missing = tmp_path / "other.toml"
    assert "No such file" in failure("import_dataset", str(tmp_path / "t.csv"), mapping=missing)


@pytest.mark.parametrize("user", ["rosa", "rachel"])
def test_only_admins_may_say_what_columns_are(request, client_for, upload, user, settings):
    settings.RESEARCHERS_IMPORT = False
    checked(upload)
    client = client_for(request.getfixturevalue(user))

    answers = [
        client.post(page_of(upload, "map-columns"), roles("question", "response")),
        client.get(page_of(upload, "mapping")),
    ]

    assert [answer.status_code for answer in answers] == [403, 403]


def test_a_file_of_another_tool_stays_its_own_when_a_column_is_changed(admin, adam):
    content = (FOREIGN / "label_studio_export.json").read_bytes()
    upload = checked(request_import(SimpleUploadedFile("ls.json", content), "Opossums", "", adam))
    columns = upload.report["look"]["columns"]
    said = {f"role-{n}": column["role"] for n, column in enumerate(columns)}
    system = [column["name"] for column in columns].index("system")
    called = {
        f"called-{n}": column["name"]
        for n, column in enumerate(columns)
        if column["role"] == "vote"
    }
    answers = {
        f"answer-{n}-{place}": answer
        for n, column in enumerate(columns)
        for place, answer in enumerate(column["answers"])
    }

    said[f"role-{system}"] = "setup"
    admin.post(page_of(upload, "map-columns"), said | called | answers)

    checked(upload)
    assert upload.report["counts"]["votes"]["new"] == 12
    assert upload.report["examples"][0]["response"]["setup"] == "rag-a"
    assert read_mapping(upload.mapping).reader == "label_studio"


def test_a_list_inside_a_file_is_found_again_when_its_columns_are_said(admin, adam):
    content = b'{"all": {"items": [{"frage": "Who?", "text": "She."}]}}'
    upload = checked(request_import(SimpleUploadedFile("a.json", content), "Lights", "", adam))

    admin.post(page_of(upload, "map-columns"), roles("question", "response"))

    assert checked(upload).report["counts"]["responses"]["new"] == 1


def test_a_saved_mapping_is_deleted_by_who_saved_it_and_by_admins(
    admin, rosa, rachel, adam, client_for
):
    page, mapping = reverse("evaluation:import"), save_mapping("Lights", MAPPING, rosa)
    address = reverse("evaluation:delete-mapping", args=[mapping.pk])
    other = save_mapping("Mine", MAPPING, adam)
    of_others = reverse("evaluation:delete-mapping", args=[other.pk])

    assert client_for(rachel).post(address).status_code == 403
    assert client_for(rosa).post(of_others).status_code == 403
    assert f"Delete {other.name}" not in client_for(rosa).get(page).text
    answer = client_for(rosa).post(address, follow=True)
    admin.post(of_others)

    assert "The mapping Lights is deleted." in shown(answer).messages
    assert not SavedMapping.objects.exists()


ANSWERS = {"answer-4-0": "yes", "answer-4-1": "no"}
RATED = "question,answer,annotator,good,true\nWho?,She.,r1,4,yes\nWho?,She.,r2,2,no\n"


def test_of_several_likely_columns_of_votes_the_page_asks(admin, adam):
    upload = request_import(SimpleUploadedFile("t.csv", RATED.encode()), "Lights", "", adam)

    page = shown(admin.get(page_of(checked(upload))))
    assert any("which of the columns good and true hold votes" in each for each in page.messages)

    good = {"called-3": "good", "answer-3-0": "4", "answer-3-1": "2"}
    said = roles("question", "response", "rater", "vote", **good)
    admin.post(page_of(upload, "map-columns"), said | {"called-4": "true"} | ANSWERS)
    page = shown(admin.get(page_of(checked(upload))))
    assert "accept" not in page.fields  # what differs beside votes is counted
    assert "something else in true than the first row" in page.text


def test_messages_of_the_system_become_evidence_on_the_page(admin, adam):
    said = [("system", "It is tall."), ("user", "How tall?"), ("assistant", "Very.")]
    messages = [{"role": role, "content": content} for role, content in said]
    file = SimpleUploadedFile("t.json", json.dumps({"messages": messages}).encode())
    upload = checked(request_import(file, "Talks", "", adam))
    assert "system_messages" in shown(admin.get(page_of(upload))).fields

    admin.post(page_of(upload, "map-columns"), roles("messages", system_messages="shown"))
    upload.refresh_from_db()

    assert read_mapping(upload.mapping).system_messages == "shown"
    assert checked(upload).report["counts"]["passages"]["new"] == 1


def test_a_loss_needs_a_tick(admin, adam):
    rows = b"question,answer,rating\nWho?,She.,4\nWho?,She.,5\n"
    upload = request_import(SimpleUploadedFile("t.csv", rows), "Lights", "", adam)
    page = shown(admin.get(page_of(checked(upload))))
    assert page.fields["accept"] == []
    assert "Something would be lost" in page.headings
    assert "Accept losses: rows that repeat a response with other values in rating" in page.text

    answer = admin.post(page_of(upload, "store-import"), follow=True)
    assert any("Tick 'Accept losses'" in message for message in shown(answer).messages)
    assert not Dataset.objects.exists()
    admin.post(page_of(upload, "store-import"), {"accept": "on"})
    assert carried_on(upload).state == State.DONE


def test_columns_become_raters_with_their_question_on_the_page(admin, adam):
    rows = b"question,answer,anna,r2\nWho?,She.,yes,no\n"
    upload = request_import(SimpleUploadedFile("t.csv", rows), "Lights", "", adam)
    checked(upload)
    two = roles("question", "response", "rater_votes", "rater_votes")
    admin.post(page_of(upload, "map-columns"), two)
    page = shown(admin.get(page_of(checked(upload))))
    assert (page.fields["called-2"], page.fields["rater-2"]) == ("vote", "anna")

    named = {"called-2": "true", "called-3": "true", "rater-2": "r1", "rater-3": "r2"}
    named |= {"answer-2-0": "yes", "answer-3-0": "no"}
    admin.post(page_of(upload, "map-columns"), two | named)
    carried_on(asked_to_store(upload))

    votes = Vote.objects.order_by("pk").values_list("question", "rater__code", "answer")
    assert list(votes) == [("true", "r1", 1), ("true", "r2", 0)]


def test_another_sheet_or_line_is_chosen_on_the_page(admin, adam, tmp_path):
    book = Workbook()
    book.worksheets[0].append(["A note of two cells", "by Anna"])
    data = book.create_sheet("Antworten")
    for row in (["Umfrage"], ["frage", "text", "text"], ["Who built it?", "Ilva.", "x"]):
        data.append(row)
    book.save(tmp_path / "t.xlsx")
    file = SimpleUploadedFile("t.xlsx", (tmp_path / "t.xlsx").read_bytes())
    upload = request_import(file, "Lights", "", adam)

    page = shown(admin.get(page_of(checked(upload))))
    error = "t.xlsx, line 2, text: found two columns with this name; expected each column once"
    assert any(error in message for message in page.messages)
    assert page.fields["sheet"] == "Antworten"
    assert page.fields["header_line"] == "2"

    admin.post(page_of(upload, "map-columns"), {"header_line": "3"})
    columns = checked(upload).report["look"]["columns"]
    assert [column["name"] for column in columns] == ["Who built it?", "Ilva.", "x"]
    admin.post(page_of(upload, "map-columns"), {"sheet": "Sheet", "header_line": "3"})
    columns = checked(upload).report["look"]["columns"]
    assert [column["name"] for column in columns] == ["A note of two cells", "by Anna"]
