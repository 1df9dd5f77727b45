"""Tags for parts of pages. Every template has them without loading them."""

from django import template
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

register = template.Library()


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
