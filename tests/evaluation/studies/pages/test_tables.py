"""The list of studies, and the tables on the pages of one: means, shifts, times, raters."""

import pytest
from django.urls import reverse

from annotation.models import Study, Vote
from evaluation.reports.columns import Estimate
from evaluation.studies.pages.tables import Saving, time_table
from evaluation.studies.reports.raters import raters_report
from evaluation.studies.reports.timing import SavedTime
from generation.models import Response
from tests.annotation.makers import material, planned
from tests.evaluation.makers_of_scores import make_run, make_scores
from tests.evaluation.pages import response_address
from tests.evaluation.studies.hand_made import COOL, PAIR, WARM, two_arms
from tests.evaluation.studies.pages.address import NAMES, page_of
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

STUDIES = "/studies/"


def test_the_list_of_studies_shows_scheme_arms_raters_and_state(researcher, pilot, tmp_path):
    rated(tmp_path / "b", {"x": {"sensible": ["yes"], "specific": ["no"]}}, name="second")
    Study.objects.filter(name="second").update(is_imported=False, raters_per_unit=5, state="open")

    columns = ["Study", "Dataset", "Scheme", "Arms", "Raters", "State"]
    table = shown(researcher.get(STUDIES)).table("Studies")
    assert list(zip(*map(table.column, columns), strict=True)) == [
        ("second", "second", "own", "separate", "1", "open"),
        ("pilot", "pilot", "own", "separate, merged", "3", "imported"),
    ]


def test_the_list_of_studies_costs_the_same_for_3_and_for_30(researcher, tmp_path):
    def cost(n):
        for i in range(n):
            rated(tmp_path / f"{n}-{i}", {"r": {"q": ["yes", "no"]}}, name=f"study {n}-{i}")
        return len(statements(lambda: researcher.get(STUDIES)))

    assert cost(3) == cost(27)


def test_without_studies_the_list_says_how_one_comes_to_be(researcher):
    assert "No studies yet" in shown(researcher.get(STUDIES)).headings


def test_a_study_shows_means_agreement_and_what_is_left_out(researcher, pilot):
    study = Study.objects.get()
    results, raters, methods = (
        shown(page_of(researcher, study, name))
        for name in ("study", "study-raters", "study-methods")
    )

    # On 'sensible' in the separate arm: yes, no, no, and yes about a citation.
    answers = results.table("Answers of the separate arm")
    assert answers.row("1 Sensible")["Majorities"] == "no: 1, yes: 1"
    agreement = raters.table("Agreement between raters, merged arm")
    assert agreement.column("Question") == ["1 Sensible", "2 Specific"]
    implied = methods.table("What the numbers leave out, and why").row("implied votes")
    assert implied["How many"] == "2"
    assert "a closed gate implies them" in implied["Why"]
    assert raters_report(study).signature in raters.part("agreement").text
    assert all("3 votes" not in page.text for page in (results, raters, methods))
    assert results.facts["Votes"] == "8"
    assert "2 of them implied" in results.part("overview").text


def test_a_study_of_one_arm_has_a_column_for_each_setup(researcher, tmp_path):
    votes = {"a": {"q": ["yes"]}, "b": {"q": ["no"]}}
    study = rated(tmp_path / "a", votes, setups={"a": "model <one>", "b": "model-two"})

    page = shown(page_of(researcher, study))

    means = page.table("Question means by scenario")
    assert means.columns == ["Question", "model <one>", "model-two", "Waiting", "Tied"]
    assert means.rows == [["1 Q", "100", "0", "0", "0"]]  # one dialog each: no interval
    page = shown(page_of(researcher, study, "study-merged"))
    assert "only the separate arm" in page.part("merged").text
    assert "no merged arm" in page.part("time").text


def test_a_study_of_two_arms_shows_accuracy_shift_and_what_could_have_been_seen(
    researcher, tmp_path
):
    # Cool: no, no, no, no → yes, yes, yes, no. Warm: 4 times yes in both arms.
    arms = {f"c{n}": ("nnn", "yyy") for n in range(3)} | {"c3": ("nnn", "nnn")}
    arms |= {f"w{n}": ("yyy", "yyy") for n in range(4)}
    setups = {key: COOL if key.startswith("c") else WARM for key in arms}
    study = two_arms(tmp_path / "s", arms, setups=setups)

    page = shown(page_of(researcher, study, "study-merged"))

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

    page = shown(page_of(researcher, outcome.study, "study-merged"))

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
        metrics, merged = (
            shown(page_of(researcher, study, name, run=run.pk))
            for name in ("study-metrics", "study-merged")
        )
        ceiling = metrics.table("Auto-metrics against").row("Ceiling: merged arm")["Accuracy"]
        measures = metrics.table("More measures").rows
        [n] = [
            row[2]
            for row in measures
            if row[1] == "3 votes of the merged arm against as many alone"
        ]
        [note] = merged.parts("merged-ceiling")
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

    page = shown(page_of(researcher, study, "study-merged"))
    results = shown(page_of(researcher, study))

    assert expected in page.part("time").text
    assert "as the file gives them" in page.part("time").text
    assert "focused seconds" not in page.text + results.text
    overview = results.part("overview").text
    assert ("20 s separate" in overview and "140 % more" in overview) == (merged == "48")


def test_an_interval_of_lost_time_is_turned_with_its_figure():
    saved = Estimate(-1.4, -1.61, -1.13)
    row = SavedTime(n_judgements=4, n_without_seconds=0, saved_share=saved)

    assert time_table([row], []).saving == Saving(1.4, 1.13, 1.61, "more")


def test_more_scenarios_than_columns_lie_under_each_other(researcher, tmp_path):
    votes = {f"r{n}": {"q": ["yes" if n else "no"]} for n in range(6)}
    study = rated(tmp_path / "a", votes, setups={f"r{n}": f"setup-{n}" for n in range(6)})

    means = shown(page_of(researcher, study)).table("Question means by setup")

    assert means.columns == ["Question and setup", "Separate", "n , separate", "Waiting", "Tied"]
    assert [row[:2] for row in means.rows[:2]] == [["1 Q"], ["setup-0", "0"]]
    assert means.row("setup-5")["Separate"] == "100"


def test_each_mean_says_how_many_items_it_is_over(researcher, tmp_path):
    # Of five setups the first has a response on which two raters are tied in the merged arm.
    arms = {f"r{n}": ("yy", "yy") for n in range(10)} | {"r0": ("yy", "yn")}
    setups = {f"r{n}": {"model": "m", "temperature": n % 5 / 10} for n in range(10)}
    study = two_arms(tmp_path / "s", arms, setups=setups)

    page = shown(page_of(researcher, study))

    # Mean with the interval of two dialogs, n; twice; waiting and tied.
    assert page.table("Question means by setup").rows[1:3] == [
        ["T 0.0", "100 n = 2 1–100", "2", "100", "1", "0", "1"],
        ["T 0.1", "100 n = 2 1–100", "2", "100 n = 2 1–100", "2", "0", "0"],
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

    pages = {name: shown(page_of(researcher, study, name)) for name in NAMES}

    page, metrics = pages["study"], pages["study-metrics"]
    assert "Human–auto agreement" in metrics.headings
    if "nominal" in scale:
        assert "Nominal answers have no mean" in page.part("scenarios").text
        mean = page.table("Question means").row("1 Q")["model-a"]
        assert mean == "0 25 %, 1 75 %, 2 0 %"
        [why_not] = [item for item in metrics.items if item.startswith("rouge : —")]
        assert "positive" in why_not


def test_a_study_of_two_hundred_questions_has_a_page(researcher, tmp_path):
    questions = {f"q{n}": ["yes", "no"] for n in range(200)}
    study = rated(tmp_path / "a", {"a": questions, "b": questions})

    page = shown(page_of(researcher, study))

    assert "200 Q199" in page.table("Question means").column("Question")


def test_without_variation_the_page_says_so_in_words(researcher, tmp_path):
    votes = {"a": {"q": ["yes", "yes"]}, "b": {"q": ["yes", "yes"]}}

    page = shown(page_of(researcher, rated(tmp_path / "a", votes), "study-raters"))

    [[_, percent_agreement, kappa, *_]] = page.table("Agreement between raters").rows
    assert percent_agreement.startswith("100.0 ")
    assert "every vote compared is the same" in kappa


def test_a_study_without_votes_says_so_and_offers_no_empty_table(researcher, tmp_path):
    study = planned(material(tmp_path / "m"), arms=["separate", "merged"])

    pages = {name: shown(page_of(researcher, study, name)) for name in NAMES}

    metrics = pages.pop("study-metrics")
    for page in pages.values():
        assert "No votes yet" in page.headings
        assert page.tables == []
        assert "Questions by scenario" not in page.text
    assert pages["study"].facts["Assignments done"] == "0 of 0"
    assert metrics.tables == []
    assert "No auto-metric has scored these responses yet" in metrics.headings


def test_the_switches_change_the_report_with_and_without_htmx(researcher, pilot):
    address = reverse("evaluation:study-raters", args=["pilot"])
    choices = {"with_implied": "on"}

    whole = researcher.get(address, choices)
    fragment = researcher.get(address, choices, headers={"HX-Request": "true"})

    for page in map(shown, (whole, fragment)):
        assert "agreement over given and implied votes" in page.part("agreement").text
        assert "/studies/pilot/raters.csv?with_implied=on" in page.addresses
        assert page.part("filters").fields["with_implied"] == ["on"]
    assert "<html" not in fragment.text


def test_an_imported_study_with_gates_offers_to_take_answers_behind_them_as_implied(
    researcher, tmp_path
):
    answers = {"a": {"sensible": ["yes", "no"], "specific": ["yes", "yes"]}}
    study = rated(tmp_path / "gated", answers, scheme=PAIR)
    plain = rated(tmp_path / "plain", {"b": {"q": ["yes"]}}, name="plain")

    pages = [
        shown(page_of(researcher, study, "study-raters", **chosen))
        for chosen in ({}, {"by_gates": "on"})
    ]

    assert [page.part("filters").fields["by_gates"] for page in pages] == [[], ["on"]]
    assert "Answers behind closed gates are taken as implied" in pages[1].part("agreement").text
    assert "by_gates" not in shown(page_of(researcher, plain, "study-raters")).fields


def test_the_setup_and_the_arm_of_the_truth_are_chosen_in_the_address(researcher, tmp_path):
    arms = {"a": ("yyy", "yyn"), "b": ("nnn", "yyn")}
    study = two_arms(tmp_path / "s", arms, setups={"a": COOL, "b": WARM})
    name = study.setups.get(temperature=0.0).name

    raters, page = (
        shown(page_of(researcher, study, each, setup=name, truth="merged"))
        for each in ("study-raters", "study")
    )

    for each in (raters, page):
        assert f"setup {name} only, truth of the merged arm" in each.parts("counted")[0].text
    assert (page.fields["setup"], page.fields["truth"]) == (name, "merged")
    assert "T 0.7" not in " ".join(page.table("Question means").columns)
    # What the address says wrongly is as usual.
    for address in NAMES:
        wrong = {"setup": "nothing", "truth": "x"} | ({} if address == "study" else {"run": "y"})
        assert page_of(researcher, study, address, **wrong).status_code == 200


def test_simulated_raters_are_announced(researcher, tmp_path):
    raters = [{"rater": "w1", "simulated": "yes"}]
    study = rated(tmp_path / "a", {"a": {"q": ["yes"]}}, raters=raters)

    page = shown(page_of(researcher, study))

    assert any(message.startswith("Simulated raters.") for message in page.messages)
    assert "1 simulated;" in page.part("overview").text


def test_mtrag_has_a_page_for_its_study_and_its_responses(researcher, shared):
    import_path(shared / "data/mtrag_human_eval/mtrag_human_eval_part1.json")

    pages = {name: shown(page_of(researcher, Study.objects.get(), name)) for name in NAMES}
    page, metrics = pages["study"], pages["study-metrics"]
    agreement = pages["study-raters"].table("Agreement between raters").row("4 Faithfulness")
    assert agreement["Krippendorff’s alpha"].startswith(".40 ")
    assert "medians in points" in page.part("scenarios").text
    head = metrics.part("auto").parts("sheet-head")[0].text
    assert "median above 2.5" in head
    assert "majority" not in head
    answers = page.table("Answers of the separate arm")
    assert {*answers.column("Tied")} == {"—"}  # medians are never tied by themselves
    assert "A saving can only be measured" in pages["study-merged"].part("time").text
    assert "RougeL" in metrics.table("Scores without a threshold").column("Auto-metric")
    key = Response.objects.order_by("pk").values_list("key", flat=True)[0]
    response = shown(researcher.get(response_address(key)))
    assert "Faithfulness" in response.table("pilot").column("Question")
