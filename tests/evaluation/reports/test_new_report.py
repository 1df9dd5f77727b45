"""A report that is declared: the command, the API with its schema and every format have it."""

import json
import sys
from dataclasses import dataclass
from types import ModuleType
from typing import Annotated, NamedTuple

import pytest
from django.core.management import call_command
from django.test import Client
from drf_spectacular.generators import SchemaGenerator

from accounts.services import create_api_token
from evaluation.reports import registry
from evaluation.reports.api import report_addresses
from evaluation.reports.columns import Column, Format
from evaluation.reports.registry import ReportKind
from evaluation.reports.rows import Report, Row
from generation.choices.declaration import Choice, ChoiceError
from generation.models import Dataset
from tests.evaluation.commands import failure
from tests.evaluation.pages import make_pilot

pytestmark = pytest.mark.once


@dataclass(frozen=True, kw_only=True)
class LengthRow(Row):
    setup: Annotated[str, Column("Setup")]
    n: Annotated[int, Column("Long enough", Format.COUNT)]
    share: Annotated[float, Column("Share", Format.PERCENT)]
    price: float = 0.5


class LengthChoices(NamedTuple):
    at_least: Annotated[int, Choice("At least", help="Words that count.", low=1, high=9)] = 1
    setup: Annotated[str, Choice("Setup")] = ""


def lengths_report(dataset, choices):
    """Return how many words responses have, setup by setup."""
    rows = []
    for setup in dataset.setups.order_by("name"):
        lengths = [len(response.text.split()) for response in setup.responses.all()]
        n = sum(length >= choices.at_least for length in lengths)
        rows.append(LengthRow(setup=setup.name, n=n, share=n / len(lengths)))
    return Report(dataset.name, "lengths", rows, {"empty": 0}, f"lengths | {choices.at_least}")


def check(dataset, choices):
    if choices.setup and not dataset.setups.filter(name=choices.setup).exists():
        raise ChoiceError("setup", f"There is no setup {choices.setup!r} here.")


LENGTHS = ReportKind(
    key="lengths",
    title="Lengths",
    lede="How many words responses have.",
    about=Dataset,
    choices=LengthChoices,
    make=lengths_report,
    check=check,
    rows=(LengthRow,),
)


@pytest.fixture
def dataset(tmp_path, settings, monkeypatch):
    """A dataset, with the report among all others in the commands and the addresses."""
    monkeypatch.setattr(registry, "_registered", {**registry.all_reports(), "lengths": LENGTHS})
    registry.all_reports.cache_clear()
    addresses = ModuleType("addresses_with_lengths")
    vars(addresses)["urlpatterns"] = list(report_addresses())
    monkeypatch.setitem(sys.modules, addresses.__name__, addresses)
    settings.ROOT_URLCONF = addresses.__name__
    make_pilot(tmp_path)
    yield Dataset.objects.get()
    registry.all_reports.cache_clear()


@pytest.fixture
def api(dataset, rosa):
    return Client(headers={"Authorization": f"Bearer {create_api_token(rosa, 'tests')}"})


def printed(capsys, *arguments):
    call_command("report", "lengths", "--dataset", "pilot", *arguments)
    return capsys.readouterr().out


def test_the_command_prints_it_in_every_format(dataset, capsys):
    found = json.loads(printed(capsys, "--format", "json", "--at-least", "2"))

    assert found["signature"] == "lengths | 2"
    assert [row["price"] for row in found["rows"]] == [0.5] * dataset.setups.count()
    assert "study,setup,n,share,price,left_out,signature" in printed(capsys, "--format", "csv")
    assert r"Setup & Long enough & Share, \% \\" in printed(capsys, "--format", "latex")
    assert "pilot: lengths" in printed(capsys)


def test_a_choice_that_means_nothing_is_refused(dataset):
    asked = ("report", "lengths", "--dataset", "pilot")

    assert "argument --at-least: found 0; expected 1 to 9" in failure(*asked, "--at-least", "0")
    assert failure(*asked, "--setup", "x") == "There is no setup 'x' here."


def test_the_api_answers_what_the_command_prints(dataset, api, capsys):
    address = f"/v1/datasets/{dataset.slug}/reports/lengths/"

    answer = api.get(address, {"at_least": 3})

    assert answer.json() == json.loads(printed(capsys, "--format", "json", "--at-least", "3"))
    assert api.get(address, {"at_least": 10}).status_code == 400
    assert api.get(address, {"setup": "x"}).json() == {"setup": ["There is no setup 'x' here."]}
    assert "there are: at_least, setup" in str(api.get(address, {"least": 1}).json())
    nothing = api.get(f"/v1/datasets/{dataset.slug}/reports/length/")
    assert "lengths" in nothing.json()["detail"]


def test_the_document_of_the_api_has_it_with_its_choices(dataset):
    document = SchemaGenerator(patterns=list(report_addresses())).get_schema(public=True)
    [address] = [address for address in document["paths"] if address.endswith("/lengths/")]
    operation = document["paths"][address]["get"]

    by_name = {each["name"]: each for each in operation["parameters"]}
    assert operation["description"].startswith("How many words responses have.")
    assert by_name["at_least"]["schema"] == {
        "type": "integer",
        "maximum": 9,
        "minimum": 1,
        "default": 1,
    }
    assert by_name["at_least"]["description"] == "Words that count."
