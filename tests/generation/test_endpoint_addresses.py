"""The addresses that an endpoint may have."""

import socket

import pytest

from generation.retrieval.endpoint_addresses import (
    EndpointError,
    Guard,
    HostAndPort,
    check_endpoint,
    place_of,
)

NOT_PUBLIC = [
    "127.0.0.1",
    "10.0.0.1",
    "172.16.3.4",
    "192.168.1.1",
    "169.254.169.254",  # clouds give a machine its secrets here
    "192.0.0.192",  # Oracle's older cloud does so here
    "168.63.129.16",  # a machine at Azure reads its settings here
    "[3fff::1]",  # examples in texts (RFC 9637)
    "100.64.0.1",  # shared by customers of a provider (RFC 6598)
    "0.0.0.0",
    "224.0.0.1",
    "240.0.0.1",
    "[::1]",
    "[fe80::1]",
    "[fd00::1]",
    "[::ffff:127.0.0.1]",  # IPv4 in IPv6
    "[2002:7f00:1::]",  # 127.0.0.1 by 6to4
    "[64:ff9b::a00:1]",  # 10.0.0.1 by NAT64
    "[64:ff9b:1::808:808]",  # NAT64 of a network's own (RFC 8215)
    "[2001:0:4136:e378:8000:63bf:f5ff:fffe]",  # 10.0.0.1 by Teredo
    "[::10.0.0.1]",  # IPv4 in IPv6, as it was once
    "[::ffff:0:10.0.0.1]",
    "[fec0::1]",  # local to a site, as it was once
    "[5f00::1]",  # segment routing
    "[2001:db8::1]",
    "localhost",
    "LOCALHOST.",
    "attest.localhost",
]


@pytest.mark.parametrize("host", NOT_PUBLIC)
def test_local_private_and_reserved_addresses_need_an_admins_leave(host):
    url = f"http://{host}/sparql"

    with pytest.raises(EndpointError, match=r"local, private or reserved.*; expected a public one"):
        check_endpoint(url, allow_private=False)
    assert check_endpoint(url, allow_private=True).allowed == place_of(url)


@pytest.mark.parametrize(
    "host",
    [
        "query.wikidata.org",
        "8.8.8.8",
        "[2620:0:862:ed1a::1]",
        "[::ffff:8.8.8.8]",
        "[64:ff9b::808:808]",  # 8.8.8.8 by NAT64
    ],
)
def test_public_addresses_and_names_pass(host):
    assert check_endpoint(f"https://{host}/sparql", allow_private=False) == Guard()


@pytest.mark.parametrize(
    "url",
    [
        "",
        "sparql",
        "ftp://host/sparql",
        "file:///etc/passwd",
        "http://",
        "http://host:0/sparql",
        "http://host:99999/sparql",
        "http://[::1/sparql",
        "http://host/a b",
        "http://host/\n",
        "http://hôte/sparql",
    ],
)
def test_what_is_no_address_of_an_endpoint_is_refused(url):
    with pytest.raises(EndpointError, match="expected the address of an endpoint"):
        check_endpoint(url, allow_private=True)


def test_passwords_and_queries_in_an_address_are_refused_and_a_password_is_not_repeated():
    with pytest.raises(EndpointError, match="expected one without") as refused:
        check_endpoint("https://me:secret@host/sparql", allow_private=False)
    assert "secret" not in str(refused.value)
    with pytest.raises(EndpointError, match="found a query in the address"):
        check_endpoint("https://host/sparql?default-graph=x", allow_private=False)


def test_every_address_of_a_name_is_looked_at_when_a_connection_is_made(monkeypatch):
    """Real names resolve to addresses that a test cannot choose, so the resolver is replaced."""
    addresses = ["93.184.216.34", "10.1.2.3"]
    monkeypatch.setattr(
        socket,
        "getaddrinfo",
        lambda host, port, **_: [(0, 0, 0, "", (address, port)) for address in addresses],
    )
    place = HostAndPort("rebound.example.org", 443)

    with pytest.raises(EndpointError, match=r"rebound\.example\.org is 10\.1\.2\.3, a local"):
        Guard().addresses(place)
    assert Guard(place).addresses(place) == addresses
    addresses.pop()
    assert Guard().addresses(place) == ["93.184.216.34"]


@pytest.mark.parametrize("spelling", ["127.1", "0x7f.0.0.1", "2130706433", "localhost"])
def test_other_spellings_of_this_machine_are_found_out_by_resolving_them(spelling):
    with pytest.raises(EndpointError, match=r"is (127\.0\.0\.1|::1), a local"):
        Guard().addresses(HostAndPort(spelling, 80))


def test_leave_is_for_one_host_and_port_and_nothing_beside_it():
    guard = check_endpoint("http://127.0.0.1:7878/query", allow_private=True)

    assert guard.addresses(HostAndPort("127.0.0.1", 7878)) == ["127.0.0.1"]
    for other in (HostAndPort("127.0.0.1", 6379), HostAndPort("127.0.0.2", 7878)):
        with pytest.raises(EndpointError, match="admin's permission"):
            guard.addresses(other)
