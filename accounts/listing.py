"""Lists of studies, datasets, runs and so on: a search, sorts, filters, tabs and an archive.

A `Listing` declares them once. It reads the choices from the address of the page, and leaves out
archived rows unless they are asked for. A wrong value in the address counts as missing.
"""

from collections.abc import Callable, Mapping
from enum import Enum
from functools import reduce
from operator import or_
from typing import Any, NamedTuple, cast
from unicodedata import normalize

from django.core.paginator import Page, Paginator
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce
from django.http import HttpRequest

from accounts.http import query_string
from accounts.search_words import LONGEST_SEARCH, SearchWords, words_of

# value in the address → its words, and the condition for the rows that it leaves
Options = Mapping[str, tuple[str, Q]]


class Compared(Enum):
    """The values that a sort compares, with its two directions in words, the usual one first."""

    TEXT = ("A to Z", "Z to A")
    DATE = ("newest first", "oldest first")
    COUNT = ("most first", "fewest first")


class Sort(NamedTuple):
    """One order of a list. With `-` in front of its key, an address asks for the other direction.

    Only the rows are sorted by `by`: it may be a subquery, which no other order computes.
    """

    key: str
    title: str
    by: str | Combinable
    compared: Compared


class ListFilter(NamedTuple):
    """One choice of which rows are listed. Its options may come from the database."""

    key: str
    title: str  # such as "Scheme"
    options: Options | Callable[[], Options]

    def read(self, asked: Mapping[str, str]) -> "BoundFilter":
        """Return the filter with the option that an address asks for."""
        options = self.options() if callable(self.options) else self.options
        chosen = asked.get(self.key, "")
        return BoundFilter(self.key, self.title, options, chosen if chosen in options else "")


class BoundFilter(NamedTuple):
    """A filter with its options and the chosen one; "" is any."""

    key: str
    title: str
    options: Options
    chosen: str

    @property
    def any(self) -> str:
        """The words for no choice, such as 'Any scheme'."""
        return f"Any {self.title.lower()}"


class ListTab(NamedTuple):
    """A tab above a list, with the number of rows that it lists."""

    label: str
    address: str
    n: int
    is_chosen: bool


class SortHead(NamedTuple):
    """The head of a column: a link that sorts by it. `direction` is "" if it does not sort now."""

    title: str
    address: str
    direction: str  # ascending, descending or ""


class ListChoices(NamedTuple):
    """The choices that an address makes for a list."""

    q: str
    filters: Mapping[str, str]  # filter → chosen option, "" for any
    state: str  # the chosen tab, "" for all
    sort: str  # key of a sort, with `-` in front for the unusual direction; "" is the first sort
    archived: bool

    @property
    def is_narrowed(self) -> bool:
        """Whether it leaves out rows that the list has at first."""
        return bool(self.q or self.state or self.archived or any(self.filters.values()))

    @property
    def words(self) -> SearchWords:
        """The words that are searched for; a row has all of them."""
        return words_of(self.q)

    def address(self, path: str, **changed: str) -> str:
        """Return the address of the first page of the list, with some choices changed."""
        said = {"q": self.q, **self.filters, "state": self.state, "sort": self.sort}
        said["archived"] = "on" if self.archived else ""
        return path + query_string({key: value for key, value in (said | changed).items() if value})


class ListPage(NamedTuple):
    """One page of a list, with everything that its bar, its tabs and its heads show."""

    things: str
    path: str
    choices: ListChoices
    page: Page[Any]
    filters: list[BoundFilter]
    tabs: list[ListTab]
    heads: Mapping[str, SortHead]
    sorts: list[tuple[str, str, bool]]  # value, words, whether it is chosen
    n_archived: int  # archived rows in all, whatever is chosen

    @property
    def rows(self) -> QuerySet[Any]:
        """The rows of the page, to be read. They are no part of another query."""
        return cast("QuerySet[Any]", self.page.object_list)

    @property
    def has_rows(self) -> bool:
        """Whether the list has any rows, be they archived or not as was chosen."""
        return bool(self.page.paginator.count or self.n_archived or self.choices.is_narrowed)

    @property
    def archived_address(self) -> str:
        return self.choices.address(self.path, archived="on")


def containing(*fields: str) -> Callable[[str], Q]:
    """Return a search for rows with a word in one of these fields, in upper or lower case.

    Letters with accents are found as one character and as several.
    """

    def search(word: str) -> Q:
        codings = dict.fromkeys(normalize(form, word) for form in ("NFC", "NFD"))
        found = (Q(**{f"{field}__icontains": each}) for field in fields for each in codings)
        return reduce(or_, found)

    return search


def n_of(rows: QuerySet[Any], by: str) -> Coalesce:
    """Return the number of rows that belong to a listed thing.

    It is a subquery, because joins would multiply the counts.

    Args:
        rows: rows of any kind.
        by: the field by which they refer to the thing.
    """
    of_thing = rows.filter(**{by: OuterRef("pk")}).order_by().values(by)
    return Coalesce(Subquery(of_thing.annotate(n=Count("pk")).values("n")), 0)


def has_any(rows: QuerySet[Any], by: str) -> Q:
    """Return the condition that some of these rows belong to a listed thing, as in `n_of`."""
    return Q(Exists(rows.filter(**{by: OuterRef("pk")})))


def on_offer() -> Q:
    """Return the condition for what menus offer: what is not archived."""
    return Q(archived_at=None)


def said_of_archive(name: str, is_archived: bool) -> str:
    """Return the message after a thing was archived or restored."""
    if is_archived:
        return f"{name} is archived. You find it again under Archived."
    return f"{name} is restored: lists and menus show it again."


class Listing(NamedTuple):
    """The declaration of a list of rows that have `archived_at`."""

    things: str  # plural, such as "studies"; also the id of the part that htmx renews
    finds: Callable[[str], Q]  # a word → the rows that it finds
    sorts: tuple[Sort, ...]  # the first one is the usual one
    filters: tuple[ListFilter, ...] = ()
    tabs: Options = {}  # The tab "All" is added.
    per_page: int = 50

    def without(self, filter_key: str) -> "Listing":
        """Return the list without one of its filters: where a page has made that choice."""
        return self._replace(filters=tuple(f for f in self.filters if f.key != filter_key))

    def read(self, rows: QuerySet[Any], request: HttpRequest) -> ListPage:
        """Return the page of the list that an address asks for.

        It takes a query each for the options of a filter, the tabs, the number of archived rows,
        the number of listed rows, and the rows themselves.
        """
        filters = [each.read(request.GET) for each in self.filters]
        choices = self._choices(filters, request)
        path = request.path
        left = rows.filter(archived_at__isnull=not choices.archived)
        for word in choices.words.used:
            left = left.filter(self.finds(word))
        for each in filters:
            if each.chosen:
                left = left.filter(each.options[each.chosen][1])
        of_tab = left.filter(self.tabs[choices.state][1]) if choices.state else left
        ordered = of_tab.order_by(*self._order(choices.sort))
        return ListPage(
            things=self.things,
            path=path,
            choices=choices,
            page=Paginator(ordered, self.per_page).get_page(request.GET.get("page")),
            filters=filters,
            tabs=self._tabs(left, choices, path),
            heads={each.key: self._head(each, choices, path) for each in self.sorts},
            sorts=self._sort_options(choices),
            n_archived=rows.filter(archived_at__isnull=False).count(),
        )

    def _choices(self, filters: list[BoundFilter], request: HttpRequest) -> ListChoices:
        asked = request.GET
        state, sort = asked.get("state", ""), asked.get("sort", "")
        usual = self.sorts[0].key
        known = {each.key for each in self.sorts}
        return ListChoices(
            q=" ".join(asked.get("q", "")[:LONGEST_SEARCH].split()),
            filters={each.key: each.chosen for each in filters},
            state=state if state in self.tabs else "",
            sort=sort if sort.removeprefix("-") in known and sort != usual else "",
            archived="archived" in asked,
        )

    def _order(self, chosen: str) -> list[Any]:
        """Return the chosen order. Among equal rows, the newest comes first."""
        key = chosen or self.sorts[0].key
        sort = next(each for each in self.sorts if each.key == key.removeprefix("-"))
        by: Any = F(sort.by) if isinstance(sort.by, str) else sort.by  # both can be sorted by
        return [by.asc() if _is_ascending(sort, key) else by.desc(), "-pk"]

    def _tabs(self, rows: QuerySet[Any], choices: ListChoices, path: str) -> list[ListTab]:
        if not self.tabs:
            return []
        tabs = {"": ("All", Q()), **self.tabs}
        counts = rows.aggregate(
            **{f"n_{key}": Count("pk", filter=rule) for key, (_, rule) in tabs.items()}
        )
        return [
            ListTab(
                label, choices.address(path, state=key), counts[f"n_{key}"], key == choices.state
            )
            for key, (label, _) in tabs.items()
        ]

    def _head(self, sort: Sort, choices: ListChoices, path: str) -> SortHead:
        """Return the head of a column. Its link turns the order round if it sorts already."""
        now = choices.sort or self.sorts[0].key
        if now.removeprefix("-") != sort.key:
            return SortHead(sort.title, choices.address(path, sort=sort.key), "")
        turned = f"-{sort.key}" if now == sort.key else sort.key
        direction = "ascending" if _is_ascending(sort, now) else "descending"
        return SortHead(sort.title, choices.address(path, sort=turned), direction)

    def _sort_options(self, choices: ListChoices) -> list[tuple[str, str, bool]]:
        now = choices.sort or self.sorts[0].key
        return [
            (value, f"{sort.title}: {words}", value == now)
            for sort in self.sorts
            for value, words in zip((sort.key, f"-{sort.key}"), sort.compared.value, strict=True)
        ]


def _is_ascending(sort: Sort, value: str) -> bool:
    return (sort.compared is Compared.TEXT) == (value == sort.key)
