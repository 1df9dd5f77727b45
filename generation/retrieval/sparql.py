"""A polite client of a SPARQL endpoint: it pulls entities from Wikidata, or a graph of its shape.

Every query has limits: in seconds, in bytes and in tries. Answers of an endpoint are checked before
they are used.
"""

import socket
import ssl
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from http.client import HTTPException
from typing import Any, NamedTuple, TypeVar
from urllib.error import HTTPError, URLError
from urllib.parse import quote

from generation.batches import lots
from generation.importers.errors import excerpt
from generation.importers.json_text import JSONTrouble
from generation.retrieval.endpoint_addresses import EndpointError, check_endpoint
from generation.retrieval.endpoint_connections import Until, guarded
from generation.retrieval.sparql_results import Row, cut_by, is_page, most_rows_by, rows_of
from generation.retrieval.wikibase import (
    Described,
    Edge,
    Match,
    Shape,
    described,
    edges_among_query,
    edges_of,
    edges_query,
    labels_query,
    matches_of,
    names_query,
    statements_query,
)

Asked = TypeVar("Asked")
MEBIBYTE = 1024 * 1024
NAMES_TOGETHER = 20
QUOTED_TOGETHER = 2000  # characters of names, escaped for an address; some servers cut at 8,000
ENTITIES_TOGETHER = 10
PAIRS_TOGETHER = 40  # pairs of entities; they take about 5,000 characters of an address
_PASSING = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS}
_TOO_MUCH = {
    HTTPStatus.REQUEST_TIMEOUT,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.REQUEST_URI_TOO_LONG,
    HTTPStatus.GATEWAY_TIMEOUT,
}
# The words of endpoints, with status 500 or in the middle of an answer, about a query that took too
# long.
_TOOK_TOO_LONG = (b"TimeoutException", b"Query deadline is expired", b"query timed out")
_READ_AT_ONCE = 64 * 1024
# The name is unknown, or has no address. EAI_AGAIN ('try again') is not listed: it may pass.
_UNKNOWN_NAME = {socket.EAI_NONAME, socket.EAI_NODATA}


class EndpointPatience(NamedTuple):
    """The limits of waiting for an endpoint, and of asking it."""

    query: float = 65.0  # seconds for one query; Wikidata ends them itself after 60
    n_tries: int = 5  # tries of one query
    first_pause: float = 2.0  # seconds; doubled each time, unless the endpoint names a pause
    longest_pause: float = 120.0  # seconds; if an endpoint wants more, people have to ask again
    between: float = 1.0  # seconds between two queries, at least
    most_bytes: int = 32 * MEBIBYTE  # size of one answer


PATIENCE = EndpointPatience()


class TooMuch(EndpointError):
    """A query whose answer takes too long or is too large. Asking for less may help."""


class _QueryTrouble(Exception):
    """A query without an answer: the reason, and whether asking again or for less may help."""

    def __init__(
        self,
        why: str,
        *,
        is_passing: bool = False,
        is_too_much: bool = False,
        wait: float | None = None,
    ) -> None:
        super().__init__(why)
        self.is_passing = is_passing
        self.is_too_much = is_too_much
        self.wait = wait  # seconds, if the endpoint says how many


class _AnswerBody(NamedTuple):
    """The body of an answer, and the number of rows at which the endpoint cuts its answers."""

    body: bytes
    most_rows: int | None = None


class Endpoint:
    """A SPARQL endpoint, asked one query after the other."""

    def __init__(
        self,
        url: str,
        agent: str,
        *,
        allow_private: bool = False,
        patience: EndpointPatience = PATIENCE,
        keep: Callable[[], None] = lambda: None,
    ) -> None:
        """Check the address; nothing is asked yet.

        Args:
            url: the address of the endpoint, http or https.
            agent: a description of this client for the endpoint's owners.
            allow_private: whether an admin allows this host and port to be in a private network.
            keep: a function that is called about every second while waiting, also for an answer; an
                exception from it ends the query.

        Raises:
            EndpointError: `url` is no address, or is not allowed.
        """
        self.url = url
        self._agent = agent
        self._patience = patience
        self._keep = keep
        self._guard = check_endpoint(url, allow_private=allow_private)
        self._may_ask_at = 0.0

    def select(
        self, query: str, variables: Collection[str], *, is_divisible: bool = False
    ) -> list[Row]:
        """Return the rows of an answer.

        Args:
            query: a SELECT query.
            variables: the variables that every row must have.
            is_divisible: whether the caller can ask for less; after an answer that took too long,
                that is better than asking the same again.

        Raises:
            TooMuch: the answer takes too long, is too large, or was cut by the endpoint.
            EndpointError: there is no answer, or it is no answer to such a query.
        """
        pause = self._patience.first_pause
        for n_asked in range(1, self._patience.n_tries + 1):
            self._wait(self._may_ask_at - time.monotonic())
            try:
                return _whole(self._answer(query), variables)
            except _QueryTrouble as trouble:
                wait = pause if trouble.wait is None else trouble.wait
                is_long = wait > self._patience.longest_pause
                is_last = n_asked == self._patience.n_tries or not trouble.is_passing
                if is_last or is_long or (is_divisible and trouble.is_too_much):
                    raise self._error(trouble, n_asked, wait if is_long else 0.0) from None
                self._wait(wait)
                pause *= 2
            except JSONTrouble as trouble:
                raise EndpointError(f"{self.url}: {trouble}") from None
            finally:
                self._may_ask_at = time.monotonic() + self._patience.between
        raise AssertionError("a query is asked at least once")

    def _error(self, trouble: _QueryTrouble, n_asked: int, wait: float) -> EndpointError:
        kind = TooMuch if trouble.is_too_much else EndpointError
        asked = f" (asked {n_asked} times)" if n_asked > 1 else ""
        later = f"; it asks to wait {wait:,.0f} s" if wait else ""
        return kind(f"{self.url}: {trouble}{later}{asked}")

    def _wait(self, seconds: float) -> None:
        ends = time.monotonic() + seconds
        self._keep()
        while (left := ends - time.monotonic()) > 0:
            time.sleep(min(left, 1.0))
            self._keep()

    # --- one request ------------------------------------------------------------------------

    def _answer(self, query: str) -> _AnswerBody:
        until = Until(time.monotonic() + self._patience.query, self._keep)
        try:
            with self._asked(query, until) as response:
                if response.status >= HTTPStatus.BAD_REQUEST:
                    raise self._refusal(response)
                return _AnswerBody(self._body(response), most_rows_by(response.headers))
        except HTTPError as error:  # a redirect that leads nowhere
            with closing(error):
                raise self._refusal(error) from None
        except TimeoutError:
            raise self._silence() from None
        except URLError as error:
            if isinstance(error.reason, TimeoutError):
                raise self._silence() from None
            is_passing = not _is_lasting(error.reason)
            raise _QueryTrouble(
                f"no connection: {_words(error.reason)}", is_passing=is_passing
            ) from None
        except (OSError, HTTPException) as error:
            said = _words(error)
            raise _QueryTrouble(f"the connection broke: {said}", is_passing=True) from None
        except ValueError as error:
            raise EndpointError(f"{self.url}: {error}") from None

    def _asked(self, query: str, until: Until) -> Any:
        from SPARQLWrapper import GET, JSON, SPARQLWrapper

        client = SPARQLWrapper(self.url, returnFormat=JSON, agent=self._agent)
        client.setMethod(GET)  # redirects keep a GET, and caches remember it
        client.setOnlyConneg(True)
        client.setQuery(query)
        with guarded(self._guard, until):
            return client.query().response

    def _body(self, response: Any) -> bytes:
        if why := cut_by(response.status, response.headers):
            raise _QueryTrouble(why, is_passing=True, is_too_much=True)
        body = bytearray()
        while part := response.read1(_READ_AT_ONCE):
            body += part
            self._keep()
            if len(body) > self._patience.most_bytes:
                most = self._patience.most_bytes / MEBIBYTE
                why = f"found an answer of more than {most:g} MiB, expected a smaller one"
                raise _QueryTrouble(why, is_too_much=True)
        length = response.headers.get("Content-Length", "")
        if length.isdecimal() and len(body) < int(length):
            why = f"the answer broke off after {len(body):,} of {int(length):,} bytes"
            raise _QueryTrouble(why, is_passing=True)
        if any(words in body[-_READ_AT_ONCE:] for words in _TOOK_TOO_LONG):
            raise _QueryTrouble("it gave up in the middle of its answer", is_too_much=True)
        if is_page(bytes(body[:99])):  # a busy server may send one
            found = excerpt(body.decode(errors="replace"))
            why = f"found a page: {found}; expected JSON. Is this the address of an endpoint?"
            raise _QueryTrouble(why, is_passing=True)
        return bytes(body)

    def _silence(self) -> _QueryTrouble:
        why = f"no whole answer within {self._patience.query:g} s"
        return _QueryTrouble(why, is_passing=True, is_too_much=True)

    def _refusal(self, answer: Any) -> _QueryTrouble:
        try:
            said = answer.read(_READ_AT_ONCE)
        except (OSError, HTTPException):
            said = b""
        is_too_much = answer.status in _TOO_MUCH or any(words in said for words in _TOOK_TOO_LONG)
        quoted = excerpt(" ".join(said.decode(errors="replace").split())) if said else "nothing"
        return _QueryTrouble(
            f"it answered {answer.status} {answer.reason}: {quoted}",
            is_passing=answer.status in _PASSING or answer.status >= 500,
            is_too_much=is_too_much,
            wait=_seconds_to_wait(answer.headers.get("Retry-After", "").strip()),
        )


# --- a graph behind an endpoint ---------------------------------------------------------------


class Wikibase:
    """A graph of Wikidata's shape behind an endpoint."""

    def __init__(self, endpoint: Endpoint, shape: Shape) -> None:
        self._endpoint = endpoint
        self._shape = shape

    def named(self, names: Sequence[str]) -> dict[str, list[Match]]:
        """Return the entities with each of these labels or aliases, in exactly this spelling.

        Raises:
            EndpointError: as in `Endpoint.select`.
        """
        found: dict[str, list[Match]] = {}
        for some in _batches(list(dict.fromkeys(names))):
            rows = self._rows(some, names_query, ("name", "entity", "how"))
            found |= matches_of(rows, some, self._shape)
        return found

    def edges(self, pairs: Sequence[tuple[str, str]]) -> list[Edge]:
        """Return the edges from the first of each pair of entities to its second.

        Args:
            pairs: pairs of qids; a caller that wants both directions gives both.

        Raises:
            EndpointError: as in `Endpoint.select`.
        """
        found: list[Edge] = []
        for some in lots(list(dict.fromkeys(pairs)), PAIRS_TOGETHER):
            rows = self._rows(some, edges_query, ("subject", "property", "value"))
            found += edges_of(rows, self._shape)
        return found

    def edges_among(self, some: Sequence[str], others: Sequence[str]) -> list[Edge]:
        """Return the edges from any of some entities to any of others, and back, with two queries.

        Args:
            some: qids, like `others`; both go into one address, so there may be up to 50 of each.

        Raises:
            EndpointError: as in `Endpoint.select`.
        """
        found: list[Edge] = []
        for subjects, values in ((some, others), (others, some)):

            def query(part: Sequence[str], shape: Shape, to: Sequence[str] = values) -> str:
                return edges_among_query(part, to, shape)

            rows = self._rows(subjects, query, ("subject", "property", "value"))
            found += edges_of(rows, self._shape)
        return found

    def described(self, qids: Sequence[str]) -> dict[str, Described]:
        """Return these entities with aliases and one-hop graphs; unknown ones are left out.

        Raises:
            EndpointError: as in `Endpoint.select`.
        """
        found: dict[str, Described] = {}
        unique = list(dict.fromkeys(qids))
        for start in range(0, len(unique), ENTITIES_TOGETHER):
            some = unique[start : start + ENTITIES_TOGETHER]
            labels = self._rows(some, labels_query, ("entity",))
            said = self._rows(some, statements_query, ("entity", "property", "value"))
            found |= described(labels, said, self._shape, self._endpoint.url)
        return found

    def _rows(
        self,
        items: Sequence[Asked],
        query: Callable[[Sequence[Asked], Shape], str],
        variables: Collection[str],
    ) -> list[Row]:
        """Return the rows about all items; ask in halves if one query is too much."""
        asked, are_several = query(items, self._shape), len(items) > 1
        try:
            return self._endpoint.select(asked, variables, is_divisible=are_several)
        except TooMuch:
            if not are_several:
                raise
        middle = len(items) // 2
        halves = (items[:middle], items[middle:])
        return [row for half in halves for row in self._rows(half, query, variables)]


def _whole(answer: _AnswerBody, variables: Collection[str]) -> list[Row]:
    """Return the rows of an answer, of which the endpoint has left out none."""
    rows = rows_of(answer.body, variables)
    if answer.most_rows and len(rows) >= answer.most_rows:
        why = f"it answered with {len(rows):,} rows, which is the most that it gives"
        raise _QueryTrouble(why, is_too_much=True)
    return rows


def _batches(names: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    n_characters = 0
    for name in names:
        n = len(quote(name))
        is_full = len(batch) == NAMES_TOGETHER or n_characters + n > QUOTED_TOGETHER
        if batch and is_full:
            yield batch
            batch, n_characters = [], 0
        batch.append(name)
        n_characters += n
    if batch:
        yield batch


def _words(reason: object) -> str:
    """Return what went wrong, without an error number: 'Connection refused'."""
    if isinstance(reason, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted ({reason.verify_message})"
    return getattr(reason, "strerror", None) or str(reason) or type(reason).__name__


def _is_lasting(reason: object) -> bool:
    """Return whether a connection would fail in the same way if it is tried again."""
    is_unknown = isinstance(reason, socket.gaierror) and reason.errno in _UNKNOWN_NAME
    return is_unknown or isinstance(reason, ssl.SSLCertVerificationError)


def _seconds_to_wait(said: str) -> float | None:
    """Return how many seconds `Retry-After` asks to wait; it may hold seconds or a date.

    The result is None if it holds neither.
    """
    if said.isdecimal():
        return float(said[:10])
    try:
        until = parsedate_to_datetime(said)
    except (TypeError, ValueError):
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())
