"""Recall and precision of retrieval: the figures by hand, the page, its files, who may see it."""

import csv
import io
import json
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from accounts.services import create_api_token
from evaluation.retrieval import ranked_examples as examples_module
from evaluation.retrieval.figure import recall_chart
from evaluation.retrieval.ranked_examples import RetrievalChoices
from evaluation.retrieval.report import retrieval_report
from generation.choices.forms import ChoicesForm
from generation.models import Dataset
from generation.retrieval import dataset_index
from generation.retrieval.bm25 import Bm25
from generation.tasks import build_index
from tests.charts import valid
from tests.evaluation.commands import failure
from tests.evaluation.retrieval.searched_examples import asked, passage
from tests.makers import example_row, import_rows, statements
from tests.shown import shown

pytestmark = pytest.mark.once


def by_k(report, name):
    return [row[name] for row in report.records]


def page_of(client, dataset, **asked):
    return client.get(reverse("evaluation:retrieval", args=[dataset.slug]), asked)


# --- the figures ----------------------------------------------------------------------------


def test_recall_and_precision_are_means_over_examples_worked_out_by_hand(dataset):
    report = retrieval_report(dataset, RetrievalChoices())

    # Rankings, ties by key, of fire, mill, x, z0, z1, z2:
    # e1 'fire?' → fire, mill, x, …: golden fire at 1.
    # e2 'and fire?' → fire, mill, …: golden mill at 2.
    # e3 'nothing to be found': z0, z1, z2 share 'nothing' (in 3 of 6: idf ln(3.5/3.5) = 0, so all
    #    tie) → fire, mill, …: golden fire at 1, mill at 2.
    assert by_k(report, "recall")[:3] == pytest.approx([(1 + 0 + 1 / 2) / 3, 1, 1])
    assert by_k(report, "precision")[:3] == pytest.approx(
        [(1 + 0 + 1) / 3, (1 / 2 + 1 / 2 + 1) / 3, (1 / 3 + 1 / 3 + 2 / 3) / 3]
    )
    assert by_k(report, "k") == list(range(1, 11))
    assert {(row["n"], row["n_dialogs"]) for row in report.records} == {(3, 2)}
    assert all(row["recall_low"] <= row["recall"] <= row["recall_high"] for row in report.records)


def test_the_whole_dialog_finds_what_the_question_does_not_say(dataset):
    # e2 now says 'mill' three times and 'fire' once, and 'mill mill' is the shorter: mill first.
    report = retrieval_report(dataset, RetrievalChoices(query="dialog"))

    assert by_k(report, "recall")[0] == pytest.approx((1 + 1 + 1 / 2) / 3)


def test_lucenes_rule_ranks_what_shares_a_frequent_word_first(dataset):
    # 'nothing' now weighs ln 2 > 0: e3 finds z0, z1, z2 before its golden passages.
    report = retrieval_report(dataset, RetrievalChoices(Bm25("lucene")))

    assert by_k(report, "recall")[0] == pytest.approx((1 + 0 + 0) / 3)


def test_what_is_left_out_and_guessed_is_counted(dataset):
    report = retrieval_report(dataset, RetrievalChoices())

    assert report.left_out == {
        "examples_without_golden_evidence": 1,
        "examples_outside_the_sample": 0,
    }
    assert {row["n_guessed"] for row in report.records} == {1}
    assert "query question" in report.signature
    assert "idf:okapi-epsilon|k1:1.5|b:0.75" in report.signature


def test_questions_that_share_no_word_with_any_passage_are_counted(tmp_path, researcher):
    rows = [
        asked("e1", "Is it a flood?", evidence=[passage("x", "a flood")]),
        asked("e2", "???", evidence=[passage("y", "the mill")]),
        asked("e3", "Why so?", evidence=[passage("y", "the mill")]),
    ]
    for row in rows:
        row["evidence"][0]["golden"] = True
    import_rows(tmp_path / "b", examples=rows)

    report = retrieval_report(Dataset.objects.get(), RetrievalChoices())

    assert {row["n_without_shared_words"] for row in report.records} == {2}
    text = shown(page_of(researcher, Dataset.objects.get())).text
    assert "2 questions share no word with any passage" in text


def test_of_more_examples_a_sample_is_drawn_and_said(dataset, researcher, monkeypatch):
    monkeypatch.setattr(examples_module, "MOST_EXAMPLES", 2)

    report = retrieval_report(dataset, RetrievalChoices())

    assert report.records[0]["n"] == 2
    assert report.left_out["examples_outside_the_sample"] == 1
    assert report == retrieval_report(dataset, RetrievalChoices())
    assert "a seeded sample" in shown(page_of(researcher, dataset)).text


def test_without_golden_evidence_every_figure_is_undefined(tmp_path):
    import_rows(tmp_path / "b", examples=[asked("e1", "a?", evidence=[passage("x", "a flood")])])

    report = retrieval_report(Dataset.objects.get(), RetrievalChoices())

    assert {row["recall"] for row in report.records} == {None}
    assert recall_chart(report.rows) is None


def test_the_chart_has_both_measures_at_every_k(dataset):
    spec = recall_chart(retrieval_report(dataset, RetrievalChoices()).rows)

    [values] = valid(spec)["datasets"].values()
    assert len(values) == 20
    assert {value["measure"] for value in values} == {"Recall", "Precision"}


# --- the choices ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "chosen", "wrong"),
    [
        ({}, RetrievalChoices(), set()),
        (
            {"query": "dialog", "idf": "lucene", "k1": "0.9", "b": "0"},
            RetrievalChoices(Bm25("lucene", 0.9, 0.0), "dialog"),
            set(),
        ),
        (
            {"query": "x", "idf": "y", "k1": "-1", "b": "nan"},
            RetrievalChoices(),
            {"query", "idf", "k1", "b"},
        ),
        ({"k1": "11", "b": "0.4"}, RetrievalChoices(Bm25(b=0.4)), {"k1"}),
        ({"k1": "", "b": ""}, RetrievalChoices(), set()),
    ],
)
def test_what_an_address_says_wrongly_is_as_usual(said, chosen, wrong):
    form = ChoicesForm(RetrievalChoices, said)

    assert form.chosen == chosen
    assert set(form.errors) == wrong


# --- the page -------------------------------------------------------------------------------


def test_the_page_says_figures_in_a_table_beside_the_chart(researcher, dataset):
    page = shown(page_of(researcher, dataset))

    assert "among the 6 passages" in page.text
    assert "over 3 examples in 2 dialogs; for 1 of them the golden evidence is guessed" in page.text
    table = page.table("Recall and precision")
    assert table.columns == ["k", "Recall", "95 % interval", "Precision", "95 % interval"]
    k, recall, low_to_high, precision, _ = table.rows[0]
    assert (k, recall, precision) == ("1", "50.0", "66.7")
    assert "–" in low_to_high
    assert "Left out: 1 example" in page.text
    assert "without golden evidence" in page.text
    assert set(page.data("plots")["charts"]) == {"recall"}


def test_a_wrong_number_is_said_beside_its_field(researcher, dataset):
    page = shown(page_of(researcher, dataset, b="2", k1="x"))

    of_b, of_k1 = (page.part(f"choice-{name}-error").text for name in ("b", "k1"))
    assert "b, 2: Ensure this value is less than or equal to 1." in of_b
    assert "k1, x: Enter a number." in of_k1
    assert (page.fields["b"], page.fields["k1"]) == ("0.75", "1.5")  # the usual ones


def test_a_change_of_choices_is_answered_by_the_fragment(researcher, dataset):
    url = reverse("evaluation:retrieval", args=[dataset.slug])
    answer = researcher.get(url, {"query": "dialog"}, headers={"HX-Request": "true"})

    assert "<html" not in answer.text
    assert shown(answer).fields["query"] == "dialog"


def test_the_number_of_queries_does_not_grow(researcher, dataset, tmp_path):
    def n_statements():
        return len(statements(lambda: page_of(researcher, dataset)))

    page_of(researcher, dataset)
    few = n_statements()
    more = [example_row(f"more{n}") for n in range(30)]
    import_rows(tmp_path / "more", examples=more)
    page_of(researcher, dataset)

    assert n_statements() == few


def test_no_golden_evidence_is_said(researcher, tmp_path):
    import_rows(tmp_path / "b", examples=[asked("e1", "a?", evidence=[passage("x", "a flood")])])

    assert "No golden evidence" in shown(page_of(researcher, Dataset.objects.get())).headings


def test_a_large_collection_waits_for_a_worker_to_index_it(researcher, dataset, monkeypatch):
    monkeypatch.setattr(dataset_index, "MANY_PASSAGES", 5)

    assert "Not indexed yet" in shown(page_of(researcher, dataset)).headings
    address = reverse("evaluation:retrieval-file", args=[dataset.slug, "csv"])
    assert researcher.get(address).status_code == 404

    retrieval_report(dataset, RetrievalChoices())  # a grid calls this
    assert "Means over 3 examples" in shown(page_of(researcher, dataset)).text


def test_passages_that_were_added_make_it_wait_again(researcher, dataset, monkeypatch, tmp_path):
    monkeypatch.setattr(dataset_index, "MANY_PASSAGES", 5)
    retrieval_report(dataset, RetrievalChoices())
    assert "Means over 3 examples" in shown(page_of(researcher, dataset)).text

    import_rows(tmp_path / "more", examples=[asked("e5", "b?", evidence=[passage("b", "bells")])])

    assert "Not indexed yet" in shown(page_of(researcher, dataset)).headings


def test_a_worker_builds_the_index_when_asked_and_the_page_waits_for_it(
    researcher, dataset, monkeypatch, django_capture_on_commit_callbacks
):
    monkeypatch.setattr(dataset_index, "MANY_PASSAGES", 5)
    sent: list[int] = []
    monkeypatch.setattr(build_index, "delay", sent.append)
    address = reverse("evaluation:index-passages", args=[dataset.slug])

    for _ in range(2):  # pressed twice
        with django_capture_on_commit_callbacks(execute=True):
            answer = researcher.post(f"{address}?query=dialog")

    assert answer.status_code == 302
    assert "query=dialog" in answer["Location"]
    assert sent == [dataset.pk]
    answer = page_of(researcher, dataset)
    assert "Indexing the passages" in shown(answer).headings
    assert 'hx-trigger="every 2s"' in answer.text

    build_index(*sent)
    build_index(*sent)  # delivered twice
    assert "Means over 3 examples" in shown(page_of(researcher, dataset)).text


def test_an_index_that_never_came_may_be_asked_for_again(dataset, monkeypatch):
    assert dataset_index.ask_for_index(dataset.pk)
    assert not dataset_index.ask_for_index(dataset.pk)

    monkeypatch.setattr(dataset_index, "LONGEST_BUILD", timedelta(0))

    assert dataset_index.ask_for_index(dataset.pk)


def test_an_index_for_a_dataset_that_was_deleted_is_no_error():
    build_index(10**9)


# --- files ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("format_key", "start"),
    [
        ("json", b"{"),
        ("latex", b"% retrieval | query question | "),
        ("svg", b"<svg"),
        ("pdf", b"%PDF"),
        ("png", b"\x89PNG"),
    ],
)
def test_table_and_figure_come_as_files(researcher, dataset, format_key, start):
    address = reverse("evaluation:retrieval-file", args=[dataset.slug, format_key])

    answer = researcher.get(address)

    assert answer.status_code == 200
    assert answer.content.startswith(start)
    assert answer["Content-Disposition"].startswith('attachment; filename="pilot-retrieval.')


def test_the_csv_has_the_rows_of_the_page(researcher, dataset):
    address = reverse("evaluation:retrieval-file", args=[dataset.slug, "csv"])

    rows = list(csv.DictReader(io.StringIO(researcher.get(address, {"query": "dialog"}).text)))

    assert [row["k"] for row in rows] == [str(k) for k in range(1, 11)]
    assert float(rows[0]["recall"]) == pytest.approx(2.5 / 3)


def test_an_unknown_format_is_not_found(researcher, dataset):
    address = reverse("evaluation:retrieval-file", args=[dataset.slug, "exe"])

    assert researcher.get(address).status_code == 404


def test_without_golden_evidence_there_is_no_figure(researcher, tmp_path):
    import_rows(tmp_path / "b", examples=[asked("e1", "a?", evidence=[passage("x", "a flood")])])
    address = reverse("evaluation:retrieval-file", args=[Dataset.objects.get().slug, "svg"])

    assert researcher.get(address).status_code == 404


# --- the command and the API ----------------------------------------------------------------


@pytest.fixture
def printed(capsys):
    def report(*arguments):
        call_command("report", "retrieval", "--dataset", "pilot", "--format", "json", *arguments)
        return json.loads(capsys.readouterr().out)

    return report


@pytest.fixture
def api(rosa, dataset):
    client = Client(headers={"Authorization": f"Bearer {create_api_token(rosa, 'tests')}"})

    def read(**said):
        return client.get(f"/api/v1/datasets/{dataset.slug}/reports/retrieval/", said)

    return read


@pytest.mark.parametrize(
    ("said", "chosen"),
    [
        ({}, RetrievalChoices()),
        (
            {"query": "dialog", "idf": "lucene", "k1": "0.9", "b": "0"},
            RetrievalChoices(Bm25("lucene", 0.9, 0.0), "dialog"),
        ),
    ],
)
def test_command_and_api_answer_what_the_page_shows(dataset, printed, api, said, chosen):
    found = printed(*[part for name, value in said.items() for part in (f"--{name}", value)])

    assert found == json.loads(json.dumps(retrieval_report(dataset, chosen).as_json()))
    assert api(**said).json() == found


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "the following arguments are required: --dataset"),
        (["--study", "pilot"], "the following arguments are required: --dataset"),
        (["--dataset", "x"], "There is no dataset 'x'. There are: pilot"),
        (["--dataset", "pilot", "--b", "2"], "argument --b: found 2; expected 0 to 1"),
    ],
)
def test_a_mistake_is_one_clear_line_of_the_command(dataset, arguments, said):
    assert said in failure("report", "retrieval", *arguments)


def test_a_report_on_a_study_needs_its_name():
    assert "the following arguments are required: --study" in failure("report", "raters")


@pytest.mark.parametrize("said", [{"k1": "x"}, {"k1": "inf"}, {"idf": "y"}, {"depth": "3"}])
def test_the_api_refuses_what_is_wrong(api, said):
    answer = api(**said)

    assert answer.status_code == 400
    assert said.keys() & answer.json().keys() or said.keys() & answer.json()["errors"].keys()


def test_the_api_does_not_index_a_large_collection(dataset, api, monkeypatch):
    monkeypatch.setattr(dataset_index, "MANY_PASSAGES", 5)

    assert api().status_code == 409
    dataset_index.build_index(dataset.pk)
    assert api().status_code == 200


# --- who may --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["retrieval", "retrieval-file"])
def test_only_researchers_may_see_it_and_nothing_is_posted(
    name, dataset, researcher, rachel, client_for, client
):
    more = [] if name == "retrieval" else ["csv"]
    address = reverse(f"evaluation:{name}", args=[dataset.slug, *more])

    assert client.get(address).status_code == 302
    assert client_for(rachel).get(address).status_code == 403
    assert researcher.post(address).status_code == 405
    assert researcher.get(address.replace(dataset.slug, "nowhere")).status_code == 404


def test_only_researchers_have_the_index_built(dataset, researcher, rachel, client_for, client):
    address = reverse("evaluation:index-passages", args=[dataset.slug])

    assert client.post(address)["Location"].startswith("/accounts/sign-in/")
    assert client_for(rachel).post(address).status_code == 403
    assert researcher.get(address).status_code == 405
    assert researcher.post(address.replace(dataset.slug, "nowhere")).status_code == 404
    assert not dataset_index.is_index_asked_for(dataset.pk)
