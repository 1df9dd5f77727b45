"""KaLMA's experiments over a graph: their grids, runs, reports and pages."""
