"""Addresses of the page of a trade-off: the choice that it shows, or one thing changed in it.

Each address is a list of names and values, without those that are usual.
"""

from evaluation.tradeoffs.chart_view import View
from evaluation.tradeoffs.figure_choice import FILTERS, SWITCHES, ZOOM, FigureChoice
from evaluation.tradeoffs.material import TradeoffMaterial

Pairs = list[tuple[str, str]]


def figure_pairs(choice: FigureChoice, number: int | None = None) -> Pairs:
    """Return figure, models and measure; `number` stands for another figure, if it is given."""
    number = number or choice.figure.number
    return [*([("figure", str(number))] if number != 1 else []), *choice.said]


def own_pairs(material: TradeoffMaterial, choice: FigureChoice) -> Pairs:
    """Return filters, switches and zoom that differ from the figure's own."""
    view, usual = choice.view, choice.usual
    pairs = _filter_pairs(material, view, usual)
    for name in SWITCHES:
        if getattr(view, name) != getattr(usual, name):
            pairs.append((name, str(int(getattr(view, name)))))
    if view.k != usual.k:
        pairs.append(("k", str(view.k)))
    ends = [(name, getattr(view, name)) for name in ZOOM]
    if ends != [(name, getattr(usual, name)) for name in ZOOM]:
        pairs += [(name, "" if end is None else f"{end:g}") for name, end in ends]
    return pairs


def whole_pairs(material: TradeoffMaterial, choice: FigureChoice) -> Pairs:
    """Return the same as `own_pairs`, without a zoom."""
    whole = choice.view._replace(x_from=None, x_to=None, y_from=None, y_to=None)
    return own_pairs(material, choice._replace(view=whole))


def _filter_pairs(material: TradeoffMaterial, view: View, usual: View) -> Pairs:
    pairs: Pairs = []
    for each in FILTERS:
        if getattr(view, each.field) != getattr(usual, each.field):
            keys = [key for key in each.marks(material) if each.let_through(view, key)]
            pairs += [(each.name, key) for key in keys or [""]]
    return pairs
