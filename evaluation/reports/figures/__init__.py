"""The tools for the figures of all reports: builders, colours, free places."""
