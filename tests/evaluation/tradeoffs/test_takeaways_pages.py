"""The pages of takeaways and of comparable setups, and their files."""

import csv
import io
import json

import pytest
from django.core.management import call_command
from django.urls import reverse

from generation.models import Dataset
from tests.makers import example_row, import_rows, response_row, statements
from tests.shown import shown

pytestmark = pytest.mark.once

MOVES = ("Mostly along (local)", "Mostly across (global)", "Mixed")

# Prompt → attributable and sensible of four examples.
GOLDEN = {"golden": ("1110", "1110"), "no-evidence": ("1000", "1110")}


@pytest.fixture(autouse=True)
def own_folder(own_cache_and_folder):
    """Keep this module's stored results apart from those of other tests."""


def imported(folder, prompts, name="mill", model="PaLM 8B", n_examples=4, **more):
    """Import responses with what both metrics say of them."""
    responses, scores = [], []
    for prompt, sides in prompts.items():
        setup = {"model": model, "temperature": 0, "prompt": prompt}
        for number, labels in enumerate(zip(*sides, strict=True), start=1):
            key = f"{prompt}-{number}"
            tokens = {"total": 50 + len(prompts)}
            responses.append(response_row(key, f"e{number}", setup=setup, tokens=tokens))
            scores += [
                {"response": key, "metric": metric, "score": label, "signature": "t:0.5"}
                for metric, label in zip(("auto_ais", "sensible"), labels, strict=True)
            ]
    examples = [example_row(f"e{number}") for number in range(1, n_examples + 1)]
    import_rows(folder / name, name, examples=examples, responses=responses, scores=scores, **more)
    return Dataset.objects.get(name=name)


@pytest.fixture
def dataset(tmp_path):
    return imported(tmp_path, GOLDEN)


def address(name, dataset, *more):
    return reverse(f"tradeoffs:{name}", args=[dataset.slug, *more])


def effect(page, begin):
    """Return the cells of the one effect whose words begin so."""
    table = page.table("Differences of F1, attribution and sensibleness over all pairs")
    [found] = [row[2:] for row in table.rows if row[1].startswith(begin)]
    return found


# --- takeaways ------------------------------------------------------------------------------


def test_takeaways_stand_in_a_table_beside_their_chart(researcher, dataset):
    page = shown(researcher.get(address("takeaways", dataset)))

    # F1 .75 - 2 · .25 · .75 / 1 = .375; attribution .75 - .25; sensibleness the same.
    golden = effect(page, "Golden evidence")
    assert [cell.split()[0] for cell in golden] == ["+0.38", "+50.0", "0.0", "100", "1", "4"]
    assert "no pair of setups differs in history alone" in effect(page, "History")
    assert set(page.data("plots")["charts"]) == {"effects"}
    assert "Cannot be tested History and golden evidence each raise F1." in page.text


def test_where_nothing_pairs_every_effect_says_why(researcher, tmp_path):
    dataset = imported(tmp_path, {"golden": ("1110", "1110")})

    page = shown(researcher.get(address("takeaways", dataset)))

    assert "No pairs yet" in page.headings
    assert "no pair of setups differs in temperature alone" in effect(page, "Temperature")
    assert researcher.get(address("takeaways-file", dataset, "svg")).status_code == 404


@pytest.mark.parametrize("name", ["takeaways", "comparable"])
def test_without_axes_the_page_says_how_to_have_them(researcher, tmp_path, name):
    import_rows(tmp_path / "a", "mill", examples=[example_row()], responses=[response_row()])
    dataset = Dataset.objects.get()

    page = shown(researcher.get(address(name, dataset)))
    assert "Nothing to draw yet" in page.headings
    assert researcher.get(address(f"{name}-file", dataset, "csv")).status_code == 404


def test_models_of_unknown_size_may_be_said_to_be_larger(researcher, tmp_path):
    dataset = imported(tmp_path, GOLDEN, model="new")
    setup = dataset.setups.get(prompt="no-evidence")
    setup.model, setup.prompt = "old", "golden"
    setup.save()

    before = shown(researcher.get(address("takeaways", dataset)))
    said = {"large": "new", "small": "old"}
    answer = researcher.get(address("takeaways", dataset), said, headers={"HX-Request": "true"})

    assert "choose the larger model" in effect(before, "Size")[1]
    assert "<html" not in answer.text
    page = shown(answer)
    assert effect(page, "Size new − old")[4] == "1"
    assert "takeaways.csv?large=new&amp;small=old" in answer.text


@pytest.mark.parametrize(
    ("format_key", "start"),
    [("json", b"{"), ("latex", b"% takeaways | "), ("svg", b"<svg"), ("pdf", b"%PDF")],
)
def test_table_and_figure_come_as_files(researcher, dataset, format_key, start):
    answer = researcher.get(address("takeaways-file", dataset, format_key))

    assert answer.status_code == 200
    assert answer.content.startswith(start)
    assert answer["Content-Disposition"].startswith('attachment; filename="mill-takeaways.')


def test_an_unknown_format_is_not_found(researcher, dataset):
    assert researcher.get(address("takeaways-file", dataset, "exe")).status_code == 404
    assert researcher.get(address("comparable-file", dataset, "svg")).status_code == 404


# --- comparable setups ----------------------------------------------------------------------


def test_comparable_pairs_stand_with_how_they_move(researcher, dataset):
    page = shown(researcher.get(address("comparable", dataset)))

    row = page.table("Pairs").row("No evidence → Golden PaLM 8B, T 0.0")
    assert row["Comparable by"] == "context"
    assert row["Move"].startswith("— fewer than 5 dialogs")
    assert row["Attribution"] == "+50.0"
    counts = page.table("How many").row("context")
    assert [counts[name] for name in ("Pairs", *MOVES)] == ["1", "0", "0", "0"]
    assert (counts["No clear move"], counts["Left out"]) == ("0", "1")
    assert counts["Along, of clear"] == "—"
    assert "No clear move" in page.headings


def test_the_file_of_comparable_pairs_holds_all(researcher, dataset, monkeypatch):
    monkeypatch.setattr("evaluation.tradeoffs.views.takeaways.MOST_SHOWN", 0)

    page = shown(researcher.get(address("comparable", dataset)))
    file = researcher.get(address("comparable-file", dataset, "csv"))

    assert "0 of 1 pairs are shown" in page.text
    assert page.table("Pairs").rows == []
    [row] = csv.DictReader(io.StringIO(file.text))
    assert float(row["attribution_difference"]) == pytest.approx(0.5)


def test_without_comparable_setups_the_page_says_what_makes_them(researcher, tmp_path):
    dataset = imported(tmp_path, {"golden": ("1110", "1110")})

    assert "No comparable setups" in shown(researcher.get(address("comparable", dataset))).headings


@pytest.mark.parametrize("name", ["takeaways", "comparable"])
def test_what_is_kept_follows_the_scores(researcher, dataset, name):
    file = address(f"{name}-file", dataset, "json")
    before = researcher.get(file).json()
    assert researcher.get(file).json() == before

    run = dataset.metric_runs.get(metric="auto_ais")
    run.scores.filter(target__response__key="no-evidence-2").update(score=1)

    differences = [row["attribution_difference"] for row in researcher.get(file).json()["rows"]]
    assert 0.25 in differences  # .75 - .5


def test_the_interface_answers_with_what_the_page_keeps(researcher, dataset, monkeypatch):
    file = researcher.get(address("takeaways-file", dataset, "json")).json()
    monkeypatch.setattr(
        "evaluation.tradeoffs.reports.takeaways.takeaways_report", None
    )  # nothing is made

    assert researcher.get(f"/api/v1/datasets/{dataset.slug}/reports/takeaways/").json() == file


@pytest.mark.parametrize("name", ["takeaways", "comparable"])
def test_the_command_prints_what_the_page_shows(researcher, dataset, name, capsys):
    call_command("report", name, "--dataset", "mill", "--format", "json")

    assert json.loads(capsys.readouterr().out) == (
        researcher.get(address(f"{name}-file", dataset, "json")).json()
    )


# --- cost -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["takeaways", "comparable"])
def test_the_number_of_queries_does_not_grow(researcher, tmp_path, name, dataset):
    more = {"golden-instructions": ("111000", "111000"), "random": ("111000", "110000")}
    large = imported(tmp_path, more, "large", n_examples=6)
    researcher.get(reverse("tradeoffs:tradeoffs"))  # both pages are made for the first time

    def n_queries(of):
        return len(statements(lambda: researcher.get(address(name, of))))

    few, many = n_queries(dataset), n_queries(large)

    assert many == few
