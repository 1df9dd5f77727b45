"""Menus of setups: parts of analyses come last and folded, and names say what differs."""

import pytest

from generation.importers.setups import setup_name
from generation.models import Setup
from generation.setup_menus import SetupKind, menu_choices, setup_kind, setup_menu


def of(prompt, model="m", temperature=0.0, name="", **settings):
    setup = Setup(model=model, temperature=temperature, prompt=prompt, settings=settings)
    setup.name = name or setup_name(setup)
    return setup


def names(group):
    return [name for _, name in group.setups]


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("golden", SetupKind.SINGLE),
        ("", SetupKind.SINGLE),
        ("a prompt of your own", SetupKind.SINGLE),
        ("top-3", SetupKind.SINGLE),
        ("restricted-golden-0.1", SetupKind.RESTRICTED),
        ("top-1-of-5-part-2", SetupKind.PART),
        ("reranked", SetupKind.RERANKED),
    ],
)
def test_the_prompt_says_of_which_kind_a_setup_is(prompt, kind):
    assert setup_kind(of(prompt)) is kind


def test_single_setups_come_first_by_model_and_parts_of_analyses_are_folded():
    best = of("reranked", name="m · T 0.0 · reranked · max-attribution of 7 #bb4fd559")
    setups = [
        best,
        of("top-1-of-5-part-1"),
        of("restricted-golden-0.1", evidence_share="rest of kept"),
        of("golden", "n"),
        of("no-evidence", temperature=0.7),
        of("golden-instructions"),
        of("golden"),
    ]

    groups = setup_menu(setups)

    assert [(group.title, group.is_folded, names(group)) for group in groups] == [
        (
            "m",
            False,
            ["m · T 0.0 · Golden", "m · T 0.0 · Golden, instructions", "m · T 0.7 · No evidence"],
        ),
        ("n", False, ["n · T 0.0 · Golden"]),
        ("Restricted context", True, ["m · T 0.0 · Restricted, golden, dialog 10 %"]),
        ("Parts of a recipe", True, ["m · T 0.0 · Top 1 of 5, part 1"]),
        ("Re-ranked", True, ["m · T 0.0 · max-attribution of 7"]),
    ]


def test_setups_that_differ_only_in_settings_keep_their_whole_names():
    plain, other = of("golden"), of("golden", top_p=0.9)

    [group] = setup_menu([plain, other])

    assert names(group) == ["m · T 0.0 · golden", "m · T 0.0 · golden · top_p=0.9"]


def test_a_setup_that_people_named_keeps_its_name():
    [group] = setup_menu([of("golden", name="my best")])

    assert names(group) == ["my best"]


def test_one_group_has_no_title_and_is_not_folded():
    [group] = setup_menu([of("reranked", name="a"), of("reranked", name="b")])

    assert (group.title, group.is_folded) == ("", False)
    assert setup_menu([]) == []


def test_choices_name_setups_in_addresses_as_they_are_stored():
    golden, part = of("golden"), of("top-1-of-5-part-1")

    assert menu_choices([golden], "any setup") == [
        ("", "any setup"),
        ("m · T 0.0 · golden", "m · T 0.0 · Golden"),
    ]
    assert menu_choices([part, golden], "all 2 setups") == [
        ("", "all 2 setups"),
        ("m", [("m · T 0.0 · golden", "m · T 0.0 · Golden")]),
        ("Parts of a recipe", [(part.name, "m · T 0.0 · Top 1 of 5, part 1")]),
    ]
