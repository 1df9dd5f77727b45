"""The command report: what it prints in each format, and one clear line on a mistake."""

import csv
import io
import json
import re

import pytest
from django.core.management import call_command

from evaluation.reports.base import Choices
from evaluation.reports.formats import texts_of
from evaluation.reports.registry import all_reports
from evaluation.studies.forms.reports import ReportChoicesForm
from evaluation.studies.reports.agreement import agreement_report
from evaluation.studies.reports.raters import raters_report
from evaluation.studies.reports.study import ON_PAGE
from tests.evaluation.commands import failure
from tests.evaluation.makers_of_scores import make_run, make_scores
from tests.evaluation.studies.hand_made import COOL, WARM, two_arms
from tests.makers import rated, scheme_of, vote_row

pytestmark = pytest.mark.once


@pytest.fixture
def study(tmp_path):
    answers = {"r1": {"q": ["yes", "no"]}, "r2": {"q": ["yes", "yes"]}, "r3": {"q": ["no"]}}
    return rated(tmp_path / "pilot", answers, setups={"r3": "model-b"})


def printed(capsys, *arguments, study="pilot"):
    call_command("report", "raters", "--study", study, *arguments)
    out, err = capsys.readouterr()
    assert err == ""
    return out


def test_as_json_it_prints_one_object_and_nothing_else(study, capsys):
    found = json.loads(printed(capsys, "--format", "json"))

    assert found == json.loads(json.dumps(raters_report(study).as_json()))
    assert list(found) == ["study", "report", "rows", "left_out", "signature"]


@pytest.mark.parametrize(
    ("flag", "choices"),
    [
        ("--by-setup", Choices(by_setup=True)),
        ("--with-implied", Choices(with_implied=True)),
        ("--with-excluded", Choices(with_excluded=True)),
        ("--by-gates", Choices(by_gates=True)),
    ],
)
def test_the_choices_are_those_of_the_page(study, capsys, flag, choices):
    found = json.loads(printed(capsys, "--format", "json", flag))

    assert found["signature"] == raters_report(study, choices).signature
    assert len(found["rows"]) == len(raters_report(study, choices).records)


def test_as_csv_it_has_a_line_per_row_with_every_figure(study, capsys):
    [first, *others] = csv.DictReader(io.StringIO(printed(capsys, "--format", "csv", "--by-setup")))

    assert (first["study"], first["question"], first["setup"]) == ("pilot", "q", "model-a")
    assert float(first["mean"]) == 1.0
    assert first["tied"] == "1"
    assert first["fleiss_kappa_low"] == "" or float(first["fleiss_kappa_low"]) <= 1
    assert "tied: 1" in first["left_out"]
    assert first["signature"].startswith("raters | ")
    assert [row["setup"] for row in others] == ["model-b"]


def test_in_csv_a_setup_named_like_a_formula_is_text(tmp_path, capsys):
    rated(tmp_path / "a", {"r1": {"q": ["yes"]}}, setups={"r1": "=1+1"})

    [row] = csv.DictReader(io.StringIO(printed(capsys, "--format", "csv", "--by-setup")))

    assert row["setup"] == "'=1+1"


def test_as_latex_it_is_a_table_that_escapes_what_latex_reads(tmp_path, capsys):
    setups = {"r1": r"50% & more_of $x^2$ #1 {a} ~ \b"}
    rated(tmp_path / "a", {"r1": {"q": ["yes", "no", "yes"]}}, setups=setups)

    out = printed(capsys, "--format", "latex", "--by-setup")

    lines = out.splitlines()
    assert lines[0].startswith("% raters | ")
    assert re.fullmatch(r"\\begin\{tabular\}\{l+r[lr]*\}", lines[2])
    assert lines[3] == r"\toprule"
    assert lines[-1] == r"\end{tabular}"
    escaped = r"50\% \& more\_of \$x\textasciicircum{}2\$ \#1 \{a\} \textasciitilde{}"
    assert escaped + r" \textbackslash{}b" in out
    assert " 33.3 " in out  # one agreeing pair of three


def test_as_latex_a_name_is_one_line_that_prints_in_every_font(tmp_path, capsys):
    setups = {"r1": 'a\nb | c > d < "e"'}
    rated(tmp_path / "a", {"r1": {"q": ["yes", "no", "yes"]}}, setups=setups)

    out = printed(capsys, "--format", "latex", "--by-setup", "--setup", setups["r1"])

    assert r"a b \textbar{} c \textgreater{} d \textless{} ''e'' & " in out
    first, second, third, *_ = out.splitlines()
    assert 'setup a b | c > d < "e" only' in first
    assert second.startswith("% left out: ")
    assert third.startswith(r"\begin{tabular}")


def test_as_a_table_it_shows_figures_left_out_and_signature(study, capsys):
    out = printed(capsys)

    assert "pilot: raters" in out
    assert "50.0" in out  # one of two pairs agrees
    assert "Left out: waiting 0, tied 1" in out
    assert raters_report(study).signature in out


@pytest.mark.parametrize("name", ["[bold]pilot[/bold]", "pilot [/x]", "[red]"])
def test_brackets_in_a_name_are_printed_as_they_are(tmp_path, capsys, name):
    rated(tmp_path / "a", {"r1": {"q": ["yes"]}}, name=name, setups={"r1": name})

    out = printed(capsys, "--by-setup", study=name)

    assert f"{name}: raters" in out
    assert out.count(name) == 2  # the title and the setup


def test_no_variation_is_said_in_words(tmp_path, capsys):
    rated(tmp_path / "a", {"r1": {"q": ["yes", "yes"]}, "r2": {"q": ["yes", "yes"]}})

    assert "no variation" in printed(capsys)
    assert "nominal, no variation" in printed(capsys, "--format", "latex")


def test_an_ordinal_and_a_nominal_question_stand_in_one_report(tmp_path, capsys):
    scheme = scheme_of({"stars": {"ordinal": [1, 5]}, "kind": {"nominal": ["a b", "=c"]}})
    answers = {"r1": {"stars": ["4", "5"], "kind": ["a b", "=c"]}}
    rated(tmp_path / "a", answers, scheme=scheme)

    rows = list(csv.DictReader(io.StringIO(printed(capsys, "--format", "csv"))))

    assert [(row["scale"], row["mean"]) for row in rows] == [("ordinal", "4.5"), ("nominal", "")]
    assert rows[1]["share_=c"] == "0.5"


@pytest.fixture
def both_arms(tmp_path):
    study = two_arms(
        tmp_path / "both",
        {"a": ("yyn", "yyy"), "b": ("nny", "nnn"), "c": ("yyy", "yyn"), "d": ("nnn", "nny")},
        setups={"a": COOL, "b": WARM, "c": WARM, "d": COOL},
        more_votes=[vote_row("a", "m9", "yes", "q", arm="merged", position=1, seconds=20)],
    )
    make_scores(make_run(study.dataset), {"a": 0.9, "b": 0.2, "c": 0.4, "d": 0.1})
    return study


def printed_report(capsys, *arguments):
    call_command("report", *arguments, "--study", "both")
    out, err = capsys.readouterr()
    assert err == ""
    return out


# The one on sensibleness needs a question of its own: test_sensibleness_report.py.
WITH_ROWS = [kind.key for kind in ON_PAGE if kind.key != "sensibleness"]


@pytest.mark.parametrize("name", WITH_ROWS)
def test_every_report_is_printed_as_its_function_returns_it(both_arms, capsys, name):
    report = all_reports()[name].make(both_arms, Choices())

    found = json.loads(printed_report(capsys, name, "--format", "json"))

    assert found == json.loads(json.dumps(report.as_json()))
    assert (found["report"], found["study"]) == (name, "both")
    assert found["rows"]
    assert "NaN" not in json.dumps(found)


@pytest.mark.parametrize("name", WITH_ROWS)
@pytest.mark.parametrize("form", ["table", "latex", "csv"])
def test_every_report_has_a_line_for_each_row_in_every_format(both_arms, capsys, name, form):
    n_rows = len(all_reports()[name].make(both_arms, Choices()).rows)

    out = printed_report(capsys, name, "--format", form)

    ends = {"table": "│\n", "latex": r" \\" + "\n", "csv": "\n"}
    n_heads = 0 if form == "table" else 1
    assert out.count(ends[form]) >= n_rows + n_heads
    if form == "latex":
        lines = out.splitlines()
        body = lines[lines.index(r"\midrule") + 1 : lines.index(r"\bottomrule")]
        n_columns = len(lines[2].removeprefix(r"\begin{tabular}{").removesuffix("}"))
        assert len(body) == n_rows
        assert {line.count(" & ") for line in body} == {n_columns - 1}


@pytest.mark.parametrize("name", WITH_ROWS)
def test_a_table_fits_a_terminal_and_loses_no_cell(both_arms, capsys, name):
    out = printed_report(capsys, name, "--format", "table")

    lines = [line for line in out.splitlines() if line.startswith(("│", "┃"))]
    assert max(map(len, lines)) <= 100
    _, texts = texts_of(all_reports()[name].make(both_arms, Choices()))
    words = {word for row in texts for cell in row for word in cell.split()}
    assert words <= {word for line in lines for word in line.split()}


def test_p_values_are_written_as_papers_do(tmp_path, capsys):
    answers = {f"r{n}": ("nnn", "yyy") for n in range(12)} | {"s": ("yyy", "nnn")}
    two_arms(tmp_path / "both", answers)

    out = printed_report(capsys, "uncertainty", "--format", "latex")

    # 12 up and 1 down: 2 · (1 + 13) / 2^13 = .0034.
    assert " & .003 & .003 & " in out
    two_arms(tmp_path / "more", {f"r{n}": ("nnn", "yyy") for n in range(12)})
    call_command("report", "uncertainty", "--study", "more", "--format", "latex")
    assert r" & \textless{}.001 & " in capsys.readouterr().out  # 2 / 2^12


def test_truth_and_setup_are_choices_of_the_command(both_arms, capsys):
    merged = json.loads(
        printed_report(capsys, "agreement", "--truth", "merged", "--format", "json")
    )
    warm = json.loads(
        printed_report(capsys, "scenarios", "--setup", "m · T 0.7", "--format", "json")
    )

    assert {row["truth"] for row in merged["rows"]} == {"merged"}
    assert "truth of the merged arm" in merged["signature"]
    assert [row["scenario"] for row in warm["rows"]] == ["C", "D"]
    assert "setup m · T 0.7 only" in warm["signature"]


def test_a_study_of_one_arm_has_its_majorities_as_the_truth(tmp_path, capsys):
    study = two_arms(tmp_path / "both", {"a": ("", "yy"), "b": ("", "nn")})
    make_scores(make_run(study.dataset), {"a": 0.9, "b": 0.9})

    found = json.loads(printed_report(capsys, "agreement", "--format", "json"))

    assert (found["rows"][0]["truth"], found["rows"][0]["accuracy"]) == ("merged", 0.5)
    choices = ReportChoicesForm({}, study=study).choices
    assert found["signature"] == agreement_report(study, choices).signature
    assert "truth of the merged arm" in found["signature"]
    message = failure("report", "agreement", "--study", "both", "--truth", "separate")
    assert message == "There is no truth 'separate' here. There are: merged."


def test_an_agreement_table_names_model_truth_and_what_has_a_figure(both_arms, capsys):
    lines = printed_report(capsys, "agreement", "--format", "latex").splitlines()

    names = lines[lines.index(r"\midrule") - 1].removesuffix(r" \\").split(" & ")
    assert names[:4] == ["Metric", "Model", "Question", "Truth"]
    assert {r"Precision, \%", r"Recall, \%", r"Halves, \%"} < set(names)
    assert r"{c}{Ceiling}" in lines[lines.index(r"\toprule") + 1]
    assert "Why" not in names


def test_an_unknown_setup_is_told_which_there_are(both_arms):
    message = failure("report", "scenarios", "--study", "both", "--setup", "m")

    assert message == "There is no setup 'm' here. There are: m · T 0.0, m · T 0.7."


def test_an_unknown_study_is_told_which_there_are(study):
    message = failure("report", "raters", study="nothing")

    assert message == "There is no study 'nothing'. There are: pilot."


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["raters", "--study", "pilot", "--format", "excel"], "invalid choice: 'excel'"),
        (["rators", "--study", "pilot"], "invalid choice: 'rators'"),
        (["agreement", "--study", "pilot", "--truth", "gold"], "invalid choice: 'gold'"),
        (["raters"], "--study"),
    ],
)
def test_a_wrong_argument_is_named(study, arguments, message):
    assert message in failure("report", *arguments)
