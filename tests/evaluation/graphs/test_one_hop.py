"""The picture of an entity's neighbours: nothing in it meets anything else."""

from itertools import combinations

import pytest

from evaluation.graphs.figures.one_hop import (
    FONT,
    MOST_NEIGHBOURS,
    MOST_OF_RELATION,
    PADDING,
    SMALL_FONT,
    Picture,
    Spoke,
    Value,
    one_hop,
    spokes,
    text_width,
)
from evaluation.reports.figures.free_places import Rectangle

LONG = "the Most Excellent Order of the British Empire of the United Kingdom and the Realms"
UNBROKEN = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"
WIDE = "東京都千代田区千代田一丁目一番一号皇居東御苑三の丸尚蔵館の北側"
NAMES = ["Ada", LONG, UNBROKEN, WIDE, "MWMWMWMWMWMWMWMWMWMWMWMWMWMW", ""]


def spokes_of(n: int, n_values: int = 1) -> list[Spoke]:
    return [
        Spoke(
            f"{NAMES[(place + 1) % 5]} {place}",
            tuple(Value(NAMES[(place + k) % 6]) for k in range(n_values)),
        )
        for place in range(n)
    ]


def words(picture: Picture) -> list[Rectangle]:
    """Return everything that must not meet: the boxes and the names of relations."""
    named = [picture.centre.box]
    for group in picture.groups:
        named += [group.label, *(value.box for value in group.values)]
    return named


@pytest.mark.parametrize("n", [0, 1, 2, 5, 12, 16, 24, 60])
@pytest.mark.parametrize("n_values", [1, 2, 3, 9])
@pytest.mark.parametrize("label", NAMES)
def test_nothing_meets_anything_and_nothing_leaves_the_picture(n: int, n_values: int, label: str):
    drawn = one_hop(label, spokes_of(n, n_values))

    for picture in (drawn.wide, drawn.narrow):
        whole = Rectangle(0, 0, picture.width, picture.height)
        assert all(box.is_inside(whole) for box in words(picture))
        assert not [
            (one, other) for one, other in combinations(words(picture), 2) if one.overlap(other)
        ]


@pytest.mark.parametrize("name", NAMES)
def test_names_fit_their_boxes(name: str):
    drawn = one_hop(name, [Spoke(name or "is", (Value(name),) * 3)])

    for picture in (drawn.wide, drawn.narrow):
        for group in picture.groups:
            width = group.label.right - group.label.left
            assert text_width(group.relation, SMALL_FONT) == pytest.approx(width)
            for value in (picture.centre, *group.values):
                room = value.width - 2 * PADDING
                assert all(text_width(line, FONT) <= room for line in value.lines)
                assert value.baselines[0][0] - FONT >= value.box.top - 1
                assert value.baselines[-1][0] <= value.box.bottom


def test_a_name_that_fits_is_not_cut_and_one_that_does_not_ends_in_dots():
    [group] = one_hop("Ada", [Spoke("occupation", (Value("writer"), Value(LONG)))]).wide.groups

    assert group.values[0].lines == ("writer",)
    assert group.values[1].lines[-1].endswith("…")
    assert group.values[1].full == LONG


def test_values_of_one_relation_stand_together_and_the_rest_is_counted():
    """5 occupations and 1 name: 3 + 1 drawn, 2 in the table alone."""
    pairs = [("occupation", Value(f"o{n}")) for n in range(3)] + [("spouse", Value("Ben", "/b/"))]
    pairs += [("occupation", Value("o3")), ("occupation", Value("o4"))]

    drawn = one_hop("Ada", spokes(pairs))

    assert [(g.full, len(g.values), g.n_more) for g in drawn.wide.groups] == [
        ("occupation", MOST_OF_RELATION, 2),
        ("spouse", 1, 0),
    ]
    assert drawn.wide.groups[0].relation == "occupation +2"
    assert drawn.wide.groups[1].values[0].url == "/b/"
    assert (drawn.n_drawn, drawn.n_left_out) == (4, 2)


def test_no_more_is_drawn_than_can_be_read():
    drawn = one_hop("Ada", spokes_of(40, 3))

    assert drawn.n_drawn == MOST_NEIGHBOURS
    assert drawn.n_left_out == 40 * 3 - MOST_NEIGHBOURS


def test_relations_to_entities_are_preferred_and_housekeeping_is_left_out_first():
    """16 of 17 relations are drawn: not 'instance of', although it comes first in the file."""
    plain = [Spoke(f"relation {n}", (Value("words"),)) for n in range(15)]
    first, last = (
        Spoke("instance of", (Value("human", "/q5"),)),
        Spoke("spouse", (Value("B", "/b"),)),
    )

    drawn = one_hop("A", [first, *plain, last])

    assert [group.full for group in drawn.narrow.groups] == [*(p.relation for p in plain), "spouse"]
    assert drawn.n_left_out == 1


def test_both_sides_are_about_as_long():
    sides = [group.side for group in one_hop("Ada", spokes_of(16)).wide.groups]

    assert abs(sides.count("left") - sides.count("right")) <= 4


def test_an_entity_without_triples_is_a_box():
    drawn = one_hop("Ada", [])

    assert drawn.wide.groups == () == drawn.narrow.groups
    assert drawn.n_drawn == 0
