"""The contents of the pages of trade-offs: figure, legend, table, method."""
