"""Counts of the data that a reader of rows leaves out, by name, set at the end of a pass."""

LeftOut = dict[str, int]
