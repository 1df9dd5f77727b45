"""Answers in words, as pages show them to raters: yes and no are in the language of the page."""

from django.utils.translation import pgettext_lazy

from annotation.schemes import Scale

YES_AND_NO = {"yes": pgettext_lazy("answer", "yes"), "no": pgettext_lazy("answer", "no")}


def word_of(label: str, scale: Scale) -> str:
    """Return a label of a scale as raters read it; exports have the label itself."""
    return str(YES_AND_NO.get(label, label)) if scale.kind == "yes_no" else label


def answer_in_words(answer: int, scale: Scale) -> str:
    """Return the word for a stored answer as raters read it."""
    return word_of(scale.label(answer), scale)
