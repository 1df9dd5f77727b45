"""The mask for logs: tokens of sign-in links, and ids that a platform sends to a study's link.

Readers of logs must not sign in as others, nor learn who a rater is. The sender of a request
must not write lines of a log: control characters are shown as Python's escapes, and the lines of a
traceback are indented, since the text of an exception may have several.
"""

import logging
import re
from typing import Any

# It matches a link in a path, and in an address that has the link as a parameter.
_LINK = re.compile(
    r"(sign-in-link(?:/|%2F))[\w-]+|(join(?:/|%2F)[\w-]+(?:/|%2F)(?:\?|%3F))[^\s\"']+",
    re.IGNORECASE | re.ASCII,
)
# What begins a new line or moves the cursor of a terminal; a tab does neither.
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")
_FORMATTER = logging.Formatter()


def without_tokens(text: str) -> str:
    """Return a text with … in the place of each link's token, and of a platform's ids."""
    return _LINK.sub(lambda found: f"{found[1] or found[2]}…", text)


def _lines_of_a_trace(exc_info: Any) -> str:
    lines = _FORMATTER.formatException(exc_info).split("\n")
    return "\n  ".join(map(_in_one_line, map(without_tokens, lines)))


def _in_one_line(text: str) -> str:
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def mask_tokens_in_logs() -> None:
    """Remove tokens and control characters from every record of every logger of this process.

    A filter of one handler would miss records: Django, gunicorn and the development server have
    handlers of their own.
    """
    make_record = logging.getLogRecordFactory()

    def make_masked(*args: Any, **kwargs: Any) -> logging.LogRecord:
        record = make_record(*args, **kwargs)
        try:
            message = record.getMessage()
        except Exception:  # the message does not fit its arguments; logging reports that itself
            return record
        if (masked := _in_one_line(without_tokens(message))) != message:
            record.msg, record.args = masked, ()
        if record.exc_info:  # handlers write the text, where it is set
            record.exc_text = _lines_of_a_trace(record.exc_info)
        return record

    logging.setLogRecordFactory(make_masked)
