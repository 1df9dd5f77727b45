"""The engine of reports: shape, choices, intervals, formats, files, cache."""
