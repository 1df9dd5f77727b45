"""Uploads go to a temporary file, up to a bound."""

from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.core.files.uploadhandler import TemporaryFileUploadHandler

FORM_BYTES = 64 * 1024  # what a form may hold beside its file


class BoundedUploadHandler(TemporaryFileUploadHandler):
    """Refuses an upload that says it is too large, and one that turns out to be."""

    def handle_raw_input(
        self,
        input_data: Any,
        META: dict[str, str],
        content_length: int,
        boundary: str,
        encoding: str | None = None,
    ) -> None:
        if content_length > settings.MAX_UPLOAD_BYTES + FORM_BYTES:
            raise _too_big()

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        if start + len(raw_data) > settings.MAX_UPLOAD_BYTES:
            self.upload_interrupted()  # Django closes whole files only: this deletes the half one
            raise _too_big()
        super().receive_data_chunk(raw_data, start)


def _too_big() -> RequestDataTooBig:
    return RequestDataTooBig(f"An upload may have {settings.MAX_UPLOAD_BYTES:,} bytes.")
