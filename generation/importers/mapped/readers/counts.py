"""What a reader of rows leaves out: name → how many; it writes them at the end of a pass."""

LeftOut = dict[str, int]
