"""The texts of a scheme in one language, where its file has them in several.

A text is then an object from codes of languages to texts: `{"en": "Does it fit?", "de": "Passt
es?"}`. What votes and files hold never depends on the language: keys, numbers, and the labels of a
nominal scale in the usual language, which is English, or else the first one.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

USUAL = "en"
_CODE = re.compile(r"[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
_OF_QUESTION = ("wording", "help", "stage")
_OF_EXAMPLE = ("text", "reason")

# A function from a text, in one language or several, to what stands in its place.
_Text = Callable[[Any], Any]


def in_language(data: Mapping[str, Any], language: str = "") -> dict[str, Any]:
    """Return the data of a scheme with each text in one language.

    Args:
        data: the scheme as its file has it. What is no scheme comes back unchanged.
        language: the code of the language that is wanted, such as `de` or `pt-br`. A text that is
            not there in it is in the usual language.
    """

    return _with_each_text(data, lambda text: text_in(text, language))


def text_in(text: Any, language: str = "") -> Any:
    """Return a text of a scheme in one language, see `in_language`."""
    if not _is_in_languages(text):
        return text
    wanted = (language, language.partition("-")[0], USUAL)
    return next((text[code] for code in wanted if code in text), next(iter(text.values())))


def languages_of(data: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the codes of the languages that texts of a scheme are in; none if each is in one."""
    codes: dict[str, None] = {}

    def noted(text: Any) -> Any:
        codes.update(dict.fromkeys(text if _is_in_languages(text) else ()))
        return text

    _with_each_text(data, noted)
    return tuple(codes)


def _is_in_languages(text: object) -> bool:
    return (
        isinstance(text, Mapping)
        and bool(text)
        and all(isinstance(code, str) and _CODE.fullmatch(code) for code in text)
        and all(isinstance(said, str) for said in text.values())
    )


def _with_each_text(data: Mapping[str, Any], text: _Text) -> dict[str, Any]:
    found: dict[str, Any] = _with_texts(data, ("title",), text)
    if "questions" in found:
        found["questions"] = _each(found["questions"], lambda row: _question(row, text))
    return found


def _question(row: Any, text: _Text) -> Any:
    if not isinstance(row, Mapping):
        return row
    found = _with_texts(row, _OF_QUESTION, text)
    if "ends" in found:
        found["ends"] = _each(found["ends"], text)
    if "examples" in found:
        found["examples"] = _each(
            found["examples"], lambda row: _with_texts(row, _OF_EXAMPLE, text)
        )
    scale = found.get("scale")
    if isinstance(scale, Mapping) and "nominal" in scale:
        found["scale"] = {**scale, "nominal": _each(scale["nominal"], text)}
    return found


def _with_texts(row: Any, names: tuple[str, ...], text: _Text) -> Any:
    if not isinstance(row, Mapping):
        return row
    return {**row, **{name: text(row[name]) for name in names if name in row}}


def _each(rows: Any, made: _Text) -> Any:
    return [made(row) for row in rows] if isinstance(rows, list) else rows
