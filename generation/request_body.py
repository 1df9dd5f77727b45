"""Bodies of API requests, which are read as strictly as files.

The framework reads this class from the settings while the framework itself is imported. So this
module must not import the framework's views.
"""

from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

from generation.importers.json_text import JSONTrouble, parse_json

MAX_NESTING = 32


class StrictJSONParser(JSONParser):
    """A parser of JSON of bounded size and nesting. Other bodies are errors of the request."""

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        raw = stream.read(most + 1)
        if len(raw) > most:
            raise ParseError(
                f"The body of the request is too large. Expected at most {most:,} bytes."
            )
        try:
            return parse_json(raw.decode(), MAX_NESTING)
        except UnicodeDecodeError as error:
            raise ParseError(
                f"The body of the request is not UTF-8, at byte {error.start + 1:,}. Expected JSON "
                "in UTF-8."
            ) from error
        except JSONTrouble as trouble:
            raise ParseError(f"Found {trouble.found}; expected {trouble.expected}.") from trouble
