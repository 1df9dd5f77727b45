"""Access to the API: tokens (`Authorization: Bearer attest_…`), permissions and the rate limit.

The framework reads these classes from the settings while it is being imported. So this module must
not import the framework's views.
"""

import logging
from typing import TYPE_CHECKING

from django.db import OperationalError
from django.utils.formats import date_format
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

from accounts.access import Role, roles_of
from accounts.models import ApiToken, User
from accounts.services import known_token, note_token_use

if TYPE_CHECKING:
    from rest_framework.views import APIView

logger = logging.getLogger(__name__)

SCHEME = "Bearer"


class BearerAuthentication(BaseAuthentication):
    """Authentication by the token in the header. Without that header, other classes are asked."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        scheme, _, text = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != SCHEME.lower():
            return None
        token = known_token(text.strip())
        if token is None:
            raise AuthenticationFailed(
                "There is no such token, or it was revoked. Make one under your name → API tokens."
            )
        if token.ends_on and token.has_ended:
            raise AuthenticationFailed(
                f"This token ended on {date_format(token.ends_on, 'j F Y')}. Make a new one "
                "under your name → API tokens."
            )
        try:
            note_token_use(token)
        except OperationalError:
            # SQLite is locked while an import writes. That is no reason to refuse a reader.
            logger.warning("the use of API token %s was not noted: the database is busy", token.pk)
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return f'{SCHEME} realm="Attest"'


class IsResearcher(BasePermission):
    """The permission of researchers and admins. Raters must not see setups, votes or scores."""

    message = "The API is for researchers and admins."

    def has_permission(self, request: Request, view: "APIView") -> bool:
        return Role.RESEARCHER in roles_of(request.user)


class ReadOnlyTokensRead(BasePermission):
    """The limit of a read-only token: it changes nothing, whatever its owner may change."""

    message = (
        "This token may only read. To change things, make a token that may write. You make tokens "
        "under your name → API tokens."
    )

    def has_permission(self, request: Request, view: "APIView") -> bool:
        only_reads = isinstance(request.auth, ApiToken) and request.auth.is_read_only
        return request.method in SAFE_METHODS or not only_reads


class PerToken(SimpleRateThrottle):
    """The limit of requests per minute, for each token and for each person in a browser."""

    scope = "api"

    def get_cache_key(self, request: Request, view: "APIView") -> str:
        who = request.auth if isinstance(request.auth, ApiToken) else request.user
        return f"api-rate-{type(who).__name__}-{who.pk}"
