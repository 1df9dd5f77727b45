"""What the pages of trade-offs show: figure, legend, table, method."""
