"""What setups are called where they stand among others of their model and temperature."""

from evaluation.tradeoffs.dots import Dot
from generation.services.record_keys import digest

EARLIER_RULE = "earlier rule: evidence for the share asked"
FUNCTION_TITLES = {
    "max-attribution": "Max attribution",
    "sensible-first": "Sensible first",
    "weighted": "Weighted sum",
}


def setup_title(dot: Dot) -> str:
    """Return what a setup is among those of its model and temperature.

    A prompt by its type, without one as it is imported; restricted context of an earlier rule says
    so. An aggregate by its function, with its
    weights, and by its pool: how many setups, and the key that tells it from other pools.
    """
    if not dot.is_aggregate:
        title = dot.kind.title if dot.kind else dot.setup.prompt or dot.setup.name
        return f"{title} ({EARLIER_RULE})" if dot.is_of_earlier_rule else title
    function = str(dot.settings.get("function", ""))
    title = FUNCTION_TITLES.get(function, function or "Re-ranked")
    if weights := dot.settings.get("weights"):
        title = f"{weights[0]:g} · sensibleness + {weights[1]:g} · attribution"
    if "recipe" in dot.settings:
        title = f"Recipe, {within(title)}"
    return f"{title} of {len(dot.pool)} #{pool_key(dot)}"


def pool_key(dot: Dot) -> str:
    """Return what addresses call the pool of an aggregate by, as `Pool.key`."""
    return digest(sorted(dot.pool))[:8]


def within(title: str) -> str:
    """Return a title as it stands within a line: 'Max attribution' → 'max attribution'."""
    return f"{title[:1].lower()}{title[1:]}"
