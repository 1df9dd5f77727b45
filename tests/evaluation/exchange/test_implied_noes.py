"""Noes that imported votes imply: which, how many, only once, and how to leave them out."""

from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.urls import reverse

from annotation.models import Study, Vote
from annotation.schemes import built_in_schemes
from evaluation.exchange.uploads import request_import
from evaluation.studies.reports.raters import raters_report
from evaluation.studies.reports.scenarios import scenarios_report
from evaluation.votes.export import export_folder
from generation.models import Import
from tests.makers import (
    example_row,
    import_path,
    import_rows,
    response_row,
    scheme_of,
    vote_row,
    write_files,
)
from tests.uploading import State, checked

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("own_cache_and_folder")]

SSA = built_in_schemes()["SSA"]
# a gates b and d, b gates c. A no is implied to b and c. d is not yes/no, so it has no answer then.
CHAIN = scheme_of(
    {"a": "yes_no", "b": "yes_no", "c": "yes_no", "d": {"ordinal": [1, 4]}},
    b={"after": ["a"]},
    c={"after": ["b"]},
    d={"after": ["a"]},
)


def ssa_rows(n: int = 10) -> list[tuple[str, str, str, str]]:
    """Return (response, rater, sensible, specific) of five raters; "" where none was asked.

    All five find the first half of the responses sensible and specific. Three of five find the
    other half not sensible, and the two others find it sensible and specific.
    """
    return [
        (f"r{n_response}", f"w{rater}", *(("no", "") if is_no else ("yes", "yes")))
        for n_response in range(n)
        for rater in range(5)
        for is_no in [n_response >= n // 2 and rater < 3]
    ]


def as_folder(folder: Path) -> Path:
    rows = ssa_rows()
    keys = list(dict.fromkeys(row[0] for row in rows))
    votes = [vote_row(r, w, sensible, "sensible") for r, w, sensible, _ in rows]
    votes += [vote_row(r, w, specific, "specific") for r, w, _, specific in rows if specific]
    return write_files(
        folder,
        examples=[example_row(f"e-{key}") for key in keys],
        responses=[response_row(key, f"e-{key}") for key in keys],
        votes=votes,
    )


def as_table(folder: Path) -> Path:
    folder.mkdir()
    lines = [f"What is {r}?,Text of {r}.,{w},{a},{b}" for r, w, a, b in ssa_rows()]
    (folder / "answers.csv").write_text(
        "\n".join(["question,response,rater,sensible,specific", *lines])
    )
    mapping = folder / "answers.toml"
    mapping.write_text(
        '[columns]\nquestion = "question"\nresponse = "response"\nrater = "rater"\n'
        'sensible = "vote"\nspecific = "vote"\n'
    )
    return folder / "answers.csv"


@pytest.mark.parametrize("made", [as_folder, as_table])
def test_what_raters_were_not_asked_counts_as_no(tmp_path, made):
    path = made(tmp_path / "pilot")
    more = {"mapping": path.with_suffix(".toml")} if made is as_table else {}

    call_command("import_dataset", str(path), name="pilot", **more)

    study = Study.objects.get()
    rows = {row["question"]: row for row in scenarios_report(study).records}
    # sensible: 5 of 10 majorities are yes. specific: of the other five responses, 2 of 5 raters say
    # yes and 3 did not find them sensible, so these are noes: 5 of 10 too. SSA is their mean, .50.
    assert [rows[key]["mean"] for key in ("sensible", "specific")] == [0.5, 0.5]
    assert (rows["specific"]["n"], rows["specific"]["n_implied"]) == (10, 15)
    assert Vote.objects.filter(is_implied=True, answer=0, question="specific").count() == 15


def stored(rater: str) -> dict[str, int]:
    """Return what a rater's stored votes say; implied noes are -1."""
    votes = Vote.objects.filter(rater__code=rater).order_by("question")
    return {vote.question: -1 if vote.is_implied else vote.answer for vote in votes}


def test_only_the_rater_who_closed_the_gate_has_implied_noes(tmp_path):
    given_and_stored = {
        "closed": ({"a": 0}, {"a": 0, "b": -1, "c": -1}),
        "open": ({"a": 1}, {"a": 1}),
        "further on": ({"a": 1, "b": 0}, {"a": 1, "b": 0, "c": -1}),
        "unknown": ({"d": 3}, {"d": 3}),
        "unknown before": ({"b": 0}, {"b": 0, "c": -1}),
        "unknown before an open one": ({"b": 1}, {"b": 1}),
        "given behind it": ({"a": 0, "b": 1}, {"a": 0, "b": 1, "c": -1}),
        "given further on": ({"a": 0, "c": 1, "d": 2}, {"a": 0, "b": -1, "c": 1, "d": 2}),
    }
    votes = [
        vote_row("r1", rater, answer, question)
        for rater, (given, _) in given_and_stored.items()
        for question, answer in reversed(given.items())  # the order of rows does not matter
    ]
    folder = write_files(
        tmp_path,
        examples=[example_row()],
        responses=[response_row()],
        votes=votes,
        scheme=CHAIN,
    )
    found = import_path(folder, dry_run=True)
    outcome = import_path(folder)

    assert {rater: stored(rater) for rater in given_and_stored} == {
        rater: expected for rater, (_, expected) in given_and_stored.items()
    }
    assert found.counts["votes"] == outcome.counts["votes"]
    assert outcome.counts["votes"]["implied"] == 6
    report = raters_report(Study.objects.get())
    n_votes = {row["question"]: row["n_votes"] for row in report.records}
    assert n_votes == {"a": 5, "b": 6, "c": 5, "d": 2}
    # At least 6 raters are on the item (those of b). c lacks 6 - 5 = 1. d lacks 6 - 3 - 2 = 1.
    assert report.left_out["missing_behind_gates"] == 2


def test_the_same_file_again_and_an_export_change_no_vote(tmp_path):
    folder = as_folder(tmp_path / "pilot")

    assert import_path(folder).counts["votes"] == {
        "new": 85,
        "unchanged": 0,
        "bad": 0,
        "implied": 15,
    }
    assert import_path(folder).counts["votes"] == {"new": 0, "unchanged": 85, "bad": 0}
    study = Study.objects.get()
    export_folder(study.dataset, study, tmp_path / "export")
    # 35 yes and 15 no of sensible, 35 yes and 15 implied noes of specific.
    assert import_path(tmp_path / "export", "copy", "copy").counts["votes"] == {
        "new": 100,
        "unchanged": 0,
        "bad": 0,
    }


def test_without_implied_noes_a_study_has_the_votes_of_its_files_alone(tmp_path):
    folder = as_folder(tmp_path / "pilot")

    import_path(folder, without_implied=True)
    import_path(folder)  # the study keeps the choice

    study = Study.objects.get()
    assert Vote.objects.count() == 85
    assert scenarios_report(study).left_out["missing_behind_gates"] == 15
    export_folder(study.dataset, study, tmp_path / "export")
    import_path(tmp_path / "export", "copy", "copy")
    assert Vote.objects.filter(arm__study__name="copy").count() == 85


def test_an_answer_of_a_later_file_takes_the_place_of_an_implied_no(tmp_path):
    import_rows(
        tmp_path / "gates",
        examples=[example_row()],
        responses=[response_row()],
        votes=[vote_row("r1", "anna", "no", "sensible")],
        scheme=SSA,
    )
    assert stored("anna") == {"sensible": 0, "specific": -1}

    later = [vote_row("r1", "anna", "yes", "specific", seconds=4)]
    outcome = import_rows(tmp_path / "behind", votes=later)

    assert outcome.counts["votes"] == {"new": 0, "unchanged": 0, "bad": 0, "changed": 1}
    assert stored("anna") == {"sensible": 0, "specific": 1}
    assert Vote.objects.get(question="specific").seconds == 4


def test_a_bad_row_closes_no_gate(tmp_path):
    votes = [vote_row("r1", "anna", said, "sensible") for said in ("yes", "no")]  # twice
    folder = write_files(
        tmp_path, examples=[example_row()], responses=[response_row()], votes=votes, scheme=SSA
    )

    outcome = import_path(folder, skip_bad=True)

    assert outcome.counts["votes"] == {"new": 1, "unchanged": 0, "bad": 1}


def test_page_and_api_say_how_many_noes_are_implied_and_can_leave_them_out(
    adam, client_for, tmp_path
):
    admin = client_for(adam)
    path = as_table(tmp_path / "pilot")
    file = SimpleUploadedFile(path.name, path.read_bytes())
    mapping = path.with_suffix(".toml").read_text()
    for number, store in enumerate(
        [
            lambda pk: admin.post(
                reverse("evaluation:store-import", args=[pk]), {"without_implied": "on"}
            ),
            lambda pk: admin.post(
                f"/api/v1/imports/{pk}/store/",
                {"without_implied": True},
                content_type="application/json",
            ),
        ]
    ):
        file.seek(0)
        upload = request_import(file, f"pilot {number}", "", adam, mapping=mapping)
        checked(upload)
        answer = admin.get(reverse("evaluation:import-progress", args=[upload.pk]))
        assert "Leave out implied noes: 15" in " ".join(answer.text.split())
        counts = admin.get(f"/api/v1/imports/{upload.pk}/").json()["counts"]
        assert counts["votes"]["implied"] == 15

        store(upload.pk)

        upload = Import.objects.get(pk=upload.pk)
        assert (upload.state, upload.is_storing, upload.without_implied) == (
            State.QUEUED,
            True,
            True,
        )
