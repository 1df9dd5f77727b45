"""What is asked before a password is looked up."""

from typing import Any

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest

from accounts.access import Role

# Everybody can read these here, so they open nothing but a site under development.
DEMO_PASSWORDS = {role: f"demo-{role}" for role in Role}


class DemoPasswordsRefused:
    """Refuses the demo's passwords unless DJANGO_DEBUG is on, whatever database is behind."""

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **kwargs: Any,
    ) -> None:
        if password in DEMO_PASSWORDS.values() and not settings.DEBUG:
            raise PermissionDenied("a demo password, and DJANGO_DEBUG is off")
