"""Charts: valid specifications in the colours of the design, and files that open."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from django.conf import settings
from django.urls import reverse

from evaluation.measures.fitness import Fitness
from evaluation.reports.columns import UNKNOWN, Estimate
from evaluation.reports.figures.builders import chart_file
from evaluation.reports.figures.themes import DARK, LIGHT, file_theme, page_themes
from evaluation.runs.reports import fitness_columns
from evaluation.studies.figures.charts import (
    accuracy_chart,
    calibration_chart,
    roc_chart,
    scenarios_chart,
    shifts_chart,
    threshold_point,
)
from evaluation.studies.figures.threshold_choice import grid_chart
from evaluation.studies.figures.timing import position_chart, time_chart
from evaluation.studies.pages.plots import CHARTS
from evaluation.studies.reports.agreement import AgreementRow, Confusion
from evaluation.studies.reports.ceilings import CeilingColumns
from evaluation.studies.reports.run_columns import RunColumns, WithoutScore
from evaluation.studies.reports.scenarios import ScenarioRow
from evaluation.studies.reports.segment_columns import SegmentColumns
from evaluation.studies.reports.threshold_choice_rows import (
    CandidateRow,
    ChosenCandidate,
    ChosenRow,
    FamilyColumns,
)
from evaluation.studies.reports.timing import PositionEffect, SavedTime, TimeOfArm
from evaluation.studies.reports.uncertainty import ShiftOfSetup, ShiftTest
from tests.charts import valid
from tests.evaluation.makers_of_scores import disputed, make_run, make_scores
from tests.evaluation.studies.hand_made import COOL, WARM, two_arms
from tests.shown import shown

MAGIC = {"svg": b"<svg", "pdf": b"%PDF-", "png": b"\x89PNG\r\n\x1a\n"}


def estimate(value, margin=0.05):
    return Estimate(value, value - margin, value + margin)


def agreement_row(run=1, **more):
    row = AgreementRow(
        of_run=run_called(run),
        question="q",
        label=None,
        truth="separate",
        threshold=0.5,
        n=12,
        n_human_yes=8,
        n_rater_score=12,
        accuracy=estimate(0.8),
        baseline=estimate(0.6),
        segments=SegmentColumns(),
        ceilings=CeilingColumns(ceiling_halves=estimate(0.9)),
        of_controls=fitness_columns(Fitness()),
        confusion=Confusion(tp=6, fn=2, fp=1, tn=3),
        waiting=0,
        tied=0,
        n_rarer_dialogs=9,
        without_score=WithoutScore(unscored=0, failed=0, assumed=0),
        truncated=0,
        metric_scale=None,
        flattered=False,
        why=None,
    )
    return replace(row, **more)


def run_called(run, title="Auto-AIS, v3", model="lexical"):
    return RunColumns(run=run, metric="auto_ais", title=title, model=model, run_signature="")


def accuracy_of(*rows, chosen=-1, **options):
    """Return the chart of some rows; the last of them is the chosen one."""
    return accuracy_chart(rows, rows[chosen], **options)


def mean_row(question, setup, arm):
    return ScenarioRow(
        question=question,
        scale="yes_no",
        scenario="A",
        setup=setup,
        model="m",
        temperature=None,
        arm=arm,
        n=4,
        n_assumed=0,
        n_dialogs=4,
        waiting=0,
        tied=0,
        n_mean=4,
        mean=estimate(0.5),
    )


def shift_row(question, setup, shift, is_significant):
    return ShiftOfSetup(
        question=question,
        label=None,
        setup=setup,
        model="m",
        temperature=None,
        n=4,
        n_yes_separate=1,
        n_yes_merged=2,
        n_up=1,
        n_down=0,
        n_left_out_waiting=0,
        n_left_out_tied=0,
        shift=estimate(shift),
        test=ShiftTest(is_significant=is_significant),
    )


def time_row(arm, median, mean):
    return TimeOfArm(
        arm=arm,
        n_judgements=10,
        n_without_seconds=0,
        median_seconds=estimate(median, 5),
        mean_seconds=estimate(mean, 5),
    )


def position_row(question, effect):
    return PositionEffect(question=question, order="random", n_votes=30, effect=estimate(effect))


ABOUT = FamilyColumns(
    question="q",
    label=None,
    truth="separate",
    family="f",
    metric="auto_ais",
    model=None,
    evidence=None,
)


def grid_of(*hypotheses):
    """Return the chart of a threshold choice with candidates of some hypotheses."""
    nothing = ChosenCandidate(title=None, run=None, threshold=None)
    chosen = ChosenRow(
        about=ABOUT,
        n=12,
        n_human_yes=8,
        n_dialogs=4,
        n_candidates=4,
        n_folds=2,
        title=None,
        run=None,
        threshold=None,
        others={"flattering": nothing, "untuned": nothing},
        lowest_threshold=None,
        highest_threshold=None,
        baseline=estimate(0.6),
        ceilings=CeilingColumns(ceiling_halves=estimate(0.9)),
        why=None,
        n_not_scored_by_all=0,
    )
    candidates = [
        CandidateRow(
            about=ABOUT,
            title="",
            run=1,
            flavor=flavor,
            window=window,
            hypothesis=hypothesis,
            run_signature="",
            threshold=0.5,
            of_controls=fitness_columns(Fitness()),
            without_score=WithoutScore(unscored=0, failed=0, assumed=0),
            truncated=0,
            accuracy=estimate(0.7),
        )
        for hypothesis in hypotheses
        for flavor in ("v1", "v3")
        for window in (0, 2)
    ]
    return grid_chart(candidates, chosen) or {}


SPECS = {
    "accuracy": lambda: accuracy_of(agreement_row(1), agreement_row(2, accuracy=estimate(0.7))),
    "accuracy beside its table": lambda: accuracy_of(agreement_row(), beside_table=True),
    "grid": lambda: grid_of("whole"),
    "grid of two hypotheses": lambda: grid_of("whole", "mean"),
    "roc": lambda: roc_chart(
        [{"false_alarm": x, "hit": x**0.5, "threshold": 1 - x} for x in (0.0, 0.5, 1.0)],
        agreement_row(),
    ),
    "calibration": lambda: calibration_chart(
        [{"score": 0.3, "share_yes": 0.25, "n": 4, "low": 0.05, "high": 0.7}]
    ),
    "scenarios": lambda: scenarios_chart(
        [
            mean_row(q, setup, arm)
            for q in "ab"
            for setup in ("cool", "warm")
            for arm in ("separate", "merged")
        ]
    ),
    "shifts": lambda: shifts_chart(
        [shift_row("a", "cool", 0.1, True), shift_row("a", "warm", -0.02, False)]
    ),
    "time": lambda: time_chart([time_row("separate", 40, 52), time_row("merged", 25, 31)]),
    "position": lambda: position_chart([position_row("attributable", 0.083)]),
}
each_spec = pytest.mark.parametrize("make", SPECS.values(), ids=SPECS)


def values(spec):
    """Return all records that a specification draws, wherever they are in it."""
    if isinstance(spec, dict):
        found = list(spec["values"]) if "values" in spec else []
        found += [row for rows in spec.get("datasets", {}).values() for row in rows]
        return found + [row for part in spec.values() for row in values(part)]
    return [row for part in spec for row in values(part)] if isinstance(spec, list) else []


@each_spec
def test_each_chart_is_valid_and_knows_no_colour_of_its_own(make):
    spec = make()

    valid(spec)
    assert json.loads(json.dumps(spec, allow_nan=False)) == spec
    assert "config" not in spec
    assert not re.search(r"#[0-9a-fA-F]{3,8}\b", json.dumps(spec))


@each_spec
@pytest.mark.parametrize("format_key", MAGIC)
def test_each_chart_is_drawn_as_a_file(make, format_key):
    content = chart_file(make(), format_key)

    assert content.startswith(MAGIC[format_key])
    assert len(content) > 1000


def test_styles_take_their_colours_from_the_theme():
    # The whisker of the chosen run in the accent, the ceiling in green, on white.
    svg = chart_file(SPECS["accuracy"](), "svg").decode()

    assert f'stroke="{LIGHT["accent"]}"' in svg
    assert f'stroke="{LIGHT["series-5"]}"' in svg
    assert "Ceiling: half against half" in svg
    assert 'fill="white"' in svg
    assert "4c78a8" not in svg  # Vega-Lite's own blue


def test_the_tokens_of_charts_are_those_of_the_stylesheet():
    css = Path(settings.BASE_DIR, "static/app.css").read_text()
    of_css = {
        name: (light, dark)
        for name, light, dark in re.findall(r"--([\w-]+): light-dark\((#\w+), (#\w+)\);", css)
    }

    assert {name: (LIGHT[name], DARK[name]) for name in LIGHT} == {
        name: of_css[name] for name in LIGHT
    }
    assert set(page_themes()) == {"light", "dark"}
    assert page_themes()["dark"] != page_themes()["light"]
    assert file_theme()["background"] == "white"


def test_accuracies_are_drawn_in_percent_with_their_intervals():
    rows = values(accuracy_of(agreement_row(1, accuracy=estimate(0.7))))

    assert {"value": 70.0, "low": 65.0, "high": 75.0, "said": "70.0 [65.0, 75.0]"}.items() <= (
        next(row for row in rows if row.get("name") == "Auto-AIS, v3, lexical").items()
    )
    assert next(row for row in rows if row.get("name") == "Ceiling: half against half")


def test_a_figure_without_an_interval_or_a_ceiling_is_drawn_all_the_same():
    bare = {"accuracy": Estimate(0.8), "baseline": UNKNOWN, "ceilings": CeilingColumns()}

    spec = accuracy_of(agreement_row(**bare))

    assert chart_file(valid(spec), "svg")


def test_the_axis_says_what_makes_a_human_yes():
    def axis(label):
        return json.dumps(accuracy_of(agreement_row(label=label)))

    assert "Accuracy against the human majority, %" in axis("majority")
    assert "Accuracy against the human label (median above 2.5), %" in axis("median above 2.5")


def test_words_above_close_references_do_not_meet():
    # Baseline 88, ceiling 90: side by side their labels would overlap.
    svg = chart_file(accuracy_of(agreement_row(1), agreement_row(2)), "svg").decode()
    close = chart_file(accuracy_of(agreement_row(baseline=estimate(0.88))), "svg").decode()

    for text in (svg, close):
        found = re.findall(
            r'transform="translate\([\d.-]+,([\d.-]+)\)"[^>]*>(?:majority|human)', text
        )
        assert len(set(found)) == 2


def test_the_baseline_is_one_line_from_top_to_bottom():
    rows = values(accuracy_of(agreement_row(1), agreement_row(2, baseline=estimate(0.7))))

    assert [row for row in rows if "name" not in row and "words" not in row] == [{"value": 70.0}]


def test_more_setups_than_colours_have_a_panel_each():
    setups = [f"s{n}" for n in range(6)]

    def spec(names):
        rows = [mean_row(q, s, arm) for q in "ab" for s in names for arm in ("separate", "merged")]
        return scenarios_chart(rows)

    few, many = spec(setups[:5]), spec(setups)
    assert "color" in json.dumps(few)
    assert "facet" not in few
    assert "color" not in json.dumps(many)
    assert many["columns"] == 3
    svg = chart_file(many, "svg").decode()
    assert all(name in svg for name in setups)


def test_times_are_drawn_in_seconds_and_effects_with_two_digits():
    """In their own units: 40 s is 40, and a first place that costs .08 of a vote is −0.08."""
    times = values(SPECS["time"]())
    [effect] = values(position_chart([position_row("attributable", -0.083)]))

    assert [(row["arm"], row["measure"], row["value"]) for row in times] == [
        ("Separate", "Median", 40.0),
        ("Separate", "Mean", 52.0),
        ("Merged", "Median", 25.0),
        ("Merged", "Mean", 31.0),
    ]
    assert effect["said"] == "-0.08 [-0.13, -0.03]"


def test_without_a_time_or_an_effect_nothing_is_drawn():
    saved = SavedTime(n_judgements=0, n_without_seconds=0, saved_share=UNKNOWN)

    assert time_chart([saved]) is None
    assert time_chart([replace(time_row("merged", 1, 1), median_seconds=UNKNOWN)]) is not None
    assert position_chart([replace(position_row("q", 0), effect=UNKNOWN)]) is None


def test_the_point_of_the_threshold_is_hits_and_false_alarms():
    # 6 of 8 human yeses are hit, 1 of 4 human noes is a false alarm.
    point = threshold_point(Confusion(tp=6, fn=2, fp=1, tn=3), 0.5) or {}

    assert (point["hit"], point["false_alarm"]) == (0.75, 0.25)
    assert threshold_point(Confusion(tp=6, fn=2, fp=0, tn=0), 0.5) is None


# --- downloads ------------------------------------------------------------------------------


@pytest.fixture
def researcher(own_cache_and_folder, rosa, client_for):
    return client_for(rosa)


def rated_in_two_arms(folder):
    arms = {f"c{n}": ("nnn", "yyy") for n in range(3)} | {f"w{n}": ("yyy", "yyn") for n in range(3)}
    study = two_arms(folder / "s", arms, setups={k: COOL if k[0] == "c" else WARM for k in arms})
    run = make_run(study.dataset)
    make_scores(run, dict.fromkeys(arms, 0.9) | {"c0": 0.2})
    return study, run


@pytest.mark.once
@pytest.mark.parametrize("name", CHARTS)
@pytest.mark.parametrize("format_key", MAGIC)
def test_each_chart_of_a_study_is_downloaded(researcher, tmp_path, name, format_key):
    study, run = rated_in_two_arms(tmp_path)
    address = reverse("evaluation:figure", args=[study.slug, name, format_key])

    answer = researcher.get(address, {"run": run.pk, "question": "q"})

    assert answer.status_code == 200
    assert answer.content.startswith(MAGIC[format_key])
    assert f'filename="{study.slug}-{name}.{format_key}"' in answer["Content-Disposition"]


@pytest.mark.once
def test_charts_that_do_not_exist_or_have_nothing_to_draw_are_not_found(researcher, tmp_path):
    study, _ = disputed(tmp_path)  # one arm: no shifts

    for name, format_key in (("nothing", "svg"), ("accuracy", "gif"), ("shifts", "svg")):
        address = reverse("evaluation:figure", args=[study.slug, name, format_key])
        assert researcher.get(address).status_code == 404


@pytest.mark.once
def test_a_download_has_row_names_that_the_page_has_in_its_table(researcher, tmp_path):
    study, _ = disputed(tmp_path)
    page = shown(researcher.get(reverse("evaluation:study-metrics", args=[study.slug])))
    on_page = page.data("plots")

    download = reverse("evaluation:figure", args=[study.slug, "accuracy", "svg"])
    svg = researcher.get(download).text

    assert "Auto-AIS, v3, localized K = 2, lexical" in svg
    assert set(on_page["charts"]) == {"accuracy", "roc", "calibration"}
    assert on_page["themes"].keys() == {"light", "dark"}
    names = {row["name"] for row in values(on_page["charts"]["accuracy"]) if "name" in row}
    assert all(name in svg for name in names)


def test_the_chart_of_an_answer_fits_its_room_with_its_legend_above_it():
    rows = [mean_row("q", f"s{n}", "separate") for n in range(4)]
    panels = [mean_row("q", f"s{n}", "separate") for n in range(6)]

    fitted = valid(scenarios_chart(rows, on_page=True))

    assert (fitted["width"], fitted["autosize"]["type"]) == ("container", "fit-x")
    colour = fitted["layer"][0]["encoding"]["color"]["legend"]
    assert (colour["orient"], colour["columns"]["expr"]) == (
        "top",
        "containerSize()[0] < 360 ? 1 : 2",
    )
    assert valid(scenarios_chart(rows))["width"] == 420  # a file has its own width
    assert "autosize" not in valid(scenarios_chart(panels, on_page=True))


def test_a_shift_has_a_colour_if_it_is_significant_and_its_interval_excludes_0():
    unclear = replace(shift_row("q", "s", 0.2, True), shift=Estimate(0.2, -0.1, 0.5))
    rows = [unclear, shift_row("r", "s", 0.2, True), shift_row("t", "s", 0.2, False)]

    assert [row.is_clear for row in rows] == [False, True, False]
