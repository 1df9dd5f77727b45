"""Setups that show knowledge graphs among others: in no cluster, in no pair, on every page."""

import pytest
from django.urls import reverse

from evaluation.tradeoffs.dots import dot_of
from evaluation.tradeoffs.figures.tradeoff.glyphs import SHAPES, glyph_of, palette_of
from evaluation.tradeoffs.pairs import pairs_differing_in
from generation.models import Setup
from tests.evaluation.tradeoffs.imported_setups import LARGE, SMALL, imported
from tests.evaluation.tradeoffs.rows_of_tradeoffs import row
from tests.shown import shown

SETUPS = [
    (SMALL, 0.0, "golden", "yyyn", "yynn"),
    (LARGE, 0.0, "golden", "yyny", "yyyy"),
    (LARGE, 0.0, "graph-retrieved", "yynn", "yyyn"),
    (LARGE, 0.0, "graph-gold", "yyyn", "yyyn"),
    (SMALL, 0.0, "graph-gold", "ynnn", "yynn"),
]
PAGES = ["tradeoff", "takeaways", "comparable", "reranking", "recipe", "restricted"]


def dots():
    return [
        dot_of(Setup(name=f"{model} {prompt}", model=model, temperature=t, prompt=prompt))
        for model, t, prompt, _, _ in SETUPS
    ]


def test_a_prompt_about_a_graph_is_in_no_cluster_and_is_named():
    found = {dot.label: dot.cluster for dot in dots()}

    assert found == {
        f"[0.0, {SMALL}, Golden]": "top right",
        f"[0.0, {LARGE}, Golden]": "top right",
        f"[0.0, {LARGE}, Graph, retrieved here]": None,
        f"[0.0, {LARGE}, Graph, gold]": None,
        f"[0.0, {SMALL}, Graph, gold]": None,
    }


def test_their_mark_is_a_pentagon():
    look = glyph_of(row(0.5, 0.5, prompt="graph-gold").of, palette_of([]))

    assert look.path == SHAPES["pentagon"]


def test_graphs_differ_from_passages_in_more_than_one_thing():
    assert pairs_differing_in(dots(), "golden evidence") == []
    assert pairs_differing_in(dots(), "history") == []
    # With one graph and two models they differ in the model alone.
    assert pairs_differing_in(dots(), "size") == [(1, 0), (3, 4)]


@pytest.mark.once
@pytest.mark.parametrize("page", PAGES)
def test_pages_of_the_trade_off_show_them(rosa, client_for, tmp_path, page):
    dataset = imported(tmp_path / "own", "own", SETUPS)

    answer = client_for(rosa).get(reverse(f"tradeoffs:{page}", args=[dataset.slug]))

    assert answer.status_code == 200
    if page == "tradeoff":
        assert "Graph, retrieved here" in shown(answer).table("Setups").column("Prompt type")
