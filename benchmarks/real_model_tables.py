"""The tables of `real_models.py`: debris in each form, and figures of each setup."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from evaluation.statistics.intervals import (
    Floats,
    Indexes,
    Statistic,
    bootstrap_intervals,
    share_from,
)
from evaluation.statistics.paired_difference import paired_difference
from evaluation.statistics.rater_answers import mean_statistics
from generation.text.dialog_forms import Form
from generation.text.prompt_types import TWELVE

SEED = 13
FORMS: tuple[Form, ...] = ("native", "messages")
TEMPERATURES = (0.0, 0.7)
PROMPTS = tuple(kind.key for kind in TWELVE)


class Reply(NamedTuple):
    """One answered call, and what was seen in it."""

    form: str
    temperature: float
    prompt: str
    setup: int
    example: int
    dialog: str
    is_debris: bool
    is_cut: bool
    is_empty: bool


def replies_of(grid: Any) -> Iterator[Reply]:
    """Yield the answered calls of a grid's setups."""
    from generation.models import Call

    calls = Call.objects.filter(setup__grids=grid, response__isnull=False)
    for call in calls.select_related("setup", "example", "response").order_by("pk"):
        setup = call.setup
        assert setup.temperature is not None
        assert call.response is not None
        yield Reply(
            setup.settings.get("form", "native"),
            setup.temperature,
            setup.prompt,
            setup.pk,
            call.example_id,
            call.example.dialog,
            bool(call.is_debris),
            call.is_cut,
            not call.response.text,
        )


def debris_lines(replies: Sequence[Reply]) -> Iterator[str]:
    """Yield the table of debris in each form, and native less messages on the same questions."""
    heads = "replies | cut | empty | debris, %"
    yield f"| temperature | native: {heads} | messages: {heads} | native − messages, points |"
    yield "|---|" + "---|" * 9
    for temperature in TEMPERATURES:
        cells = [f"{temperature:g}"]
        for form in FORMS:
            of_form = [each for each in replies if each[:2] == (form, temperature)]
            cells += [str(len(of_form)), *counts(of_form), share(of_form)]
        at = [each for each in replies if each.temperature == temperature]
        yield f"| {' | '.join([*cells, difference(at)])} |"


def counts(replies: Sequence[Reply]) -> list[str]:
    return [str(sum(each.is_cut for each in replies)), str(sum(each.is_empty for each in replies))]


def share(replies: Sequence[Reply]) -> str:
    """Return the share of debris in percent, with its interval over dialogs."""
    labels, (dialogs, n_dialogs) = labels_of(replies), dialogs_of(replies)
    figure = Statistic(mean_statistics(labels), dialogs, share_from)
    [interval] = bootstrap_intervals([figure], n_dialogs, seed=SEED)
    return in_percent(float(labels.mean()) if replies else float("nan"), *interval)


def difference(replies: Sequence[Reply]) -> str:
    """Return native less messages on the same prompt type and example, with its interval."""
    by_form: dict[str, dict[tuple[str, int], Reply]] = {form: {} for form in FORMS}
    for each in replies:
        by_form[each.form][each.prompt, each.example] = each
    native, messages = (by_form[form] for form in FORMS)
    pairs = [key for key in native if key in messages]
    dialogs, n_dialogs = dialogs_of([native[key] for key in pairs])
    found = paired_difference(
        labels_of([native[key] for key in pairs]),
        labels_of([messages[key] for key in pairs]),
        dialogs,
        n_dialogs,
        seed=SEED,
    )
    return in_percent(found.difference, found.low, found.high, sign="+")


def labels_of(replies: Sequence[Reply]) -> Floats:
    return np.array([each.is_debris for each in replies], dtype=float)


def dialogs_of(replies: Sequence[Reply]) -> tuple[Indexes, int]:
    """Return the number of each reply's dialog, and how many dialogs there are."""
    names, indexes = np.unique([each.dialog for each in replies], return_inverse=True)
    return indexes, len(names)


def in_percent(value: float | None, low: float | None, high: float | None, sign: str = "") -> str:
    """Return a figure with its interval in percent; '—' stands for what is undefined."""

    def said(number: float | None) -> str:
        is_known = number is not None and not np.isnan(number)
        return f"{100 * number:{sign}.0f}".replace("-", "−") if is_known else "—"  # type: ignore[operator]

    return f"{said(value)} [{said(low)}, {said(high)}]"


def setup_lines(
    replies: Sequence[Reply], by_model: Mapping[str, Mapping[int, Mapping[str, Any]]]
) -> Iterator[str]:
    """Yield a row for each setup: debris, attribution by each model, and sensibleness."""
    attributed = " | ".join(f"attribution by {model}, %" for model in by_model)
    yield f"| form | T | prompt | replies | cut | debris, % | {attributed} | sensible, % |"
    yield "|---|---|---|---|---|---|" + "---|" * (len(by_model) + 1)
    by_setup: dict[int, list[Reply]] = {}
    for each in sorted(replies, key=lambda each: (PROMPTS.index(each.prompt), each.temperature)):
        by_setup.setdefault(each.setup, []).append(each)
    for setup, of_setup in by_setup.items():
        first = of_setup[0]
        cells = [first.form, f"{first.temperature:g}", first.prompt, str(len(of_setup))]
        cells += [counts(of_setup)[0], share(of_setup)]
        rows = [rows.get(setup, {}) for rows in by_model.values()]
        cells += [estimate(row, "attribution") for row in rows]
        cells.append(estimate(rows[-1] if rows else {}, "sensibleness"))
        yield f"| {' | '.join(cells)} |"


def estimate(row: Mapping[str, Any], name: str) -> str:
    return in_percent(row.get(name), row.get(f"{name}_low"), row.get(f"{name}_high"))
