"""How figures are written on pages: undefined is a dash, an interval is a small band."""

from typing import Any

from django import template

from annotation.schemes import Question, Scale, Scheme

register = template.Library()

UNDEFINED = "—"
WIDTH, INSET = 74, 1  # of an interval band, in px
BAR = 120  # width of a bar of shares, in px


@register.filter
def percent(share: float | None, digits: int = 1) -> str:
    """Return a share as percent without the sign: 0.972 → '97.2'."""
    return UNDEFINED if share is None else f"{100 * share:.{digits}f}"


@register.filter
def coefficient(figure: float | None) -> str:
    """Return a coefficient with two digits and no leading zero: 0.66 → '.66', -0.04 → '−.04'."""
    if figure is None:
        return UNDEFINED
    text = f"{abs(figure):.2f}".removeprefix("0") if abs(figure) < 0.995 else f"{abs(figure):.2f}"
    return f"−{text}" if figure < 0 and text != ".00" else text


@register.filter
def decimal(figure: float | None, digits: int = 2) -> str:
    """Return a figure with so many digits."""
    return UNDEFINED if figure is None else f"{figure:.{digits}f}"


@register.filter
def item(mapping: dict[str, Any], key: str) -> Any:
    """Return an item of a mapping by a name that only the template knows."""
    return mapping.get(key)


@register.filter
def pairs(mapping: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return names and values of imported meta data, where one name may be 'items'."""
    return list(mapping.items())


@register.filter
def plain(value: Any) -> str:
    """Return a value of imported meta data as text: lists joined, nothing as a dash."""
    if isinstance(value, list):
        return ", ".join(map(plain, value)) or UNDEFINED
    if isinstance(value, dict):
        return ", ".join(f"{key} {plain(part)}" for key, part in value.items()) or UNDEFINED
    if isinstance(value, bool):
        return "yes" if value else "no"
    return UNDEFINED if value in (None, "") else str(value)


@register.filter
def spaced(key: str) -> str:
    """Return a key as words: 'evidence_relevant' → 'Evidence relevant'."""
    return key.replace("_", " ").capitalize()


@register.inclusion_tag("evaluation/_interval_bar.html")
def interval_bar(
    figure: float | None,
    low: float | None,
    high: float | None,
    start: float = 0,
    end: float = 1,
) -> dict[str, Any]:
    """Draw a figure as a tick and its interval as a band, on a rail from `start` to `end`."""

    def x(value: float) -> float:
        share = (min(max(value, start), end) - start) / (end - start)
        return round(INSET + share * (WIDTH - 2 * INSET), 1)

    return {
        "width": WIDTH,
        "tick": None if figure is None else round(x(figure) - 1.25, 2),
        "low": None if low is None else x(low),
        "high": None if high is None else x(high),
        "zero": x(0) if start < 0 else None,
    }


@register.filter
def answer_label(scale: Scale, answer: int) -> str:
    """Return the word for a stored answer."""
    return scale.label(answer)


@register.inclusion_tag("evaluation/_share_bar.html")
def share_bar(row: dict[str, Any], scale: Scale) -> dict[str, Any]:
    """Draw how the votes of a report row spread over the answers of its scale, in their order."""
    segments, x = [], 0.0
    for place, label in enumerate(scale.labels):
        share = row[f"share_{label}"] or 0.0
        tone = round(0.15 + 0.75 * place / (len(scale.labels) - 1), 2)
        segments.append({"x": round(x, 1), "width": round(BAR * share, 1), "tone": tone})
        x += BAR * share
    return {"width": BAR, "segments": segments}


@register.filter
def spread(row: dict[str, Any], scale: Scale) -> str:
    """Return how the votes of a report row spread over its answers, in words."""
    return ", ".join(f"{label} {percent(row[f'share_{label}'], 0)} %" for label in scale.labels)


@register.filter
def majorities(row: dict[str, Any], scale: Scale) -> str:
    """Return how many items have which majority, in words."""
    return ", ".join(f"{label}: {row[f'majority_{label}']:,}" for label in scale.labels)


@register.filter
def mean(row: dict[str, Any]) -> str:
    """Return the mean of a report row as its scale asks: percent of yes, or points."""
    return percent(row.get("mean")) if row["scale"] == "yes_no" else decimal(row.get("mean"))


@register.filter
def mean_range(row: dict[str, Any]) -> str:
    """Return the interval of a report row's mean, as `mean` writes it."""
    low, high = row.get("mean_low"), row.get("mean_high")
    if low is None or high is None:
        return ""
    if row["scale"] == "yes_no":
        return f"{percent(low)}–{percent(high)}"
    return f"{decimal(low)}–{decimal(high)}"


@register.filter
def question(scheme: Scheme, key: str) -> Question | None:
    """Return the question of that key."""
    return scheme.question(key)


@register.filter
def place(scheme: Scheme, key: str) -> int:
    """Return the number of a question in its scheme, from 1."""
    return scheme.keys.index(key) + 1


@register.filter
def last_value(question: Question) -> int:
    """Return the upper end of a question's scale."""
    return question.scale.values[-1]


@register.filter
def has_gates(scheme: Scheme) -> bool:
    """Return whether any question is asked only after another."""
    return any(question.after for question in scheme.questions)
