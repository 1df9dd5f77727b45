"""The report on shares without votes: by the formula, its refusals, and who may read it."""

import io
import zipfile

import numpy as np
import pytest
from django.urls import reverse

from evaluation.reports.bundle import write_bundle
from evaluation.reports.registry import CannotReport
from evaluation.statistics.rogan_gladen import corrected_share, dialog_share, error_rates
from evaluation.studies.reports.transfer import TRANSFER, usual_transfer
from generation.choices.declaration import ChoiceError
from generation.models import Dataset
from tests.makers import example_row, import_rows, response_row, scheme_of, vote_row
from tests.shown import shown

pytestmark = pytest.mark.once
SIGNATURE = "nli|v3|t:0.5"
N_VOTED, N_SILENT = 60, 40
# Dialogs of two responses each. Of the voted ones, two thirds deserve a yes, of which the metric
# misses every tenth; it says yes to a fifth of the others.
HUMAN = np.array([n % 3 > 0 for n in range(2 * N_VOTED)], float)
VOTED = np.array([n % 10 > 0 if yes else n % 5 == 0 for n, yes in enumerate(HUMAN)], float)
SILENT = np.array([n % 8 < 3 for n in range(2 * N_SILENT)], float)  # 30 of 80 are a yes


def rows_of(prefix, labels, signature=SIGNATURE):
    """Return two responses for each dialog, of one setup each, with the labels as scores."""
    keys = [f"{prefix}{n // 2:02}" for n in range(len(labels))]
    setups = ["first" if n % 2 else "second" for n in range(len(labels))]
    named = [f"{key}-{setup}" for key, setup in zip(keys, setups, strict=True)]
    return named, {
        "examples": [example_row(key, dialog=key) for key in dict.fromkeys(keys)],
        "responses": [
            response_row(name, key, setup={"model": setup})
            for name, key, setup in zip(named, keys, setups, strict=True)
        ],
        "scores": [
            {"response": name, "metric": "nli", "score": f"{0.2 + 0.6 * yes}"}
            | {"signature": signature}
            for name, yes in zip(named, labels, strict=True)
        ],
    }


def voted(folder, signature=SIGNATURE, n=2 * N_VOTED):
    """Import the study: one vote on each response."""
    names, rows = rows_of("v", VOTED[:n], signature)
    answers = ["yes" if yes else "no" for yes in HUMAN[:n]]
    votes = [
        vote_row(name, "w1", answer, "good") for name, answer in zip(names, answers, strict=True)
    ]
    scheme = scheme_of({"good": "yes_no"})
    return import_rows(folder / "voted", "voted", votes=votes, scheme=scheme, **rows).study


def silent(folder, labels=SILENT):
    """Import the dataset without votes."""
    import_rows(folder / "silent", "silent", **rows_of("s", labels)[1])
    return Dataset.objects.get(name="silent")


def report_of(dataset, **given):
    return TRANSFER.make(dataset, TRANSFER.chosen(dataset, given))


def test_the_share_is_that_of_the_formula_for_each_setup(tmp_path):
    study, dataset = voted(tmp_path), silent(tmp_path)

    report = report_of(dataset)

    # 80 deserve a yes: the numbers 30 k and 30 k + 20 of 120, 8 in all, are missed of them, and
    # 8 of the other 40 are a false yes.
    rates = error_rates(HUMAN, VOTED, np.arange(120) // 2, N_VOTED)
    assert (rates.sensitivity.share, rates.specificity.share) == (72 / 80, 32 / 40)
    of_setup = {"first": SILENT[1::2], "second": SILENT[::2]}
    for row in report.records:
        labels = of_setup[row["setup"]]
        p = labels.mean()
        expected = corrected_share(dialog_share(labels, np.arange(N_SILENT), N_SILENT), rates)
        assert row["share"] == pytest.approx((p + 0.8 - 1) / (0.8 + 0.9 - 1))
        assert (row["share_low"], row["share_high"]) == pytest.approx(expected.interval)
        assert (row["labelled_yes"], row["n"], row["n_left_out"]) == (pytest.approx(p), 40, 0)
        assert (row["n_yes"], row["n_no"], row["flattered"]) == (80, 40, False)
        assert row["rates_of"] == study.name
        assert row["assumption"] == (
            "The metric errs on these data as often as on voted, which nobody has checked."
        )
        assert row["why"] is None
    assert [row["setup"] for row in report.records] == ["first", "second"]
    assert usual_transfer(dataset).study == study.slug


@pytest.mark.parametrize(
    ("study", "labels", "why"),
    [
        (
            {"signature": "nli|v3|t:0.7"},
            SILENT,
            "has no run with the same choices. The nearest one differs: threshold 0.5 here, "
            "threshold 0.7 there.",
        ),
        ({"n": 40}, SILENT, "fewer than 20 labels"),
        ({}, np.zeros(80), "so the metric errs otherwise on these data"),
    ],
)
def test_without_what_it_needs_a_row_says_why_and_has_no_corrected_share(
    tmp_path, study, labels, why
):
    rated, dataset = voted(tmp_path, **study), silent(tmp_path, labels)

    rows = report_of(dataset, study=rated.slug).records

    assert rows
    for row in rows:
        assert row["share"] is row["share_low"] is None
        assert why in row["why"]


def test_a_sample_is_no_other_choice(tmp_path):
    voted(tmp_path, signature="nli|v3|sample:60@1|of each:row|t:0.5")

    assert report_of(silent(tmp_path)).records[0]["share"] is not None


def test_without_a_study_that_fits_there_is_no_report(tmp_path):
    voted(tmp_path, signature="nli|v2|t:0.5")

    with pytest.raises(CannotReport, match="No study of another dataset"):
        report_of(silent(tmp_path))


def test_a_study_of_the_same_dataset_is_no_choice(tmp_path):
    study = voted(tmp_path)

    with pytest.raises(ChoiceError, match=f"no study '{study.slug}'"):
        report_of(study.dataset, study=study.slug)


def test_the_page_prints_the_assumption_for_researchers_alone(tmp_path, client_for, rosa, rachel):
    voted(tmp_path)
    address = reverse("evaluation:report-of-dataset", args=[silent(tmp_path).slug, "transfer"])

    page = client_for(rosa).get(address).content.decode()

    assert "which nobody has checked" in page
    assert client_for(rachel).get(address).status_code == 403


def test_no_bundle_has_it_because_nobody_could_make_it_again(tmp_path, researcher):
    """The study that it reads is in no export of the dataset."""
    voted(tmp_path)
    dataset, out = silent(tmp_path), io.BytesIO()

    write_bundle(dataset, out, "silent.zip")

    with zipfile.ZipFile(out) as archive:
        readme = archive.read("README.txt").decode()
        assert not [name for name in archive.namelist() if "transfer" in name]
    assert "Without votes: not here. It also reads a study of another dataset" in readme
    address = reverse("evaluation:report-of-dataset", args=[dataset.slug, "transfer"])
    assert "manifest" not in shown(researcher.get(address)).links
    file = reverse("evaluation:report-file-of-dataset", args=[dataset.slug, "transfer", "manifest"])
    assert researcher.get(file).status_code == 404
