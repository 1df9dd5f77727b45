"""The translations in locale/ are complete, and their compiled files are those of the .po files."""

import gettext
import re
from pathlib import Path

import pytest
from django.conf import settings

from tests.messages import help_of_raters
from tests.po_file import Message, messages_of

LANGUAGES = [code for code, _ in settings.LANGUAGES if code != settings.LANGUAGE_CODE]
PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|\{\w+\}|<[^>]+>")
in_each_language = pytest.mark.parametrize("language", LANGUAGES)


def file_of(language: str, ending: str) -> Path:
    return settings.BASE_DIR / "locale" / language / "LC_MESSAGES" / f"django.{ending}"


def problem_of(message: Message) -> str:
    """Return what is wrong with the translation of a message; "" if nothing is."""
    if message.is_fuzzy or not all(message.translated):
        return "not translated"
    wanted = {*PLACEHOLDER.findall(message.english + message.plural)}
    for said in message.translated:
        if {*PLACEHOLDER.findall(said)} != wanted:
            return f"expected {sorted(wanted)}"
    is_open = message.english[:1] == " " or message.english[-1:] == " "
    return (
        ""
        if is_open or message.translated == tuple(map(str.strip, message.translated))
        else "spaces"
    )


@in_each_language
def test_every_message_is_translated_with_its_placeholders(language):
    messages = messages_of(file_of(language, "po"))[1:]

    assert {m.english: problem_of(m) for m in messages if problem_of(m)} == {}


@in_each_language
def test_the_compiled_file_has_the_words_of_the_text_file(language):
    """If this fails, run `make messages`."""
    with file_of(language, "mo").open("rb") as file:
        compiled = vars(gettext.GNUTranslations(file))["_catalog"]

    written: dict[object, str] = {}
    for message in messages_of(file_of(language, "po"))[1:]:
        key = f"{message.context}\x04{message.english}" if message.context else message.english
        places = enumerate(message.translated)
        written |= (
            {(key, n): said for n, said in places}
            if message.plural
            else {key: message.translated[0]}
        )
    compiled.pop("", None)
    assert compiled == written


@in_each_language
def test_the_help_on_pages_of_raters_is_translated(language):
    english = {message.english for message in messages_of(file_of(language, "po"))}

    assert set(help_of_raters()) - english == set()
