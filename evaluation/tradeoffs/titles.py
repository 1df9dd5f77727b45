"""The titles of setups among others of their model and temperature."""

from evaluation.tradeoffs.dots import Dot
from generation.services.record_keys import digest

EARLIER_RULE = "earlier rule: evidence for the share asked"
FUNCTION_TITLES = {
    "max-attribution": "Max attribution",
    "sensible-first": "Sensible first",
    "weighted": "Weighted sum",
}


def setup_title(dot: Dot) -> str:
    """Return the title of a setup among those of its model and temperature.

    A single setup has the title of its prompt type; without a type it has its prompt as imported.
    The title of restricted context of an earlier rule says so. The title of an aggregate has its
    function with its weights, the number of setups in its pool, and the key that distinguishes the
    pool.
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
    """Return the key of an aggregate's pool in addresses, which equals `Pool.key`."""
    return digest(sorted(dot.pool))[:8]


def within(title: str) -> str:
    """Return a title in its form within a line: 'Max attribution' → 'max attribution'."""
    return f"{title[:1].lower()}{title[1:]}"
