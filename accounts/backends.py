"""Checks of a password before it is looked up, or accepted as a new one."""

from typing import Any

from django.conf import settings
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest
from django.utils.translation import gettext

from accounts.access import Role
from accounts.models import User

# People who come by a link or with a code are signed in by this backend, without a password.
SIGNED_IN_BY = "django.contrib.auth.backends.ModelBackend"
# Everyone can read these passwords here, so only a site under development accepts them.
DEMO_PASSWORDS = {role: f"demo-{role}" for role in Role}


class DemoPasswordsRefused:
    """A backend that refuses the demo's passwords unless DJANGO_DEBUG is on, with any database."""

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **kwargs: Any,
    ) -> None:
        if password in DEMO_PASSWORDS.values() and not settings.IS_ON_OWN_MACHINE:
            raise PermissionDenied("a demo password, and DJANGO_DEBUG is off")


class NoDemoPassword:
    """A validator that refuses the demo's passwords as new ones: no server accepts them later."""

    def validate(self, password: str, user: User | None = None) -> None:
        if password in DEMO_PASSWORDS.values():
            raise ValidationError(
                gettext("This is a password of the demo, and it is public. Choose another.")
            )

    def get_help_text(self) -> str:
        return gettext("Your password can’t be one of the demo’s.")
