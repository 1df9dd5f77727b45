"""The reasons for which raters skip a unit or flag a response."""

from django.utils.translation import gettext, gettext_noop

# Reasons are stored in English, which researchers read; pages show them in the rater's language.
SKIP_REASONS = (
    gettext_noop("I cannot judge this topic"),
    gettext_noop("The text is in a language I do not read well"),
    gettext_noop("The content is distressing"),
    gettext_noop("Another reason"),
)
FLAG_REASONS = (
    gettext_noop("Text is cut off or garbled"),
    gettext_noop("Evidence is missing or empty"),
    gettext_noop("The dialog makes no sense on its own"),
    gettext_noop("Something else"),
)
BEFORE_NOTE = ": "  # between a reason and the rater's own words


def reason_in_words(stored: str) -> str:
    """Return a stored reason in the language of the page; the rater's own words stay theirs."""
    reason, mark, note = stored.partition(BEFORE_NOTE)
    return gettext(reason) + mark + note if reason in FLAG_REASONS else stored
