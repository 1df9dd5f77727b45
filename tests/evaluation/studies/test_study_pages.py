"""The list of studies, the page of one, and the files it offers."""

import csv
import io
import json
import re
import zipfile
from typing import NamedTuple

import pytest
from django.urls import reverse

from accounts.models import User
from annotation.models import Rater, Study, Vote
from evaluation.models import AutoScore
from evaluation.reports.base import Choices
from evaluation.reports.columns import Estimate
from evaluation.reports.numbers import p_value, percent
from evaluation.reports.setups import short_names
from evaluation.studies.pages.tables import Saving, time_table
from evaluation.studies.reports import cached_figures
from evaluation.studies.reports.raters import raters_report
from evaluation.studies.reports.study import ON_PAGE
from evaluation.studies.reports.timing import SavedTime
from evaluation.studies.reports.uncertainty import Direction
from evaluation.studies.tasks import compute_figures
from evaluation.studies.templatetags.studies import directions
from evaluation.studies.views import asking
from generation.models import Response
from tests.annotation.makers import material, planned
from tests.evaluation.makers_of_scores import disputed, make_run, make_scores
from tests.evaluation.pages import make_pilot, response_address
from tests.evaluation.studies.hand_made import COOL, PAIR, WARM, two_arms
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
from tests.shown import shown

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

    assert shown(researcher.get(STUDIES)).table("Studies").rows == [
        ["second", "second", "own", "separate", "1", "open"],
        ["pilot", "pilot", "own", "separate, merged", "3", "imported"],
    ]


def test_the_list_of_studies_costs_the_same_for_3_and_for_30(researcher, tmp_path):
    def cost(n):
        for i in range(n):
            rated(tmp_path / f"{n}-{i}", {"r": {"q": ["yes", "no"]}}, name=f"study {n}-{i}")
        return len(statements(lambda: researcher.get(STUDIES)))

    assert cost(3) == cost(27)


def test_without_studies_the_list_says_how_one_comes_to_be(researcher):
    assert "No studies yet" in shown(researcher.get(STUDIES)).headings


def page_of(client, study, **asked):
    return client.get(reverse("evaluation:study", args=[study.slug]), asked)


def test_a_study_shows_means_agreement_and_what_is_left_out(researcher, pilot):
    page = shown(page_of(researcher, Study.objects.get()))

    # On 'sensible' in the separate arm: yes, no, no, and yes about a citation.
    answers = page.table("Answers of the separate arm")
    assert answers.row("1 Sensible")["Majorities"] == "no: 1, yes: 1"
    agreement = page.table("Agreement between raters, merged arm")
    assert agreement.column("Question") == ["1 Sensible", "2 Specific"]
    implied = page.table("What the figures are without").row("implied votes")
    assert implied["How many"] == "1"
    assert "a closed gate implies them" in implied["Why"]
    assert raters_report(Study.objects.get()).signature in page.part("agreement").text
    assert "3 votes" not in page.text
    assert page.facts["Votes"] == "7"
    assert "1 of them implied" in page.part("overview").text


def test_a_study_of_one_arm_has_a_column_for_each_setup(researcher, tmp_path):
    votes = {"a": {"q": ["yes"]}, "b": {"q": ["no"]}}
    study = rated(tmp_path / "a", votes, setups={"a": "model <one>", "b": "model-two"})

    page = shown(page_of(researcher, study))

    means = page.table("Question means by scenario")
    assert means.columns == ["Question", "A model <one>", "B model-two", "Undecided"]
    assert means.rows == [["1 Q", "100", "0", "0"]]  # one dialog each: no interval
    assert "only the separate arm" in page.part("merged").text
    assert "Without a merged arm" in page.part("time").text


def test_a_study_of_two_arms_shows_accuracy_shift_and_what_could_have_been_seen(
    researcher, tmp_path
):
    # Cool: no, no, no, no → yes, yes, yes, no. Warm: 4 times yes in both arms.
    arms = {f"c{n}": ("nnn", "yyy") for n in range(3)} | {"c3": ("nnn", "nnn")}
    arms |= {f"w{n}": ("yyy", "yyy") for n in range(4)}
    setups = {key: COOL if key.startswith("c") else WARM for key in arms}
    study = two_arms(tmp_path / "s", arms, setups=setups)

    page = shown(page_of(researcher, study))

    # 5 of 8 alike; the cool setup shifts by 3 of 4, which three pairs cannot make significant.
    merged = page.table("Accuracy and disagreement")
    [[_, accuracy, disagreement, *_]], row = merged.rows, merged.row("1 Q")
    assert (accuracy.split()[0], disagreement) == ("62.5", "37.5")
    cool = [row[name] for name in ("Shift B − A T 0.0", "p , T 0.0", "Holm , T 0.0")]
    warm = [row[name] for name in ("Shift D − C T 0.7", "p , T 0.7", "Holm , T 0.7")]
    assert (cool, warm) == (["+75.0", ".250", ".250"], ["0.0", "1", "1"])
    assert row["Direction"] == "—"
    seen = page.table("What shift could have been seen").row("1 Q")
    assert (seen["T 0.0"], seen["Differing responses, T 0.0"]) == ("none", "3 up, 0 down of 4")
    # Nothing to correct for, and nothing below to hold against people.
    assert "the one question" in page.part("merged").text
    assert "human ceiling" not in page.part("merged").text


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

    page = shown(page_of(researcher, outcome.study))

    assert "the questions with pairs" in page.part("merged").text


def test_the_accuracy_of_merged_votes_is_the_ceiling_of_a_run_that_scored_them_all(
    researcher, tmp_path
):
    # 3 of 4 alike; the second run has scored two of them, which are alike.
    arms = {"a": ("yyy", "nnn"), "b": ("yyy", "yyy"), "c": ("nnn", "nnn"), "d": ("yyy", "yyy")}
    study = two_arms(tmp_path / "s", arms)
    whole, part = (make_run(study.dataset, signature=name) for name in ("whole", "part"))
    make_scores(whole, dict.fromkeys(arms, 0.9))
    make_scores(part, {"b": 0.9, "c": 0.1})

    def ceiling_of(run):
        """Return the ceiling, n of it, and what is said of it above."""
        page = shown(page_of(researcher, study, run=run.pk))
        ceiling = page.table("Auto-metrics against").row("Ceiling: merged arm")["Accuracy"]
        measures = page.table("More measures").rows
        [n] = [row[2] for row in measures if row[1] == "merged arm against separate arm"]
        [note] = page.parts("merged-ceiling")
        return ceiling, n, note.text

    ceiling, n, note = ceiling_of(whole)
    assert (ceiling, n) == ("75.0", "4")
    assert "75.0 %" in note
    assert "is the human ceiling" in note

    ceiling, n, note = ceiling_of(part)
    assert (ceiling, n) == ("100.0", "2")
    assert "over 4 responses" in note
    assert "100.0 %" in note


@pytest.mark.parametrize(
    ("separate", "merged", "expected"),
    [
        ("20", "16", "20 % less than separate"),
        ("20", "48", "140 % more than separate"),
        ("20", "", "No seconds were recorded in the merged arm"),
        ("", "", "No times were recorded"),
        ("0", "9", "median of the separate arm is 0 s"),
    ],
)
def test_time_is_saved_lost_or_not_known(researcher, tmp_path, separate, merged, expected):
    arms = {f"r{n}": ("y", "y") for n in range(3)}
    study = two_arms(tmp_path / "s", arms)
    for arm, seconds in (("separate", separate), ("merged", merged)):
        Vote.objects.filter(arm__kind=arm).update(seconds=float(seconds) if seconds else None)

    page = shown(page_of(researcher, study))

    assert expected in page.part("time").text
    assert "as the file gives them" in page.part("time").text
    assert "focused seconds" not in page.text
    overview = page.part("overview").text
    assert ("20 s separate" in overview and "140 % more" in overview) == (merged == "48")


def test_an_interval_of_lost_time_is_turned_with_its_figure():
    saved = Estimate(-1.4, -1.61, -1.13)
    row = SavedTime(n_judgements=4, n_without_seconds=0, saved_share=saved)

    assert time_table([row], []).saving == Saving(1.4, 1.13, 1.61, "more")


def test_more_scenarios_than_columns_lie_under_each_other(researcher, tmp_path):
    votes = {f"r{n}": {"q": ["yes" if n else "no"]} for n in range(6)}
    study = rated(tmp_path / "a", votes, setups={f"r{n}": f"setup-{n}" for n in range(6)})

    means = shown(page_of(researcher, study)).table("Question means by setup")

    assert means.columns == ["Question and setup", "Separate", "n , separate", "Undecided"]
    assert [row[:2] for row in means.rows[:2]] == [["1 Q"], ["setup-0", "0"]]
    assert means.row("setup-5")["Separate"] == "100"


def test_each_mean_says_how_many_items_it_is_over(researcher, tmp_path):
    # Of five setups the first has a response on which two raters are undecided in the merged arm.
    arms = {f"r{n}": ("yy", "yy") for n in range(10)} | {"r0": ("yy", "yn")}
    setups = {f"r{n}": {"model": "m", "temperature": n % 5 / 10} for n in range(10)}
    study = two_arms(tmp_path / "s", arms, setups=setups)

    page = shown(page_of(researcher, study))

    # Mean with the interval of two dialogs, n; twice; undecided.
    assert page.table("Question means by setup").rows[1:3] == [
        ["T 0.0", "100 1–100", "2", "100", "1", "1"],
        ["T 0.1", "100 1–100", "2", "100 1–100", "2", "0"],
    ]
    assert "1 to 2 targets" in page.part("scenarios").text


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

    page = shown(page_of(researcher, study))

    assert "Human–auto agreement" in page.headings
    if "nominal" in scale:
        assert "Nominal answers have no mean" in page.part("scenarios").text
        mean = page.table("Question means").row("1 Q")["model-a"]
        assert mean == "0 25 %, 1 75 %, 2 0 %"
        [why_not] = [item for item in page.items if item.startswith("rouge : —")]
        assert "positive" in why_not


def test_a_study_of_two_hundred_questions_has_a_page(researcher, tmp_path):
    questions = {f"q{n}": ["yes", "no"] for n in range(200)}
    study = rated(tmp_path / "a", {"a": questions, "b": questions})

    page = shown(page_of(researcher, study))

    assert "200 Q199" in page.table("Question means").column("Question")


def test_without_variation_the_page_says_so_in_words(researcher, tmp_path):
    votes = {"a": {"q": ["yes", "yes"]}, "b": {"q": ["yes", "yes"]}}

    page = shown(page_of(researcher, rated(tmp_path / "a", votes)))

    [[_, percent_agreement, kappa, *_]] = page.table("Agreement between raters").rows
    assert percent_agreement.startswith("100.0 ")
    assert "every vote compared is the same" in kappa


def test_a_study_without_votes_says_so_and_offers_no_empty_table(researcher, tmp_path):
    study = planned(material(tmp_path / "m"), arms=["separate", "merged"])

    page = shown(page_of(researcher, study))

    assert "No votes yet" in page.headings
    assert page.facts["Assignments done"] == "0 of 0"
    assert page.tables == []
    assert "Questions by scenario" not in page.text
    assert "No auto-metric has scored these responses yet" in page.headings


def test_the_switches_change_the_report_with_and_without_htmx(researcher, pilot):
    address = reverse("evaluation:study", args=["pilot"])
    choices = {"with_implied": "on"}

    whole = researcher.get(address, choices)
    fragment = researcher.get(address, choices, headers={"HX-Request": "true"})

    for page in map(shown, (whole, fragment)):
        assert "agreement over given and implied votes" in page.part("agreement").text
        assert f"{address}raters.csv?with_implied=on" in page.addresses
        assert page.part("filters").fields["with_implied"] == ["on"]
    assert "<html" not in fragment.text


def test_an_imported_study_with_gates_offers_to_take_answers_behind_them_as_implied(
    researcher, tmp_path
):
    answers = {"a": {"sensible": ["yes", "no"], "specific": ["yes", "yes"]}}
    study = rated(tmp_path / "gated", answers, scheme=PAIR)
    plain = rated(tmp_path / "plain", {"b": {"q": ["yes"]}}, name="plain")

    pages = [shown(page_of(researcher, study, **chosen)) for chosen in ({}, {"by_gates": "on"})]

    assert [page.part("filters").fields["by_gates"] for page in pages] == [[], ["on"]]
    assert "answers behind closed gates taken as implied" in pages[1].part("agreement").text
    assert "by_gates" not in shown(page_of(researcher, plain)).part("filters").fields


def test_the_setup_and_the_arm_of_the_truth_are_chosen_in_the_address(researcher, tmp_path):
    arms = {"a": ("yyy", "yyn"), "b": ("nnn", "yyn")}
    study = two_arms(tmp_path / "s", arms, setups={"a": COOL, "b": WARM})
    name = study.setups.get(temperature=0.0).name

    page = shown(page_of(researcher, study, setup=name, truth="merged"))

    assert f"setup {name} only, truth of the merged arm" in page.part("agreement").text
    assert (page.fields["setup"], page.fields["truth"]) == (name, "merged")
    assert "T 0.7" not in " ".join(page.table("Question means").columns)
    # What the address says wrongly is as usual.
    assert page_of(researcher, study, setup="nothing", truth="x", run="y").status_code == 200


def test_simulated_raters_are_announced(researcher, tmp_path):
    raters = [{"rater": "w1", "simulated": "yes"}]
    study = rated(tmp_path / "a", {"a": {"q": ["yes"]}}, raters=raters)

    page = shown(page_of(researcher, study))

    assert any(message.startswith("Simulated raters.") for message in page.messages)
    assert "0 excluded, 1 simulated" in page.part("overview").text


def test_mtrag_has_a_page_for_its_study_and_its_responses(researcher, shared):
    import_path(shared / "data/mtrag_human_eval/mtrag_human_eval_part1.json")

    page = shown(page_of(researcher, Study.objects.get()))
    agreement = page.table("Agreement between raters").row("4 Faithfulness")
    assert agreement["Krippendorff’s alpha"].startswith(".40 ")
    assert "medians in points" in page.part("scenarios").text
    head = page.part("auto").parts("sheet-head")[0].text
    assert "median above 2.5" in head
    assert "majority" not in head
    answers = page.table("Answers of the separate arm")
    assert {*answers.column("Undecided")} == {"—"}  # medians are never undecided by themselves
    assert "no saving to tell" in page.part("time").text
    assert "RougeL" in page.table("Auto-metrics against").column("Auto-metric")
    key = Response.objects.order_by("pk").values_list("key", flat=True)[0]
    response = shown(researcher.get(response_address(key)))
    assert "Faithfulness" in response.table("pilot").column("Question")


# --- people and metrics ---------------------------------------------------------------------


def test_a_run_stands_beside_baseline_ceilings_confusion_and_disagreements(researcher, tmp_path):
    study, run = disputed(tmp_path)

    page = shown(page_of(researcher, study))

    # Of 4 with a majority the run agrees on one: yes 1 of 3, no 0 of 1; most people said yes.
    metrics = page.table("Auto-metrics against")
    assert metrics.row("Auto-AIS, v3, localized K = 2, lexical")["Accuracy"] == "25.0"
    assert metrics.row("Ceiling: one against the rest")
    assert page.table("Measures of").row("Majority-label baseline")["Figure"] == "75.0"
    assert page.table("Confusion matrix").rows == [
        ["human yes", "1 33 %", "2 67 %"],
        ["human no", "1 100 %", "0 0 %"],
    ]
    assert "1 undecided, 0 not scored, 0 failed, 0 assumed" in page.part("cm").text
    disagreements = page.part("disagreements")
    assert "3 of 4" in disagreements.text
    assert "r-miss" in disagreements.links
    assert f"/metrics/{run.pk}/" in page.addresses


def test_a_roc_curve_ends_where_every_score_is_a_yes(researcher, tmp_path):
    points = shown(page_of(researcher, disputed(tmp_path)[0])).table("Points of the ROC curve")

    assert points.columns == ["Score above", "False alarms", "Hits"]
    assert points.rows[0] == ["0.900", "0.0", "0.0"]
    assert points.rows[-1] == ["all", "100.0", "100.0"]


def test_evidence_without_a_window_scrolls_in_its_case(researcher, tmp_path):
    study, run = disputed(tmp_path)

    def n_panes(answer):
        return [len(case.parts("pane-limit")) for case in shown(answer).parts("case")]

    assert n_panes(page_of(researcher, study)) == [0, 0, 0]

    AutoScore.objects.filter(run=run).update(windows=[])

    answer = page_of(researcher, study)
    assert n_panes(answer) == [1, 1, 1]
    pane = 'tabindex="0" role="group" aria-label="Evidence of response r-'
    assert answer.text.count(pane) == 3


def test_question_and_run_are_chosen_in_the_address(researcher, tmp_path):
    study, run = disputed(tmp_path)
    other = make_run(study.dataset, signature="other")
    make_scores(other, {"r-miss": 0.9, "r-far": 0.9, "r-false": 0.1, "r-same": 0.9})

    newest, older = (shown(page_of(researcher, study, **a)) for a in ({}, {"run": run.pk}))

    # The newest run agrees with all of them.
    assert "they say the same" in newest.part("disagreements").text
    assert not newest.parts("case")
    assert "they say the same" not in older.text
    assert older.parts("case")
    assert f"?run={run.pk}&question=attributable#auto" in newest.addresses
    page = shown(page_of(researcher, study, question="understand"))
    assert any("no response has both a score and a human label" in item for item in page.items)


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
    monkeypatch.setattr(cached_figures, "MOST_VOTES_AT_ONCE", 3)
    sent = []
    monkeypatch.setattr(compute_figures, "delay_on_commit", lambda *args: sent.append(args))

    make_run(study.dataset, signature="new")
    last = page_of(researcher, study)
    [seen] = re.findall(r'"Figures-Of": "([^"]+)"', last.text)
    waiting = researcher.get(
        last.request["PATH_INFO"], headers={"HX-Request": "true", "Figures-Of": seen}
    )

    page = shown(last)
    [message] = page.messages
    assert re.match(r"Figures of \d\d:\d\d\b.* newer ones", message)
    assert "Questions by scenario" in page.headings
    assert [pk for pk, _ in sent] == [study.pk]  # asked once, though the page waits
    assert waiting.status_code == 204

    compute_figures(*sent[0])
    current = shown(page_of(researcher, study))
    assert "newer ones" not in current.text


def test_a_large_study_without_figures_says_that_they_are_being_computed(
    researcher, tmp_path, monkeypatch
):
    study, _ = disputed(tmp_path)
    monkeypatch.setattr(cached_figures, "MOST_VOTES_AT_ONCE", 3)
    monkeypatch.setattr(compute_figures, "delay_on_commit", lambda *args: None)

    page = shown(page_of(researcher, study))

    assert "The figures are being computed" in page.headings
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
    monkeypatch.setattr(cached_figures, "MOST_VOTES_AT_ONCE", 3)
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


class Setup(NamedTuple):
    setup: str
    model: str
    temperature: float


def setup_rows(*temperatures):
    return [Setup(f"m {t}", "m", t) for t in temperatures]


@pytest.mark.parametrize(
    ("temperatures", "expected"),
    [
        ((0.0, 0.7), ["T 0.0", "T 0.7"]),
        ((0.71, 0.74), ["T 0.71", "T 0.74"]),
        ((0.70000001, 0.70000002), ["T 0.70000001", "T 0.70000002"]),
    ],
)
def test_temperatures_that_differ_are_called_differently(temperatures, expected):
    assert list(short_names(setup_rows(*temperatures)).values()) == expected


@pytest.mark.parametrize(
    ("direction", "expected"),
    [
        (Direction(favours="cool"), "favours T 0.0"),
        (Direction(helps="cool"), "helps T 0.0"),
        (Direction(harms="warm, hot"), "harms T 0.7, hot"),
        (Direction(favours="cool", harms="warm"), "favours T 0.0; harms T 0.7"),
        (Direction(), ""),
    ],
)
def test_what_merging_does_to_a_setup_is_one_phrase(direction, expected):
    assert directions(direction, {"cool": "T 0.0", "warm": "T 0.7"}) == expected


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
    expected = raters_report(Study.objects.get(), choices).as_json()
    assert json.loads(answer.content) == json.loads(json.dumps(expected))


@pytest.mark.parametrize("report", [kind.key for kind in ON_PAGE])
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
