"""The page of gold items: known answers as lines, as a file, and from the preview of a response."""

import csv
from collections.abc import Iterator

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from accounts.models import AuditEntry
from annotation.models import GoldAnswer, Study
from annotation.services.gold import set_gold
from annotation.services.studies import open_study
from tests.annotation.makers import material, planned
from tests.makers import example_row, response_row
from tests.shown import shown

pytestmark = pytest.mark.once
GOOD = {"sensible": 1, "specific": 1}
BAD = {"sensible": 0}


@pytest.fixture
def study(tmp_path):
    """A planned SSA study of four responses, two to each of two examples."""
    return planned(material(tmp_path / "data"), scheme="SSA")


def address(study):
    return reverse("annotation:gold", args=[study.slug])


CSV = "response,question,answer\ne1-cool,sensible,no\ne2-cool,sensible,yes\ne2-cool,specific,yes\n"


# The first line, and what is wrong with what follows it.
MISTAKES = [
    ("a,b\n1,2\n", "ine 1: found the columns a, b; expected response, question, answer."),
    (
        "response,question,answer\nr,colour,yes\n",
        'ine 2, question: found "colour"; expected one of sensible, specific.',
    ),
    (
        "response,question,answer\nr,sensible,maybe\n",
        'ine 2, answer: found "maybe"; expected no or yes.',
    ),
    (
        CSV + "e1-cool,sensible,no\n",
        'ine 5, question: found sensible of response "e1-cool" twice; expected it once.',
    ),
    (
        CSV + "e9,sensible,no\n",
        'ine 5, response: found "e9"; expected the key of a response that can be chosen.',
    ),
    (
        CSV + "e1-warm,specific,no\n",
        'ine 5, answer: found no answer of response "e1-warm" to sensible; expected an answer to '
        "every question that is asked.",
    ),
    (CSV + "e1-warm,sensible,no,sure\n", "ine 5: found 4 cells; expected 3."),
]


def file_of(text: str, name: str = "known.csv") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, text.encode(), content_type="text/csv")


def test_a_researcher_writes_known_answers_and_finds_them_again(study, rosa, client_for):
    client = client_for(rosa)

    answer = client.post(
        address(study), {"answers": CSV, "n_qualifying": 1, "threshold": "0.5"}, follow=True
    )

    study.refresh_from_db()
    [message] = shown(answer).messages
    assert "2 known answers are set" in message
    assert (study.n_gold_units, study.n_qualifying, study.gold_threshold) == (2, 1, 0.5)
    assert shown(client.get(address(study))).fields["answers"] == CSV.rstrip()


def test_a_file_is_read_instead_of_the_lines(study, rosa, client_for):
    file = file_of("\ufeff" + CSV)  # spreadsheet programs write UTF-8 so

    client_for(rosa).post(address(study), {"answers": "not read", "file": file, "n_qualifying": 0})

    assert set(study.gold_answers.values_list("target__response__key", flat=True)) == {
        "e1-cool",
        "e2-cool",
    }


@pytest.mark.parametrize(("text", "said"), MISTAKES)
def test_a_mistake_is_told_by_its_line_and_changes_nothing(study, rosa, client_for, text, said):
    set_gold(study, {"e2-warm": GOOD}, rosa)

    answer = client_for(rosa).post(address(study), {"answers": text, "n_qualifying": 0})

    assert answer.status_code == 422
    assert shown(answer).errors["answers"] == f"L{said}"
    assert study.gold_answers.count() == 2


@pytest.mark.parametrize(("text", "said"), MISTAKES)
def test_a_mistake_in_a_file_is_told_by_the_file_too(study, rosa, client_for, text, said):
    answer = client_for(rosa).post(
        address(study), {"answers": "", "file": file_of(text), "n_qualifying": 0}
    )

    assert answer.status_code == 422
    assert shown(answer).errors["file"] == f"known.csv, l{said}"
    assert not GoldAnswer.objects.exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "known.csv: found nothing; expected the columns response, question, answer."),
        (b"response,\xff", "known.csv: found bytes that are not UTF-8, at byte 9; expected"),
        (b"x" * (2**20 + 1), "known.csv: found more than 1,048,576 bytes; expected 1,048,576 at"),
    ],
)
def test_what_is_no_csv_file_is_refused(study, rosa, client_for, content, said):
    file = SimpleUploadedFile("known.csv", content)

    answer = client_for(rosa).post(address(study), {"file": file, "n_qualifying": 0})

    assert answer.status_code == 422
    assert shown(answer).errors["file"].startswith(said)


def test_more_to_qualify_than_there_are_is_refused(study, rosa, client_for):
    answer = client_for(rosa).post(address(study), {"answers": CSV, "n_qualifying": 3})

    assert answer.status_code == 422
    assert "Found 3 known answers to qualify; expected at most 2" in shown(answer).messages[0]
    assert not GoldAnswer.objects.exists()


def test_an_open_study_keeps_its_gold_items(study, rosa, client_for):
    set_gold(study, {"e1-cool": BAD, "e2-cool": GOOD}, rosa)
    open_study(study, rosa)

    answer = client_for(rosa).post(address(study), {"answers": "", "n_qualifying": 0})

    assert answer.status_code == 422
    assert GoldAnswer.objects.filter(study=study).count() == 4


@pytest.mark.parametrize("method", ["get", "post"])
def test_raters_and_strangers_do_not_see_known_answers(study, rachel, client_for, method):
    assert getattr(client_for(rachel), method)(address(study)).status_code == 403
    assert getattr(Client(), method)(address(study)).status_code == 302


@pytest.mark.parametrize("key", ['e1, the "cool" one', "e1\ncool"])
def test_known_answers_of_an_awkward_key_survive_the_page(tmp_path, rosa, client_for, key):
    dataset = material(
        tmp_path / "m",
        examples=[example_row("e1")],
        responses=[response_row(key, "e1", evidence_shown=["p-e1"])],
    )
    study = planned(dataset, scheme="SSA")
    client = client_for(rosa)
    quoted = key.replace('"', '""')
    text = f'response,question,answer\n"{quoted}",sensible,yes\n"{quoted}",specific,no\n'
    known = {(key, "sensible", 1), (key, "specific", 0)}

    for _ in range(2):
        as_browser = text.replace("\n", "\r\n")
        answer = client.post(address(study), {"answers": as_browser, "n_qualifying": 0})
        assert answer.status_code == 302, shown(answer).errors
        stored = study.gold_answers.values_list("target__response__key", "question", "answer")
        assert set(stored) == known
        text = shown(client.get(address(study))).fields["answers"]


@pytest.fixture
def short_fields() -> Iterator[int]:
    """Let a CSV field have this many characters: imports in the same process raise the limit."""
    before = csv.field_size_limit(1000)
    yield 1000
    csv.field_size_limit(before)


@pytest.mark.parametrize(
    ("before", "line"), [("", 1), ("response,question,answer\ne1-cool,sensible,no\n", 3)]
)
def test_an_over_long_field_is_told_by_its_line(
    study, rosa, client_for, short_fields, before, line
):
    text = f"{before}{'x' * (short_fields + 1)},sensible,no\n"

    answer = client_for(rosa).post(address(study), {"answers": text, "n_qualifying": 0})

    assert answer.status_code == 422
    assert (
        f"Line {line}: found a row that is not CSV (field larger" in shown(answer).errors["answers"]
    )
    assert not GoldAnswer.objects.exists()


# --- from the preview of a response ---------------------------------------------------------


def preview_of(study: Study, number: int, arm: str = "separate") -> str:
    return f"{reverse('annotation:preview', args=[study.slug])}?arm={arm}&number={number}"


def know(client: Client, study: Study, number: int, **answers: str):
    """Answer a response on its preview, and say that the answers are known."""
    page = shown(client.get(preview_of(study, number)))
    [action] = [each for each in page.actions if each]
    given = {f"{key}-1": answer for key, answer in answers.items()}
    return client.post(action, {"response": page.fields["response"]} | given)


def known_of(study: Study) -> dict[str, dict[str, int]]:
    known: dict[str, dict[str, int]] = {}
    rows = study.gold_answers.values_list("target__response__key", "question", "answer")
    for response, question, answer in rows:
        known.setdefault(response, {})[question] = answer
    return known


def test_answers_on_the_preview_become_known_beside_the_others(study, rosa, client_for):
    set_gold(study, {"e1-cool": GOOD}, rosa, n_qualifying=1, threshold=0.5)
    client = client_for(rosa)

    # The separate units are e1-cool, e1-warm, e2-cool and e2-warm, whichever of them are gold.
    answer = know(client, study, 4, sensible="0")

    assert answer.url == preview_of(study, 4)
    [message] = shown(client.get(answer.url)).messages
    assert "this response is a gold item" in message
    assert known_of(study) == {"e1-cool": GOOD, "e2-warm": {"sensible": 0, "specific": 0}}
    study.refresh_from_db()
    assert (study.n_gold_units, study.n_qualifying, study.gold_threshold) == (2, 1, 0.5)
    entry = AuditEntry.objects.filter(action="study.gold-set").order_by("pk").last()
    assert entry is not None
    assert entry.actor == rosa


def test_the_preview_of_a_gold_item_shows_its_answers_which_can_be_changed(study, rosa, client_for):
    client = client_for(rosa)
    know(client, study, 2, sensible="1", specific="0")

    page = shown(client.get(preview_of(study, 2)))
    assert (page.fields["sensible-1"], page.fields["specific-1"]) == ("1", "0")
    assert "Gold item" in page.text

    know(client, study, 2, sensible="1", specific="1")

    assert known_of(study) == {"e1-warm": GOOD}


def test_missing_answers_are_told_on_the_preview_and_store_nothing(study, rosa, client_for):
    answer = know(client_for(rosa), study, 1, sensible="1")

    assert answer.status_code == 422
    assert "Not stored: 1 answer is missing." in shown(answer).messages[0]
    assert not known_of(study)


def test_answers_to_another_response_than_the_page_showed_are_not_stored(study, rosa, client_for):
    address = reverse("annotation:know-answers", args=[study.slug, 1])

    answer = client_for(rosa).post(address, {"response": "e2-cool", "sensible-1": "0"}, follow=True)

    assert "The plan has changed meanwhile" in shown(answer).messages[0]
    assert not known_of(study)


def test_only_a_single_response_of_a_planned_study_can_become_known(
    tmp_path, study, rosa, client_for
):
    client = client_for(rosa)
    both = planned(
        material(tmp_path / "both"), scheme="SSA", name="Both", arms=["separate", "merged"]
    )
    pages = [client.get(preview_of(both, 1, arm)) for arm in ("merged", "separate")]
    assert ["These answers are known" in shown(page).buttons for page in pages] == [False, True]

    open_study(study, rosa)

    assert "These answers are known" not in shown(client.get(preview_of(study, 1))).buttons
    address = reverse("annotation:know-answers", args=[study.slug, 1])
    assert client.post(address, {"response": "e1-cool", "sensible-1": "0"}).status_code == 404


def test_a_gold_item_of_several_groups_is_previewed_once(tmp_path, rosa, client_for):
    arms = ["separate", "merged"]
    study = planned(material(tmp_path), scheme="SSA", arms=arms, raters=10)
    client = client_for(rosa)

    know(client, study, 1, sensible="0")

    assert "1 of 4" in shown(client.get(preview_of(study, 1))).text
    open_study(study, rosa)
    assert "1 of 4" in shown(client.get(preview_of(study, 1))).text


def test_raters_and_strangers_make_no_answers_known(study, rachel, client_for):
    address = reverse("annotation:know-answers", args=[study.slug, 1])
    given = {"response": "e1-cool", "sensible-1": "0"}

    assert client_for(rachel).post(address, given).status_code == 403
    assert Client().post(address, given).status_code == 302
    assert not known_of(study)
