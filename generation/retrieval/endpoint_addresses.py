"""Which addresses a SPARQL endpoint may have, decided again for every connection.

A site is asked by people to open addresses: none may lead into its own network unless an admin
says so. A name is resolved once, all that it resolves to is checked, and the connection is made to
an address that was checked: what the name resolves to a moment later makes no difference.
"""

import ipaddress
import socket
from typing import NamedTuple
from urllib.parse import urlsplit

PORTS = {"http": 80, "https": 443}
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_GIVEN_OUT = ipaddress.ip_network("2000::/3")  # all that IANA gives out of IPv6


class EndpointError(Exception):
    """An endpoint that cannot be used: where, what was found, what was expected."""


class NotPublicError(EndpointError):
    """An address in one's own network that nobody has allowed."""


class HostAndPort(NamedTuple):
    """A host, by name or address, and a port."""

    host: str
    port: int


class Guard(NamedTuple):
    """What may be connected to: every public address, and one other place if an admin allows it."""

    allowed: HostAndPort | None = None

    def addresses(self, place: HostAndPort) -> list[str]:
        """Return the addresses of a place.

        Raises:
            EndpointError: one of them is no public one, and an admin has not allowed the place.
            OSError: the name is not known.
        """
        found = socket.getaddrinfo(*place, type=socket.SOCK_STREAM)
        addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
        if place != self.allowed:
            for address in addresses:
                _check(place, address)
        return addresses


def place_of(url: str) -> HostAndPort:
    """Return where an endpoint's address leads.

    Raises:
        EndpointError: it is none of http or https, or has more than host, port and path.
    """
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        host, port, parts = "", None, urlsplit("")
    if (
        parts.scheme not in PORTS
        or not host
        or port == 0
        or not url.isascii()
        or url.split() != [url]
    ):
        raise EndpointError(
            f"{url[:200]}: expected the address of an endpoint, as in https://host/sparql"
        )
    if parts.username or parts.password:
        raise EndpointError("an address with a user or a password, expected none")
    return HostAndPort(host, port or PORTS[parts.scheme])


def check_endpoint(url: str, *, allow_private: bool) -> Guard:
    """Return what a pull from an address may connect to.

    An admin's leave is for the host and port that the address names, and not for where that
    sends on to. Names are not resolved here, only when a connection is made.

    Raises:
        EndpointError: as for `place_of`; a query in the address; or an address in numbers, or
            'localhost', that is no public one and not allowed.
    """
    place = place_of(url)
    if urlsplit(url).query or urlsplit(url).fragment:
        raise EndpointError(f"{url[:200]}: found a query in the address, expected none")
    if allow_private:
        return Guard(place)
    name = place.host.lower()
    _check(place, "127.0.0.1" if name == "localhost" or name.endswith(".localhost") else name)
    return Guard()


def _check(place: HostAndPort, address: str) -> None:
    """Refuse an address in numbers that is no public one; names pass."""
    try:
        number = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return
    if not _is_public(number):
        what = f"{place.host} is {address}" if place.host != address else address
        raise NotPublicError(
            f"{what}, a local, private or reserved address, at port {place.port}; expected a "
            "public one, or an admin's leave for the address that is pulled from"
        )


def _is_public(number: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    if isinstance(number, ipaddress.IPv6Address):
        inner = number.ipv4_mapped or number.sixtofour or (number.teredo or (None,))[-1]
        if number in _NAT64:
            inner = ipaddress.IPv4Address(int(number) & 0xFFFFFFFF)
        if inner is not None:
            return _is_public(inner)
        if number not in _GIVEN_OUT:
            return False
    return number.is_global and not number.is_multicast
