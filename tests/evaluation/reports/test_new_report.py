"""A report that is declared: the command, the API with its schema and every format have it."""

import json
import sys
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Annotated, NamedTuple

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import include, path, reverse
from drf_spectacular.generators import SchemaGenerator

from accounts.services import create_api_token
from evaluation.reports import registry
from evaluation.reports.api import report_addresses
from evaluation.reports.columns import Column, Format
from evaluation.reports.formats import FORMATS, write_report
from evaluation.reports.registry import ReportGroup, ReportKind
from evaluation.reports.report import Report, ReportRow
from generation.choices.declaration import Choice, ChoiceError
from generation.models import Dataset
from tests.evaluation.commands import failure
from tests.evaluation.pages import make_pilot
from tests.shown import shown

pytestmark = pytest.mark.once
PAGE, FILE = "evaluation:report-of-dataset", "evaluation:report-file-of-dataset"


@dataclass(frozen=True, kw_only=True)
class LengthRow(ReportRow):
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
    group=ReportGroup.SETUPS,
    about=Dataset,
    choices=LengthChoices,
    make=lengths_report,
    check=check,
    rows=(LengthRow,),
    leads={"n": lambda dataset, choices, row: f"/long/{row.setup}?at_least={choices.at_least}"},
)


@pytest.fixture
def dataset(tmp_path, settings, monkeypatch):
    """A dataset, with the report among all others in the commands and the addresses."""
    monkeypatch.setattr(registry, "_registered", {**registry.all_reports(), "lengths": LENGTHS})
    registry.all_reports.cache_clear()
    addresses = ModuleType("addresses_with_lengths")
    vars(addresses)["urlpatterns"] = list(report_addresses())
    monkeypatch.setitem(sys.modules, addresses.__name__, addresses)
    pages = include("config.urls")
    vars(addresses)["urlpatterns"].append(path("", pages))
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
    assert "The parameters are: at_least, setup" in str(api.get(address, {"least": 1}).json())
    nothing = api.get(f"/v1/datasets/{dataset.slug}/reports/length/")
    assert "lengths" in nothing.json()["detail"]


def test_the_document_of_the_api_has_it_with_its_choices(dataset):
    document = SchemaGenerator(patterns=list(report_addresses())).get_schema(public=True)
    [address] = [address for address in document["paths"] if address.endswith("/lengths/")]
    operation = document["paths"][address]["get"]

    by_name = {each["name"]: each for each in operation["parameters"]}
    assert operation["description"].startswith("How many words responses have.")
    assert "`n` (Long enough), `share` (Share, %)." in operation["description"]
    assert by_name["at_least"]["schema"] == {
        "type": "integer",
        "maximum": 9,
        "minimum": 1,
        "default": 1,
    }
    assert by_name["at_least"]["description"] == "Words that count."


def test_two_columns_of_a_row_are_not_called_the_same():
    @dataclass(frozen=True, kw_only=True)
    class Twice(ReportRow):
        n: Annotated[int, Column("Words", Format.COUNT)]
        n_all: Annotated[int, Column("Words", Format.COUNT)]

    with pytest.raises(ValueError, match="Twice has no columns, or one twice"):
        registry.register(replace(LENGTHS, rows=(Twice,)))


def test_only_a_column_that_there_is_leads_somewhere():
    with pytest.raises(ValueError, match="lengths has no column words"):
        registry.register(replace(LENGTHS, leads={"words": lambda *_: "/"}))


def test_the_page_shows_it_with_its_choices_and_its_files(dataset, rosa, client_for):
    address = reverse(PAGE, args=[dataset.slug, "lengths"])

    page = shown(client_for(rosa).get(address, {"at_least": 3}))

    table = page.table("Lengths")
    assert table.columns == ["Setup", "Long enough", "Share, %"]
    assert table.column("Setup") == sorted(dataset.setups.values_list("name", flat=True))
    assert page.fields["at_least"] == "3"
    assert [f"/long/{name}?at_least=3" for name in table.column("Setup")] == [
        address for address in page.addresses if address.startswith("/long/")
    ]
    for format_key in FORMATS:
        file = reverse(FILE, args=[dataset.slug, "lengths", format_key])
        assert f"{file}?at_least=3" in page.addresses
        answer = client_for(rosa).get(file, {"at_least": 3})
        assert answer.text == write_report(lengths_report(dataset, LengthChoices(3)), format_key)
    assert "How many words responses have." in page.text
    assert "Signature" in page.text


def test_every_report_is_a_tab_and_a_line_of_the_list(dataset, rosa, client_for):
    page = shown(
        client_for(rosa).get(reverse("evaluation:reports-of-dataset", args=[dataset.slug]))
    )

    for kind in registry.reports_about(Dataset):
        assert reverse(PAGE, args=[dataset.slug, kind.key]) in page.addresses
        assert kind.lede in page.text


def test_the_page_says_what_is_wrong_with_a_choice(dataset, rosa, client_for):
    address = reverse(PAGE, args=[dataset.slug, "lengths"])

    unknown = shown(client_for(rosa).get(address, {"setup": "x"}))
    assert "x is not one of the available choices. The usual one is taken." in unknown.text
    outside = shown(client_for(rosa).get(address, {"at_least": 10}))
    assert "less than or equal to 9. The usual one is taken." in outside.text
    assert outside.table("Lengths").rows


def test_a_report_that_there_is_not_names_those_that_there_are(dataset, rosa, client_for):
    address = reverse(PAGE, args=[dataset.slug, "length"])
    file = reverse(FILE, args=[dataset.slug, "lengths", "gif"])

    assert client_for(rosa).get(address).status_code == 404
    assert client_for(rosa).get(file).status_code == 404


@pytest.mark.parametrize("of", ["study", "dataset"])
def test_pages_of_reports_are_for_researchers(of, rachel, adam, client_for):
    for user in (rachel, adam):
        answer = client_for(user).get(reverse(f"evaluation:reports-of-{of}", args=["x"]))
        assert answer.status_code == (403 if user is rachel else 404)


def test_a_line_of_markdown_is_one_line_whatever_a_name_holds(dataset):
    row = LengthRow(setup="a | b\nc*", n=1200, share=0.25)

    said = write_report(Report("pilot", "lengths", [row], {"empty": 2}, "lengths | 1"), "markdown")

    assert said == "\n".join(
        [
            "| Setup | Long enough | Share, % |",
            "| :-- | --: | --: |",
            r"| a \| b c\* | 1,200 | 25.0 |",
            "",
            "Left out: empty 2",
            "",
            "`lengths | 1`",
            "",
        ]
    )
