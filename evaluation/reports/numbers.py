"""The text forms of numbers: percent, points, coefficients, durations. Undefined is a dash."""

from generation.text.temperatures import temperature_text
from work.amounts import UNDEFINED


def percent(share: float | None, digits: int = 1) -> str:
    """Return a share as percent without the sign: 0.972 → '97.2'."""
    if share is None:
        return UNDEFINED
    text = f"{100 * abs(share):.{digits}f}"
    return f"−{text}" if share < 0 and float(text) else text


def coefficient(figure: float | None) -> str:
    """Return a coefficient with two digits and no leading zero: 0.66 → '.66', -0.04 → '−.04'."""
    if figure is None:
        return UNDEFINED
    text = f"{abs(figure):.2f}".removeprefix("0") if abs(figure) < 0.995 else f"{abs(figure):.2f}"
    return f"−{text}" if figure < 0 and text != ".00" else text


def decimal(figure: float | None, digits: int = 2) -> str:
    """Return a figure with `digits` digits after the point: 1652.5 → '1,652.50'."""
    return UNDEFINED if figure is None else f"{figure:,.{digits}f}"


def temperature(figure: float | None) -> str:
    """Return a temperature with all its digits: 0.0 → '0.0', 0.25 → '0.25'."""
    return UNDEFINED if figure is None else temperature_text(figure)


def points(share: float | None, digits: int = 1) -> str:
    """Return a difference of shares in percentage points, with its sign: 0.103 → '+10.3'."""
    if share is None:
        return UNDEFINED
    text = f"{100 * abs(share):.{digits}f}"
    if not float(text):
        return text
    return f"{'−' if share < 0 else '+'}{text}"


def signed(figure: float | None, digits: int = 2) -> str:
    """Return a difference of means with its sign: -0.25 → '−0.25', and 0 without one."""
    if figure is None:
        return UNDEFINED
    text = f"{abs(figure):.{digits}f}"
    if not float(text):
        return text
    return f"{'−' if figure < 0 else '+'}{text}"


def p_value(p: float | None) -> str:
    """Return a p-value with three digits and no leading zero: '.039', '<.001', '1'."""
    if p is None:
        return UNDEFINED
    if p < 0.001:
        return "<.001"
    return "1" if p >= 0.9995 else f"{p:.3f}".removeprefix("0")


def p_in_words(p: float | None) -> str:
    """Return a p-value as it stands in a sentence: 'p = .039', 'p <.001'."""
    said = p_value(p)
    return f"p {said}" if said.startswith("<") else f"p = {said}"


def mse(figure: float | None) -> str:
    """Return a mean squared error with three digits and no leading zero."""
    return UNDEFINED if figure is None else f"{figure:.3f}".removeprefix("0")


def seconds(duration: float | None) -> str:
    """Return a duration: below 10 s with a digit after the point, from 600 s on in minutes."""
    if duration is None:
        return UNDEFINED
    if duration >= 600:
        return f"{duration / 60:.1f} min"
    return f"{duration:.0f} s" if duration >= 10 else f"{duration:.1f} s"
