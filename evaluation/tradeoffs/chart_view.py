"""The views of a trade-off: filters, switches and zoom. Figures 1 to 7 of [A] are views.

Filters hold keys of marks: `model_key`, `temperature_key`, `prompt_key`, `function_key`.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

from evaluation.measures.tradeoff import attribution_from, sensibleness_from
from evaluation.tradeoffs.dots import TOP_RIGHT, Dot
from evaluation.tradeoffs.material import TradeoffMaterial
from generation.model_sizes import by_size
from generation.setup_menus import SetupKind, setup_kind

NONE = ("",)  # a filter that shows nothing of its kind, because no key is empty
NOT_SAID = "none"  # the key for something that a setup does not state
MARGIN, STEP = 0.02, 0.05  # margin around zoomed marks; a zoom ends at multiples of STEP
USUAL_K = 3  # passages that the lines of figure 5 retrieve
RECIPE = "recipe-"  # prefix of the function for aggregates that a recipe made


class View(NamedTuple):
    """The part of the material that a reader sees. An empty filter shows all, `NONE` nothing."""

    models: tuple[str, ...] = ()
    temperatures: tuple[str, ...] = ()  # '0', '0.7'
    prompts: tuple[str, ...] = ()  # prompts of single setups
    aggregates: tuple[str, ...] = ()  # functions, such as 'max-attribution'
    by_score: bool = False  # mean scores instead of shares labelled yes
    intervals: bool = False  # 95 % intervals, as whiskers
    labels: bool = False  # [temperature, model, prompt type]
    clusters: bool = False  # boxes around history × golden evidence
    lines: bool = False  # simulated retrieval with restricted context
    k: int = 1  # passages that the lines retrieve
    x_from: float | None = None  # ends of the zoom, shares in [0, 1]; None: the usual end
    x_to: float | None = None
    y_from: float | None = None
    y_to: float | None = None


def model_key(dot: Dot) -> str:
    """Return the model of a mark, or the name of its setup where the model is not known."""
    return dot.setup.model or dot.setup.name


def temperature_key(dot: Dot) -> str:
    """Return the temperature as addresses have it: '0', '0.7', 'none'."""
    temperature = dot.setup.temperature
    return NOT_SAID if temperature is None else f"{temperature:g}"


def prompt_key(dot: Dot) -> str:
    """Return the key of a single setup's prompt; 'none' where it is not known.

    All shares of restricted context have one key, such as 'restricted-golden'. All parts of a
    recipe have one key as well.
    """
    kind = dot.kind
    if kind is None:
        return dot.setup.prompt or NOT_SAID
    if kind.dialog_share is not None:
        return f"restricted-{kind.evidence}"
    return f"parts-of-{kind.of}" if kind.part else kind.key


def prompt_title(dot: Dot) -> str:
    """Return the title of a single setup's prompt in a legend."""
    kind = dot.kind
    if kind is None:
        return dot.setup.prompt or "Not known"
    if kind.dialog_share is not None:
        return f"Restricted, {kind.evidence}{'' if kind.evidence == 'golden' else ' non-evidence'}"
    return f"Parts of the first {kind.of}" if kind.part else kind.title


def function_key(dot: Dot) -> str:
    """Return what chose an aggregate: its function and weights, after 'recipe-' for a recipe."""
    weights = [f"{weight:g}" for weight in dot.settings.get("weights") or ()]
    function = "-".join([str(dot.settings.get("function") or NOT_SAID), *weights])
    return f"{RECIPE}{function}" if "recipe" in dot.settings else function


def is_shown(dot: Dot, view: View) -> bool:
    """Whether the filters of a view let a mark through; the zoom does not matter."""
    own, by_kind = (
        (function_key(dot), view.aggregates)
        if dot.is_aggregate
        else (prompt_key(dot), view.prompts)
    )
    filters = [
        (model_key(dot), view.models),
        (temperature_key(dot), view.temperatures),
        (own, by_kind),
    ]
    return all(not kept or key in kept for key, kept in filters)


def visible_marks(material: TradeoffMaterial, view: View) -> list[int]:
    """Return the places of the marks that the filters of a view let through."""
    return [place for place, dot in enumerate(material.dots) if is_shown(dot, view)]


def point_of(
    material: TradeoffMaterial, place: int, *, by_score: bool = False
) -> tuple[float, float]:
    """Return the place of a mark: attribution and sensibleness in [0, 1]; NaN where undefined."""
    sums = material.statistics(place, by_score=by_score).sum(axis=0)
    return float(attribution_from(sums)), float(sensibleness_from(sums))


def known_points(material: TradeoffMaterial, view: View) -> list[tuple[float, float]]:
    """Return the places of the marks that a view shows, as far as both their sides are known."""
    points = [
        point_of(material, place, by_score=view.by_score) for place in visible_marks(material, view)
    ]
    return [point for point in points if not any(map(math.isnan, point))]


def zoomed(material: TradeoffMaterial, view: View) -> View:
    """Return the view, zoomed to the marks that it shows; unchanged if no mark has a position."""
    known = known_points(material, view)
    if not known:
        return view
    (x_from, x_to), (y_from, y_to) = (_range_around(side) for side in zip(*known, strict=True))
    return view._replace(x_from=x_from, x_to=x_to, y_from=y_from, y_to=y_to)


def _range_around(values: Sequence[float]) -> tuple[float, float]:
    low = math.floor(round((min(values) - MARGIN) / STEP, 6)) * STEP
    high = math.ceil(round((max(values) + MARGIN) / STEP, 6)) * STEP
    return round(max(low, 0.0), 2), round(min(high, 1.0), 2)


# --- figures 1 to 7 -------------------------------------------------------------------------


class PaperFigure(NamedTuple):
    """One figure of [A] 7 as a view."""

    number: int
    title: str
    caption: str
    needs: Literal["setups", "golden", "restricted", "aggregates"]
    size: Literal["large", "small"] | None  # the only model that it shows; None: all models
    is_about: Callable[[Dot], bool]  # whether a mark belongs to what the figure is about
    view: Callable[[TradeoffMaterial, str, str], View]  # material, large model, small model → view


def largest(material: TradeoffMaterial, figure: PaperFigure) -> str:
    """Return the largest model that has what a figure is about; if none has, the largest of all.

    Without any marks it returns ''.
    """
    return _by_size_of(material, figure)[-1]


def smallest(material: TradeoffMaterial, figure: PaperFigure) -> str:
    """Return the smallest model that has what a figure is about; if none has, the smallest of all.

    Without any marks it returns ''.
    """
    return _by_size_of(material, figure)[0]


def view_of(
    material: TradeoffMaterial, figure: PaperFigure, models: tuple[str, str], *, by_score: bool
) -> View:
    """Return the view of a figure.

    Args:
        models: the large and the small model.
        by_score: whether it shows mean scores instead of shares labelled yes.
    """
    view = figure.view(material, *models)
    if not by_score:
        return view
    view = view._replace(by_score=True)
    return zoomed(material, view) if view.x_from is not None else view


def models_of(material: TradeoffMaterial) -> list[str]:
    """Return the models of all marks, from small to large."""
    return by_size((model_key(dot), dot.setup.n_parameters) for dot in material.dots)


def _by_size_of(material: TradeoffMaterial, figure: PaperFigure) -> list[str]:
    having = [dot for dot in material.dots if figure.is_about(dot)]
    sized = by_size((model_key(dot), dot.setup.n_parameters) for dot in having)
    return sized or models_of(material) or [""]


def _is_golden(dot: Dot) -> bool:
    """Whether a mark has history and golden evidence: the cluster at the top right."""
    return dot.cluster == TOP_RIGHT


def _is_of_full_grid(dot: Dot) -> bool:
    """Whether a mark is of the full grid: neither restricted context nor a part of a recipe."""
    return setup_kind(dot.setup) not in (SetupKind.RESTRICTED, SetupKind.PART)


def _is_reranked(dot: Dot) -> bool:
    return dot.is_aggregate and "recipe" not in dot.settings


def _full_grid(material: TradeoffMaterial, large: str, small: str) -> View:
    return View(prompts=_prompts(material, _is_of_full_grid), aggregates=NONE, clusters=True)


def _golden(material: TradeoffMaterial, large: str, small: str) -> View:
    view = View(prompts=_prompts(material, _is_golden), aggregates=NONE)
    return zoomed(material, view)


def _golden_of_large(material: TradeoffMaterial, large: str, small: str) -> View:
    view = View(
        models=(large,), prompts=_prompts(material, _is_golden), aggregates=NONE, labels=True
    )
    return zoomed(material, view)


def _restricted(material: TradeoffMaterial, large: str, small: str) -> View:
    prompts = _prompts(material, lambda dot: dot.is_restricted)
    return View(models=(large,), prompts=prompts, aggregates=NONE, lines=True)


def _restricted_top_k(material: TradeoffMaterial, large: str, small: str) -> View:
    return _restricted(material, large, small)._replace(k=USUAL_K)


def _reranked(material: TradeoffMaterial, model: str) -> View:
    """Return a view of a model's aggregates beside the setups that they were chosen among."""
    found = [dot for dot in material.dots if _is_reranked(dot) and model_key(dot) == model]
    temperatures = sorted({temperature_key(dot) for dot in found})[:1]
    pool = {name for dot in found for name in dot.pool}
    view = View(
        models=(model,),
        temperatures=tuple(temperatures),
        prompts=_prompts(material, lambda dot: dot.setup.name in pool),
        aggregates=_unique(function_key(dot) for dot in found) or NONE,
    )
    return zoomed(material, view)


def _prompts(material: TradeoffMaterial, wanted: Callable[[Dot], bool]) -> tuple[str, ...]:
    """Return the prompts of the wanted single setups: () for all of them, `NONE` for none."""
    single = [dot for dot in material.dots if not dot.is_aggregate]
    kept = _unique(prompt_key(dot) for dot in single if wanted(dot))
    return () if len(kept) == len(_unique(map(prompt_key, single))) else kept or NONE


def _unique(keys: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(keys)))


FIGURES: dict[int, PaperFigure] = {
    figure.number: figure
    for figure in (
        PaperFigure(
            1,
            "Four clusters",
            "These are all single setups. Those of the paper form four clusters: with or without "
            "history, with or without golden evidence.",
            "setups",
            None,
            lambda dot: True,
            _full_grid,
        ),
        PaperFigure(
            2,
            "Golden evidence",
            "These setups have the full history and golden evidence. In the paper, temperature and "
            "model size make bands.",
            "golden",
            None,
            _is_golden,
            _golden,
        ),
        PaperFigure(
            3,
            "Large model",
            "These setups are of one model, with history and golden evidence. Labels are "
            "[temperature, model, prompt type].",
            "golden",
            "large",
            _is_golden,
            _golden_of_large,
        ),
        PaperFigure(
            4,
            "Restricted, top-1",
            "These setups have less dialog and more evidence, step by step, golden or not. "
            "Dotted lines simulate the retrieval of one passage.",
            "restricted",
            "large",
            lambda dot: dot.is_restricted,
            _restricted,
        ),
        PaperFigure(
            5,
            "Restricted, top-k",
            "These are the setups of Restricted, top-1. Full lines simulate the retrieval of k "
            "passages: this finds the golden passage more often, but leaves less room for the "
            "dialog. The lines of one step are drawn in full, that with the best F1; those of "
            "another step stand out with its setups.",
            "restricted",
            "large",
            lambda dot: dot.is_restricted,
            _restricted_top_k,
        ),
        PaperFigure(
            6,
            "Re-ranked large",
            "For each example, one response is chosen among setups of the largest model. These "
            "setups are shown too.",
            "aggregates",
            "large",
            _is_reranked,
            lambda material, large, small: _reranked(material, large),
        ),
        PaperFigure(
            7,
            "Re-ranked small",
            "For each example, one response is chosen among setups of the smallest model. These "
            "setups are shown too.",
            "aggregates",
            "small",
            _is_reranked,
            lambda material, large, small: _reranked(material, small),
        ),
    )
}
