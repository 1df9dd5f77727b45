"""G-Eval by a judge that answers as it is told."""

import math
from typing import Any

import pytest

from evaluation.measures.entailment import AutoAis, EvidencePassage, Pair
from evaluation.metrics.auto_ais import AutoAisMetric
from evaluation.metrics.base import Assumed, Refused, ScoreRequest, ScoringMaterial
from evaluation.metrics.registry import metric_of
from evaluation.metrics.text_quality import Coherence, Consistency, Fluency, Relevance
from generation.backends.base import Completion, Token
from tests.evaluation.told_language_model import ToldLanguageModel

CITED = "She was a painter [Q1, occupation: painter], as they say [sic]. [NA]"
GRAPH = (("Q1", "occupation", "painter"), ("Q1", "born", "1593"))


def material(text=CITED, **more):
    turns = (("user", "Who was she?"),)
    return ScoringMaterial(**{"target": 1, "text": text, "turns": turns, "passages": []} | more)


def asked_of(metric, each=None) -> Any:
    asked = metric.asked(each or material())
    assert isinstance(asked, ScoreRequest), asked
    return asked


def scored(metric, model, each=None):
    asked = asked_of(metric, each)
    return metric.scored(asked, list(metric.answers(model, asked.asks)))


def with_odds(text, **odds):
    """Return a completion of one token; odds as a4=0.6 for '4'."""
    top = tuple((name[1:], math.log(p)) for name, p in odds.items())
    return Completion(text, tokens=(Token(text, dict(top).get(text, math.log(0.5)), top),))


def by_seed(*replies):
    return ToldLanguageModel(lambda asked, decoding: replies[decoding.seed])


def test_the_score_is_the_mean_of_three_replies_at_temperature_0():
    judge = by_seed("4", "Score: 4", "5/5")

    result = scored(Coherence(), judge)

    assert result.score == pytest.approx(13 / 3)
    assert result.details == {
        "mode": "integer",
        "replies": ["4", "Score: 4", "5/5"],
        "integers": [4, 4, 5],
        "integer": pytest.approx(13 / 3),
    }
    assert [(d.temperature, d.seed) for _, d in judge.asked] == [(0, 0), (0, 1), (0, 2)]


def test_asks_in_any_order_get_their_own_answers():
    metric = Fluency(repeats=2)
    asks = [ask for text in ("One.", "Two.") for ask in asked_of(metric, material(text)).asks]
    judge = ToldLanguageModel(
        lambda asked, decoding: f"{1 + decoding.seed + 2 * ('Two.' in asked.text)}"
    )

    shuffled = [asks[place] for place in (3, 0, 2, 1)]
    answers = [answer.text for answer in metric.answers(judge, shuffled)]

    assert answers == ["4", "1", "3", "2"]
    assert len(set(asks)) == 4  # each time is asked for itself


@pytest.mark.parametrize("bad", ["7", "0", "4.5", "good", ""])
def test_one_reply_that_cannot_be_read_fails_the_response(bad):
    result = scored(Relevance(), by_seed("4", bad, "4"))

    assert (result.score, result.problem) == (None, f"no score from 1 to 5 in the reply '{bad}'")
    assert result.details == {"mode": "integer", "replies": ["4", bad, "4"]}


def test_a_reply_that_was_cut_is_a_score_only_where_it_is_nothing_else():
    bare, labelled = Completion("4", is_cut=True), Completion("Score: 4", is_cut=True)

    assert scored(Relevance(repeats=1), by_seed(bare)).score == 4.0
    result = scored(Relevance(repeats=1), by_seed(labelled))  # it may go on as '.5'
    assert (result.score, result.problem) == (None, "the reply 'Score: 4' was cut before its end")


def test_what_the_judge_cannot_answer_fails_the_response():
    result = scored(Relevance(), by_seed("4", Completion(problem="too long"), "4"))

    assert (result.score, result.problem) == (None, "too long")


def test_log_probabilities_are_kept_whatever_the_mode_and_make_the_score_in_theirs():
    judge = by_seed(with_odds("4", a4=0.6, a5=0.2), with_odds("4", a4=0.5, a3=0.5))
    # (4 · .6 + 5 · .2) / .8 = 4.25 and 3.5
    kept = {
        "integer": 4.0,
        "weighted": pytest.approx(3.875),
        "discarded_mass": pytest.approx(0.1),
        "probabilities": pytest.approx({"1": 0, "2": 0, "3": 0.25, "4": 0.55, "5": 0.1}),
    }

    integer = scored(Coherence("integer", 2), judge)
    logprob = scored(Coherence("logprob", 2), judge)

    assert (integer.score, logprob.score) == (4.0, pytest.approx(3.875))
    assert (integer.details["mode"], logprob.details["mode"]) == ("integer", "logprob")
    for result in (integer, logprob):
        assert {name: result.details[name] for name in kept} == kept
    assert {decoding.n_top > 0 for _, decoding in judge.asked} == {True}


def test_a_token_that_is_not_among_the_most_likely_counts_as_well():
    # Sampled: '2' with probability .5 is not listed; (2 · .5 + 4 · .25) / .75
    result = scored(Coherence("sampled", 1), by_seed(with_odds("2", a4=0.25)))

    assert result.score == 2.0
    assert result.details["weighted"] == pytest.approx(2 / 0.75)


def test_a_model_without_log_probabilities_has_no_score_in_their_mode():
    result = scored(Coherence("logprob", 2), by_seed(with_odds("4", a4=0.9), "4"))

    assert result.score is None
    assert result.problem == "the model gave no log-probabilities at its score"
    assert (result.details["integer"], "weighted" in result.details) == (4.0, False)


def test_a_score_that_shares_its_token_says_so_in_the_mode_of_probabilities():
    result = scored(Coherence("logprob", 1), by_seed(Completion("4/5", tokens=(Token("4/5", -1),))))

    assert (result.score, result.problem) == (None, "its score shares a token with other text")
    assert result.details["integer"] == 4.0


def test_samples_are_drawn_at_temperature_1():
    judge = by_seed("1", "2", "3", "5")

    result = scored(Coherence("sampled", 4), judge)

    assert result.score == 11 / 4
    assert [(d.temperature, d.seed) for _, d in judge.asked] == [(1, 0), (1, 1), (1, 2), (1, 3)]


def test_the_judge_sees_no_citations_but_brackets_that_are_none():
    [ask] = asked_of(Coherence(repeats=1)).asks

    assert "Answer: She was a painter, as they say [sic].\n" in ask.text


def test_consistency_alone_sees_the_graph_that_was_shown():
    each = material(graph=GRAPH)

    text = {
        metric.key: asked_of(metric(repeats=1), each).asks[0].text
        for metric in (Coherence, Consistency, Fluency, Relevance)
    }

    flat = "{occupation: painter, born: 1593, qid: Q1}"
    assert f"\n\nKnowledge: {flat}\n\n" in text["consistency"]
    assert [flat in asked for asked in text.values()] == [False, True, False, False]


def test_consistency_sees_the_passages_of_its_evidence_choice():
    passages = [EvidencePassage(1, "She painted.\n"), EvidencePassage(2, "In Rome.")]

    each = material(passages=passages, graph=GRAPH)
    [shown] = asked_of(Consistency(repeats=1), each).asks
    [golden] = asked_of(Consistency(repeats=1), each._replace(evidence="golden")).asks

    assert "Knowledge: She painted.\nIn Rome.\n{occupation: " in shown.text
    assert "Knowledge: She painted.\nIn Rome.\n\nAnswer" in golden.text


@pytest.mark.parametrize(
    ("metric", "each", "problem"),
    [
        (Consistency(), material(), "there is no evidence that the response could agree with"),
        (Coherence(), material(turns=None), "the dialog is not known"),
        (Coherence(), material(" "), "the response is empty"),
        (
            Coherence(),
            material("[Q1, a: b]"),
            "nothing is left of the response without its citations",
        ),
    ],
)
def test_what_cannot_be_asked_is_refused(metric, each, problem):
    assert metric.asked(each) == Refused(problem)


def test_choices_come_back_from_a_run_s_parameters():
    chosen = Consistency("sampled", 5)

    assert metric_of("consistency", chosen.parameters) == chosen
    assert (chosen.signature_part, Consistency().signature_part) == ("sampled:5", "integer:3")
    assert (chosen.scale, chosen.threshold, chosen.usual_sample) == ((1, 5), 3, 100)


@pytest.mark.parametrize("wrong", [{"mode": "best"}, {"repeats": 0}, {"repeats": 11}])
def test_choices_that_there_are_not_are_refused(wrong):
    with pytest.raises(ValueError, match="expected"):
        Fluency.made(wrong)


# --- a graph as evidence of Auto-AIS --------------------------------------------------------


def test_the_graph_is_that_of_the_evidence_choice():
    gold = (("Q1", "occupation", "sculptor"),)

    each = material("A.", graph=GRAPH, evidence_graph=gold, evidence="golden")
    without = each._replace(evidence_graph=())

    [consistency] = asked_of(Consistency(repeats=1), each).asks
    assert "Knowledge: {occupation: sculptor, qid: Q1}\n" in consistency.text
    [pair] = asked_of(AutoAisMetric(AutoAis("v1", 0)), each).asks
    assert pair.premise.startswith("{occupation: sculptor, qid: Q1}")
    assert AutoAisMetric(AutoAis("v1", 0)).asked(without) == Refused("no golden evidence")


def test_auto_ais_reads_the_graph_that_was_shown_as_a_passage():
    asked = asked_of(AutoAisMetric(AutoAis("v2", 0)), material("A painter.", graph=GRAPH))

    assert asked.asks == [
        Pair("{occupation: painter, born: 1593, qid: Q1}", "Who was she? A painter.")
    ]


def test_the_graph_comes_after_the_passages_and_only_where_the_evidence_is_what_was_shown():
    passages = [EvidencePassage(7, "She painted.")]
    metric = AutoAisMetric(AutoAis("v2", 2))

    each = material("A.", passages=passages, graph=GRAPH)
    shown = asked_of(metric, each)
    golden = asked_of(metric, each._replace(evidence="golden"))

    assert [window.passage for window in shown.context.windows] == [7, None]
    assert [window.passage for window in golden.context.windows] == [7]
    assert metric.asked(material("A.", graph=GRAPH, evidence="golden")) == Refused(
        "no golden evidence"
    )
    assert metric.asked(material("A.")) == Assumed()
