"""The reports on a trade-off, and on the completions behind it."""

from dataclasses import replace

from evaluation.reports.registry import register
from evaluation.tradeoffs.figures.recipe import recipe_chart
from evaluation.tradeoffs.figures.tradeoff.drawing import chosen_svg
from evaluation.tradeoffs.reports.comparable_setups import COMPARABLE
from evaluation.tradeoffs.reports.completions import COMPLETIONS
from evaluation.tradeoffs.reports.drift import DRIFT
from evaluation.tradeoffs.reports.recipe import RECIPE
from evaluation.tradeoffs.reports.reranking import RERANKING
from evaluation.tradeoffs.reports.restricted_context import RESTRICTED
from evaluation.tradeoffs.reports.takeaways import TAKEAWAYS
from evaluation.tradeoffs.reports.tradeoff import TRADEOFF

register(replace(TRADEOFF, drawing=chosen_svg))
register(TAKEAWAYS, COMPARABLE, RESTRICTED, RERANKING, COMPLETIONS, DRIFT)
register(replace(RECIPE, figure=recipe_chart))
