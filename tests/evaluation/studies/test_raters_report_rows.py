"""The report on raters: its rows, what they are about, and its form."""

import json
from math import isnan

import pytest
from django.conf import settings

from annotation.models import Assignment, Study, Unit
from evaluation.reports.base import Choices
from evaluation.reports.formats import write_report
from evaluation.reports.rarer_answer import rater_agreement_note
from evaluation.studies.reports.raters import raters_report
from tests.evaluation.studies.hand_made import FIVE_STARS, PAIR, only_row, votes
from tests.makers import example_row, import_rows, rated, response_row, scheme_of, statements

pytestmark = pytest.mark.once


# --- arms, setups, dialogs ------------------------------------------------------------------


def test_each_arm_has_rows_of_its_own(tmp_path):
    merged = [
        {"response": r, "rater": "w1", "question": "q", "answer": answer, "arm": "merged"}
        for r, answer in (("a", "no"), ("b", "no"))
    ]
    study = rated(tmp_path, votes(a="yy", b="yn"), more_votes=merged)

    rows = raters_report(study).records

    assert [(row["arm"], row["n"], row["mean"]) for row in rows] == [
        ("separate", 2, 1),
        ("merged", 2, 0),
    ]


def test_by_setup_there_is_a_row_for_each_setup(tmp_path):
    study = rated(tmp_path, votes(a="yy", b="nn", c="yy"), setups={"c": "model-b"})

    rows = raters_report(study, Choices(by_setup=True)).records

    assert [(row["setup"], row["n"], row["mean"]) for row in rows] == [
        ("model-a", 2, 1 / 2),
        ("model-b", 1, 1),
    ]
    assert only_row(study)["setup"] is None


def test_setups_come_in_the_same_order_on_every_database(tmp_path):
    names = {"a": "beta", "b": "Alpha", "c": "_gamma", "d": "Ärger", "e": "alpha"}
    study = rated(tmp_path, votes(a="y", b="y", c="y", d="y", e="y"), setups=names)

    rows = raters_report(study, Choices(by_setup=True)).records

    assert [row["setup"] for row in rows] == ["Alpha", "_gamma", "alpha", "beta", "Ärger"]


def test_items_of_one_dialog_are_one_dialog(tmp_path):
    study = rated(tmp_path, votes(a="yy", b="nn", c="yy"), dialogs={"a": "d1", "b": "d1"})

    assert only_row(study)["n_dialogs"] == 2


def test_with_one_dialog_there_are_figures_and_no_intervals(tmp_path):
    row = only_row(rated(tmp_path, votes(a="yy", b="yn"), dialogs={"a": "d", "b": "d"}))

    assert (row["mean"], row["percent_agreement"]) == (1, 1 / 2)
    for name in ("mean", "percent_agreement", "fleiss_kappa", "alpha"):
        assert (row[f"{name}_low"], row[f"{name}_high"]) == (None, None)


def test_an_interval_holds_its_figure_and_depends_on_the_seed_alone(tmp_path):
    answers = {f"r{n}": {"q": [*["113", "244", "443", "12"][n % 4]]} for n in range(13)}
    scheme = scheme_of({"q": {"ordinal": [1, 4]}})
    one = rated(tmp_path / "one", answers, name="one", study={"seed": 1}, scheme=scheme)
    two = rated(tmp_path / "two", answers, name="two", study={"seed": 1}, scheme=scheme)
    other = rated(tmp_path / "other", answers, name="other", study={"seed": 2}, scheme=scheme)

    row = only_row(one)

    assert row["mean_low"] < row["mean"] < row["mean_high"]
    assert only_row(one) == only_row(two)
    assert only_row(other)["mean"] == row["mean"]
    by_seed = {name for name, figure in only_row(other).items() if figure != row[name]}
    assert by_seed == {"mean_low", "mean_high"}  # nothing else is drawn


@pytest.mark.parametrize(
    ("n_with_no", "is_known", "is_noted"), [(4, False, True), (5, True, True), (15, True, False)]
)
def test_the_intervals_of_kappa_and_alpha_follow_the_rarer_answer(
    tmp_path, n_with_no, is_known, is_noted
):
    # 40 dialogs, of which some hold a no; one no more has no second vote, so it is not compared.
    answers = votes(**{f"r{n}": "yyn" if n < n_with_no else "yyy" for n in range(40)}, alone="n")

    [row] = raters_report(rated(tmp_path, answers)).rows

    assert row.n_rarer_dialogs == n_with_no
    assert (row.alpha.low is not None) == (row.fleiss_kappa.low is not None) == is_known
    assert bool(rater_agreement_note([row.n_rarer_dialogs, 40])) == is_noted
    # Of 120 pairs, those of two yeses: 1 of 3 on an item with a no, 3 on another. The third rater
    # alone says no: two of three pairs of raters differ on each such item.
    experts = row.coefficients
    assert experts.prevalence_index == pytest.approx((n_with_no + 3 * (40 - n_with_no)) / 120)
    assert experts.bias_index == pytest.approx(2 * n_with_no / 120)
    assert experts.bias_pairs == 3
    assert experts.alpha_is_low_for_prevalence
    assert experts.gwet_ac.low is not None  # it needs no rarer answer


def test_the_order_of_the_rows_in_a_file_changes_nothing(tmp_path):
    answers = votes(**{f"r{n}": "yyn" if n % 3 else "nny" for n in range(9)})
    backwards = dict(reversed(answers.items()))

    one = raters_report(rated(tmp_path / "one", answers, name="one"))
    two = raters_report(rated(tmp_path / "two", backwards, name="two"))

    assert one.rows == two.rows
    assert one.signature == two.signature


# --- its form -------------------------------------------------------------------------------


def test_the_signature_says_what_the_numbers_depend_on(tmp_path):
    first = rated(tmp_path / "a", votes(a="yy", b="yn"), name="a", study={"seed": 42})
    second = rated(tmp_path / "b", votes(a="yy", b="nn"), name="b", study={"seed": 42})

    signature = raters_report(first).signature

    assert "raters | agreement over given votes, excluded raters left out" in signature
    assert "percentile bootstrap over dialogs, 1000 resamples, seed 42" in signature
    assert f"attest {settings.VERSION}" in signature
    assert signature != raters_report(second).signature  # other votes


def no_constants(name):
    raise ValueError(name)


def test_as_json_it_is_one_flat_object_without_nan(tmp_path):
    scheme = scheme_of({"q": "yes_no", "stars": FIVE_STARS, "kind": {"nominal": ["a", "b"]}})
    study = rated(tmp_path, votes(a="yy", b="yn"), scheme=scheme)

    text = write_report(raters_report(study), "json")
    found = json.loads(text, parse_constant=no_constants)

    assert list(found) == ["study", "report", "rows", "left_out", "signature"]
    assert (found["study"], found["report"]) == ("pilot", "raters")
    assert [row["question"] for row in found["rows"]] == ["q", "stars", "kind"]
    for row in found["rows"]:
        for name, value in row.items():
            assert value is None or isinstance(value, (str, int, float, bool)), name
            assert not (isinstance(value, float) and isnan(value)), name
    assert found["rows"][1]["mean"] is None


def test_a_study_without_a_vote_has_a_report_without_rows(tmp_path):
    import_rows(
        tmp_path / "a",
        examples=[example_row()],
        responses=[response_row()],
        raters=[{"rater": "w1"}],
        scheme=PAIR,
    )

    report = raters_report(Study.objects.get())

    assert report.records == []
    assert json.loads(write_report(report, "json"))["rows"] == []
    for format_key in ("csv", "latex", "table"):
        assert write_report(report, format_key)


@pytest.mark.parametrize("by_setup", [False, True])
def test_the_number_of_statements_does_not_grow_with_the_responses(tmp_path, by_setup):
    def cost(name, n):
        answers = votes(**{f"r{i}": "yyn" for i in range(n)})
        study = rated(tmp_path / name, answers, name=name)
        return statements(lambda: raters_report(study, Choices(by_setup=by_setup)))

    assert len(cost("few", 10)) == len(cost("many", 300))


def test_assignments_without_votes_change_nothing(tmp_path):
    study = rated(tmp_path, votes(a="yy", b="nn"))
    before = raters_report(study)
    example = study.dataset.examples.all()[0]
    unit = Unit.objects.create(arm=study.arms.get(), example=example)
    Assignment.objects.create(study=study, unit=unit, group=0, slot=1, turn=1, key=1)

    assert raters_report(study) == before
