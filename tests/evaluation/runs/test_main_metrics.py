"""Main metrics: pinned on the page and in the API, exported, imported, told when they are gone."""

import pytest
from django.db import IntegrityError, transaction
from django.urls import reverse

from accounts.services import create_api_token
from evaluation.runs.services.main_metrics import PinError, pin_main_metrics
from evaluation.tradeoffs.axes import axes_of, usual
from evaluation.votes.export import export_folder
from generation.importers.errors import DatasetError
from generation.models import Dataset
from tests.evaluation.makers_of_scores import make_run, make_scores
from tests.evaluation.tradeoffs.imported_setups import imported
from tests.makers import audit_actions, example_row, import_path, import_rows
from tests.shown import shown

pytestmark = pytest.mark.once


@pytest.fixture
def dataset(tmp_path) -> Dataset:
    return imported(tmp_path / "own", "own")


@pytest.fixture
def run(dataset):
    """Return a run of attribution over one of four setups, which is not the usual axis."""
    run = make_run(dataset, signature="mine|t:0.5", revision="1f2e")
    make_scores(run, {"r0-0": 0.9})
    return run


def pins_of(dataset: Dataset) -> tuple[str, str]:
    dataset.refresh_from_db()
    return dataset.main_attribution_metric, dataset.main_sensibleness_metric


def usual_signature(dataset: Dataset) -> str:
    axes = usual(axes_of(dataset))
    assert axes
    assert axes.attribution.run
    return axes.attribution.run.full_signature


def test_a_researcher_pins_a_run_on_the_page_of_the_dataset_and_takes_it_away(
    dataset, run, researcher
):
    there = reverse("evaluation:pin-main-metrics", args=["own"])
    page = shown(researcher.get(reverse("generation:dataset", args=["own"])))
    assert f"{run.pk}" in page.choices("attribution")

    answer = researcher.post(there, {"attribution": run.pk, "sensibleness": ""}, follow=True)

    assert pins_of(dataset) == ("auto_ais: mine|t:0.5|revision:1f2e", "")
    assert usual_signature(dataset) == "mine|t:0.5|revision:1f2e"
    assert shown(answer).fields["attribution"] == f"{run.pk}"
    assert audit_actions()[-1] == ("dataset.described", "own")

    researcher.post(there, {"attribution": run.pk, "sensibleness": run.pk})
    researcher.post(there, {"attribution": "9999", "sensibleness": ""})
    assert pins_of(dataset) == ("auto_ais: mine|t:0.5|revision:1f2e", "")
    researcher.post(there, {"attribution": "", "sensibleness": ""})
    assert pins_of(dataset) == ("", "")


def test_only_researchers_and_admins_pin(dataset, run, rachel, adam, client_for, client):
    there = reverse("evaluation:pin-main-metrics", args=["own"])

    assert client_for(rachel).post(there, {"attribution": run.pk}).status_code == 403
    assert client.post(there, {"attribution": run.pk}).url.startswith("/accounts/sign-in/")
    assert pins_of(dataset) == ("", "")
    client_for(adam).post(there, {"attribution": run.pk})
    assert pins_of(dataset)[0]


def test_a_run_without_labels_of_the_dataset_is_not_pinned(dataset, run, rosa, tmp_path):
    other = make_run(imported(tmp_path / "other", "other"), signature="elsewhere")
    without = make_run(dataset, signature="ranks", threshold=None, is_imported=True)
    make_scores(without, {"r0-0": 7.0})

    for wrong in (other, without):
        with pytest.raises(PinError, match="gives no labels to the responses of own"):
            pin_main_metrics(dataset, {"attribution": wrong}, rosa)
    with pytest.raises(PinError, match="both sides"):
        pin_main_metrics(dataset, {"attribution": run, "sensibleness": run}, rosa)
    with pytest.raises(IntegrityError, match="dataset_main_metrics_differ"), transaction.atomic():
        Dataset.objects.update(main_attribution_metric="a: b", main_sensibleness_metric="a: b")
    assert pins_of(dataset) == ("", "")


def test_pins_are_exported_and_imported_again(dataset, run, rosa, tmp_path):
    pin_main_metrics(dataset, {"attribution": run}, rosa)

    export_folder(dataset, None, tmp_path / "out")
    again = import_path(tmp_path / "out", "again").dataset

    assert again
    assert pins_of(again) == ("auto_ais: mine|t:0.5|revision:1f2e", "")
    assert usual_signature(again) == "mine|t:0.5|revision:1f2e"


def test_a_file_pins_no_run_for_both_sides(dataset, run, rosa, tmp_path):
    said = "auto_ais: mine|t:0.5|revision:1f2e"
    both = {"main_attribution_metric": said, "main_sensibleness_metric": said}
    with pytest.raises(DatasetError, match="another run than for the other side"):
        import_rows(tmp_path / "both", examples=[example_row()], dataset=both)

    pin_main_metrics(dataset, {"attribution": run}, rosa)
    later = {"main_sensibleness_metric": said}
    import_rows(tmp_path / "later", "own", examples=[example_row()], dataset=later)

    assert pins_of(dataset) == (said, "")


def test_the_api_shows_and_sets_main_metrics(dataset, run, rosa, rachel, client):
    there = "/api/v1/datasets/own/main-metrics/"
    token = {"Authorization": f"Bearer {create_api_token(rosa, 'tests')}"}
    whole = dataset.metric_runs.get(metric="auto_ais", is_imported=True)

    def patch(**body):
        return client.patch(there, body, content_type="application/json", headers=token)

    before = client.get(there, headers=token).json()
    assert before["attribution"] == {"pinned": "", "is_there": False, "run": whole.pk}

    said = "auto_ais: mine|t:0.5|revision:1f2e"
    pinned = {"pinned": said, "is_there": True, "run": run.pk}
    assert patch(attribution=run.pk).json()["attribution"] == pinned
    found = client.get("/api/v1/datasets/own/", headers=token).json()
    assert found["main_attribution_metric"] == said
    assert patch(sensibleness=run.pk).status_code == 400
    assert patch(attribution=9999).status_code == 400
    run.delete()
    gone = client.get(there, headers=token).json()
    assert gone["attribution"] == {"pinned": said, "is_there": False, "run": whole.pk}
    assert patch(attribution=None).json() == before


def test_a_pinned_run_that_is_gone_is_told_and_stays_pinned(dataset, run, rosa, researcher):
    pin_main_metrics(dataset, {"attribution": run}, rosa)
    run.delete()

    for name in ("tradeoff", "takeaways", "comparable", "reranking", "restricted"):
        page = shown(researcher.get(reverse(f"tradeoffs:{name}", args=["own"])))
        assert any("The main metric is not here" in each for each in page.messages), name
    page = shown(researcher.get(reverse("generation:dataset", args=["own"])))
    assert page.fields["attribution"] == "kept"
    there = reverse("evaluation:pin-main-metrics", args=["own"])
    researcher.post(there, {"attribution": "kept", "sensibleness": ""})
    assert pins_of(dataset) == ("auto_ais: mine|t:0.5|revision:1f2e", "")
