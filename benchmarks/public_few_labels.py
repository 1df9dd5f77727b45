"""Measure on published votes what few labels and a metric give: tables of docs/results.md.

The votes of all people are taken as what is true of the material. From it, 500 studies are drawn:
whole dialogs with replacement, as many as the data have. All have scores. Votes are shown for the
first of them, until there are 30, 50, 100 or 200 labels. So rated and other dialogs are
independent, and the true share is known: it is that of all votes. Each study has the interval of
raters alone, and a prediction-powered one by each metric. Without one, a page shows that of raters
alone, and so does the table.

A last part has the three systems of MTRAG in pairs, by people and by metrics. The data are in the
folder that ATTEST_SHARED names.

    .venv/bin/python benchmarks/public_few_labels.py --checkpoint PATH --work FOLDER
    .venv/bin/python benchmarks/public_few_labels.py --quick
"""

import argparse
import json
import math
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT)]

from benchmarks.public_data import SCORINGS, Rated, rated  # noqa: E402 - needs the line above
from benchmarks.results import prepared  # noqa: E402
from evaluation.statistics.intervals import Floats, Indexes, sum_by_dialog  # noqa: E402
from evaluation.statistics.paired_difference import paired_difference  # noqa: E402
from evaluation.statistics.planning import labels_for_error, normal_quantile  # noqa: E402
from evaluation.statistics.prediction_powered import (  # noqa: E402
    HELPFUL,
    HumansOnly,
    PredictionPowered,
    RatedPart,
    prediction_powered_share,
)
from evaluation.statistics.rater_answers import mean_statistics  # noqa: E402
from evaluation.statistics.system_correlation import system_correlation  # noqa: E402
from evaluation.statistics.uncertainty import benjamini_hochberg, holm  # noqa: E402
from evaluation.statistics.wilson import independent_items  # noqa: E402
from tests.published import shared_folder  # noqa: E402

SEED = 7
N_DRAWS, N_QUICK = 500, 50
N_LABELS = (30, 50, 100, 200)
HALF_WIDTH = 0.05
LARGER = 1000  # responses of the study for which numbers are extrapolated
HUMANS = "raters alone"
REASONS = {
    HumansOnly.FEW_LABELS: "few labels",
    HumansOnly.RARE_ANSWER: "rare answer",
    HumansOnly.NOTHING_UNRATED: "nothing unrated",
    HumansOnly.NO_SCORES: "no scores",
}
SYSTEMS = "mtrag"
COMPARED_WITH = "faithfulness"  # the question of MTRAG that metrics are about


class DrawnStudy(NamedTuple):
    """One drawn study: the items of its dialogs, and which dialogs show their votes."""

    items: Indexes
    dialogs: Indexes
    is_rated: np.ndarray


class ShownInterval(NamedTuple):
    """The interval of one study, as a page shows it."""

    low: float
    high: float
    lam: float
    reason: HumansOnly | None


def studies(data: Rated, n_labels: int, n_draws: int, seed: list[int]) -> Iterator[DrawnStudy]:
    """Yield drawn studies; none where the data are too small for so many labels."""
    n_dialogs = int(data.clusters.max()) + 1
    if n_rated_dialogs(data, n_labels) > n_dialogs - 2:
        return
    of_dialog = [np.flatnonzero(data.clusters == each) for each in range(n_dialogs)]
    n_decided = np.array([np.count_nonzero(~np.isnan(data.labels[each])) for each in of_dialog])
    random = np.random.default_rng(seed)
    for _ in range(n_draws):
        drawn = random.integers(n_dialogs, size=n_dialogs)
        n_rated = int(np.searchsorted(n_decided[drawn].cumsum(), n_labels)) + 1
        items = [of_dialog[each] for each in drawn]
        dialogs = np.repeat(np.arange(n_dialogs), [len(each) for each in items])
        yield DrawnStudy(np.concatenate(items), dialogs, np.arange(n_dialogs) < n_rated)


def n_rated_dialogs(data: Rated, n_labels: int) -> int:
    """Return in how many dialogs so many labels are on average."""
    per_dialog = int(np.count_nonzero(~np.isnan(data.labels))) / (int(data.clusters.max()) + 1)
    return math.ceil(n_labels / per_dialog)


def shown(figures: PredictionPowered) -> ShownInterval:
    if figures.reason is None:
        return ShownInterval(figures.low, figures.high, figures.lam, None)
    return ShownInterval(figures.human_low, figures.human_high, math.nan, figures.reason)


def few_labels(data: Rated, n_draws: int, number: int) -> list[dict[str, Any]]:
    """Return a row for raters alone and for each metric, at each number of labels."""
    truth = float(np.nanmean(data.labels))
    rows: list[dict[str, Any]] = []
    for n_labels in N_LABELS:
        drawn = list(studies(data, n_labels, n_draws, [SEED, number, n_labels]))
        if not drawn:
            continue
        about = {"data": data.title, "n_labels": n_labels}
        by_metric = {
            name: [prediction_powered_share(part_of(data, scores, study)) for study in drawn]
            for name, scores in data.scores.items()
        }
        alone = [
            ShownInterval(each.human_low, each.human_high, math.nan, None)
            for each in next(iter(by_metric.values()))
        ]
        human = summary(alone, truth)
        rows.append(about | {"by": HUMANS} | human)
        for name, figures in by_metric.items():
            found = summary([shown(each) for each in figures], truth)
            ratio = found["half_width"] / human["half_width"]
            rows.append(about | {"by": name, "ratio": ratio} | found)
    return rows


def part_of(data: Rated, scores: Floats, study: DrawnStudy) -> RatedPart:
    items = study.items
    return RatedPart(data.labels[items], scores[items], study.dialogs, study.is_rated)


def summary(found: Sequence[ShownInterval], truth: float) -> dict[str, Any]:
    """Return mean half-width, coverage, and how often there is no figure and why."""
    low, high, lam = np.array([each[:3] for each in found], dtype=np.float64).T
    reasons = Counter(each.reason for each in found if each.reason is not None)
    known = ~np.isnan(low)
    return {
        "half_width": float(np.mean((high - low)[known] / 2)),
        "coverage": float(np.mean(((low <= truth) & (truth <= high))[known])),
        "undefined": float(1 - known.mean()),
        "lambda": float(np.nanmean(lam)) if not np.isnan(lam).all() else None,
        "unhelpful": float(np.mean(lam < HELPFUL)),
        "humans_only": sum(reasons.values()) / len(found),
        "reasons": {REASONS[each]: n / len(found) for each, n in reasons.most_common()},
    }


def plans(data: Rated) -> Iterator[dict[str, Any]]:
    """Yield how many labels ± 5 points need, by raters alone and with each metric."""
    known = ~np.isnan(data.labels)
    n_known, share = int(known.sum()), float(data.labels[known].mean())
    sums = sum_by_dialog(mean_statistics(data.labels), data.clusters, int(data.clusters.max()) + 1)
    given = {
        "error": HALF_WIDTH / normal_quantile(0.95),
        "deviation": math.sqrt(share * (1 - share)),
        "effect": n_known / independent_items(sums[sums[:, 1] > 0], n_known),
    }
    is_extrapolated = math.isnan(labels_for_error(**given, total=n_known))
    total = LARGER if is_extrapolated else n_known
    correlations = {HUMANS: 0.0} | {
        name: correlation(data.labels, scores) for name, scores in data.scores.items()
    }
    for name, r in correlations.items():
        yield {
            "data": data.title,
            "by": name,
            "correlation": r,
            "labels": labels_for_error(**given, total=total, correlation=max(0.0, r)),
            "total": total,
            "is_extrapolated": is_extrapolated,
            "design_effect": given["effect"],
        }


def correlation(labels: Floats, scores: Floats) -> float:
    """Return Pearson's correlation of labels and scores where both are known."""
    both = ~np.isnan(labels) & ~np.isnan(scores)
    return float(np.corrcoef(labels[both], scores[both])[0, 1])


def systems(data: Rated) -> list[dict[str, Any]]:
    """Return a row for each question and metric: differences of pairs, and the order of systems."""
    people = data.rater_scores
    measures = {f"people: {name}": each for name, each in people.items()} | dict(data.scores)
    return [
        {"by": name, "pairs": pairs(data, values)}
        | (
            system_correlation(
                people[COMPARED_WITH],
                values,
                np.unique(data.setups, return_inverse=True)[1],
                data.dialogs,
                int(data.dialogs.max()) + 1,
                seed=SEED,
            )._asdict()
            if name in data.scores
            else {}
        )
        for name, values in measures.items()
    ]


def pairs(data: Rated, values: Floats) -> list[dict[str, Any]]:
    """Return all pairs of systems by one question or metric; p is adjusted over these pairs."""
    examples, setups = np.unique(data.clusters), sorted(set(data.setups))
    names = np.array(data.setups)
    # MTRAG has one response of each system to each example.
    by_setup = {
        setup: np.array(
            [values[(data.clusters == each) & (names == setup)][0] for each in examples]
        )
        for setup in setups
    }
    dialogs = np.array([data.dialogs[data.clusters == each][0] for each in examples])
    found: list[dict[str, Any]] = [
        {"a": a, "b": b}
        | paired_difference(
            by_setup[a], by_setup[b], dialogs, int(dialogs.max()) + 1, seed=SEED
        )._asdict()
        for a, b in combinations(setups, 2)
    ]
    p_values = [each["p_permutation"] for each in found]
    adjusted = zip(found, holm(p_values), benjamini_hochberg(p_values), strict=True)
    return [each | {"holm": by_holm, "bh": by_bh} for each, by_holm, by_bh in adjusted]


def section(
    data: Rated, rows: Sequence[Mapping[str, Any]], planned: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    """Yield the lines of a data set's table."""
    n = int(np.count_nonzero(~np.isnan(data.labels)))
    n_clusters = int(data.clusters.max()) + 1
    sizes = " | ".join(f"{size} labels" for size in N_LABELS)
    dialogs = ", ".join(str(n_rated_dialogs(data, size)) for size in N_LABELS)
    yield f"### {data.title}: few labels"
    yield ""
    yield (
        f"{n} labels, {np.nanmean(data.labels):.3f} of them a yes. Drawn by {data.cluster}: "
        f"{n_clusters}, of which about {dialogs} have labels. Design effect "
        f"{planned[0]['design_effect']:.2f}."
    )
    yield ""
    yield f"| interval by | r | {sizes} | raters alone, % of draws | λ < 0.1, % | ± 5 points |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for plan in planned:
        of_size = {row["n_labels"]: row for row in rows if row["by"] == plan["by"]}
        is_human = plan["by"] == HUMANS
        cells = [plan["by"], "—" if is_human else f"{plan['correlation']:.2f}"]
        cells += [_interval(of_size.get(size)) for size in N_LABELS]
        cells += (
            ["—", "—"]
            if is_human
            else [
                _percents(of_size, "humans_only"),
                _percents(of_size, "unhelpful"),
            ]
        )
        cells.append(_labels(plan))
        yield f"| {' | '.join(cells)} |"
    yield ""
    reasons = list(_reasons(rows))
    yield from [*reasons, ""] if reasons else []


def _reasons(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield why studies show raters alone; it depends on their labels, not on the metric."""
    for size in N_LABELS:
        of_size = [row["reasons"] for row in rows if row["n_labels"] == size]
        why = {name: share for reasons in of_size for name, share in reasons.items()}
        if why:
            said = ", ".join(f"{name} {100 * share:.1f} %" for name, share in why.items())
            yield f"- Raters alone at {size} labels, because: {said} of draws."


def _interval(row: Mapping[str, Any] | None) -> str:
    if row is None:
        return "—"
    return f"{100 * row['half_width']:.1f} ({100 * row['coverage']:.1f} %)"


def _percents(of_size: Mapping[int, Mapping[str, Any]], name: str) -> str:
    return ", ".join(
        f"{100 * of_size[size][name]:.0f}" if size in of_size else "—" for size in N_LABELS
    )


def _labels(plan: Mapping[str, Any]) -> str:
    if math.isnan(plan["labels"]):
        return "—"
    n = f"{plan['labels']:.0f}"
    return f"{n} of {plan['total']:,}, extrapolated" if plan["is_extrapolated"] else n


def systems_section(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    first = rows[0]["pairs"]
    heads = " | ".join(f"{pair['a']} − {pair['b']}" for pair in first)
    yield "### MTRAG: systems A against B"
    yield ""
    yield (
        f"{first[0]['n_pairs']} examples of {first[0]['n_dialogs']} conversations. A cell has the "
        "difference, its 95 % interval, and p by permutation, by Holm and by BH over three pairs."
    )
    yield ""
    yield f"| by | {heads} | τ | Spearman |"
    yield "|---|---|---|---|---|---|"
    for row in rows:
        cells = [row["by"], *map(_pair, row["pairs"])]
        cells += [_correlation(row, name) for name in ("tau", "spearman")]
        yield f"| {' | '.join(cells)} |"
    yield ""


def _pair(pair: Mapping[str, Any]) -> str:
    figure = f"{pair['difference']:+.3f} ({pair['low']:+.3f} to {pair['high']:+.3f})"
    p_values = " / ".join(f"{pair[name]:.3f}" for name in ("p_permutation", "holm", "bh"))
    return f"{figure}; {p_values}".replace("-", "−")


def _correlation(row: Mapping[str, Any], name: str) -> str:
    if name not in row or math.isnan(row[name]):
        return "—"
    ends = [row[f"{name}_{end}"] for end in ("low", "high")]
    said = " to ".join("—" if math.isnan(end) else f"{end:.2f}" for end in ends)
    return f"{row[name]:.2f} ({said})".replace("-", "−")


def measured(work: Path, checkpoint: Path | None, n_draws: int) -> Iterator[dict[str, Any]]:
    """Print the sections and yield their figures."""
    prepared(work)
    for number, scoring in enumerate(SCORINGS):
        data = rated(scoring, checkpoint)
        rows, planned = few_labels(data, n_draws, number), list(plans(data))
        lines = list(section(data, rows, planned))
        found: dict[str, Any] = {"data": data.title, "rows": rows, "plans": planned}
        if scoring.data_set.key == SYSTEMS:
            found["systems"] = systems(data)
            lines += systems_section(found["systems"])
        sys.stdout.write("\n".join(lines) + "\n")
        sys.stdout.flush()
        yield found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--checkpoint", type=Path, help="a folder (default: no checkpoint)")
    parser.add_argument("--work", type=Path, help="where scores stay (default: nowhere)")
    parser.add_argument(
        "--quick", action="store_true", help=f"{N_QUICK} draws instead of {N_DRAWS}"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")
    options = parser.parse_args()
    if not (shared_folder() / "data").is_dir():
        sys.stdout.write("No folder of real data: set ATTEST_SHARED. Nothing was measured.\n")
        return
    n_draws = N_QUICK if options.quick else N_DRAWS
    with tempfile.TemporaryDirectory() as temporary:
        work = options.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        found = list(measured(work, options.checkpoint, n_draws))
    if options.json:
        sys.stdout.write(json.dumps(_without_nan(found)) + "\n")


def _without_nan(value: Any) -> Any:
    """Return figures with None for what is undefined, as JSON needs it."""
    if isinstance(value, dict):
        return {name: _without_nan(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_without_nan(each) for each in value]
    return None if isinstance(value, float) and math.isnan(value) else value


if __name__ == "__main__":
    main()
