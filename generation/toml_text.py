"""TOML texts from users, typed or uploaded, which are read within limits."""

import re
import tomllib
from typing import Any

_LONG_KEY = re.compile(r"(?:\.[ \t]*[\w\"'-]+[ \t]*){32}")


class TomlTrouble(ValueError):
    """A text is not acceptable TOML. The error tells what was found and what was expected."""

    def __init__(self, found: str, expected: str) -> None:
        super().__init__(f"found {found}; expected {expected}")
        self.found = found
        self.expected = expected


def parse_toml(text: str, longest: int, what: str) -> dict[str, Any]:
    """Return the content of a TOML text.

    Args:
        longest: the number of characters that it may have.
        what: what the text should be, for the message: 'a grid file'.

    Raises:
        TomlTrouble: it is no TOML, is longer, or has keys of dozens of parts.
    """
    if len(text) > longest:
        raise TomlTrouble(f"{len(text):,} characters", f"at most {longest:,}")
    if _LONG_KEY.search(text):  # the memory for reading it grows with the square of its parts
        raise TomlTrouble("a key with dozens of parts", "shorter keys")
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise TomlTrouble(f"text that is not TOML ({error})", what) from error
    except ValueError as error:
        raise TomlTrouble("a number of thousands of digits", "a shorter number") from error
