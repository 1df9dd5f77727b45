"""Correctness, precision, recall and F1 of citations, as the paper defines them (KaLMA, 4.2)."""

import math
from fractions import Fraction

import numpy as np
import pytest

from evaluation.measures.citation import (
    SHARES,
    CitationCounts,
    CitationFigures,
    CitationVerdict,
    Mode,
    citation_figures,
    citation_statistics,
    count_citations,
    figure_of,
    judged,
)
from evaluation.statistics.intervals import bootstrap_intervals, share_from
from generation.text.citations import parse_citations
from generation.text.compared_triples import knowledge
from tests.cited_answers import CASES

SIGNS = {
    CitationVerdict.IN_MINIMUM: "I",
    CitationVerdict.CORRECT: "C",
    CitationVerdict.WRONG: "W",
    CitationVerdict.INCOMPLETE: "-",
}
NEED_A_SET = {"precision", "recall", "f1", "macro_precision", "macro_recall", "macro_f1"}
each_case = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])


def read(case):
    return parse_citations(
        case.text, {relation for _, relation, _ in case.shown}, {qid for qid, _, _ in case.shown}
    )


def counts_of(case):
    return count_citations(read(case), case.shown, case.minimum)


def number(written):
    return math.nan if written == "—" else float(Fraction(written))


def exactly(*expected):
    return pytest.approx([float(each) for each in expected], nan_ok=True, abs=1e-12)


# One answer


@each_case
def test_each_citation_gets_the_verdict_a_person_gives_it(case):
    verdicts = judged(read(case), case.shown, case.minimum)

    assert " ".join(SIGNS[each.verdict] for each in verdicts) == case.verdicts


@each_case
def test_the_figures_of_an_answer_are_those_counted_by_hand(case):
    expected = [number(written) for written in case.figures.split()]

    figures = citation_figures([counts_of(case)])
    shares = figures.macro_correctness, figures.macro_precision, figures.macro_recall
    assert (*shares, figures.macro_f1) == exactly(*expected)


@each_case
def test_sentences_with_na_and_other_brackets_are_counted(case):
    answer = read(case)

    assert (len(answer.na_sentences), answer.n_other_brackets) == (case.n_na, case.n_other)


def test_counts_say_what_was_counted():
    case = next(case for case in CASES if case.name == "a needed one again")

    assert counts_of(case) == CitationCounts(
        n_citations=3, n_correct=3, n_precise=2, n_hit=1, n_minimum=4, n_incomplete=0
    )


def test_names_and_what_has_no_value_are_no_knowledge():
    triples = [("Q1", "name", "Ada"), ("Q1", "qid", "Q1"), ("Q1", "date_of_death", " ")]

    assert knowledge([*triples, (" Q1", "date_of_birth", "1815 ")]) == {
        ("Q1", "date of birth", "1815")
    }


# All answers


def corpus_figures():
    return citation_figures([counts_of(case) for case in CASES])


def test_micro_figures_are_over_all_citations_and_all_knowledge():
    # Of each answer in order; those about the two painters in the first row, names in the last.
    citations = (
        *(4, 4, 3, 1, 1, 2, 3, 1, 2, 2, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2),
        *(1, 1, 2, 1, 2, 1, 3, 1, 2, 1, 2, 1, 1, 1, 0, 2, 3, 0, 2, 0, 1),
        *(2, 3, 2, 1, 1),
    )
    correct = (
        *(4, 4, 2, 0, 0, 1, 3, 1, 1, 1, 0, 1, 0, 0, 0, 0, 1, 1, 0, 1, 2, 2),
        *(1, 1, 1, 1, 2, 1, 3, 0, 2, 1, 1, 1, 0, 0, 0, 1, 2, 0, 1, 0, 1),
        *(1, 2, 1, 0, 1),
    )
    precise = (
        *(4, 2, 1, 0, 0, 1, 2, 1, 1, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 1),
        *(1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1),
        *(0, 1, 1, 0, 0),
    )
    of_unknown = 3  # citations of the two answers whose minimum set is not known
    hit = sum(precise) - 1  # one needed triple was cited twice
    minimum = 22 * 4 + sum((1, 2, 1, 1, 2, 2, 2, 1, 1, 1, 1, 2, 2, 4, 4, 4, 0, 0, 2))
    minimum += 4 * 4 + 1
    assert (sum(citations), sum(correct), sum(precise), hit, minimum) == (70, 50, 31, 30, 138)

    figures = corpus_figures()

    assert figures.correctness == pytest.approx(50 / 70)
    assert figures.precision == pytest.approx(31 / (70 - of_unknown))
    assert figures.recall == pytest.approx(30 / 138)
    # 2 · 31/67 · 30/138 / (31/67 + 30/138) = 2 · 31 · 30 / (31 · 138 + 30 · 67)
    assert figures.f1 == pytest.approx(1860 / 6288)


def test_macro_figures_are_means_of_answers():
    half, third, quarter = Fraction(1, 2), Fraction(1, 3), Fraction(1, 4)
    # 21 answers with all correct, 9 with half, 3 with two thirds, 8 with none; 7 cite nothing
    correctness = (21 + 9 * half + 3 * 2 * third) / 41
    # 12 with all precise, 10 with half, 3 with a third, 1 with two thirds; 2 unknown
    precision = (12 + 10 * half + 3 * third + 2 * third) / 46
    # the painters' 22 answers hit 16 of 4 each; then 5 whole, 6 half, 1 quarter; 4 without a set;
    # those with names 2 of 4 each
    recall = (16 * quarter + 5 + 6 * half + quarter + 2 * quarter) / 44

    figures = corpus_figures()

    assert (correctness, precision, recall) == (
        Fraction(55, 82),
        Fraction(28, 69),
        Fraction(51, 176),
    )
    assert figures.macro_correctness == pytest.approx(float(correctness))
    assert figures.macro_precision == pytest.approx(float(precision))
    assert figures.macro_recall == pytest.approx(float(recall))
    assert figures.macro_f1 == pytest.approx(float(2 * precision * recall / (precision + recall)))


def test_micro_weighs_citations_and_macro_weighs_answers():
    wordy = CitationCounts(3, 0, 0, 0, 1)
    terse = CitationCounts(1, 1, 1, 1, 1)

    figures = citation_figures([wordy, terse])

    assert (figures.precision, figures.macro_precision) == (1 / 4, 1 / 2)


def test_an_answer_that_cites_nothing_gains_no_macro_precision():
    silent, good = CitationCounts(0, 0, 0, 0, 2), CitationCounts(2, 2, 2, 2, 2)

    assert citation_figures([silent, good]) == exactly(1, 1, 1, 1 / 2, 2 / 3, 1 / 2, 1 / 2, 1 / 2)


@pytest.mark.parametrize(
    ("counts", "undefined"),
    [
        ([], {"correctness", "macro_correctness", *NEED_A_SET}),
        ([CitationCounts(2, 1, 0, 0, None)], NEED_A_SET),
        ([CitationCounts(2, 1, 0, 0, 0)], {"recall", "f1", "macro_recall", "macro_f1"}),
        ([CitationCounts(0, 0, 0, 0, 2)], {"correctness", "macro_correctness", "precision", "f1"}),
    ],
    ids=["no answer", "unknown set", "empty set", "no citation"],
)
def test_what_cannot_be_computed_is_undefined(counts, undefined):
    figures = citation_figures(counts)._asdict()

    assert {name for name, figure in figures.items() if math.isnan(figure)} == undefined


def test_f1_of_two_zeros_is_zero():
    figures = citation_figures([CitationCounts(2, 1, 0, 0, 3)])

    assert (figures.precision, figures.recall, figures.f1, figures.macro_f1) == (0, 0, 0, 0)


# Intervals


def test_figures_with_intervals_are_those_without():
    counts = [counts_of(case) for case in CASES]
    statistics = citation_statistics(counts)
    dialogs = np.arange(len(counts)) // 2  # two answers each

    for name, value in citation_figures(counts)._asdict().items():
        figure = figure_of(name, statistics, dialogs)
        assert (figure.measure is share_from) == (name in SHARES)
        assert figure.measure(figure.statistics.sum(axis=0)) == pytest.approx(value)
        [(low, high)] = bootstrap_intervals([figure], 24, seed=1, n_resamples=200)
        assert 0 <= low < value < high <= 1


def test_measures_take_many_resamples_at_once():
    counts = [counts_of(case) for case in CASES]
    statistics = citation_statistics(counts)
    half = len(counts) // 2
    sums = np.stack([statistics.sum(axis=0), statistics[:half].sum(axis=0)])

    for name in CitationFigures._fields:
        whole, first = figure_of(name, sums, np.arange(2)), citation_figures(counts[:half])
        assert whole.measure(whole.statistics) == exactly(
            getattr(citation_figures(counts), name), getattr(first, name)
        )


def test_modes_weigh_answers_without_citations_differently():
    silent, good = CitationCounts(0, 0, 0, 0, 2), CitationCounts(2, 2, 2, 2, 2)

    assert citation_figures([silent, good], Mode.AUTHORS_CODE).macro_precision == 1
    assert citation_figures([silent, good], Mode.AUTHORS_CODE).macro_recall == 1 / 2
