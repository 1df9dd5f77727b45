"""The report on completions: what is counted of each setup's calls, and what is left out."""

from dataclasses import replace

import pytest
from django.urls import reverse

from evaluation.reports.columns import Estimate
from evaluation.reports.registry import CannotReport
from evaluation.tradeoffs.figures.tradeoff.marks import figures_of
from evaluation.tradeoffs.reports.completions import completions_report
from generation.models import Call, Grid
from tests.evaluation.tradeoffs.rows_of_tradeoffs import row as tradeoff_row
from tests.makers import example_row, import_rows, response_row
from tests.shown import shown

pytestmark = pytest.mark.once

LONG = "User: " + "why " * 40
# Setup, and of each example its reply (None: the call failed), whether it was cut, and whether it
# is debris (None: not looked at).
ASKED: dict[str, list[tuple[str | None, bool, bool | None]]] = {
    "chat": [
        ("User: Why?\nUser:", True, True),
        (LONG, True, True),
        ("1 0 1", False, True),
        ("[eot]", False, True),
    ],
    "graph": [("He was born [Q1, born].", False, False)],
    "old": [("In 1971.", False, None), ("13 12 1", True, None)],
    "plain": [("In 1971.", False, False), ("", False, False), (None, True, None)],
}


@pytest.fixture
def dataset(tmp_path):
    """A dataset of five dialogs with one example each, one imported setup, and four asked here."""
    examples = [example_row(f"e{n}", dialog=f"d{n}") for n in range(5)]
    rows = [
        response_row(f"{name}-{n}", f"e{n}", setup=name, text=text)
        for name, calls in ASKED.items()
        for n, (text, _, _) in enumerate(calls)
        if text is not None
    ]
    rows.append(response_row("r", "e0", setup="imported"))
    dataset = import_rows(tmp_path, "own", examples=examples, responses=rows).dataset
    assert dataset
    dataset.setups.filter(name="graph").update(prompt="graph-gold")
    grid = Grid.objects.create(dataset=dataset, name="grid", choices={}, state=Grid.State.DONE)
    known = {response.key: response for response in dataset.responses.all()}
    Call.objects.bulk_create(
        Call(
            grid=grid,
            setup=dataset.setups.get(name=name),
            example=dataset.examples.get(key=f"e{n}"),
            response=known.get(f"{name}-{n}"),
            problem="" if text is not None else "It timed out.",
            is_cut=is_cut,
            is_debris=is_debris,
        )
        for name, calls in ASKED.items()
        for n, (text, is_cut, is_debris) in enumerate(calls)
    )
    return dataset


def test_debris_is_counted_beside_each_mark(dataset):
    counted = dataset.setups.with_debris().values_list("name", "n_looked_at", "n_debris")
    assert {name: counts for name, *counts in counted} == {
        "chat": [4, 4],
        "graph": [1, 0],
        "old": [0, 0],
        "plain": [2, 0],
        "imported": [0, 0],
    }
    made = tradeoff_row(0.5, 0.5)
    said = figures_of(replace(made, of=replace(made.of, n_looked_at=20, n_debris=13)))
    assert said.endswith("; 13 of 20 replies are debris")


def test_completions_are_counted_for_each_setup(dataset, django_assert_num_queries):
    with django_assert_num_queries(4):
        found = completions_report(dataset)

    counts = {
        row.of.setup: (row.n_calls, row.n_answered, row.n_empty, row.n_cut, row.n_debris)
        for row in found.rows
    }
    assert counts == {
        "chat": (4, 4, 0, 2, 4),
        "graph": (1, 1, 0, 0, None),
        "old": (2, 2, 0, 1, None),
        "plain": (3, 2, 1, 1, 0),
    }
    chat, _, old, plain = found.rows
    # All of four dialogs, with t(3) = 3.1824: Wilson's lower end is 4 / (4 + 3.1824²) = 0.2831.
    assert chat.debris_share == pytest.approx((1.0, 0.2831, 1.0), abs=1e-4)
    # None of two dialogs, with t(1) = 12.7062: Wilson's upper end is t² / (2 + t²) = 0.9878.
    assert plain.debris_share == pytest.approx((0.0, 0.0, 0.9878), abs=1e-4)
    assert old.debris_share == Estimate()
    assert [row.first_debris for row in found.rows] == ["User: Why? User:", "", "", ""]
    assert [row.form for row in found.rows] == ["native", "", "native", "native"]
    assert found.left_out == {
        "setups_without_calls": 1,
        "failed_calls": 1,
        "responses_about_a_graph": 1,
        "responses_not_looked_at": 2,
    }


def test_the_page_leads_to_the_first_debris_which_is_shortened(dataset, rosa, client_for):
    dataset.examples.get(key="e0").calls.all().delete()

    page = shown(
        client_for(rosa).get(reverse("evaluation:report-of-dataset", args=["own", "completions"]))
    )

    response = dataset.responses.get(key="chat-1")
    line = LONG.strip()[:79] + "…"
    assert page.table().row("chat")["First debris"] == line
    assert page.links[line] == reverse("evaluation:response", args=["own", response.pk])


def test_without_calls_there_is_nothing_to_report(dataset):
    Call.objects.all().delete()

    with pytest.raises(CannotReport, match="No model was asked about own here"):
        completions_report(dataset)
