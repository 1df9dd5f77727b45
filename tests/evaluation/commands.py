"""A helper that tests of commands share."""

from typing import Any

import pytest
from django.core.management import CommandError, call_command


def failure(*arguments: object, **options: Any) -> str:
    """Return the one-line error with which a command refuses to do what was asked."""
    with pytest.raises(CommandError) as error:
        call_command(*map(str, arguments), **options)
    return str(error.value)
