"""Template filters of knowledge graphs: values by key, positions in pictures, verdicts."""

from collections.abc import Iterable, Mapping
from typing import Any

from django import template
from django.contrib.humanize.templatetags.humanize import intcomma

from evaluation.graphs.experiments.services import experiments_of
from evaluation.graphs.pages.cited_answer import CitedFact
from evaluation.measures.citation import CitationVerdict
from evaluation.reports.exclusions import in_number
from evaluation.reports.report import LeftOut
from evaluation.reports.setups import SetupColumns
from generation.models import Dataset, KGQuestion
from generation.setup_menus import short_name

register = template.Library()

# Verdicts have signs of different shapes, because not every reader can tell the colours.
_SIGNS = {
    CitationVerdict.IN_MINIMUM: "✓✓",
    CitationVerdict.CORRECT: "✓",
    CitationVerdict.WRONG: "✗",
    CitationVerdict.INCOMPLETE: "?",
}
_TAGS = {
    CitationVerdict.IN_MINIMUM: "tag--ok",
    CitationVerdict.CORRECT: "tag--on",
    CitationVerdict.WRONG: "tag--bad",
    CitationVerdict.INCOMPLETE: "tag--warn",
}
# The words for what reports count, where the key alone is not clear enough.
_COUNTED = {
    "answers_with_unknown_minimum": "answers with an unknown minimum set",
    "answers_with_empty_minimum": "answers with an empty minimum set",
    "answers_to_examples_that_not_all_rows_have": "answers to examples that not all rows have",
    "setups_of_ablations": "setups that removed knowledge or replaced sub-graphs",
    "runs_not_at_their_end": "runs that have not ended",
    "runs_with_few_answers": "runs with less than half as many answers as the largest run",
    "setups_without_an_ablation": "setups of gold graphs without another row to compare with",
    "qualities_without_a_run": "qualities without a metric run",
    "made_up_minimum_sets": "made-up minimum sets",
    "questions_without_imported_list": "questions without an imported list",
    "excluded_votes": "votes of excluded raters",
    "assumed": "responses that were shown nothing, or say nothing",
    "candidates_unchecked": "candidates whose type was not checked",
    "namesakes_decided": "mentions whose namesakes were decided by re-ranking",
    "namesakes_not_looked_at": "namesakes that were not looked at",
}
# The keys of what is only noted: it is counted, but it stays in the figures.
_OF_NOTE = {
    "made_up_minimum_sets",
    "answers_without_citations",
    "mentions",
    "mentions_without_entity",
    "candidates_dropped_by_type",
    "candidates_unchecked",
    "namesakes_decided",
    "namesakes_not_looked_at",
}


@register.filter
def told_apart(left_out: LeftOut) -> list[tuple[str, list[str]]]:
    """Return in words what a report leaves out, and what it counts but keeps.

    A group without entries is omitted. One of 'answers_without_citations' becomes '1 answer
    without citations'.
    """
    said: dict[str, list[str]] = {"Left out": [], "Also counted": []}
    for key, n in left_out.items():
        if n:
            words = in_number(_COUNTED.get(key, key.replace("_", " ")), n)
            said["Also counted" if key in _OF_NOTE else "Left out"].append(f"{intcomma(n)} {words}")
    return [(title, parts) for title, parts in said.items() if parts]


register.filter(experiments_of)
register.filter(short_name)


@register.filter
def n_made_up(dataset: Dataset) -> int:
    """Return how many questions of a dataset have a minimum set that was drawn at random."""
    return KGQuestion.objects.filter(example__dataset=dataset, is_minimum_made_up=True).count()


@register.filter
def said_beside(setup: SetupColumns, name: str) -> str:
    """Return the model and the prompt of a setup, except where its short name contains them."""
    is_named = {setup.model: setup.model, setup.prompt_title: setup.prompt}
    return " · ".join(words for words, of_name in is_named.items() if words and of_name not in name)


@register.filter
def of_key(mapping: Mapping[Any, Any], key: object) -> Any:
    """Return the value of a key, or None if the mapping lacks the key."""
    return mapping.get(key)


@register.filter
def px(place: float) -> str:
    """Return a position in a picture, with a decimal point in every language: '12.5' or '12'."""
    return f"{place:.1f}".removesuffix(".0")


@register.filter
def verdict_sign(verdict: str) -> str:
    """Return the sign of a verdict on a citation."""
    return _SIGNS[CitationVerdict(verdict)]


@register.filter
def verdict_tag(verdict: str) -> str:
    """Return the CSS class of a verdict's tag."""
    return _TAGS[CitationVerdict(verdict)]


@register.filter
def worst_verdict(facts: Iterable[CitedFact]) -> str:
    """Return the worst verdict on the citations of one bracket, or 'unjudged' without any."""
    said = [fact.verdict for fact in facts if fact.verdict is not None]
    ranks = list(CitationVerdict)
    return str(max(said, key=ranks.index)) if said else "unjudged"
