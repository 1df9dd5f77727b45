"""Whether a name may mean an entity, by what both are called (KaLMA, 3.1)."""

import json

import pytest

from generation.retrieval.entity_types import LISTS, entity_types


@pytest.mark.parametrize(
    ("kind", "entity_type", "check"),
    [
        ("PERSON", "human", "fits"),  # the paper's example
        ("PERSON", "Person", "fits"),  # a graph of one's own
        ("PERSON", "city", "dropped"),
        ("GPE", "city", "fits"),
        ("GPE", "human", "dropped"),
        ("LOC", "city", "fits"),  # spaCy takes one for the other
        ("NORP", "language", "fits"),  # 'Chinese': re-ranking decides
        ("NORP", "ethnic group", "fits"),
        ("LANGUAGE", "ethnic group", "dropped"),
        ("ORG", "association football club", "fits"),
        ("WORK_OF_ART", "painting", "fits"),
        ("DATE", "calendar year", "fits"),
        ("DATE", "human", "dropped"),
        ("PERSON", "family name", "dropped"),  # a name is no person
        ("PERSON", "", "unchecked"),
        ("PERSON", "asteroid", "unchecked"),  # in no list: it cannot be told
        ("MONEY", "human", "unchecked"),  # a kind that is not mapped
        ("", "human", "unchecked"),  # the graph's own labels
    ],
)
def test_a_type_fits_is_dropped_or_nobody_can_say(kind, entity_type, check):
    assert entity_types().check(kind, entity_type) == check


def test_every_group_is_used_but_that_of_names_and_lists():
    content = json.loads(LISTS.read_text("utf-8"))
    used = {name for names in content["kinds"].values() for name in names}

    assert set(content["groups"]) - used == {"name or list"}
    assert used <= set(content["groups"])
    for name, types in content["groups"].items():
        assert len(types) == len(set(types)), name
