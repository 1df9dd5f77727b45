"""Collect the words of the pages that raters reach into locale/, and compile the translations.

`make messages` calls it. It needs GNU gettext (on Debian: apt install gettext). The compiled files
are part of the project, so that nothing else needs gettext.
"""

import sys
from collections.abc import Collection, Iterator
from pathlib import Path

import django
from django.conf import settings
from django.core.management import call_command
from django.urls import URLPattern, URLResolver, get_resolver

ROOT = Path(__file__).parent.parent
HELP_OF_RATERS = ROOT / "page_help_of_raters.py"  # made for xgettext, and deleted after it
NOT_TRANSLATED = {"home", "docs", "docs-page"}  # raters are led on, or read documents in English


def pages_of_raters(resolver: URLResolver | None = None, space: str = "") -> Iterator[str]:
    """Yield the names of the addresses that a rater may open, as page_help.toml spells them."""
    from accounts.access import Role

    for entry in (resolver or get_resolver()).url_patterns:
        if isinstance(entry, URLResolver):
            yield from pages_of_raters(entry, f"{entry.namespace}:" if entry.namespace else space)
        elif isinstance(entry, URLPattern):
            roles: Collection[str] = getattr(entry.callback, "allowed_roles", ())
            name = f"{space}{entry.name}"
            is_open = getattr(entry.callback, "is_public", False)
            if (is_open or Role.RATER in roles) and name not in NOT_TRANSLATED:
                yield name


def help_of_raters() -> list[str]:
    """Return the help on the pages that raters reach, text by text."""
    from config.page_help import all_page_help

    every = all_page_help()
    names = [name for name in pages_of_raters() if name in every]
    return [text for name in names for text in (every[name].about, every[name].next)]


def main() -> int:
    languages = [code for code, _ in settings.LANGUAGES if code != settings.LANGUAGE_CODE]
    lines = [f"gettext({text!r})\n" for text in help_of_raters()]
    try:
        HELP_OF_RATERS.write_text("from django.utils.translation import gettext\n" + "".join(lines))
        ignored = ["tests/*", "var/*", "benchmarks/*", ".venv/*"]
        call_command(
            "makemessages",
            locale=languages,
            no_obsolete=True,
            no_location=True,
            ignore_patterns=ignored,
        )
    finally:
        HELP_OF_RATERS.unlink(missing_ok=True)
    call_command("compilemessages", locale=languages, ignore_patterns=[".venv"])
    return 0


if __name__ == "__main__":
    django.setup()
    sys.exit(main())
