"""Exports can be imported again, give the same figures then, and contain no rater's name."""

import csv
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from accounts.models import User
from annotation.models import Flag, Rater, Study, Vote
from evaluation.reports.base import Choices
from evaluation.studies.reports.raters import raters_report
from evaluation.votes.export import export_folder, export_zip
from generation.models import Dataset, Example, Response, Setup
from tests.makers import (
    contents,
    example_row,
    forget,
    import_path,
    import_rows,
    is_empty,
    rated,
    response_row,
    row_counts,
    scheme_of,
    vote_row,
    write_files,
)

pytestmark = pytest.mark.once

ALL_CHOICES = [
    Choices(by_setup, with_implied, with_excluded)
    for by_setup in (False, True)
    for with_implied in (False, True)
    for with_excluded in (False, True)
]
FEWEST_AND_MOST = [ALL_CHOICES[0], ALL_CHOICES[-1]]  # the two for large data
FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "'=1+1", "''=1", "\tx", "'quoted'", "'"]


def reports_of(study, choices=ALL_CHOICES):
    return [raters_report(study, chosen) for chosen in choices]


def exported(study, folder):
    export_folder(study.dataset, study, folder)
    return folder


def exported_and_imported(study, folder):
    """Export a study, delete all there is, and import the export."""
    path, name = exported(study, folder), study.dataset.name
    forget(study.dataset)
    assert is_empty()
    outcome = import_path(path, name)
    assert outcome.n_problems == 0
    assert outcome.study
    return outcome.study


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def objects(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


# --- the same figures -----------------------------------------------------------------------


def rich_rows() -> dict[str, Any]:
    """Two arms with positions, flags, citations, an excluded rater, implied votes, scores."""
    keys = [f"r{n}" for n in range(8)]
    votes = []
    for n, key in enumerate(keys):
        for rater in ("anna", "ben", "cleo"):
            for arm in ("separate", "merged"):
                answer = "no" if (n + len(rater) + len(arm)) % 3 else "yes"
                more = {"arm": arm, "seconds": n + 0.1, "at": f"2026-03-0{n + 1}T10:00:00+02:00"}
                if arm == "merged":
                    more["position"] = n % 2 + 1
                votes.append(vote_row(key, rater, answer, "sensible", **more))
                implied = {"implied": "1"} if answer == "no" else {}
                votes.append(vote_row(key, rater, answer, "specific", **more, **implied))
    votes.append(vote_row("r1", "anna", "yes", "sensible", citation=3, source_id="a 7"))
    pair = scheme_of({"sensible": "yes_no", "specific": "yes_no"}, specific={"after": ["sensible"]})
    return {
        "examples": [example_row(f"e-{key}", dialog=f"d{n // 3}") for n, key in enumerate(keys)],
        "responses": [
            response_row(key, f"e-{key}", setup=["a", {"model": "b", "temperature": 0.7}][n % 2])
            for n, key in enumerate(keys)
        ],
        "votes": votes,
        "flags": [
            {"response": "r0", "rater": "anna", "arm": "separate", "reason": "cut off"},
            {"response": "r0", "rater": "ben", "arm": "separate", "reason": "=cut\r\noff"},
            {"response": "r7", "rater": "ben", "arm": "merged", "reason": ""},
        ],
        "raters": [
            {
                "rater": "cleo",
                "excluded": "yes",
                "gold_score": "0.3",
                "simulated": "yes",
                "excluded_reason": "Clicks, without reading.",
            }
        ],
        "scores": [
            {"response": "r1", "metric": "nli", "score": "0.1", "citation": "3", "signature": "s"},
            {"response": "r1", "metric": "nli", "score": "0.30000000000000004", "signature": "s"},
        ],
        "scheme": pair,
        "study": {
            "raters_per_unit": 3,
            "evidence_choice": "golden",
            "seed": 77,
            "guidelines": [{"version": 1, "text": "Read.\n\nThen rate."}],
            "order": "fixed",
        },
    }


def test_two_arms_with_flags_citations_and_an_excluded_rater_give_the_same_figures(tmp_path):
    study = import_rows(tmp_path / "a", **rich_rows()).study
    assert study
    before, counts = reports_of(study), row_counts()

    again = exported_and_imported(study, tmp_path / "export")

    assert reports_of(again) == before
    assert row_counts() == counts
    assert before[0].left_out["flagged_responses"] == 1
    assert before[0].left_out["excluded_votes"] > 0


def test_everything_that_was_known_of_the_votes_comes_back(tmp_path):
    def facts():
        votes = Vote.objects.order_by("pk").values_list(
            "arm__kind", "target__citation__number", "rater__code", "question", "answer",
            "is_implied", "position", "seconds", "at",
        )  # fmt: skip
        flags = Flag.objects.order_by("pk").values_list("arm__kind", "rater__code", "reason")
        raters = Rater.objects.order_by("code").values_list(
            "code", "is_excluded", "excluded_reason", "is_simulated", "gold_score"
        )
        study = Study.objects.values_list(
            "name", "slug", "state", "scheme", "raters_per_unit", "evidence_choice", "seed",
            "settings", "guidelines__version", "guidelines__text",
        )  # fmt: skip
        setups = Setup.objects.values_list("name", "model", "temperature", "settings")
        return [list(rows) for rows in (votes, flags, raters, study, setups)]

    study = import_rows(tmp_path / "a", **rich_rows()).study
    before = facts()

    exported_and_imported(study, tmp_path / "export")

    assert facts() == before


def test_mtrag_gives_the_same_figures_after_export_and_import(shared, tmp_path):
    study = import_path(shared / "data/mtrag_human_eval/mtrag_human_eval_part1.json").study
    before, counts = reports_of(study), row_counts()

    again = exported_and_imported(study, tmp_path / "export")

    assert reports_of(again) == before
    assert row_counts() == counts


def test_ais_without_dialogs_gives_the_same_figures_after_export_and_import(shared, tmp_path):
    study = import_path(shared / "data/ais/ann_qrecc.csv").study
    before, counts = reports_of(study, FEWEST_AND_MOST), row_counts()
    assert objects(exported(study, tmp_path / "first") / "examples.jsonl")[0]["turns"] is None

    again = exported_and_imported(study, tmp_path / "export")

    assert reports_of(again, FEWEST_AND_MOST) == before
    assert row_counts() == counts


def graph_rows() -> dict[str, Any]:
    return {
        "entities": [
            {
                "qid": "Q1",
                "label": "Ada",
                "type": "human",
                "aliases": ["Countess", "Ada"],
                "triples": [
                    {"relation": "occupation", "value": "writer, poet", "value_qid": "Q9"},
                    {"relation": "born", "value": "1815"},
                ],
            },
            {"qid": "Q2", "label": "Note", "text": "A document.", "triples": []},
        ],
        "kg_questions": [
            {
                "id": "k1",
                "question": "Who was Ada?",
                "entities": ["Q1"],
                "retrieved": [],
                "minimum": [["Q1", "born", "1815"], ["Q1", "occupation", "writer, poet", 2]],
            },
            {"id": "k2", "question": "And?", "entities": []},
        ],
        "responses": [
            response_row("r1", "k1", graph_shown=[["Q1", "born", "1815"]], removed=[]),
            response_row("r2", "k2"),
        ],
        "votes": [vote_row("r1", "anna", "yes", "supports", citation=1)],
    }


def test_a_knowledge_graph_comes_back_as_it_was(tmp_path):
    study = import_rows(tmp_path / "a", **graph_rows()).study
    before = [reports_of(study), row_counts()]
    files = {file.name: file.read_text() for file in exported(study, tmp_path / "one").iterdir()}

    again = exported_and_imported(study, tmp_path / "two")

    assert [reports_of(again), row_counts()] == before
    third = exported(again, tmp_path / "three")
    assert {file.name: file.read_text() for file in third.iterdir()} == files
    assert objects(third / "kg_questions.jsonl")[0]["retrieved"] == []
    assert "retrieved" not in objects(third / "kg_questions.jsonl")[1]
    assert not objects(third / "examples.jsonl")  # they are with the questions


@pytest.mark.parametrize("rows", [rich_rows, graph_rows], ids=["ratings", "graph"])
def test_an_export_imported_where_it_came_from_changes_nothing(tmp_path, rows):
    study = import_rows(tmp_path / "a", **rows()).study
    path, before = exported(study, tmp_path / "export"), contents()

    counts = import_path(path, "pilot").counts

    assert all(count["new"] == count["bad"] == 0 for count in counts.values()), counts
    assert contents() == before


def test_what_is_empty_and_what_is_not_known_stay_two_things(tmp_path):
    rows: dict[str, Any] = {
        "examples": [
            example_row("e1", golden_answer="", evidence=[]),
            example_row("e2"),
            {"id": "e3", "turns": None, "meta": {"note": "", "n": None}},
        ],
        "responses": [
            response_row("r1", text="", evidence_shown=[], graph_shown=[], removed=[]),
            response_row("r2", setup={"model": "b", "top_p": None, "stop": ""}),
        ],
    }
    dataset = import_rows(tmp_path / "a", **rows).dataset
    assert dataset
    before = contents()
    export_folder(dataset, None, tmp_path / "export")

    counts = import_path(tmp_path / "export").counts

    assert contents() == before
    assert {kind: count["unchanged"] for kind, count in counts.items()} == {
        "examples": 3,
        "responses": 2,
    }
    found = dict(Example.objects.values_list("key", "golden_answer"))
    assert found == {"e1": "", "e2": None, "e3": None}


@pytest.mark.parametrize("text", [*FORMULAS, "a\r\nb", 'say "x", ok', "  blank  ", "👩‍🔬 ‮"])
def test_a_text_is_the_same_after_export_and_import(tmp_path, text):
    rows: dict[str, Any] = {
        "examples": [example_row("e1", golden_answer=text)],
        "responses": [response_row(text=text)],
        "flags": [{"response": "r1", "rater": "anna", "reason": "-"}],
        "votes": [vote_row()],
    }
    study = import_rows(tmp_path / "a", **rows).study
    Flag.objects.update(reason=text)

    exported_and_imported(study, tmp_path / "export")

    assert Response.objects.get().text == text
    assert Example.objects.get().golden_answer == text
    assert Flag.objects.get().reason == text


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)"])
def test_ids_codes_and_labels_that_look_like_formulas_come_back(tmp_path, text):
    responses = json.dumps(response_row(text))
    votes = json.dumps(vote_row(text, text, text, "q"))
    for name, line in (("responses", responses), ("votes", votes)):
        (tmp_path / f"{name}.jsonl").write_text(line + "\n")
    write_files(
        tmp_path,
        examples=[example_row()],
        scheme=scheme_of({"q": {"nominal": [text, "b"]}}),
        scores=[{"response": f"'{text}", "metric": "m", "score": -1}],
    )
    study = import_path(tmp_path).study
    assert study
    lines = (exported(study, tmp_path / "export") / "votes.csv").read_text().splitlines()

    again = exported_and_imported(study, tmp_path / "again")

    assert lines[1].startswith(f"'{text},'{text},q,'{text}")  # a spreadsheet runs none of it
    vote = Vote.objects.get()
    assert (vote.target.response.key, vote.rater.code, vote.answer) == (text, text, 0)
    assert raters_report(again).records[0]["majority_" + text] == 1


def test_a_negative_ordinal_answer_comes_back(tmp_path):
    scheme = scheme_of({"q": {"ordinal": [-2, 2]}})
    study = rated(tmp_path / "a", {"r1": {"q": ["-2", "0", "2"]}}, scheme=scheme)

    exported_and_imported(study, tmp_path / "export")

    assert list(Vote.objects.order_by("rater__code").values_list("answer", flat=True)) == [-2, 0, 2]


# --- what an export holds -------------------------------------------------------------------


def test_an_export_names_raters_by_code_and_nobody_by_name(tmp_path):
    study = rated(tmp_path / "a", {"r1": {"q": ["yes", "no"]}})
    person = User.objects.create_user(
        "rachel.secret", "rachel@secret.example", first_name="Rachel", last_name="Secretname"
    )
    Rater.objects.filter(code="w1").update(user=person, code=person.rater_code)

    path = exported(study, tmp_path / "export")

    everything = "".join(file.read_text() for file in path.iterdir())
    assert person.rater_code in everything
    assert "secret" not in everything.lower()
    assert {row["rater"] for row in table(path / "raters.csv")} == {person.rater_code, "w2"}


def test_surplus_votes_are_not_exported(tmp_path):
    study = rated(tmp_path / "a", {"r1": {"q": ["yes", "no", "no"]}})
    Vote.objects.filter(rater__code="w3").update(is_surplus=True)

    rows = table(exported(study, tmp_path / "export") / "votes.csv")

    assert [row["rater"] for row in rows] == ["w1", "w2"]


def test_an_export_of_one_study_holds_no_votes_of_another(tmp_path):
    study = rated(tmp_path / "a", {"r1": {"q": ["yes"]}})
    import_rows(tmp_path / "b", study_name="second", votes=[vote_row("r1", "eve", "5", "fluent")])

    path = exported(study, tmp_path / "export")

    assert [row["question"] for row in table(path / "votes.csv")] == ["q"]
    assert [row["rater"] for row in table(path / "raters.csv")] == ["w1"]


def test_a_dataset_alone_is_exported_without_votes(tmp_path):
    study = rated(tmp_path / "a", {"r1": {"q": ["yes"]}})

    export_folder(study.dataset, None, tmp_path / "export")

    names = {file.name for file in (tmp_path / "export").iterdir()}
    assert names == {"examples.jsonl", "responses.jsonl"}


def test_the_zip_holds_the_same_files_as_the_folder(tmp_path):
    study = import_rows(tmp_path / "a", **rich_rows()).study
    assert study
    folder, out = exported(study, tmp_path / "export"), io.BytesIO()

    export_zip(study.dataset, study, out)

    with zipfile.ZipFile(out) as archive:
        zipped = {name: archive.read(name) for name in archive.namelist()}
    assert zipped == {file.name: file.read_bytes() for file in folder.iterdir()}
    assert len(zipped) == 9


# --- the command ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["pilot.zip", "pilot-folder"])
def test_the_command_exports_a_study_with_its_dataset(tmp_path, name, capsys):
    study = rated(tmp_path / "a", {"r1": {"q": ["yes", "no"]}})
    before = reports_of(study)

    call_command("export", "pilot", str(tmp_path / name))
    forget(study.dataset)
    again = import_path(tmp_path / name).study

    assert reports_of(again) == before
    assert "Exported 'pilot'" in capsys.readouterr().out


def test_the_command_exports_a_dataset_without_a_study(tmp_path):
    import_rows(tmp_path / "a", "plain", examples=[example_row()])

    call_command("export", "plain", str(tmp_path / "out"))

    assert (tmp_path / "out" / "examples.jsonl").exists()


@pytest.mark.parametrize("name", ["there.zip", "there"])
def test_the_command_writes_over_nothing(tmp_path, name):
    rated(tmp_path / "a", {"r1": {"q": ["yes"]}})
    (tmp_path / name).write_text("precious")

    with pytest.raises(CommandError, match=r"exists already. Give the path of a new folder"):
        call_command("export", "pilot", str(tmp_path / name))

    assert (tmp_path / name).read_text() == "precious"


@pytest.mark.parametrize(
    ("name", "path", "message"),
    [
        ("nothing", "out", "No study and no dataset has the name or the slug 'nothing'"),
        ("pilot", "no/such/folder/out", "is no folder"),
    ],
)
def test_the_command_says_in_one_line_what_is_wrong(tmp_path, name, path, message):
    rated(tmp_path / "a", {"r1": {"q": ["yes"]}})

    with pytest.raises(CommandError, match=message) as error:
        call_command("export", name, str(tmp_path / path))

    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["out.zip", "out"])
def test_an_export_that_fails_leaves_nothing_behind(tmp_path, name):
    study = rated(tmp_path / "a", {"r1": {"q": ["yes"]}})
    there = sorted(path.name for path in tmp_path.iterdir())
    study.scheme = scheme_of({"another": "yes_no"})  # makes writing the votes fail half-way
    study.save()

    with pytest.raises(KeyError):
        call_command("export", "pilot", str(tmp_path / name))

    assert sorted(path.name for path in tmp_path.iterdir()) == there
    assert Dataset.objects.exists()
