"""The units of a plan, the raters who may take them, and what is left out and why."""

from collections import Counter

import pytest

from accounts.models import User
from annotation.models import Assignment, Study, Unit
from annotation.planning import (
    NO_DIALOG,
    NO_PARTNER,
    TOO_MANY,
    estimated_hours,
    plan_units,
    rater_needs,
)
from annotation.rateable_responses import NO_EVIDENCE, NOTHING_SAID
from annotation.rating_hours import CHARACTERS_PER_SECOND, SECONDS_PER_ANSWER, pace_of
from annotation.services.studies import StudyError, create_study, open_study
from annotation.study_plan import StudyPlan
from tests.annotation.makers import material, opened, planned, researcher
from tests.graph_material import SHOWN, hathaways
from tests.makers import example_row, response_row, scheme_of, statements

pytestmark = pytest.mark.once


def shown(*passages: str) -> dict[str, list[str]]:
    return {"evidence_shown": list(passages)}


def by_arm(plan):
    return Counter(unit.arm for unit in plan.units)


def test_a_separate_unit_has_one_response_and_a_merged_one_all_of_the_example(tmp_path):
    study = planned(material(tmp_path, n_examples=3), arms=["separate", "merged"])

    plan = plan_units(study)

    assert by_arm(plan) == {"separate": 6, "merged": 3}
    assert (plan.n_examples, plan.n_responses, plan.left_out) == (3, 6, {})
    assert {len(unit.targets) for unit in plan.units if unit.arm == "merged"} == {2}


def test_a_merged_unit_shows_the_coolest_setup_first_when_the_order_is_fixed(tmp_path):
    rows = [
        response_row("r1", "e1", setup={"model": "m", "temperature": 0.7}),
        response_row("r2", "e1", setup={"model": "m", "temperature": 0.0}),
    ]
    dataset = material(tmp_path, n_examples=1, responses=rows)

    [unit] = plan_units(planned(dataset, arms=["merged"])).units

    keys = dict(dataset.responses.values_list("pk", "key"))
    assert [keys[response] for response, _ in unit.targets] == ["r2", "r1"]


def test_a_response_that_was_shown_nothing_is_assumed_not_attributable_and_not_rated(tmp_path):
    rows = [
        response_row("r1", "e1", setup="with", **shown("p-e1")),
        response_row("r2", "e1", setup="without", **shown()),
        response_row("r3", "e2", setup="with"),  # does not say: the golden evidence counts
    ]
    dataset = material(tmp_path, responses=rows)

    of_shown = plan_units(planned(dataset))
    of_golden = plan_units(planned(dataset, name="golden", evidence_choice="golden"))
    of_ssa = plan_units(planned(dataset, name="ssa", scheme="SSA"))

    assert (of_shown.n_responses, of_shown.left_out) == (2, {NO_EVIDENCE: 1})
    assert (of_golden.n_responses, of_golden.left_out) == (3, {})
    assert (of_ssa.n_responses, of_ssa.left_out) == (3, {})
    assert all(unit.passages for unit in of_golden.units)
    assert not any(unit.passages for unit in of_ssa.units)


def test_only_responses_with_the_same_evidence_are_merged(tmp_path):
    evidence = [{"id": key, "text": f"About {key}."} for key in ("p1", "p2")]
    rows = [
        response_row("r1", "e1", setup="a", **shown("p1", "p2")),
        response_row("r2", "e1", setup="b", **shown("p2", "p1")),
        response_row("r3", "e1", setup="c", **shown("p1")),
    ]
    examples = [example_row("e1", evidence=evidence)]
    dataset = material(tmp_path, examples=examples, responses=rows)

    plan = plan_units(planned(dataset, arms=["separate", "merged"]))

    assert by_arm(plan) == {"separate": 3, "merged": 1}
    assert plan.left_out == {NO_PARTNER: 1}


def answers(*graphs, **more):
    """Return an answer to one question for each graph, or `None` for one that says nothing."""
    return [
        response_row(f"r{n}", "k1", setup=f"s{n}", graph_shown=graph, **more)
        for n, graph in enumerate(graphs, start=1)
    ]


def together(plan, dataset):
    """Return the keys of the responses in each merged unit."""
    keys = dict(dataset.responses.values_list("pk", "key"))
    return sorted(
        sorted(keys[response] for response, _ in unit.targets)
        for unit in plan.units
        if unit.arm == "merged"
    )


def test_an_answer_about_a_graph_is_rated_against_the_graph_it_was_shown(tmp_path):
    # r3 was shown a graph that says nothing: attributable 0 without rating, as without passages.
    rows = answers(SHOWN, SHOWN[:2], [["Q1", "spouse", " "]], evidence_shown=[])
    dataset = hathaways(tmp_path, responses=rows)

    of_shown = plan_units(planned(dataset))
    of_golden = plan_units(planned(dataset, name="golden", evidence_choice="golden"))
    of_retrieved = plan_units(planned(dataset, name="found", evidence_choice="retrieved"))

    assert (of_shown.n_responses, of_shown.left_out) == (2, {NO_EVIDENCE: 1})
    assert (of_golden.n_responses, of_golden.left_out) == (3, {})
    assert (of_retrieved.n_responses, of_retrieved.left_out) == (0, {NO_EVIDENCE: 3})


@pytest.mark.parametrize("scheme", ["AIS", "QUALITY"])
def test_the_same_evidence_is_the_same_triples_in_any_order(tmp_path, scheme):
    # Gold, gold in another order, gold - 1 twice, gold - 2.
    rows = answers(SHOWN, SHOWN[::-1], SHOWN[:2], SHOWN[:2], SHOWN[:1], evidence_shown=[])
    dataset = hathaways(tmp_path, responses=rows)

    of_shown = plan_units(planned(dataset, scheme=scheme, arms=["merged"]))
    of_golden = plan_units(
        planned(dataset, name="golden", scheme=scheme, arms=["merged"], evidence_choice="golden")
    )

    assert together(of_shown, dataset) == [["r1", "r2"], ["r3", "r4"]]
    assert of_shown.left_out == {NO_PARTNER: 1}
    # The gold sub-graphs are the same for every answer to a question.
    assert together(of_golden, dataset) == [["r1", "r2", "r3", "r4", "r5"]]


def test_where_no_evidence_is_shown_graphs_keep_nobody_apart(tmp_path):
    rows = answers(SHOWN, SHOWN[:2], [], evidence_shown=[])
    dataset = hathaways(tmp_path, responses=rows)

    plan = plan_units(planned(dataset, scheme="SSA", arms=["merged"]))

    assert together(plan, dataset) == [["r1", "r2", "r3"]]


def test_the_same_graph_beside_other_passages_is_other_evidence(tmp_path):
    passages = [{"id": "p1", "text": "She was born in Shottery."}]
    rows = [
        response_row("r1", "k1", setup="a", graph_shown=SHOWN, evidence_shown=["p1"]),
        response_row("r2", "k1", setup="b", graph_shown=SHOWN, evidence_shown=[]),
        response_row("r3", "k1", setup="c", graph_shown=SHOWN, evidence_shown=["p1"]),
    ]
    dataset = hathaways(tmp_path, passages=passages, responses=rows)

    plan = plan_units(planned(dataset, arms=["merged"]))

    assert together(plan, dataset) == [["r1", "r3"]]


def test_a_graph_takes_time_to_read_with_the_texts_of_its_nodes(tmp_path):
    text = "A theatre. It stood by the river."
    graph = [["Q4", "name", "Globe"], ["Q4", "owner", "William Shakespeare"]]
    graph.append(["Q4", "document text", text])
    dataset = hathaways(tmp_path, responses=answers(graph, evidence_shown=[]))

    [unit] = plan_units(planned(dataset)).units

    question = "When did Anne Hathaway, the wife of William Shakespeare, die?"
    rows = len("nameGlobe") + len("ownerWilliam Shakespeare") + len("document text") + len(text)
    assert unit.n_characters == len(question) + rows + len("Text of r1.")


def test_responses_that_say_nothing_are_left_out_and_counted(tmp_path):
    dataset = material(tmp_path, n_examples=1, setups=["a", "b"])
    dataset.responses.filter(setup__name="a").update(text=" \n")

    plan = plan_units(planned(dataset))

    assert [len(unit.targets) for unit in plan.units] == [1]
    assert plan.left_out == {NOTHING_SAID: 1}


def test_a_merged_unit_shows_eight_responses_at_most(tmp_path):
    dataset = material(tmp_path, n_examples=1, setups=[f"s{n}" for n in range(10)])

    plan = plan_units(planned(dataset, arms=["merged"]))

    assert [len(unit.targets) for unit in plan.units] == [8]
    assert plan.left_out == {TOO_MANY: 2}


def test_what_has_no_dialog_cannot_be_rated(tmp_path):
    dataset = material(tmp_path, n_examples=1)
    dataset.examples.get().turns.all().delete()
    study = planned(dataset)

    assert plan_units(study).left_out == {NO_DIALOG: 2}
    with pytest.raises(StudyError, match="nothing to rate"):
        open_study(study, researcher())
    study.refresh_from_db()
    assert study.state == Study.State.PLANNED


def test_retrieved_evidence_is_what_shares_words_with_dialog_and_response(tmp_path):
    passages = [
        {"id": "mill", "text": "The mill closed in 1971 after a flood."},
        {"id": "cat", "text": "Cats sleep most of the day."},
    ]
    examples = [example_row("e1", evidence=passages)]
    rows = [response_row("r1", "e1", text="Cats do sleep a lot.")]
    dataset = material(tmp_path, examples=examples, responses=rows)

    [unit] = plan_units(planned(dataset, evidence_choice="retrieved")).units

    keys = dict(dataset.passages.values_list("pk", "key"))
    assert keys[unit.passages[0]] == "cat"


def test_each_citation_of_a_response_is_a_unit(tmp_path):
    text = "He painted [Q1, occupation: painter]. He died young [Q1, born: 1840, died: 1863]."
    rows = [response_row("r1", "e1", text=text), response_row("r2", "e1", setup="b")]
    dataset = material(tmp_path, n_examples=1, responses=rows)

    study = opened(dataset, scheme="ALIGNMENT", raters_per_unit=2, raters=2)

    units = Unit.objects.filter(arm__study=study).order_by("pk")
    cited = [citation for unit in units if (citation := unit.targets.get().citation)]
    assert [(c.number, c.relation, c.value) for c in cited] == [
        (1, "occupation", "painter"),
        (2, "born", "1840"),
        (3, "died", "1863"),
    ]
    assert cited[0].sentence == "He painted."
    with pytest.raises(StudyError, match="separate arm"):
        planned(dataset, name="no", scheme="ALIGNMENT", arms=["merged"], raters_per_unit=2)


def test_two_arms_need_twice_the_raters(tmp_path):
    dataset = material(tmp_path)

    one = rater_needs(planned(dataset, raters=4))
    two = rater_needs(planned(dataset, name="two", raters=7, arms=["separate", "merged"]))

    assert [(need.n_there, need.n_needed, need.n_missing) for need in one] == [(4, 5, 1)]
    assert [(need.n_there, need.n_needed, need.n_missing) for need in two] == [
        (4, 5, 1),
        (3, 5, 2),
    ]


def test_an_excluded_rater_is_missing_in_their_group(tmp_path):
    study = planned(material(tmp_path), raters=5)
    study.raters.filter(user__username="rater-1").update(is_excluded=True)

    [need] = rater_needs(study)

    assert (need.n_there, need.n_missing) == (4, 1)


def test_hours_are_reading_once_per_unit_and_a_time_per_answer(tmp_path):
    dataset = material(tmp_path, n_examples=1)
    study = planned(dataset, arms=["separate", "merged"])

    hours = estimated_hours(study, plan_units(study), pace_of(study))

    dialog, passage = len("Question of e1?"), len("Passage of e1.")
    responses = len("Text of e1-cool.") + len("Text of e1-warm.")
    answers = 2 * 7 * SECONDS_PER_ANSWER
    separate = (2 * (dialog + passage) + responses) / CHARACTERS_PER_SECOND + answers
    merged = (dialog + passage + responses) / CHARACTERS_PER_SECOND + answers
    assert hours["separate"] == pytest.approx(5 * separate / 3600)
    assert hours["merged"] == pytest.approx(5 * merged / 3600)


def test_a_sample_is_drawn_by_the_seed_and_a_larger_one_contains_it(tmp_path):
    dataset = material(tmp_path, n_examples=20, setups=["cool"])

    def drawn(name, **plan):
        units = plan_units(planned(dataset, name=name, **plan)).units
        return {unit.example for unit in units}

    five = drawn("five", n_sampled=5)
    assert len(five) == 5
    assert five < drawn("ten", n_sampled=10)
    assert five == drawn("again", n_sampled=5)
    assert five != drawn("other", n_sampled=5, seed=14)


def test_slots_get_random_keys_of_their_own(tmp_path):
    opened(material(tmp_path, n_examples=10))

    keys = list(Assignment.objects.order_by("unit", "slot").values_list("key", flat=True))

    assert len(set(keys)) == len(keys) == 10 * 2 * 5
    assert keys != sorted(keys)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"raters_per_unit": 4}, "odd number"),
        ({"arms": []}, "one arm"),
        ({"setups": []}, "Choose at least one"),
        ({"scheme": scheme_of({"good": "yes_no"})}, "no help or no examples"),
        ({"scheme": {"key": "x"}}, "questions"),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused_and_makes_nothing(tmp_path, wrong, said):
    study = planned(material(tmp_path))
    plan = StudyPlan("Other", study.dataset, study.scheme, list(study.setups.all()))
    n_users = User.objects.count()

    with pytest.raises(StudyError, match=said):
        create_study(plan._replace(**wrong), "", [], researcher())

    assert Study.objects.count() == 1
    assert User.objects.count() == n_users


def test_planning_costs_the_same_statements_for_few_and_many(tmp_path):
    def cost(n):
        study = planned(material(tmp_path / str(n), n_examples=n), name=str(n))
        return len(statements(lambda: plan_units(study)))

    assert cost(3) == cost(60)
