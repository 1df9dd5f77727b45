"""The queue in a folder, whose messages appear whole, and which is made again when it is gone.

Kombu's own writes a message where readers look for it: one that comes at that moment reads nothing,
and its worker dies of that. So it does with the files that say which exchange leads to which queue;
here each leads to the queue of its name.
"""

import os
import uuid
from time import monotonic
from typing import Any

from kombu.exceptions import ChannelError
from kombu.transport import filesystem
from kombu.utils.json import dumps


class Channel(filesystem.Channel):
    """A channel of files."""

    def get_table(self, exchange: str) -> list[filesystem.exchange_queue_t]:
        """Return the one queue of an exchange."""
        return [filesystem.exchange_queue_t(exchange, "", exchange)]

    def _queue_bind(self, exchange: str, routing_key: str, pattern: str, queue: str) -> None:
        """Write nothing: see `get_table`."""

    def _delete(self, queue: str, *args: Any, **kwargs: Any) -> None:
        """Delete what waits in a queue."""
        self._purge(queue)  # type: ignore[no-untyped-call]

    # Kombu's own two disagree on the name of the second.
    def _put(self, queue: str, payload: Any, **kwargs: Any) -> None:  # type: ignore[override]
        """Put a message into a queue: written under a name that nobody looks for, then renamed."""
        name = f"{round(monotonic() * 1000)}_{uuid.uuid4()}.{queue}.msg"
        unfinished = os.path.join(self.data_folder_out, f".{name}")
        try:
            os.makedirs(self.data_folder_out, exist_ok=True)
            with open(unfinished, "w", encoding="utf-8") as file:
                file.write(dumps(payload))
            os.replace(unfinished, os.path.join(self.data_folder_out, name))
        except OSError as error:
            raise ChannelError(f"Cannot add a message to the queue's folder: {error}") from error

    def _get(self, queue: str) -> Any:  # type: ignore[override]
        """Take the next message from a queue."""
        os.makedirs(self.data_folder_in, exist_ok=True)
        return super()._get(queue)  # type: ignore[no-untyped-call]


class Transport(filesystem.Transport):
    """What `filesystem://` stands for."""

    Channel = Channel
