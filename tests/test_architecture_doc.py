"""The statements of docs/architecture.md are true: rooms, journeys, places, and adding things."""

import ast
import json
import re
from collections.abc import Iterator
from functools import cache

import pytest
from django.core.management import call_command
from django.http import HttpResponse
from django.template import engines
from django.urls import include, path, reverse

from accounts.access import Role, allowed
from accounts.http import SignedInRequest
from annotation import schemes
from generation.importers import READERS, Reader
from generation.importers.material import FileMaterial
from generation.importers.sources import Source
from generation.models import Dataset
from generation.records import ExampleRecord, Problem, TurnRecord, Where
from tests.makers import example_row, import_rows, response_row
from tests.shown import shown
from tests.test_architecture import ROOMS, ROOT

DOCUMENT = (ROOT / "docs/architecture.md").read_text("utf-8")
FILE = r"`([\w/.]+\.(?:py|html))`"


@cache
def names_in(file: str) -> frozenset[str]:
    """Return what a module defines at its top."""
    found: set[str] = set()
    for node in ast.parse((ROOT / file).read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found.update(target.id for target in targets if isinstance(target, ast.Name))
    return frozenset(found)


def section(title: str) -> str:
    return DOCUMENT.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def test_the_rooms_are_those_that_the_directions_are_tested_by():
    drawn = section("The rooms of evaluation").split("```")[1].strip().splitlines()

    assert [tuple(re.split(r" {2,}", line)[0].split(", ")) for line in drawn] == ROOMS


def test_every_file_that_is_named_is_there():
    named = set(re.findall(FILE, DOCUMENT)) - {"urls.py"}

    assert named
    assert not [file for file in named if not (ROOT / file).is_file()]


def steps() -> Iterator[tuple[str, str]]:
    """Return the (file, name) of the steps of the journeys."""
    for file, names in re.findall(FILE + r":\s+((?:`\w+`(?: and )?)+)", section("Four journeys")):
        for name in re.findall(r"`(\w+)`", names):
            yield file, name


def places() -> Iterator[tuple[str, str]]:
    """Return the (file, name) of the table of questions."""
    rows = re.findall(rf"^\| [^|]+ \| {FILE} \| `(\w+)` \|$", section("Where is …"), re.MULTILINE)
    yield from rows


def test_there_are_four_journeys_and_twenty_questions():
    assert section("Four journeys").count("**") == 2 * 4
    assert len(list(steps())) >= 4 * 5
    assert len(list(places())) >= 20
    assert len(list(places())) == section("Where is …").count("? |")


@pytest.mark.parametrize(("file", "name"), [*steps(), *places()])
def test_what_is_named_lies_where_it_is_said_to_lie(file: str, name: str):
    assert name in names_in(file)


# --- to add a thing -------------------------------------------------------------------------


class LineMaterial(FileMaterial):
    """A new format: a text file that begins with '# questions', a question on each further line."""

    format = "lines"
    one_file = "one text file"

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.kinds = ("examples",)

    def records(self, kind: str) -> Iterator[ExampleRecord | Problem]:
        for line in self._source.lines(self._file):
            text = line.text.strip()
            where = Where(self._file, line.number)
            if not text.startswith("#"):
                turns = (TurnRecord("user", text, -1),)
                yield ExampleRecord(where, text, text, turns, None, (), {})


def is_lines(source: Source) -> bool:
    name = source.only_data_file()
    return name is not None and source.head(name, 11) == b"# questions"


@pytest.mark.once
def test_a_reader_is_a_module_and_a_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(READERS, "lines", Reader(is_lines, LineMaterial))
    file = tmp_path / "asked.txt"
    file.write_text("# questions\nWhere is Rome?\nWho was Ada?\n", encoding="utf-8")

    call_command("import_dataset", str(file), name="Asked")

    assert sorted(Dataset.objects.get().examples.values_list("key", flat=True)) == [
        "Where is Rome?",
        "Who was Ada?",
    ]


@pytest.mark.once
def test_a_scheme_is_a_file(tmp_path, monkeypatch, rosa, client_for):
    for file in schemes.SCHEME_FILES.glob("*.json"):
        (tmp_path / file.name).write_text(file.read_text("utf-8"), encoding="utf-8")
    kind = {"key": "kind", "wording": "Is the response kind?", "scale": "yes_no", "better": "yes"}
    scheme = {"key": "KIND", "title": "Kindness", "evidence": "none", "questions": [kind]}
    (tmp_path / "kind.json").write_text(json.dumps(scheme), encoding="utf-8")
    monkeypatch.setattr(schemes, "SCHEME_FILES", tmp_path)
    schemes.built_in_schemes.cache_clear()

    import_rows(tmp_path / "pilot", examples=[example_row()], responses=[response_row()])
    page = client_for(rosa).get(reverse("annotation:new-study"), {"dataset": "pilot"})

    schemes.built_in_schemes.cache_clear()
    assert "Kindness" in page.content.decode()


@allowed(Role.RESEARCHER)
def new_page(request: SignedInRequest) -> HttpResponse:
    """A new page, whose template would be a file."""
    template = "{% extends 'base.html' %}{% block main %}<h1>Rooms</h1>{% endblock %}"
    return HttpResponse(engines["django"].from_string(template).render({}, request))


urlpatterns = [path("rooms/", new_page, name="rooms"), path("", include("config.urls"))]


@pytest.mark.once
@pytest.mark.urls("tests.test_architecture_doc")
def test_a_page_is_a_view_an_address_and_a_template(client_for, client, rosa, rachel):
    assert shown(client_for(rosa).get("/rooms/")).headings == ["Rooms"]
    assert client_for(rachel).get("/rooms/").status_code == 403
    assert client.get("/rooms/").status_code == 302
