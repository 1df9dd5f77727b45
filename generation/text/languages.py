"""The rules that texts of a language need, from `languages.toml`, by what a dataset calls it.

A dataset says its language in words or codes: 'German', 'Deutsch', 'de', 'pt-BR', 'English,
German'. Texts in a script of which no language is said follow the first language of the file that
is written in it; so where nothing is said, Latin script is read as English.
"""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

import regex

from generation.text.scripts import HAN, KANA, language_of_script, script_of

_FILE = Path(__file__).with_name("languages.toml")
_SEPARATOR = regex.compile(r"\s*[,;/+&|]\s*|\s+and\s+")
# A tag of BCP 47, such as 'de', 'pt-BR' and 'zh-Hant'.
_TAG = regex.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*")
_EVERY = "every"  # the entry of what all languages of Latin script have in common
# No language is said. Its rules are those of English and of every other script.
NOT_SAID = ""


class Language(NamedTuple):
    """An entry of the file: what texts of one language need. `languages.toml` says what for."""

    code: str
    names: tuple[str, ...]
    script: str
    small_goes_on: bool = False
    abbreviations: str = ""
    before_a_number: str = ""
    may_end: str = ""
    starters: str = ""
    before_an_ordinal: str = ""
    after_an_ordinal: str = ""
    after_a_quote: str = ""
    function_words: str = ""

    @property
    def name(self) -> str:
        """The English name."""
        return self.names[0]


class Rules(NamedTuple):
    """The rules of one or several languages together. Words are in Unicode NFC."""

    small_goes_on: regex.Pattern[str]  # a small letter of a script in which none begins a sentence
    abbreviations: frozenset[str]
    before_a_number: frozenset[str]
    may_end: frozenset[str]
    starters: frozenset[str]
    before_an_ordinal: frozenset[str]
    after_an_ordinal: frozenset[str]
    after_a_quote: regex.Pattern[str]


@cache
def languages() -> Mapping[str, Language]:
    """Return the languages of the file in its order, by code."""
    return {
        code: Language(code, tuple(entry.pop("names")), **entry)
        for code, entry in tomllib.loads(_FILE.read_text("utf-8")).items()
        if code != _EVERY
    }


@lru_cache(maxsize=256)
def said_languages(said: str) -> tuple[Language, ...]:
    """Return the languages of the file that a dataset names, in the file's order.

    Args:
        said: names or codes in any case, with commas between them; unknown ones are ignored.
    """
    named = {part.casefold() for part in _SEPARATOR.split(said.strip())}
    codes = {part.replace("_", "-").partition("-")[0] for part in named}
    return tuple(
        each
        for each in languages().values()
        if each.code in codes or not named.isdisjoint(map(str.casefold, each.names))
    )


def language_codes(said: str) -> str:
    """Return the codes of the languages that change a rule: 'de', 'de+fr'; "" if none does.

    English alone changes none, because texts of Latin script are read as English anyway.
    """
    codes = [each.code for each in said_languages(said)]
    usual = {each.code for each in _usual(())}
    return "+".join(codes) if not usual.issuperset(codes) else NOT_SAID


def rules_in_words(said: str) -> str:
    """Return the names of the languages whose rules Latin and Cyrillic texts follow."""
    return ", ".join(each.name for each in said_languages(said)) or "not said"


def language_of(text: str, said: str = NOT_SAID) -> str:
    """Return the BCP 47 tag of the language of a text, for `lang`; "" if it is not known.

    It is the one language said that is written in the script of the text. If none is or several
    are, the script alone may tell it.

    Args:
        said: the languages of the text's dataset, as the dataset says them.
    """
    script = script_of(text)
    may_be = {
        tag for tag, scripts in _said_tags(said) if not script or not scripts or script in scripts
    }
    return may_be.pop() if len(may_be) == 1 and "" not in may_be else language_of_script(text)


@lru_cache(maxsize=256)
def _said_tags(said: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """Return the tag of each language said and its scripts; "" or none if it is not known."""
    return tuple(_tag_and_scripts(part) for part in _SEPARATOR.split(said.strip()) if part)


def _tag_and_scripts(said: str) -> tuple[str, frozenset[str]]:
    known = said_languages(said)
    tag = said.replace("_", "-") if _TAG.fullmatch(said) else known[0].code if known else ""
    scripts = {each.script for each in known}
    return tag, frozenset(scripts | {HAN} if KANA in scripts else scripts)


@lru_cache(maxsize=256)
def rules_of(said: str) -> Rules:
    """Return the rules for the texts of a dataset that says its language so."""
    followed = _followed(said)

    def words(key: str, *more: str) -> frozenset[str]:
        return frozenset(" ".join([*(getattr(each, key) for each in followed), *more]).split())

    quotes = [each.after_a_quote for each in followed if each.after_a_quote]
    return Rules(
        small_goes_on=_small_letters(followed),
        abbreviations=words("abbreviations", _of_every_language()),
        before_a_number=words("before_a_number"),
        may_end=words("may_end"),
        starters=words("starters"),
        before_an_ordinal=words("before_an_ordinal"),
        after_an_ordinal=words("after_an_ordinal"),
        after_a_quote=regex.compile("|".join(quotes)),
    )


@lru_cache(maxsize=256)
def function_words(said: str = NOT_SAID) -> frozenset[str]:
    """Return words that connect a sentence and carry no content, as `tokens` spells them."""
    return frozenset(" ".join(each.function_words for each in _followed(said)).split())


def follows_english(said: str = NOT_SAID) -> bool:
    """Return whether texts of Latin script are read as English."""
    return any(each.code == "en" for each in _followed(said))


def without_function_words(said: str) -> tuple[str, ...]:
    """Return the names of the languages said that have no list of function words."""
    return tuple(each.name for each in said_languages(said) if not each.function_words)


def _small_letters(followed: Sequence[Language]) -> regex.Pattern[str]:
    may_begin = {each.script for each in followed if not each.small_goes_on}
    scripts = sorted({each.script for each in followed} - may_begin)
    return regex.compile("|".join(rf"(?=\p{{Ll}})\p{{{each}}}" for each in scripts) or r"(?!)")


def _followed(said: str) -> tuple[Language, ...]:
    named = said_languages(said)
    return (*named, *_usual(named))


def _usual(named: Sequence[Language]) -> list[Language]:
    """Return the first language of each script of which none is named."""
    firsts: dict[str, Language] = {}
    for each in languages().values():
        firsts.setdefault(each.script, each)
    return [each for script, each in firsts.items() if script not in {n.script for n in named}]


@cache
def _of_every_language() -> str:
    entry: Mapping[str, str] = tomllib.loads(_FILE.read_text("utf-8"))[_EVERY]
    return entry["abbreviations"]
