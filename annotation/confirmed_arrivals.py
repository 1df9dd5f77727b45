"""Whether a person is who the address says: Prolific confirms it, or has signed the address."""

import logging
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import SplitResult, urlsplit

import jwt
from django.conf import settings
from django.core.cache import cache

from annotation import prolific
from annotation.arrivals import Arrival, ArrivalError, read_arrival
from annotation.models import CrowdPlatform

logger = logging.getLogger(__name__)

ISSUER = "https://www.prolific.com"
KEYS_ARE_VALID_FOR = 24 * 3600  # seconds; Prolific asks to read them anew each day
KEYS_ARE_READ_EVERY = 60  # seconds at least, when a token names a key that is not there
CLOCKS_DIFFER_BY = 10  # seconds
AT_WORK = frozenset({prolific.RESERVED, prolific.ACTIVE})


def visit_is_confirmed(
    platform: CrowdPlatform, arrival: Arrival, token: str, audience: str
) -> bool | None:
    """Return whether Prolific signed these ids, or has this visit; None if that is unknown.

    Args:
        platform: the platform that is said to have sent a person.
        arrival: the ids in the address.
        token: the parameter `prolific_token` of the address; "" without one.
        audience: the address of the study's link.
    """
    if token and ids_of_signed_token(platform, token, audience) == arrival:
        return True
    return session_is_confirmed(platform, arrival)


def session_is_confirmed(platform: CrowdPlatform, arrival: Arrival) -> bool | None:
    """Return whether Prolific has this visit: this person's, in this study, and not yet ended.

    False: it has no such visit, or the visit has ended. None: this is unknown, because the platform
    is not Prolific, this site has no token, or Prolific does not answer.
    """
    if not (platform.is_prolific and prolific.has_token()):
        return None
    try:
        found = prolific.submission(arrival.session)
    except prolific.ProlificError as error:
        logger.warning("a visit to platform %s was not confirmed: %s", platform.pk, error)
        return None
    if found is None:
        return False
    if found.state == prolific.UNKNOWN or not found.person:
        return None
    is_theirs = found.person == arrival.person and arrival.platform_study in found.studies
    return is_theirs and found.state in AT_WORK


def ids_of_signed_token(platform: CrowdPlatform, token: str, audience: str) -> Arrival | None:
    """Return the ids in a token with which Prolific signed an address; None if it is not valid.

    Prolific adds it as `prolific_token` to the address of a study that has secure addresses. It is
    signed with RS256 by one of Prolific's keys and ends after two minutes. `aud` is the address of
    the study, of which host and path are compared here; `sub` is the id of the session, and
    `prolific` maps each parameter of the address to its value. (Prolific's API reference says so
    at `is_external_study_url_secure`.)

    Args:
        audience: the address of the study's link, as in 'https://attest.example.org/join/…/'.
    """
    if not platform.is_prolific:
        return None
    try:
        key = _signing_key(jwt.get_unverified_header(token))
        claims = jwt.decode(
            token,
            key,
            algorithms=["RS256"],
            issuer=ISSUER,
            leeway=CLOCKS_DIFFER_BY,
            # `aud` is a whole address here, and `_is_same_place` compares it.
            options={"require": ["exp", "iss", "aud", "sub"], "verify_aud": False},
        )
        ids = read_arrival(platform, _texts(claims.get("prolific")))
    except (jwt.PyJWTError, ArrivalError):
        return None
    except prolific.ProlificError as error:
        logger.warning("Prolific's keys were not read: %s", error)
        return None
    is_whole = bool(ids.platform_study and ids.session)
    is_ours = _is_same_place(claims["aud"], audience) and claims["sub"] == ids.session
    return ids if is_whole and is_ours else None


# --- parts ----------------------------------------------------------------------------------


def _signing_key(header: Mapping[str, Any]) -> Any:
    """Return the public key that a token's header names.

    Raises:
        jwt.PyJWTError: Prolific has no such key, or it is of another kind.
        prolific.ProlificError: Prolific does not answer.
    """
    name = f"prolific-keys:{settings.PROLIFIC_API}"
    read_at, keys = cache.get(name, (0.0, []))
    wanted = [key for key in keys if key.get("kid") == header.get("kid")]
    now = time.time()
    if not wanted and now - read_at > KEYS_ARE_READ_EVERY:
        # This is set first, so that people who come at the same time do not all wait.
        cache.set(name, (now, keys), KEYS_ARE_READ_EVERY)
        keys = prolific.signing_keys()
        cache.set(name, (now, keys), KEYS_ARE_VALID_FOR)
        wanted = [key for key in keys if key.get("kid") == header.get("kid")]
    if not header.get("kid") or not wanted:
        raise jwt.InvalidKeyError("The token names no key of Prolific's.")
    return jwt.PyJWK(dict(wanted[0]), "RS256").key


def _texts(claim: object) -> dict[str, str]:
    """Return the texts of a claim by name; other values are left out."""
    values = claim.items() if isinstance(claim, dict) else ()
    return {name: value for name, value in values if isinstance(value, str)}


def _is_same_place(address: object, other: str) -> bool:
    """Return whether two addresses have the same host, port and path."""
    if not isinstance(address, str):
        return False
    try:
        return _place(urlsplit(address)) == _place(urlsplit(other))
    except ValueError:
        return False


def _place(address: SplitResult) -> tuple[str, int | None, str]:
    default = {"https": 443, "http": 80}.get(address.scheme)
    return address.hostname or "", address.port or default, address.path.rstrip("/")
