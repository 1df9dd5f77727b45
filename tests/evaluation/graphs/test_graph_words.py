"""The words of reports on graphs: on what they count, and on the setup of a row."""

from evaluation.graphs.templatetags.graphs import said_beside, told_apart
from evaluation.reports.setups import setup_columns
from generation.models import Setup


def test_what_is_left_out_and_what_is_also_counted_are_told_apart():
    counted = {"answers_with_empty_minimum": 1, "mentions": 1200, "repeated_responses": 0}

    assert told_apart(counted | {"answers_without_citations": 1}) == [
        ("Left out", ["1 answer with an empty minimum set"]),
        ("Also counted", ["1,200 mentions", "1 answer without citations"]),
    ]
    assert told_apart({"failed_answers": 2}) == [("Left out", ["2 failed answers"])]
    assert told_apart({"mentions": 0}) == []
    assert told_apart({"setups_of_another_state_of_the_graph": 1, "made_up_minimum_sets": 3}) == [
        ("Left out", ["1 setup of another state of the graph"]),
        ("Also counted", ["3 made-up minimum sets"]),
    ]


def test_beside_the_name_of_a_setup_stands_what_it_does_not_say():
    setup = setup_columns(Setup(model="small", prompt="graph-gold"))

    assert said_beside(setup, "T 0.7") == "small · Graph, gold"
    assert said_beside(setup, "graph-gold T 0.7") == "small"
    assert said_beside(setup, "small T 0.7") == "Graph, gold"
