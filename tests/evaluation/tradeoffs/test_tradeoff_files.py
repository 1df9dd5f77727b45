"""The trade-off as files, by command and by API: all of them the same report."""

import csv
import io
import json
import xml.etree.ElementTree as ET

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from accounts.services import create_api_token
from evaluation.models import AutoScore
from evaluation.tradeoffs.chart_view import View
from evaluation.tradeoffs.figures.tradeoff.figure import figure_of
from evaluation.tradeoffs.material import material_of
from evaluation.tradeoffs.pages.methods import methods_paragraph
from evaluation.tradeoffs.recall_lines import RecallLine
from evaluation.tradeoffs.recalls import Recalls
from evaluation.tradeoffs.services.reranking import rerank
from generation.models import Setup
from tests.evaluation.commands import failure
from tests.evaluation.tradeoffs.by_hand import dot, material_by_hand
from tests.evaluation.tradeoffs.reranked import NAMES, axes_in, dataset_of
from tests.makers import example_row, import_rows, response_row

pytestmark = pytest.mark.once

MAGIC = {"svg": b"<svg", "pdf": b"%PDF-", "png": b"\x89PNG\r\n\x1a\n"}


@pytest.fixture
def dataset(tmp_path):
    return dataset_of(tmp_path / "own")


@pytest.fixture
def api(rosa):
    """Return a client that sends Rosa's token."""
    return Client(headers={"Authorization": f"Bearer {create_api_token(rosa, 'tests')}"})


@pytest.fixture
def page(rosa, client_for, dataset):
    """Return a function from the name of an address and its parameters to the answer."""
    client = client_for(rosa)

    def answered(name, *format_key, **parameters):
        return client.get(
            reverse(f"tradeoffs:{name}", args=[dataset.slug, *format_key]), parameters
        )

    return answered


def printed(capsys, *arguments):
    call_command("report", "tradeoff", "--dataset", "own", *arguments)
    out, err = capsys.readouterr()
    assert err == ""
    return out


def test_the_figure_opens_in_each_format(page):
    for format_key, magic in MAGIC.items():
        found = page("figure", format_key)

        assert found.content.startswith(magic)
        assert f'filename="own-tradeoff.{format_key}"' in found["Content-Disposition"]


def test_the_figure_has_the_view_of_its_address_and_says_its_axes(page):
    found = page("figure", "svg", labels="1", prompt="golden", attribution="")

    root = ET.fromstring(found.content)
    said = ["".join(each.itertext()) for each in root.iter() if each.tag.endswith("text")]
    assert "[0.0, PaLM 8B, Golden]" in said
    assert "[0.0, PaLM 8B, Golden + instr.]" not in said
    assert "Attribution: auto_ais t:0.5 (imported)" in said
    assert "Golden" in said  # its legend


def test_the_table_is_what_command_and_api_give(page, dataset, api, capsys):
    from_page = page("table", "json").json()
    from_command = json.loads(printed(capsys, "--format", "json"))
    address = f"/api/v1/datasets/{dataset.slug}/reports/tradeoff/"

    assert from_page == from_command == api.get(address).json()
    by_score = ["--by-score", "--attribution", "second", "--sensibleness", "sensible"]
    assert (
        json.loads(printed(capsys, "--format", "json", *by_score))
        == api.get(address, {"by_score": "true", "attribution": "second"}).json()
        != from_page
    )


def test_the_table_as_csv_and_latex(page):
    rows = list(csv.DictReader(io.StringIO(page("table", "csv").content.decode())))
    latex = page("table", "latex").content.decode()

    assert [row["setup"] for row in rows] == sorted(NAMES)  # all have the same F1
    assert float(rows[0]["attribution"]) == pytest.approx(2 / 3)
    assert "66.7 [4.4, 98.9]" in latex
    assert r"PaLM 8B & 0.0 & Golden, instructions & 1 & 3" in latex


def test_command_and_api_say_what_is_wrong(dataset, api):
    mistakes = {
        ("--dataset", "other"): "There is no dataset 'other'. There are: own",
        (): "Error: the following arguments are required: --dataset",
        (
            "--dataset",
            "own",
            "--attribution",
            "x",
        ): "Attribution: There is no axis 'x'. The",
    }
    for arguments, message in mistakes.items():
        assert failure("report", "tradeoff", *arguments).startswith(message)
    answer = api.get(f"/api/v1/datasets/{dataset.slug}/reports/tradeoff/", {"attribution": "x"})

    assert answer.status_code == 400
    assert "no axis 'x'" in answer.json()["axes"][0]


def test_a_dataset_without_runs_has_no_files(page, tmp_path):
    import_rows(tmp_path / "bare", "bare", examples=[example_row()], responses=[response_row()])
    address = reverse("tradeoffs:figure", args=["bare", "svg"])

    assert page("figure", "gif").status_code == 404
    assert page("table", "xlsx").status_code == 404
    assert page("methods").client.get(address).status_code == 404
    assert failure("report", "tradeoff", "--dataset", "bare").startswith(
        "There is no usual axis for attribution"
    )


def test_the_methods_paragraph_says_every_parameter(page, dataset):
    made = {
        "backend": "extractive",
        "signature": "extractive|v:1",
        "revision": "abc",
        "files": {"model.bin": "0123456789abcdef"},
        "retrieval": "bm25 of 8 passages",
    }
    Setup.objects.filter(dataset=dataset).update(made_with=made)
    rerank(dataset, axes_in(dataset), NAMES, "sensible-first")
    material = material_of(dataset, axes_in(dataset))

    found = methods_paragraph(material, View())

    # Without the aggregate, and right of where all three stand, at 2/3.
    own = page("methods", x_from="0.7").content.decode()
    assert "3 setups answered 4 examples from 4 dialogs of the dataset own, 12 responses" in own
    assert "Left out: 1 setup not shown, 2 responses in view" in own
    assert "attribution from 0.7 to 1 and sensibleness from 0.6 to 1; 3 setups outside it." in own
    for said in (
        "4 setups answered 4 examples from 4 dialogs of the dataset own, 15 responses in all.",
        f"labelled attributable by {material.axes.attribution.said} (a score above 0.5 is a yes",
        f"labelled sensible by {material.axes.sensibleness.said}",
        "F1 = 2SA/(S + A)",
        "1,000 resamples, seed 0",
        "extractive|v:1, revision abc, SHA-256 model.bin 0123456789ab",
        "Temperature 0.0.",
        "Golden; Golden, instructions; Retrieved 2",
        "top-p 1",
        "bm25 of 8 passages",
        "Sensible first among 3 setups for each example, 3 calls each",
        "makes its attribution and sensibleness too optimistic here",
        "2 responses in view without a label for attribution",
        f"Data {material.data_hash}, Attest ",
    ):
        assert said in found
    by_score = methods_paragraph(material, View(by_score=True, prompts=("golden",)))
    assert "Attribution is the mean score by" in by_score
    # Of golden and the aggregate, e4 of golden has no label.
    assert "2 setups answered 4 examples" in by_score
    assert "Left out: 2 setups not shown, 1 response in view without a label for attri" in by_score


def test_the_methods_paragraph_says_what_lines_of_retrieval_are_drawn_for():
    made = material_by_hand([(dot("golden"), "11.", "1.1")])
    line = RecallLine(((0.1, 0.2), (0.3, 0.4)), "top-1", "Top 1")
    figure = figure_of([], View(lines=True, k=3), [line])
    recalls = Recalls(0.6, 0.9, 3)

    found = methods_paragraph(made, View(lines=True, k=3), figure, recalls)

    assert f"Lines of simulated retrieval: {recalls.signature_part}." in found
    assert "Lines" not in methods_paragraph(made, View())
    unknown = methods_paragraph(made, View(lines=True), figure)
    assert "Lines of simulated retrieval: recall not known." in unknown


def test_a_figure_asks_as_many_queries_whatever_it_shows(page, dataset, django_assert_num_queries):
    page("figure", "svg")
    for number in ("1", "3"):
        with django_assert_num_queries(12):
            page("figure", "svg", figure=number, labels="1")


# --- figures by command and by API ----------------------------------------------------------


def drawn(tmp_path, *arguments, ending="svg"):
    """Return the file that the command writes."""
    file = tmp_path / f"figure.{ending}"
    call_command("figure", "tradeoff", "own", str(file), *arguments, stdout=io.StringIO())
    return file.read_bytes()


@pytest.mark.parametrize(
    "choices",
    [
        {"figure": "1"},
        {"figure": "2"},
        {"figure": "3", "large": "PaLM 8B"},
    ],
)
def test_command_and_api_draw_what_the_page_draws(page, api, tmp_path, choices):
    options = [part for name, value in choices.items() for part in (f"--{name}", value)]
    address = "/api/v1/datasets/own/reports/tradeoff/figure.svg"

    from_page = page("figure", "svg", **choices).content

    assert from_page.startswith(b"<svg")
    assert from_page == drawn(tmp_path, *options) == api.get(address, choices).content


def test_all_formats_and_mean_scores_are_written(api, tmp_path, dataset):
    for format_key, magic in MAGIC.items():
        address = f"/api/v1/datasets/own/reports/tradeoff/figure.{format_key}"
        found = api.get(address, {"by_score": "true"})

        assert found.content.startswith(magic)
        assert f'filename="own-tradeoff.{format_key}"' in found["Content-Disposition"]
        assert drawn(tmp_path, "--by-score", ending=format_key).startswith(magic)


def test_a_figure_that_cannot_be_drawn_is_not_written(dataset, api, tmp_path):
    file = tmp_path / "f.svg"
    for path, options, found in [
        (file, ["--figure", "4"], "This dataset has nothing for figure 4, Restricted, top-1"),
        (file, ["--figure", "3", "--large", "x"], "There is no large 'x' here"),
        (tmp_path / "f.gif", [], f"{tmp_path}/f.gif: found the ending '.gif'; expected one of"),
        (
            tmp_path / "f",
            [],
            f"{tmp_path}/f: found the ending ''; expected one of .svg, .pdf, .png",
        ),
        (tmp_path / "no" / "f.svg", [], f"{tmp_path}/no/f.svg: No such file or directory"),
    ]:
        said = failure("figure", "tradeoff", "own", path, *options)
        assert said.startswith(found)
        assert said.endswith("Nothing was written.")
    assert list(tmp_path.glob("f*")) == []

    AutoScore.objects.filter(run__dataset=dataset).update(
        score=None, problem="No words.", is_assumed=False
    )
    said = failure("figure", "tradeoff", "own", file, "--figure", "1")
    assert said.startswith("There is nothing to draw: no setup of this figure has an example")

    where = "/api/v1/datasets/own/reports/tradeoff/figure"
    assert api.get(f"{where}.svg", {"figure": "4"}).status_code == 404
    assert api.get(f"{where}.svg", {"figure": "8"}).status_code == 400
    assert api.get(f"{where}.svg", {"figure": "3", "large": "x"}).status_code == 400
    assert api.get(f"{where}.gif").status_code == 404
    assert Client().get(f"{where}.svg").status_code == 401
