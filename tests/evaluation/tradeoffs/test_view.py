"""Figures 1 to 7 as views of a grid, filters, and the zoom to marks."""

import numpy as np
import pytest
from django.http import QueryDict

from evaluation.measures.reranking import MAX_ATTRIBUTION, SENSIBLE_FIRST
from evaluation.models import MetricRun
from evaluation.tradeoffs.axes import Axes, of_run
from evaluation.tradeoffs.chart_view import (
    FIGURES,
    NONE,
    View,
    function_key,
    largest,
    models_of,
    smallest,
    visible_marks,
    zoomed,
)
from evaluation.tradeoffs.dots import dot_of
from evaluation.tradeoffs.figure_choice import FigureChoice
from evaluation.tradeoffs.forms.tradeoff import TradeoffForm
from evaluation.tradeoffs.material import TradeoffMaterial
from generation.models import RERANKED, Dataset, Setup

SMALL, LARGE = "M 8B", "M 540B"
# What each setup is: model, temperature, prompt; and in how many of ten examples it is
# attributable, and sensible.
CELLS = [
    (SMALL, 0.0, "golden", 7, 8),
    (SMALL, 0.7, "golden", 6, 7),
    (SMALL, 0.0, "no-evidence", 2, 8),
    (SMALL, 0.0, "no-history-no-evidence", 1, 4),
    (LARGE, 0.0, "golden", 8, 9),
    (LARGE, 0.0, "one-shot", 9, 9),
    (LARGE, 0.7, "golden", 7, 9),
    (LARGE, 0.0, "no-history-golden", 5, 5),
    (LARGE, 0.0, "restricted-golden-0.5", 5, 6),
    (LARGE, 0.0, "restricted-next-best-0.5", 1, 5),
    (LARGE, 0.0, "top-1-of-3-part-2", 4, 9),
]
POOL = [f"{LARGE} 0.0 golden", f"{LARGE} 0.0 one-shot"]
AGGREGATES = [
    (LARGE, 0.0, {"function": MAX_ATTRIBUTION, "pool": POOL}),
    (LARGE, 0.0, {"function": SENSIBLE_FIRST, "pool": POOL, "recipe": {"k1": 3, "k2": 1}}),
    (SMALL, 0.7, {"function": MAX_ATTRIBUTION, "pool": [f"{SMALL} 0.7 golden"]}),
]


def material(cells=CELLS, aggregates=AGGREGATES) -> TradeoffMaterial:
    dataset = Dataset(pk=1, name="own", slug="own")
    setups = [
        Setup(name=f"{model} {t} {prompt}", model=model, temperature=t, prompt=prompt)
        for model, t, prompt, _, _ in cells
    ] + [
        Setup(name=f"{m} {t} {n}", model=m, temperature=t, prompt=RERANKED, settings=settings)
        for n, (m, t, settings) in enumerate(aggregates)
    ]
    counts = [cell[3:] for cell in cells] + [(9, 9)] * len(aggregates)
    labels = np.array([[np.arange(10) < n for n in side] for side in zip(*counts, strict=True)])
    runs = [
        MetricRun(pk=n, metric=m, dataset=dataset) for n, m in ((1, "auto_ais"), (2, "sensible"))
    ]
    return TradeoffMaterial(
        dataset=dataset,
        axes=Axes(*map(of_run, runs)),
        dots=tuple(map(dot_of, setups)),
        examples=tuple(f"e{n}" for n in range(10)),
        example_ids=np.arange(10),
        dialogs=np.arange(10),
        n_dialogs=10,
        responses=np.ones((len(setups), 10), np.int64),
        labels=labels.astype(float),
        scores=labels * 0.6 + 0.2,
        is_assumed=np.zeros_like(labels, bool),
        left_out={},
        data_hash="",
    )


def view_of(number: int, made: TradeoffMaterial) -> View:
    figure = FIGURES[number]
    return figure.view(made, largest(made, figure), smallest(made, figure))


def names(number: int, made: TradeoffMaterial | None = None) -> set[str]:
    made = made or material()
    return {made.dots[place].setup.name for place in visible_marks(made, view_of(number, made))}


def test_figure_1_is_the_full_grid_with_its_clusters():
    made = material()

    apart = {"restricted-golden-0.5", "restricted-next-best-0.5", "top-1-of-3-part-2"}
    single = [dot for dot in made.dots if not dot.is_aggregate]
    everything = {dot.setup.name for dot in single if dot.setup.prompt not in apart}
    assert names(1, made) == everything
    assert view_of(1, made).clusters


def test_a_filter_that_would_show_all_is_empty():
    made = material(CELLS[:3], [])

    assert view_of(1, made) == View(aggregates=NONE, clusters=True)


def test_figure_2_has_what_history_and_golden_evidence_make():
    made = material()

    assert names(2, made) == {
        f"{SMALL} 0.0 golden",
        f"{SMALL} 0.7 golden",
        f"{LARGE} 0.0 golden",
        f"{LARGE} 0.0 one-shot",
        f"{LARGE} 0.7 golden",
    }
    # Attribution from 0.6 to 0.9, sensibleness from 0.7 to 0.9: 0.02 more on each side, to the
    # next 0.05.
    view = view_of(2, made)
    assert (view.x_from, view.x_to, view.y_from, view.y_to) == (0.55, 0.95, 0.65, 0.95)


def test_figure_3_is_the_large_model_with_labels():
    made = material()

    assert names(3, made) == {*POOL, f"{LARGE} 0.7 golden"}
    assert view_of(3, made).labels


@pytest.mark.parametrize(("number", "k"), [(4, 1), (5, 3)])
def test_figures_4_and_5_are_restricted_context_with_lines(number, k):
    made = material()

    assert names(number, made) == {
        f"{LARGE} 0.0 restricted-golden-0.5",
        f"{LARGE} 0.0 restricted-next-best-0.5",
    }
    view = view_of(number, made)
    assert view.lines
    assert view.k == k
    assert view.x_from is None


def test_figures_6_and_7_are_aggregates_beside_their_pools_without_the_recipes_own():
    assert names(6) == {*POOL, f"{LARGE} 0.0 0"}
    assert names(7) == {f"{SMALL} 0.7 golden", f"{SMALL} 0.7 2"}


@pytest.mark.parametrize(
    ("models", "said"),
    [
        ((LARGE, SMALL), ""),
        ((SMALL, SMALL), f"There is nothing to draw for figure 7, {FIGURES[7].title}: the large"),
        ((LARGE, "M 2B"), f"This dataset has nothing for figure 7, {FIGURES[7].title}."),
        (("M 2B", "M 2B"), f"This dataset has nothing for figure 7, {FIGURES[7].title}."),
    ],
)
def test_figure_7_does_not_repeat_figure_6_where_one_model_is_re_ranked(models, said):
    choice = FigureChoice(FIGURES[7], models, (), View(), View())
    found = choice.why_not_drawn(material())

    assert (found[: len(said)], bool(found)) == (said, bool(said))
    # A reader who names the small model sees it.
    named = choice._replace(said=(("small", models[1]),))
    assert named.repeats_large(material()) is False


def test_a_figure_is_of_the_largest_model_that_has_what_it_is_about():
    cells = [cell for cell in CELLS if "restricted" not in cell[2]]
    of_small = (SMALL, 0.0, "restricted-golden-0.5", 5, 6)
    made = material([*cells, of_small])

    assert models_of(made) == [SMALL, LARGE]
    assert largest(made, FIGURES[4]) == SMALL
    assert largest(made, FIGURES[3]) == LARGE
    # Where no model has it, there is nothing to see.
    assert names(4, material(cells)) == set()


def test_filters_hold_together_and_none_shows_nothing_of_its_kind():
    made = material()

    def shown_names(**filters):
        return {made.dots[place].setup.name for place in visible_marks(made, View(**filters))}

    assert shown_names(models=(SMALL,), temperatures=("0.7",)) == {
        f"{SMALL} 0.7 golden",
        f"{SMALL} 0.7 2",
    }
    assert shown_names(models=(SMALL,), temperatures=("0.7",), aggregates=NONE) == {
        f"{SMALL} 0.7 golden"
    }
    assert shown_names(prompts=NONE, aggregates=("recipe-sensible-first",)) == {f"{LARGE} 0.0 1"}


def test_a_zoom_follows_mean_scores_and_stays_in_the_square():
    made = material()
    view = View(models=(LARGE,), prompts=("one-shot",), aggregates=NONE)

    # 0.9 on both axes: 0.88 to 0.92, so 0.85 to 0.95.
    assert zoomed(made, view)[-4:] == (0.85, 0.95, 0.85, 0.95)
    # Its mean score is 0.2 + 0.6 · 0.9 = 0.74: 0.72 to 0.76, so 0.7 to 0.8.
    by_score = zoomed(made, view._replace(by_score=True))
    assert by_score[-4:] == (0.7, 0.8, 0.7, 0.8)
    # A mark at (1, 1): 0.98 to 1.
    made.labels[:] = 1
    assert zoomed(made, view)[-4:] == (0.95, 1.0, 0.95, 1.0)


def test_marks_that_stand_nowhere_leave_the_whole():
    made = material()
    made.labels[:] = np.nan

    assert zoomed(made, View()) == View()


def test_nothing_of_its_kind_is_not_what_a_setup_does_not_say():
    # Two imported systems say neither prompt nor temperature: their keys are 'none'.
    made = material([("gpt", None, "", 7, 8), ("llama", None, "", 6, 7)], [])

    assert len(visible_marks(made, View(prompts=("none",), temperatures=("none",)))) == 2
    assert (
        visible_marks(made, View(prompts=NONE))
        == visible_marks(made, View(temperatures=NONE))
        == []
    )
    assert names(2, made) == set()


def test_a_form_without_boxes_and_one_that_narrows_too_far():
    made = material([("gpt", None, "", 7, 8), ("llama", None, "", 6, 7)], [])
    form = TradeoffForm(QueryDict("own=1&model=gpt&model=llama"), material=made)
    assert visible_marks(made, form.choice.view) == []

    # Figure 2 ends at 0.95: nothing of it is right of that.
    form = TradeoffForm(QueryDict("figure=2&x_from=.95"), material=material())
    assert form.errors == {"x_from": ["Expected at most 0.945."]}
    assert not form.choice.is_own
    form = TradeoffForm(QueryDict("y_from=.5&y_to=.504"), material=material())
    assert form.errors == {"y_to": ["Expected at least 0.505."]}
    form = TradeoffForm(QueryDict("y_from=.5&y_to=.505"), material=material())
    assert form.is_valid()


def test_a_weighted_sum_is_known_by_its_weights():
    def function(**settings):
        return function_key(dot_of(Setup(prompt=RERANKED, settings=settings)))

    assert function(function="weighted", weights=[0.7, 0.3]) == "weighted-0.7-0.3"
    assert function(function="weighted", weights=[1, 2], recipe={}) == "recipe-weighted-1-2"
    assert function(function=MAX_ATTRIBUTION) == MAX_ATTRIBUTION
    assert function() == "none"
