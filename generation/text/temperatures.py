"""How a sampling temperature is written, in figures, tables and names of setups alike."""


def temperature_text(temperature: float) -> str:
    """Return a temperature as the labels of [A] 7 have it: 0 is '0.0', 0.7 is '0.7'."""
    return repr(temperature + 0.0)  # + 0.0: a float, and no negative zero
