"""The handler of uploads, which writes them to a temporary file and limits their size."""

from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import RequestDataTooBig
from django.core.files.uploadhandler import TemporaryFileUploadHandler

from accounts.access import Role, may_import, roles_of

# The limit for a form's fields beside its file, for the file of a researcher who may not import,
# and for everything that other users send.
FORM_BYTES = 64 * 1024


class BoundedUploadHandler(TemporaryFileUploadHandler):
    """A handler that refuses an upload whose stated or actual size is too large.

    It runs before any view, when the CSRF check reads the form. So it checks itself whether the
    user may import data, or send a small file (a grid's). Other users cannot fill the disk.
    """

    def handle_raw_input(
        self,
        input_data: Any,
        META: dict[str, str],
        content_length: int,
        boundary: str,
        encoding: str | None = None,
    ) -> None:
        user = getattr(self.request, "user", AnonymousUser())
        self._most = FORM_BYTES if Role.RESEARCHER in roles_of(user) else 0
        if may_import(user):
            self._most = settings.MAX_UPLOAD_BYTES
        if content_length > self._most + FORM_BYTES:
            raise self._too_big()

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        if start + len(raw_data) > self._most:
            self.upload_interrupted()  # this deletes the partial file, which Django leaves open
            raise self._too_big()
        super().receive_data_chunk(raw_data, start)

    def _too_big(self) -> RequestDataTooBig:
        return RequestDataTooBig(f"An upload may have at most {self._most:,} bytes.")
