"""The text of a sampling temperature, in figures, tables and names of setups alike."""


def temperature_text(temperature: float) -> str:
    """Return a temperature as in the labels of [A] 7: 0 is '0.0', 0.7 is '0.7'."""
    return repr(temperature + 0.0)  # + 0.0: a float, and never negative zero
