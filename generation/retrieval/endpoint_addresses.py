"""The addresses that a SPARQL endpoint may have, checked again for every connection.

People make the site connect to addresses of their choice. No address may lead into the site's own
network unless an admin allows it. A name is resolved once, all its addresses are checked, and the
connection is made to an address that was checked. So it does not matter if the name resolves to
something else a moment later.
"""

import ipaddress
import socket
from typing import NamedTuple
from urllib.parse import urlsplit

PORTS = {"http": 80, "https": 443}
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
# Python 3.11 takes these for public. The first two are in IANA's registries of special addresses.
# The last one is where a machine at Azure reads its own settings.
_NOT_PUBLIC = [
    ipaddress.ip_network(each) for each in ("192.0.0.0/24", "3fff::/20", "168.63.129.16/32")
]
_GIVEN_OUT = ipaddress.ip_network("2000::/3")  # everything that IANA assigns in IPv6


class EndpointError(Exception):
    """An endpoint that cannot be used: its address, what was found, what was expected."""


class NotPublicError(EndpointError):
    """An address in a private network that no admin has allowed."""


class HostAndPort(NamedTuple):
    """A host, by name or address, and a port."""

    host: str
    port: int


class Guard(NamedTuple):
    """The places that may be connected to: public addresses, and one place that an admin allows."""

    allowed: HostAndPort | None = None

    def addresses(self, place: HostAndPort) -> list[str]:
        """Return the addresses of a place.

        Raises:
            EndpointError: one of them is not public, and an admin has not allowed the place.
            OSError: the name is not known.
        """
        found = socket.getaddrinfo(*place, type=socket.SOCK_STREAM)
        addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
        if place != self.allowed:
            for address in addresses:
                _check(place, address)
        return addresses


def place_of(url: str) -> HostAndPort:
    """Return the host and port of an endpoint's address.

    Raises:
        EndpointError: the address is not http or https, or is malformed or has a user or password.
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
            f"Found {url[:200] or 'nothing'}; expected the address of an endpoint, as in https://host/sparql"
        )
    if parts.username or parts.password:
        raise EndpointError("Found an address with a user or a password; expected one without")
    return HostAndPort(host, port or PORTS[parts.scheme])


def check_endpoint(url: str, *, allow_private: bool) -> Guard:
    """Return the places to which a pull from an address may connect.

    An admin's permission is for the host and port in the address, not for the target of a redirect.
    Names are not resolved here, but when a connection is made.

    Raises:
        EndpointError: as in `place_of`; there is a query or fragment in the address; or the host is
            a numeric address or 'localhost' that is neither public nor allowed.
    """
    place = place_of(url)
    if urlsplit(url).query or urlsplit(url).fragment:
        raise EndpointError(
            f"{url[:200]}: found a query in the address; expected an address without"
        )
    if allow_private:
        return Guard(place)
    name = place.host.lower()
    _check(place, "127.0.0.1" if name == "localhost" or name.endswith(".localhost") else name)
    return Guard()


def _check(place: HostAndPort, address: str) -> None:
    """Refuse a numeric address that is not public; names are accepted."""
    try:
        number = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return
    if not _is_public(number):
        what = f"{place.host} is {address}," if place.host != address else f"{address} is"
        raise NotPublicError(
            f"{what} a local, private or reserved address (port {place.port}); expected a public "
            "one, or an admin's permission (--allow-private) for the address that is pulled from"
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
    if any(number in network for network in _NOT_PUBLIC):
        return False
    return number.is_global and not number.is_multicast
