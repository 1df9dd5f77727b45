"""Adjudicated decisions in files: what is exported, what is refused, and the same figures again."""

import csv
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from accounts.models import User
from annotation.models import GoldAnswer, Study, Target
from annotation.schemes import load_scheme
from evaluation.exchange.interchange import BadRows
from evaluation.models import Adjudication
from evaluation.reports.base import Choices
from evaluation.studies.reports.agreement import agreement_report
from evaluation.studies.services.adjudication import adjudicate
from evaluation.votes.export import export_folder
from tests.evaluation.pages import response_address
from tests.evaluation.studies.hand_made import votes
from tests.makers import contents, forget, import_path, import_rows, pilot_rows, rated
from tests.shown import shown

pytestmark = pytest.mark.once

AT = "2026-03-01T10:00:00+00:00"
CHOSEN = Choices(adjudicated=True)


def decision_row(**more: Any) -> dict[str, Any]:
    return {
        "response": "r1",
        "question": "attributable",
        "answer": "no",
        "note": "It is not there.",
        "by": "R-AAAAAA",
        "at": AT,
    } | more


def with_decisions(folder: Path, *decisions: dict[str, Any], **more: Any) -> Any:
    """Import the pilot's rows with a file of decisions."""
    lines = [list(decisions[0]), *([row[name] for name in decisions[0]] for row in decisions)]
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "adjudications.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(lines)
    return import_rows(folder, **pilot_rows() | more)


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def decided(tmp_path, rosa, adam):
    """A study with scores, three decisions about one response and one about another."""
    scores = [
        {"response": key, "metric": "m", "score": score, "signature": "v1|t:0.5"}
        for key, score in {"a": 0.9, "b": 0.9, "c": 0.1, "d": 0.2}.items()
    ]
    study = rated(tmp_path / "a", votes(a="yyy", b="nnn", c="nnn", d="yn"), scores=scores)
    [question] = load_scheme(study.scheme).questions
    for key, answer, by in (("b", 0, rosa), ("b", None, adam), ("b", 1, rosa), ("d", 1, adam)):
        target = Target.objects.get(response__key=key)
        adjudicate(study, target, question, answer, f"=Note, {answer}\nof it", by)
    return study


# --- there and back -------------------------------------------------------------------------


def test_an_export_has_every_decision_oldest_first_and_codes_for_names(decided, tmp_path, rosa):
    export_folder(decided.dataset, decided, tmp_path / "export")

    rows = table(tmp_path / "export" / "adjudications.csv")
    assert [(row["response"], row["answer"]) for row in rows] == [
        ("b", "no"),
        ("b", ""),
        ("b", "yes"),
        ("d", "yes"),
    ]
    assert rows[0]["by"] == rosa.rater_code
    assert rows[0]["note"] == "'=Note, 0\nof it"
    assert "rosa" not in (tmp_path / "export" / "adjudications.csv").read_text()


def test_decisions_on_gold_items_stay_here_as_their_votes_do(decided, tmp_path):
    gold = Target.objects.get(response__key="d")
    GoldAnswer.objects.create(study=decided, target=gold, question="q", answer=1)

    export_folder(decided.dataset, decided, tmp_path / "export")

    rows = table(tmp_path / "export" / "adjudications.csv")
    assert {row["response"] for row in rows} == {"b"}


def test_a_study_without_decisions_has_no_file_of_them(tmp_path):
    study = rated(tmp_path / "a", votes(a="yn"))
    export_folder(study.dataset, study, tmp_path / "export")

    assert not (tmp_path / "export" / "adjudications.csv").exists()


def test_export_and_import_elsewhere_give_the_same_figures(decided, tmp_path):
    before = agreement_report(decided, CHOSEN)
    # By majority y n n, by decision y y n y; the metric says y y n n: 3 of 4.
    assert before.records[0]["accuracy"] == pytest.approx(3 / 4)
    assert before.records[0]["n_adjudicated"] == 2
    export_folder(decided.dataset, decided, tmp_path / "export")
    forget(decided.dataset)
    User.objects.all().delete()

    again = import_path(tmp_path / "export", "pilot").study

    assert again is not None
    report = agreement_report(again, CHOSEN)
    assert [row | {"run": 0} for row in report.records] == [
        row | {"run": 0} for row in before.records
    ]
    assert report.signature == before.signature
    assert report.left_out == before.left_out
    export_folder(again.dataset, again, tmp_path / "third")
    name = "adjudications.csv"
    assert (tmp_path / "third" / name).read_text() == (tmp_path / "export" / name).read_text()


def test_an_import_where_it_came_from_changes_nothing(decided, tmp_path):
    export_folder(decided.dataset, decided, tmp_path / "export")
    before = contents()

    counts = import_path(tmp_path / "export", "pilot").counts

    assert counts["adjudications"] == {"new": 0, "unchanged": 4, "bad": 0}
    assert contents() == before


def test_a_second_import_changes_nothing_and_a_newer_row_counts(tmp_path):
    with_decisions(tmp_path / "a", decision_row())
    newer = decision_row(answer="", at="2026-03-02T10:00:00+02:00")

    again = with_decisions(tmp_path / "b", decision_row(), newer)
    twice = with_decisions(tmp_path / "c", newer, decision_row())

    assert again.counts["adjudications"] == {"new": 1, "unchanged": 1, "bad": 0}
    assert twice.counts["adjudications"] == {"new": 0, "unchanged": 2, "bad": 0}
    newest = Adjudication.objects.first()
    assert newest is not None
    assert (newest.answer, newest.at) == (None, datetime(2026, 3, 2, 8, tzinfo=UTC))


def test_an_imported_decision_is_shown_with_its_code(tmp_path, rosa, client_for):
    with_decisions(tmp_path / "a", decision_row())

    page = shown(client_for(rosa).get(response_address("r1")))

    [row] = page.table("Adjudications").rows
    assert "imported, R-AAAAAA" in " ".join(row)


def test_a_decision_on_a_citation_comes_back(tmp_path):
    with_decisions(tmp_path / "a", decision_row(citation="2"))

    assert Target.objects.get(adjudications__isnull=False, citation__number=2)


def test_a_decision_is_by_a_person_or_by_a_code(tmp_path, rosa):
    with_decisions(tmp_path / "a", decision_row())
    [target], study = Target.objects.filter(adjudications__isnull=False), Study.objects.get()
    of = {"study": study, "target": target, "question": "attributable", "note": "-"}

    for by in ({}, {"by": rosa, "code": "R-AAAAAA"}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Adjudication.objects.create(**of, **by)


# --- bad rows -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "field", "found", "expected"),
    [
        ({"response": "r9"}, "response", '"r9"', "the id of a response of this dataset"),
        ({"question": "fluent"}, "question", '"fluent"', "one of attributable"),
        ({"answer": "perhaps"}, "answer", '"perhaps"', "no or yes, or nothing where it cannot be"),
        ({"note": ""}, "note", "nothing", "text that is not empty"),
        ({"note": "  "}, "note", '"  "', "text that is not empty"),
        ({"by": ""}, "by", "nothing", "text that is not empty"),
        ({"at": ""}, "at", "nothing", "a date and time in ISO 8601, because the newest"),
        ({"at": "yesterday"}, "at", '"yesterday"', "a date and time in ISO 8601, or Unix seconds"),
        ({"citation": "0"}, "citation", '"0"', "a whole number from 1 to 32767"),
    ],
)
def test_a_bad_row_has_one_clear_error_and_nothing_is_stored(
    tmp_path, wrong, field, found, expected
):
    with pytest.raises(BadRows) as error:
        with_decisions(tmp_path / "a", {"citation": ""} | decision_row(**wrong))

    [problem] = error.value.outcome.problems
    assert (problem.where, problem.field, problem.found) == (("adjudications.csv", 2), field, found)
    assert problem.expected.startswith(expected)
    assert not Adjudication.objects.exists()


def test_a_decision_that_says_something_else_is_a_problem(tmp_path):
    with_decisions(tmp_path / "a", decision_row())

    with pytest.raises(BadRows) as changed:
        with_decisions(tmp_path / "b", decision_row(answer="yes"))
    with pytest.raises(BadRows) as twice:
        with_decisions(tmp_path / "c", decision_row(), decision_row())

    [problem] = changed.value.outcome.problems
    assert "which is stored with other content" in problem.found
    [problem] = twice.value.outcome.problems
    assert problem.found.endswith(" again")
