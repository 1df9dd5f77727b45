"""The list of studies, the page of one, and the files it offers."""

import csv
import io
import json
import re
import zipfile
from html import unescape

import pytest
from django.urls import reverse

from accounts.models import User
from annotation.models import Rater, Study, Vote
from evaluation.models import AutoScore
from evaluation.reports import stored as stored_figures
from evaluation.reports.base import Choices
from evaluation.reports.raters import raters_report
from evaluation.reports.study import REPORTS
from evaluation.study_page.tables import Saving, short_names, time_table
from evaluation.tasks import compute_figures
from evaluation.templatetags.figures import directions, p_value, percent
from evaluation.views import asking
from generation.models import Response
from tests.annotation.makers import material, planned
from tests.evaluation.hand_made import COOL, WARM, two_arms
from tests.evaluation.makers_of_scores import disputed, make_run, make_scores
from tests.evaluation.pages import make_pilot, response_address, words
from tests.makers import (
    example_row,
    import_path,
    import_rows,
    rated,
    response_row,
    scheme_of,
    statements,
    vote_row,
)

pytestmark = pytest.mark.once

HTML = "<script>alert(1)</script>"
STUDIES = "/studies/"


@pytest.fixture(autouse=True)
def own_cache(own_cache_and_folder):
    """Figures of other tests stay theirs."""


@pytest.fixture
def researcher(rosa, client_for):
    return client_for(rosa)


@pytest.fixture
def pilot(tmp_path):
    return make_pilot(tmp_path)


# --- studies --------------------------------------------------------------------------------


def test_the_list_of_studies_shows_scheme_arms_raters_and_state(researcher, pilot, tmp_path):
    rated(tmp_path / "b", {"x": {"sensible": ["yes"], "specific": ["no"]}}, name="second")
    Study.objects.filter(name="second").update(is_imported=False, raters_per_unit=5, state="open")

    text = words(researcher.get(STUDIES))

    assert "second second own separate 1 open pilot pilot own separate, merged 3 imported" in text


def test_the_list_of_studies_costs_the_same_for_3_and_for_30(researcher, tmp_path):
    def cost(n):
        for i in range(n):
            rated(tmp_path / f"{n}-{i}", {"r": {"q": ["yes", "no"]}}, name=f"study {n}-{i}")
        return len(statements(lambda: researcher.get(STUDIES)))

    assert cost(3) == cost(27)


def test_without_studies_the_list_says_how_one_comes_to_be(researcher):
    assert "No studies yet" in researcher.get(STUDIES).text


def page_of(client, study, **asked):
    return client.get(reverse("evaluation:study", args=[study.slug]), asked)


def test_a_study_shows_means_agreement_and_what_is_left_out(researcher, pilot):
    text = words(page_of(researcher, Study.objects.get()))

    assert "Answers of the separate arm" in text
    assert "Agreement between raters, merged arm" in text
    assert "implied votes 1 a gate gave them" in text
    assert raters_report(Study.objects.get()).signature in unescape(text)
    # On 'sensible' in the separate arm: yes, no, no, and yes about a citation.
    assert "no: 1, yes: 1" in text
    assert "3 votes" not in text
    assert re.search(r"Votes 7 1 of them implied", text)


def test_a_study_of_one_arm_has_a_column_for_each_setup(researcher, tmp_path):
    votes = {"a": {"q": ["yes"]}, "b": {"q": ["no"]}}
    study = rated(tmp_path / "a", votes, setups={"a": "model <one>", "b": "model-two"})

    text = words(page_of(researcher, study))

    assert "Question A model &lt;one&gt; B model-two Undecided" in text
    assert re.search(r" 1 Q 100 0 0 ", text)  # one dialog each: no interval
    assert "This study has only the separate arm" in text
    assert "Without a merged arm every response is shown alone" in text


def test_a_study_of_two_arms_shows_accuracy_shift_and_what_could_have_been_seen(
    researcher, tmp_path
):
    # Cool: no, no, no, no → yes, yes, yes, no. Warm: 4 times yes in both arms.
    arms = {f"c{n}": ("nnn", "yyy") for n in range(3)} | {"c3": ("nnn", "nnn")}
    arms |= {f"w{n}": ("yyy", "yyy") for n in range(4)}
    setups = {key: COOL if key.startswith("c") else WARM for key in arms}
    study = two_arms(tmp_path / "s", arms, setups=setups)

    text = words(page_of(researcher, study))

    assert "Shift B − A T 0.0" in text
    assert "Shift D − C T 0.7" in text
    # 5 of 8 alike; the cool setup shifts by 3 of 4, which three pairs cannot make significant.
    assert re.search(r"1 Q 62\.5 .* 37\.5 \+75\.0 .* \.250 \.250 0\.0 .* 1 1 —", text)
    assert "none 3 up, 0 down of 4" in text
    # Nothing to correct for, and nothing below to hold against people.
    assert "Holm over the one question of each setup" in text
    assert "is the human ceiling used below" not in text


def test_questions_without_pairs_are_not_counted_by_holm(researcher, tmp_path):
    scheme = scheme_of({"asked": "yes_no", "never asked": "yes_no"})
    votes = [
        vote_row(key, "w1", "yes", "asked", arm=arm)
        for key in ("a", "b")
        for arm in ("separate", "merged")
    ]
    outcome = import_rows(
        tmp_path / "s",
        "s",
        examples=[example_row("e1")],
        responses=[response_row(key, "e1") for key in ("a", "b")],
        votes=votes,
        scheme=scheme,
    )

    text = words(page_of(researcher, outcome.study))

    assert "Holm over the questions with pairs of each setup" in text


def test_the_accuracy_of_merged_votes_is_the_ceiling_of_a_run_that_scored_them_all(
    researcher, tmp_path
):
    # 3 of 4 alike; the second run has scored two of them, which are alike.
    arms = {"a": ("yyy", "nnn"), "b": ("yyy", "yyy"), "c": ("nnn", "nnn"), "d": ("yyy", "yyy")}
    study = two_arms(tmp_path / "s", arms)
    whole, part = (make_run(study.dataset, signature=name) for name in ("whole", "part"))
    make_scores(whole, dict.fromkeys(arms, 0.9))
    make_scores(part, {"b": 0.9, "c": 0.1})

    text = words(page_of(researcher, study, run=whole.pk))
    assert "Accuracy on q , 75.0 %" in text
    assert "is the human ceiling used below." in text
    assert "merged arm against separate arm 4 " in text

    text = words(page_of(researcher, study, run=part.pk))
    assert "is over 4 responses; the human ceiling used below, 100.0 %, is over those" in text
    assert "merged arm against separate arm 2 " in text


@pytest.mark.parametrize(
    ("separate", "merged", "expected"),
    [
        ("20", "16", "Merged takes 20 % less than separate"),
        ("20", "48", "Merged takes 140 % more than separate"),
        ("20", "", "No seconds were recorded in the merged arm"),
        ("", "", "No times were recorded with these votes."),
        ("0", "9", "The median of the separate arm is 0 s"),
    ],
)
def test_time_is_saved_lost_or_not_known(researcher, tmp_path, separate, merged, expected):
    arms = {f"r{n}": ("y", "y") for n in range(3)}
    study = two_arms(tmp_path / "s", arms)
    for arm, seconds in (("separate", separate), ("merged", merged)):
        Vote.objects.filter(arm__kind=arm).update(seconds=float(seconds) if seconds else None)

    text = words(page_of(researcher, study))

    assert expected in text
    assert "Seconds per response as the file gives them." in text
    assert "Visible, focused seconds" not in text
    assert ("20 s separate; merged takes 140 % more" in text) == (merged == "48")


def test_an_interval_of_lost_time_is_turned_with_its_figure():
    row = {"arm": "saved", "saved_share": -1.4, "saved_share_low": -1.61, "saved_share_high": -1.13}

    assert time_table([row], []).saving == Saving(1.4, 1.13, 1.61, "more")


def test_more_scenarios_than_columns_lie_under_each_other(researcher, tmp_path):
    votes = {f"r{n}": {"q": ["yes" if n else "no"]} for n in range(6)}
    study = rated(tmp_path / "a", votes, setups={f"r{n}": f"setup-{n}" for n in range(6)})

    text = words(page_of(researcher, study))

    assert "Question and setup Separate n , separate Undecided 1 Q setup-0 0 " in text
    assert "setup-5 100 " in text


def test_each_mean_says_how_many_items_it_is_over(researcher, tmp_path):
    # Of five setups the first has a response on which two raters are undecided in the merged arm.
    arms = {f"r{n}": ("yy", "yy") for n in range(10)} | {"r0": ("yy", "yn")}
    setups = {f"r{n}": {"model": "m", "temperature": n % 5 / 10} for n in range(10)}
    study = two_arms(tmp_path / "s", arms, setups=setups)

    text = words(page_of(researcher, study))

    line = r"T 0\.0 100 [\d–]+ 2 100 1 1 T 0\.1 100 [\d–]+ 2 100 [\d–]+ 2 0 "
    assert re.search(line, text)  # mean, interval of two dialogs, n; twice; undecided
    assert "n = 1 to 2 targets per mean" in text


@pytest.mark.parametrize(
    "scale",
    ["yes_no", {"ordinal": [0, 2]}, {"ordinal": [-2, 2]}, {"nominal": ["0", "1", "2"]}],
    ids=str,
)
def test_a_study_page_shows_every_kind_of_scale(researcher, tmp_path, scale):
    scheme = scheme_of({"q": scale, "never asked": scale})
    votes = {"a": {"q": ["1", "0"]}, "b": {"q": ["1", "1"]}}
    scores = [{"response": "a", "metric": "rouge", "score": "0.5"}]
    study = rated(tmp_path / "a", votes, scheme=scheme, scores=scores)

    text = words(page_of(researcher, study))

    assert "Human–auto agreement" in text
    if "nominal" in scale:
        assert "Nominal answers have no mean: their spread is shown." in text
        assert "0 25 %, 1 75 %, 2 0 %" in text
        assert re.search(r"rouge : — \w", text)


def test_a_study_of_two_hundred_questions_has_a_page(researcher, tmp_path):
    questions = {f"q{n}": ["yes", "no"] for n in range(200)}
    study = rated(tmp_path / "a", {"a": questions, "b": questions})

    assert "Q199" in words(page_of(researcher, study))


def test_without_variation_the_page_says_so_in_words(researcher, tmp_path):
    votes = {"a": {"q": ["yes", "yes"]}, "b": {"q": ["yes", "yes"]}}

    text = words(page_of(researcher, rated(tmp_path / "a", votes)))

    assert "no variation: every vote compared is the same" in text


def test_a_study_without_votes_says_so_and_offers_no_empty_table(researcher, tmp_path):
    study = planned(material(tmp_path / "m"), arms=["separate", "merged"])

    text = words(page_of(researcher, study))

    assert "No votes yet" in text
    assert "Assignments done 0 of 0" in text
    assert "Questions by scenario" not in text
    assert "No auto-metric has scored these responses yet" in text


def test_the_switches_change_the_report_with_and_without_htmx(researcher, pilot):
    address = reverse("evaluation:study", args=["pilot"])
    choices = {"with_implied": "on"}

    page = researcher.get(address, choices)
    fragment = researcher.get(address, choices, headers={"HX-Request": "true"})

    for answer in (page, fragment):
        assert "agreement over given and implied votes" in words(answer)
        assert "raters.csv?with_implied=on" in answer.text
        assert 'name="with_implied" checked' in answer.text
    assert "<html" not in fragment.text


def test_the_setup_and_the_arm_of_the_truth_are_chosen_in_the_address(researcher, tmp_path):
    arms = {"a": ("yyy", "yyn"), "b": ("nnn", "yyn")}
    study = two_arms(tmp_path / "s", arms, setups={"a": COOL, "b": WARM})
    name = study.setups.get(temperature=0.0).name

    text = words(page_of(researcher, study, setup=name, truth="merged"))

    assert f"setup {name} only, truth of the merged arm" in unescape(text)
    assert "B T 0.7" not in text
    # What the address says wrongly is as usual.
    assert page_of(researcher, study, setup="nothing", truth="x", run="y").status_code == 200


def test_simulated_raters_are_announced(researcher, tmp_path):
    raters = [{"rater": "w1", "simulated": "yes"}]
    study = rated(tmp_path / "a", {"a": {"q": ["yes"]}}, raters=raters)

    text = words(page_of(researcher, study))

    assert "Simulated raters." in text
    assert "0 excluded, 1 simulated" in text


def test_mtrag_has_a_page_for_its_study_and_its_responses(researcher, shared):
    import_path(shared / "data/mtrag_human_eval/mtrag_human_eval_part1.json")

    text = words(page_of(researcher, Study.objects.get()))
    assert ".40" in text
    assert "Mean of medians in points of the scale." in text
    assert "Human yes: median above 2.5." in text
    head = text[text.index("Human–auto agreement How") : text.index("Auto-metric ")]
    assert "majority" not in head
    assert re.search(r"4: \d+ — \d+ ", text)  # medians are never undecided by themselves
    assert "With one arm there is no saving to tell." in text
    assert "RougeL" in text
    key = Response.objects.order_by("pk").values_list("key", flat=True)[0]
    assert "Faithfulness" in words(researcher.get(response_address(key)))


# --- people and metrics ---------------------------------------------------------------------


def test_a_run_stands_beside_baseline_ceilings_confusion_and_disagreements(researcher, tmp_path):
    study, run = disputed(tmp_path)

    text = words(page_of(researcher, study))

    # Of 4 with a majority the run agrees on one: yes 1 of 3, no 0 of 1; most people said yes.
    assert re.search(r"Auto-AIS, v3, localized K = 2, lexical 25\.0", text)
    assert "Majority-label baseline 75.0" in text
    assert re.search(r"human yes 1 33 % 2 67 % human no 1 100 % 0 0 %", text)
    assert "Not compared: 1 undecided, 0 not scored, 0 failed, 0 assumed." in text
    assert "Ceiling: one against the rest" in text
    assert "3 of 4: Auto-AIS" in text
    assert "r-miss" in text
    assert f"/metrics/{run.pk}/" in page_of(researcher, study).text


def test_a_roc_curve_ends_where_every_score_is_a_yes(researcher, tmp_path):
    text = words(page_of(researcher, disputed(tmp_path)[0]))

    assert "Score above False alarms Hits 0.900 0.0 0.0 " in text
    assert "all 100.0 100.0 " in text


def test_evidence_without_a_window_scrolls_in_its_case(researcher, tmp_path):
    study, run = disputed(tmp_path)
    assert "Evidence of response" not in page_of(researcher, study).text

    AutoScore.objects.filter(run=run).update(windows=[])

    text = page_of(researcher, study).text
    pane = '<div class="pane-limit" tabindex="0" role="group" aria-label="Evidence of response r-'
    assert text.count(pane) == 3


def test_question_and_run_are_chosen_in_the_address(researcher, tmp_path):
    study, run = disputed(tmp_path)
    other = make_run(study.dataset, signature="other")
    make_scores(other, {"r-miss": 0.9, "r-far": 0.9, "r-false": 0.1, "r-same": 0.9})

    newest, older = (page_of(researcher, study, **asked).text for asked in ({}, {"run": run.pk}))

    assert "Wherever raters have a majority" in newest  # the newest run agrees with all of them
    assert "Wherever raters have a majority" not in older
    assert f'href="?run={run.pk}&amp;question=attributable#auto"' in newest
    text = words(page_of(researcher, study, question="understand"))
    assert "no response has both a score and a human label" in text


def test_the_page_costs_the_same_for_more_votes_and_for_more_runs(researcher, tmp_path):
    def rated_by_a_run(n):
        votes = {f"r{i}": {"q": ["yes", "no", "no"]} for i in range(n)}
        study = rated(tmp_path / str(n), votes, name=f"study {n}")
        run = make_run(study.dataset)
        make_scores(run, dict.fromkeys(votes, 0.9))
        return study, run

    def cost(study, run):
        page_of(researcher, study, run=run.pk)  # makes the figures
        return len(statements(lambda: page_of(researcher, study, run=run.pk)))

    few, many = rated_by_a_run(3), rated_by_a_run(30)
    assert cost(*few) == cost(*many)

    for n in range(4):
        make_scores(make_run(many[0].dataset, signature=f"more {n}"), {"r1": 0.9})
    assert cost(*few) == cost(*many)


def test_large_figures_are_computed_by_a_worker_while_the_last_ones_are_shown(
    researcher, tmp_path, monkeypatch, django_capture_on_commit_callbacks
):
    study, _ = disputed(tmp_path)
    page_of(researcher, study)
    monkeypatch.setattr(stored_figures, "MOST_VOTES_AT_ONCE", 3)
    sent = []
    monkeypatch.setattr(compute_figures, "delay_on_commit", lambda *args: sent.append(args))

    make_run(study.dataset, signature="new")
    last = page_of(researcher, study)
    [seen] = re.findall(r'"Figures-Of": "([^"]+)"', last.text)
    waiting = researcher.get(
        last.request["PATH_INFO"], headers={"HX-Request": "true", "Figures-Of": seen}
    )

    assert re.search(r"Figures of \d\d:\d\d ; newer ones are being computed", words(last))
    assert "Questions by scenario" in words(last)
    assert [pk for pk, _ in sent] == [study.pk]  # asked once, though the page waits
    assert waiting.status_code == 204

    compute_figures(*sent[0])
    current = words(page_of(researcher, study))
    assert "newer ones" not in current


def test_a_large_study_without_figures_says_that_they_are_being_computed(
    researcher, tmp_path, monkeypatch
):
    study, _ = disputed(tmp_path)
    monkeypatch.setattr(stored_figures, "MOST_VOTES_AT_ONCE", 3)
    monkeypatch.setattr(compute_figures, "delay_on_commit", lambda *args: None)

    text = words(page_of(researcher, study))

    assert "The figures are being computed" in text
    figure = reverse("evaluation:figure", args=[study.slug, "accuracy", "svg"])
    answer = researcher.get(figure)
    assert (answer.status_code, answer["Retry-After"]) == (503, "10")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("report", ["agreement", "json"]), ("figure", ["accuracy", "svg"])],
)
def test_a_file_of_a_large_study_is_asked_for_and_then_the_last_one_is_given(
    researcher, tmp_path, monkeypatch, name, arguments
):
    study, run = disputed(tmp_path)
    monkeypatch.setattr(stored_figures, "MOST_VOTES_AT_ONCE", 3)
    monkeypatch.setattr(asking, "ASKED_AGAIN_AFTER", 0)
    sent = []
    monkeypatch.setattr(compute_figures, "delay_on_commit", lambda *args: sent.append(args))
    address = reverse(f"evaluation:{name}", args=[study.slug, *arguments])

    first = researcher.get(address)
    assert (first.status_code, first["Retry-After"]) == (503, "10")
    [asked] = sent
    compute_figures(*asked)
    made = researcher.get(address)
    run.scores.all().delete()
    later = researcher.get(address)

    assert (made.status_code, later.status_code) == (200, 200)
    assert later.content == made.content  # though the scores are gone: new ones are asked for
    assert [pk for pk, _ in sent] == [study.pk, study.pk]


def test_only_the_report_on_raters_has_rows_by_setup(researcher, pilot):
    address = reverse("evaluation:report", args=["pilot", "scenarios", "json"])

    assert researcher.get(f"{address}?by=setup").content == researcher.get(address).content


# --- words ----------------------------------------------------------------------------------


def setup_rows(*temperatures):
    return [{"setup": f"m {t}", "model": "m", "temperature": t} for t in temperatures]


@pytest.mark.parametrize(
    ("temperatures", "expected"),
    [
        ((0.0, 0.7), ["T 0.0", "T 0.7"]),
        ((0.71, 0.74), ["T 0.71", "T 0.74"]),
        ((0.70000001, 0.70000002), ["m 0.70000001", "m 0.70000002"]),
    ],
)
def test_temperatures_that_differ_are_called_differently(temperatures, expected):
    assert list(short_names(setup_rows(*temperatures)).values()) == expected


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"favours": "cool"}, "favours T 0.0"),
        ({"helps": "cool"}, "helps T 0.0"),
        ({"favours": None, "harms": "warm, hot"}, "harms T 0.7, hot"),
        ({"favours": "cool", "harms": "warm"}, "favours T 0.0; harms T 0.7"),
        ({}, ""),
    ],
)
def test_what_merging_does_to_a_setup_is_one_phrase(row, expected):
    assert directions(row, {"cool": "T 0.0", "warm": "T 0.7"}) == expected


def test_small_p_values_and_negative_percents_are_written_as_in_papers():
    assert [p_value(p) for p in (0.00099, 0.001, 0.0385, 0.9999)] == ["<.001", ".001", ".038", "1"]
    assert [percent(share, 0) for share in (-0.054, -0.001, 0.5)] == ["−5", "0", "50"]


# --- files to take away ---------------------------------------------------------------------


@pytest.mark.parametrize(("query", "choices"), [("", Choices()), ("?by=setup", Choices(True))])
def test_the_report_is_downloaded_as_the_page_shows_it(researcher, pilot, query, choices):
    address = reverse("evaluation:report", args=["pilot", "raters", "json"])

    answer = researcher.get(address + query)

    assert answer["Content-Type"] == "application/json"
    assert 'filename="pilot-raters.json"' in answer["Content-Disposition"]
    expected = raters_report(Study.objects.get(), choices)._asdict()
    assert json.loads(answer.content) == json.loads(json.dumps(expected))


@pytest.mark.parametrize("report", REPORTS)
@pytest.mark.parametrize(("format_key", "suffix"), [("csv", "csv"), ("latex", "tex")])
def test_every_report_comes_as_csv_and_latex_too(researcher, tmp_path, report, format_key, suffix):
    study, _ = disputed(tmp_path)

    answer = researcher.get(reverse("evaluation:report", args=[study.slug, report, format_key]))

    name = f'filename="{study.slug}-{report}.{suffix}"'
    assert name in answer["Content-Disposition"]
    without_rows = ("uncertainty", "time", "position", "sensibleness")
    assert ("attributable" in answer.text) == (report not in without_rows)


def test_reports_and_formats_that_do_not_exist_are_not_found(researcher, pilot):
    for report, format_key in (("raters", "exe"), ("raters", "table"), ("nothing", "csv")):
        url = reverse("evaluation:report", args=["pilot", report, format_key])
        assert researcher.get(url).status_code == 404


def tidy(client):
    answer = client.get(reverse("evaluation:votes", args=["pilot"]))
    assert answer["Content-Type"].startswith("text/csv")
    return list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))


def test_the_tidy_csv_has_one_row_per_vote(researcher, pilot):
    rows = tidy(researcher)

    assert len(rows) == Vote.objects.count() == 7
    assert rows[3] == {
        "study": "pilot",
        "arm": "separate",
        "dialog": "e1",
        "example": "e1",
        "response": "r1",
        "setup": "model-a",
        "citation": "",
        "question": "specific",
        "rater": "cleo",
        "answer": "no",
        "implied": "yes",
        "surplus": "no",
        "excluded": "no",
        "flagged": "no",
        "gold": "no",
        "simulated": "no",
        "position": "",
        "seconds": "",
        "at": "",
    }
    assert (rows[5]["arm"], rows[5]["position"]) == ("merged", "2")
    assert rows[6]["citation"] == "2"


def test_in_the_tidy_csv_no_cell_is_a_formula(researcher, tmp_path):
    scheme = scheme_of({"=q": {"nominal": ["=yes", "no"]}})
    rated(tmp_path / "a", {"=r": {"=q": ["=yes"]}}, scheme=scheme, setups={"=r": "+setup"})
    # Written as CSV and not by us, '=r' is taken as it stands.

    [row] = tidy(researcher)

    assert (row["response"], row["question"], row["answer"]) == ("'=r", "'=q", "'=yes")
    assert row["setup"] == "'+setup"


def test_the_tidy_csv_holds_codes_and_no_names(researcher, pilot):
    person = User.objects.create_user("rachel.secret", "rachel@secret.example")
    Rater.objects.filter(code="anna").update(user=person, code=person.rater_code)

    rows = tidy(researcher)

    assert person.rater_code in {row["rater"] for row in rows}
    assert "secret" not in str(rows)


def test_study_and_dataset_can_be_taken_away_as_zip(researcher, pilot):
    def names(address):
        answer = researcher.get(address)
        assert 'filename="pilot.zip"' in answer["Content-Disposition"]
        with zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content))) as archive:
            return set(archive.namelist())

    of_dataset = names(reverse("evaluation:export-dataset", args=["pilot"]))
    of_study = names(reverse("evaluation:export-study", args=["pilot"]))

    assert of_dataset == {"examples.jsonl", "responses.jsonl", "scores.csv"}
    assert of_study - of_dataset == {
        "study.json",
        "scheme.json",
        "raters.csv",
        "votes.csv",
        "flags.csv",
    }


def test_a_study_that_does_not_exist_is_not_found(researcher):
    for name in ("study", "votes", "export-study"):
        assert researcher.get(reverse(f"evaluation:{name}", args=["nothing"])).status_code == 404
