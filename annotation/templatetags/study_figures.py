"""Filters that write the figures of a study on pages."""

from collections.abc import Mapping

from django import template
from django.utils.formats import number_format
from django.utils.translation import gettext

from annotation.answer_words import word_of
from annotation.models import arm_name
from annotation.planning import GroupNeed
from annotation.schemes import Question
from annotation.study_progress import GoldOfRater

register = template.Library()
register.filter(arm_name)


@register.filter
def hours(figure: float) -> str:
    """Return hours as people say them: 0.2 → '12 min', 2.44 → '2.4 h'."""
    if figure * 60 < 1:
        return gettext("under 1 min") if figure else gettext("0 min")
    if figure < 1:
        return gettext("{n} min").format(n=f"{figure * 60:.0f}")
    n = number_format(figure, 1 if figure < 100 else 0, use_l10n=True, force_grouping=True)
    return gettext("{n} h").format(n=n)


@register.filter
def answer_word(label: str, question: Question) -> str:
    """Return an answer of a question's scale as raters read it."""
    return word_of(label, question.scale)


@register.filter
def group_need_text(need: GroupNeed, name: str) -> str:
    """Return how many raters a group has and needs: 'Group 1: 4 of 5 raters. 1 more is needed.'."""
    n_more = need.n_missing
    of = f" of {need.n_needed}" if n_more else ""
    more = f" {n_more} more {'is' if n_more == 1 else 'are'} needed." if n_more else ""
    is_one = need.n_there == 1 and not of
    text = f"{need.n_there}{of} rater{'' if is_one else 's'}.{more}"
    if name:
        text = f"{name}: {text}"
    return text[:1].upper() + text[1:]


@register.filter
def gold_text(met: GoldOfRater) -> str:
    """Return the gold items of a rater: 'The first 3 units are to qualify; 5 more are mixed in, …'.

    The name of the group comes first, if groups differ.
    """
    first = f"The first {met.n_first} units are to qualify"
    if met.n_first == 1:
        first = "The first unit is to qualify"
    mixed = f"{met.n_mixed_in or 'no'}{' more' if met.n_first else ''}"
    mixed += f" {'is' if met.n_mixed_in == 1 else 'are'} mixed in"
    if met.n_mixed_in:
        mixed += f", about one in {met.one_in} units" if met.one_in > 1 else ", most of the units"
    text = f"{first}; {mixed}." if met.n_first else f"{mixed}."
    text = f"{met.group}: {text[:1].lower()}{text[1:]}" if met.group else text
    return text[:1].upper() + text[1:]


@register.filter
def total(counts: Mapping[str, int]) -> int:
    """Return the sum of counts by name."""
    return sum(counts.values())


@register.filter
def as_words(key: str) -> str:
    """Return a question's key as words: 'evidence_relevant' → 'Evidence relevant'."""
    return key.replace("_", " ").capitalize()
