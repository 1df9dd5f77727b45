"""Measurements of speed and memory, as ratios within one run: `make bench`, or each with --help."""
