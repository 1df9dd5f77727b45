"""Menus of axes: their groups, and names of what differs in a group."""

from annotation.models import Arm, Study
from annotation.schemes import built_in_schemes, load_scheme
from evaluation.models import MetricRun
from evaluation.runs.main_metrics import SIDES
from evaluation.tradeoffs.axes import Axis
from evaluation.tradeoffs.axis_menus import axis_menu, names_among, short_names

ATTRIBUTION, SENSIBLENESS = SIDES
QUESTIONS = {each.key: each for each in load_scheme(built_in_schemes()["AIS"]).questions}


def of_run(pk, metric, *parts, signature=""):
    run = MetricRun(pk=pk, metric=metric, signature=signature)
    return Axis(f"run-{pk}", parts, signature, run)


def of_raters(study, kind, question="attributable"):
    arm = Arm(study=Study(name=study), kind=kind)
    parts = f"Raters: {question}", study, f"{kind} arm"
    return Axis(f"{study}/{kind}/{question}", parts, "", None, arm, QUESTIONS[question])


GOLDEN = of_run(1, "auto_ais", "Auto-AIS", "lexical", "K = 2", "golden evidence")
SHOWN = of_run(2, "auto_ais", "Auto-AIS", "lexical", "K = 2", "shown evidence")
SENSIBLE = of_run(3, "sensible", "Auto-SSA: sensible", "heuristic")


def test_a_menu_begins_with_the_axes_of_its_side_metrics_before_raters():
    rated, understood = of_raters("P", "separate"), of_raters("P", "separate", "understand")
    axes = [rated, understood, SENSIBLE, GOLDEN, SHOWN]

    assert axis_menu(axes, ATTRIBUTION) == {
        "Metrics of attribution": {
            "run-1": "Auto-AIS, golden evidence",
            "run-2": "Auto-AIS, shown evidence",
        },
        "Raters on attribution": {"P/separate/attributable": "attributable, separate arm, P"},
        "Other metrics": {"run-3": "Auto-SSA: sensible, heuristic"},
        "Other questions to raters": {"P/separate/understand": "understand, separate arm, P"},
    }
    assert axis_menu([GOLDEN, SENSIBLE], SENSIBLENESS, unfit={3}) == {
        "Metrics of sensibleness": {"run-3": "Auto-SSA: sensible, heuristic (unfit)"},
        "Other metrics": {"run-1": "Auto-AIS, lexical, K = 2, golden evidence"},
    }


def test_raters_are_called_by_arm_and_by_the_words_of_their_study_that_differ():
    axes = [
        of_raters("Demo: attribution (simulated)", "separate"),
        of_raters("Demo: attribution (simulated)", "merged"),
        of_raters("Demo: one careless rater (simulated)", "separate"),
    ]

    assert names_among(axes) == [
        "attributable, separate arm, attribution",
        "attributable, merged arm, attribution",
        "attributable, separate arm, one careless rater",
    ]


def test_runs_of_equal_titles_are_told_apart_by_their_signatures():
    axes = [
        of_run(1, "auto_ais", "Auto-AIS", "lexical", signature="lexical|t:0.5"),
        of_run(2, "auto_ais", "Auto-AIS", "lexical", signature="lexical|t:0.7"),
    ]

    assert names_among(axes) == [
        "Auto-AIS, lexical (threshold 0.5)",
        "Auto-AIS, lexical (threshold 0.7)",
    ]


def test_a_short_name_has_at_least_one_word():
    assert short_names(["Pilot 1", "Pilot 2"]) == {"Pilot 1": "1", "Pilot 2": "2"}
    assert short_names(["Pilot", "Pilot 2"]) == {"Pilot": "Pilot", "Pilot 2": "Pilot 2"}
    assert short_names(["Pilot"]) == {"Pilot": "Pilot"}
    assert short_names([]) == {}
