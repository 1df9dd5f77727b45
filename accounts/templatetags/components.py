"""Tags for parts of pages. Every template has them without loading them."""

from datetime import UTC, datetime
from functools import cache

from django import template
from django.http import HttpRequest
from django.template.context import RequestContext
from django.template.loader import render_to_string
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify
from django.utils.translation import gettext_lazy

from accounts.glossary import term_of

register = template.Library()
# How much of a moment is shown. app.js knows these names: it writes the same in the reader's zone.
MOMENTS = {
    "full": gettext_lazy("j M Y, H:i"),
    "exact": gettext_lazy("j M Y, H:i:s"),
    "day": gettext_lazy("j M, H:i"),
    "time": "H:i",
}


@register.filter
def moment(at: datetime | None, how: str = "full") -> SafeString | str:
    """Return a moment in UTC, which app.js changes to the reader's time zone; "" for None."""
    if at is None:
        return ""
    in_utc = at.astimezone(UTC)
    html = '<time datetime="{}" data-moment="{}">{} UTC</time>'
    return format_html(html, in_utc.isoformat(), how, date_format(in_utc, str(MOMENTS[how])))


@register.simple_tag
@cache
def icon(name: str) -> SafeString:
    """Return a sign as decoration: the words beside it say the same."""
    return mark_safe(render_to_string("_icon.html", {"name": name}).strip())


@register.simple_block_tag(end_name="endempty")
def empty(content: str, title: str, url: str = "", action: str = "") -> SafeString:
    """Return the note on an empty page or list: what is missing, and what to do."""
    given = {"title": title, "text": content, "url": url, "action": action}
    return render_to_string("_empty.html", given)


@register.simple_block_tag(end_name="endcallout")
def callout(
    content: str, level: str = "info", title: str = "", url: str = "", action: str = ""
) -> SafeString:
    """Return a message that stands out. `level` is Django's: info, success, warning or error."""
    given = {"text": content, "level": level, "title": title, "url": url, "action": action}
    return render_to_string("_callout.html", given)


@register.simple_block_tag(end_name="endfilters")
def filters(content: str, here: str, target: str, label: str) -> SafeString:
    """Return the bar in which a person chooses what a page shows; a change renews `target`.

    Args:
        content: labels with their fields.
        here: the address of the page, without the choices.
        target: a CSS selector, such as "#figures".
        label: the name of the bar, for people who cannot see it.
    """
    given = {"content": content, "here": here, "target": target, "label": label}
    return render_to_string("_filters.html", given)


@register.simple_tag(takes_context=True)
def term(context: RequestContext, name: str, words: str = "") -> SafeString | str:
    """Return a term of the glossary as a button that opens its meaning.

    Only the first place on a page is a button. The next places are plain words, so that the page
    has no id twice.

    Args:
        context: the template's. A part that htmx asked for has ids of its own.
        name: the term, as docs/glossary.md spells it.
        words: what stands on the page, such as a plural; the term's name if it is "".

    Raises:
        UnknownTermError: the glossary does not have the term.
    """
    explained = term_of(name)
    words = words or explained.name
    request: HttpRequest = context["request"]
    seen: set[str] = vars(request).setdefault("explained_terms", set())
    if name in seen:
        return words
    seen.add(name)
    part = slugify(request.headers.get("HX-Target", ""))
    given = {"term": explained, "words": words, "id": f"term-{explained.anchor}-{part}".strip("-")}
    return mark_safe(render_to_string("_term.html", given).strip())
