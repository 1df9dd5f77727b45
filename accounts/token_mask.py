"""Keeps the tokens of sign-in links out of logs: who reads those must not sign in as others."""

import logging
import re
from typing import Any

# In a path, and in an address that carries it as a parameter.
_LINK = re.compile(r"(sign-in-link(?:/|%2F))[\w-]+", re.IGNORECASE | re.ASCII)
_FORMATTER = logging.Formatter()


def without_tokens(text: str) -> str:
    """Return a text with … in the place of each link's token."""
    return _LINK.sub(r"\1…", text)


def mask_tokens_in_logs() -> None:
    """Make every record of every logger of this process without tokens, whoever writes it.

    Not a filter of a handler: Django, gunicorn and the development server have their own.
    """
    make_record = logging.getLogRecordFactory()

    def make_masked(*args: Any, **kwargs: Any) -> logging.LogRecord:
        record = make_record(*args, **kwargs)
        try:
            message = record.getMessage()
        except Exception:  # it does not fit its arguments, which logging says in its own way
            return record
        if _LINK.search(message):
            record.msg, record.args = without_tokens(message), ()
        if record.exc_info and _LINK.search(trace := _FORMATTER.formatException(record.exc_info)):
            record.exc_text = without_tokens(trace)  # which handlers write instead
        return record

    logging.setLogRecordFactory(make_masked)
