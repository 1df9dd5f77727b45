"""Descriptions of failures that may be stored and shown."""

import re

_PATH = re.compile(r"(?<![\w/:.])(?:~?/[^\s/'\":,;()<>]+){2,}/?")


def storable(problem: str) -> str:
    """Return a problem without NUL, which PostgreSQL does not store, and without paths.

    Only the last part of each path of the server is left.
    """
    return _PATH.sub(lambda path: "…/" + path[0].rstrip("/").rpartition("/")[2], problem).replace(
        "\0", ""
    )
