"""The reports on a trade-off."""

from evaluation.reports.registry import register
from evaluation.tradeoffs.reports.comparable import COMPARABLE
from evaluation.tradeoffs.reports.recipe import RECIPE
from evaluation.tradeoffs.reports.reranking import RERANKING
from evaluation.tradeoffs.reports.restricted import RESTRICTED
from evaluation.tradeoffs.reports.takeaways import TAKEAWAYS
from evaluation.tradeoffs.reports.tradeoff import TRADEOFF

register(TRADEOFF, TAKEAWAYS, COMPARABLE, RESTRICTED, RERANKING, RECIPE)
