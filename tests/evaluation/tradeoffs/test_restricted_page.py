"""The page of restricted context: planning, scoring, both curves, recalls measured or typed."""

import csv
import io
import json
from urllib.parse import parse_qsl

import pytest
from django.core.management import call_command
from django.urls import reverse

from evaluation.tradeoffs import recalls
from generation.models import Checkpoint, Dataset, Grid
from generation.text.prompt_types import SHARES
from tests.evaluation.commands import failure
from tests.evaluation.tradeoffs.restricted import LABELS, MODEL, restricted_dataset
from tests.makers import example_row, import_rows
from tests.shown import shown

pytestmark = pytest.mark.once

PLANNED = {
    "name": "mill, restricted",
    "model": "extractive",
    "sample": "",
    "non_evidence": ["next-best"],
    "shares": [f"{share:.1f}" for share in SHARES],
}


@pytest.fixture(autouse=True)
def own_folder(own_cache_and_folder):
    """Indexes of other tests stay theirs."""


@pytest.fixture
def scored(tmp_path) -> Dataset:
    return restricted_dataset(tmp_path)


@pytest.fixture
def bare(tmp_path) -> Dataset:
    """A dataset without responses."""
    import_rows(tmp_path / "bare", "bare", examples=[example_row("e1"), example_row("e2")])
    return Dataset.objects.get()


def page_of(client, dataset, **chosen):
    return client.get(reverse("tradeoffs:restricted", args=[dataset.slug]), chosen)


def file_of(client, dataset, format_key, **chosen):
    return client.get(reverse("tradeoffs:restricted-file", args=[dataset.slug, format_key]), chosen)


def plan(client, dataset, **more):
    return client.post(reverse("tradeoffs:start-restricted", args=[dataset.slug]), PLANNED | more)


# --- planning -------------------------------------------------------------------------------


def test_without_responses_the_page_leaves_the_model_to_the_person(researcher, bare):
    Checkpoint.objects.create(name="tiny-8b", backend="openai")
    Checkpoint.objects.create(name="tiny-70b", backend="openai")

    page = shown(page_of(researcher, bare))

    assert page.fields["model"] == ""
    assert [*page.choices("model")] == ["", "extractive", "tiny-8b", "tiny-70b"]
    assert page.fields["non_evidence"] == ["next-best"]
    assert "Plan the grid" in page.text
    assert "Not scored yet" not in page.text


def test_the_grid_is_planned_and_its_page_comes_next(
    researcher, bare, django_capture_on_commit_callbacks
):
    answer = plan(researcher, bare)

    grid = Grid.objects.get()
    assert answer.url == reverse("grids:grid", args=[grid.pk])
    assert grid.choices["prompts"][0] == "restricted-golden-1.0"
    assert grid.choices["prompts"][-1] == "restricted-next-best-0.0"
    # Of both kinds, but the whole dialog has no evidence of either.
    assert len(grid.choices["prompts"]) == 2 * len(SHARES) - 1
    assert grid.choices["temperatures"] == [0.0]
    assert grid.state == Grid.State.PLANNING
    page = shown(page_of(researcher, bare))
    assert page.links[grid.name] == reverse("grids:grid", args=[grid.pk])


def test_sending_the_form_twice_plans_one_grid(researcher, bare):
    assert plan(researcher, bare).url == plan(researcher, bare).url
    assert Grid.objects.count() == 1


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"model": "no such model"}, "no such model"),
        ({"shares": []}, "This field is required"),
        ({"shares": ["0.75"]}, "0.75"),
        ({"name": " "}, "This field is required"),
    ],
)
def test_what_cannot_be_planned_is_said_at_its_field(researcher, bare, wrong, said):
    answer = plan(researcher, bare, **wrong)

    assert answer.status_code == 422
    [field] = wrong
    assert said in shown(answer).errors[field]
    assert not Grid.objects.exists()


def test_a_name_that_another_grid_has_is_refused(researcher, bare):
    plan(researcher, bare)

    answer = plan(researcher, bare, shares=["1.0"])

    assert answer.status_code == 422
    assert "Another grid" in shown(answer).errors["name"]
    # A new page offers a name that is free.
    Grid.objects.update(name="Restricted context, bare")
    assert shown(page_of(researcher, bare)).fields["name"] == "Restricted context, bare 2"


# --- what is there --------------------------------------------------------------------------


def test_responses_without_scores_lead_to_both_runs(researcher, tmp_path):
    dataset = restricted_dataset(tmp_path, is_scored=False)

    page = shown(page_of(researcher, dataset))

    assert "Not scored yet" in page.headings
    start = reverse("evaluation:start-run")
    assert f"{start}?dataset=mill&metric=auto_ais&evidence=golden" in page.addresses
    assert f"{start}?dataset=mill&metric=sensible" in page.addresses
    assert file_of(researcher, dataset, "json").status_code == 404


def test_both_curves_stand_in_the_table_and_in_the_figure(researcher, scored):
    page = shown(page_of(researcher, scored, k=3, recall_1=0.5, recall_k=0.75))

    assert "Recall@1 0.5 (typed)" in page.text
    assert "recall@3 0.75 (typed)" in page.text
    assert len(page.parts("plot--desk")[0].parts("dot")) == len(LABELS)
    for style in ("golden", "non-evidence", "top-1", "top-1-mark", "top-k", "top-k-mark"):
        assert page.parts(f"line--{style}")
    curves, top_k = page.tables
    # At 80 %: top 1 at (.3, .8), top 3 at (.6, .5); see the test of the report.
    figures = [cell.split()[0] for cell in top_k.rows[1][2:]]
    assert figures[:6] == ["30.0", "80.0", "43.6", "60.0", "50.0", "54.5"]
    assert figures[6:] == ["+30.0", "−30.0", "+10.9", "5"]
    assert curves.rows[1][:2] == ["80 %", "82.0"]  # asked for, and really kept
    # Golden has F1 from .4 / 1.2 to .96 / 1.4, and trades one share for the other in each step.
    assert ".33 to .69" in page.text
    assert "2 of 2 steps" in page.text


def test_recall_is_measured_where_nobody_types_it(researcher, scored):
    # Each question finds its own passage first.
    answer = page_of(researcher, scored)

    text = shown(answer).text
    for said in (
        "Recall@1 1 (measured by BM25)",
        "recall@3 1 (measured by BM25)",
        "over 5 examples",
    ):
        assert said in text
    assert 'placeholder="1"' in answer.text


def test_a_recall_that_is_none_is_refused_and_measured_instead(researcher, scored):
    page = shown(page_of(researcher, scored, recall_1="1.5", k="1"))

    assert "1.5" in page.part("choice-recall_1-error").text
    assert "k, 1:" in page.part("choice-k-error").text
    assert "Recall@1 1 (measured by BM25)" in page.text

    backwards = shown(page_of(researcher, scored, recall_1="0.8", recall_k="0.6"))
    said = backwards.part("choice-recall_k-error").text
    assert "0.6" in said
    assert "at least recall@1, which is 0.8." in said


def test_one_typed_recall_stands_beside_a_measured_one(researcher, scored):
    # Both are measured as 1.
    half = page_of(researcher, scored, recall_1="0.5")
    assert "Recall@1 0.5 (typed), recall@3 1 (measured by BM25)" in shown(half).text
    assert half.context["report"].rows[1].top_1_attribution.value == pytest.approx(0.3)

    below = page_of(researcher, scored, recall_k="0.6")
    page = shown(below)
    said = page.part("choice-recall_k-error").text
    assert "0.6" in said
    assert "at least 1, the measured recall@1" in said
    assert "recall@3 1 (measured by BM25)" in page.text
    assert "recall_k=" not in below.context["query"]


def test_links_to_the_figures_carry_the_choices(researcher, scored):
    answer = page_of(researcher, scored, k=2, recall_1="0.5", measure="score")

    for figure in ("figure_4", "figure_5"):
        said = dict(parse_qsl(answer.context[figure].removeprefix("?")))
        assert (said["large"], said["temperature"], said["measure"]) == (MODEL, "0", "score")
    assert said["k"] == "2"
    page = shown(answer)
    assert "with measured recalls" in page.text
    assert "Mean scores" in page.text
    _, top_k = page.tables
    # At 80 % two passages leave 60 %, which is not measured; at 40 % none of the dialog.
    assert top_k.rows[1][1] == "60 % between 0.4 and 0.8"
    assert "golden evidence is not measured at 0%" in top_k.rows[2][-1]


def test_what_nothing_measures_is_typed(researcher, scored, monkeypatch):
    monkeypatch.setattr(recalls, "can_wait_for_index", lambda dataset: False)

    page = shown(page_of(researcher, scored))
    assert "Recall@1 not known, recall@3 not known" in page.text
    typed = shown(page_of(researcher, scored, recall_1="0.5", recall_k="0.75"))
    assert "Recall@1 0.5 (typed), recall@3 0.75 (typed)" in typed.text


def test_one_curve_alone_is_no_grid(researcher, tmp_path):
    golden = {key: sides for key, sides in LABELS.items() if key[0] == "golden"}

    page = shown(page_of(researcher, restricted_dataset(tmp_path, golden)))

    assert "One curve alone" in page.headings
    assert "Not scored yet" not in page.text


def test_the_files_follow_the_choices_of_the_address(researcher, scored):
    chosen = {"recall_1": "0.5", "recall_k": "0.75"}

    report = json.loads(file_of(researcher, scored, "json", **chosen).content)
    rows = list(csv.DictReader(io.StringIO(file_of(researcher, scored, "csv", **chosen).text)))

    assert (report["study"], report["report"]) == ("mill", "restricted")
    assert [row["delta_attribution"] for row in report["rows"]][:2] == pytest.approx([0, 0.3])
    assert float(rows[1]["delta_attribution"]) == pytest.approx(0.3)
    assert "typed" in report["signature"]
    assert r"\toprule" in file_of(researcher, scored, "latex", **chosen).text
    assert file_of(researcher, scored, "xlsx").status_code == 404
    assert "csv?recall_1=0.5&amp;recall_k=0.75" in page_of(researcher, scored, **chosen).text


def test_the_command_prints_what_the_page_shows(researcher, scored, capsys):
    chosen = {"recall_1": "0.5", "recall_k": "0.75"}
    asked = ("report", "restricted", "--dataset", "mill", "--recall-1", "0.5")

    call_command(*asked, "--recall-k", "0.75", "--format", "json")

    of_page = file_of(researcher, scored, "json", **chosen).text
    assert capsys.readouterr().out == of_page
    assert failure(*asked, "--recall-k", "0.25") == (
        "Found 0.25; expected at least recall@1, which is 0.5."
    )
    assert failure(*asked, "--pair", "x").startswith("There is no pair 'x' here. There are: ")


def test_the_command_says_that_nothing_was_asked_with_restricted_context(bare):
    message = failure("report", "restricted", "--dataset", "bare")

    assert message == "bare has no responses with restricted context."


def test_htmx_gets_the_fragment_alone(researcher, scored):
    address = reverse("tradeoffs:restricted", args=[scored.slug])

    answer = researcher.get(address, headers={"HX-Request": "true"})

    assert shown(answer).part("restricted").headings
    assert "<html" not in answer.text


def test_the_page_takes_the_same_queries_for_more_setups(
    researcher, scored, tmp_path, django_assert_num_queries
):
    page_of(researcher, scored)  # builds the index of the passages
    n_queries = 30

    with django_assert_num_queries(n_queries):
        page_of(researcher, scored)

    more = LABELS | {(evidence, 0.0): ("11111", "00000") for evidence in ("golden", "next-best")}
    larger = restricted_dataset(tmp_path, more, name="larger")
    page_of(researcher, larger)
    with django_assert_num_queries(n_queries):
        page_of(researcher, larger)
