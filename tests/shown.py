"""The content of a page, read from its HTML: headings, tables, facts, messages, fields and links.

Tests check only the parts that they are about, so that they still pass when other words change.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.http import HttpResponse
from lxml import html

NOT_SHOWN = (
    "self::script or self::style or self::template or self::head or @hidden "
    "or contains(concat(' ', @class, ' '), ' near ')"  # a closed explanation
)
MESSAGES = ("callout", "empty")


@dataclass(frozen=True)
class Table:
    """A table as a reader sees it: the texts of its head and of each row below."""

    caption: str
    columns: list[str]
    rows: list[list[str]]
    links: list[dict[str, str]]
    """Of each row: text → address."""

    def row(self, label: str) -> dict[str, str]:
        """Return column → cell of the one row whose first cell is this label.

        Raises:
            AssertionError: no row, or several, have this label.
        """
        found = [row for row in self.rows if row and row[0] == label]
        assert len(found) == 1, f"{len(found)} rows are {label!r}: {self.rows}"
        return dict(zip(self.columns, found[0], strict=False))

    def column(self, name: str) -> list[str]:
        """Return the cells below a heading."""
        place = self.columns.index(name)
        return [row[place] for row in self.rows]


class Shown:
    """The visible content of a page, or of a part of a page."""

    def __init__(self, root: html.HtmlElement) -> None:
        self._root = root

    @cached_property
    def text(self) -> str:
        """All text that is shown, with each white space as one space."""
        return _text(self._root)

    @cached_property
    def headings(self) -> list[str]:
        return self._texts("self::h1 or self::h2 or self::h3 or self::h4")

    @cached_property
    def messages(self) -> list[str]:
        """The texts of message boxes: results, warnings, troubles, 'nothing here yet'."""
        return self._texts(" or ".join(map(_has_class, MESSAGES)))

    @cached_property
    def facts(self) -> dict[str, str]:
        """Term → description of every description list; the first one when a term occurs twice."""
        found: dict[str, str] = {}
        for term in self._all("self::dt"):
            said = term.xpath("following-sibling::dd[1]")
            found.setdefault(_text(term), _text(said[0]) if said else "")
        return found

    @cached_property
    def notes(self) -> dict[str, str]:
        """Term → the text below its description in `facts`."""
        found: dict[str, str] = {}
        for term in self._all("self::dt"):
            below = term.xpath("following-sibling::dd[position() > 1]")
            below = [note for note in below if note.xpath("preceding-sibling::dt[1]") == [term]]
            found.setdefault(_text(term), " ".join(map(_text, below)))
        return found

    @cached_property
    def items(self) -> list[str]:
        """The items of every list."""
        return self._texts("self::li")

    @cached_property
    def tables(self) -> list[Table]:
        return [_table(element) for element in self._all("self::table")]

    def table(self, caption: str = "") -> Table:
        """Return the one table whose caption begins with these words.

        Raises:
            AssertionError: no table, or several, are called that.
        """
        found = [table for table in self.tables if table.caption.startswith(caption)]
        captions = [table.caption for table in self.tables]
        assert len(found) == 1, f"{len(found)} tables are called {caption!r}: {captions}"
        return found[0]

    @cached_property
    def cells(self) -> "list[list[Shown]]":
        """The cells of every row of its tables, each a part of the page with its own links."""
        rows = self._all("self::tr")
        return [[Shown(cell) for cell in row.xpath("./th | ./td")] for row in rows]

    @cached_property
    def links(self) -> dict[str, str]:
        """Text → address of every link; the first one when links have the same text."""
        found: dict[str, str] = {}
        for link in self._all("self::a[@href]"):
            found.setdefault(_text(link), link.get("href"))
        return found

    @cached_property
    def addresses(self) -> list[str]:
        """The addresses of the links, in the page's order."""
        return [link.get("href") for link in self._all("self::a[@href]")]

    @cached_property
    def buttons(self) -> list[str]:
        return self._texts("self::button")

    @cached_property
    def actions(self) -> list[str]:
        """The addresses that the forms are sent to, in the page's order."""
        return [form.get("action", "") for form in self._all("self::form")]

    @cached_property
    def fields(self) -> dict[str, Any]:
        """Name → value that a form would send; a list for check boxes and multiple choices."""
        found: dict[str, Any] = {}
        for field in self._all(
            "(self::input or self::select or self::textarea) and @name and not(@disabled)"
        ):
            name, kind = field.get("name"), field.get("type", field.tag)
            if kind == "checkbox":
                before = found[name] if isinstance(found.get(name), list) else []
                checked = [field.get("value", "on")] if "checked" in field.attrib else []
                found[name] = before + checked
            elif kind == "radio":
                found.setdefault(name, None)
                found[name] = field.get("value") if "checked" in field.attrib else found[name]
            elif kind == "select":
                found[name] = list(field.value) if field.multiple else field.value
            elif kind == "textarea":  # HTML drops a line break right after the tag
                found[name] = (field.text or "").removeprefix("\n")
            else:
                found[name] = field.get("value", "")
        return found

    def choices(self, name: str) -> dict[str, str]:
        """Return value → label of a field's choices."""
        options = self._all(f"self::option[ancestor::select[@name='{name}']]")
        if options:
            return {option.get("value", _text(option)): _text(option) for option in options}
        boxes = self._all(f"self::input[@name='{name}']")
        return {box.get("value", "on"): self._label_of(box) for box in boxes}

    def groups_of(self, name: str) -> dict[str, list[str]]:
        """Return the title of each group of a menu → the labels of its choices."""
        groups = self._all(f"self::optgroup[parent::select[@name='{name}']]")
        return {each.get("label", ""): list(map(_text, each.findall("option"))) for each in groups}

    @cached_property
    def errors(self) -> dict[str, str]:
        """Name of a field → its error message."""
        return {
            element.get("id").removeprefix("id_").removesuffix("_error"): _text(element)
            for element in self._all("starts-with(@id, 'id_') and contains(@id, '_error')")
        }

    @property
    def is_open(self) -> bool:
        """Whether this part is a fold that is open."""
        return "open" in self._root.attrib

    def part(self, name: str) -> "Shown":
        """Return the part of the page with this id.

        Raises:
            AssertionError: the page has none.
        """
        [*found] = self._root.xpath("//*[@id=$name]", name=name)
        assert len(found) == 1, f"{len(found)} parts of the page are {name!r}"
        return Shown(found[0])

    def data(self, name: str) -> Any:
        """Return the data that the page gives to its scripts as JSON under this id."""
        [handed] = self._root.xpath("//script[@id=$name]", name=name)
        return json.loads(handed.text)

    def parts(self, css_class: str) -> "list[Shown]":
        """Return the parts of the page with this class, in its order."""
        return [Shown(element) for element in self._all(_has_class(css_class))]

    def _texts(self, condition: str) -> list[str]:
        return [_text(element) for element in self._all(condition)]

    def _all(self, condition: str) -> list[html.HtmlElement]:
        found: list[html.HtmlElement] = self._root.xpath(
            f"descendant-or-self::*[{condition}][not(ancestor-or-self::*[{NOT_SHOWN}])]"
        )
        return found

    def _label_of(self, box: html.HtmlElement) -> str:
        around = box.xpath("ancestor::label[1]")
        named = self._root.xpath("//label[@for=$name]", name=box.get("id", ""))
        return _text((around or named)[0]) if around or named else ""


def shown(answer: Any) -> Shown:
    """Return the visible content of the answer to a request, or of a text of HTML.

    Raises:
        AssertionError: the answer is an error of the server, or empty.
    """
    if isinstance(answer, str):
        return Shown(html.fromstring(answer))
    assert answer.status_code in (200, 422), answer.status_code
    return Shown(html.fromstring(answer.content.decode()))


def _has_class(name: str) -> str:
    return f"contains(concat(' ', normalize-space(@class), ' '), ' {name} ')"


def _table(element: html.HtmlElement) -> Table:
    lines = element.xpath("./tr | ./thead/tr | ./tbody/tr | ./tfoot/tr")
    heads = [line for line in lines if line.getparent().tag == "thead"]
    body = [line for line in lines if line not in heads]
    return Table(
        " ".join(map(_text, element.xpath("./caption"))),
        [_text(cell) for cell in heads[-1].xpath("./th | ./td")] if heads else [],
        [[_text(cell) for cell in line.xpath("./th | ./td")] for line in body],
        [{_text(a): a.get("href") for a in line.xpath(".//a[@href]")} for line in body],
    )


def markup(response: HttpResponse) -> str:
    """Return the markup of an answer, with line breaks and indentation as one space."""
    return " ".join(response.text.split())


def _text(element: html.HtmlElement) -> str:
    return " ".join(" ".join(_pieces(element)).split())


def _pieces(element: html.HtmlElement) -> Iterator[str]:
    hidden = f"ancestor::*[{NOT_SHOWN}]"
    yield from element.xpath(f".//text()[not({hidden})]")
