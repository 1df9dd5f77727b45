"""Runs that are listed together have different names."""

from evaluation.runs.names import distinct_names

SHOWN = "auto_ais|lexical|v3|whole|shown|t:0.5|v:2|lexical|v:1"


def test_runs_that_differ_in_nothing_but_the_evidence_are_told_apart_by_it():
    golden, retrieved = SHOWN.replace("shown", "golden"), SHOWN.replace("shown", "retrieved")
    runs = [("lexical", SHOWN), ("lexical", golden), ("lexical", retrieved), ("RougeL", "")]

    assert distinct_names(runs) == [
        "lexical (shown)",
        "lexical (golden)",
        "lexical (retrieved)",
        "RougeL",
    ]


def test_runs_of_one_metric_are_called_by_the_parts_that_differ():
    golden = SHOWN.replace("shown", "golden")
    runs = [
        ("Auto-AIS, localized K = 2, added_words", golden),
        ("Auto-AIS, localized K = 2, added_words", SHOWN),
        ("Auto-AIS, v3, localized K = 2, lexical", SHOWN),
        ("Auto-SSA: sensible, heuristic", ""),
    ]

    assert distinct_names(runs) == [
        "Auto-AIS, added_words (golden)",
        "Auto-AIS, added_words (shown)",
        "Auto-AIS, v3, lexical",
        "Auto-SSA: sensible, heuristic",
    ]


def test_a_threshold_is_said_in_words_and_a_sample_by_those_that_have_one():
    at_another = SHOWN.replace("t:0.5", "t:0.7")
    sampled = SHOWN.replace("shown|", "shown|sample:100@1|")

    assert distinct_names([("lexical", SHOWN), ("lexical", at_another)]) == [
        "lexical (threshold 0.5)",
        "lexical (threshold 0.7)",
    ]
    assert distinct_names([("lexical", SHOWN), ("lexical", sampled)]) == [
        "lexical",
        "lexical (sample 100@1)",
    ]


def test_runs_whose_signatures_are_alike_too_are_numbered():
    assert distinct_names([("BLEU", ""), ("BLEU", "")]) == ["BLEU (1)", "BLEU (2)"]
