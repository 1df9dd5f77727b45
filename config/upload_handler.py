"""Uploads go to a temporary file, up to a bound."""

from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import RequestDataTooBig
from django.core.files.uploadhandler import TemporaryFileUploadHandler

from accounts.access import Role, may_import, roles_of

FORM_BYTES = 64 * 1024  # what a form may hold beside its file, a small file, what others send


class BoundedUploadHandler(TemporaryFileUploadHandler):
    """Refuses an upload that says it is too large, and one that turns out to be.

    It is asked before any view is, when the CSRF check reads the form: so it looks itself whether
    somebody may import, or send a small file (a grid's), and lets nobody else fill the disk.
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
            self.upload_interrupted()  # Django closes whole files only: this deletes the half one
            raise self._too_big()
        super().receive_data_chunk(raw_data, start)

    def _too_big(self) -> RequestDataTooBig:
        return RequestDataTooBig(f"An upload may have {self._most:,} bytes.")
