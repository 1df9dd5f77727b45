"""The queue in a folder: messages appear whole, and a deleted folder is made again.

Kombu's own queue writes a message where readers look for it. A worker that reads at that moment
finds an empty file and dies. The same is true of Kombu's files that say which exchange leads to
which queue; here there are none, and each exchange leads to the queue of the same name.
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
        """Write nothing, because `get_table` needs no file."""

    def _delete(self, queue: str, *args: Any, **kwargs: Any) -> None:
        """Delete the messages that wait in a queue."""
        self._purge(queue)  # type: ignore[no-untyped-call]

    # The two definitions in Kombu disagree on the name of the second parameter.
    def _put(self, queue: str, payload: Any, **kwargs: Any) -> None:  # type: ignore[override]
        """Put a message into a queue: write it under another name, then rename the whole file."""
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
    """The transport for the address `filesystem://`."""

    Channel = Channel
