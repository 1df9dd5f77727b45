"""The report on raters over published ratings, against the figures that others have of them.

Each file goes through the real import. Expected figures are printed references, or made here from
the raw file by public packages and plain loops.
"""

import csv
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import pytest
from django.db import connection
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa

from annotation.models import Study
from evaluation.exchange.interchange import ImportOutcome
from evaluation.reports.base import Choices
from evaluation.statistics.agreement import Level
from evaluation.studies.reports.raters import raters_report
from tests import published
from tests.makers import import_path, rated

pytestmark = pytest.mark.once
EXACT = 1e-6


def study_of(path: Path, name: str = "pilot") -> Study:
    study = import_path(path, name).study
    assert study
    return study


@pytest.fixture(scope="module")
def ais_imports(shared, module_database) -> dict[str, ImportOutcome]:
    """Import both files of AIS once; return the outcomes by file name."""
    names = ("ann_qrecc.csv", "ann_wow.csv")
    found = {name: import_path(shared / "data/ais" / name, name) for name in names}
    connection.check_constraints()
    return found


@pytest.fixture
def ais(ais_imports) -> dict[str, Study]:
    """Return the studies of both files by file name."""
    return {name: outcome.study for name, outcome in ais_imports.items()}


def rows_of(study: Study, **choices: Any) -> dict[tuple[str, str | None], dict[str, Any]]:
    rows = raters_report(study, Choices(**choices)).records
    return {(row["question"], row["setup"]): row for row in rows}


# --- MTRAG: alpha as printed for this file --------------------------------------------------


def test_mtrag_has_its_examples_responses_and_printed_alphas(shared):
    study = study_of(shared / "data/mtrag_human_eval/mtrag_human_eval_part1.json")

    rows = {question: row for (question, _), row in rows_of(study).items()}

    dataset = study.dataset
    assert (dataset.examples.count(), dataset.responses.count()) == (77, 231)
    assert all(row["n"] == 231 for row in rows.values())
    assert all(row["alpha_level"] == "ordinal" for row in rows.values())
    assert rows["faithfulness"]["alpha"] == pytest.approx(0.3969, abs=5e-4)
    assert rows["naturalness"]["alpha"] == pytest.approx(0.2698, abs=5e-4)
    assert rows["completeness"]["alpha"] == pytest.approx(0.1590, abs=5e-4)


# --- AIS: rates per model and agreement over the published consensus ------------------------

# model → n, flagged, INT, INT & AIS (both of n - flagged), as counts
AIS_QRECC = {
    "qrecc-reference": (200, 1, 197, 173),
    "t5-base": (200, 0, 196, 171),
    "t5-base-no-evidence": (196, 1, 119, 26),
    "t5-base-pretrained": (195, 0, 94, 65),
    "t5-small": (200, 0, 198, 174),
    "t5-small-no-evidence": (199, 1, 115, 29),
    "t5-small-pretrained": (200, 0, 86, 71),
}
AIS_WOW = {
    "wow-controlled_t5": (200, 15, 184, 170),
    "wow-dinan_et_al": (200, 8, 162, 32),
    "wow-dodeca": (198, 15, 183, 110),
    "wow-reference": (200, 8, 192, 30),
    "wow-t5": (199, 10, 186, 74),
}
AIS_GIVEN_INT = {
    "qrecc-reference": 0.8782,
    "t5-base": 0.8724,
    "t5-base-no-evidence": 0.2185,
    "t5-base-pretrained": 0.6915,
    "t5-small": 0.8788,
    "t5-small-no-evidence": 0.2522,
    "t5-small-pretrained": 0.8256,
}


@pytest.mark.parametrize(
    ("name", "by_model"), [("ann_qrecc.csv", AIS_QRECC), ("ann_wow.csv", AIS_WOW)]
)
def test_ais_gives_the_published_counts_of_every_model(ais, name, by_model):
    study = ais[name]

    rows = rows_of(study, by_setup=True)

    found = {}
    for model in by_model:
        responses = study.dataset.responses.filter(setup__name=model)
        found[model] = (
            responses.count(),
            responses.filter(flags__isnull=False).count(),
            rows["interpretable", model]["majority_yes"],
            rows["attributable", model]["majority_yes"],
        )
    assert found == by_model
    assert {setup for _, setup in rows} == set(by_model)
    n_flagged = sum(flagged for _, flagged, _, _ in by_model.values())
    assert raters_report(study).left_out["flagged_responses"] == n_flagged


def test_ais_qrecc_gives_the_three_published_means_of_every_model(ais):
    rows = rows_of(ais["ann_qrecc.csv"], by_setup=True)

    for model, (n, n_flagged, n_int, n_both) in AIS_QRECC.items():
        interpretable, attributable = rows["interpretable", model], rows["attributable", model]
        assert interpretable["n"] == attributable["n"] == n - n_flagged
        assert interpretable["mean"] == pytest.approx(n_int / (n - n_flagged), abs=EXACT)
        assert attributable["mean"] == pytest.approx(n_both / (n - n_flagged), abs=EXACT)
        assert attributable["mean_after_gates"] == pytest.approx(AIS_GIVEN_INT[model], abs=5e-5)


@pytest.mark.parametrize(
    ("name", "n_items", "kappa"), [("ann_qrecc.csv", 1386, 0.9047), ("ann_wow.csv", 904, 0.4182)]
)
def test_ais_gives_the_published_kappa_of_interpretability(ais, name, n_items, kappa):
    row = rows_of(ais[name])["interpretable", None]

    assert (row["fleiss_items"], row["fleiss_votes_per_item"]) == (n_items, 5)
    assert row["fleiss_kappa"] == pytest.approx(kappa, abs=5e-5)


def test_ais_attributable_agrees_over_those_who_were_asked(shared, ais):
    """From the raw file: Q2 is asked where INT = 1, and a in 3..5 of 5 agreed on it."""
    path = shared / "data/ais/ann_qrecc.csv"
    counts = []
    with path.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            agreeing = int(line["# agree (AIS)"])
            if line["INT"] == "1" and line["Flagged"] == "0" and 3 <= agreeing <= 5:
                is_yes = line["Q2"].lower().startswith("yes")
                counts.append([5 - agreeing, agreeing] if is_yes else [agreeing, 5 - agreeing])

    row = rows_of(ais[path.name])["attributable", None]

    assert row["fleiss_items"] == len(counts) == 753 + 135 + 109
    assert row["fleiss_kappa"] == pytest.approx(fleiss_kappa(np.array(counts)), abs=EXACT)


def nominal_votes(majority: bool, agreeing: int) -> list[bool]:
    """Return the votes that stand for a consensus, as our importer's docs say, yes first.

    With a of 3..5 agreeing: a votes for the majority's answer and 5 - a against; else a votes.
    """
    against = 5 - agreeing if 3 <= agreeing <= 5 else 0
    return sorted([majority] * agreeing + [not majority] * against, reverse=True)


# file → answers to `attributable` of raters who said 'not interpretable', alpha over all given
# answers, and alpha without these
BEHIND_CLOSED_GATES = {
    "ann_qrecc.csv": (69, 0.713, 0.743),
    "ann_wow.csv": (149, 0.708, 0.756),
}


@pytest.mark.parametrize("name", BEHIND_CLOSED_GATES)
def test_ais_answers_behind_a_closed_gate_count_as_given_or_by_the_gates(
    shared, ais, ais_imports, name
):
    """From the raw file: where INT = 1, some raters said no to INT and still answered Q2."""
    n_behind, as_given, by_gates = BEHIND_CLOSED_GATES[name]
    given: list[list[int]] = []  # noes and yeses of each item
    without: list[list[int]] = []
    behind: list[bool] = []
    n_implied = 0
    with (shared / "data/ais" / name).open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            interpretable = nominal_votes(line["INT"] == "1", max(0, int(line["# agree (INT)"])))
            if line["Flagged"] == "1":
                continue
            if line["INT"] == "0":
                n_implied += len(interpretable)
                continue
            says_yes = line["Q2"].lower().startswith("yes")
            attributable = nominal_votes(says_yes, max(0, int(line["# agree (AIS)"])))
            closed = [no for no, open_ in enumerate(interpretable) if not open_]
            behind += [answer for n, answer in enumerate(attributable) if n in closed]
            kept = [answer for n, answer in enumerate(attributable) if n not in closed]
            given.append([attributable.count(False), attributable.count(True)])
            without.append([kept.count(False), kept.count(True)])

    rows = {
        chosen: rows_of(ais[name], by_gates=chosen)["attributable", None]
        for chosen in (False, True)
    }

    assert (len(behind), any(behind)) == (n_behind, False)
    for chosen, items, rounded in ((False, given, as_given), (True, without, by_gates)):
        alpha = krippendorff.alpha(
            value_counts=np.array([item for item in items if sum(item) >= 2]),
            level_of_measurement="nominal",
        )
        assert alpha == pytest.approx(rounded, abs=5e-4)
        assert rows[chosen]["alpha"] == pytest.approx(alpha, abs=EXACT)
    assert rows[False]["n_implied"] == n_implied
    assert rows[True]["n_implied"] == n_implied + n_behind
    assert rows[True]["n_votes"] == rows[False]["n_votes"] == np.sum(given) + n_implied
    assert ais_imports[name].notes == {
        "answers behind a gate that the same rater closed; they are kept as given": n_behind
    }


@pytest.mark.parametrize(
    ("name", "n_items", "kappa"), [("ann_qrecc.csv", 944, 0.7569), ("ann_wow.csv", 751, 0.8010)]
)
def test_ais_by_gates_gives_the_published_kappa_of_items_that_all_five_understood(
    ais, name, n_items, kappa
):
    """The reference takes items where all 5 said interpretable and 3 to 5 of 5 agree on Q2."""
    row = rows_of(ais[name], by_gates=True)["attributable", None]

    assert (row["fleiss_items"], row["fleiss_votes_per_item"]) == (n_items, 5)
    assert row["fleiss_kappa"] == pytest.approx(kappa, abs=5e-5)


# --- raw votes of others, against public packages -------------------------------------------


def check(row: dict[str, Any], items: list[list[str]], labels: list[str], level: Level) -> None:
    """Compare a report row with what packages and plain loops make of the raw votes."""
    items = [item for item in items if item]
    counts = np.array([[item.count(label) for label in labels] for item in items])

    assert row["n"] == len(items)
    assert row["n_votes"] == counts.sum()
    n_agreeing = n_pairs = 0
    majorities: Counter[str] = Counter()
    for item in items:
        for one, other in combinations(item, 2):
            n_pairs += 1
            n_agreeing += one == other
        word, n = Counter(item).most_common(1)[0]
        majorities[word if 2 * n > len(item) else "tied"] += 1
    assert row["percent_agreement"] == pytest.approx(n_agreeing / n_pairs, abs=EXACT)
    assert row["waiting"] + row["tied"] == majorities["tied"]
    for label in labels:
        assert row[f"majority_{label}"] == majorities[label]
        share = sum(item.count(label) for item in items) / sum(map(len, items))
        assert row[f"share_{label}"] == pytest.approx(share, abs=EXACT)

    numbers = Counter(len(item) for item in items if len(item) >= 2)
    usual = max(numbers, key=lambda n: (numbers[n], n))
    alike = counts[counts.sum(axis=1) == usual]
    assert (row["fleiss_items"], row["fleiss_votes_per_item"]) == (len(alike), usual)
    assert row["fleiss_kappa"] == pytest.approx(fleiss_kappa(alike), abs=EXACT)

    several = counts[counts.sum(axis=1) >= 2]
    assert row["alpha_items"] == len(several)
    assert row["alpha_level"] == level
    alpha = krippendorff.alpha(value_counts=several, level_of_measurement=level)
    assert row["alpha"] == pytest.approx(alpha, abs=EXACT)


def test_qags_agrees_with_packages_on_the_raw_votes(shared):
    items = published.qags_matrix(shared)["supported"]

    row = rows_of(study_of(shared / "data/qags/mturk_xsum.jsonl"))["attributable", None]

    check(row, items, ["no", "yes"], "nominal")
    assert row["mean"] == np.mean([item.count("yes") >= 2 for item in items])  # always 3 votes


def test_infotabs_agrees_with_packages_on_the_raw_votes(shared):
    items = published.infotabs_matrix(shared)["entailment"]

    row = rows_of(study_of(shared / "data/infotabs_votes"))["entailment", None]

    check(row, items, published.INFOTABS_LABELS, "nominal")
    assert row["mean"] is None


def test_fed_agrees_with_packages_on_ordinal_votes_from_0(shared, tmp_path):
    published.write_fed(shared, tmp_path / "fed")

    rows = rows_of(study_of(tmp_path / "fed"))

    for question, items in published.fed_matrix(shared).items():
        row = rows[question, None]
        n_values = sum(name.startswith("share_") for name in row)
        check(row, items, list(map(str, range(n_values))), "ordinal")
        medians = [np.median([int(word) for word in item]) for item in items if item]
        assert row["mean"] == pytest.approx(np.mean(medians), abs=EXACT)


def test_for_two_raters_who_use_the_answers_alike_fleiss_equals_cohen(tmp_path):
    first, second = "yynnyynnyn", "ynynyynnny"
    words = {"y": "yes", "n": "no"}
    study = rated(
        tmp_path,
        {
            f"r{n}": {"q": [words[one], words[other]]}
            for n, (one, other) in enumerate(zip(first, second, strict=True))
        },
    )

    [row] = raters_report(study).records

    assert first.count("y") == second.count("y")  # alike: 5 yes each
    assert row["fleiss_kappa"] == pytest.approx(cohen_kappa_score(list(first), list(second)))
