"""Work that was lost with its worker or its message. Each kind says how it is sent again."""

import logging
from collections.abc import Callable

logger = logging.getLogger(__name__)

Resend = Callable[[], None]
_registered: list[Resend] = []


def resends(resend: Resend) -> Resend:
    """Register a function that sends the lost work of one kind again.

    It may run twice at the same time, so it must do no harm to send a piece of work twice.
    """
    _registered.append(resend)
    return resend


def resend_all() -> None:
    """Send lost work of all kinds again. A kind that fails is logged, and the others go on."""
    for resend in _registered:
        try:
            resend()
        except Exception:  # each kind has errors of its own
            logger.exception("%s failed", resend.__name__)
