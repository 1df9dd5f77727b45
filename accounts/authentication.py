"""Who gets into the API, by what, and how often: tokens in `Authorization: Bearer attest_…`.

The framework reads these classes from the settings while it is imported itself, so that nothing
here may import its views.
"""

import logging
from typing import TYPE_CHECKING

from django.db import OperationalError
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

from accounts.access import Role, roles_of
from accounts.models import ApiToken, User
from accounts.services import note_token_use, valid_token

if TYPE_CHECKING:
    from rest_framework.views import APIView

logger = logging.getLogger(__name__)

SCHEME = "Bearer"


class BearerAuthentication(BaseAuthentication):
    """Says who is asking by the token in the header; without that header others are asked."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        scheme, _, text = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != SCHEME.lower():
            return None
        token = valid_token(text.strip())
        if token is None:
            raise AuthenticationFailed("This token is not known, or it was revoked.")
        try:
            note_token_use(token)
        except OperationalError:
            # SQLite while an import writes: no reason to refuse somebody who only reads.
            logger.warning("the use of API token %s was not noted: the database is busy", token.pk)
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return f'{SCHEME} realm="Attest"'


class IsResearcher(BasePermission):
    """Researchers and admins alone: raters must not see setups, votes or scores."""

    message = "The API is for researchers and admins."

    def has_permission(self, request: Request, view: "APIView") -> bool:
        return Role.RESEARCHER in roles_of(request.user)


class PerToken(SimpleRateThrottle):
    """So many requests a minute by each token, and by each person in a browser."""

    scope = "api"

    def get_cache_key(self, request: Request, view: "APIView") -> str:
        who = request.auth if isinstance(request.auth, ApiToken) else request.user
        return f"api-rate-{type(who).__name__}-{who.pk}"
