"""Addresses of servers of models, and whether a key may be sent there."""

from ipaddress import ip_address
from urllib.parse import urlsplit

from generation.model_specs import BackendError, ModelSpec


def server_address(location: str) -> tuple[str, str]:
    """Return a server's base address, and the kind of its requests: 'chat' or 'completions'."""
    address = location.strip().rstrip("/")
    try:
        parts = urlsplit(address)
        is_whole = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        has_secrets = bool(parts.username or parts.password or parts.query or parts.fragment)
    except ValueError:
        is_whole = has_secrets = False
    if has_secrets:
        raise BackendError(
            "Found an address with a user, a password or a query; expected one without. Put a key "
            "into an environment variable"
        )
    if not is_whole:
        raise BackendError(
            f"Found {address or 'nothing'}; expected a server's address, as in https://host/v1"
        )
    for ending, kind in (("/chat/completions", "chat"), ("/completions", "completions")):
        if address.endswith(ending):
            return address.removesuffix(ending), kind
    return address, "chat"


def check_key(spec: ModelSpec) -> None:
    """Refuse a key that others could read on its way to its server.

    Raises:
        BackendError: the key would go over plain http to another machine, and no admin allows it.
    """
    if spec.key_over_http or not sends_key_openly(spec.location, spec.key_variable):
        return
    raise BackendError(
        f"{spec.location}: the key in {spec.key_variable} would go there unencrypted; expected an "
        "https address, one of this machine, or an admin's permission to send it over plain http"
    )


def sends_key_openly(location: str, key_variable: str) -> bool:
    """Return whether a key goes over plain http to another machine."""
    parts = urlsplit(location.strip())
    return bool(key_variable) and parts.scheme == "http" and not _is_here(parts.hostname or "")


def _is_here(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
