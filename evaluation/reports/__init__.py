"""The engine of reports: their form, choices, intervals, formats, files and cache."""
