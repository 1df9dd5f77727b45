"""The marks, texts and files of a figure of trade-offs: places by hand, well-formed drawings."""

import itertools
import math
import xml.etree.ElementTree as ET

import pytest
from django.conf import settings
from django.template.loader import render_to_string

from evaluation.reports.figures.builders import drawing_file
from evaluation.reports.figures.free_places import (
    Rectangle,
    Text,
    around,
    first_free,
    least_covering,
)
from evaluation.tradeoffs.chart_view import View
from evaluation.tradeoffs.figures.tradeoff.clusters import PADDING
from evaluation.tradeoffs.figures.tradeoff.figure import figure_of
from evaluation.tradeoffs.figures.tradeoff.frame import DESK, PHONE
from evaluation.tradeoffs.figures.tradeoff.glyphs import SHAPES, glyph_of, legend_of, palette_of
from evaluation.tradeoffs.figures.tradeoff.svg_files import (
    file_size,
    file_style,
    legend_lines,
    titled,
    well_formed,
)
from evaluation.tradeoffs.recall_lines import RecallLine
from generation.text.prompt_types import TWELVE
from tests.evaluation.tradeoffs.rows_of_tradeoffs import aggregate, row

MODELS = ("PaLM 8B", "PaLM 62B", "PaLM 540B")
MAGIC = {"svg": b"<svg", "pdf": b"%PDF-", "png": b"\x89PNG\r\n\x1a\n"}


def classes(found):
    return found.classes.split()


def palette_for(rows):
    return palette_of([each.of for each in rows])


# --- marks ----------------------------------------------------------------------------------


def test_each_prompt_type_has_its_own_shape_or_a_dot_in_its_centre():
    rows = [row(0.5, 0.5, prompt=kind.key) for kind in TWELVE]
    palette = palette_for(rows)

    looks = [glyph_of(each.of, palette) for each in rows]

    assert len({(look.path, look.has_instructions) for look in looks}) == 12
    by_key = {kind.key: look for kind, look in zip(TWELVE, looks, strict=True)}
    assert by_key["golden"].path == SHAPES["diamond"]
    assert by_key["golden-instructions"] == by_key["golden"]._replace(has_instructions=True)
    assert glyph_of(aggregate(0.5, 0.5).of, palette).path == SHAPES["star"]


def test_colour_is_the_model_from_small_to_large_and_light_a_higher_temperature():
    rows = [row(0.5, 0.5, model=m, temperature=t) for m in MODELS for t in (0.0, 0.7)]
    palette = palette_for(rows)

    found = [classes(glyph_of(each.of, palette)) for each in rows]

    assert found == [[f"m{n}", fill] for n in (1, 2, 3) for fill in ("t0", "t7")]


def test_models_beyond_five_share_a_colour():
    rows = [row(0.5, 0.5, model=f"own {n}B") for n in (1, 2, 3, 4, 5, 6, 7)]
    palette = palette_for(rows)

    found = [classes(glyph_of(each.of, palette))[0] for each in rows]

    assert found == ["m0", "m0", "m1", "m2", "m3", "m4", "m5"]


def test_aggregates_have_the_colour_of_their_function():
    rows = [aggregate(0.5, 0.5, function) for function in ("max-attribution", "sensible-first")]
    rows += [aggregate(0.5, 0.5, "weighted"), aggregate(0.5, 0.5, "recipe-sensible-first")]

    assert [classes(glyph_of(each.of, palette_for(rows)))[0] for each in rows] == [
        "a1",
        "a2",
        "a3",
        "a2",
    ]


def test_aggregates_of_several_models_have_rings_in_the_colours_of_these():
    rows = [aggregate(0.5, 0.5, model=m, temperature=t) for m in MODELS[:2] for t in (0.0, 0.7)]

    marks = figure_of(rows, View()).marks
    assert [mark.glyph.ring for mark in marks] == ["m1", "m1", "m2", "m2"]
    assert [classes(mark.glyph) for mark in marks[:2]] == [["a2", "t0"], ["a2", "t7"]]
    assert [entry.title for entry in figure_of(rows, View()).legend.models] == [*MODELS[:2]]
    # Where one model is shown, marks need no distinction.
    of_one = figure_of(rows[:2], View(), palette=palette_for(rows)).marks
    assert [mark.glyph.ring for mark in of_one] == ["", ""]


def test_an_aggregate_says_its_pool_what_chose_and_its_calls():
    [mark] = figure_of([aggregate(0.5, 0.5)], View()).marks

    assert mark.one_line.startswith(
        "Sensible first, PaLM 8B, T 0.0, chosen in each example from 2 setups by auto_ais, 2 "
        "calls per example: attribution 0.500"
    )


def test_restricted_context_keeps_its_model_s_colour_and_has_shapes_by_evidence():
    """Figures 4 and 5: a colour means the model, as in the legend beside them."""
    prompts = [f"restricted-{key}-0.4" for key in ("golden", "next-best")]
    rows = [row(0.5, 0.5, prompt=prompt) for prompt in prompts]
    rows += [row(0.5, 0.5, model="PaLM 62B", prompt=prompts[0], temperature=0.7)]

    found = [glyph_of(each.of, palette_for(rows)) for each in rows]

    assert [classes(each) for each in found] == [["m1", "t0"], ["m1", "t0"], ["m2", "t7"]]
    assert [each.path for each in found] == [
        SHAPES[shape] for shape in ("small-diamond", "small", "small-diamond")
    ]
    [mark, *_] = figure_of(rows, View()).marks
    assert mark.one_line.startswith("Golden, 40\u00a0% of the dialog kept (earlier rule")


def test_a_legend_has_a_line_for_each_thing_there_is():
    rows = [
        row(0.5, 0.5, temperature=t, prompt=p) for t in (0.0, 0.7) for p in ("golden", "random")
    ]
    rows += [row(0.5, 0.5, prompt=f"restricted-golden-{s}") for s in ("0.1", "0.2")]

    setups = [each.of for each in (*rows, aggregate(0.9, 0.9))]
    found = legend_of(setups, palette_for(rows))

    assert [(entry.title, entry.n) for entry in found.models] == [("PaLM 8B", 6)]
    assert [entry.title for entry in found.temperatures] == ["T 0.0, solid", "T 0.7, light"]
    assert [entry.title for entry in found.prompts] == [
        "Golden",
        "Random non-evidence",
        "Restricted, golden",
    ]
    assert found.prompts[2].keys == ("restricted-golden-0.1", "restricted-golden-0.2")
    assert [entry.title for entry in found.functions] == ["Sensible first"]


def test_marks_beyond_the_window_and_without_figures_are_counted():
    rows = [row(0.5, 0.5), row(0.9, 0.9, prompt="random"), row(None, 0.9, prompt="one-shot")]

    found = figure_of(rows, View(x_from=0.6, y_from=0.6))

    assert [mark.row.of.prompt for mark in found.marks] == ["random"]
    assert (found.n_outside, found.n_undefined) == (1, 1)


def test_whiskers_are_the_intervals_as_far_as_the_window_shows_them():
    # x from 0.5 to 1 on 702 px: 0.6 at 54 + 140.4, its interval from 0.55 (124.2) to 0.65 (264.6);
    # y from 0 to 1 on 590 px: 0.97 at 616 - 572.3, from 0.92 (73.2) to 1 (26).
    [mark] = figure_of([row(0.6, 0.97)], View(intervals=True, x_from=0.5, y_from=0.0)).marks

    assert mark.whiskers == "M124.2 43.7H264.6M194.4 73.2V26.0"


# --- marks on one spot ----------------------------------------------------------------------

# With y from 0 to 1, one px is 1 / 702 of attribution and 1 / 590 of sensibleness.
FROM_0 = View(intervals=True, y_from=0.0)


def moves(mark):
    """Return how far the line of a mark leads; 0 if it stands in its own place."""
    ends = [tuple(map(float, part.split())) for part in mark.stem[1:].split("L") if part]
    assert not ends or ends[1] == (mark.x, mark.y)
    return math.dist(*ends) if ends else 0.0


def squares(marks):
    return [Rectangle(mark.x - 6, mark.y - 6, mark.x + 6, mark.y + 6) for mark in marks]


def test_marks_apart_stay_in_their_places_and_are_not_counted():
    found = figure_of([row(0.5, 0.5), row(0.5 + 8 / 702, 0.5, prompt="random")], FROM_0)

    assert not found.spots
    # 54 + 351, and 8 px to the right
    assert [(mark.x, mark.y, mark.stem) for mark in found.marks] == [(405, 321, ""), (413, 321, "")]


def test_two_equal_marks_stand_beside_their_spot_which_counts_them():
    rows = [row(0.5, 0.5), row(0.5, 0.5, prompt="random"), row(0.2, 0.9, prompt="one-shot")]

    found = figure_of(rows, FROM_0)

    [spot] = found.spots
    assert (spot.x, spot.y, spot.n) == (405, 321, 2)
    first, second, alone = found.marks
    assert (first.x, first.y) == (405 - 16, 321)
    assert (second.x, second.y) == (405 + 16, 321)
    assert first.stem == "M405.0 321.0L389.0 321.0"
    assert alone.stem == ""
    # The interval from 0.45 to 0.55 on each axis stays at the true place.
    assert first.whiskers == second.whiskers == "M369.9 321.0H440.1M405.0 350.5V291.5"
    assert "attribution 0.500, sensibleness 0.500" in first.figures


def test_five_near_marks_fan_out_and_cover_neither_each_other_nor_a_neighbour():
    kinds = [kind.key for kind in TWELVE[:5]]
    near = [row(0.5 + n / 702, 0.5, prompt=kind) for n, kind in enumerate(kinds)]
    neighbour = row(0.5 - 20 / 702, 0.5, prompt="random")

    found = figure_of([*near, neighbour], FROM_0)

    [spot] = found.spots
    assert (spot.x, spot.y, spot.n) == (407, 321, 5)  # their mean: 405 + (0 + 1 + 2 + 3 + 4) / 5
    moved = [mark for mark in found.marks if mark.stem]
    assert len(moved) == 4
    boxes = [*squares([*moved, found.marks[-1]]), around(spot.x, spot.y, 6)]
    assert not any(a.overlap(b) for a, b in itertools.combinations(boxes, 2))
    assert all(moves(mark) == pytest.approx(16, abs=0.1) for mark in moved)
    assert [mark.row.of.prompt for mark in found.marks] == [*kinds, "random"]
    assert (found.marks[-1].x, found.marks[-1].stem) == (385, "")
    assert figure_of([*near, neighbour], FROM_0) == found


@pytest.mark.parametrize("corner", [(0.0, 0.0), (1.0, 1.0), (1.0, 0.5)])
@pytest.mark.parametrize("frame", [DESK, PHONE])
def test_a_mark_moves_by_little_more_than_its_size_or_stays(corner, frame):
    rows = [row(*corner, prompt=kind.key) for kind in TWELVE[:8]]

    found = figure_of(rows, FROM_0, frame=frame)

    plot = found.plot
    assert all(plot.left <= mark.x <= plot.right for mark in found.marks)
    assert all(plot.top <= mark.y <= plot.bottom for mark in found.marks)
    moved = [mark for mark in found.marks if mark.stem]
    still = {(mark.x, mark.y) for mark in found.marks if not mark.stem}
    assert all(moves(mark) == pytest.approx(16, abs=0.1) for mark in moved)
    [spot] = found.spots
    assert still == {(spot.x, spot.y)}  # eight marks of 13 px have no room on a ring of 100 px
    assert spot.count_place != (spot.x, spot.y)
    assert not any(around(spot.x, spot.y, 6).overlap(each) for each in squares(moved))
    assert not any(a.overlap(b) for a, b in itertools.combinations(squares(moved), 2))


def test_labels_avoid_counts_and_the_marks_around_them():
    rows = [row(0.5, 0.5, prompt=kind.key) for kind in TWELVE[:3]]

    found = figure_of(rows, View(labels=True, y_from=0.0))

    labels = [mark.label.box for mark in found.marks if mark.label]
    taken = [*squares(found.marks), *(spot.box for spot in found.spots)]
    assert len(labels) == 3
    assert not any(label.overlap(box) for label in labels for box in taken)


def test_the_count_and_the_lines_to_it_are_in_pages_and_files():
    found = figure_of([row(0.5, 0.5), row(0.5, 0.5, prompt="random")], View())

    page = render_to_string("evaluation/tradeoffs/_figure.svg", {"figure": found})

    for drawing in (page, file_of(found)):
        assert "<title>2 setups at this point: Golden, PaLM 8B, T 0.0; Random non" in drawing
        assert '<text y="3.5" text-anchor="middle">2</text>' in drawing
        assert drawing.count('<path class="stem"') == 2


def test_on_a_phone_the_whole_plane_is_340_px_wide_with_fewer_ticks():
    rows = [row(0.0, 0.0), *(row(1.0, 1.0, prompt=kind.key) for kind in TWELVE[:4])]

    found = figure_of(rows, View(y_from=0.0, clusters=True), frame=PHONE)

    assert (found.width, found.window[:4]) == (340, (0.0, 1.0, 0.0, 1.0))
    assert [tick.text for tick in found.x_ticks] == ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
    # Its plot is 262 px wide, from 50 (20 + 20.2 of "0.0" + 9, rounded up) to 312, and 272 px
    # high, from 24 to 296.
    assert (found.marks[0].x, found.marks[0].y) == (50, 296)
    assert [(spot.x, spot.y, spot.n) for spot in found.spots] == [(312, 24, 4)]
    assert all(mark.x <= 312 and mark.y >= 24 for mark in found.marks)
    texts = [curve.label for curve in found.curves] + [each.label for each in found.clusters]
    assert all(text.box.is_inside(PHONE.canvas) for text in texts if text)


def test_a_cluster_is_the_box_around_its_marks():
    rows = [row(0.7, 0.8), row(0.9, 0.9, prompt="one-shot"), row(0.1, 0.9, prompt="random")]
    view = View(clusters=True, y_from=0.0)

    found = {cluster.key: cluster for cluster in figure_of(rows, view).clusters}

    assert set(found) == {"top right", "top left"}
    box = found["top right"].box
    assert box.left == pytest.approx(54 + 0.7 * 702 - PADDING, abs=0.1)
    assert box.right == pytest.approx(54 + 0.9 * 702 + PADDING, abs=0.1)
    assert box.top == pytest.approx(616 - 0.9 * 590 - PADDING, abs=0.1)
    assert box.bottom == pytest.approx(616 - 0.8 * 590 + PADDING, abs=0.1)
    titles = [cluster.label.text for cluster in found.values() if cluster.label]
    assert sorted(titles) == ["History + golden evidence", "History, no golden evidence"]
    assert not figure_of(rows, View()).clusters


def dense_rows():
    return [
        row(0.6 + 0.04 * n + 0.01 * m, 0.8 + 0.02 * m + 0.005 * n, model=model, prompt=kind.key)
        for m, model in enumerate(MODELS)
        for n, kind in enumerate(TWELVE[1:8])
    ]


def test_no_text_covers_other_text_or_a_mark():
    view = View(labels=True, clusters=True, x_from=0.5, y_from=0.7)

    found = figure_of(dense_rows(), view)

    labels = [mark.label.box for mark in found.marks if mark.label]
    curves = [curve.label.box for curve in found.curves if curve.label]
    titles = [cluster.label.box for cluster in found.clusters if cluster.label]
    texts = [*labels, *curves, *titles]
    assert not any(a.overlap(b) for a, b in itertools.combinations(texts, 2))
    marks = [Rectangle(mark.x - 6, mark.y - 6, mark.x + 6, mark.y + 6) for mark in found.marks]
    assert not any(label.overlap(mark) for label in labels for mark in marks)
    assert titles
    assert not any(title.overlap(mark) for title in titles for mark in marks)
    assert all(label.is_inside(DESK.plot) for label in labels)
    assert len(labels) + found.n_without_label == 21
    assert len(labels) >= 10  # a label that names its prompt type is about 150 px long


def test_text_takes_the_first_free_place_or_that_which_covers_least():
    area, taken = Rectangle(0, 0, 100, 100), [Rectangle(0, 0, 50, 100)]
    left, right = Text(5, 50, "abc"), Text(60, 50, "abc")
    outside = Text(95, 50, "abc")

    assert first_free([left, outside, right], taken, area) == right
    assert first_free([left, outside], taken, area) is None
    assert least_covering([left, outside], taken, area) == left


def test_lines_go_through_their_points_and_one_point_is_a_ring():
    curve = RecallLine(
        ((0.0, 0.0), (0.5, 1.0)), "golden", "", "PaLM 8B", ("all dialog, no evidence", "")
    )
    lines = [curve, RecallLine(((0.5, 0.5),), "top-1-mark", "")]

    found = figure_of([row(0.5, 0.0)], View(), lines)

    assert [line.path for line in found.lines] == ["M54.0 616.0L405.0 26.0", ""]
    assert (found.lines[1].x, found.lines[1].y) == (405.0, 321.0)
    assert found.line_legend == [("line--golden m1", "Restricted context, golden")]
    [text] = found.line_texts
    assert (text.text, text.x) == ("all dialog, no evidence", 54 + 12)  # above (0, 0)


def test_of_simulated_retrieval_the_step_with_the_best_f1_is_drawn_in_full():
    """Figure 5: F1 of k passages is 2 · 0.8 · 0.4 / 1.2 = 0.53 at 40 %, and 0.32 at 80 %."""
    lines = [
        RecallLine(points, style, "", share=share)
        for share, ring in ((0.4, (0.8, 0.4)), (0.8, (0.8, 0.2)))
        for style, points in (("top-k", ((0.1, 0.8), ring)), ("top-k-mark", (ring,)))
    ]

    found = figure_of([], View(y_from=0.0), lines)

    assert [(line.share, "is-faint" in line.classes) for line in found.lines] == [
        (0.4, False),
        (0.4, False),
        (0.8, True),
        (0.8, True),
    ]
    assert [text.text for text in found.line_texts] == ["40\u00a0% of the dialog kept"]
    assert ".line.is-faint" in file_of(found)
    top_1 = [line._replace(style=line.style.replace("-k", "-1")) for line in lines]
    assert not any("is-faint" in line.classes for line in figure_of([], View(), top_1).lines)


# --- drawings -------------------------------------------------------------------------------


def file_of(found):
    lines = legend_lines(found)
    width, height = file_size(found, lines)
    context = {"figure": found, "lines": lines, "width": width, "height": height}
    context |= {"style": file_style()}
    return render_to_string("evaluation/tradeoffs/figure_file.svg", context).strip()


def test_a_file_is_well_formed_with_colours_of_its_own_and_without_links():
    rows = [*dense_rows(), aggregate(0.9, 0.9), row(0.4, 0.5, model='<a & "b">')]
    view = View(labels=True, intervals=True, clusters=True)
    lines = [RecallLine(((0.2, 0.3), (0.5, 0.9)), "golden", "1 < 2")]
    found = figure_of(rows, view, lines, address=lambda row: "/somewhere/")

    text = file_of(titled(found, "Auto-AIS & <more>", "x" * 200))
    root = ET.fromstring(text)

    names = [element.tag.rpartition("}")[2] for element in root.iter()]
    assert names.count("style") == 1
    assert "a" not in names
    assert "var(" not in text
    said = ["".join(element.itertext()) for element in root.iter() if element.tag.endswith("text")]
    assert "Attribution: Auto-AIS & <more>" in said
    assert '<a & "b">' in said  # in its legend
    assert "Restricted context, golden" in said
    assert max(len(each) for each in said) < 100
    paths = [element.get("d", "") for element in root.iter()]
    assert not any("nan" in path for path in paths)


@pytest.mark.parametrize("format_key", MAGIC)
def test_a_file_opens_in_each_format(format_key):
    # A name may hold a character that no XML may.
    found = figure_of([row(0.5, 0.5, model="M\x078B")], View(labels=True))
    text = well_formed(file_of(found))
    assert "M\ufffd8B" in text
    ET.fromstring(text)

    assert drawing_file(text, format_key).startswith(MAGIC[format_key])


def test_in_a_page_marks_are_links_that_say_where_they_stand():
    found = figure_of([row(0.5, 0.25)], View(), address=lambda row: f"/own/?a=1&s={row.of.setup}")

    text = render_to_string("evaluation/tradeoffs/_figure.svg", {"figure": found}).strip()
    root = ET.fromstring(text)

    [link] = [element for element in root.iter() if element.tag == "a"]
    assert link.get("href") == "/own/?a=1&s=PaLM 8B 0.0 golden"
    # F1 = 2 · 0.5 · 0.25 / 0.75
    assert link.get("aria-label") == (
        "Golden, PaLM 8B, T 0.0: attribution 0.500, sensibleness 0.250, F1 0.333, 100 examples"
    )
    assert root.get("role") == "group"
    assert "style" not in text  # the policy of pages lets no style of its own through


def test_an_empty_figure_is_drawn_too():
    found = figure_of([], View(labels=True, intervals=True, clusters=True))

    ET.fromstring(file_of(found))
    assert not found.marks
    assert found.curves


def test_every_class_of_a_mark_has_a_colour_in_pages_and_files():
    css = (settings.BASE_DIR / "static" / "app.css").read_text()
    names = [*(f"m{n}" for n in range(6)), "a1", "a2", "a3"]

    for text in (css, file_style()):
        assert not [name for name in names if f".{name} {{" not in text]
